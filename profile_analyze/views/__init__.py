"""What a profile shows besides rows of operators: summaries, inspection, stacks."""

"""The facts of summaries, and their sentences."""

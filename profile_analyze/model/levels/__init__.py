"""The levels of nested operators: who owns which executions, time and work."""

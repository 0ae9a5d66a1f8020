"""The facts of a profile in tables, for every runtime, and the kinds of time."""

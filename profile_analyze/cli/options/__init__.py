"""The table of options, their values and checks."""

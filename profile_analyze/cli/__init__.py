"""The command line. Turns arguments into calls, and errors into one line and an exit status.

Only this package prints and exits.
"""

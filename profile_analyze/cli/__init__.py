"""The command line: turns arguments into calls of the other packages.

It turns an error into a message of one line and an exit status. Only this package prints and exits.
"""

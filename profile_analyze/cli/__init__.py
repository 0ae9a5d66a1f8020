"""The command: arguments to calls, errors to one line and an exit code. Alone prints and exits."""

"""The entry point of `python -m profile_analyze` and of the command `profile-analyze`."""

import signal
from typing import NoReturn

# While modules are imported, Ctrl-C ends the process at once. Otherwise, Python would print a
# traceback, and a package whose import is interrupted could raise any error.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from profile_analyze.cli.process import run_process


def run() -> NoReturn:
    """Answer the command line of this process, then end the process."""
    run_process(_answer)


def _answer() -> int:
    # Imported here, so that `run_process` also handles a failed import.
    try:
        from profile_analyze.cli.main import main
    except ValueError as error:  # Python's compiler may raise it if memory runs out
        raise MemoryError from error
    return main()


if __name__ == "__main__":
    run()

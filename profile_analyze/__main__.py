"""The process: `python -m profile_analyze`, and the command `profile-analyze`."""

from typing import NoReturn

from profile_analyze.cli.main import main
from profile_analyze.cli.process import end_process


def run() -> NoReturn:
    """Answer the command line of the process, and end it."""
    end_process(main())


if __name__ == "__main__":
    run()

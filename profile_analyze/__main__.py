"""The process: `python -m profile_analyze`, and the command `profile-analyze`."""

from typing import NoReturn

from profile_analyze.cli.process import run_process


def run() -> NoReturn:
    """Answer the command line of the process, and end it."""
    run_process(_answer)


def _answer() -> int:
    from profile_analyze.cli.main import main  # here, where an interrupt ends quietly

    return main()


if __name__ == "__main__":
    run()

"""The process: `python -m profile_analyze`, and the command `profile-analyze`."""

from typing import NoReturn

from profile_analyze.cli.process import run_process


def run() -> NoReturn:
    """Answer the command line, and end the process."""
    run_process(_answer)


def _answer() -> int:
    # Imported here, because `run_process` also handles an interrupt during the import.
    from profile_analyze.cli.main import main

    return main()


if __name__ == "__main__":
    run()

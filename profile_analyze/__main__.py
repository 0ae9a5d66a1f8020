"""The entry point of `python -m profile_analyze` and of the command `profile-analyze`."""

from typing import NoReturn

from profile_analyze.cli.process import run_process


def run() -> NoReturn:
    """Answer the command line of this process, then end the process."""
    run_process(_answer)


def _answer() -> int:
    # Imported here, so that `run_process` also handles an interrupt during the import.
    try:
        from profile_analyze.cli.main import main
    except ValueError as error:  # Python's compiler may raise it if memory runs out
        raise MemoryError from error
    return main()


if __name__ == "__main__":
    run()

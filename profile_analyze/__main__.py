"""The process: `python -m profile_analyze`, and the command `profile-analyze`."""

import sys
from typing import NoReturn

from profile_analyze.cli.main import main
from profile_analyze.collector import leave_all_to_the_system


def run() -> NoReturn:
    """Answer the command line of the process, and end it."""
    code = main()
    leave_all_to_the_system()
    sys.exit(code)


if __name__ == "__main__":
    run()

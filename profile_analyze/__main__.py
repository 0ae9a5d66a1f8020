"""`python -m profile_analyze`."""

import sys

from profile_analyze.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

"""The end of the process."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


def end_process(code: int) -> NoReturn:
    """End the process, and spare it the interpreter's end: what is left is freed with it.

    That would look once more at all that was imported and read, which takes a tenth of a short
    call and a twentieth of a long one. What libraries registered to be done is done.
    """
    atexit._run_exitfuncs()  # noqa: SLF001  # there is no public way to have them run first
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # what failed was told when it was written
                stream.flush()
    os._exit(code)

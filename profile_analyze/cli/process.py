"""The end of the process."""

from __future__ import annotations

import _thread
import atexit
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from sys import UnraisableHookArgs

EXIT_INTERRUPTED: Final = 130


def run_process(answer: Callable[[], int]) -> NoReturn:
    """Call `answer`, which gives the exit code, and end the process; an interrupt ends it too."""
    sys.unraisablehook = _interrupt_again
    try:
        end_process(answer())
    except KeyboardInterrupt:
        end_process(EXIT_INTERRUPTED)
    # before there was anybody to report it, or meanwhile; the last is what Python raises now and
    # then where memory ends while it imports something
    except (MemoryError, OSError, SystemError) as error:
        told = (error.strerror or str(error)) if isinstance(error, OSError) else ""
        reason = told or "out of memory"
        with suppress(OSError):
            os.write(2, f"profile_analyze: error: {reason.lower()}\n".encode())
        os._exit(1)


def _interrupt_again(unraisable: UnraisableHookArgs) -> None:
    """Let an interrupt come once more that came where nothing may be raised, as in a callback."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        from signal import SIGINT

        _thread.start_new_thread(os.kill, (os.getpid(), SIGINT))  # after this function is over
    else:
        sys.__unraisablehook__(unraisable)


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

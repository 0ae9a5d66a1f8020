"""The process: how it handles interrupts, and how it ends."""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from sys import UnraisableHookArgs

EXIT_INTERRUPTED: Final = 130
OUT_OF_MEMORY: Final = (MemoryError, SystemError, SyntaxError)
"""What Python raises if memory runs out.

- SystemError comes from an import that fails halfway.
- SyntaxError comes from compiling a module that has `\\N{...}` in a text: the compiler then loads
  `unicodedata`, and reports that it cannot. Nothing else here compiles code while it runs.
"""


def run_process(answer: Callable[[], int]) -> NoReturn:
    """Call `answer` and end the process with the exit code that it returns.

    An interrupt ends the process with `EXIT_INTERRUPTED`, without a traceback.
    """
    sys.unraisablehook = _interrupt_again
    try:
        end_process(answer())
    except KeyboardInterrupt:
        end_process(EXIT_INTERRUPTED)
    # These errors came before `answer` could handle them.
    except (*OUT_OF_MEMORY, OSError) as error:
        text = (error.strerror or str(error)) if isinstance(error, OSError) else ""
        reason = text or "out of memory"
        # Without `print` and the interpreter's clean-up, because both need memory.
        with suppress(OSError):
            os.write(2, f"profile_analyze: error: {reason.lower()}\n".encode())
        os._exit(1)


def _interrupt_again(unraisable: UnraisableHookArgs) -> None:
    """Repeat an interrupt that Python could not raise, because it came in a callback.

    This is `sys.unraisablehook`.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        # From a thread, so that the signal arrives after the callback.
        _thread.start_new_thread(os.kill, (os.getpid(), signal.SIGINT))
    else:
        sys.__unraisablehook__(unraisable)


def end_process(code: int) -> NoReturn:
    """End the process without the interpreter's clean-up, after the `atexit` functions.

    The clean-up visits every module and object, which takes a tenth of a short call. The system
    frees the memory anyway.
    """
    # `os._exit` skips these functions, and Python has no public way to run them.
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # a failure was reported at the first write
                stream.flush()
    os._exit(code)

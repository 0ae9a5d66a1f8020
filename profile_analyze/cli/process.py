"""Runs the command as a process: handles interrupts, and ends the process fast."""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from profile_analyze.termination import TerminationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from sys import UnraisableHookArgs

EXIT_INTERRUPTED: Final = 130
OUT_OF_MEMORY: Final = (MemoryError, SystemError, SyntaxError)
"""The exceptions that Python raises if memory runs out.

- SystemError: an import failed halfway.
- SyntaxError: to compile a module that has `\\N{...}` in a text, Python loads `unicodedata`. If
  this fails, Python reports a syntax error. The input of the command is never compiled, so a
  SyntaxError has no other cause.
"""


def run_process(answer: Callable[[], int]) -> NoReturn:
    """Call `answer` and end the process with the exit code that it returns.

    An interrupt ends the process with `EXIT_INTERRUPTED`, without a traceback.
    """
    sys.unraisablehook = _interrupt_again
    if not sys.warnoptions:  # neither -W nor PYTHONWARNINGS asks for them
        warnings.simplefilter("ignore")  # warnings of packages are for programmers
    # Imports and decoding make many objects and hardly any reference cycles. Garbage collection
    # would take a twentieth of a short call and free nothing. The process ends after one answer.
    gc.disable()
    try:
        end_process(answer())
    except KeyboardInterrupt:
        end_process(EXIT_INTERRUPTED)
    # Such an error occurs while `answer` imports its modules. `answer` handles later errors itself.
    except (*OUT_OF_MEMORY, OSError) as error:
        text = (error.strerror or str(error)) if isinstance(error, OSError) else ""
        reason = text or "out of memory"
        # `print` and the interpreter's clean-up are avoided, because both need memory.
        with suppress(OSError):
            os.write(2, f"profile_analyze: error: {reason.lower()}\n".encode())
        os._exit(1)


def interrupts_raised() -> None:
    """From now on, Ctrl-C raises `KeyboardInterrupt`, unless the process ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt_again(unraisable: UnraisableHookArgs) -> None:
    """Repeat an interrupt that came during a callback, from which Python cannot raise it.

    `run_process` sets this function as `sys.unraisablehook`.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        # A thread sends the signal, so that it arrives after the callback has ended.
        _thread.start_new_thread(os.kill, (os.getpid(), signal.SIGINT))
    elif not issubclass(unraisable.exc_type, TerminationError):  # the process ends later
        sys.__unraisablehook__(unraisable)


def end_process(code: int) -> NoReturn:
    """Run the `atexit` functions, and end the process without the interpreter's clean-up.

    The clean-up visits every module and object, which takes a tenth of a short call. The system
    frees the memory anyway.
    """
    # A second Ctrl-C ends the process at once, without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # `os._exit` skips the `atexit` functions, and Python has no public way to run them.
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # the first failed write was already reported
                stream.flush()
    os._exit(code)

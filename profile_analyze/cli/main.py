"""The command: parses the arguments, prints the answer and returns the exit code."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.files import advice_on_quotes
from profile_analyze.cli.options.default_options import color_with_defaults, parse_with_defaults
from profile_analyze.cli.options.parser import PROGRAM
from profile_analyze.cli.output.messages import say
from profile_analyze.cli.process import EXIT_INTERRUPTED, OUT_OF_MEMORY, interrupts_raised
from profile_analyze.errors import ProfileAnalyzeError, QueryError
from profile_analyze.report.sections import Verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.cli.options.fail_if import Gate
    from profile_analyze.report.base import Report

_ERROR: Final = f"{PROGRAM}: error"
EXIT_MET: Final = 3
EXIT_UNCERTAIN: Final = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Answer a command line and return the exit code.

    `argv` has the arguments without the name of the program. By default, these are the arguments of
    this process.
    """
    argv = sys.argv[1:] if argv is None else argv
    color = color_with_defaults(argv)
    try:
        arguments = parse_with_defaults(argv)
        # While NumPy is imported, its library OpenBLAS starts a thread for each core. Starting the
        # threads takes a fifth of a short call. They would be idle: no code multiplies matrices.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Imported here, because `--help` ends the process before `request` is needed.
        from profile_analyze.cli.request import Request

        request = Request.of(arguments)
        # Imported here, because `answer` imports NumPy. Wrong options are reported without NumPy.
        from profile_analyze.cli.answer import answer, notes_to_print

        interrupts_raised()
        report = answer(request)
        notes = notes_to_print(report, request.showing.appearance, request.writing)
        say("note", notes, color=color)
        return _exit_code(report, request.asking.gate)
    except ProfileAnalyzeError as error:
        advice = advice_on_quotes(argv, str(error)) if isinstance(error, QueryError) else ""
        say(_ERROR, [advice or str(error)], color=color)
        return error.exit_code
    except OUT_OF_MEMORY:
        say(_ERROR, ["out of memory; the profile is too large for this machine"], color=color)
        return 1
    except ImportError as error:
        say(_ERROR, [_about_failed_import(_first_cause(error))], color=color)
        return 1
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _about_failed_import(cause: BaseException) -> str:
    """Return a message on an import that failed because of `cause`."""
    name = (isinstance(cause, ModuleNotFoundError) and cause.name) or ""
    if name and "." not in name:  # a missing part of a package means a broken installation
        return (
            f"the package {name} is not installed for this Python; in the checkout of {PROGRAM},"
            f" run {shlex.quote(sys.executable)} -m pip install ."
        )
    return f"a package cannot be loaded: {cause}; memory is short, or the installation is broken"


def _first_cause(error: BaseException) -> BaseException:
    """Return the original error. Packages wrap it in further errors with long explanations."""
    # Like a traceback, leave out a context that `raise ... from None` suppresses.
    context = None if error.__suppress_context__ else error.__context__
    cause = error.__cause__ or context
    return error if cause is None else _first_cause(cause)


def _exit_code(report: Report, gate: Gate | None) -> int:
    """Return the exit code for the verdicts on all conditions of the gate."""
    if gate is None:
        return 0
    outcomes = {
        verdict.outcome for section in report.all_of(Verdicts) for verdict in section.verdicts
    }
    # A condition that is met decides the exit code, whatever the other outcomes are.
    if "met" in outcomes:
        return EXIT_MET
    return EXIT_UNCERTAIN if outcomes & gate.failing_outcomes else 0

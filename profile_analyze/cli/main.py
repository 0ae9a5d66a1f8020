"""From the command line to an answer on standard output and notes on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from profile_analyze.cli.arguments import PROGRAM, form_of, parse, queries_of, sides_of
from profile_analyze.collector import collector_paused
from profile_analyze.errors import (
    InputError,
    OutputError,
    ProfileAnalyzeError,
    UnknownColumnError,
)
from profile_analyze.model.columns import DEFAULT_ORDER

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.model.profile import Profile

EXIT_INTERRUPTED = 130
_WRITTEN_AT_ONCE = 1 << 20


def main(argv: Sequence[str] | None = None) -> int:
    """Answer the command line `argv` (that of the process by default); the exit code."""
    try:
        arguments = parse(argv)
        with collector_paused():  # the process lives for one answer
            pieces, notes = _answer(arguments)
            _print(pieces)
        _report("note", notes)
    except ProfileAnalyzeError as error:
        _report(f"{PROGRAM}: error", [str(error)])
        return error.exit_code
    except MemoryError:
        _report(f"{PROGRAM}: error", ["out of memory; the profile is too large for this machine"])
        return 1
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0


def _answer(arguments: argparse.Namespace) -> tuple[Iterator[str], tuple[str, ...]]:
    """What to print, in pieces, and the notes about it."""
    # NumPy's OpenBLAS starts a thread for each core when it is imported, which takes a fifth of a
    # short call, and nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The question is checked before the file is read, and NumPy is imported only then.
    try:
        queries, profile = queries_of(arguments), None
        doubts: tuple[str, ...] = ()
    except UnknownColumnError as error:
        profile = _with_nothing_to_sort(arguments.file)
        if profile is None:
            raise
        arguments.order_by = DEFAULT_ORDER
        queries, doubts = queries_of(arguments), (str(error),)
    from profile_analyze.readers.content import ReadAhead

    upcoming = ReadAhead(arguments.file)  # while NumPy and others are imported
    from profile_analyze.query.run import run
    from profile_analyze.query.summary import summarise
    from profile_analyze.readers.loading import profile_in
    from profile_analyze.report import RENDERERS, Display, Report

    if profile is None:
        profile = profile_in(upcoming.content(), input_dtypes=bool(arguments.input_dtype))
    summary = summarise(profile, queries["device"] if arguments.copy_time else None)
    results = tuple(run(queries[side], profile) for side in sides_of(arguments))
    report = Report(summary if arguments.print_only in (None, "summary") else None, results)
    if sys.stdout is None:
        raise OutputError("standard output: is closed")
    display = Display(sys.stdout.encoding or "utf-8")
    pieces = RENDERERS[form_of(arguments)].pieces(report, display)
    notes = [doubts, profile.notes, summary.notes, *(result.notes for result in results)]
    return pieces, tuple(dict.fromkeys(note for part in notes for note in part))


def _with_nothing_to_sort(file: str) -> Profile | None:
    """The profile in `file` if no operator in it has a time, so that nothing is to be sorted.

    The original looks at the column only when there are rows to sort, and answers such a profile
    whatever the column; so do we. Other files, and what is no file but a pipe, are not looked at.
    """
    from profile_analyze.readers.loading import load

    if not os.path.isfile(file):  # noqa: PTH113  # `file` may be any text
        return None
    try:
        profile = load(file)
    except InputError:
        return None
    return None if profile.device.recorded.any() or profile.host.recorded.any() else profile


def _print(pieces: Iterable[str]) -> None:
    """Write to standard output. A reader that has seen enough and closed it is no failure."""
    try:
        for piece in pieces:
            for start in range(0, len(piece), _WRITTEN_AT_ONCE):  # each is encoded on its way
                sys.stdout.write(piece[start : start + _WRITTEN_AT_ONCE])
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_standard_output()
    except OSError as error:
        _discard_standard_output()
        raise OutputError(f"standard output: {(error.strerror or str(error)).lower()}") from None


def _discard_standard_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(kind: str, messages: Iterable[str]) -> None:
    """Write a line for each message to standard error."""
    from profile_analyze.report.text import visible

    if sys.stderr is None:  # closed; `print` would take standard output instead
        return
    with suppress(OSError):  # there is nowhere left to say that nothing can be said
        for message in messages:
            print(f"{kind}: {visible(message, 'utf-8')}", file=sys.stderr)

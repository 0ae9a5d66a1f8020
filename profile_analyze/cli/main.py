"""From the command line to an answer on standard output and notes on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.arguments import (
    PROGRAM,
    columns_of,
    conditions_of,
    form_of,
    parse,
    queries_of,
    sides_of,
)
from profile_analyze.cli.inputs import Reading, inputs_of
from profile_analyze.cli.output import (
    STANDARD_OUTPUT,
    NewFiles,
    check_destination,
    encoding_of_standard_output,
    write_standard_output,
)
from profile_analyze.cli.process import EXIT_INTERRUPTED
from profile_analyze.errors import (
    InputError,
    OutputError,
    ProfileAnalyzeError,
)
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.columns import DEFAULT_ORDER
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import RUN_KEYS
from profile_analyze.report.base import Display, Report
from profile_analyze.report.output_formats import find_renderer, picture_format_of
from profile_analyze.report.sections import Chart, Verdicts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.cli.inputs import Inputs
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side
    from profile_analyze.query.gate import FailCondition, FailVerdict
    from profile_analyze.query.question import Query
    from profile_analyze.query.summary import Summary
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Renderer

EXIT_MET = 3
EXIT_UNJUDGED = 4

_LONGEST_MESSAGE = 8000  # characters


def main(argv: Sequence[str] | None = None) -> int:
    """Answer the command line `argv` (that of the process by default); the exit code."""
    try:
        arguments = parse(argv)
        with gc_paused():  # the process lives for one answer
            report = _answer(arguments)
        _say("note", report.notes)
        verdicts = [one for section in report.all_of(Verdicts) for one in section.verdicts]
        return _exit_code(verdicts, fail_uncertain=arguments.fail_uncertain != "no")
    except ProfileAnalyzeError as error:
        _say(f"{PROGRAM}: error", [str(error)])
        return error.exit_code
    except (MemoryError, SystemError):  # the latter now and then where memory ends in an import
        _say(f"{PROGRAM}: error", ["out of memory; the profile is too large for this machine"])
        return 1
    except ImportError as error:
        reason = f"a package cannot be loaded: {_first_cause(error)}"
        _say(f"{PROGRAM}: error", [f"{reason}; memory is short, or the installation broken"])
        return 1
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _first_cause(error: BaseException) -> BaseException:
    """What began it: packages explain at length what follows from that."""
    context = None if error.__suppress_context__ else error.__context__
    cause = error.__cause__ or context
    return error if cause is None else _first_cause(cause)


def _exit_code(verdicts: Sequence[FailVerdict], *, fail_uncertain: bool) -> int:
    """What a pipeline is told."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if "met" in outcomes:
        return EXIT_MET
    return EXIT_UNJUDGED if "unjudged" in outcomes and fail_uncertain else 0


def _answer(arguments: argparse.Namespace) -> Report:
    """Print or write the answer, which is given back."""
    # NumPy's OpenBLAS starts a thread for each core when it is imported, which takes a fifth of a
    # short call, and nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    queries = queries_of(arguments, _named_peaks(arguments))
    columns = columns_of(arguments, queries["device"])
    conditions = conditions_of(arguments, queries[_asked_side(arguments)])
    if arguments.plot is not None:
        picture_format_of(arguments.plot)
    inputs = inputs_of(arguments)
    _check_files(arguments, inputs)
    queries = _with_measured_peaks(arguments, inputs, queries)
    renderers = _possible_renderers(arguments)
    wanted = _wanted(arguments, queries["device"], columns, renderers)
    source = Reading(inputs, arguments, wanted).source()
    renderer = _renderer_for(source, renderers)
    summary, tables, notes = _answers(arguments, queries, columns, renderer, source)
    verdicts: tuple[FailVerdict, ...] = ()
    if conditions:
        verdicts = _judged(conditions, queries[_asked_side(arguments)], source)
        notes += _told_of(verdicts, renderer)
    if arguments.plot is not None and inputs.base:
        notes = ("the picture shows the new side alone, and no difference to the base", *notes)
    report = Report.of(
        summary if arguments.print_only in (None, "summary") else None,
        tables,
        columns=columns,
        verdicts=verdicts,
        source=source,
        notes=tuple(dict.fromkeys(notes)),
    )
    with NewFiles(force=arguments.force) as files:  # they appear together
        display = _display(arguments)
        if arguments.plot is not None:
            picture = _picture(arguments, queries, report)
            drawer = find_renderer(picture_format_of(arguments.plot))
            files.write(arguments.plot, drawer.pieces(picture, display))
        pieces = renderer.pieces(report, display)
        if _goes_to_a_file(arguments):
            files.write(arguments.output, pieces)
        else:
            write_standard_output(pieces)
    return report


def _possible_renderers(arguments: argparse.Namespace) -> tuple[Renderer, ...]:
    """The renderer that the options ask for, or else those that a profile may have by default.

    The likeliest comes first.
    """
    form = form_of(arguments)
    if form is not None:
        return (find_renderer(form),)
    from profile_analyze.readers.loading import default_output_formats

    return tuple(map(find_renderer, default_output_formats()))


def _renderer_for(source: Profile | Comparison, renderers: tuple[Renderer, ...]) -> Renderer:
    """The one of `renderers` that answers, now that the profile is known."""
    if len(renderers) == 1:
        return renderers[0]
    from profile_analyze.readers.loading import default_output_format

    default = default_output_format(profile_of(source))
    return next(renderer for renderer in renderers if renderer.name == default)


def profile_of(source: Profile | Comparison) -> Profile:
    """The profile that is asked about, without its base."""
    from profile_analyze.model.profile import Profile

    return source if isinstance(source, Profile) else source.profile


def _judged(
    conditions: Sequence[FailCondition], query: Query, source: Profile | Comparison
) -> tuple[FailVerdict, ...]:
    """What became of each condition."""
    from profile_analyze.query.gate import judge_conditions

    return judge_conditions(conditions, query, source)


def _told_of(verdicts: Iterable[FailVerdict], renderer: Renderer) -> tuple[str, ...]:
    """The verdicts as notes, for a format that does not have them."""
    from profile_analyze.report.sentence_parts import gate_sentence

    return () if renderer.has_summary_beside_tables else tuple(map(gate_sentence, verdicts))


def _goes_to_a_file(arguments: argparse.Namespace) -> bool:
    return arguments.output not in (None, STANDARD_OUTPUT)


def _asked_side(arguments: argparse.Namespace) -> Side:
    """Whose times are asked for."""
    return "host" if arguments.print_only == "host" else "device"


def _check_files(arguments: argparse.Namespace, inputs: Inputs) -> None:
    """Raise `OutputError` if what is to be written cannot be, as far as can be told beforehand."""
    to_file = _goes_to_a_file(arguments)
    read = [*inputs.all, *inputs.lists]
    if to_file:
        check_destination(arguments.output, read, force=arguments.force)
    if arguments.plot is None:
        return
    check_destination(arguments.plot, read, force=arguments.force)
    if to_file and os.path.realpath(arguments.plot) == os.path.realpath(arguments.output):
        raise OutputError(f"{arguments.plot}: is to be the picture and the answer; name two files")


def _named_peaks(arguments: argparse.Namespace) -> Peaks | None:
    """The peaks that are named, or what stands for those that are to be measured."""
    if arguments.peaks is None:
        return None
    from profile_analyze.cli.peaks import PLACEHOLDER, is_measured_here, resolve

    return (
        PLACEHOLDER
        if is_measured_here(arguments.peaks)
        else resolve(arguments.peaks, _say_on_a_terminal)
    )


def _with_measured_peaks(
    arguments: argparse.Namespace, inputs: Inputs, queries: dict[Side, Query]
) -> dict[Side, Query]:
    """`queries` with peaks in place of what stands for them: in seconds, so it is done last."""
    if arguments.peaks is None:
        return queries
    from profile_analyze.cli.peaks import is_measured_here, resolve

    if not is_measured_here(arguments.peaks):
        return queries
    for file in inputs.all:
        if file != "-" and not os.path.exists(file):  # noqa: PTH110
            raise InputError(file, "no such file")
    peaks = resolve(arguments.peaks, _say_on_a_terminal)
    return {side: query.changed(peaks=peaks) for side, query in queries.items()}


def _say_on_a_terminal(text: str) -> None:
    """Tell on a terminal what takes a while."""
    if sys.stderr is not None and sys.stderr.isatty():
        _say("measuring", [text])


def _wanted(
    arguments: argparse.Namespace,
    query: Query,
    columns: tuple[str, ...],
    renderers: Iterable[Renderer],
) -> frozenset[str]:
    """What of `OPTIONAL_COLUMNS` is needed to answer `query` and to show the answer.

    That is `columns`, or else what any of `renderers` shows by itself.
    """
    from profile_analyze.query.catalog import optional_columns_of

    shown = columns or [name for renderer in renderers for name in renderer.columns(query)]
    of_tables = shown if sides_of(arguments) else ()
    of_summary = ["efficiency"] if query.peaks else []
    return query.wanted | optional_columns_of((*of_tables, *of_summary))


class _Answers(NamedTuple):
    """What is known of what was asked."""

    summary: Summary
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def _answers(
    arguments: argparse.Namespace,
    queries: dict[Side, Query],
    columns: tuple[str, ...],
    renderer: Renderer,
    source: Profile | Comparison,
) -> _Answers:
    """The answers to what is asked of what was read."""
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.run import run
    from profile_analyze.query.summary import summarise

    device = queries["device"]
    summary = summarise(source, device if arguments.copy_time else None, judged_by=device)
    tables = tuple(run(queries[side], source) for side in sides_of(arguments))
    for table in tables:  # what fails must fail before anything is printed
        for name in columns or renderer.columns(table.query):
            _ = table.shown[table.column(name).name]
    asked = profile_of(source)
    are_apart = set(device.split_by) & set(RUN_KEYS)
    taken_together = () if tables and are_apart else asked.notes_on_runs
    on_base = () if isinstance(source, Profile) else source.notes
    notes = [
        asked.notes,
        taken_together,
        on_base,
        summary.notes,
        *(table.notes for table in tables),
    ]
    if renderer.for_programs and renderer.has_tables:  # which end too soon unseen
        notes += [_on_the_rest(table) for table in tables]
    return _Answers(summary, tables, tuple(note for part in notes for note in part))


def _on_the_rest(table: Table) -> tuple[str, ...]:
    """A note if the answer has more rows than are shown."""
    if table.available == len(table):
        return ()
    side = MEASURES[table.query.measure].side
    return (f"{side}: the first {len(table)} of {table.available} rows; -t 0 gives all",)


def _picture(arguments: argparse.Namespace, queries: dict[Side, Query], report: Report) -> Report:
    """The picture that is asked for: of all rows of the answer, not of the first alone."""
    import logging

    from profile_analyze.query.run import run
    from profile_analyze.query.summary import summarise
    from profile_analyze.report.roofline_facts import roofline_caption

    assert report.source is not None
    os.environ["MPLBACKEND"] = "agg"  # drawing needs no window, and takes no wrong name of one
    # where it keeps its fonts, and that it looks for them, is nobody's concern
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    has_roof = arguments.peaks is not None
    of_host = arguments.print_only == "host" and not has_roof  # roofs are the device's
    query = queries["host" if of_host else "device"]
    # without peaks the longest are drawn, in whatever order the table is
    table = run(
        query.changed(top=0, order=query.order if has_roof else DEFAULT_ORDER), report.source
    )
    if not has_roof:
        return Report((Chart("times", table),))
    caption = roofline_caption(summarise(report.source, judged_by=query))
    return Report((Chart("roofline", table, caption),))


def _display(arguments: argparse.Namespace) -> Display:
    """What the answer is written for."""
    always = arguments.color == "always"
    if _goes_to_a_file(arguments) or sys.stdout is None:
        return Display(color=always)
    on_terminal = sys.stdout.isatty()
    return Display(
        encoding=encoding_of_standard_output(),
        width=_terminal_width() if on_terminal else None,
        color=always or (arguments.color == "auto" and on_terminal and _wants_color()),
    )


def _terminal_width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _wants_color() -> bool:
    """What the environment says of a terminal; https://no-color.org has the convention."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _say(kind: str, messages: Iterable[str]) -> None:
    """Write a line for each message to standard error."""
    from profile_analyze.model.visible import visible

    if sys.stderr is None:  # closed; `print` would take standard output instead
        return
    with suppress(OSError):  # there is nowhere left to say that nothing can be said
        for message in messages:
            print(f"{kind}: {_cut(visible(message, 'utf-8'))}", file=sys.stderr)


def _cut(message: str) -> str:
    """`message` without its middle if that is longer than anybody reads: a name may be anything."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    left_out = len(message) - 2 * half
    return f"{message[:half]} [... {left_out} characters ...] {message[-half:]}"

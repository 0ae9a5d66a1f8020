"""The checked arguments of one call, as four values, and the checks on options of several values.

Checks on one value are made where it is made: in `reading`, `asking`, `showing` or `writing`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.cli.inputs.missing_files import check_that_lists_are_not_split
from profile_analyze.cli.options.asking import Asking
from profile_analyze.cli.options.parser import parser
from profile_analyze.cli.options.reading import Reading, compares
from profile_analyze.cli.options.showing import Showing
from profile_analyze.cli.options.table import OPTIONS
from profile_analyze.cli.options.writing import Writing
from profile_analyze.cli.output.requested_format import has_stacks, requested_renderer
from profile_analyze.cli.output.terminal import is_terminal
from profile_analyze.columns.column import RUN_STATISTICS
from profile_analyze.columns.formula_words import needs_times
from profile_analyze.columns.model_columns import TILE_NAMES
from profile_analyze.errors import QueryError
from profile_analyze.model.terms import SAMPLE_UNITS
from profile_analyze.query.question import Query
from profile_analyze.readers.input.paths import is_pipe
from profile_analyze.readers.model_inputs import TILE_EXAMPLE
from profile_analyze.report.formats.output_formats import PLAIN, TABLE, TABLE_FORMATS
from profile_analyze.views.register import DEFAULT_VIEW

if TYPE_CHECKING:
    import argparse

    from profile_analyze.model.profile import Profile
    from profile_analyze.report.base import Renderer

_TILE: Final = f"--split-matmul {TILE_EXAMPLE}"
_OF_ROWS: Final = (
    *("--explain", "--compare", "--compare-label", "--label", "--model", "--fail-if", "--level"),
    *("--where", "--type", "--opr-name", "--input-dtype", "--min-time", "--max-time"),
    *("--aggregate-by", "--aggregate", "--having", "--order-by", "--columns", "--dump-only-opr"),
    *("--print-only", "--show-host", "--copy-time", "--peaks", "--plot", "--split-matmul"),
    "--write-model",
)
"""Options about rows and tables. `--inspect` rejects them. By default, all are unset."""
_OF_BOTH: Final = (
    *("--max-size", "--skip-bad", "--cache", "--no-cache", "--engine"),
    *("--notes", "--color", "--no-pager", "--clear-cache", "--label"),
)
_OF_EXPORT: Final = frozenset((*_OF_BOTH, "--export"))
"""The options that calls with `--export` may have."""
_OF_ANSWERS: Final = (
    *_OF_BOTH,
    *("--work", "--skip-runs", "--from", "--to", "--step", "--step-region"),
    *("--correct-drift", "--input-shape", "--dim", "--model", "--split-matmul"),
    *("--format", "--confluence", "--output", "--force", "--time-unit"),
)
_OF_SQL: Final = frozenset((*_OF_ANSWERS, "--sql", "--sql-timeout", "--level"))
"""The options that calls with `--sql` may have."""
_OF_VIEW: Final = frozenset(
    (
        *(*_OF_ANSWERS, "--findings", "--ignore"),
        *("--view", "--where", "--order-by", "--top", "--columns"),
    )
)
"""The options that calls with `--view` may have."""


class Request(NamedTuple):
    """One call of the command. Every check that needs no profile has been made."""

    reading: Reading
    asking: Asking
    showing: Showing
    writing: Writing

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Request:
        """Check the arguments and return the request.

        Raises `QueryError` if options contradict each other, or an expression or the peaks are
        wrong, and `InputError` if a table of labels or a data set is wrong.
        """
        writing = Writing.of(arguments)
        renderer = requested_renderer(arguments)
        _check_together(arguments, renderer)
        reading = Reading.of(arguments)
        asking = Asking.of(arguments, reading.labels, stacks=has_stacks(renderer))
        showing = Showing.of(arguments, renderer, asking.kind)
        request = cls(reading, asking, showing, writing)
        _check_tiles(request)
        return request


def _check_together(arguments: argparse.Namespace, renderer: Renderer | None) -> None:
    """Raise `QueryError` if options contradict each other, lack another or have no effect.

    `renderer` is the `requested_renderer`.
    """
    check_that_lists_are_not_split(arguments)
    _check_writing(arguments)
    _check_that_binary_goes_to_a_file(arguments)
    _check_tables(arguments, renderer)
    _check_statistics(arguments)
    _check_inspection(arguments, renderer)
    _check_explanation(arguments)
    if renderer is not None:  # the default formats, table and plain, show everything
        _check_needs_of_the_format(arguments, renderer)
        _check_stacks(arguments, renderer)


def _check_writing(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if `--write-model` lacks `--split-matmul` or a single model file."""
    if arguments.write_model is None:
        return
    if arguments.split_matmul is None:
        raise QueryError(
            f"--write-model needs --split-matmul, which names the size of tiles: {_TILE}"
        )
    for problem, given in (
        ("and --model adds a model to a profile; name the model itself as FILE", arguments.model),
        ("so it needs one FILE", len(arguments.files) > 1),
        ("but a pipe can be read only once; name a file", any(map(is_pipe, arguments.files))),
    ):
        if given:
            raise QueryError(f"--write-model splits the model FILE, {problem}")


def _check_that_binary_goes_to_a_file(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if a binary format would be printed on a terminal."""
    is_printed = arguments.output in (None, "-") and is_terminal(sys.stdout)
    if arguments.format in TABLE_FORMATS and is_printed:
        name = arguments.format
        raise QueryError(f"--format {name} is not text; write it to a file: -o result.{name}")


def _check_tables(arguments: argparse.Namespace, renderer: Renderer | None) -> None:
    """Raise `QueryError` if options have no effect beside `--export`, `--sql` or `--view`."""
    if arguments.export is not None:
        _check_others(arguments, "--export adds profiles to a data set", _OF_EXPORT)
    if arguments.sql is not None:
        _check_others(arguments, "--sql shows the answer to a query", _OF_SQL)
        _check_that_format_has_tables("--sql", renderer)
    view = getattr(arguments, "view", DEFAULT_VIEW)
    if view != DEFAULT_VIEW:
        _check_others(arguments, f"--view {view} shows no operators", _OF_VIEW)
        _check_that_format_has_tables(f"--view {view}", renderer)


def _check_that_format_has_tables(option: str, renderer: Renderer | None) -> None:
    """Raise `QueryError` if the output format has no tables, but `option` shows one."""
    if renderer is not None and (renderer.has_stacks or not renderer.has_tables):
        raise QueryError(
            f"{option} shows a table, which {renderer.name} does not have; use another format"
        )


def _check_others(arguments: argparse.Namespace, what: str, allowed: frozenset[str]) -> None:
    for option in OPTIONS:
        # Like argparse, name the value after the first long flag.
        flag = next(one for one in option.flags if one.startswith("--"))
        name = option.settings.get("dest", flag.lstrip("-").replace("-", "_"))
        default = parser().get_default(name)
        if allowed.isdisjoint(option.flags) and getattr(arguments, name, default) != default:
            raise QueryError(f"{what}, so {flag} has no effect; leave one out")


def _check_statistics(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if nothing is compared or judged, but another option needs that."""
    if arguments.threshold is not None and not compares(arguments):
        raise QueryError("--threshold needs --compare, which names what to compare with")
    if arguments.unit != SAMPLE_UNITS[0] and not (compares(arguments) or arguments.fail_if):
        raise QueryError("--unit needs --compare or --fail-if, which count runs")


def _check_inspection(arguments: argparse.Namespace, renderer: Renderer | None) -> None:
    """Raise `QueryError` if `--inspect` is given with an option about rows or tables."""
    if arguments.inspect is None:
        return
    values = vars(arguments)
    given = [option for option in _OF_ROWS if values[option[2:].replace("-", "_")]]
    if arguments.run_stat != RUN_STATISTICS[0]:
        given.append("--run-stat")
    if renderer and not (renderer.has_tables and renderer.has_summary_beside_tables):
        given.append(f"--format {renderer.name}")
    if given:
        raise QueryError(
            f"--inspect shows one operator and no table, so {given[0]} has no effect; leave one out"
        )


def _check_explanation(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if `--explain` is given with an option about tables."""
    if arguments.explain is None:
        return
    for option, given in (
        # An explanation is plain text, so these two formats are accepted.
        ("--format", arguments.format not in (None, PLAIN, TABLE)),
        ("--confluence (or --wiki)", arguments.confluence),
        ("--dump-only-opr", arguments.dump_only_opr),
        ("--columns", arguments.columns),
        ("--plot", arguments.plot),
        ("--print-only summary", arguments.print_only == "summary"),
    ):
        if given:
            raise QueryError(f"--explain shows no table, so {option} has no effect; leave one out")


def _check_needs_of_the_format(arguments: argparse.Namespace, renderer: Renderer) -> None:
    """Raise `QueryError` if the output format cannot show what the options ask for."""
    name = renderer.name
    if not renderer.has_tables and (arguments.columns or arguments.copy_time):
        option = "--columns" if arguments.columns else "--copy-time"
        raise QueryError(f"{name} has no tables and no totals, so {option} has no effect")
    if renderer.needs == "conditions" and not arguments.fail_if:
        raise QueryError(
            f"--format {name} has a test case for each --fail-if, but no --fail-if is given; "
            "add one"
        )
    shows_change = compares(arguments) and arguments.print_only in (None, "summary")
    if renderer.needs == "findings" and not (arguments.fail_if or shows_change):
        raise QueryError(f"--format {name} annotates what --fail-if and --compare find; add one")
    shows_summary = renderer.has_summary_beside_tables or arguments.print_only == "summary"
    if arguments.copy_time and not shows_summary:
        raise QueryError(
            f"--copy-time adds to the summary, which {name} has only with --print-only summary; "
            "add that, or use json"
        )


def _check_stacks(arguments: argparse.Namespace, renderer: Renderer) -> None:
    """Raise `QueryError` if an option does not apply to `renderer`, which shows stacks."""
    if not renderer.has_stacks:
        return
    for option, given in (
        ("--compare", arguments.compare),
        ("--compare-label", arguments.compare_label),
        ("--aggregate-by", arguments.aggregate_by is not None),
        ("--aggregate", arguments.aggregate is not None),
        ("--show-host", arguments.show_host),
        ("--print-only summary", arguments.print_only == "summary"),
        ("--top-end-key kern", arguments.top_end_key == "kern"),
        ("--correct-drift", arguments.correct_drift),
    ):
        if given:
            raise QueryError(
                f"{renderer.name} has the recorded times of the stacks of one profile, so {option} "
                "does not apply; leave one out"
            )


def _check_tiles(request: Request) -> None:
    """Raise `QueryError` if the request names a column on tiles, but not the size of tiles."""
    used = (column.name for column in request.asking.queries["device"].used)
    named = (*request.showing.columns, *used)
    of_tiles = [name for name in named if name.partition(".")[0] in TILE_NAMES]
    if of_tiles and request.reading.inputs.tile is None:
        raise QueryError(f"the column {of_tiles[0]} needs the size of tiles; add {_TILE}")


def check_that_it_ran(request: Request, profile: Profile) -> None:
    """Raise `QueryError` if an option needs times, and `profile` is a model that has not run."""
    if profile.model is None:
        return
    reading, asking, showing, _ = request
    query = asking.query
    name = "" if showing.renderer is None else showing.renderer.name
    for option, given in (
        ("--min-time", query.min_time_s is not None),
        ("--max-time", query.max_time_s is not None),
        ("--run-stat", query.run_statistic != Query().run_statistic),
        ("--copy-time", asking.copy_time),
        ("--correct-drift", reading.correct_drift),
        ("--top-end-key kern", query.measure in ("wait", "host_wait")),
        ("--print-only host", asking.asked_side == "host"),
        ("--show-host", len(asking.sides) > 1),
        (f"--format {name}", showing.has_stacks),
        *((f"--where '{one.text}'", needs_times(one.column)) for one in query.conditions),
        *((f"--having '{one.text}'", needs_times(one.column)) for one in query.group_conditions),
    ):
        if given:
            raise QueryError(
                f"{option} needs times, and {profile.file} is a model that has not run; leave the "
                "option out"
            )

"""The command line: its options, and the questions that they ask."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from profile_analyze.cli.output import encoding_of_standard_output, write_standard_output
from profile_analyze.errors import QuantityError, QueryError
from profile_analyze.model.columns import RUN_STATISTICS, RowKind
from profile_analyze.model.terms import LEVELS, UNITS
from profile_analyze.query.aggregates import AGGREGATES, DEFAULT_AGGREGATE
from profile_analyze.query.catalog import group_keys, orderable_names
from profile_analyze.readers.content import MAX_SIZE
from profile_analyze.report.base import ALL_COLUMNS
from profile_analyze.report.output_formats import (
    OPERATORS,
    OUTPUT_FORMATS,
    TABLE,
    WIKI,
    find_renderer,
    output_format_of,
)
from profile_analyze.units import parse_quantity, parse_time
from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.terms import Side
    from profile_analyze.query.gate import FailCondition
    from profile_analyze.query.question import Query

PROGRAM: Final = "profile_analyze"
COMMAND: Final = "profile-analyze"

_DESCRIPTION: Final = """\
Tells where the time of a neural network goes, from the profile that its runtime wrote:
the slowest operators or kinds of operator, with FLOPS and memory bandwidth."""

_EXAMPLES: Final = """\
examples:
  profile-analyze run.json
      the three slowest operators
  profile-analyze run.json -t 5 --aggregate-by type
      the five kinds of operator that cost most
  profile-analyze run.json -t 0 --order-by memory --type ConvolutionForward
      all convolutions, those that touch most memory first
  profile-analyze run.json --aggregate-by type,in_shapes --aggregate sum,p90 --format plain
      one line for each kind and shape, with the time in total and of the slowest tenth
  profile-analyze run.json --opr-name '.*conv' --min-time 1ms
      operators with conv in their name that take a millisecond or more
  gzip -dc run.json.gz | profile-analyze - --wiki --show-host > page.txt
      tables for a wiki page, of device and host times, from standard input
  profile-analyze new*.json --compare old*.json --aggregate-by type
      what became slower or faster, and whether that is more than noise
  profile-analyze new*.json --compare old*.json --fail-if 'total > +5%'
      the same for a pipeline, which ends with 3 if all takes over 5 % longer

Times are in seconds; a suffix says otherwise: 1ms, 20us, 0.5s. All columns: --columns help.
Exit status: 0 answered; 1 the input cannot be read, or the output not written;
2 asked wrongly; 3 a condition of --fail-if is met; 4 one could not be judged."""


# The names under which the options that the original does not have are kept.
_LATER_OPTIONS: Final = frozenset(
    (
        "where",
        "having",
        "peaks",
        "plot",
        "columns",
        "format",
        "output",
        "force",
        "color",
        "print_completion",
        "version",
        "run_stat",
        "skip_runs",
        "level",
        "unit",
        "skip_bad",
        "correct_drift",
        "compare",
        "match",
        "max_size",
        "threshold",
        "fail_if",
        "fail_uncertain",
    )
)


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line, where argparse prints the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise QueryError(f"{message}; see {COMMAND} --help")

    def format_help(self) -> str:
        """The help, as wide as the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ARG002  # is stdout
        """Write the help or the version; argparse itself ignores errors of writing."""
        _write(message)

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """What an abbreviation may mean: an option of the original before one that came later.

        So abbreviations of the original's options still work.
        """
        found: list[Any] = super()._get_option_tuples(option_string)
        return [one for one in found if one[0].dest not in _LATER_OPTIONS] or found


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    result = _Parser(
        prog=COMMAND,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        # argparse makes one to check each metavar; with a width it does not look for a terminal,
        # and imports nothing for that
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
        usage="%(prog)s [options] FILE [FILE ...]",
    )
    result.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="a profile: JSON, plain or compressed by gzip or zstd; - is standard input; several "
        "are runs of one model; a folder stands for its profiles, @FILE for the files it lists",
    )
    result.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    result.add_argument(
        "--max-size",
        type=_size,
        default=MAX_SIZE,
        metavar="SIZE",
        help="refuse a file that holds more than this, decompressed, such as 16GiB (default: 8GiB)",
    )
    _add_rows(result.add_argument_group("rows: which operators"))
    _add_groups(result.add_argument_group("groups: one row for several operators"))
    _add_order(result.add_argument_group("order: which come first, and how many"))
    _add_runs(result.add_argument_group("runs: several files of one model"))
    _add_comparison(result.add_argument_group("comparison: with a baseline"))
    _add_view(result.add_argument_group("view: what is shown"))
    _add_form(result.add_argument_group("output: how it is written"))
    return result


def _add_rows(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--type",
        action="append",
        default=[],
        metavar="TYPE",
        help="operators of this type, such as ConvolutionForward; may be repeated",
    )
    group.add_argument(
        "--opr-name",
        metavar="REGEX",
        help="operators whose name matches from its start on; '.*conv' finds conv anywhere",
    )
    group.add_argument(
        "--input-dtype",
        metavar="DTYPE",
        help="operators with an input of this dtype, such as Float32, where the profile tells it",
    )
    group.add_argument(
        "--min-time",
        type=_time,
        metavar="TIME",
        help="operators that took at least this time, in seconds or as 1ms, 20us (default: any)",
    )
    group.add_argument(
        "--max-time",
        type=_time,
        metavar="TIME",
        help="operators that took at most this time, in seconds or as 1ms, 20us (default: any)",
    )
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="'COLUMN OP VALUE'",
        help="operators for which this holds: == != < <= > >= with a number and its unit, such as "
        "'time > 1ms', 'flops < 2GFLOPS', 'share >= 5%%', or == != ~ !~ with a text or a pattern, "
        "such as 'name ~ conv'; N/A passes none; may be repeated, and then all must hold",
    )


def _add_groups(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--aggregate-by",
        metavar="KEY[,KEY...]",
        help=f"one row for each value of these: {', '.join(group_keys())}, param.NAME (one of the "
        "parameters), name~REGEX (what the pattern finds in the name, or its first group); "
        f"aggregated by {DEFAULT_AGGREGATE} unless --aggregate says otherwise",
    )
    group.add_argument(
        "--aggregate",
        metavar="HOW[,HOW...]",
        help="how the values of a group become one: "
        f"{', '.join(AGGREGATES)}, or a percentile such as p90; "
        "each further one adds a column of the time. Without --aggregate-by: all "
        "operators in one row. FLOPS and bandwidth are the sum of work over the sum of time for "
        "sum and mean; otherwise of the operators' own",
    )
    group.add_argument(
        "--having",
        action="append",
        default=[],
        metavar="'COLUMN OP VALUE'",
        help="groups for which this holds, in the grammar of --where, such as 'count >= 10'; may "
        "be repeated",
    )


def _add_order(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--order-by",
        metavar="[+]COLUMN[,...]",
        help="largest first, with + smallest first; N/A comes last (default: time, or the size of "
        "the difference to the baseline). Operators "
        f"have {', '.join(orderable_names(RowKind(None)))}, param.NAME; groups have their keys, "
        f"{', '.join(orderable_names(RowKind(())))}, and aggregates such as time.p90",
    )
    group.add_argument(
        "-t",
        "--top",
        type=_count,
        default=3,
        metavar="N",
        help="how many rows to show; 0 shows all (default: 3)",
    )
    group.add_argument(
        "--top-end-key",
        choices=("end", "kern"),
        default="end",
        help="end: times last until the operator ends; kern: until its first kernel starts, "
        "which is its wait time (default: end)",
    )


def _add_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--run-stat",
        choices=RUN_STATISTICS,
        default=RUN_STATISTICS[0],
        help="which statistic of several runs is shown (default: median)",
    )
    group.add_argument(
        "--skip-runs",
        type=_count_of_runs,
        default=0,
        metavar="N",
        help="leave out the first N runs of each process, to skip warm-up (default: 0)",
    )
    group.add_argument(
        "--skip-bad",
        action="store_true",
        help="leave out files that cannot be read, and count them in a note",
    )
    group.add_argument(
        "--correct-drift",
        action="store_true",
        help="divide the times of each run by how slow the whole run was, as on a busy machine; "
        "this hides a change of everything at once",
    )


def _add_comparison(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--compare",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="the baseline: a profile to compare with, or several runs of it; adds base, "
        "difference, ratio and verdict to the rows, the largest difference first",
    )
    group.add_argument(
        "--match",
        choices=("auto", "name", "structure"),
        default="auto",
        help="which operators are the same: those of one name and type, or of one type, shapes and "
        "parameters in the order of execution; auto: by name, then by structure (default: auto)",
    )
    group.add_argument(
        "--threshold",
        type=_fraction,
        metavar="SHARE",
        help="the smallest change that a verdict calls slower or faster (default: 3%%)",
    )
    group.add_argument(
        "--unit",
        choices=UNITS,
        default=UNITS[0],
        help="what statistics count if a file has several runs: processes, each by the median of "
        "its runs, or iterations, as if they were independent (default: process)",
    )
    group.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="'[CONDITION:] METRIC > LIMIT'",
        help="end with 3 if this holds beyond noise: 'total > +5%%', 'time > +2ms', "
        "'type=ConvolutionForward: time > +3%%' (than the baseline), 'time > 0.120s'; METRIC is "
        "total (of all operators), time (of those that are asked for), device_time, host_time or "
        "wait; may be repeated",
    )
    group.add_argument(
        "--fail-uncertain",
        choices=("yes", "no"),
        help="whether to end with 4 if a condition cannot be judged, because there are too few "
        "runs or no operators (default: yes)",
    )


def _add_view(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--level",
        choices=LEVELS,
        help="what a row is, where the profile has several levels: an innermost operator, an "
        "outermost one (top), a kernel or a module (default: operator, or else the first of these "
        "that there is)",
    )
    group.add_argument(
        "--show-host", action="store_true", help="a table of host times after that of the device"
    )
    group.add_argument(
        "--copy-time",
        action="store_true",
        help="add to the summary how long copies between devices took, and how long they waited "
        "for their first kernel, in seconds; only operators that --type, --opr-name and "
        "--input-dtype keep",
    )
    group.add_argument(
        "--print-only",
        choices=("summary", "device", "host"),
        help="only this part (default: summary and device, and host with --show-host)",
    )
    group.add_argument(
        "--dump-only-opr",
        action="store_true",
        help="only name, type and id, one operator per line; with --order-by +id, to compare with "
        "diff",
    )

    group.add_argument(
        "--peaks",
        action=_Peaks,
        metavar="SPEC",
        help="compare with what a device can do at most, and add bound, efficiency, lost and gain: "
        "a device (a100-80gb-sxm, h100-sxm:fp16; list prints all), FLO/s and bytes per "
        "second (19.5T:1555G), a TOML file, or here: measured on this machine, once (here! again)",
    )
    group.add_argument(
        "--columns",
        action=_Columns,
        metavar="COLUMN[,...]",
        help="show these columns, in this order; all: all of them; help: print every column with "
        "its unit and meaning, and end",
    )


def _add_form(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        choices=[form for form in OUTPUT_FORMATS if form != OPERATORS],
        help="table: boxes (the default for MegEngine profiles); plain: one line per row (the "
        "default otherwise); markdown; wiki; for programs, with raw numbers in base units: csv, "
        "json, jsonl; for pipelines: github (annotations), junit",
    )
    group.add_argument(
        "--confluence",
        "--wiki",
        action="store_true",
        help="the same as --format wiki: tables for a wiki page",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to this file, whole or not at all; its suffix chooses the format unless "
        "--format does (.csv, .json, .jsonl, .md, .xml); - is standard output",
    )
    group.add_argument(
        "--force", action="store_true", help="let --output and --plot replace a file that is there"
    )
    group.add_argument(
        "--plot",
        metavar="FILE",
        help="also draw a picture, .svg, .png or .pdf: with --peaks all rows on the roofline, "
        "otherwise the longest as ranked bars; needs the extra plot",
    )
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="auto: on a terminal, unless NO_COLOR is set (default: auto)",
    )
    group.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "fish"),
        help="print a script that completes this command's options in a shell, and end",
    )


class _Columns(argparse.Action):
    """Keeps the names; `help` prints the list of columns instead, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002  # of the interface
    ) -> None:
        if values == "help":
            from profile_analyze.report.column_list import column_list

            _end_with(parser, column_list())
        setattr(namespace, self.dest, values)


class _Peaks(argparse.Action):
    """Keeps what names the peaks; `list` prints the table of devices instead, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002  # of the interface
    ) -> None:
        from profile_analyze.cli import peaks

        if values == peaks.LIST:
            _end_with(parser, peaks.device_list())
        setattr(namespace, self.dest, values)


class _Completion(argparse.Action):
    """Prints a completion script, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002  # of the interface
        values: Any,
        option_string: str | None = None,  # noqa: ARG002  # of the interface
    ) -> None:
        import shtab

        for action in parser._actions:  # noqa: SLF001  # shtab's own way to say what completes
            if action.dest in ("files", "compare", "output", "plot"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        _end_with(parser, shtab.complete(parser, values) + "\n")


def _end_with(parser: argparse.ArgumentParser, text: str) -> NoReturn:
    _write(text)
    parser.exit()


def _write(text: str) -> None:
    write_standard_output([text.encode(encoding_of_standard_output(), "backslashreplace")])


def _time(text: str) -> float:
    try:
        return parse_time(text)
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _size(text: str) -> int:
    try:
        size = parse_quantity(text, "byte")
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not text.strip()[-1].isalpha():
        raise argparse.ArgumentTypeError(f"{text!r} has no unit; write one, as in 16GiB")
    if size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than a byte; write 16GiB")
    return int(size)


def _fraction(text: str) -> float:
    try:
        found = parse_quantity(text, "1")
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not 0 <= found < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0% to 100%; write 3% or 0.03")
    return found


def _count_of_runs(text: str) -> int:
    if not text.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs, such as 1")
    return int(text)


def _count(text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = -1
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows; 0 shows all")
    return count


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, each checked by itself and against the others.

    Raises `QueryError`; exits after `--help` and `--version`.
    """
    known = parser()
    arguments, unknown = known.parse_known_intermixed_args(argv)
    if unknown:
        known.error(f"unrecognized arguments: {' '.join(unknown)}{_meant(known, unknown)}")
    _check_a_profile_is_named(arguments)
    _rename_columns(arguments)
    _check_form(arguments)
    _check_comparison(arguments)
    _check_what_the_format_needs(arguments)
    return arguments


def _meant(known: argparse.ArgumentParser, unknown: Sequence[str]) -> str:
    """A suggestion for the first unknown option that is near a known one."""
    from difflib import get_close_matches

    options = [option for option in known._option_string_actions if option.startswith("--")]  # noqa: SLF001  # nothing else lists them
    for text in unknown:
        if text.startswith("--"):
            near = get_close_matches(text.partition("=")[0], options, n=1, cutoff=0.7)
            return f" (did you mean {near[0]}?)" if near else ""
    return ""


def _rename_columns(arguments: argparse.Namespace) -> None:
    """Rename `opr_id`, as the original calls it, to `id`."""
    for option in ("order_by", "columns"):
        named = getattr(arguments, option)
        if named is not None:
            setattr(arguments, option, re.sub(r"\bopr_id\b", "id", named))
    arguments.where = [re.sub(r"\bopr_id\b", "id", text) for text in arguments.where]


def _check_a_profile_is_named(arguments: argparse.Namespace) -> None:
    if arguments.files:
        return
    if arguments.compare:
        raise QueryError("--compare took all files that are named; name the profile before it")
    raise QueryError(f"the following arguments are required: FILE; see {COMMAND} --help")


def _check_comparison(arguments: argparse.Namespace) -> None:
    for option, given in (
        ("--match", arguments.match != "auto"),
        ("--threshold", arguments.threshold is not None),
    ):
        if given and not arguments.compare:
            raise QueryError(f"{option} needs --compare, which names what to compare with")
    if arguments.unit != UNITS[0] and not (arguments.compare or arguments.fail_if):
        raise QueryError("--unit needs --compare or --fail-if, which count runs")
    if arguments.fail_uncertain is not None and not arguments.fail_if:
        raise QueryError("--fail-uncertain needs --fail-if, which states the conditions")


def _check_what_the_format_needs(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if the format that is asked for cannot show what is asked for."""
    form = form_of(arguments)
    if form is None:  # whatever format the profile has by default shows everything
        return
    renderer = find_renderer(form)
    if not renderer.has_tables and (arguments.columns or arguments.copy_time):
        option = "--columns" if arguments.columns else "--copy-time"
        raise QueryError(f"{form} has no tables and no totals, so that {option} means nothing")
    if renderer.needs == "conditions" and not arguments.fail_if:
        raise QueryError(f"--format {form} has a test case for each --fail-if, and there is none")
    tells_change = arguments.compare and arguments.print_only in (None, "summary")
    if renderer.needs == "findings" and not (arguments.fail_if or tells_change):
        raise QueryError(f"--format {form} annotates what --fail-if and --compare find; add one")
    shows_summary = renderer.has_summary_beside_tables or arguments.print_only == "summary"
    if arguments.copy_time and not shows_summary:
        raise QueryError(
            f"--copy-time adds to the summary, which {form} has only with --print-only summary; "
            "add that, or use json"
        )


def _check_form(arguments: argparse.Namespace) -> None:
    if arguments.dump_only_opr:
        for option, given in (
            ("--confluence (or --wiki)", arguments.confluence),
            (f"--format {arguments.format}", arguments.format),
            ("--columns", arguments.columns),
        ):
            if given:
                raise QueryError(
                    f"--dump-only-opr prints no table, so that {option} means nothing; "
                    "leave one out"
                )
    if not arguments.format and not arguments.confluence:
        form = output_format_of(arguments.output or "")
        if arguments.dump_only_opr and form not in (None, TABLE):
            raise QueryError(
                f"argument -o/--output: {arguments.output} asks for {form}, which --dump-only-opr "
                "does not have; use another suffix"
            )
    if arguments.confluence and arguments.format not in (None, WIKI):
        raise QueryError(
            f"--confluence (or --wiki) and --format {arguments.format} ask for two formats; "
            "leave one out"
        )


_MEASURES: Final[Mapping[str, Mapping[Side, str]]] = {
    "end": {"device": "time", "host": "host_time"},
    "kern": {"device": "wait", "host": "host_wait"},
}
"""What the original's `--top-end-key` means on each side."""

_OPTION_OF: Final = {
    "level": "--level",
    "by": "--aggregate-by",
    "aggregates": "--aggregate",
    "min_time_s": "--min-time",
    "max_time_s": "--max-time",
    "where": "--where",
    "having": "--having",
    "run_statistic": "--run-stat",
    "skip_runs": "--skip-runs",
}


def in_options(error: QueryError) -> QueryError:
    """The error with the name of the option in place of the field of a question."""
    field, _, message = str(error).partition(": ")
    return QueryError(f"argument {_OPTION_OF[field]}: {message}") if field in _OPTION_OF else error


def queries_of(arguments: argparse.Namespace, peaks: Peaks | None) -> dict[Side, Query]:
    """The question about each side. Raises `QueryError`."""
    from profile_analyze.query.question import Query

    fields: dict[str, Any] = {
        "types": arguments.type,
        "name": arguments.opr_name,
        "input_dtype": arguments.input_dtype,
        "min_time_s": arguments.min_time,
        "max_time_s": arguments.max_time,
        "where": arguments.where,
        "by": _none_as_nothing(arguments.aggregate_by),
        "aggregates": _none_as_nothing(arguments.aggregate),
        "having": arguments.having,
        "order": arguments.order_by,
        "top": arguments.top,
        "peaks": peaks,
        "run_statistic": arguments.run_stat,
        "split_by": _split_by(arguments.columns),
        "level": arguments.level,
        "unit": arguments.unit,
        "compared": bool(arguments.compare),
    }
    if arguments.threshold is not None:
        fields["threshold"] = arguments.threshold
    try:
        measures = _MEASURES[arguments.top_end_key]
        return {side: Query(measure=measure, **fields) for side, measure in measures.items()}
    except QueryError as error:
        if (better := in_options(error)) is error:
            raise
        raise better from None


def _split_by(columns: str | None) -> tuple[str, ...]:
    """The keys that `--columns` splits operators by. The names are checked later."""
    from profile_analyze.query.catalog import find_column, split_names

    if columns is not None:
        with suppress(QueryError):
            found = map(find_column, split_names(columns))
            return tuple(column.base_name for column in found if column.needs_split)
    return ()


def conditions_of(arguments: argparse.Namespace, query: Query) -> tuple[FailCondition, ...]:
    """Under which conditions a pipeline is to fail. Raises `QueryError`."""
    if not arguments.fail_if:
        return ()
    from profile_analyze.query.gate import FailCondition

    texts = dict.fromkeys(arguments.fail_if)
    try:
        conditions = tuple(FailCondition.parse(text, query) for text in texts)
    except QueryError as error:
        raise QueryError(f"argument --{error}") from None
    for condition in conditions if arguments.correct_drift else ():
        if not (condition.subject and condition.relative):
            raise QueryError(
                f"argument --fail-if: '{condition.text}': --correct-drift hides what changed in "
                "all operators at once; name some of them and a change: 'type=Copy: time > +5%'"
            )
    return conditions


def _none_as_nothing(text: str | None) -> str | tuple[str, ...]:
    return () if text is None else text


def columns_of(arguments: argparse.Namespace, query: Query) -> tuple[str, ...]:
    """The columns that the tables show; empty for the format's default.

    A column that is named twice, or also by an alias, is shown once, where it is named first.

    Raises `QueryError` for one that the answer to `query` does not have.
    """
    from profile_analyze.query.catalog import check_columns, find_column, split_names

    if arguments.columns is None:
        return ()
    if arguments.columns == ALL_COLUMNS:
        return query.columns
    names = split_names(arguments.columns)
    check_columns(names, query.kind)
    return tuple(dict.fromkeys(find_column(name).name for name in names))


def sides_of(arguments: argparse.Namespace) -> tuple[Side, ...]:
    """Which tables are wanted, in the order of printing."""
    if arguments.print_only == "summary":
        return ()
    if arguments.print_only is not None:
        return (arguments.print_only,)
    return ("device", "host") if arguments.show_host else ("device",)


def form_of(arguments: argparse.Namespace) -> str | None:
    """The output format that the options ask for; None where that is left to the profile."""
    if arguments.dump_only_opr:
        return OPERATORS
    if arguments.confluence:
        return WIKI
    return arguments.format or output_format_of(arguments.output or "")

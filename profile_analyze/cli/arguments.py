"""The command line: what may be written, and what is meant by it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final, NoReturn

from profile_analyze.errors import QuantityError, QueryError
from profile_analyze.model.columns import DEFAULT_ORDER, group_keys, orderable_names
from profile_analyze.query.aggregates import AGGREGATES, DEFAULT_AGGREGATE
from profile_analyze.units import parse_time
from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.model.profile import Side
    from profile_analyze.query.question import Query

PROGRAM: Final = "profile_analyze"
COMMAND: Final = "profile-analyze"

_DESCRIPTION: Final = """\
Tells where the time of a neural network goes, from the JSON profile that its runtime
wrote: the slowest operators or kinds of operator, with FLOPS and memory bandwidth."""

_EXAMPLES: Final = """\
examples:
  profile-analyze run.json
      the three slowest operators
  profile-analyze run.json -t 5 --aggregate-by type
      the five kinds of operator that cost most
  profile-analyze run.json -t 0 --order-by memory --type ConvolutionForward
      all convolutions, those that touch most memory first
  profile-analyze run.json --opr-name '.*conv' --min-time 1ms
      operators with conv in their name that take a millisecond or more
  gzip -dc run.json.gz | profile-analyze - --wiki --show-host > page.txt
      tables for a wiki page, of device and host times, from standard input

Times are in seconds; a suffix says otherwise: 1ms, 20us, 0.5s.
Exit status: 0 answered; 1 the input cannot be read, or the output not written;
2 asked wrongly."""


class _Parser(argparse.ArgumentParser):
    """Reports a mistake in one line, where argparse prints the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise QueryError(f"{message}; see {COMMAND} --help")


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    result = _Parser(
        prog=COMMAND,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [options] FILE",
    )
    result.add_argument(
        "file",
        metavar="FILE",
        help="a profile: JSON, plain or compressed by gzip or zstd; - is standard input",
    )
    result.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    _add_rows(result.add_argument_group("rows: which operators"))
    _add_groups(result.add_argument_group("groups: one row for several operators"))
    _add_order(result.add_argument_group("order: which come first, and how many"))
    _add_view(result.add_argument_group("view: what is shown"))
    _add_form(result.add_argument_group("form: how it is written"))
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


def _add_groups(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--aggregate-by",
        choices=group_keys(),
        help=f"one row for each value of this column (aggregated by {DEFAULT_AGGREGATE} unless "
        "--aggregate says otherwise)",
    )
    group.add_argument(
        "--aggregate",
        choices=tuple(AGGREGATES),
        help="how times, computation and memory become a group's; alone: all operators in one "
        "row. FLOPS and bandwidth are the sum of work over the sum of time; for max and min, the "
        "largest and smallest of the operators' own",
    )


def _add_order(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--order-by",
        default=DEFAULT_ORDER,
        metavar="[+]COLUMN",
        help="largest first, with + smallest first; N/A comes last (default: time). Operators "
        f"have {', '.join(orderable_names(groups=False))}; groups have "
        f"{', '.join(orderable_names(groups=True))}",
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


def _add_view(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--show-host", action="store_true", help="a table of host times after that of the device"
    )
    group.add_argument(
        "--copy-time",
        action="store_true",
        help="in the summary, the time of copies between devices and the time that they waited "
        "for their first kernel, in seconds, of the operators that --type, --opr-name and "
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
        help="only name, type and id of each operator, a line each; with --order-by +id, to "
        "compare with diff",
    )


def _add_form(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--confluence",
        "--wiki",
        action="store_true",
        help="tables for a wiki page or Markdown (default: boxes)",
    )


def _time(text: str) -> float:
    try:
        return parse_time(text)
    except QuantityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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
    arguments = parser().parse_args(argv)
    if arguments.dump_only_opr and arguments.confluence:
        raise QueryError(
            "--dump-only-opr prints no table, so that --confluence (or --wiki) means nothing; "
            "leave one out"
        )
    return arguments


def queries_of(arguments: argparse.Namespace) -> dict[Side, Query]:
    """What is asked about each side. Raises `QueryError`."""
    from profile_analyze.query.question import Query

    fields: dict[str, Any] = {
        "types": arguments.type,
        "name": arguments.opr_name,
        "input_dtype": arguments.input_dtype,
        "min_time_s": arguments.min_time,
        "max_time_s": arguments.max_time,
        "by": arguments.aggregate_by or (),
        "aggregate": arguments.aggregate,
        "order": arguments.order_by,
        "top": arguments.top,
        "end_key": arguments.top_end_key,
    }
    return {"device": Query(side="device", **fields), "host": Query(side="host", **fields)}


def sides_of(arguments: argparse.Namespace) -> tuple[Side, ...]:
    """Which tables are wanted, in the order of printing."""
    if arguments.print_only == "summary":
        return ()
    if arguments.print_only is not None:
        return (arguments.print_only,)
    return ("device", "host") if arguments.show_host else ("device",)


def form_of(arguments: argparse.Namespace) -> str:
    """The name of the output format that is wanted."""
    if arguments.dump_only_opr:
        return "operators"
    return "wiki" if arguments.confluence else "table"

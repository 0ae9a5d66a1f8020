"""The table of all options of the command. The parser and docs/options.md are made from it.

`input_options.py` has the groups on runs, models and the cache. `output_options.py`,
`fleet_options.py` (data sets and SQL) and `window_options.py` have one group each.
"""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.fleet_options import FLEET
from profile_analyze.cli.input_options import CACHE, MODELS, RUNS
from profile_analyze.cli.option_actions import ColumnsAction, PeaksAction, StoreOnce, VersionAction
from profile_analyze.cli.option_types import (
    Option,
    OptionGroup,
)
from profile_analyze.cli.option_values import (
    column_names,
    condition,
    fraction,
    label_value,
    row_count,
    seconds,
    size_in_bytes,
)
from profile_analyze.cli.output_options import OUTPUT
from profile_analyze.cli.window_options import WINDOW
from profile_analyze.model.terms import LEVELS, SAMPLE_UNITS, WORK_SOURCES
from profile_analyze.query.aggregates import AGGREGATES, DEFAULT_AGGREGATE
from profile_analyze.query.catalog import group_keys
from profile_analyze.readers.content import MAX_SIZE

# argparse formats help texts with the operator %, so a per cent sign is written as %%.

FILES: Final = Option.of(
    "files",
    nargs="*",  # not +, because `check_options` has a better message if no file is named
    metavar="FILE",
    help="a profile: JSON, plain or compressed by gzip or zstd; - is standard input; several "
    "files are runs of one model; a folder stands for its profiles, @FILE for the files that FILE "
    "lists, and a quoted pattern such as 'runs/**/*.json' for the files that it matches; any "
    "of these may be a URL, such as s3://bucket/runs",
)

GENERAL: Final = (
    Option.of("-h", "--help", action="help", help="print the options and examples, and exit"),
    Option.of(
        "--version",
        action=VersionAction,
        nargs=0,
        help="print the version and which extras are installed, and exit",
    ),
    Option.of(
        "--max-size",
        type=size_in_bytes,
        default=MAX_SIZE,
        metavar="SIZE",
        example="16GiB",
        help="refuse a file whose decompressed size is larger than this, such as 16GiB (default: "
        "8GiB)",
    ),
)

ROWS: Final = OptionGroup(
    "rows: filters for operators",
    (
        Option.repeatable(
            "--type",
            metavar="TYPE",
            example="ConvolutionForward",
            help="operators of this type, such as ConvolutionForward; may be repeated",
        ),
        Option.of(
            "--opr-name",
            action=StoreOnce,
            joined_by="|",
            metavar="REGEX",
            example=".*conv",
            help="operators with a name that this pattern matches from its start; '.*conv' finds "
            "conv anywhere",
        ),
        Option.of(
            "--input-dtype",
            action=StoreOnce,
            metavar="DTYPE",
            example="Float32",
            help="operators with an input of this dtype, such as Float32, if the profile has "
            "dtypes",
        ),
        Option.of(
            "--min-time",
            type=seconds,
            metavar="TIME",
            example="1ms",
            help="operators that took at least this time, in seconds or as 1ms, 20us (default: "
            "any)",
        ),
        Option.of(
            "--max-time",
            type=seconds,
            metavar="TIME",
            example="1ms",
            help="operators that took at most this time, in seconds or as 1ms, 20us (default: any)",
        ),
        Option.repeatable(
            "--where",
            type=condition,
            metavar="'COLUMN OP VALUE'",
            example="time > 1ms",
            help="operators that meet this condition: == != < <= > >= with a number and its unit, "
            "such as 'time > 1ms', 'flops < 2GFLOPS', 'share >= 5%%', or == != ~ !~ with a text or "
            "a pattern, such as 'name ~ conv'; N/A never meets it; if repeated, all must hold",
        ),
    ),
)

GROUPS: Final = OptionGroup(
    "groups: one row for several operators",
    (
        Option.of(
            "--aggregate-by",
            action=StoreOnce,
            joined_by=",",
            metavar="KEY[,KEY...]",
            example="type",
            help=f"one row for each value of these: {', '.join(group_keys())}, scope/N (the first "
            "N levels of scope), param.NAME (one of the parameters), name~REGEX (the part of the "
            "name that the pattern finds, or its first group), a label (--label); aggregated by "
            f"{DEFAULT_AGGREGATE} unless --aggregate says otherwise",
        ),
        Option.of(
            "--aggregate",
            action=StoreOnce,
            joined_by=",",
            metavar="HOW[,HOW...]",
            example="sum,p90",
            help="how to combine the values of a group: "
            f"{', '.join(AGGREGATES)}, or a percentile such as p90. The first applies to all "
            "columns, and each further one adds a column of the time, such as time.p90. Without "
            "--aggregate-by, all operators are one row. With sum and mean, FLOPS and bandwidth are "
            "the sum of work over the sum of time; otherwise, the values of the operators are "
            "aggregated",
        ),
        Option.repeatable(
            "--having",
            metavar="'COLUMN OP VALUE'",
            example="count >= 10",
            help="groups that meet this condition, written as for --where, such as 'count >= 10'; "
            "if repeated, all must hold",
        ),
    ),
)

ORDER: Final = OptionGroup(
    "order: order and number of rows",
    (
        Option.of(
            "--order-by",
            action=StoreOnce,
            joined_by=",",
            type=column_names,
            metavar="[+]COLUMN[,...]",
            example="memory",
            help="largest first, with + smallest first; N/A comes last (default: time, or the size "
            "of the difference to the baseline). Nearly all columns have an order (--columns "
            "help), also param.NAME, and for groups aggregates such as time.p90",
        ),
        Option.of(
            "-t",
            "--top",
            may_be_default=True,
            type=row_count,
            metavar="N",
            example="5",
            help="how many rows to show; 0 shows all (default: 3)",
        ),
        Option.of(
            "--top-end-key",
            choices=("end", "kern"),
            default="end",
            help="which time to show. end: from the operator's start to its end; kern: to the "
            "start of its first kernel, which is the wait time (default: end)",
        ),
    ),
)

COMPARISON: Final = OptionGroup(
    "comparison: with a baseline",
    (
        Option.of(
            "--compare",
            nargs="+",
            action=StoreOnce,
            default=[],
            metavar="FILE",
            example="old.json",
            help="the baseline to compare with: a profile, or several runs of one model; adds the "
            "columns base, difference, ratio and verdict, and puts the largest differences first",
        ),
        Option.of(
            "--compare-label",
            action=StoreOnce,
            type=label_value,
            metavar="NAME=VALUE",
            example="date=2026-11-01",
            help="the baseline: the files with this value of a label (--label), instead of "
            "--compare; all files with another value are compared with the baseline",
        ),
        Option.of(
            "--match",
            choices=("auto", "name", "structure", "shapes"),
            default="auto",
            help="what operators must have in common to be compared. name: name and type. "
            "structure: type, shapes and parameters, in the order of execution. shapes: category "
            "and the shapes of the first input and output, in the order of execution; only if both "
            "sides have equally many. auto: name, and structure for the operators that are left; "
            "if the sides have two formats, the category may replace the type, and shapes come "
            "last (default: auto)",
        ),
        Option.of(
            "--threshold",
            type=fraction,
            metavar="SHARE",
            example="5%",
            help="the smallest change that a verdict calls slower or faster (default: 3%%)",
        ),
        Option.of(
            "--unit",
            choices=SAMPLE_UNITS,
            default=SAMPLE_UNITS[0],
            help="what statistics use if a file has several runs. process: one value for each "
            "process, the median of its runs; iteration: one value for each run, as if runs were "
            "independent (default: process)",
        ),
        Option.repeatable(
            "--fail-if",
            metavar="'[CONDITION:] METRIC > LIMIT'",
            example="total > +5%",
            help="exit with 3 if this is met beyond noise: 'total > +5%%', 'time > +2ms', "
            "'type=ConvolutionForward: time > +3%%' (more than the baseline), 'time > 0.120s'; "
            "METRIC is total (of all operators), time (of the operators that pass the filters), "
            "device_time, host_time, wait, computation, memory, macs or params; may be repeated",
        ),
        Option.of(
            "--fail-uncertain",
            choices=("not-ruled-out", "yes", "unjudged", "no"),
            # It has no default, because `check_options` rejects any value without `--fail-if`.
            help="when to exit with 4 if no condition is met. unjudged: if a condition cannot be "
            "judged, because of too few runs, no operators or mixed-up files; yes: also if the "
            "median is beyond the limit, but noise may explain that; not-ruled-out: also if the "
            "median is within the limit, but a change beyond it is not ruled out; no: never "
            "(default: unjudged)",
        ),
    ),
)

VIEW: Final = OptionGroup(
    "view: parts of the report",
    (
        Option.of(
            "--level",
            choices=LEVELS,
            help="what a row is, if the profile has several levels: any operator, without the "
            "operators inside it (operator); an outermost operator, with everything inside it "
            "(top); a kernel; or a module (default: operator, or the first level in this list that "
            "the profile has)",
        ),
        Option.of(
            "--show-host",
            action="store_true",
            help="show a table of host times after the table of device times",
        ),
        Option.of(
            "--copy-time",
            action="store_true",
            help="add the copies between devices to the summary: their time, and their wait for "
            "the first kernel; only copies that pass --type, --opr-name and --input-dtype",
        ),
        Option.of(
            "--print-only",
            choices=("summary", "device", "host"),
            help="show only this part (default: summary and device, and host with --show-host)",
        ),
        Option.of(
            "--dump-only-opr",
            action="store_true",
            help="print only name, type and id, one operator per line; add --order-by +id to "
            "compare two profiles with diff",
        ),
        Option.of(
            "--work",
            choices=WORK_SOURCES,
            help="where computation and memory come from: measured by the runtime, derived from "
            "shapes, or best, which is measured if that is known and otherwise derived (default: "
            "measured for a profile, derived for a model)",
        ),
        Option.of(
            "--peaks",
            action=PeaksAction,
            metavar="SPEC",
            example="a100-80gb-sxm",
            help="compare with the peak rates of a device: adds bound, efficiency, lost and gain. "
            "SPEC is a device (a100-80gb-sxm, h100-sxm:fp16; list prints all), two rates in FLO/s "
            "and bytes per second (19.5T:1555G), a TOML file, auto for the device that the profile "
            "names, or here, which measures this machine once (here:N: with N threads); ! at the "
            "end measures it again",
        ),
        Option.of(
            "--explain",
            action=StoreOnce,
            type=column_names,
            metavar="COLUMN",
            example="time",
            help="instead of a table, show what this column means, its formula and its rule for "
            "groups, worked through with the numbers of the first row; without FILE, the "
            "formula has no numbers",
        ),
        Option.of(
            "--columns",
            action=ColumnsAction,
            joined_by=",",
            type=column_names,
            metavar="COLUMN[,...]",
            example="name,time,share",
            help="show these columns, in this order; all shows every column; help prints every "
            "column with its unit and meaning, and exits",
        ),
    ),
)

OPTION_GROUPS: Final = (
    *(ROWS, GROUPS, ORDER, WINDOW, RUNS, COMPARISON, MODELS, VIEW, OUTPUT, FLEET, CACHE),
)
OPTIONS: Final = (*GENERAL, *(option for group in OPTION_GROUPS for option in group.options))
"""All options, without the positional argument."""

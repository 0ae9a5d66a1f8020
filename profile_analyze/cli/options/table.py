"""The table of all options of the command. The parser and docs/options.md are made from it.

`input_options.py` has the options that say what to read.
"""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.options.actions import (
    HelpValueAction,
    ListValueAction,
    PrintingAction,
    SqlAction,
)
from profile_analyze.cli.options.input_options import CACHE, MODELS, RUNS, WINDOW
from profile_analyze.cli.options.types import NO_PAGER, Option, OptionGroup
from profile_analyze.cli.options.values import (
    column_names,
    condition,
    fraction,
    label_value,
    picture_file,
    row_count,
    seconds,
    size_in_bytes,
    time_limit,
)
from profile_analyze.columns.aggregates import AGGREGATES, DEFAULT_AGGREGATE
from profile_analyze.columns.catalog import group_keys
from profile_analyze.model.terms import LEVELS, SAMPLE_UNITS, WORK_SOURCES
from profile_analyze.readers.input.content import MAX_SIZE
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, TABLE_FORMATS
from profile_analyze.report.layout.times import AUTO, TIME_UNITS
from profile_analyze.views.register import DEFAULT_VIEW, VIEWS

# argparse formats help texts with the operator %, so a per cent sign is written as %%.

GENERAL: Final = (
    Option.of("-h", "--help", action="help", help="print the options and examples, and exit"),
    Option.of(
        "--version",
        action=PrintingAction,
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
            joined_by="|",
            metavar="REGEX",
            example=".*conv",
            help="operators whose name begins with this pattern; '.*conv' finds conv anywhere",
        ),
        Option.of(
            "--input-dtype",
            metavar="DTYPE",
            example="Float32",
            help="operators with an input of this dtype, such as Float32",
        ),
        Option.of(
            "--min-time",
            type=seconds,
            metavar="TIME",
            example="1ms",
            help="operators that took at least this time: a number of seconds, or 1ms, 20us",
        ),
        Option.of(
            "--max-time",
            type=seconds,
            metavar="TIME",
            example="1ms",
            help="operators that took at most this time: a number of seconds, or 1ms, 20us",
        ),
        Option.repeatable(
            "--where",
            type=condition,
            metavar="'COLUMN OP VALUE'",
            example="time > 1ms",
            help="operators that meet this condition. For numbers: == != < <= > >= and a number "
            "with its unit, such as 'time > 1ms', 'flops < 2GFLOPS', 'share >= 5%%'. For texts: == "
            "!= with a text, or ~ !~ with a pattern, such as 'name ~ conv'. N/A meets no "
            "condition. If repeated, all must hold",
        ),
    ),
)

GROUPS: Final = OptionGroup(
    "groups: one row for several operators",
    (
        Option.of(
            "--aggregate-by",
            joined_by=",",
            metavar="KEY[,KEY...]",
            example="type",
            help=f"one row for each value of these: {', '.join(group_keys())}, scope/N (the first "
            "N levels of scope), param.NAME (one of the parameters), name~REGEX (the part of the "
            "name that the pattern matches, or the pattern's first capture group), a label "
            f"(--label). Rows have the {DEFAULT_AGGREGATE} of their operators unless --aggregate "
            "says otherwise",
        ),
        Option.of(
            "--aggregate",
            joined_by=",",
            metavar="HOW[,HOW...]",
            example="sum,p90",
            help="how to combine the values of a group: "
            f"{', '.join(AGGREGATES)}, or a percentile such as p90. The first aggregate other "
            "than count applies to all columns. Each other aggregate adds a time column, such "
            "as time.p90. Without --aggregate-by, all operators are one row. With sum and mean, "
            "FLOPS and bandwidth are the sum of work divided by the sum of time; with other "
            "aggregates, they are that aggregate of the operators' values",
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
            joined_by=",",
            type=column_names,
            metavar="[+]COLUMN[,...]",
            example="memory",
            help="order rows by this column, largest first; with +, smallest first; N/A comes last "
            "(default: time, or the size of the difference to the baseline). COLUMN may be nearly "
            "any column of --columns help, param.NAME or, for groups, an aggregate such as "
            "time.p90",
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
            help="which time to show. end: from the operator's start to its end. kern: from its "
            "start to its first kernel, which is the wait time (default: end)",
        ),
    ),
)

COMPARISON: Final = OptionGroup(
    "comparison: with a baseline",
    (
        Option.of(
            "--compare",
            nargs="+",
            default=[],
            metavar="FILE",
            example="old.json",
            help="compare with this baseline: a profile, or several runs of one model. Adds the "
            "columns base, difference, ratio and verdict, and puts the largest differences first",
        ),
        Option.of(
            "--compare-label",
            type=label_value,
            metavar="NAME=VALUE",
            example="date=2026-11-01",
            help="instead of --compare: the files with this value of a label (--label) are the "
            "baseline, and all files with another value are compared with it",
        ),
        Option.of(
            "--match",
            choices=("auto", "name", "structure", "shapes"),
            default="auto",
            help="what operators must have in common to be compared. name: name and type. "
            "structure: type, shapes and parameters, in the order of execution. shapes: category "
            "and the shapes of the first input and output, in the order of execution, if both "
            "sides have equally many such operators. auto: first name, then structure; if the "
            "formats of the sides differ, first name, then name and category, then structure, then "
            "shapes (default: auto)",
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
            help="what counts as one value in statistics, if a file has several runs. process: one "
            "value for each process, the median of its runs. iteration: one value for each run, "
            "as if runs were independent (default: process)",
        ),
        Option.repeatable(
            "--fail-if",
            metavar="'[SELECTION:] METRIC > LIMIT'",
            example="total > +5%",
            help="exit with 3 if this condition is met beyond noise. 'total > +5%%', 'time > +2ms' "
            "and 'type=ConvolutionForward: time > +3%%' compare with the baseline; 'time > 0.120s' "
            "needs no baseline. METRIC is total (time of all operators), time (of the operators "
            "that pass the filters), device_time, host_time, wait, computation, memory, macs, "
            "params, or wall (time of a whole run). May be repeated",
        ),
        Option.of(
            "--fail-uncertain",
            choices=("not-ruled-out", "yes", "unjudged", "no"),
            # It has no default, because any value without `--fail-if` is rejected.
            help="when to exit with 4 if no condition of --fail-if is met. unjudged: if a "
            "condition cannot be judged, for example because of too few runs. yes: as "
            "unjudged, and also if the median is beyond the limit, but noise may explain that. "
            "not-ruled-out, the strictest: as yes, and also if the median is within the limit, but "
            "a change beyond it is not ruled out. no: never (default: unjudged)",
        ),
    ),
)

_VIEW: Final = Option.of(
    "--view",
    choices=(DEFAULT_VIEW, *VIEWS),
    default=DEFAULT_VIEW,
    help="what the rows are. "
    + ". ".join(f"{name}: {rows}" for name, (_, rows) in VIEWS.items())
    + ". --where, --order-by, -t and --columns choose among them (default: operators)",
)

VIEW: Final = OptionGroup(
    "view: parts of the report",
    (
        *((_VIEW,) if VIEWS else ()),
        Option.of(
            "--level",
            choices=LEVELS,
            help="what a row is, if the profile has several levels. operator: an operator, without "
            "the operators inside it. top: an outermost operator, with everything inside it. "
            "kernel: a kernel. module: a module, without the modules inside it (default: operator, "
            "or the first level in this list that the profile has)",
        ),
        Option.of(
            "--show-host",
            action="store_true",
            help="show a table of host times after the table of device times",
        ),
        Option.of(
            "--copy-time",
            action="store_true",
            help="in the summary, also show how long copies between devices took and how long they "
            "waited for their first kernel; --type, --opr-name and --input-dtype select copies",
        ),
        Option.of(
            "--print-only",
            choices=("summary", "device", "host"),
            help="show only this part (default: summary and device, and host with --show-host)",
        ),
        Option.of(
            "--dump-only-opr",
            action="store_true",
            help="instead of a table, print name, type and id, one operator per line; add "
            "--print-only device -t 0 --order-by +id to compare two profiles with diff",
        ),
        Option.of(
            "--work",
            choices=WORK_SOURCES,
            help="where computation and memory come from. measured: reported by the runtime. "
            "derived: computed from shapes. best: measured if known, otherwise derived (default: "
            "measured for profiles of MegEngine's GraphProfiler, best otherwise)",
        ),
        Option.of(
            "--peaks",
            action=ListValueAction,
            metavar="SPEC",
            example="a100-80gb-sxm",
            help="compare with the peak rates of a device, and add the columns bound, efficiency, "
            "lost and gain. SPEC is a device (a100-80gb-sxm, h100-sxm:fp16; 'list' prints all), "
            "two rates in FLO/s and bytes per second (19.5T:1555G), a TOML file, 'auto' (the "
            "device that the profile names) or 'here' (this machine; 'here:N' uses N threads). The "
            "rates that 'here' measures are kept for later calls; 'here!' measures them again",
        ),
        Option.of(
            "--explain",
            type=column_names,
            metavar="COLUMN",
            example="time",
            help="instead of a table, show what this column means, and its formula with the "
            "numbers of the first row; without FILE, the formula has no numbers",
        ),
        Option.of(
            "--columns",
            action=HelpValueAction,
            joined_by=",",
            type=column_names,
            metavar="COLUMN[,...]",
            example="name,time,share",
            help="show these columns, in this order; 'all' shows every column; 'help' prints "
            "every column with its unit and meaning, and exits",
        ),
    ),
)

OUTPUT: Final = OptionGroup(
    "output: formats and files",
    (
        Option.of(
            "--format",
            may_be_default=True,
            choices=[*(name for name in OUTPUT_FORMATS if name != OPERATORS), *TABLE_FORMATS],
            help="the output format. table: boxes (the default for profiles of MegEngine's "
            "GraphProfiler). plain: one line per row (the default otherwise). csv, json, jsonl, "
            "parquet: raw numbers in base units, for programs. github (annotations), junit: for "
            "pipelines. collapsed: stacks, for flame graphs",
        ),
        Option.of(
            "--confluence",
            "--wiki",
            action="store_true",
            help="the same as --format wiki: tables for a wiki page",
        ),
        Option.of(
            "-o",
            "--output",
            metavar="FILE",
            example="result.csv",
            help="write to this file; - is standard output. The suffix (.csv, .json, .jsonl, "
            ".parquet, .md, .xml, .folded) chooses the format unless --format is given",
        ),
        Option.of(
            "--force",
            action="store_true",
            help="replace existing files; applies to --output, --plot and --write-model",
        ),
        Option.of(
            "--plot",
            type=picture_file,
            metavar="FILE",
            example="result.svg",
            help="also draw a picture (.svg, .png or .pdf): bars of the longest times, or "
            "the roofline with --peaks. A model gets bars of its work. -t limits the rows. Needs "
            "matplotlib (the extra plot)",
        ),
        Option.of(
            "--notes",
            may_be_default=True,
            choices=("few", "all", "none"),
            default="few",
            help="which notes to print on standard error. few: at most three, the most important "
            "first (default: few). Output in markdown has the same notes, output in json has "
            "all notes",
        ),
        Option.of(
            "--findings",
            action=HelpValueAction,
            joined_by=",",
            metavar="CODE[,...]",
            example="idle-engine",
            help="print only the findings with these codes, all of them; 'help' prints every code "
            "with its meaning, and exits",
        ),
        Option.of(
            "--ignore",
            may_be_default=True,
            metavar="CODE[,...]",
            example="idle-engine",
            help="leave out the findings with these codes",
        ),
        Option.of(
            "--time-unit",
            may_be_default=True,
            choices=TIME_UNITS,
            default=AUTO,
            help="the unit of times. auto: seconds in the formats table and wiki; in other "
            "formats, the unit that suits the largest time of each table, and of the summary "
            "(default: auto)",
        ),
        Option.of(
            "--color",
            may_be_default=True,
            choices=("auto", "always", "never"),
            default="auto",
            help="when to use colours: for verdicts, labels of messages, bars of shares, and N/A. "
            "auto: on a terminal, unless NO_COLOR is set (default: auto)",
        ),
        Option.of(
            NO_PAGER,
            action="store_true",
            help="print the answer at once, without a pager. By default, an answer that is longer "
            "than the terminal is shown by the command in PAGER, or by less",
        ),
        Option.of(
            "--print-completion",
            action=PrintingAction,
            choices=("bash", "zsh", "fish"),
            help="print a script that completes this command's options in a shell, and exit",
        ),
    ),
)

FLEET: Final = OptionGroup(
    "tables: data sets and SQL",
    (
        Option.of(
            "--export",
            metavar="DIR",
            example="profiles.dataset",
            help="instead of an answer, add the profiles to the data set in this folder, which is "
            "created if it does not exist. A data set is a folder of Parquet files. To analyse "
            "a data set, name it as FILE: it is read much faster than the profiles. Needs pyarrow "
            "(the extra fleet)",
        ),
        Option.of(
            "--sql",
            action=SqlAction,
            metavar="QUERY",
            example="select type, sum(device_time_s) as total_s from operators group by type",
            help="instead of a summary and tables, show the answer to a SELECT over the tables "
            "operators, executions, tracks, runs and origin. 'help' lists their columns, and exits."
            " The query cannot read files or change anything. Needs duckdb (the extra sql)",
        ),
        Option.of(
            "--sql-timeout",
            type=time_limit,
            default=60.0,
            metavar="TIME",
            example="5min",
            help="how long the query of --sql may take, in seconds or as 5min (default: 60)",
        ),
    ),
)

OPTION_GROUPS: Final = (
    *(ROWS, GROUPS, ORDER, WINDOW, RUNS, COMPARISON, MODELS, VIEW, OUTPUT, FLEET, CACHE),
)
OPTIONS: Final = (*GENERAL, *(option for group in OPTION_GROUPS for option in group.options))
"""All options, without the positional argument."""
OPTION_OF: Final = {flag: option for option in OPTIONS for flag in option.flags}
"""The option of each flag, such as `-t` and `--top`."""

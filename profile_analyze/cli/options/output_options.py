"""The options on output. `options.py` adds them to its table."""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.options.actions import PrintingAction
from profile_analyze.cli.options.types import NO_PAGER, Option, OptionGroup
from profile_analyze.cli.options.values import picture_file
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, TABLE_FORMATS
from profile_analyze.report.layout.times import AUTO, TIME_UNITS

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

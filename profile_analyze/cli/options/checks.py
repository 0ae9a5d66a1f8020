"""Checks that options do not contradict each other, and that no required option is missing."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.inputs.files import real_path, real_paths
from profile_analyze.cli.options.parser import COMMAND, parser
from profile_analyze.cli.options.table import OPTIONS
from profile_analyze.cli.output.requested_format import requested_output_format
from profile_analyze.cli.output.terminal import is_terminal
from profile_analyze.columns.column import RUN_STATISTICS
from profile_analyze.columns.model_columns import TILE_NAMES
from profile_analyze.errors import QueryError
from profile_analyze.model.terms import SAMPLE_UNITS
from profile_analyze.readers.input.companions import descriptions_of
from profile_analyze.readers.input.paths import is_pipe
from profile_analyze.readers.input.suffixes import MODEL_SUFFIX, SUFFIXES
from profile_analyze.readers.model_inputs import TILE_EXAMPLE, parse_input_shape
from profile_analyze.report.formats.output_formats import (
    TABLE,
    TABLE_FORMATS,
    WIKI,
    find_renderer,
    format_by_suffix,
    output_format_of,
    picture_format_of,
)
from profile_analyze.report.layout.times import AUTO
from profile_analyze.units import short_time

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from profile_analyze.query.question import Query

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
_OF_SQL: Final = frozenset(
    (
        *_OF_BOTH,
        *("--sql", "--sql-timeout", "--level", "--work", "--skip-runs"),
        *("--from", "--to", "--step", "--step-region"),
        *("--correct-drift", "--input-shape", "--dim", "--model", "--split-matmul"),
        *("--format", "--confluence", "--output", "--force", "--time-unit"),
    )
)
"""The options that calls with `--sql` may have."""


def check_options(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if options contradict each other, lack another or have no effect."""
    _check_files(arguments)
    _check_model(arguments)
    _check_writing(arguments)
    _check_output_format(arguments)
    _check_tables(arguments, requested_output_format(arguments))
    _check_comparison(arguments)
    _check_window(arguments)
    _check_inspection(arguments)
    _check_needs_of_the_format(arguments)
    _check_stacks(arguments)


def _check_files(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if no profile is named."""
    if arguments.files:
        return
    if arguments.compare:
        raise QueryError(
            "--compare took all files that are named; name the profile before it; write "
            f"{_with_profile_first(arguments.compare)}"
        )
    if arguments.input_dtype and arguments.input_dtype.endswith(SUFFIXES):
        raise QueryError(
            "the following arguments are required: FILE; --input-dtype, or --input, selects a "
            "dtype; name the file without an option"
        )
    advice = "- reads standard input; " if _has_standard_input() else ""
    raise QueryError(f"the following arguments are required: FILE; {advice}see {COMMAND} --help")


def _with_profile_first(files: Sequence[str]) -> str:
    """Return the arguments that were probably meant by `--compare` and `files`.

    `--compare` takes all names after it, even if one of them was meant as the profile.
    """
    if len(set(files)) > 2:
        return "NEW --compare OLD, each with all files of its side"
    new = files[-1]
    base = [one for one in files if real_path(one) != real_path(new)]
    if base:
        return shlex.join([new, "--compare", *base])
    return f"FILE --compare {shlex.quote(new)}, with another profile as FILE"


def _check_model(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` for a wrong `--model`, or for the shape of an input in `--input-dtype`."""
    _check_input_dtype(arguments.input_dtype)
    models = arguments.model
    if len(models) > 1:
        raise QueryError(f"--model names {len(models)} models; name the one that ran")
    model_paths = real_paths(models)
    surplus = [one for one in arguments.files[1:] if one.endswith(MODEL_SUFFIX)]
    surplus = [one for one in surplus if real_path(one) not in model_paths]
    if models and surplus:
        raise QueryError(
            f"--model takes one model, so {surplus[0]} counts as a profile; name the model that ran"
        )
    # Beside other files, the model is left out: a pattern may stand for it, too.
    sides = ({*map(real_path, side)} for side in (arguments.files, arguments.compare))
    if model_paths and model_paths in sides:
        # The suffix chooses the advice, because no file has been read yet.
        own = descriptions_of(os.path.basename(models[0]))  # noqa: PTH119  # may be a URL
        example = own[0] if own else "model.onnx"
        advice = (
            f"this file is a profile, and --model needs the model that ran, such as {example}"
            if models[0].endswith(SUFFIXES)
            else "name a profile of its run, or leave --model out"
        )
        raise QueryError(f"{models[0]}: is named as a profile and as its --model; {advice}")


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


def check_tiles(columns: Sequence[str], query: Query, tile: str | None) -> None:
    """Raise `QueryError` if `columns` or the query name a column on tiles, but `tile` is None."""
    named = (*columns, *(column.name for column in query.used))
    of_tiles = [name for name in named if name.partition(".")[0] in TILE_NAMES]
    if of_tiles and tile is None:
        raise QueryError(f"the column {of_tiles[0]} needs the size of tiles; add {_TILE}")


def _check_input_dtype(dtype: str | None) -> None:
    """Raise `QueryError` if the dtype is written like the shape of an input.

    `--input` is short for `--input-dtype`, but the user may have meant `--input-shape`.
    """
    if dtype is None:
        return
    try:
        name, _ = parse_input_shape(dtype)
    except QueryError:  # as expected, the text is not a shape
        return
    if name:
        raise QueryError(
            "argument --input-dtype, or --input, selects a dtype; did you mean --input-shape "
            f"{shlex.quote(dtype)}?"
        )


def _has_standard_input() -> bool:
    """Return whether standard input is a pipe or a file, which the user probably meant to read."""
    with suppress(AttributeError, ValueError, OSError):  # there may be no standard input
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
    return False


def _check_output_format(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if options name two formats or files, or a format that does not fit."""
    if arguments.plot is not None:
        _check_that_it_is_one_file("--plot", arguments.plot, picture_format_of)
    _check_that_it_is_one_file("-o/--output", arguments.output or "", output_format_of)
    _check_that_binary_goes_to_a_file(arguments)
    if arguments.dump_only_opr:
        for option, given in (
            ("--confluence (or --wiki)", arguments.confluence),
            (f"--format {arguments.format}", arguments.format),
            ("--columns", arguments.columns),
        ):
            if given:
                raise QueryError(
                    f"--dump-only-opr prints no table, so {option} has no effect; leave one out; "
                    "a table of the names: --print-only device --columns name"
                )
    if not arguments.format and not arguments.confluence:
        by_suffix = output_format_of(arguments.output or "")
        if arguments.dump_only_opr and by_suffix not in (None, TABLE):
            raise QueryError(
                f"argument -o/--output: {arguments.output} asks for {by_suffix}, which "
                "--dump-only-opr does not have; use another suffix"
            )
    if arguments.confluence and arguments.format not in (None, WIKI):
        raise QueryError(
            f"--confluence (or --wiki) and --format {arguments.format} ask for two formats; "
            "leave one out"
        )


def _check_that_binary_goes_to_a_file(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if a binary format would be printed on a terminal."""
    is_printed = arguments.output in (None, "-") and is_terminal(sys.stdout)
    if arguments.format in TABLE_FORMATS and is_printed:
        name = arguments.format
        raise QueryError(f"--format {name} is not text; write it to a file: -o result.{name}")


def _check_that_it_is_one_file(
    option: str, file: str, format_of: Callable[[str], str | None]
) -> None:
    """Raise `QueryError` if `file` is a list of files, such as `a.csv,b.json`."""
    first, *further = file.split(",")
    is_several = False
    with suppress(QueryError):  # a part without a suffix
        is_several = bool(further) and all(map(format_of, (first, *further)))
    if is_several:
        raise QueryError(f"argument {option}: {file!r} names several files; name one: {first}")


def _check_tables(arguments: argparse.Namespace, output_format: str | None) -> None:
    """Raise `QueryError` if options have no effect beside `--export` or `--sql`."""
    if arguments.sql_timeout != parser().get_default("sql_timeout") and arguments.sql is None:
        raise QueryError("--sql-timeout needs --sql, whose time it limits")
    if arguments.export is not None:
        if format_by_suffix(arguments.export) is not None:
            raise QueryError(
                f"argument --export: {arguments.export}: takes the folder of a data set; "
                f"-o {arguments.export} writes an answer"
            )
        _check_others(arguments, "--export adds profiles to a data set", _OF_EXPORT)
    if arguments.sql is not None:
        _check_others(arguments, "--sql shows the answer to a query", _OF_SQL)
        renderer = None if output_format is None else find_renderer(output_format)
        if renderer is not None and (renderer.has_stacks or not renderer.has_tables):
            raise QueryError(
                f"--sql shows a table, which {output_format} does not have; use another format"
            )


def _check_others(arguments: argparse.Namespace, what: str, allowed: frozenset[str]) -> None:
    for option in OPTIONS:
        # Like argparse, name the value after the first long flag.
        flag = next(one for one in option.flags if one.startswith("--"))
        name = option.settings.get("dest", flag.lstrip("-").replace("-", "_"))
        default = parser().get_default(name)
        if allowed.isdisjoint(option.flags) and getattr(arguments, name, default) != default:
            raise QueryError(f"{what}, so {flag} has no effect; leave one out")


def _check_comparison(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if `--compare` or `--fail-if` is missing, but another option needs it.

    Two options that both name the baseline are an error, too.
    """
    for option, given in (
        ("--match", arguments.match != "auto"),
        ("--threshold", arguments.threshold is not None),
    ):
        if given and not _compares(arguments):
            raise QueryError(f"{option} needs --compare, which names what to compare with")
    if arguments.compare_label is not None and arguments.compare:
        raise QueryError(
            "--compare and --compare-label both name the baseline; leave one of them out"
        )
    if arguments.unit != SAMPLE_UNITS[0] and not (_compares(arguments) or arguments.fail_if):
        raise QueryError("--unit needs --compare or --fail-if, which count runs")
    if arguments.fail_uncertain is not None and not arguments.fail_if:
        raise QueryError("--fail-uncertain needs --fail-if, which states the conditions")


def _compares(arguments: argparse.Namespace) -> bool:
    """Return whether the options name a baseline."""
    return bool(arguments.compare or arguments.compare_label)


def _check_window(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if nothing can be between `--from` and `--to`."""
    low, high = arguments.from_s or 0.0, arguments.to_s
    if high is not None and not low < high:
        raise QueryError(
            f"argument --to: {short_time(high)} is not after --from, {short_time(low)}; nothing is "
            "between them"
        )


def _check_inspection(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if `--inspect` is given with an option about rows or tables."""
    if arguments.inspect is None:
        return
    name = requested_output_format(arguments)
    renderer = None if name is None else find_renderer(name)
    has_facts = renderer is None or (renderer.has_tables and renderer.has_summary_beside_tables)
    values = vars(arguments)
    given = [option for option in _OF_ROWS if values[option[2:].replace("-", "_")]]
    if arguments.run_stat != RUN_STATISTICS[0]:
        given.append("--run-stat")
    if not has_facts:
        given.append(f"--format {name}")
    if given:
        raise QueryError(
            f"--inspect shows one operator and no table, so {given[0]} has no effect; leave one out"
        )


def _check_needs_of_the_format(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if the output format cannot show what the options ask for."""
    name = requested_output_format(arguments)
    if arguments.print_only == "summary" and arguments.columns:
        raise QueryError(
            "--print-only summary shows no table, so --columns has no effect; leave one out"
        )
    if name is None:  # the default formats, table and plain, show everything
        return
    renderer = find_renderer(name)
    if not renderer.has_tables and (arguments.columns or arguments.copy_time):
        option = "--columns" if arguments.columns else "--copy-time"
        raise QueryError(f"{name} has no tables and no totals, so {option} has no effect")
    if renderer.for_programs and arguments.time_unit != AUTO:
        units = "has times in seconds" if renderer.has_tables else "chooses the units of times"
        units = "has times in microseconds" if renderer.has_stacks else units
        raise QueryError(f"{name} {units}, so --time-unit has no effect; leave it out")
    if renderer.needs == "conditions" and not arguments.fail_if:
        raise QueryError(
            f"--format {name} has a test case for each --fail-if, but no --fail-if is given; "
            "add one"
        )
    shows_change = _compares(arguments) and arguments.print_only in (None, "summary")
    if renderer.needs == "findings" and not (arguments.fail_if or shows_change):
        raise QueryError(f"--format {name} annotates what --fail-if and --compare find; add one")
    shows_summary = renderer.has_summary_beside_tables or arguments.print_only == "summary"
    if arguments.copy_time and not shows_summary:
        raise QueryError(
            f"--copy-time adds to the summary, which {name} has only with --print-only summary; "
            "add that, or use json"
        )


def _check_stacks(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if the format shows stacks, and an option does not apply to stacks."""
    name = requested_output_format(arguments)
    if name is None or not find_renderer(name).has_stacks:
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
                f"{name} has the recorded times of the stacks of one profile, so {option} does not "
                "apply; leave one out"
            )

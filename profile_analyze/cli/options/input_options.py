"""The options that say what to read. `table.py` adds them to the table of all options."""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.options.types import Option, OptionGroup
from profile_analyze.cli.options.values import (
    LOCAL,
    engine,
    input_shape,
    label_source,
    model_file,
    run_count,
    seconds,
    start_time,
    step_range,
    symbol_size,
    tile_sizes,
)
from profile_analyze.columns.column import RUN_STATISTICS
from profile_analyze.readers.model_inputs import TILE_EXAMPLE

FILES: Final = Option.of(
    "files",
    nargs="*",  # not +, because `parse` has a better message if no file is named
    metavar="FILE",
    help="a profile, plain or compressed by gzip or zstd; - is standard input. Several files are "
    "runs of one model. A folder stands for its profiles, @FILE for the files that FILE lists, and "
    "a quoted pattern such as 'runs/**/*.json' for the files that it matches. Each of these may be "
    "a URL, such as s3://bucket/runs",
)

WINDOW: Final = OptionGroup(
    "window: a part of the profile, or one operator",
    (
        Option.of(
            "--from",
            dest="from_s",
            type=start_time,
            metavar="TIME",
            example="10ms",
            help="only the executions from this time on, such as 10ms, or a number of seconds. "
            "Times count from the first execution. Executions at the edge are clipped",
        ),
        Option.of(
            "--to",
            dest="to_s",
            type=seconds,
            metavar="TIME",
            example="12.5ms",
            help="only the executions up to this time, counted and clipped as for --from",
        ),
        Option.of(
            "--step",
            dest="steps",
            type=step_range,
            metavar="N[-M]",
            example="3",
            help="only this step of the profile, or the steps from N to M; --from and --to then "
            "count from the first execution in these steps",
        ),
        Option.of(
            "--step-region",
            metavar="NAME",
            example="forward",
            help="make each execution of this module or region a step, numbered from 1, instead of "
            "the steps that the file marks, such as ProfilerStep#3",
        ),
        Option.of(
            "--inspect",
            metavar="KEY",
            example="aten::addmm",
            help="instead of a table, show all that the profile says about one operator: facts, "
            "times, launched kernels, and the operators around, inside and next to it. KEY is its "
            "key, its id or its name; KEY@N is its N-th execution",
        ),
    ),
)

RUNS: Final = OptionGroup(
    "runs: several files of one model",
    (
        Option.repeatable(
            "--label",
            type=label_source,
            metavar="PATTERN",
            example="nightly/{date}/{host}/*.json",
            help="give files labels, which are columns and group keys. PATTERN describes the paths "
            "of the files, such as 'nightly/{date}/{host}/*.json', or names a table (.csv) that "
            "has a column named file and a column for each label. --where 'date >= 2026-11-01' "
            "then chooses files. May be repeated",
        ),
        Option.of(
            "--run-stat",
            choices=RUN_STATISTICS,
            default=RUN_STATISTICS[0],
            help="the statistic to show for several runs (default: median)",
        ),
        Option.of(
            "--skip-runs",
            type=run_count,
            default=0,
            metavar="N",
            example="1",
            help="leave out the first N runs of each process, to skip warm-up (default: 0)",
        ),
        Option.of(
            "--skip-bad",
            action="store_true",
            help="leave out files that cannot be read; a note counts these files, and json lists "
            "them with the reasons",
        ),
        Option.of(
            "--engine",
            type=engine,
            default=LOCAL,
            metavar="ENGINE",
            example="dask",
            help="what reads several files. local: this machine, with several processes for a "
            "hundred files or more. dask: a cluster of Dask workers on this machine, which ends "
            "with the call. dask:ADDRESS: a cluster that exists, such as dask:tcp://host:8786. "
            "dask needs the extra fleet (default: local)",
        ),
        Option.of(
            "--correct-drift",
            action="store_true",
            help="correct times for the load of the machine: divide the times of each run by how "
            "slow the whole run was. In a comparison, this changes only the times in tables: the "
            "summary, all verdicts and --fail-if use the times as measured",
        ),
    ),
)

MODELS: Final = OptionGroup(
    "models: ONNX files",
    (
        Option.repeatable(
            "--input-shape",
            type=input_shape,
            metavar="NAME:SHAPE",
            example="data:1x3x224x224",
            help="the shape of a dynamic input, such as data:1x3x224x224; may be repeated. If "
            "other shapes depend on the value of the input, write NAME:DTYPE:SHAPE:VALUE, with one "
            "value for all elements: ratio:f32:4:0.25. A shape of -1 keeps the shape in the "
            "model: ratio:f32:-1:0.25",
        ),
        Option.repeatable(
            "--dim",
            type=symbol_size,
            metavar="SYMBOL=SIZE",
            example="batch=8",
            help="the size of a symbol in the shapes of inputs, such as batch=8; may be repeated",
        ),
        Option.repeatable(
            "--model",
            metavar="FILE",
            example="model.onnx",
            help="add data from the model that ran to the operators of the profile: multiply-adds, "
            "parameters and attributes; also computation, memory and shapes if the profile lacks "
            "them. Operators are matched with nodes of the model by name, then by order",
        ),
        Option.of(
            "--split-matmul",
            type=tile_sizes,
            metavar="M,N,K[,conv]",
            example=TILE_EXAMPLE,
            help="show what matrix products cost on hardware that multiplies matrices of at most "
            "M x K and K x N, such as 64,64,64: tiles, multiply-adds with padding, "
            "tile_efficiency, bytes moved and the memory of a tile. With conv, convolutions "
            "count, too, as the matrix products that im2col makes",
        ),
        Option.of(
            "--write-model",
            type=model_file,
            metavar="FILE",
            example="split.onnx",
            help="write the model with its matrix products split into tiles of --split-matmul; "
            "its results are the same up to rounding",
        ),
    ),
)

CACHE: Final = OptionGroup(
    "cache: decoded profiles of large files",
    (
        Option.of(
            "--cache",
            metavar="DIR",
            example="/var/tmp/profiles",
            help="the folder that keeps the decoded profiles of files of 100 MB and more (5 MB if "
            "compressed), so that the next question about such a file is fast. The folder takes at "
            "most 5 GB: the least recently used profiles are removed first "
            "(default: profile_analyze/profiles in the user's cache folder)",
        ),
        Option.of(
            "--no-cache",
            action="store_true",
            help="neither use nor keep decoded profiles",
        ),
        Option.of(
            "--clear-cache",
            action="store_true",
            help="remove the decoded profiles from the folder, and exit",
        ),
    ),
)

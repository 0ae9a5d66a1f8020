"""The registry of columns: each column that can be shown, filtered, ordered by or exported.

An entry declares the column's name, unit and meaning, and the rules for its values. The formulas
are in `formulas.py`, so that `--help` can list the columns without importing NumPy.

Other columns are declared elsewhere:

- `time_columns.py`: kinds of time, shares and running sums
- `model_columns.py`: columns on the cost of a model
- `device_columns.py`: columns on kernels and communication
- `roofline_columns.py`: columns that need peak rates
- `comparison_columns.py`: columns that need a baseline
- `columns/catalog.py`: families of columns, such as `param.NAME`
"""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.columns.column import (
    AGGREGATED,
    FORMULA,
    Column,
    RatioOfSums,
)
from profile_analyze.columns.device_columns import COLUMNS as DEVICE_COLUMNS
from profile_analyze.columns.model_columns import COLUMNS as MODEL_COLUMNS
from profile_analyze.columns.time_columns import COLUMNS as TIME_COLUMNS
from profile_analyze.columns.wording import parameters_text, shapes_text, strides_text
from profile_analyze.model.terms import CATEGORIES

# Constructors for the kinds of column that have several entries below.
_key = partial(Column, unit="", kind="text", is_key=True, worked="as in the file")
_unordered_key = partial(_key, has_order=False)
_split_only_key = partial(_key, needs_split_rows=True)
_execution_key = partial(_key, worked="of the executions, as in the file")
_work = partial(Column, of_groups=AGGREGATED, timed=True)

_IDENTITY: Final = (
    Column(
        "id",
        "",
        "the number or the text that identifies the operator in its file; numbers within texts "
        "are ordered by size: conv2 before conv10",
        kind="mixed",
        has_natural_order=True,
        worked="as in the file",
    ),
    _key(
        "name",
        meaning="the operator's name",
        worked="from the file; for kernels, a short form of {full_name}",
    ),
    _key(
        "type",
        meaning="the kind of operator, as the runtime calls it",
        worked="from the file; for kernels, the function in {full_name}",
    ),
    _key(
        "category",
        meaning="the kind of work, with the same names for every runtime: " + ", ".join(CATEGORIES),
        worked="by the operator's type: each reader has a table of its runtime's types",
    ),
    _key(
        "scope",
        meaning="the modules or regions around the operator, outermost first",
        as_text="/".join,
        worked="the modules or regions around the operator, as in the file",
    ),
    Column(
        "count",
        "1",
        "the number of operators in the group, however often each was called; a comparison also "
        "counts operators that are missing on one side",
        FORMULA,
        shown_as="count",
        # Beside the times of one side, the heading `count` would look like a count of that side.
        heading_compared="count on either side",
        of_operators=None,
        worked_of_groups="counted",
    ),
    Column(
        "key",
        "",
        "the text that tells the operator from all others of its file: a number or path in the "
        "file; it is the same in every answer about the file, at every level and for every run; "
        "with several files, it is from the first file that has the operator",
        kind="text",
        has_natural_order=True,
        worked="as in the file",
    ),
)

_WITHOUT_RATES: Final = (
    "N/A for host times, in which the host only launches the work, and for wait times"
)

_WORK: Final = (
    _work(
        "calls",
        unit="1",
        meaning="how often the operator was called in a run; calls without a device time do not "
        "count beside device times, unless all calls lack one",
        shown_as="count",
        worked="counted in the executions of a run",
    ),
    *(
        _work(
            name,
            unit="byte",
            meaning=f"memory of the {place} that all calls in a run allocated, minus the memory "
            "that they freed, without the operators nested inside",
            has_side=False,
            worked="of the executions, as in the file",
        )
        for name, place in (("allocated", "host"), ("device_allocated", "device"))
    ),
    _work(
        "computation",
        unit="FLO",
        meaning="floating-point operations of the calls in a run; a multiply-add counts as two",
        worked="{calls_in_a_run} * {computation_of_a_call}; its source: {computation_source}",
    ),
    _key(
        "computation_source",
        meaning="the source of the computation: measured (reported by the runtime), derived or "
        "unknown",
        worked="by the reader of the format",
    ),
    Column(
        "flops",
        "FLO/s",
        f"computation / time; {_WITHOUT_RATES}",
        RatioOfSums("computation", "time"),
        worked="{computation} / {time}",
    ),
    _work(
        "memory",
        unit="byte",
        meaning="bytes of all inputs and outputs, each counted once in each call, added up over "
        "the calls in a run; an operator that only holds a constant moves none",
        worked="{calls_in_a_run} * {memory_of_a_call}; its source: {memory_source}",
    ),
    _key(
        "memory_source",
        meaning="the source of the memory: measured (reported by the runtime), derived or unknown",
        worked="by the reader of the format",
    ),
    Column(
        "bandwidth",
        "byte/s",
        f"memory / time: bytes of inputs and outputs per second; {_WITHOUT_RATES}",
        RatioOfSums("memory", "time"),
        worked="{memory} / {time}",
    ),
    Column(
        "intensity",
        "FLO/byte",
        "computation / memory",
        RatioOfSums("computation", "memory"),
        worked="{computation} / {memory}",
    ),
)

_TENSORS: Final = (
    _unordered_key(
        "in_shapes",
        meaning="the shape of each input",
        as_text=shapes_text,
        optional="in_shapes",
    ),
    _unordered_key(
        "in_strides",
        meaning="the strides of each input, in elements, or `contiguous`",
        as_text=strides_text,
        optional="in_strides",
    ),
    _unordered_key(
        "out_shapes",
        meaning="the shape of each output",
        as_text=shapes_text,
        optional="out_shapes",
    ),
    _key(
        "input_dtype",
        meaning="the dtypes of the inputs, each once; `Float32, N/A` if the dtype of some "
        "inputs is unknown; N/A if the dtypes of all inputs are unknown",
        optional="input_dtypes",
    ),
    _key(
        "compute_dtype",
        meaning="the dtype that the operator computes in, with the same names for every runtime, "
        "such as fp32; for most formats, from the first input",
        optional="compute_dtype",
        worked="from the dtypes that the file has for the operator",
    ),
)

_LOCATION: Final = (
    _execution_key(
        "device",
        meaning="the devices that the operator ran on",
    ),
    _execution_key(
        "track",
        meaning="the tracks (streams, threads and the like) that the operator ran on; rows grouped "
        "by track have device times or host times, because a track is on one side",
    ),
    _execution_key(
        "stream",
        meaning="the streams that the operator ran on",
    ),
    _execution_key(
        "rank",
        meaning="the ranks, in a distributed job, of the processes that ran the operator",
        kind="mixed",
    ),
    _execution_key(
        "kernel", meaning="the kernels that the operator launched; for a kernel, its name"
    ),
)

_PARAMETERS: Final = (
    _unordered_key(
        "parameters",
        meaning="the operator's parameters, such as mode and stride; param.NAME is one of them",
        as_text=parameters_text,
        optional="parameters",
    ),
)

_RUNS: Final = (
    _split_only_key(
        "file",
        meaning="the file that the run was read from",
        worked="the name of the file",
    ),
    _split_only_key(
        "run",
        meaning="the number of the run, counted from 1 in the order of the files",
        kind="mixed",
        worked="counted from 1 in the order of the files",
    ),
    _split_only_key(
        "step",
        meaning="the number that the file gives the run, such as the training step",
        kind="mixed",
        worked="as in the file",
    ),
    _split_only_key(
        "phase",
        meaning="the part of a training step: forward, backward or optimizer",
        worked="of the executions, as in the file",
    ),
)

COLUMNS: Final[tuple[Column, ...]] = (
    *_IDENTITY,
    *TIME_COLUMNS,
    *_WORK,
    *MODEL_COLUMNS,
    *_TENSORS,
    *_LOCATION,
    *DEVICE_COLUMNS,
    *_PARAMETERS,
    *_RUNS,
)
"""The columns that need only a profile, in the order of `--columns all`."""

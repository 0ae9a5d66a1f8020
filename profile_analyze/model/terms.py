"""Terms that mean the same for every runtime: categories, levels, dtypes, sources and keys."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

CONVOLUTION: Final = "convolution"
MATMUL: Final = "matmul"
ATTENTION: Final = "attention"
NORMALIZATION: Final = "normalization"
SOFTMAX: Final = "softmax"
POOLING: Final = "pooling"
ELEMENTWISE: Final = "elementwise"
REDUCTION: Final = "reduction"
EMBEDDING: Final = "embedding"
DATA_MOVEMENT: Final = "data movement"
COPY: Final = "copy"
COMMUNICATION: Final = "communication"
CONTROL: Final = "control"
OTHER: Final = "other"

CATEGORIES: Final = (
    CONVOLUTION,
    MATMUL,
    ATTENTION,
    NORMALIZATION,
    SOFTMAX,
    POOLING,
    ELEMENTWISE,
    REDUCTION,
    EMBEDDING,
    DATA_MOVEMENT,
    COPY,
    COMMUNICATION,
    CONTROL,
    OTHER,
)
"""The kinds of work. `copy` moves data between devices, and `data movement` is all other moves.
`control` is bookkeeping, including constants. `other` is work that the reader cannot classify."""

# The kinds of times that a profile has: see `Origin.times`.
EACH: Final = "of each execution"
MEAN: Final = "mean"
ABSENT: Final = "absent"

Side: TypeAlias = Literal["device", "host"]

DEVICE: Final = "device"
HOST: Final = "host"

DeviceKind: TypeAlias = Literal["cpu", "gpu"]

CPU: Final = "cpu"
GPU: Final = "gpu"
DEVICE_KINDS: Final = (CPU, GPU)

OPERATOR: Final = "operator"
TOP: Final = "top"
KERNEL: Final = "kernel"
MODULE: Final = "module"
RUNTIME: Final = "runtime"
"""The level of calls into the driver, such as launches. Questions cannot ask for this level,
because the time of a call belongs to the operator that made the call."""
EARLIER: Final = "earlier"
"""The level of work on a device that was launched before the recording. Questions cannot ask for
this level, because the work belongs to no run. It only counts as time in which a device worked."""
FRAME: Final = "frame"
"""The level of Python functions. Questions cannot ask for this level either. Only stacks show
Python functions, and a reader leaves them out unless `FRAMES` is wanted."""

LEVELS: Final = (OPERATOR, TOP, KERNEL, MODULE)
"""The levels that a question can ask for. The first is the default: see `model.levels`."""

Source: TypeAlias = Literal["measured", "derived", "unknown"]

MEASURED: Final = "measured"
DERIVED: Final = "derived"
UNKNOWN: Final = "unknown"

BEST: Final = "best"
WORK_SOURCES: Final = (MEASURED, DERIVED, BEST)
"""The sources of computation and memory that a question can select: see `model.work_sources`."""
DERIVED_WORK: Final = ("derived_computation", "derived_memory")
"""The optional columns with the work of one call, derived from shapes."""

SHAPES: Final = ("in_shapes", "out_shapes")
"""The optional columns with the shapes of inputs and outputs."""

TELLING_APART: Final = ("launched_by", "scope", "in_shapes")
"""The columns that may tell operators with equal names apart, in the order in which they are tried.
`launched_by` says what launched a kernel. `scope` comes before `in_shapes`, because its texts are
shorter."""
COMPUTE_DTYPE: Final = "compute_dtype"
"""The optional column with the dtype that each operator computes in."""
FULL_NAME: Final = "full_name"
"""The optional column with the full names of kernels. The column `name` has short forms."""
NODES: Final = "nodes"
"""The parameter with the names of the nodes of a model that an operator executes."""

ADDED: Final = "added"
REMOVED: Final = "removed"
"""`ADDED` and `REMOVED` are values of the column `match`. An added operator is only in the profile,
and a removed operator is only in the baseline."""
MORE_WORK: Final = "more work"
LESS_WORK: Final = "less work"
"""`MORE_WORK` and `LESS_WORK` are verdicts, and causes of a change."""

OWN: Final = "own"
RELATIVE: Final = "relative"
"""`OWN` and `RELATIVE` are values of the column `test`: a verdict is based on the row's own times,
or on its times relative to all other operators."""

RUN_KEYS: Final = ("run", "file", "step")
"""The keys whose value depends only on the run."""

SPLIT_KEYS: Final = (*RUN_KEYS, "track", "stream", "device", "rank", "kernel", "phase")
"""The keys whose value may differ between the executions of an operator. Grouping by such a key
splits operators: see `model.levels.splitting`."""

LABEL: Final = "label."
"""The prefix of the columns of labels, such as `label.date`: see `model.joining.labels`."""
LABEL_NAME: Final = r"[A-Za-z_]\w*"
"""A regular expression for the names of labels."""

SAMPLE_UNITS: Final = ("process", "iteration")
"""What statistics count as one sample. Processes are the default, because iterations of one process
are not independent of each other."""


def is_run_key(key: str) -> bool:
    """Return whether the value of a key depends only on the run: labels, and `RUN_KEYS`."""
    return key in RUN_KEYS or key.startswith(LABEL)


def is_split_key(key: str) -> bool:
    """Return whether grouping by a key splits operators: a key in `SPLIT_KEYS`, or a label."""
    return key in SPLIT_KEYS or key.startswith(LABEL)


TABLES: Final = ("tensors", "uses", "dependencies", "allocations")
"""The optional tables of a profile: see `model.tables`."""

FRAMES: Final = "frames"
"""A reader reads executions of level `frame` only if this name is among the wanted names."""

WEIGHT: Final = "weight"
QUANTIZATION: Final = "quantization"
SCALAR: Final = "scalar"
STRUCTURE: Final = "structure"
UNUSED: Final = "unused"
INPUT: Final = "input"
ACTIVATION: Final = "activation"
SHAPE_ARITHMETIC: Final = "shape arithmetic"
DERIVED_CONSTANT: Final = "derived constant"
INNER: Final = "inner"

CONSTANT_ROLES: Final = (WEIGHT, QUANTIZATION, SCALAR, STRUCTURE, UNUSED, DERIVED_CONSTANT)
TENSOR_ROLES: Final = (*CONSTANT_ROLES, INPUT, ACTIVATION, SHAPE_ARITHMETIC, INNER)
"""The roles of the tensors of a model.

- `weight`: trained numbers
- `quantization`: scales and zero points
- `scalar`: a single number
- `structure`: shapes and indices
- `unused`: a constant that nothing uses
- `derived constant`: computed from constants
- `input`: an input of the model
- `activation`: computed from inputs
- `shape arithmetic`: computed from shapes
- `inner`: computed in the body of a loop or the like
"""

DTYPES: Final = (
    *("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4"),
    *("int64", "int32", "int16", "int8", "int4", "int2"),
    *("uint64", "uint32", "uint16", "uint8", "uint4", "uint2"),
    *("bool", "complex64", "complex128"),
)
"""The canonical names of dtypes. For any other dtype, a reader keeps the name in the file."""

ONNX_TOOL_NAMES: Final = (
    "onnx_tool_macs",
    "onnx_tool_memory",
    "onnx_tool_params",
)
"""The counts of the tool onnx-tool."""
SPARSITY_NAMES: Final = (
    "sparsity",
    "sparsity_pattern",
    "sparsity_block",
)
TILE_AMOUNTS: Final = (
    "tiles",
    "tiled_macs",
    "untiled_memory",
    "tiled_memory",
    "padded_memory",
)
"""The columns on tiles whose values are multiplied by the calls in a run. In a fused operator, the
values of all matrix products are added up."""
MESSAGE_TEXTS: Final = ("collective", "group_size")
MESSAGE_AMOUNTS: Final = ("message_bytes", "bus_bytes")
"""Amounts of messages between ranks. Operators hold the mean amount per call."""
FUSED_NAMES: Final = "fused_names"
"""The names of all operators of the model that a fused layer runs."""
UNIQUE_NAME: Final = "unique_name"
"""The text that tells each operator apart in the terms of the file, such as a node's path. Formats
whose `key` only counts rows have this column."""

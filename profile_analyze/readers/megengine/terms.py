"""Translates MegEngine's terms to the terms that all readers share (`model.terms`)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from profile_analyze.model import terms
from profile_analyze.model.executions import Track

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONSTANTS: Final = (
    "ImmutableTensor",
    "SharedDeviceTensor",
    "VolatileSharedDeviceTensor",
    "MultipleDeviceTensor",
)
"""The prefixes of the types that only hold a tensor, such as a weight."""

# Each text is a prefix: `Conv` covers ConvolutionForward and ConvolutionBackwardData.
_CATEGORIES: Final[Mapping[str, tuple[str, ...]]] = {
    terms.CONVOLUTION: ("Conv", "Deformable", "GroupLocal", "Local"),
    terms.MATMUL: ("MatrixMul", "BatchedMatrixMul", "Dot", "MatrixInverse", "SVD"),
    terms.ATTENTION: ("MultiHeadAttn",),
    terms.NORMALIZATION: (
        *("BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "GeneralNorm", "BNTraining"),
        "LRN",
    ),
    terms.SOFTMAX: ("Softmax",),
    terms.POOLING: ("Pooling", "AdaptivePooling", "ROI"),
    terms.ELEMENTWISE: (
        *("Elemwise", "TypeCvt", "PowC", "AddUpdate", "FakeQuant", "TQT", "LSQ", "Dropout"),
        *("Fill", "GaussianRNG", "UniformRNG"),
    ),
    terms.REDUCTION: ("Reduce", "Argmax", "Argmin", "Cumsum", "TopK"),
    terms.EMBEDDING: ("Indexing",),
    terms.COMMUNICATION: ("CollectiveComm", "RemoteSend", "RemoteRecv"),
    terms.DATA_MOVEMENT: (
        *("Concat", "Dimshuffle", "Reshape", "AxisAddRemove", "Broadcast", "Subtensor"),
        *("SetSubtensor", "IncrSubtensor", "Split", "Padding", "Relayout", "Host2DeviceCopy"),
        *("Images2Neibs", "SlidingWindow", "ParamPack", "Resize", "Remap", "Warp"),
    ),
    terms.CONTROL: (
        *_CONSTANTS,
        *("GetVarShape", "InputCallback", "OutputCallback", "CallbackInjector"),
        *("VirtualDep", "MarkDynamicVar", "AssertEqual", "Alloc", "Sleep", "Timestamp"),
    ),
}
"""The prefixes of the types in each category, as of MegEngine 1.13. The first match counts."""

_COPY: Final = "Copy"
"""The only type that copies between comp nodes. It is compared as a whole, not as a prefix."""

# A quantized dtype gets the name of the integer dtype that stores its values.
_DTYPES: Final[Mapping[str, str]] = {
    "Float32": "fp32",
    "Float16": "fp16",
    "BFloat16": "bf16",
    "Int8": "int8",
    "Uint8": "uint8",
    "Int16": "int16",
    "Uint16": "uint16",
    "Int32": "int32",
    "Bool": "bool",
    "QuantizedS8": "int8",
    "Quantized8Asymm": "uint8",
    "QuantizedS32": "int32",
    "QuantizedS16": "int16",
    "QuantizedS4": "int4",
}
_BYTES_OF: Final[Mapping[str, float]] = {
    "fp32": 4, "fp16": 2, "bf16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4,
    "bool": 1, "int4": 0.5,
}  # fmt: skip

_COMP_NODE: Final = 'CompNode("'
_MULTITHREAD: Final = "multithread"
_DEVICE_KINDS: Final[Mapping[str, terms.DeviceKind]] = {
    "cpu": terms.CPU,
    _MULTITHREAD: terms.CPU,
    "gpu": terms.GPU,
    "cuda": terms.GPU,
    "rocm": terms.GPU,
    "opencl": terms.GPU,
}
"""Maps the start of a comp node's locator, such as `gpu0:0`, to the kind of device. The kind of
other devices, such as NPUs, is unknown."""
_MOST_DIGITS: Final = 6
"""A number with more digits cannot be a number of threads."""
_CPU_CLOCK_S: Final = 1e-6
"""The resolution of the clock of CPU comp nodes."""


@lru_cache(maxsize=1024)
def category_of(type_: str) -> str:
    """Return the category of a type of operator, one of `terms.CATEGORIES`."""
    if type_ == _COPY:
        return terms.COPY
    return next(
        (category for category, prefixes in _CATEGORIES.items() if type_.startswith(prefixes)),
        terms.OTHER,
    )


def is_constant(type_: str) -> bool:
    """Return whether operators of this type only hold a tensor, so that a call moves no bytes."""
    return type_.startswith(_CONSTANTS)


def dtype_of(name: str) -> str:
    """Return the canonical name of the dtype `name`; `name` itself if the dtype is not known."""
    return _DTYPES.get(name, name)


def bytes_of(dtype: str | None) -> float:
    """Return how many bytes a value of a canonical dtype takes; NaN if the dtype is unknown."""
    return _BYTES_OF.get(dtype or "", float("nan"))


def track_of(name: str, side: terms.Side) -> Track:
    """Return the track of a comp node or host thread.

    Each track has its own clock, because the clocks may start at different times. Several tracks
    may work on one operator at the same time, so the largest of their times counts.
    """
    if side == terms.HOST:
        return Track(name, terms.HOST, kind="thread", clock=name, together="max")
    kind, threads = _device_of(name)
    return Track(
        name,
        terms.DEVICE,
        device=name,
        kind="comp node",
        clock=name,
        resolution_s=_CPU_CLOCK_S if kind == terms.CPU else 0.0,
        together="max",
        device_kind=kind,
        threads=threads,
    )


def _device_of(comp_node: str) -> tuple[terms.DeviceKind | None, int | None]:
    """Return the kind of device of a comp node, and its number of CPU threads; None if unknown.

    `CompNode("cpu0:0" from "xpux:0")` has one thread. `multithread4:0` and `multithread:default:4`
    have four threads.
    """
    if not comp_node.startswith(_COMP_NODE):
        return None, None
    locator = comp_node.removeprefix(_COMP_NODE).partition('"')[0]
    kind = next((kind for start, kind in _DEVICE_KINDS.items() if locator.startswith(start)), None)
    if kind != terms.CPU:
        return kind, None
    if not locator.startswith(_MULTITHREAD):
        return kind, 1
    written = locator.removeprefix(f"{_MULTITHREAD}:default:").removeprefix(_MULTITHREAD)
    digits = written.partition(":")[0]
    is_number = digits.isdecimal() and len(digits) <= _MOST_DIGITS and int(digits) > 0
    return kind, int(digits) if is_number else None

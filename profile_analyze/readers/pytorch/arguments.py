"""Parses the arguments of an operator: tensors, lists of tensors, and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec

from profile_analyze.readers.json_errors import DECODING_ERRORS
from profile_analyze.work.tensor import Tensor, is_possible_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.facts import HostFacts

Value: TypeAlias = "int | float | bool | str | tuple[int | float | bool | str, ...]"

_DTYPES: Final[Mapping[str, str]] = {
    "float": "fp32",
    "double": "fp64",
    "c10::Half": "fp16",
    "c10::BFloat16": "bf16",
    "bool": "bool",
    **dict.fromkeys(("long int", "long", "long long"), "int64"),
    "int": "int32",
    **dict.fromkeys(("short", "short int"), "int16"),
    "signed char": "int8",
    "unsigned char": "uint8",
    **dict.fromkeys(("unsigned short", "short unsigned int"), "uint16"),
    **dict.fromkeys(("unsigned int", "unsigned"), "uint32"),
    **dict.fromkeys(("unsigned long", "long unsigned int"), "uint64"),
    "c10::qint8": "int8",
    "c10::quint8": "uint8",
    "c10::qint32": "int32",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
}
"""The canonical name of each dtype, by its name in C++."""
SCALAR_TYPES: Final[Mapping[int, str]] = {
    **dict(enumerate(("uint8", "int8", "int16", "int32", "int64", "fp16", "fp32", "fp64"))),
    9: "complex64",
    10: "complex128",
    11: "bool",
    15: "bf16",
    **dict.fromkeys(range(23, 27), "fp8"),
}
"""The canonical name of each dtype, by the number that stands for it in an argument."""
_FLOAT8: Final = "c10::Float8_"
_VALUE_TYPES: Final = frozenset(("Scalar", "ScalarList"))
_TENSOR_LIST: Final = "TensorList"
_ABSENT_TYPES: Final = frozenset(("", "nullptr (uninitialized)"))

_INTEGER: Final = re.compile(r"-?\d{1,19}")
_INT64: Final = range(-(1 << 63), 1 << 63)
"""Integers outside this range become floats, because most formats cannot store them."""
_NUMBER: Final = re.compile(r"-?(?:\d{1,40}(?:\.\d{0,40})?(?:[eE][-+]?\d{1,3})?|inf)|nan")
_LARGEST_LIST: Final = 1 << 12
"""A list whose text is longer than this is not parsed. Lists of sizes or strides are short."""


class Argument(NamedTuple):
    """One argument of an operator."""

    type: str
    """The dtype of a tensor, as the file names it, or `Scalar`, `ScalarList` or `TensorList`. It is
    in `_ABSENT_TYPES` for a text, for an argument that is left out, and if the file has no
    type."""
    tensors: tuple[Tensor, ...] | None = None
    """The tensor, or the tensors of a list; None for a value, or for a list of unknown tensors."""
    dtypes: tuple[str | None, ...] = ()
    """The dtype of each tensor, as the file names it; None if it is unknown."""
    value: Value | None = None
    """The value of an argument that is not a tensor; None if it is unknown or left out."""

    @property
    def is_list(self) -> bool:
        """Whether the argument is a list of tensors."""
        return self.type == _TENSOR_LIST

    @property
    def is_tensor(self) -> bool:
        """Whether the argument is a single tensor."""
        return self.tensors is not None and not self.is_list

    @property
    def is_absent(self) -> bool:
        """Whether the argument is left out.

        A text that the profiler did not record looks the same in the file.
        """
        return self.type in _ABSENT_TYPES and self.value is None and self.tensors is None


def arguments_of(facts: HostFacts) -> tuple[Argument, ...]:
    """Return the arguments of an operator; empty if the file has no valid list of arguments."""
    shapes, types, strides, values = map(
        _decoded_list, (facts.shapes, facts.dtypes, facts.strides, facts.values)
    )
    return tuple(
        _argument(shape, _at(types, index), _at(strides, index), _at(values, index))
        for index, shape in enumerate(shapes)
    )


def canonical_dtype(name: str | None) -> str | None:
    """Return the canonical name of a dtype, or `name` if it has none; None if `name` is missing."""
    if name is None or name in _ABSENT_TYPES:
        return None
    return "fp8" if name.startswith(_FLOAT8) else _DTYPES.get(name, name)


def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Return whether the elements of a tensor follow each other in memory, row by row."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size not in (1, 0) and stride != expected:
            return 0 in shape
        expected *= max(size, 1)
    return True


def _decoded_list(text: bytes) -> list[Any]:
    try:
        decoded = msgspec.json.decode(text) if text else []
    except DECODING_ERRORS:
        return []
    return decoded if isinstance(decoded, list) else []


def _at(values: Sequence[Any], index: int) -> Any:
    return values[index] if index < len(values) else None


def _argument(shape: Any, type_: Any, strides: Any, value: Any) -> Argument:
    if type_ == _TENSOR_LIST or isinstance(type_, list):
        return _list_argument(shape, type_, strides)
    name = type_ if isinstance(type_, str) else ""
    # If the file has no type, only an argument with sizes is surely a tensor.
    is_tensor = name not in _ABSENT_TYPES if isinstance(type_, str) else bool(shape)
    if not is_tensor or name in _VALUE_TYPES:
        return Argument(name, value=_value(value))
    found = _sizes(shape)
    tensor = Tensor(found, canonical_dtype(name), _strides(strides, found))
    return Argument(name, (tensor,), (name or None,))


def _list_argument(shapes: Any, types: Any, strides: Any) -> Argument:
    """Return a list of tensors as an argument. Old versions of torch do not record its tensors."""
    if not isinstance(shapes, list) or not shapes:
        return Argument(_TENSOR_LIST)
    known_types = types if isinstance(types, list) else ()
    known_strides = strides if isinstance(strides, list) else ()
    indices = range(len(shapes))
    dtypes = [one if isinstance(one := _at(known_types, index), str) else None for index in indices]
    found = [_sizes(shape) for shape in shapes]
    found_strides = [_strides(_at(known_strides, index), found[index]) for index in indices]
    tensors = tuple(map(Tensor, found, map(canonical_dtype, dtypes), found_strides))
    return Argument(_TENSOR_LIST, tensors, tuple(dtypes))


def _integers(values: Any) -> tuple[int, ...] | None:
    """Return `values` as a tuple; None unless it is a list of integers."""
    is_whole = isinstance(values, list) and {*map(type, values)} <= {int}
    return tuple(values) if is_whole else None


def _sizes(values: Any) -> Shape | None:
    """Return `values` as a shape; None if no tensor can have that shape."""
    found = _integers(values)
    if found is None or min(found, default=0) < 0 or not is_possible_shape(found):
        return None
    return found


def _strides(values: Any, shape: tuple[int | None, ...] | None) -> Shape | None:
    """Return `values` as strides; None if they are unknown or do not fit the shape."""
    found = _integers(values)
    return found if found is not None and shape is not None and len(found) == len(shape) else None


def _value(value: Any) -> Value | None:
    """Return a value, parsed if the file has it as a text; None if it is unknown."""
    if isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return _single(str(value))
    if not isinstance(value, str) or not value:
        return None
    if value.startswith("[") and value.endswith("]") and len(value) <= _LARGEST_LIST:
        inside = value[1:-1].strip()
        return tuple(_single(one.strip()) for one in inside.split(",")) if inside else ()
    return _single(value)


def _single(text: str) -> int | float | bool | str:
    if text in {"True", "False"}:
        return text == "True"
    if _INTEGER.fullmatch(text) and (integer := int(text)) in _INT64:
        return integer
    return float(text) if _NUMBER.fullmatch(text) else text

"""Applies the sizes that a caller gives to dynamic inputs. Reports sizes that stay unknown."""

from __future__ import annotations

import re
import sys
from math import prod
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, TypeProto, helper

from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.visible import escaped
from profile_analyze.readers.model_inputs import NO_INPUTS
from profile_analyze.readers.onnx.folding import LARGEST
from profile_analyze.readers.onnx.input_names import inputs_of, shape_text, some
from profile_analyze.readers.onnx.types import bodies_of, sizes_of, tensor_type
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx import ValueInfoProto

    from profile_analyze.readers.model_inputs import InputShape, ModelInputs
    from profile_analyze.readers.onnx.folding import Array
    from profile_analyze.readers.onnx.graph import Graph, Node
    from profile_analyze.readers.onnx.types import Sizes

_DTYPES: Final = {
    "fp32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
    "fp16": 10, "fp64": 11, "uint32": 12, "uint64": 13, "bf16": 16,
}  # fmt: skip
"""ONNX's number of each dtype that a caller may give to an input."""
_FOR_N: Final = "numbers for N"
_FOR_SIZE: Final = "numbers for SIZE"
_FOR_SHAPE: Final = "shapes such as 1x3x224x224 for SHAPE"


def fix_inputs(proto: ModelProto, given: ModelInputs, file: str) -> tuple[Finding, ...]:
    """Give inputs and symbols their sizes from `given`, everywhere in the model.

    The model must have all inputs and symbols in `given`: see `known_names`. Return a note if fixed
    sizes of the model change, and a note if inputs have no elements. Raises `QueryError` if `given`
    does not fit an input, for example because the input has a different number of axes.
    """
    if given == NO_INPUTS:
        return ()
    inputs = inputs_of(proto.graph)
    dims = _Dims(file, given)
    # Inputs with given sizes come first, because these sizes also fix symbols of other inputs.
    for name, wanted in sorted(given.shapes.items(), key=lambda item: item[1].shape is None):
        dims.fix(inputs[name], wanted)
    for graph in _graphs(proto.graph):
        for value in (*graph.input, *graph.value_info, *graph.output):
            dims.replace_symbols(value.type)
    if dims.contradicts_model:
        _forget_types(proto.graph)
    return (
        *_notes_on_changes(dims.changes),
        *_notes_on_symbols(dims.several),
        *_notes_on_empty_inputs(inputs),
    )


def _notes_on_changes(changes: list[str]) -> Iterator[Finding]:
    """Yield a note if fixed sizes of the model change."""
    if changes:
        yield Finding.of("changed-sizes", Kind.INCOMPLETE, changes=some(changes))


def _notes_on_symbols(several: Mapping[str, Iterable[int]]) -> Iterator[Finding]:
    """Yield a note if whole shapes give several sizes to a symbol."""
    if several:
        names = [f"{symbol} ({', '.join(map(str, sizes))})" for symbol, sizes in several.items()]
        yield Finding.of("several-sizes", Kind.INCOMPLETE, symbols=len(several), names=some(names))


def _notes_on_empty_inputs(inputs: Mapping[str, ValueInfoProto]) -> Iterator[Finding]:
    """Yield a note if inputs have no elements, such as an empty cache."""
    empty = [name for name, value in inputs.items() if 0 in (sizes_of(value.type) or ())]
    if empty:
        yield Finding.of("empty-inputs", Kind.INCOMPLETE, inputs=len(empty), names=some(empty))


def _forget_types(main: GraphProto) -> None:
    """Remove the types that the exporter stored, because these are for the original input sizes."""
    for graph in _graphs(main):
        del graph.value_info[:]
        for value in graph.output if graph is main else (*graph.input, *graph.output):
            # Sequences have no sizes of their own.
            if value.type.HasField("tensor_type"):
                value.type.CopyFrom(tensor_type(value.type.tensor_type.elem_type, None))


class _Dims:
    """The sizes of all symbols, as the caller gives them."""

    def __init__(self, file: str, given: ModelInputs) -> None:
        self._file = file
        self._given = given.dims
        self._sizes = dict(given.dims)
        self.several: dict[str, dict[int, None]] = {}
        """The sizes of symbols to which whole shapes give several sizes. In other inputs, the size
        of such a symbol is unknown."""
        self.contradicts_model = False
        """Whether a given size replaces a fixed size, or an unknown size without a symbol, or
        differs from another size of its symbol."""
        self.changes: list[str] = []
        """The axes whose fixed size is replaced, such as `data (axis 0: 1 to 8)`."""

    def fix(self, value: ValueInfoProto, wanted: InputShape) -> None:
        """Give an input its shape."""
        self._check_is_tensor(value)
        tensor = value.type.tensor_type
        if wanted.dtype is not None:
            self._check_dtype(value, wanted.dtype)
        if wanted.value is not None and not _fits(wanted.value, tensor.elem_type):
            dtype = _name_of(tensor.elem_type)
            # Every dtype of numbers can hold 1.
            advice = "give another value" if _fits(1.0, tensor.elem_type) else "leave out the value"
            raise QueryError(
                f"{self._file}: the input '{value.name}' has dtype {dtype}, which cannot hold "
                f"{wanted.value:g}; {advice}"
            )
        old = sizes_of(value.type)
        shape = self._sizes_in_model(value) if wanted.shape is None else wanted.shape
        if old is not None and len(old) != len(shape):
            raise QueryError(
                f"{self._file}: the input '{value.name}' has {counted(len(old), 'axis', 'axes')} "
                f"({shape_text(value)}), not {len(shape)}"
            )
        for axis, (before, size) in enumerate(zip(old or (), shape, strict=False)):
            if isinstance(before, str):
                self._set_symbol(before, size, value.name)
            elif before != size:
                self.contradicts_model = True
                if before is not None:
                    self.changes.append(f"{value.name} (axis {axis}: {before} to {size})")
        value.type.CopyFrom(tensor_type(tensor.elem_type, shape))

    def _sizes_in_model(self, value: ValueInfoProto) -> tuple[int, ...]:
        """Return the sizes of an input. An unknown size becomes its symbol's size, or 1."""
        sizes = sizes_of(value.type)
        if sizes is None:
            raise QueryError(
                f"{self._file}: -1 stands for the shape in the model, but the model has no shape "
                f"for the input '{value.name}'; give all sizes, as in --input-shape {value.name}:8"
            )
        return tuple(
            one if isinstance(one, int) else self._sizes.get(one or "", 1) for one in sizes
        )

    def _set_symbol(self, symbol: str, size: int, name: str) -> None:
        if symbol in self.several:
            self.several[symbol][size] = None
        elif (other := self._sizes.setdefault(symbol, size)) != size:
            if symbol in self._given:
                raise QueryError(
                    f"{self._file}: the symbol '{symbol}' is given two sizes: {other}, "
                    f"and {size} for the input '{name}'"
                )
            self.several[symbol] = {self._sizes.pop(symbol): None, size: None}
            self.contradicts_model = True

    def _check_is_tensor(self, value: ValueInfoProto) -> None:
        kind = value.type.WhichOneof("value")
        if kind not in (None, "tensor_type"):
            raise QueryError(
                f"{self._file}: the input '{value.name}' has the type "
                f"{kind.removesuffix('_type').replace('_', ' ')}, not tensor; give sizes only to "
                "tensors"
            )

    def _check_dtype(self, value: ValueInfoProto, dtype: str) -> None:
        tensor = value.type.tensor_type
        if tensor.elem_type not in (0, _DTYPES[dtype]):
            own = _name_of(tensor.elem_type)
            raise QueryError(f"{self._file}: the input '{value.name}' has dtype {own}, not {dtype}")
        tensor.elem_type = _DTYPES[dtype]

    def replace_symbols(self, type_: TypeProto) -> None:
        """Replace the symbols in a type with their sizes. Forget symbols with several sizes."""
        if not type_.HasField("tensor_type"):
            return
        for dim in type_.tensor_type.shape.dim:
            if dim.dim_param in self._sizes:
                dim.dim_value = self._sizes[dim.dim_param]
            elif dim.dim_param in self.several:
                dim.ClearField("dim_param")


def _name_of(elem_type: int) -> str:
    own = next((name for name, number in _DTYPES.items() if number == elem_type), None)
    try:
        return own or TensorProto.DataType.Name(elem_type)
    except ValueError:  # a damaged model, or a dtype that this version of `onnx` does not know
        return f"number {elem_type}"


def _fits(value: float, elem_type: int) -> bool:
    """Return whether a dtype can hold a value. A floating-point dtype can round the value."""
    if not elem_type:
        return True
    try:
        dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    except KeyError:  # an unknown dtype
        return False
    if elem_type == TensorProto.STRING:
        return False
    limits = _integer_limits(elem_type)
    if limits is not None:
        return value.is_integer() and limits[0] <= value <= limits[1]
    rounded, largest = (_converted(one, dtype) for one in (value, sys.float_info.max))
    # A dtype that has no infinity can turn every large value into its largest number.
    return bool(np.isfinite(rounded)) and not abs(value) > abs(largest)


def _integer_limits(elem_type: int) -> tuple[int, int] | None:
    """Return the least and the largest value of a dtype; None for dtypes of other numbers."""
    if elem_type == TensorProto.BOOL:
        return 0, 1
    # NumPy knows only the limits of its own dtypes, which do not include int4.
    match = re.fullmatch(r"(U?)INT(\d+)", TensorProto.DataType.Name(elem_type))
    if match is None:
        return None
    values = 1 << int(match[2])
    return (0, values - 1) if match[1] else (-values // 2, values // 2 - 1)


def _converted(value: float, dtype: np.dtype[Any]) -> complex:
    with np.errstate(over="ignore", invalid="ignore"):
        # `complex` converts an element of every dtype, such as bf16 and complex64.
        return complex(np.array(value).astype(dtype))


def contents_of_inputs(proto: ModelProto, given: ModelInputs) -> dict[str, Array]:
    """Return an array for each small input to which the caller gives a value."""
    contents = {}
    inputs = inputs_of(proto.graph)
    for name, wanted in given.shapes.items():
        elem_type = inputs[name].type.tensor_type.elem_type
        if wanted.value is None or not elem_type:
            continue
        # `fix_inputs` has set the sizes of all inputs that the caller names.
        shape = [one for one in sizes_of(inputs[name].type) or () if isinstance(one, int)]
        if prod(shape) <= LARGEST:
            dtype = helper.tensor_dtype_to_np_dtype(elem_type)
            contents[name] = np.full(shape, wanted.value).astype(dtype)
    return contents


def notes_on_open_inputs(proto: ModelProto) -> Iterator[Finding]:
    """Yield a note if inputs have unknown sizes."""
    inputs = inputs_of(proto.graph)
    axes = {name: axes for name, value in inputs.items() if (axes := _open_axes(value))}
    if not axes:
        return
    parts = [
        f"{name} (axis {', '.join(texts)})" if texts[0] else name for name, texts in axes.items()
    ]
    options = dict(
        option for name in axes for option in _options_for(name, sizes_of(inputs[name].type))
    )
    yield Finding.of(
        *("dynamic-inputs", Kind.INCOMPLETE),
        inputs=len(axes), names=some(parts), options=some([*options], " "),
        replacements=sorted(set(options.values())),
    )  # fmt: skip


def _options_for(name: str, sizes: Sizes | None) -> Iterator[tuple[str, str]]:
    """Yield the command-line options that give the unknown sizes of an input.

    These are a `--dim` for each symbol; if an unknown size has no symbol, one `--input-shape`. The
    options have N or SIZE instead of a number: users would copy a number such as 1, and get wrong
    results. With each option, yield what to write instead of N, SIZE or SHAPE.
    """
    if sizes is None:
        yield f"--input-shape {quote(name)}:SHAPE", _FOR_SHAPE
    elif None in sizes:
        shape = "x".join(str(one) if isinstance(one, int) else "N" for one in sizes)
        yield f"--input-shape {quote(name)}:{shape}", _FOR_N
    else:
        for symbol in sizes:
            if isinstance(symbol, str):
                yield f"--dim {quote(symbol)}=SIZE", _FOR_SIZE


def notes_on_contradictions(graph: Graph) -> Iterator[Finding]:
    """Yield a note if operators cannot run with the shapes of their inputs."""
    found = [
        f"{escaped(node.name)} ({escaped(node.type)}: {node.contradiction})"
        for node in _nodes(graph)
        if node.contradiction is not None
    ]
    if found:
        yield Finding.of(
            "contradicting-sizes", Kind.INCOMPLETE, operators=len(found), names=some(found)
        )


def _nodes(graph: Graph) -> Iterator[Node]:
    """Yield the nodes of a graph and of all bodies in it."""
    for node in graph.nodes:
        yield node
        for body in node.bodies:
            yield from _nodes(body.graph)


def _open_axes(value: ValueInfoProto) -> list[str]:
    """Return the axes of unknown size, with their symbols, such as `0: batch`.

    If the number of axes is unknown, the list has one empty text.
    """
    if not value.type.HasField("tensor_type"):
        return []
    sizes = sizes_of(value.type)
    if sizes is None:
        return [""]
    return [
        f"{axis}: {one}" if one else str(axis)
        for axis, one in enumerate(sizes)
        if not isinstance(one, int)
    ]


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for _, body in bodies_of(node):
            yield from _graphs(body)

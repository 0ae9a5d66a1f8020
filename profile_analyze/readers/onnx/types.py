"""`Scope`, which has all known facts about the values of a graph, and functions for ONNX types."""

from __future__ import annotations

from collections import ChainMap
from math import prod
from typing import TYPE_CHECKING, Any, Final

from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from profile_analyze.readers.onnx.folding import LARGEST, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx import GraphProto, NodeProto

    from profile_analyze.readers.onnx.folding import Array
    from profile_analyze.work.tensor import Dims

    Sizes = tuple[int | str | None, ...]

STORED_APART: Final = "stored apart: "
"""The start of the doc string of a tensor whose values were taken out of the graph."""
_CONTAINERS: Final[Mapping[str, Callable[[TypeProto], TypeProto]]] = {
    "sequence_type": helper.make_sequence_type_proto,
    "optional_type": helper.make_optional_type_proto,
}
"""How to make the type of a sequence or optional from the type of its elements."""
_TOO_LARGE: Final = 1 << 63
_GENERATED: Final = "unk__"
"""The start of the symbols that shape inference makes up for sizes that it does not know."""


class Scope:
    """What is known about the values of a graph: their types, and the contents of small values."""

    def __init__(self, opsets: Mapping[str, int], outer: Scope | None = None) -> None:
        self.opsets = opsets
        self.depth: int = 0 if outer is None else outer.depth + 1
        """How many graphs are around this graph."""
        self.trip_count: int | None = None
        """For a body: how often one call of its node executes it; None if that is unknown."""
        self.contradictions: dict[int, str] = {}
        """Why nodes of the graph cannot run, by position of the node."""
        self.types: ChainMap[str, TypeProto] = ChainMap(
            {},
            *([] if outer is None else outer.types.maps),
        )
        self._arrays: ChainMap[str, Array | TensorProto | None] = ChainMap(
            {},
            *([] if outer is None else outer._arrays.maps),  # noqa: SLF001  # same class
        )

    def set_array(self, name: str, array: Array | TensorProto | None) -> None:
        """Store the contents of a value; None hides a value of the same name in an outer graph."""
        self._arrays[name] = array

    def array(self, name: str) -> Array | None:
        """Return the contents of a value; None if they are unknown or large."""
        array = self._arrays.get(name)
        if isinstance(array, TensorProto):
            array = self._arrays[name] = small_array(array)
        return array

    def sizes(self, name: str) -> Sizes | None:
        """Return the shape of a value; None if the number of dimensions is unknown."""
        return sizes_of(self.types.get(name))

    def dtype(self, name: str) -> int:
        """Return the number of the dtype of a value; 0 if it is unknown."""
        type_ = self.types.get(name)
        return 0 if type_ is None else type_.tensor_type.elem_type


def is_stored_apart(tensor: TensorProto) -> bool:
    """Return whether the values of the tensor were taken out of the graph."""
    return tensor.doc_string.startswith(STORED_APART)


def small_array(tensor: TensorProto) -> Array | None:
    """Return the values of a small tensor; None if it is large or damaged, or has a rare dtype."""
    if is_stored_apart(tensor) or prod(tensor.dims) > LARGEST:
        return None
    try:
        array: Array = numpy_helper.to_array(tensor)
    # A damaged tensor has too few bytes, or a dtype that does not exist.
    except (ValueError, TypeError, KeyError, IndexError):
        return None
    return array if array.dtype.kind in NUMBERS else None


def tensor_type(elem_type: int, sizes: Iterable[int | str | None] | None) -> TypeProto:
    """Return the type of a tensor."""
    if sizes is not None:
        sizes = [one if _is_size(one) else None for one in sizes]
    return helper.make_tensor_type_proto(elem_type, sizes)


def _is_size(size: object) -> bool:
    """Return whether ONNX can store a size: one of a damaged model may be a float, or too large."""
    return isinstance(size, str) or (isinstance(size, int) and abs(size) < _TOO_LARGE)


def elements_of(type_: TypeProto | None) -> TypeProto | None:
    """Return the type of the elements of a sequence or optional; None for other types."""
    kind = "" if type_ is None else type_.WhichOneof("value")
    return getattr(type_, str(kind)).elem_type if kind in _CONTAINERS else None


def have_elements(first: TypeProto, second: TypeProto) -> bool:
    """Return whether both types are sequences, or both are optionals."""
    kind = first.WhichOneof("value")
    return kind in _CONTAINERS and kind == second.WhichOneof("value")


def container_type(like: TypeProto, elements: TypeProto | None) -> TypeProto | None:
    """Return a sequence or optional type, the same kind as `like`, with the type of `elements`."""
    return None if elements is None else _CONTAINERS[like.WhichOneof("value")](elements)


def sizes_of(type_: TypeProto | None) -> Sizes | None:
    """Return the shape: a number, a symbol or None for each dimension.

    Return None if the number of dimensions is unknown.
    """
    if type_ is None:
        return None
    tensor = type_.sparse_tensor_type if type_.HasField("sparse_tensor_type") else type_.tensor_type
    if not tensor.HasField("shape"):
        return None
    # Some programs write a negative size for "unknown". In inputs, `parse` accepts only -1.
    return tuple(
        (dim.dim_value if dim.dim_value >= 0 else None)
        if dim.HasField("dim_value")
        else _symbol(dim.dim_param)
        for dim in tensor.shape.dim
    )


def _symbol(name: str) -> str | None:
    return None if not name or name.startswith(_GENERATED) else name


def without_generated_symbols(type_: TypeProto) -> TypeProto:
    """Return the type without symbols that shape inference made up.

    Two calls of shape inference may make up the same symbol for different sizes.
    """
    if not type_.HasField("tensor_type") or not type_.tensor_type.HasField("shape"):
        return type_
    return tensor_type(type_.tensor_type.elem_type, sizes_of(type_))


def dims_of(sizes: Sizes | None) -> Dims | None:
    """Return the shape without symbols."""
    if sizes is None:
        return None
    return tuple(size if isinstance(size, int) else None for size in sizes)


def is_complete(type_: TypeProto | None) -> bool:
    """Return whether a type is known: for a tensor, with all its sizes.

    For a sequence or an optional, the type of its elements decides.
    """
    if type_ is None:
        return False
    if (elements := elements_of(type_)) is not None:
        return is_complete(elements)
    if type_.WhichOneof("value") not in ("tensor_type", "sparse_tensor_type"):
        return type_.WhichOneof("value") is not None
    sizes = sizes_of(type_)
    return sizes is not None and all(isinstance(size, int) for size in sizes)


def merged(new: TypeProto | None, old: TypeProto | None) -> TypeProto | None:
    """Merge two types of a value.

    A known size wins over a symbol, and a symbol over an unknown size. Between two sizes or two
    symbols, the new type wins.
    """
    if new is None or old is None or new.WhichOneof("value") is None:
        return old if new is None or new.WhichOneof("value") is None else new
    if have_elements(new, old):
        return container_type(new, merged(elements_of(new), elements_of(old)))
    if not (new.HasField("tensor_type") and old.HasField("tensor_type")):
        return new
    mine, others = sizes_of(new), sizes_of(old)
    elem_type = new.tensor_type.elem_type or old.tensor_type.elem_type
    if mine is None or others is None or len(mine) != len(others):
        return tensor_type(elem_type, others if mine is None else mine)
    return tensor_type(
        elem_type,
        [
            one if isinstance(one, int) or (one and not isinstance(other, int)) else other
            for one, other in zip(mine, others, strict=True)
        ],
    )


def declare(graph: GraphProto, scope: Scope) -> None:
    """Add the inputs, the initializers and the declared types of a graph to `scope`."""
    for value in graph.input:
        scope.types[value.name] = value.type
    take_types(graph, scope)
    for tensor in graph.initializer:
        scope.types[tensor.name] = tensor_type(tensor.data_type, tensor.dims)
        scope.set_array(tensor.name, tensor)
    for sparse in graph.sparse_initializer:
        scope.types[sparse.values.name] = tensor_type(sparse.values.data_type, sparse.dims)


def take_types(graph: GraphProto, scope: Scope) -> None:
    """Add the types of intermediate values and outputs that `scope` does not know completely."""
    for value in (*graph.value_info, *graph.output):
        if value.type.WhichOneof("value") and not is_complete(scope.types.get(value.name)):
            scope.types[value.name] = value.type


def attributes_of(node: NodeProto) -> dict[str, Any]:
    """Return the attributes of a node by name: numbers, texts, tuples of these, and small arrays.

    A large tuple or array is None.
    """
    attributes: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.type == AttributeProto.TENSOR:
            attributes[attribute.name] = small_array(attribute.t)
        elif attribute.type in _SIMPLE:
            attributes[attribute.name] = _SIMPLE[attribute.type](attribute)
    return attributes


def _small(values: Sequence[Any]) -> tuple[Any, ...] | None:
    return tuple(values) if len(values) <= LARGEST else None


_SIMPLE: Final[Mapping[int, Any]] = {
    AttributeProto.INT: lambda attribute: attribute.i,
    AttributeProto.FLOAT: lambda attribute: attribute.f,
    AttributeProto.STRING: lambda attribute: attribute.s.decode("utf-8", "replace"),
    AttributeProto.INTS: lambda attribute: _small(attribute.ints),
    AttributeProto.FLOATS: lambda attribute: _small(attribute.floats),
    AttributeProto.STRINGS: lambda attribute: _small(
        [text.decode("utf-8", "replace") for text in attribute.strings[: LARGEST + 1]]
    ),
}


def bodies_of(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Yield each graph inside a node, with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g
        for body in attribute.graphs:
            yield attribute.name, body

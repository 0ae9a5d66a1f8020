"""Checks that a model has the inputs and symbols to which a caller gives sizes."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QueryError
from profile_analyze.readers.onnx.types import sizes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx import GraphProto, ValueInfoProto

    from profile_analyze.readers.model_inputs import InputShape, ModelInputs

_MOST_NAMED: Final = 8
"""The most inputs or symbols that a message names."""


def inputs_of(graph: GraphProto) -> dict[str, ValueInfoProto]:
    """Return the inputs that have no initializer, by name."""
    initialized = {tensor.name for tensor in graph.initializer}
    initialized.update(sparse.values.name for sparse in graph.sparse_initializer)
    return {value.name: value for value in graph.input if value.name not in initialized}


def known_names(
    given: ModelInputs, graph: GraphProto, file: str
) -> tuple[ModelInputs, dict[str, str]]:
    """Return `given` without the names that the model lacks, and a message about each missing name.

    The key of a message is the option without the size, such as `--dim batch`. Raises `QueryError`
    if the caller gives a size without a name, or if the model lacks a name and `given.may_lack` is
    false.
    """
    inputs = inputs_of(graph)
    lacks = dict(_messages(given, inputs, file))
    for option, message in lacks.items():
        if not given.may_lack or option in ("--input-shape ", "--dim "):  # these lack a name
            raise QueryError(message)
    shapes = {n: one for n, one in given.shapes.items() if f"--input-shape {n}" not in lacks}
    dims = {symbol: size for symbol, size in given.dims.items() if f"--dim {symbol}" not in lacks}
    return given._replace(shapes=shapes, dims=dims), lacks


def _messages(
    given: ModelInputs, inputs: Mapping[str, ValueInfoProto], file: str
) -> Iterator[tuple[str, str]]:
    """Yield the key and the message for each name that the model lacks."""
    symbols = {
        dim.dim_param: None
        for value in inputs.values()
        for dim in value.type.tensor_type.shape.dim
        if dim.dim_param
    }
    for symbol, size in given.dims.items():
        if symbol not in symbols:
            message = _no_symbol(symbol, size, [*symbols])
            yield f"--dim {symbol}", f"{file}: {message}; inputs: {_listed(inputs.values())}"
    for name, wanted in given.shapes.items():
        if name not in inputs:
            yield f"--input-shape {name}", f"{file}: {_no_input(name, wanted, inputs)}"


def _no_input(name: str, wanted: InputShape, inputs: Mapping[str, ValueInfoProto]) -> str:
    """Return the message about a shape for an input that the model does not have."""
    listed = f"inputs: {_listed(inputs.values())}"
    if name:
        return f"has no input '{name}'; {listed}"
    shape = "x".join(map(str, wanted.shape or ()))
    fitting = [
        f"--input-shape {quote(f'{one.name}:{shape}')}"
        for one in inputs.values()
        if len(sizes_of(one.type) or ()) == len(wanted.shape or ())
    ]
    form = " or ".join(fitting[:_MOST_NAMED]) or f"NAME:{shape}"
    return f"the shape {shape} lacks the name of an input; write {form}; {listed}"


def _no_symbol(symbol: str, size: int, symbols: list[str]) -> str:
    """Return the message about a size for a symbol that the model does not have."""
    if symbol:
        has = "no symbols" if not symbols else "the symbols " + some(symbols)
        return (
            f"no input has the symbol '{symbol}'; the inputs of the model have {has}; "
            "--input-shape gives a whole shape"
        )
    calls = [f"--dim {quote(f'{one}={size}')}" for one in symbols[:_MOST_NAMED]]
    if not calls:
        return f"the size {size} lacks a symbol, and the model has none; --input-shape gives sizes"
    return f"the size {size} lacks a symbol; write {' or '.join(calls)}"


def shape_text(value: ValueInfoProto) -> str:
    """Return the sizes of an input as text, such as `1x3x?`."""
    sizes = sizes_of(value.type)
    if sizes is None:
        return "?"
    return "x".join("?" if one is None else str(one) for one in sizes) or "scalar"


def _listed(values: Iterable[ValueInfoProto]) -> str:
    return some([f"{value.name}:{shape_text(value)}" for value in values]) or "none"


def some(names: list[str], separator: str = ", ") -> str:
    """Return a text with the first names, and with the number of remaining names."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return separator.join(names[:_MOST_NAMED]) + more

"""Parses and checks the bytes of a model. Moves the values of large tensors out of the graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, TypeProto

from profile_analyze.errors import MalformedProfileError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.visible import escaped
from profile_analyze.readers.input.urls import is_url
from profile_analyze.readers.onnx.folding import LARGEST
from profile_analyze.readers.onnx.safety.external_data import ModelFolder
from profile_analyze.readers.onnx.safety.onnx_calls import INLINE, OnnxError, packed
from profile_analyze.readers.onnx.safety.refusals import check_equation, check_functions, described
from profile_analyze.readers.onnx.types import STORED_APART, bodies_of, elements_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.onnx.safety.onnx_calls import OnnxCalls

ONNX_DOMAIN: Final = ""
_ALIAS_OF_ONNX: Final = "ai.onnx"
_LARGEST_OPSET: Final = (1 << 31) - 1  # `onnx` stores the version in 32 bits
_NO_SYMBOL: Final = re.compile(r"[\W_]+|-\d+|none|null|nan|unk|unknown|undefined", re.IGNORECASE)
"""Texts that exporters write for a size without a name, such as `?`."""


class Parsed(NamedTuple):
    """A model whose structure has been checked."""

    proto: ModelProto
    """The model without local functions. Large tensors have dims and dtype, but no values."""
    stored: Mapping[str, Any]
    """The large tensors with their values, by the `doc_string` of the tensor in `proto`."""
    opsets: Mapping[str, int]

    def complete(self, tensor: Any) -> Any:
        """Return a tensor of `proto` as it is in the file, with its values."""
        return self.stored.get(tensor.doc_string, tensor)


def parse(source: Source, calls: OnnxCalls) -> Parsed:
    """Return the model in `source`. Raises `MalformedProfileError` if it cannot be used."""
    try:
        proto = ModelProto.FromString(source.content())
    except DecodeError:
        raise MalformedProfileError(
            source.name, "truncated or damaged: the protobuf of the ONNX model cannot be decoded"
        ) from None
    texts = (proto.producer_name, proto.producer_version)
    _check_utf8((*texts, *(one.domain for one in proto.opset_import)), source.name)
    for graph in (proto.graph, *proto.functions):
        _check_texts(graph, source.name)
    opsets = _opsets(proto, source.name)
    if not proto.HasField("graph"):
        reason = "is not an ONNX model: it has no graph; the file may be truncated: copy it again"
        raise MalformedProfileError(source.name, reason)
    stored: dict[str, Any] = {}
    for graph in (proto.graph, *proto.functions):
        _store_large_tensors(graph, stored)
    if proto.functions:
        check_functions(proto, source.name)
        proto = _inlined(proto, source.name, calls)
        opsets = _opsets(proto, source.name)
    if not proto.graph.node:
        raise MalformedProfileError(source.name, "the graph of the ONNX model has no nodes")
    _forget_unknown_sizes(proto.graph)
    _check_graph(proto.graph, source.name, ())
    return Parsed(proto, stored, opsets)


def _opsets(proto: ModelProto, file: str) -> dict[str, int]:
    """Return the operator set version of each domain; version 1 of ONNX for very old models.

    Raises `MalformedProfileError` if the model names no version, or a version that the
    installed `onnx` does not support.
    """
    opsets = {
        "" if one.domain == _ALIAS_OF_ONNX else one.domain: one.version
        for one in proto.opset_import
    }
    if not opsets:
        if proto.ir_version >= 3:  # the first version with opsets
            raise MalformedProfileError(file, "is not an ONNX model: it imports no operator set")
        opsets = {ONNX_DOMAIN: 1}
    for domain, version in opsets.items():
        if not 1 <= version <= _LARGEST_OPSET:
            name = escaped(domain or _ALIAS_OF_ONNX)
            reason = f"has version {version} of the operator set {name}, which no operator set has"
            raise MalformedProfileError(file, reason)
        newest = onnx.defs.C.schema_version_map().get(domain, (1, version))[1]
        if version > newest:
            raise MalformedProfileError(
                file,
                f"has version {version} of the operator set {domain or _ALIAS_OF_ONNX}; the "
                f"installed onnx {onnx.__version__} reads 1 to {newest}: update onnx",
            )
    return opsets


def _inlined(proto: ModelProto, file: str, calls: OnnxCalls) -> ModelProto:
    """Replace each call of a local function by the nodes of the function. Return the model.

    The names of these nodes get a number at the end, which makes them unique.
    """
    try:
        return calls.call(INLINE, packed(proto))
    except OnnxError as error:
        reason = f"the local functions of the ONNX model cannot be inlined: {escaped(str(error))}"
        raise MalformedProfileError(file, reason) from None


def _store_large_tensors(graph: Any, stored: dict[str, Any]) -> None:
    """Move the values of large tensors to `stored`, from a graph or function and its bodies."""
    if isinstance(graph, GraphProto):
        initializers = list(graph.initializer)
        # The list `initializers` keeps the removed tensors alive, so no values need to be copied.
        del graph.initializer[:]
        for tensor in initializers:
            _add_without_values(graph.initializer.add(), tensor, stored)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR and _is_large(attribute.t):
                tensor = attribute.t
                attribute.ClearField("t")
                _add_without_values(attribute.t, tensor, stored)
        for _, body in bodies_of(node):
            _store_large_tensors(body, stored)


def _add_without_values(new: TensorProto, tensor: TensorProto, stored: dict[str, Any]) -> None:
    """Copy `tensor` to `new`. If `tensor` is large, its values go to `stored` instead."""
    if not _is_large(tensor):
        new.CopyFrom(tensor)
        return
    new.name = tensor.name
    new.data_type = tensor.data_type
    new.dims.extend(tensor.dims)
    new.doc_string = f"{STORED_APART}{len(stored)}"
    stored[new.doc_string] = tensor


def _is_large(tensor: TensorProto) -> bool:
    """Return whether the tensor is large, or its values are in another file."""
    elements = 1
    for size in tensor.dims:
        elements *= size
    return elements > LARGEST or tensor.data_location == TensorProto.EXTERNAL


def _forget_unknown_sizes(graph: GraphProto) -> None:
    """Make each size that only says "unknown" unknown: -1, or a text such as `?` (Paddle).

    ONNX takes equal texts for equal sizes. But each `?` is a size of its own.
    """
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in _dims_in(value.type):
            if dim.dim_value == -1 or _NO_SYMBOL.fullmatch(dim.dim_param):
                dim.ClearField("dim_value")
                dim.ClearField("dim_param")
    for node in graph.node:
        for _, body in bodies_of(node):
            _forget_unknown_sizes(body)


def _dims_in(type_: TypeProto) -> Iterable[Any]:
    """Return the dimensions of a tensor, or of the tensors in a sequence or optional."""
    while (elements := elements_of(type_)) is not None:
        type_ = elements
    kind = "sparse_tensor_type" if type_.HasField("sparse_tensor_type") else "tensor_type"
    dims: Iterable[Any] = getattr(type_, kind).shape.dim
    return dims


def _check_graph(graph: GraphProto, file: str, outer: tuple[set[str], ...]) -> None:
    """Raise `MalformedProfileError` if a graph, or a body in it, is not valid.

    Its inputs and initializers must have no negative dimensions. Its nodes and outputs may use only
    defined values: inputs, initializers and the outputs of earlier nodes. `outer` has the names
    that are defined so far in each graph around this graph.
    """
    _check_sizes(graph, file)
    known = {value.name for value in graph.input}
    visible = (known, *outer)
    known.update(tensor.name for tensor in graph.initializer)
    known.update(tensor.values.name for tensor in graph.sparse_initializer)
    written = {name for node in graph.node for name in node.output}
    for node in graph.node:
        for name in node.input:
            if name and not any(name in names for names in visible):
                raise MalformedProfileError(file, _undefined(node, name, written))
        check_equation(node, file)
        for _, body in bodies_of(node):
            _check_graph(body, file, visible)
        known.update(node.output)
    for value in graph.output:
        if not value.name or not any(value.name in names for names in visible):
            reason = f"no node writes the output '{escaped(value.name)}' of the ONNX model"
            raise MalformedProfileError(file, reason)


def _check_texts(graph: Any, file: str) -> None:
    """Raise `MalformedProfileError` if a text in a graph or function is not UTF-8."""
    texts = [text for node in graph.node for text in (*node.input, *node.output)]
    tensors = []
    for node in graph.node:
        texts += [node.name, node.op_type, node.domain]
        texts += [attribute.name for attribute in node.attribute]
        tensors += [attribute.t for attribute in node.attribute if attribute.HasField("t")]
        for _, body in bodies_of(node):
            _check_texts(body, file)
    if not isinstance(graph, GraphProto):
        texts += [graph.name, graph.domain, *graph.input, *graph.output]
    else:
        texts += [one.values.name for one in graph.sparse_initializer]
        values = (*graph.input, *graph.output, *graph.value_info)
        texts += [value.name for value in values]
        shapes = (value.type.tensor_type.shape for value in values)
        texts += [dim.dim_param for shape in shapes for dim in shape.dim]
        tensors += graph.initializer
    for tensor in tensors:
        texts += [tensor.name, tensor.doc_string]
        texts += [text for entry in tensor.external_data for text in (entry.key, entry.value)]
    _check_utf8(texts, file)


def _check_utf8(texts: Iterable[str], file: str) -> None:
    for text in texts:
        # protobuf returns a text that is not UTF-8 as bytes, and raises no error
        if not isinstance(text, str):
            raise MalformedProfileError(
                file, f"damaged: a name in the ONNX model is not UTF-8: {text!r}"
            )


def _check_sizes(graph: GraphProto, file: str) -> None:
    """Raise `MalformedProfileError` if an initializer or an input has a negative dimension."""
    stored = [("initializer", tensor.name, [*tensor.dims]) for tensor in graph.initializer]
    stored += [("initializer", one.values.name, [*one.dims]) for one in graph.sparse_initializer]
    inputs = (
        ("input", value.name, [dim.dim_value for dim in value.type.tensor_type.shape.dim])
        for value in graph.input
    )
    for what, name, sizes in (*stored, *inputs):
        if any(size < 0 for size in sizes):
            text = "x".join(map(str, sizes))
            reason = (
                f"the {what} '{escaped(name)}' of the ONNX model has a negative dimension: {text}"
            )
            raise MalformedProfileError(file, reason)


def _undefined(node: Any, name: str, written: set[str]) -> str:
    reads = f"{described(node)} reads '{escaped(name)}'"
    if name in written:
        return f"{reads} before it is written: the graph has a cycle, or its nodes are not sorted"
    return f"{reads}, which is not an input, an initializer or an output of a node"


def files_of_external_data(parsed: Parsed) -> dict[str, int]:
    """Return how many tensors have their values in each file with external data, by file name."""
    files: dict[str, int] = {}
    for tensor in parsed.stored.values():
        if tensor.data_location == TensorProto.EXTERNAL:
            for entry in tensor.external_data:
                if entry.key == "location":
                    files[entry.value] = files.get(entry.value, 0) + 1
    return files


def note_on_missing_files(source: Source, parsed: Parsed) -> Finding | None:
    """Return a finding on missing files with weights; None if all files are beside the model.

    Only questions about zeros need the values of weights.
    """
    folder = ModelFolder.of(source)
    missing = {
        name: tensors
        for name, tensors in files_of_external_data(parsed).items()
        if is_url(source.path)
        or (folder is not None and not folder.has(name))
        or not source.has_neighbour(name)
    }
    if not missing:
        return None
    is_there = folder is not None and any(map(folder.exists, missing))
    where = "url" if is_url(source.path) else "elsewhere" if is_there else "missing"
    return Finding.of(
        *("weights-in-other-files", Kind.INCOMPLETE),
        tensors=sum(missing.values()), first=next(iter(missing)), files=len(missing), where=where,
    )  # fmt: skip

"""Splits the matrix products of an ONNX model into tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf.message import EncodeError  # type: ignore[import-untyped]
from onnx import AttributeProto, TensorProto

from profile_analyze.errors import InputError, QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.visible import escaped
from profile_analyze.readers.onnx.loading import read_with_proto
from profile_analyze.readers.onnx.parsing import files_of_external_data
from profile_analyze.readers.onnx.safety.external_data import ModelFolder
from profile_analyze.readers.onnx.types import bodies_of, tensor_type
from profile_analyze.readers.onnx.unique_names import UniqueNames
from profile_analyze.readers.onnx.work.tile_columns import layer_of
from profile_analyze.work.tensor import all_known
from profile_analyze.work.tiling import fits, tiling_of
from profile_analyze.writers import WrittenModel
from profile_analyze.writers.layouts import layout_of
from profile_analyze.writers.new_nodes import NewNodes
from profile_analyze.writers.quantized import as_integers
from profile_analyze.writers.tile_nodes import TileNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import GraphProto, NodeProto

    from profile_analyze.model.notes import Note
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.model_inputs import Tile
    from profile_analyze.readers.onnx.graph import Graph, Node, OnnxModel
    from profile_analyze.readers.onnx.parsing import Parsed
    from profile_analyze.work.tensor import Dims
    from profile_analyze.work.tiling import Product

MOST_PRODUCTS: Final = 1_000_000
"""The most tile products that a new model may have. With more, writing takes minutes and gigabytes
of memory, and few programs can load the model."""
_MOST_NAMED: Final = 4


def split_model(source: Source) -> WrittenModel:
    """See `writers.split_model`."""
    tile = source.inputs.tile
    assert tile is not None, "the caller gives the size of tiles"
    parsed, model = read_with_proto(source)
    splitter = _Splitter(source.name, parsed, tile)
    splitter.split(parsed.proto.graph, model.graph)
    _give_outputs_their_shapes(parsed.proto.graph, model)
    for graph in _graphs(parsed.proto.graph):
        _restore_values(graph, parsed)
    try:
        data = parsed.proto.SerializeToString()
    except (EncodeError, ValueError):
        raise InputError(
            source.name, "the split model is larger than 2 GiB, the most that protobuf can write"
        ) from None
    external = tuple(files_of_external_data(parsed))
    return WrittenModel(data, ModelFolder.of(source), external, tuple(splitter.notes()))


class _Splitter:
    """Splits the products of one model, and remembers which products it left as they are."""

    def __init__(self, file: str, parsed: Parsed, tile: Tile) -> None:
        self._file = file
        self._opset = parsed.opsets.get("", 0)
        self._tile = tile
        self._names = UniqueNames(
            name for graph in _graphs(parsed.proto.graph) for name in _names_in(graph)
        )
        self._tiles = 0
        self._split: list[str] = []
        self._fitting: list[str] = []
        self._unknown: list[str] = []
        self._unsupported: list[str] = []

    def split(self, proto: GraphProto, graph: Graph) -> None:
        """Replace the products of a graph and of its bodies."""
        nodes = list(proto.node)
        new: list[NodeProto] = []
        for node_proto, node in zip(nodes, graph.nodes, strict=True):
            for (_, body_proto), body in zip(bodies_of(node_proto), node.bodies, strict=True):
                self.split(body_proto, body.graph)
            new += self._nodes_for(node_proto, node, graph)
        # `nodes` keeps the removed nodes alive until they are copied.
        del proto.node[:]
        proto.node.extend(new)

    def _nodes_for(self, proto: NodeProto, node: Node, graph: Graph) -> list[NodeProto]:
        """Return the nodes that replace a node. A node that is not split replaces itself."""
        layer = layer_of(node, graph.values, self._tile)
        if layer is None:
            return [proto]
        shapes = [graph.values[name].dims for name in node.inputs if name]
        if layer.product is None or not all(_is_known(shape) for shape in shapes):
            self._unknown.append(node.name)
            return [proto]
        if fits(layer.product, self._tile.sizes):
            self._fitting.append(node.name)
            return [proto]
        return self._tile_nodes(proto, node, graph, layer.product)

    def _tile_nodes(
        self, proto: NodeProto, node: Node, graph: Graph, product: Product
    ) -> list[NodeProto]:
        nodes = NewNodes(proto, self._opset, self._names.unique)
        integers = as_integers(node, graph.values, nodes, self._opset)
        product_node, values, attributes = node, graph.values, [*proto.attribute]
        if integers is not None:
            product_node, values, attributes = integers.node, integers.values, []
        splits_rows = product.m > self._tile.m
        layout = layout_of(product_node, values, product, splits_rows=splits_rows)
        # The new nodes need the standard operators of ONNX, which a model need not import.
        if layout is None or not self._opset:
            self._unsupported.append(node.name)
            return [proto]
        if layout.sizes != (product.m, product.n, product.k):
            self._unknown.append(node.name)
            return [proto]
        tiling = tiling_of(product, self._tile.sizes)
        self._tiles += int(tiling.tiles_m * tiling.tiles_n * tiling.tiles_k)
        if self._tiles > MOST_PRODUCTS:
            raise QueryError(
                f"{self._file}: tiles of {self._tile} would make a model of more than "
                f"{MOST_PRODUCTS:,} products; choose larger tiles, or leave out --write-model"
            )
        tiles = TileNodes(product_node, attributes, layout, nodes)
        result = tiles.add_all(product, self._tile.sizes)
        if integers is not None:
            result = integers.scaled(result, graph.values[node.outputs[0]].dtype, nodes)
        nodes.end_with(result, proto.output[0])
        self._split.append(node.name)
        return nodes.all

    def notes(self) -> Iterator[Note]:
        """Yield notes on the products that were split, and on the other products."""
        yield Finding.of(
            "split-products",
            Kind.CONTEXT if self._split else Kind.ANSWER,
            split=len(self._split),
            smaller=self._tiles,
            tile=str(self._tile),
            fitting=len(self._fitting),
        )
        for code, names in (
            ("unsplit-unknown-shapes", self._unknown),
            ("unsplit-unsupported", self._unsupported),
        ):
            if names:
                yield Finding.of(code, Kind.INCOMPLETE, names=_some(names))


def _is_known(shape: Dims | None) -> bool:
    return shape is not None and all_known(shape) is not None


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    listed = ", ".join(map(escaped, names[:_MOST_NAMED]))
    return listed + (f" and {more} more" if more > 0 else "")


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """Yield a graph and all bodies inside it."""
    yield graph
    for node in graph.node:
        for _, body in bodies_of(node):
            yield from _graphs(body)


def _names_in(graph: GraphProto) -> Iterator[str]:
    """Yield the names of the nodes and values of a graph, but not the names in its bodies."""
    for node in graph.node:
        yield node.name
        yield from (*node.input, *node.output)
    for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        yield value.name
    for sparse in graph.sparse_initializer:
        yield sparse.values.name


def _restore_values(graph: GraphProto, parsed: Parsed) -> None:
    """Put the values of large tensors back into a graph. `parse` moved them out."""
    for tensor in graph.initializer:
        _restore(tensor, parsed)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                _restore(attribute.t, parsed)


def _restore(tensor: TensorProto, parsed: Parsed) -> None:
    stored = parsed.complete(tensor)
    if stored is not tensor:
        tensor.CopyFrom(stored)


def _give_outputs_their_shapes(graph: GraphProto, model: OnnxModel) -> None:
    """Give outputs without a shape the shape that was inferred.

    If the caller replaces sizes of inputs, the reader removes the shapes of the outputs, which
    follow from the original sizes. A valid model has the shapes of its outputs.
    """
    for output in graph.output:
        value = model.graph.values.get(output.name)
        tensor = output.type.tensor_type
        if value is None or value.dims is None or tensor.HasField("shape"):
            continue
        if output.type.HasField("tensor_type"):
            symbols = value.symbols or (None,) * len(value.dims)
            sizes = tuple(
                symbol if size is None else size
                for size, symbol in zip(value.dims, symbols, strict=True)
            )
            output.type.CopyFrom(tensor_type(tensor.elem_type, sizes))

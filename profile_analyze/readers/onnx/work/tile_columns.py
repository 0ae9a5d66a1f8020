"""The columns on tiles: what each matrix product costs on hardware with tiles of a limited size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.numbers import floats
from profile_analyze.readers.onnx.work.operations import operation_of
from profile_analyze.work.tiling import (
    MATMUL,
    Product,
    Tiling,
    has_products,
    product_of,
    tiling_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import OptionalValues
    from profile_analyze.readers.model_inputs import Tile
    from profile_analyze.readers.onnx.graph import Node, Value
    from profile_analyze.readers.onnx.tables import PlacedNode


class Layer(NamedTuple):
    """A node that is a matrix product."""

    product: Product | None
    """None if a size of the product is unknown."""
    is_convolution: bool


def layer_of(node: Node, values: Mapping[str, Value], tile: Tile) -> Layer | None:
    """Return the layer of a node; None if the node is not a matrix product.

    A product of constants costs nothing in a run, so it is not a layer.
    """
    if node.is_constant:
        return None
    with_convolutions = tile.with_convolutions
    try:
        operation = operation_of(node, values)
        if operation is None or not has_products(
            operation.kind, with_convolutions=with_convolutions
        ):
            return None
        product = product_of(operation, with_convolutions=with_convolutions)
        return Layer(product, operation.kind != MATMUL)
    # A damaged node, such as one with attributes of a wrong type, gets no tiles.
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        return None


def tile_columns(
    rows: Sequence[PlacedNode], tile: Tile, file: str
) -> tuple[dict[str, OptionalValues], tuple[Note, ...]]:
    """Return the columns on tiles, and notes on them.

    Raises `QueryError` if the model has no matrix products.
    """
    with_all = tile._replace(with_convolutions=True)
    layers = [layer_of(placed.node, placed.graph.values, with_all) for placed in rows]
    left_out = 0
    if not tile.with_convolutions:
        left_out = sum(layer is not None and layer.is_convolution for layer in layers)
        layers = [None if layer is None or layer.is_convolution else layer for layer in layers]
    option = f"--split-matmul {','.join(map(str, tile.sizes))},conv"
    if not any(layers):
        nothing = "products" if not tile.with_convolutions else "products and no convolutions"
        advice = (
            f"its convolutions count as products with {option}"
            if left_out
            else "leave out --split-matmul"
        )
        raise QueryError(f"{file}: has no matrix {nothing} to split; {advice}")
    tilings = [
        Tiling() if layer is None or layer.product is None else tiling_of(layer.product, tile.sizes)
        for layer in layers
    ]
    columns: dict[str, OptionalValues] = {
        name: floats(getattr(tiling, name) for tiling in tilings) for name in Tiling._fields
    }
    if not left_out:
        return columns, ()
    finding = Finding.of(
        "convolutions-without-tiles", Kind.CONTEXT, convolutions=left_out, option=option
    )
    return columns, (finding,)

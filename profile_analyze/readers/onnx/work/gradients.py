"""Counts the gradients that training needs: of weights, and of tensors that depend on weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.onnx.tables import ModelTables, PlacedNode


_SUMS_OF_PRODUCTS: Final = frozenset(
    (
        *("Conv", "ConvTranspose", "DeformConv", "FusedConv", "NhwcConv", "NhwcFusedConv"),
        *("MatMul", "FusedMatMul", "FusedMatMulActivation", "TransposeMatMul"),
        *("Gemm", "FusedGemm", "GemmFastGelu", "GemmFloat8"),
    )
)
"""The types of operator that multiply their first two inputs, the factors. Other inputs, such as a
bias or a mask, are not factors."""


class NeededGradients(NamedTuple):
    """How many gradients training computes for a row.

    Each gradient costs as many multiply-adds as the operator itself. If the type of the operator
    has no factors, all inputs together count as one factor.
    """

    of_inputs: int
    """The number of factors that depend on a weight, but are not constant."""
    of_weights: int
    """The number of factors that are floating-point weights, or are computed from such weights."""


def needed_gradients(tables: ModelTables) -> Iterator[NeededGradients]:
    """Yield, for each row, how many gradients it needs."""
    depends: set[int] = set()
    """The tensors that depend on a weight."""
    for row, (placed, weights) in enumerate(zip(tables.rows, tables.weights(), strict=True)):
        inputs = {index for index in (*placed.inputs, *placed.captured) if index is not None}
        of_input = not inputs.isdisjoint(depends)
        of_weight = any(map(tables.is_floating, (*weights.counted, *weights.reused)))
        factors = _factors(placed)
        if factors is None:
            yield NeededGradients(int(of_input), int(of_weight))
        else:
            yield NeededGradients(
                sum(index in depends for index in factors),
                sum(any(map(tables.is_floating, tables.weights_behind(n))) for n in factors),
            )
        if of_input:  # then the inputs of its bodies may depend on a weight, too
            depends |= set(tables.body_inputs.get(row, ()))
        if of_input or of_weight or tables.bodies_have_weights(row):
            depends |= {
                index for index in placed.outputs if index is not None and tables.is_floating(index)
            }


def _factors(placed: PlacedNode) -> tuple[int | None, ...] | None:
    """Return the factors of a row; None if the type of its operator has no factors."""
    if placed.node.type == "Einsum":
        return placed.inputs
    return placed.inputs[:2] if placed.node.type in _SUMS_OF_PRODUCTS else None

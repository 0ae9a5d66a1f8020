"""Which gradients are needed to train a model: those on the way from the result to a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.onnx.tables import ModelTables


class NeededGradients(NamedTuple):
    """The gradients that a row has to compute."""

    of_input: bool
    """Whether an input that is not constant depends on a weight."""
    of_weight: bool
    """Whether the row uses a weight of floating-point numbers."""


def needed_gradients(tables: ModelTables) -> Iterator[NeededGradients]:
    """Yield the gradients that each row needs."""
    depends: set[int] = set()
    """The tensors that depend on a weight."""
    for row, (placed, weights) in enumerate(zip(tables.rows, tables.weights(), strict=True)):
        inputs = {index for index in (*placed.inputs, *placed.captured) if index is not None}
        of_input = not inputs.isdisjoint(depends)
        of_weight = any(map(tables.is_floating, (*weights.counted, *weights.reused)))
        if of_input:  # what the bodies read may depend on a weight, too
            depends |= set(tables.body_inputs.get(row, ()))
        if of_input or of_weight or tables.bodies_have_weights(row):
            depends |= {
                index for index in placed.outputs if index is not None and tables.is_floating(index)
            }
        yield NeededGradients(of_input, of_weight)

"""Kinds of operator that compute nothing, and kinds whose work does not follow from shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model import terms
from profile_analyze.work.kind import (
    Kind,
    every_tensor,
    given,
    nothing,
    tensor_at,
    unknown,
)
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from profile_analyze.work.kind import Formula
    from profile_analyze.work.operation import Operation


def _outputs(operation: Operation) -> float:
    return sum(tensor.bytes for tensor in given(operation.outputs))


def _part_of_input(operation: Operation) -> float:
    """Return the bytes that are read and written if the outputs are elements of the first input.

    Each output element is read once from the first input. All other inputs are read completely.
    """
    data = tensor_at(operation.inputs, 0)
    dtype = None if data is None else data.dtype
    outputs = given(operation.outputs)
    read = sum(Tensor(tensor.shape, dtype).bytes for tensor in outputs)
    return read + _outputs(operation) + sum(one.bytes for one in given(operation.inputs[1:]))


def _moving(name: str, memory: Formula, meaning: str, category: str = terms.DATA_MOVEMENT) -> Kind:
    return Kind(name, category, nothing, nothing, memory, "data, ...", meaning, "our convention")


_READS_A_PART: Final = "bytes: outputs, the elements of the data that are read, and indices"

KINDS: Final = (
    _moving("embedding", _part_of_input, _READS_A_PART, terms.EMBEDDING),
    _moving("gather", _part_of_input, _READS_A_PART),
    _moving("slice", _part_of_input, f"{_READS_A_PART}; also split"),
    _moving("concat", every_tensor, "bytes: inputs and output"),
    _moving("copy", every_tensor, "bytes: inputs and output; also pad, tile, scatter"),
    _moving("cast", every_tensor, "bytes: input and output; no FLO", terms.ELEMENTWISE),
    _moving("layout change", every_tensor, "bytes: input and output; transpose, depth to space"),
    _moving("fill", _outputs, "bytes: output"),
    _moving("view", nothing, "no bytes: reshape, squeeze, identity"),
    _moving("control", nothing, "no bytes: shapes, constants, If, Loop, Scan", terms.CONTROL),
    Kind(
        "data-dependent",
        terms.OTHER,
        nothing,
        unknown,
        every_tensor,
        "data, ...",
        "sorting, search, texts: no MACs; computation is N/A, because it depends on the values",
        "our convention",
    ),
    Kind(
        "other",
        terms.OTHER,
        unknown,
        unknown,
        every_tensor,
        "data, ...",
        "computation is N/A: there is no formula, or the shapes do not suffice for it",
        "our convention",
    ),
)

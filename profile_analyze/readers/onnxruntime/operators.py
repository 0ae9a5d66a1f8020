"""The table of operators, with a row for each kernel and node.

A node has several rows if it ran with several shapes or sizes, or inside several other nodes.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators
from profile_analyze.model.padded_channels import CHANNEL_BLOCKS
from profile_analyze.model.terms import DERIVED, KERNEL, MEASURED, OPERATOR, OTHER
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.onnxruntime.events import node_name
from profile_analyze.readers.onnxruntime.tensors import tensor, tensors_of
from profile_analyze.readers.onnxruntime.work import NodeWork, work_of_node
from profile_analyze.work.tensor import LARGEST_SIZE, compute_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.readers.onnxruntime.events import NodeFacts

    Tensors = tuple[tuple[str, tuple[int, ...]], ...]


_BLOCKED: Final = "_nchwc"
"""The end of the name of a node whose images have their channels in blocks."""
_BLOCKS: Final = (8, 16)
"""The size of a block depends on the CPU: 8 with AVX2, and 16 with AVX-512."""


class Operator(NamedTuple):
    """A row of the table."""

    name: str
    type: str | None
    scope: tuple[str, ...] = ()
    level: str = OPERATOR
    inputs: Tensors | None = None
    outputs: Tensors | None = None
    input_bytes: float = nan
    constant_bytes: float = nan
    output_bytes: float = nan
    cost: NodeWork = NodeWork(OTHER)

    @property
    def is_blocked(self) -> bool:
        """Whether the channels of the images are in blocks (NCHWc)."""
        return self.name.endswith(_BLOCKED)

    @property
    def memory(self) -> float:
        """The bytes that one call moves.

        These are the measured sizes of all tensors, plus the weights that the file lacks. If a size
        is not measured, the bytes are derived from the shapes.
        """
        if self.cost.moves_nothing:
            return 0.0
        measured = self.input_bytes + self.constant_bytes + self.output_bytes
        whole = measured + self.cost.packed_bytes
        return self.cost.work.memory if isnan(whole) else whole

    @property
    def memory_is_measured(self) -> bool:
        """Whether the file says how many bytes one call moves."""
        measured = self.input_bytes + self.constant_bytes + self.output_bytes
        return not (isnan(measured) or self.cost.moves_nothing or self.cost.packed_bytes)


def node(facts: NodeFacts, scope: tuple[str, ...]) -> Operator:
    """Return the row of a node. `scope` names the nodes that it ran inside, outermost first."""
    inputs, outputs = tensors_of(facts.inputs), tensors_of(facts.outputs)
    shapes = (
        None if found is None else [tensor(*one) for one in found] for found in (inputs, outputs)
    )
    input_bytes, constant_bytes, output_bytes = map(_bytes, facts.sizes)
    type_ = facts.type or None
    return Operator(
        node_name(facts.name) or type_ or "unnamed",
        type_,
        scope,
        OPERATOR,
        inputs,
        outputs,
        input_bytes,
        constant_bytes,
        output_bytes,
        work_of_node(type_, *shapes),
    )


def _bytes(text: str | None) -> float:
    """Return the size in `text`; NaN if the file lacks the size, or the size is impossible."""
    if text is None or not text.isdecimal() or len(text) > len(str(LARGEST_SIZE)):
        return nan
    return float(text)


def operators_of(rows: Sequence[Operator]) -> Operators:
    """Return the table of operators."""
    is_measured = np.array([row.memory_is_measured for row in rows], np.bool_)
    return Operators.of(
        key=Categorical.of(distinct_keys("/".join((*row.scope, row.name)) for row in rows)),
        name=Categorical.of([row.name for row in rows]),
        type=Categorical.of([row.type for row in rows]),
        category=Categorical.of(
            [None if row.level == KERNEL else row.cost.category for row in rows]
        ),
        level=Categorical.of([row.level for row in rows]),
        scope=Categorical.of([row.scope or None for row in rows]),
        computation=floats(row.cost.work.computation for row in rows),
        memory=floats(row.memory for row in rows),
        source=DERIVED,
        memory_source=Categorical(is_measured.astype(np.int64), (DERIVED, MEASURED)),
        optional={
            "in_shapes": Categorical.of([_shapes(row.inputs) for row in rows]),
            "out_shapes": Categorical.of([_shapes(row.outputs) for row in rows]),
            "input_dtypes": Categorical.of([_dtypes(row.inputs) for row in rows]),
            "compute_dtype": Categorical.of([_compute_dtype(row) for row in rows]),
            CHANNEL_BLOCKS: Categorical.of([_BLOCKS if row.is_blocked else None for row in rows]),
            "macs": floats(row.cost.work.macs for row in rows),
            "input_bytes": floats(row.input_bytes for row in rows),
            "output_bytes": floats(row.output_bytes for row in rows),
            "derived_computation": floats(row.cost.work.computation for row in rows),
            "derived_memory": floats(row.cost.work.memory for row in rows),
        },
    )


def _shapes(tensors: Tensors | None) -> tuple[tuple[int, ...], ...] | None:
    return None if tensors is None else tuple(shape for _, shape in tensors)


def _dtypes(tensors: Tensors | None) -> tuple[str, ...] | None:
    return None if tensors is None else tuple(dtype for dtype, _ in tensors)


def _compute_dtype(row: Operator) -> str | None:
    return compute_dtype(
        *([tensor(*one).dtype for one in tensors or ()] for tensors in (row.inputs, row.outputs))
    )

"""The table of operators, with a row for each kernel and node.

A node has several rows if it ran with several shapes or sizes, or inside several other nodes.
"""

from __future__ import annotations

import re
from math import isnan, nan
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.graph.generated_names import without_counter
from profile_analyze.model.graph.padded_channels import CHANNEL_BLOCKS
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators, graphs_column
from profile_analyze.model.terms import DERIVED, KERNEL, MEASURED, OPERATOR, OTHER
from profile_analyze.readers.computed_once import computed_once
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.onnxruntime.events import device_of, node_name
from profile_analyze.readers.onnxruntime.tensors import tensor, tensors_of
from profile_analyze.readers.onnxruntime.work import NodeWork, is_known_type, work_of_node
from profile_analyze.work.tensor import LARGEST_SIZE, compute_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.model.operators import Dtypes, Shapes
    from profile_analyze.readers.onnxruntime.events import NodeFacts
    from profile_analyze.work.tensor import Tensor

_BLOCKED: Final = "_nchwc"
"""The end of the name of a node whose images have their channels in blocks."""
_COMPILED: Final = re.compile(r"\w+ExecutionProvider_(?P<type>.+)_[0-9]+|DmlFusedNode_[0-9_]+")
"""The name of a node that a provider compiled."""
_BLOCKS: Final = (8, 16)
"""The size of a block depends on the CPU: 8 with AVX2, and 16 with AVX-512."""


class Call(NamedTuple):
    """What one call of a node reads, writes, moves and computes. Sizes are in bytes."""

    in_shapes: Shapes | None = None
    """The shapes of the inputs; None if the file lacks them."""
    out_shapes: Shapes | None = None
    input_dtypes: Dtypes | None = None
    """The dtypes of the inputs, as the file names them."""
    compute_dtype: str | None = None
    input_bytes: float = nan
    constant_bytes: float = nan
    output_bytes: float = nan
    cost: NodeWork = NodeWork(OTHER)

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


class Operator(NamedTuple):
    """A row of the table."""

    name: str
    type: str | None
    scope: tuple[str, ...] = ()
    level: str = OPERATOR
    call: Call = Call()
    node: str = ""
    """The name of the node in the file; empty for a kernel, or if the node has no name."""
    graph_of: str | None = None
    """The provider, such as `OpenVINO`, that runs a graph as this node; None for other nodes. The
    file has only the inputs and outputs of the graph, so its memory is unknown."""

    @property
    def is_blocked(self) -> bool:
        """Whether the channels of the images are in blocks (NCHWc)."""
        return self.name.endswith(_BLOCKED)


def operator_of(facts: NodeFacts, scope: tuple[str, ...]) -> Operator:
    """Return the row of a node. `scope` names the nodes that it ran inside, outermost first."""
    type_ = facts.type or None
    call = _call(type_, facts.inputs, facts.outputs, *facts.sizes)
    node = node_name(facts.name)
    name = without_counter(node, type_) or type_ or "unnamed"
    graph_of = device_of(facts.provider) if _is_graph(node, type_, facts.provider) else None
    return Operator(name, type_, scope, call=call, node=node, graph_of=graph_of)


def _is_graph(node: str, type_: str | None, provider: str | None) -> bool:
    """Return whether a provider compiled a part of the model to this node.

    ONNX Runtime names such a node after its provider and type, and adds a number:
    `OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0`. DirectML uses the type alone, such as
    `DmlFusedNode_0_0`. A node of ONNX's own types is a single operator.
    """
    found = _COMPILED.fullmatch(node)
    if found is None or not provider:
        return False
    in_name = found["type"] or node
    return type_ in (None, in_name) and not is_known_type(in_name)


@computed_once
def _call(type_: str | None, inputs: bytes, outputs: bytes, *sizes: str | None) -> Call:
    """Return the call of a node. All arguments but `type_` are fields of `NodeFacts`."""
    read, written = tensors_of(inputs), tensors_of(outputs)
    read_tensors, written_tensors = _tensors(read), _tensors(written)
    input_bytes, constant_bytes, output_bytes = map(_bytes, sizes)
    return Call(
        _shapes(read),
        _shapes(written),
        None if read is None else tuple(dtype for dtype, _ in read),
        compute_dtype(
            [one.dtype for one in read_tensors or ()], [one.dtype for one in written_tensors or ()]
        ),
        input_bytes,
        constant_bytes,
        output_bytes,
        work_of_node(type_, read_tensors, written_tensors),
    )


def _tensors(found: Sequence[tuple[str, tuple[int, ...]]] | None) -> list[Tensor] | None:
    return None if found is None else [tensor(dtype, shape) for dtype, shape in found]


def _shapes(tensors: Sequence[tuple[str, tuple[int, ...]]] | None) -> Shapes | None:
    return None if tensors is None else tuple(shape for _, shape in tensors)


def _bytes(text: str | None) -> float:
    """Return the size in `text`; NaN if the file lacks the size, or the size is impossible."""
    if text is None or not text.isdecimal() or len(text) > len(str(LARGEST_SIZE)):
        return nan
    return float(text)


def operators_of(rows: Sequence[Operator]) -> Operators:
    """Return the table of operators."""
    calls = [row.call for row in rows]
    works = [call.cost.work for call in calls]
    is_measured = np.array([call.memory_is_measured for call in calls], np.bool_)
    computation = floats(work.computation for work in works)
    return Operators.of(
        key=Categorical.of(distinct_keys("/".join((*row.scope, row.name)) for row in rows)),
        name=Categorical.of([row.name for row in rows]),
        type=Categorical.of([row.type for row in rows]),
        category=Categorical.of(
            [None if row.level == KERNEL else row.call.cost.category for row in rows]
        ),
        level=Categorical.of([row.level for row in rows]),
        scope=Categorical.of([row.scope or None for row in rows]),
        computation=computation,
        memory=floats(row.call.memory if row.graph_of is None else nan for row in rows),
        source=DERIVED,
        memory_source=Categorical(is_measured.astype(np.int64), (DERIVED, MEASURED)),
        optional={
            "in_shapes": Categorical.of([call.in_shapes for call in calls]),
            "out_shapes": Categorical.of([call.out_shapes for call in calls]),
            "input_dtypes": Categorical.of([call.input_dtypes for call in calls]),
            "compute_dtype": Categorical.of([call.compute_dtype for call in calls]),
            CHANNEL_BLOCKS: Categorical.of([_BLOCKS if row.is_blocked else None for row in rows]),
            "macs": floats(work.macs for work in works),
            "input_bytes": floats(call.input_bytes for call in calls),
            "output_bytes": floats(call.output_bytes for call in calls),
            "derived_computation": computation,
            "derived_memory": floats(work.memory for work in works),
            **graphs_column(row.graph_of is not None for row in rows),
        },
    )

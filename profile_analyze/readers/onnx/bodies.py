"""Infers the types inside the bodies of nodes such as If, and the types of the nodes' outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.readers.onnx.types import (
    Scope,
    attributes_of,
    bodies_of,
    container_type,
    declare,
    elements_of,
    have_elements,
    merged,
    sizes_of,
    tensor_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias, TypeGuard

    from onnx import GraphProto, NodeProto, TypeProto

    from profile_analyze.readers.onnx.folding import Array
    from profile_analyze.readers.onnx.types import Sizes

    InferGraph: TypeAlias = Callable[[GraphProto, Scope], None]
    Types: TypeAlias = "list[TypeProto | None]"

_MOST_SIMULATED: Final = 64
"""If shapes change between the iterations of a loop, the iterations are inferred one by one, up to
this number of iterations. In longer loops, the sizes that change are unknown."""
_MOST_ROUNDS: Final = 4
"""If the inputs and outputs of a loop's body have different shapes, the body is inferred again. If
they still differ after this number of times, the shapes of all carried values are unknown."""
_DEEPEST: Final = 2
"""If a loop is inside more bodies than this, its outputs are not inferred, because each enclosing
loop multiplies the time. Iterations are inferred one by one only for loops in the main graph."""
_SCAN_WITH_BATCH: Final = 8
"""Up to this operator set version, Scan has a batch axis, and its outputs are not inferred."""
_INT64, _BOOL = 7, 9


def infer_body_node(node: NodeProto, scope: Scope, infer_graph: InferGraph) -> Types:
    """Infer the bodies of a node. Return the types of the node's outputs, as far as they are known.

    `infer_graph` gets a body, and a scope with the types of the body's inputs. It infers the types
    of all values in the body.
    """
    bodies = list(bodies_of(node))
    try:
        types = _inferred(node, bodies, scope, infer_graph)
    # In a damaged model, a node or body may have too few inputs, outputs or attributes.
    except (IndexError, KeyError, ValueError, TypeError):
        types = None
    if types is None:
        for _, body in bodies:
            infer_graph(body, _scope_of(body, scope))
    return types or []


def _inferred(
    node: NodeProto, bodies: list[tuple[str, GraphProto]], scope: Scope, infer_graph: InferGraph
) -> Types | None:
    """Return the types of the outputs of If, Loop or Scan.

    Return None for nodes of other types, or with unexpected bodies.
    """
    if not node.domain:
        names = sorted(name for name, _ in bodies)
        if node.op_type == "If" and names == ["else_branch", "then_branch"]:
            return _infer_if(node, dict(bodies), scope, infer_graph)
        if node.op_type == "Loop" and names == ["body"]:
            return _Loop(node, bodies[0][1], scope, infer_graph).infer()
        if node.op_type == "Scan" and names == ["body"]:
            return _infer_scan(node, bodies[0][1], scope, infer_graph)
    return None


def _scope_of(
    body: GraphProto,
    outer: Scope,
    types: Sequence[TypeProto | None] = (),
    arrays: Sequence[Array | None] = (),
) -> Scope:
    """Return the scope of a body whose inputs have these types and contents."""
    scope = Scope(outer.opsets, outer)
    declare(body, scope)
    for position, value in enumerate(body.input):
        scope.set_array(value.name, arrays[position] if position < len(arrays) else None)
        type_ = merged(types[position] if position < len(types) else None, value.type)
        if type_ is not None:
            scope.types[value.name] = type_
    return scope


def _types_of_outputs(body: GraphProto, scope: Scope) -> Types:
    return [scope.types.get(value.name) for value in body.output]


def _common(first: TypeProto | None, second: TypeProto | None) -> TypeProto | None:
    """Return the more general type of two: sizes that differ become unknown."""
    if first is None or second is None:
        return None
    if have_elements(first, second):
        return container_type(first, _common(elements_of(first), elements_of(second)))
    if not (first.HasField("tensor_type") and second.HasField("tensor_type")):
        return first if first == second else None
    mine, others = sizes_of(first), sizes_of(second)
    elem_type = first.tensor_type.elem_type
    if mine is None or others is None or len(mine) != len(others):
        return tensor_type(elem_type, None)
    return tensor_type(
        elem_type, [a if a == b else None for a, b in zip(mine, others, strict=True)]
    )


def _without_shape(type_: TypeProto | None) -> TypeProto | None:
    if type_ is None or not type_.HasField("tensor_type"):
        return None
    return tensor_type(type_.tensor_type.elem_type, None)


def _sizes_inside(type_: TypeProto | None) -> Sizes | None:
    """Return the shape of a tensor, or of the tensors in a sequence; None if it is unknown."""
    while (element := elements_of(type_)) is not None:
        type_ = element
    return sizes_of(type_)


def _flag(scope: Scope, name: str) -> bool | None:
    """Return the value of a condition; None if it is unknown."""
    array = scope.array(name) if name else None
    return bool(array.ravel()[0]) if array is not None and array.size == 1 else None


def _infer_if(
    node: NodeProto, bodies: dict[str, GraphProto], scope: Scope, infer_graph: InferGraph
) -> Types:
    condition = _flag(scope, node.input[0])
    branches = []
    for name, taken in (("then_branch", True), ("else_branch", False)):
        inner = _scope_of(bodies[name], scope)
        inner.trip_count = None if condition is None else int(condition is taken)
        infer_graph(bodies[name], inner)
        branches.append(_types_of_outputs(bodies[name], inner))
    if condition is not None:
        return branches[0 if condition else 1]
    return [_common(*types) for types in zip(*branches, strict=False)]


class _Loop:
    """A node of type Loop."""

    def __init__(
        self, node: NodeProto, body: GraphProto, scope: Scope, infer_graph: InferGraph
    ) -> None:
        self._body = body
        self._outer = scope
        self._infer_graph = infer_graph
        self._initial = [scope.types.get(name) for name in node.input[2:]]
        self._arrays = [scope.array(name) for name in node.input[2:]]
        self._limit = _number(scope, node.input[0])
        self._is_limit_known = self._limit is not None or not node.input[0]
        """Whether the iteration limit is known or absent. An unknown limit can be 0, so even the
        first iteration is not certain."""
        self._starts = (
            _flag(scope, node.input[1]) if len(node.input) > 1 and node.input[1] else True
        )

    def infer(self) -> Types:
        """Return the types of the outputs: first the carried values, then the stacked values."""
        count = len(self._initial)
        if self._outer.depth > _DEEPEST:
            self._executed([None] * count)
            return []
        carried, inner = self._carried_in_all_iterations()
        trips = inner.trip_count = self._trip_count(inner)
        if trips == 0:
            carried = self._initial
        elif self._can_be_simulated(trips) and carried != self._initial:
            carried = self._simulated(trips)
            # The last iteration has replaced the types in the body. Restore the types that hold in
            # all iterations.
            self._infer_graph(self._body, inner)
        stacked = [_stacked(type_, trips) for type_ in _types_of_outputs(self._body, inner)]
        return [*carried, *stacked[count + 1 :]]

    def _carried_in_all_iterations(self) -> tuple[Types, Scope]:
        """Return the types of the carried values that hold before and after each iteration.

        Also return the scope of the body with these types.
        """
        carried = self._initial
        for _ in range(_MOST_ROUNDS):
            inner = self._executed(carried)
            after = _types_of_outputs(self._body, inner)[1 : len(carried) + 1]
            common = [_common(*pair) for pair in zip(carried, after, strict=False)]
            if list(map(_sizes_inside, common)) == list(map(_sizes_inside, carried)):
                return carried, inner
            carried = common
        # In further rounds, shapes of further values could change, so all shapes become unknown.
        carried = [_without_shape(type_) for type_ in carried]
        return carried, self._executed(carried)

    def _can_be_simulated(self, trips: int | None) -> TypeGuard[int]:
        return trips is not None and trips <= _MOST_SIMULATED and not self._outer.depth

    def _executed(
        self,
        carried: Types,
        arrays: Sequence[Array | None] = (),
        iteration: int | None = None,
    ) -> Scope:
        """Infer one execution of the body. Return the scope of the body."""
        number = None if iteration is None else np.array(iteration, np.int64)
        types = [tensor_type(_INT64, ()), tensor_type(_BOOL, ()), *carried]
        inner = _scope_of(self._body, self._outer, types, [number, None, *arrays])
        self._infer_graph(self._body, inner)
        return inner

    def _simulated(self, trips: int) -> Types:
        """Return the types of the carried values after `trips` iterations."""
        carried, arrays = self._initial, self._arrays
        names = [value.name for value in self._body.output[1 : len(carried) + 1]]
        for iteration in range(trips):
            inner = self._executed(carried, arrays, iteration)
            carried = [inner.types.get(name) for name in names]
            arrays = [inner.array(name) for name in names]
        return carried

    def _trip_count(self, inner: Scope) -> int | None:
        if self._starts is False or self._limit == 0:
            return 0
        if not self._starts:
            return None
        goes_on = _flag(inner, self._body.output[0].name)
        if goes_on is False:
            return 1 if self._is_limit_known else None
        return self._limit if goes_on or self._passes_condition_on() else None

    def _passes_condition_on(self) -> bool:
        """Return whether the body returns its condition unchanged, and so never ends the loop."""
        name, given = self._body.output[0].name, self._body.input[1].name
        copies = {node.output[0]: node.input[0] for node in self._body.node if _copies(node)}
        while name in copies:
            name = copies.pop(name)
        return bool(name == given)


def _copies(node: NodeProto) -> bool:
    return node.op_type == "Identity" and bool(node.input) and bool(node.output)


def _number(scope: Scope, name: str) -> int | None:
    array = scope.array(name) if name else None
    return max(int(array.ravel()[0]), 0) if array is not None and array.size == 1 else None


def _stacked(type_: TypeProto | None, trips: int | None, axis: int = 0) -> TypeProto | None:
    """Return the type of an output that stacks the values of all iterations along a new axis."""
    if type_ is None:
        return None
    sizes = sizes_of(type_)
    if sizes is None:
        return tensor_type(type_.tensor_type.elem_type, None)
    axis += len(sizes) + 1 if axis < 0 else 0
    return tensor_type(type_.tensor_type.elem_type, (*sizes[:axis], trips, *sizes[axis:]))


def _infer_scan(
    node: NodeProto, body: GraphProto, scope: Scope, infer_graph: InferGraph
) -> Types | None:
    if scope.opsets.get("", 1) <= _SCAN_WITH_BATCH:
        return None
    attributes = attributes_of(node)
    count = attributes["num_scan_inputs"]
    if count > len(node.input):
        raise ValueError
    states = len(node.input) - count
    input_axes = attributes.get("scan_input_axes", (0,) * count)
    output_axes = attributes.get("scan_output_axes", (0,) * (len(node.output) - states))
    trips: int | None = None
    types = [scope.types.get(name) for name in node.input[:states]]
    for name, axis in zip(node.input[states:], input_axes, strict=True):
        sizes = list(scope.sizes(name) or ())
        if not sizes:
            types.append(None)
            continue
        size = sizes.pop(axis)
        trips = size if isinstance(size, int) else trips
        types.append(tensor_type(scope.dtype(name), sizes))
    inner = _scope_of(body, scope, types)
    inner.trip_count = trips
    infer_graph(body, inner)
    outputs = _types_of_outputs(body, inner)
    stacked = zip(outputs[states:], output_axes, strict=True)
    return [*types[:states], *(_stacked(type_, trips, axis) for type_, axis in stacked)]

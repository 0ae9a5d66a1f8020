"""Computes facts about a whole model: its inputs, outputs, bodies, and the work of one run."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING

from profile_analyze.model.static import BodyWork, Port, StaticModel, Stored
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from profile_analyze.readers.onnx.graph import Graph, Node, Value
    from profile_analyze.readers.onnx.tables import PlacedNode

_Scope = tuple[str, ...]


def static_model(graph: Graph, rows: Sequence[PlacedNode], macs: Sequence[float]) -> StaticModel:
    """Return the facts about a model. `macs` has the multiply-adds of each row."""
    by_scope: dict[_Scope, float] = {}
    times = dict(_times_of_constants(graph, (), 1.0))
    of_constants = 0.0
    for placed, row_macs in zip(rows, macs, strict=True):
        if placed.node.is_constant:
            # Without multiply-adds or executions, there is nothing to add, even if the other number
            # is unknown.
            factors = (row_macs, times[placed.scope])
            of_constants += 0.0 if 0 in factors else prod(factors)
        else:
            by_scope[placed.scope] = by_scope.get(placed.scope, 0.0) + row_macs
    bodies = list(_bodies(graph, (), by_scope))
    return StaticModel(
        inputs=tuple(_port(graph.values[name]) for name in graph.inputs),
        outputs=tuple(_port(graph.values[name]) for name in graph.outputs),
        initializers=_stored(graph),
        bodies=tuple(body for _, body in bodies),
        never_run=tuple(scope for scope, body in bodies if body.executions == 0),
        macs_executed=_executed(graph, (), by_scope),
        constant_operators=sum(placed.node.is_constant for placed in rows),
        macs_of_constant_operators=of_constants,
    )


def _times_of_constants(
    graph: Graph, scope: _Scope, times: float
) -> Iterator[tuple[_Scope, float]]:
    """Yield each scope, and how often its constant nodes are computed; NaN if that is unknown.

    If a constant node has a body, the nodes in the body are computed each time that the body is
    executed. In other bodies, constant nodes are computed once, before the run.
    """
    yield scope, times
    for node in graph.nodes:
        for body in node.bodies:
            trips = body.trip_count if node.is_constant else 1
            inside = (*scope, node.name, body.attribute)
            of_body = times * (nan if trips is None else trips)
            yield from _times_of_constants(body.graph, inside, of_body)


def _port(value: Value) -> Port:
    if value.dims is None:
        return Port(value.name, None, value.dtype)
    symbols = value.symbols or (None,) * len(value.dims)
    sizes = tuple(
        symbol if size is None else size for size, symbol in zip(value.dims, symbols, strict=True)
    )
    return Port(value.name, sizes, value.dtype)


def _stored(graph: Graph) -> Stored:
    own = [Tensor(graph.values[name].dims, graph.values[name].dtype) for name in graph.initializers]
    parts = [
        Stored(len(own), sum(one.elements for one in own), sum(one.bytes for one in own)),
        *(_stored(body.graph) for node in graph.nodes for body in node.bodies),
    ]
    return Stored(*map(sum, zip(*parts, strict=True)))


def _bodies(
    graph: Graph, scope: _Scope, by_scope: Mapping[_Scope, float], executions: int | None = 1
) -> Iterator[tuple[_Scope, BodyWork]]:
    """Yield each body with its scope. A run executes `graph` as often as `executions` says."""
    for node in graph.nodes:
        for body in node.bodies:
            inside = (*scope, node.name, body.attribute)
            of_body = _product(executions, body.trip_count)
            work = BodyWork(
                "/".join((*scope, node.name)),
                body.attribute,
                len(body.graph.nodes),
                by_scope.get(inside, 0.0),
                body.trip_count,
                of_body,
            )
            yield inside, work
            yield from _bodies(body.graph, inside, by_scope, of_body)


def _product(executions: int | None, trips: int | None) -> int | None:
    if 0 in (executions, trips):
        return 0
    return None if executions is None or trips is None else executions * trips


def _executed(graph: Graph, scope: _Scope, by_scope: Mapping[_Scope, float]) -> float:
    """Return the multiply-adds of one execution of a graph, including its bodies."""
    return by_scope.get(scope, 0.0) + sum(
        _executed_in_bodies(node, scope, by_scope) for node in graph.nodes if node.bodies
    )


def _executed_in_bodies(node: Node, scope: _Scope, by_scope: Mapping[_Scope, float]) -> float:
    """Return the multiply-adds that one call of a node executes in its bodies; NaN if unknown."""
    of_bodies = [
        _executed(body.graph, (*scope, node.name, body.attribute), by_scope) for body in node.bodies
    ]
    trips = [body.trip_count for body in node.bodies]
    if node.type == "If" and None in trips:
        # An input decides which branch runs. The result is known if both branches cost the same.
        return of_bodies[0] if len(set(of_bodies)) == 1 else nan
    return sum(
        0.0 if 0 in (macs, trip) else nan if trip is None else macs * trip
        for macs, trip in zip(of_bodies, trips, strict=True)
    )

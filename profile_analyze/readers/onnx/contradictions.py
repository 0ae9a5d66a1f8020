"""Finds operators that cannot run, because the shapes of their inputs do not fit each other.

The shape inference of `onnx` finds only some of these operators. For example, it accepts an image
with one channel for a convolution whose weight has three channels.
"""

from __future__ import annotations

from collections import ChainMap
from math import prod
from typing import TYPE_CHECKING, Final

from profile_analyze.readers.onnx.types import Scope, attributes_of, bodies_of, tensor_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, MutableMapping

    from onnx import GraphProto, NodeProto

    from profile_analyze.readers.onnx.types import Sizes


def record_contradictions(
    graph: GraphProto,
    scope: Scope,
    scope_of: Callable[[GraphProto], Scope],
    outer: MutableMapping[str, None] | None = None,
) -> Collection[str]:
    """Record in `Scope.contradictions` why nodes of a graph and its bodies cannot run.

    All values that depend on such a node become unknown, because the nodes that compute these
    values do not run either. Return the names of the unknown values. `outer` has the names of
    unknown values in the graphs around this graph.
    """
    unknown: MutableMapping[str, None] = {} if outer is None else ChainMap({}, outer)
    for position, node in enumerate(graph.node):
        if any(name in unknown for name in _read(node)):
            _forget(node, scope, scope_of)
        elif reason := _contradiction(node, scope):
            scope.contradictions[position] = reason
            _forget(node, scope, scope_of)
        elif _record_in_bodies(node, scope_of, unknown):
            _forget_outputs(node, scope)
        else:
            continue
        unknown.update(dict.fromkeys(filter(None, node.output)))
    return unknown


def _record_in_bodies(
    node: NodeProto, scope_of: Callable[[GraphProto], Scope], outer: MutableMapping[str, None]
) -> bool:
    """Record the contradictions in the bodies of a node.

    Return whether they make an output of a body unknown. Bodies that are never executed are
    skipped, because they can be branches for other sizes.
    """
    found = False
    for _, body in bodies_of(node):
        inner = scope_of(body)
        if inner.trip_count != 0:
            unknown = record_contradictions(body, inner, scope_of, outer)
            found = found or any(output.name in unknown for output in body.output)
    return found


def _read(node: NodeProto) -> set[str]:
    """Return the names of the values that a node and its bodies read."""
    names = set(node.input)
    for _, body in bodies_of(node):
        names.update(*map(_read, body.node), (output.name for output in body.output))
    return names


def _forget_outputs(node: NodeProto, scope: Scope) -> None:
    for name in filter(None, node.output):
        scope.types[name] = tensor_type(scope.dtype(name), None)
        scope.set_array(name, None)


def _forget(node: NodeProto, scope: Scope, scope_of: Callable[[GraphProto], Scope]) -> None:
    """Mark as unknown all values that a node and the nodes in its bodies write."""
    _forget_outputs(node, scope)
    for _, body in bodies_of(node):
        for inner in body.node:
            _forget(inner, scope_of(body), scope_of)


def _contradiction(node: NodeProto, scope: Scope) -> str | None:
    """Return why a node cannot run; None if it can run, or if sizes are unknown."""
    check = _CHECKS.get(node.op_type)
    if check is None or node.domain not in ("", "ai.onnx"):
        return None
    try:
        return check(node, scope)
    # In a damaged model, a node may have too few inputs, dimensions or attributes.
    except (IndexError, TypeError):
        return None


def _known(sizes: Sizes | None) -> tuple[int, ...] | None:
    """Return the shape; None if a size is unknown."""
    known = tuple(size for size in sizes or () if isinstance(size, int))
    return None if sizes is None or len(known) < len(sizes) else known


def _differ(left: int | str | None, right: int | str | None) -> bool:
    return isinstance(left, int) and isinstance(right, int) and left != right


def _text(sizes: Sizes) -> str:
    return "{" + ",".join("?" if one is None else str(one) for one in sizes) + "}"


def _convolution(weight_at: int) -> Callable[[NodeProto, Scope], str | None]:
    def check(node: NodeProto, scope: Scope) -> str | None:
        data, weight = scope.sizes(node.input[0]), scope.sizes(node.input[weight_at])
        if data is None or weight is None:
            return None
        channels, groups = weight[1], attributes_of(node).get("group", 1)
        if not (isinstance(channels, int) and isinstance(groups, int)):
            return None
        return _wrong_channels(data, weight, channels * groups)

    return check


def _transposed_convolution(node: NodeProto, scope: Scope) -> str | None:
    data, weight = scope.sizes(node.input[0]), scope.sizes(node.input[1])
    if data is None or weight is None:
        return None
    return _wrong_channels(data, weight, weight[0])


def _wrong_channels(data: Sizes, weight: Sizes, expected: int | str | None) -> str | None:
    if not _differ(data[1], expected):
        return None
    return f"input {_text(data)}, but the weight {_text(weight)} is for {expected} channels"


def _reshape(node: NodeProto, scope: Scope) -> str | None:
    before, after = _known(scope.sizes(node.input[0])), _known(scope.sizes(node.output[0]))
    if before is None or after is None or prod(before) == prod(after):
        return None
    return f"{_text(before)} to {_text(after)}"


def _matmul(node: NodeProto, scope: Scope) -> str | None:
    left, right = scope.sizes(node.input[0]), scope.sizes(node.input[1])
    if not left or not right or not _differ(left[-1], right[-2] if len(right) > 1 else right[0]):
        return None
    return f"{_text(left)} by {_text(right)}"


def _gemm(node: NodeProto, scope: Scope) -> str | None:
    left, right = scope.sizes(node.input[0]), scope.sizes(node.input[1])
    attributes = attributes_of(node)
    if left is None or right is None:
        return None
    rows_of_right = right[1] if attributes.get("transB") else right[0]
    if not _differ(left[0] if attributes.get("transA") else left[1], rows_of_right):
        return None
    flags = "".join(f", {name}" for name in ("transA", "transB") if attributes.get(name))
    return f"{_text(left)} by {_text(right)}{flags}"


_CHECKS: Final[Mapping[str, Callable[[NodeProto, Scope], str | None]]] = {
    **dict.fromkeys(("Conv", "ConvInteger"), _convolution(1)),
    "QLinearConv": _convolution(3),
    "ConvTranspose": _transposed_convolution,
    "Reshape": _reshape,
    **dict.fromkeys(("MatMul", "MatMulInteger"), _matmul),
    "Gemm": _gemm,
}
"""The check for each type of operator. A check returns why a node cannot run, or None."""

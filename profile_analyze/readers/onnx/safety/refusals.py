"""Refuses models with which `onnx` would loop without end, or need unlimited memory."""

from __future__ import annotations

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.errors import MalformedProfileError
from profile_analyze.model.visible import escaped
from profile_analyze.readers.onnx.types import bodies_of

if TYPE_CHECKING:
    from onnx import ModelProto

_TERM: Final = r"[A-Za-z]*(?:\.{3}[A-Za-z]*)?"
_EQUATION: Final = re.compile(f"{_TERM}(?:,{_TERM})*(?:->{_TERM})?".encode())
MOST_NODES: Final = 1_000_000
"""The most nodes that the calls of local functions may stand for. Each call of a function may hold
two calls of another one, and so on, so a small file can stand for any number of nodes."""
_DEEPEST: Final = 100
"""How deeply calls of local functions may be nested."""

_Key = tuple[str, str, str]
"""The domain, the name and the overload of a function or an operator."""

_NO_CALLS: Final[Counter[_Key]] = Counter()


def check_equation(node: Any, file: str) -> None:
    """Raise `MalformedProfileError` if a node is an Einsum with an invalid equation."""
    if node.op_type != "Einsum" or node.domain not in ("", "ai.onnx"):
        return
    for attribute in node.attribute:
        # `onnx` and ONNX Runtime ignore blanks. `onnx` loops at every other invalid character.
        if attribute.name == "equation" and not _EQUATION.fullmatch(attribute.s.replace(b" ", b"")):
            equation = escaped(attribute.s.decode("utf-8", "replace"))
            reason = f"{described(node)} has an invalid equation: '{equation}'"
            raise MalformedProfileError(file, reason)


def described(node: Any) -> str:
    """Return what messages call a node."""
    type_ = escaped(node.op_type)
    article = "an" if type_[:1] in "AEIOU" else "a"
    return f"the node '{escaped(node.name)}' ({type_})" if node.name else f"{article} {type_} node"


def check_functions(proto: ModelProto, file: str) -> None:
    """Raise `MalformedProfileError` if local functions call themselves, or stand for too much."""
    calls = {_key(one, one.name): _calls_in(one) for one in proto.functions}
    sizes: dict[_Key, int] = {}
    depths: dict[_Key, int] = {}
    try:
        # Functions that others call come first.
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        raise _refused(error.args[1][0], "calls itself", file) from None
    for key in order:
        called = calls.get(key, _NO_CALLS)  # an operator calls nothing
        sizes[key] = 1 + sum(times * sizes[one] for one, times in called.items())
        depths[key] = max((1 + depths[one] for one in called), default=0)
        if sizes[key] > MOST_NODES:
            raise _refused(key, f"stands for more than {MOST_NODES:,} nodes", file)
        if depths[key] > _DEEPEST:
            raise _refused(key, f"has more than {_DEEPEST} levels of calls", file)
    total = sum(times * sizes.get(key, 1) for key, times in _calls_in(proto.graph).items())
    if total > MOST_NODES:
        reason = f"the local functions of the ONNX model stand for more than {MOST_NODES:,} nodes"
        raise MalformedProfileError(file, reason)


def _key(one: Any, name: str) -> _Key:
    domain = "" if one.domain == "ai.onnx" else one.domain
    # In old versions of `onnx`, functions have no overloads.
    return domain, name, getattr(one, "overload", "")


def _calls_in(graph: Any) -> Counter[_Key]:
    """Return how often a graph or function calls each function. An operator counts as one, too."""
    calls: Counter[_Key] = Counter()
    for node in graph.node:
        calls[_key(node, node.op_type)] += 1
        for _, body in bodies_of(node):
            calls.update(_calls_in(body))
    return calls


def _refused(key: _Key, what: str, file: str) -> MalformedProfileError:
    reason = f"the local function '{escaped(key[1])}' of the ONNX model {what}"
    return MalformedProfileError(file, reason)

"""Chooses the rows of a profile from the tables of a benchmark.

Nodes of subgraphs and delegates are nested inside the node of the main graph that ran them.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.tflite.log import DELEGATE, MAIN
from profile_analyze.readers.tflite.types import CALLS_SUBGRAPHS, INSIDE, is_delegate, kind_of
from profile_analyze.units import MS_PER_S, US_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.readers.tflite.log import Node, Section
    from profile_analyze.readers.tflite.types import Kind

_NO_PARENT: Final = -1
_LITERT_NAME: Final = "[Unknown]:"
"""The start of all names in LiteRT's tables, because LiteRT does not know the names of nodes. In
these tables, `times called` counts the calls of all runs, and `first` is the start of the first
call."""
_TOLERANCE: Final = 1.05
"""The times of inner nodes may add up to this many times the time of the node around them. Each
time is rounded to a microsecond and includes the cost of the measurement."""


class Row(NamedTuple):
    """A node, which becomes an operator with one execution."""

    name: str
    kind: Kind
    scope: tuple[str, ...]
    duration_s: float
    """The time of all calls together in a run, averaged over the runs; NaN if it is unknown."""
    calls: int
    start_s: float
    first_s: float
    parent: int
    """The index of the row that this row ran inside, or -1."""


def closed_delegates(rows: Sequence[Row]) -> list[bool]:
    """Return whether each row is a delegate whose operators inside the file does not name."""
    parents = {row.parent for row in rows}
    return [is_delegate(row.kind.type) and n not in parents for n, row in enumerate(rows)]


class Rows(NamedTuple):
    """The rows of a profile."""

    rows: list[Row]
    left_out: int
    """How many nodes have no row, because `_parent` found no node that ran them."""


def rows_of(section: Section, runs: int | None) -> Rows:
    """Return the rows of a section. `runs` is the number of runs; None if it is unknown."""
    main = section.part(MAIN)
    outer = [node for node in main.nodes if node.type != INSIDE]
    rows = [_row(node, main.mean_us, runs) for node in outer]
    left_out = 0
    for name, part in section.parts.items():
        # The part of the main graph may also have nodes that ran inside of a delegate.
        nodes = [node for node in part.nodes if name != MAIN or node.type == INSIDE]
        is_inside_delegate = name in {MAIN, DELEGATE}
        inner = [_row(node, part.mean_us, runs) for node in nodes]
        parent = _parent(outer, rows, inner, is_inside_delegate=is_inside_delegate)
        if parent == _NO_PARENT:
            left_out += len(inner)
            continue
        scope = (rows[parent].name,) if is_inside_delegate else (rows[parent].name, name)
        delegate = rows[parent].kind if is_inside_delegate else None
        for row in inner:
            kind = row.kind
            if delegate is not None:
                kind = kind._replace(device=delegate.device, device_kind=delegate.device_kind)
            rows.append(row._replace(scope=scope, parent=parent, kind=kind))
    return Rows(rows, left_out)


def _parent(
    outer: Sequence[Node], rows: Sequence[Row], inner: Sequence[Row], *, is_inside_delegate: bool
) -> int:
    """Return the index of the only node of the main graph that can have run the inner rows.

    Return -1 if there is no such node, or more than one. Also return -1 if a time is unknown, or if
    the inner rows together take longer than the node. They do so in two cases: Hexagon's delegate
    writes cycles instead of times, and subgraphs may call other subgraphs.
    """
    candidates = [
        index
        for index, node in enumerate(outer)
        if (is_delegate(node.type) if is_inside_delegate else _calls_subgraphs(node.type))
    ]
    if len(candidates) != 1:
        return _NO_PARENT
    (parent,) = candidates
    before = sum(row.duration_s for row in rows[len(outer) :] if row.parent == parent)
    inside_s = before + sum(row.duration_s for row in inner)
    return parent if inside_s <= rows[parent].duration_s * _TOLERANCE else _NO_PARENT


def _calls_subgraphs(type_: str) -> bool:
    return type_.partition("/")[0] in CALLS_SUBGRAPHS


def _row(node: Node, total_us: float, runs: int | None) -> Row:
    calls: float = node.calls
    is_litert = node.name.startswith(_LITERT_NAME)
    if is_litert:
        calls = calls / runs if runs else nan
    # If a node is called only in some runs, its number of calls is rounded down to 0. The time then
    # follows from its share, which is not rounded down.
    duration_s = node.mean_ms * calls / MS_PER_S if calls else node.share * total_us / US_PER_S
    return Row(
        _name(node.name),
        kind_of(node.type, node.name),
        (),
        duration_s if 0 <= duration_s < inf else nan,
        int(calls) if calls == calls else 0,  # noqa: PLR0124  # NaN is unknown
        node.start_ms / MS_PER_S,
        node.first_ms / MS_PER_S if node.first_ms >= 0 and not is_litert else nan,
        _NO_PARENT,
    )


def _name(name: str) -> str:
    """Return the name without the index of the node: `[a;b]:7` becomes `a;b`.

    The index differs between versions of a model. Names without brackets, and `[Unknown]:7`, are
    not changed.
    """
    tensors, colon, index = name.rpartition("]:")
    if colon and tensors.startswith("[") and index.isdecimal() and len(tensors) > 1:
        return tensors[1:] if not name.startswith(_LITERT_NAME) else name
    return name or "unnamed"

"""Matches the operators of a profile with the nodes of the model that ran.

A match needs the same kind, and shapes that do not contradict it. An operator whose type is unknown
has the kind of any node with its name. If several nodes would fit, or if several operators claim
one node, none of them is matched. But if as many nodes as operators have one name, they are matched
in order. A name that very many nodes have is matched only so.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.identity import in_order_of_execution
from profile_analyze.model.model_names import ONE_KIND, NodeNames, facts_of
from profile_analyze.model.terms import CONTROL, DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from profile_analyze.model.model_graph import Group, ModelGraph
    from profile_analyze.model.model_names import Node
    from profile_analyze.model.operators import Shape
    from profile_analyze.model.profile import Profile

    _Form: TypeAlias = tuple[str, Shape, Shape]
    """The category, and the shapes of the first input and output."""

NAME: Final = "name"
ORDER: Final = "order"

_CHANNEL_BLOCK: Final = 8


class Match(NamedTuple):
    """The nodes that one operator executes."""

    nodes: Group
    """In the order of the model."""
    main: int
    """The node that has the kind of the operator."""
    how: str
    """`NAME` or `ORDER`."""


class Matches(NamedTuple):
    """The matches of a profile with a model."""

    by_row: dict[int, Match]
    """The match of each operator that has one."""
    other_shapes: frozenset[int]
    """The operators whose name and kind fit a node, but not their shapes."""


def matches_of(profile: Profile, model: Profile, graph: ModelGraph) -> Matches:
    """Return the matches: by exact name, then by changed name, then by order."""
    return _Matching(profile, model, graph).matches()


class _Matching:
    """The state of one matching: what is matched so far."""

    def __init__(self, profile: Profile, model: Profile, graph: ModelGraph) -> None:
        self._profile = profile
        self._model = model
        self._rows = facts_of(profile)
        self._names = NodeNames(model, graph)
        self._nodes = self._names.facts
        self._found: dict[int, Match] = {}
        self._taken: set[int] = set()
        self._other_shapes: set[int] = set()
        self._left = [*range(len(profile))]

    def matches(self) -> Matches:
        """Return the matches of all steps."""
        names = self._profile.operators.name.values().tolist()
        exact, changed = self._names.of_exact_name, self._names.of_changed_name
        self._match_by_name((row, exact(names[row])) for row in self._left)
        self._match_repeated_names()
        self._match_by_name(
            (row, changed(names[row], partial(self._is_known_kind, row))) for row in self._left
        )
        self._match_by_order()
        return Matches(self._found, frozenset(self._other_shapes - self._found.keys()))

    def _match_by_name(self, candidates: Iterable[tuple[int, list[Group]]]) -> None:
        """Match the operators with the one group of nodes that fits each."""
        claims: dict[int, Match] = {}
        claimants: dict[int, int] = {}
        for row, groups in candidates:
            fitting = [match for group in groups if (match := self._fitting(row, group))]
            if len(fitting) == 1:
                claims[row] = fitting[0]
                for node in fitting[0].nodes:
                    claimants[node] = claimants.get(node, 0) + 1
        for row, match in claims.items():
            if all(claimants[node] == 1 for node in match.nodes):
                self._add(row, match)
        self._left = [row for row in self._left if row not in self._found]

    def _match_repeated_names(self) -> None:
        """Match operators and nodes with the same name in order, if there are equally many."""
        names = self._profile.operators.name.values().tolist()
        left = {*self._left}
        rows_of: dict[str, list[int]] = {}
        for row in in_order_of_execution(self._profile).tolist():
            if row in left:
                rows_of.setdefault(names[row], []).append(row)
        for name, rows in rows_of.items():
            groups = self._names.in_order(name)
            if len(groups) != len(rows) or len(rows) == 1:
                continue
            matches = [
                match
                for row, group in zip(rows, groups, strict=True)
                if (match := self._fitting(row, group))
            ]
            if len(matches) == len(rows):
                for row, match in zip(rows, matches, strict=True):
                    self._add(row, match)
        self._left = [row for row in self._left if row not in self._found]

    def _fitting(self, row: int, group: Group) -> Match | None:
        """Return the match of an operator with a group of nodes; None if they do not fit."""
        of_kind = [node for node in group if self._is_kind(row, node)]
        if not of_kind or not self._taken.isdisjoint(group):
            return None
        written, expected = self._rows[row].out_shape, self._nodes[group[-1]].out_shape
        if written and expected and written != expected and not _is_padded(written, expected):
            self._other_shapes.add(row)
            return None
        return Match(group, self._main_of(row, of_kind), NAME)

    def _main_of(self, row: int, of_kind: Sequence[int]) -> int:
        """Return the node that gives an operator its kind, or of an unknown kind the main one."""
        if self._rows[row].type is not None:
            return of_kind[0]
        return max(of_kind, key=lambda node: self._nodes[node].category in ONE_KIND)

    def _is_kind(self, row: int, node: int) -> bool:
        return _same_kind(self._rows[row], self._nodes[node])

    def _is_known_kind(self, row: int, node: int) -> bool:
        return self._rows[row].type is not None and self._is_kind(row, node)

    def _match_by_order(self) -> None:
        """Match what is left by the order of execution.

        If as many operators as nodes have the same category and shapes, they are matched in order.
        These nodes must have the same attributes, because branches may run in another order.
        """
        ran = self._profile.recorded(DEVICE) | self._profile.recorded(HOST)
        left = {row for row in self._left if ran[row]}
        in_order = in_order_of_execution(self._profile).tolist()
        rows = _by_form(self._rows, (row for row in in_order if row in left))
        # How often and when a body runs is not known.
        outside = (self._model.operators.scope.codes < 0).tolist()
        free = (node for node, is_outside in enumerate(outside) if is_outside)
        nodes = _by_form(self._nodes, (node for node in free if node not in self._taken))
        attributes = self._model.operators.categorical("parameters").codes.tolist()
        for form, of_form in rows.items():
            nodes_of_form = nodes.get(form, ())
            if len(of_form) != len(nodes_of_form):
                continue
            pairs = list(zip(of_form, nodes_of_form, strict=True))
            is_one = len({attributes[node] for _, node in pairs}) == 1
            if is_one and all(self._is_kind(row, node) for row, node in pairs):
                for row, node in pairs:
                    self._add(row, Match((node,), node, ORDER))

    def _add(self, row: int, match: Match) -> None:
        self._found[row] = match
        self._taken.update(match.nodes)


def _same_kind(row: Node, node: Node) -> bool:
    """Return whether an operator may execute a node, by their types and categories."""
    if node.type is None:
        return False
    if row.type is None:
        return row.category in (None, node.category)
    if row.type == node.type:
        return True
    if row.category is None or row.category == node.category:
        # FusedConv and ConvolutionForward are kinds of Conv, and Concat is one of Concatenation.
        short, long = sorted((node.type.lower(), row.type.lower()), key=len)
        return short in long or row.category in ONE_KIND
    return False


def _by_form(facts: Sequence[Node], among: Iterable[int]) -> dict[_Form, list[int]]:
    """Return the indices of operators or nodes by category and shapes.

    An operator of unknown category or shape, or of the category `control`, is left out.
    """
    found: dict[_Form, list[int]] = {}
    for index in among:
        one = facts[index]
        if one.category not in (None, CONTROL) and one.in_shape and one.out_shape:
            found.setdefault((one.category, one.in_shape, one.out_shape), []).append(index)
    return found


def _is_padded(written: Shape, expected: Shape) -> bool:
    """Return whether `written` differs only by channels that fill up the last block of a layout."""
    if len(written) != len(expected) or len(written) < 3:
        return False
    channels, others = written[1], (written[0], *written[2:])
    return (
        others == (expected[0], *expected[2:])
        and channels % _CHANNEL_BLOCK == 0
        and 0 < channels - expected[1] < 2 * _CHANNEL_BLOCK
    )

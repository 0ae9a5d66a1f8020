"""Matches the operators of a profile with the nodes of the model that ran.

A match needs the same kind, and shapes that do not contradict it. An operator of unknown type fits
a node of any type with its name; if its category is known, the categories must be equal. If several
nodes would fit, or if several operators claim one node, none of them is matched. There are two
exceptions:

- If several operators have the same name, and equally many nodes have it, they are matched in
  order. A name that very many nodes have is matched only in this way.
- If a node ran with several shapes, a profile may have a row for each of them. All of them are
  matched, but only those with the shapes of the model get its work.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.identity import in_order_of_execution
from profile_analyze.model.model_names import ONE_KIND, NodeNames, facts_of
from profile_analyze.model.terms import CONTROL, DEVICE, HOST, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.model_graph import Group, ModelGraph
    from profile_analyze.model.model_names import Node
    from profile_analyze.model.operators import Shape
    from profile_analyze.model.profile import Profile

    _Form: TypeAlias = tuple[str, Shape, Shape]
    """The category, and the shapes of the first input and output."""

NAME: Final = "name"
ORDER: Final = "order"

_CHANNEL_BLOCK: Final = 8
_FEW: Final = 0.25
"""If a smaller share of the operators is matched, the model is probably not the one that ran."""


class Match(NamedTuple):
    """The nodes that one operator executes."""

    nodes: Group
    """In the order of the model."""
    main: int
    """The node that has the kind of the operator."""
    how: str
    """`NAME` or `ORDER`."""
    has_work: bool = True
    """Whether the work and the shapes of the nodes are those of the operator. They are not if the
    operator is one of several rows of a node, and ran with other shapes than those of the model."""
    has_weights: bool = True
    """Whether the weights of the nodes count at this operator, as they do at the first row."""


class Matches(NamedTuple):
    """The matches of a profile with a model."""

    by_row: dict[int, Match]
    """The match of each operator that has one."""
    other_shapes: frozenset[int]
    """The operators whose name and kind fit a node, but not their shapes."""
    are_few: bool
    """Whether so few operators are matched that the model is probably not the one that ran."""


def expected_of(profile: Profile) -> NDArray[np.bool_]:
    """Return which operators should have a match, shape (operators,): those that ran.

    Constants and bookkeeping have no work that a model could add.
    """
    categories = profile.operators.category.categories
    is_control = profile.operators.category.where(one == CONTROL for one in categories)
    return (profile.recorded(DEVICE) | profile.recorded(HOST)) & ~is_control


def matches_of(profile: Profile, model: Profile, graph: ModelGraph) -> Matches:
    """Return the matches: by exact name, then by changed name, then by order.

    Few operators may fit the order of any model, so these are left out if there are few matches.
    """
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
        self._row_of_node = _rows_of_nodes(profile)

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
        expected = expected_of(self._profile)
        are_few = expected[[*self._found]].sum() < _FEW * expected.sum()
        if are_few:
            self._found = {row: one for row, one in self._found.items() if one.how == NAME}
        return Matches(
            self._found, frozenset(self._other_shapes - self._found.keys()), bool(are_few)
        )

    def _match_by_name(self, candidates: Iterable[tuple[int, list[Group]]]) -> None:
        """Match each operator that exactly one group of nodes fits.

        If several operators claim a node of that group, none of them is matched, unless they are
        rows of one node.
        """
        claims: dict[int, Match] = {}
        claimants: dict[int, list[int]] = {}
        for row, groups in candidates:
            fitting = [match for group in groups if (match := self._fitting(row, group))]
            fitting = [match for match in fitting if match.has_work] or fitting
            if len(fitting) == 1:
                claims[row] = fitting[0]
                for node in fitting[0].nodes:
                    claimants.setdefault(node, []).append(row)
        for row, match in claims.items():
            rows = {one for node in match.nodes for one in claimants[node]}
            if len({self._row_of_node.get(one, one) for one in rows}) == 1:
                self._add(row, match._replace(has_weights=row == min(rows)))
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
            if row not in self._row_of_node:
                self._other_shapes.add(row)
                return None
            return Match(group, self._main_of(row, of_kind), NAME, has_work=False)
        return Match(group, self._main_of(row, of_kind), NAME)

    def _main_of(self, row: int, of_kind: Sequence[int]) -> int:
        """Return the node that gives an operator its kind.

        For an operator of unknown type, it is the first node whose category is in `ONE_KIND`, or
        else the first node.
        """
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


def _rows_of_nodes(profile: Profile) -> dict[int, int]:
    """Return the first row of the node of each operator, for nodes that ran with several shapes.

    Such rows have the same name, type and scope, and no two of them have the same shapes.
    """
    operators = profile.operators
    identity = (operators.scope, operators.name, operators.type)
    shapes = (operators.categorical(name) for name in SHAPES)
    found: dict[tuple[int, ...], list[int]] = {}
    for row, key in enumerate(zip(*(one.codes.tolist() for one in identity), strict=True)):
        found.setdefault(key, []).append(row)
    codes = [*zip(*(one.codes.tolist() for one in shapes), strict=True)]
    return {
        row: rows[0]
        for rows in found.values()
        if len(rows) > 1 and len({codes[row] for row in rows}) == len(rows)
        for row in rows
    }


def _same_kind(row: Node, node: Node) -> bool:
    """Return whether an operator may execute a node, by their types and categories."""
    if node.type is None:
        return False
    if row.type is None:
        return row.category in (None, node.category)
    if row.type == node.type:
        return True
    if row.category is None or row.category == node.category:
        # FusedConv and ConvolutionForward are the same kind as Conv, and Concat is the same kind as
        # Concatenation.
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

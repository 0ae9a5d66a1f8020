"""Matches the operators of a profile with the nodes of the model that ran.

An operator and a node match only if they have the same kind. If both output shapes are known, the
shapes must also agree. An operator of unknown type has the kind of a node if the categories are
equal. An operator without type and category has the kind of every node. If an operator fits several
nodes, or if several operators fit one node, none of them is matched. There are two exceptions:

- Repeated names: if as many operators as nodes have the same name, they are matched in order. A
  name of more than `_MOST_NODES` nodes (see `names.py`) is matched only in this way.
- Several shapes: if a node ran with several shapes, the profile may have a row for each shape. All
  these rows are matched, but only rows with the shapes in the model get the work of the node.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.graph.names import ONE_KIND, NodeNames, facts_of
from profile_analyze.model.joining.identity import in_order_of_execution
from profile_analyze.model.terms import CONTROL, DEVICE, HOST, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.graph.graph import Group, ModelGraph
    from profile_analyze.model.graph.names import Facts
    from profile_analyze.model.operators import Shape
    from profile_analyze.model.profile import Profile

    _Form: TypeAlias = tuple[str, Shape, Shape]
    """A category, the shape of the first input, and the shape of the first output."""

NAME: Final = "name"
ORDER: Final = "order"

_CHANNEL_BLOCK: Final = 8
"""The size of a block of channels. Some runtimes use blocks of twice this size."""
_FEW: Final = 0.25
"""Below this share of matched operators, the model is probably not the model that ran."""


class Match(NamedTuple):
    """The nodes that one operator executes."""

    nodes: Group
    """The nodes, in the order of the model."""
    main: int
    """The node that has the same kind as the operator."""
    how: str
    """How the operator was matched: `NAME` or `ORDER`."""
    has_work: bool = True
    """Whether the operator gets the work and the shapes of the nodes. False if a node has several
    rows, and this row ran with shapes that differ from the shapes in the model."""
    has_weights: bool = True
    """Whether the weights of the nodes count at this operator. If a node has several rows, its
    weights count only at the first row."""


class Matches(NamedTuple):
    """The matches of a profile with a model."""

    by_row: dict[int, Match]
    """The match of each matched operator, by the operator's row."""
    other_shapes: frozenset[int]
    """The rows of operators that fit a node by name and kind, but have other shapes."""
    are_few: bool
    """Whether so few operators are matched that the model is probably not the one that ran."""


def expected_of(profile: Profile, model: Profile) -> NDArray[np.bool_]:
    """Return whether each operator should have a match, shape (operators,).

    True for operators that ran. Two kinds are left out: constants and bookkeeping, because a model
    adds no work to them, and operators that hold a graph, which only an execution graph describes.
    """
    categories = profile.operators.category.categories
    is_control = profile.operators.category.where(one == CONTROL for one in categories)
    ran = profile.recorded(DEVICE) | profile.recorded(HOST)
    expected: NDArray[np.bool_] = ran & ~is_control
    return expected if model.is_execution_graph else expected & ~profile.operators.hold_graphs


def matches_of(profile: Profile, model: Profile, graph: ModelGraph) -> Matches:
    """Match operators by exact name, then by changed name, then by order.

    A few operators fit almost any model by order. Matches by order are therefore dropped if the
    total number of matches is small.
    """
    return _Matching(profile, model, graph).matches()


class _Matching:
    """Runs the steps of one matching, and keeps the matches that were found so far."""

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
        self._first_row_of = _first_rows_of_nodes(profile)

    def matches(self) -> Matches:
        """Run all steps, and return the matches."""
        names = self._profile.operators.name.values().tolist()
        exact, changed = self._names.of_exact_name, self._names.of_changed_name
        self._match_by_name((row, exact(names[row])) for row in self._left)
        self._match_repeated_names()
        self._match_by_name(
            (row, changed(names[row], partial(self._is_known_kind, row))) for row in self._left
        )
        self._match_by_order()
        expected = expected_of(self._profile, self._model)
        are_few = expected[[*self._found]].sum() < _FEW * expected.sum()
        if are_few:
            self._found = {row: one for row, one in self._found.items() if one.how == NAME}
        return Matches(
            self._found, frozenset(self._other_shapes - self._found.keys()), bool(are_few)
        )

    def _match_by_name(self, candidates: Iterable[tuple[int, list[Group]]]) -> None:
        """Match each operator that fits exactly one of its candidate groups of nodes.

        If several operators claim the same node, none of them is matched. Rows of one node are the
        exception: all of them are matched.
        """
        claims: dict[int, Match] = {}
        claimants: dict[int, list[int]] = {}
        for row, groups in candidates:
            fitting = [match for group in groups if (match := self._fitting(row, group))]
            # Nodes with the shapes of the operator come before nodes with other shapes.
            fitting = [match for match in fitting if match.has_work] or fitting
            if len(fitting) == 1:
                claims[row] = fitting[0]
                for node in fitting[0].nodes:
                    claimants.setdefault(node, []).append(row)
        for row, match in claims.items():
            rows = {one for node in match.nodes for one in claimants[node]}
            if len({self._first_row_of.get(one, one) for one in rows}) == 1:
                self._add(row, match._replace(has_weights=row == min(rows)))
        self._left = [row for row in self._left if row not in self._found]

    def _match_repeated_names(self) -> None:
        """If as many operators as nodes have the same name, match them in order."""
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
        """Return the match of an operator with a group of nodes; None if they do not fit.

        An operator that does not fit only because of its shapes is added to `_other_shapes`.
        """
        of_kind = [node for node in group if self._is_kind(row, node)]
        if not of_kind or not self._taken.isdisjoint(group):
            return None
        shape, expected = self._rows[row].out_shape, self._nodes[group[-1]].out_shape
        if shape and expected and shape != expected and not _is_padded(shape, expected):
            if row not in self._first_row_of:
                self._other_shapes.add(row)
                return None
            return Match(group, self._main_of(row, of_kind), NAME, has_work=False)
        return Match(group, self._main_of(row, of_kind), NAME)

    def _main_of(self, row: int, of_kind: Sequence[int]) -> int:
        """Return `Match.main`, one of the nodes in `of_kind`.

        If the type of the operator is known, this is the first node. If not, nodes with a category
        in `ONE_KIND` come before all other nodes.
        """
        if self._rows[row].type is not None:
            return of_kind[0]
        return max(of_kind, key=lambda node: self._nodes[node].category in ONE_KIND)

    def _is_kind(self, row: int, node: int) -> bool:
        return _same_kind(self._rows[row], self._nodes[node])

    def _is_known_kind(self, row: int, node: int) -> bool:
        return self._rows[row].type is not None and self._is_kind(row, node)

    def _match_by_order(self) -> None:
        """Match the remaining operators by the order of execution.

        If as many operators as nodes have the same category and shapes, they are matched in
        order. Parallel branches may run in any order, which could pair the wrong operators. The
        nodes must therefore all have the same attributes.
        """
        ran = self._profile.recorded(DEVICE) | self._profile.recorded(HOST)
        left = {row for row in self._left if ran[row]}
        in_order = in_order_of_execution(self._profile).tolist()
        rows = _by_form(self._rows, (row for row in in_order if row in left))
        # Nodes in the body of a loop or the like are left out: they may run at any time, or
        # repeatedly.
        outside = (self._model.operators.scope.codes < 0).tolist()
        free = (node for node, is_outside in enumerate(outside) if is_outside)
        nodes = _by_form(self._nodes, (node for node in free if node not in self._taken))
        attributes = self._model.operators.categorical("parameters").codes.tolist()
        for form, of_form in rows.items():
            nodes_of_form = nodes.get(form, ())
            if len(of_form) != len(nodes_of_form):
                continue
            pairs = list(zip(of_form, nodes_of_form, strict=True))
            have_same_attributes = len({attributes[node] for _, node in pairs}) == 1
            if have_same_attributes and all(self._is_kind(row, node) for row, node in pairs):
                for row, node in pairs:
                    self._add(row, Match((node,), node, ORDER))

    def _add(self, row: int, match: Match) -> None:
        self._found[row] = match
        self._taken.update(match.nodes)


def _first_rows_of_nodes(profile: Profile) -> dict[int, int]:
    """Find nodes that have several rows, because they ran with several shapes.

    Return a dictionary from each of their rows to the first row of the same node. The rows of a
    node have the same name, type and scope, but all have different shapes.
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


def _same_kind(row: Facts, node: Facts) -> bool:
    """Return whether an operator and a node have the same kind, by their types and categories."""
    if node.type is None:
        return False
    if row.type is None:
        return row.category in (None, node.category)
    if row.type == node.type:
        return True
    if row.category is None or row.category == node.category:
        # For example, Conv, FusedConv and ConvolutionForward are one kind. Concat and Concatenation
        # are another kind.
        short, long = sorted((node.type.lower(), row.type.lower()), key=len)
        return short in long or row.category in ONE_KIND
    return False


def _by_form(facts: Sequence[Facts], among: Iterable[int]) -> dict[_Form, list[int]]:
    """Group the indices of operators or nodes by category and shapes.

    The category `control`, unknown categories, and unknown or scalar shapes are left out.
    """
    found: dict[_Form, list[int]] = {}
    for index in among:
        one = facts[index]
        if one.category not in (None, CONTROL) and one.in_shape and one.out_shape:
            found.setdefault((one.category, one.in_shape, one.out_shape), []).append(index)
    return found


def _is_padded(shape: Shape, expected: Shape) -> bool:
    """Return whether `shape` is `expected` with its channels padded to whole blocks."""
    if len(shape) != len(expected) or len(shape) < 3:
        return False
    channels, others = shape[1], (shape[0], *shape[2:])
    return (
        others == (expected[0], *expected[2:])
        and channels % _CHANNEL_BLOCK == 0
        and 0 < channels - expected[1] < 2 * _CHANNEL_BLOCK
    )

"""Makes the rows of a model, one for each node, and the tables of tensors and uses."""

from __future__ import annotations

from collections import ChainMap
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model import terms
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.tables import Tensors, Uses
from profile_analyze.readers.onnx.work.roles import higher, role_of_use
from profile_analyze.work.tensor import Tensor, all_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping

    from profile_analyze.readers.onnx.graph import Graph, Node, Value, Weight


class PlacedNode(NamedTuple):
    """A row: a node, its graph, and the indices of the tensors that it uses."""

    node: Node
    graph: Graph
    scope: tuple[str, ...]
    """The nodes and bodies around the node, outermost first; empty in the main graph."""
    inputs: tuple[int | None, ...]
    """The index of the tensor of each input; None for an optional input that is left out."""
    outputs: tuple[int | None, ...]
    captured: tuple[int, ...]
    """The tensors that the bodies of the node read from outside."""
    returned: tuple[int, ...]
    """The tensors that the bodies of the node return."""


class WeightsOfRow(NamedTuple):
    """The weights that a row uses, as indices of tensors."""

    counted: tuple[int, ...]
    """The weights that no earlier row uses."""
    reused: tuple[int, ...]
    """The weights that an earlier row uses, too. Their parameters are counted in that row."""


class ModelTables:
    """The rows and tensors of a model, with the role of each tensor."""

    def __init__(self, graph: Graph) -> None:
        self.rows: list[PlacedNode] = []
        self.values: list[Value] = []
        """The tensors, in the order of their definition."""
        self._roles: list[str] = []
        self._stored: dict[int, Weight] = {}
        """The constants whose values are in the file, by the index of the tensor."""
        self._producer: dict[int, PlacedNode] = {}
        """The constant node that computes each tensor, by the index of the tensor."""
        self.body_inputs: dict[int, list[int]] = {}
        """The inputs of all bodies of each row, by the index of the row."""
        self._returned: dict[int, list[tuple[int, int]]] = {}
        """Pairs of an output of a row with bodies, and a tensor that a body returns for it. The key
        is the index of the last row in the bodies. Roles are set from the last row to the first, so
        the output has its role when this row is reached."""
        names = self._add_graph(graph, (), {})
        self._results = {names[name] for name in graph.outputs if name in names}
        self._set_roles_of_constants()

    def _add_graph(
        self, graph: Graph, scope: tuple[str, ...], outer: MutableMapping[str, int]
    ) -> MutableMapping[str, int]:
        """Add the nodes of a graph. Return its tensors, and the tensors in `outer`, by name."""
        # The names around a body are not copied: a graph may have thousands of bodies.
        visible: MutableMapping[str, int] = ChainMap({}, outer) if scope else {}
        for name in graph.inputs:
            visible[name] = self._add(graph.values[name], terms.INNER if scope else terms.INPUT)
        for name in graph.initializers:
            visible[name] = self._add(graph.values[name], terms.UNUSED)
            self._stored[visible[name]] = graph.initializers[name]
        for node in graph.nodes:
            self._add_node(node, graph, scope, visible)
        return visible

    def _add(self, value: Value, role: str) -> int:
        self.values.append(value)
        self._roles.append(role)
        return len(self.values) - 1

    def _add_node(
        self, node: Node, graph: Graph, scope: tuple[str, ...], visible: MutableMapping[str, int]
    ) -> None:
        row = len(self.rows)
        outputs = tuple(
            self._add(graph.values[name], _role_of_output(node, scope)) if name else None
            for name in node.outputs
        )
        inputs = tuple(visible.get(name) for name in node.inputs)
        self.rows.append(PlacedNode(node, graph, scope, inputs, outputs, (), ()))
        if node.bodies:
            self._add_bodies(row, visible)
        for name, index in zip(node.outputs, outputs, strict=True):
            if index is not None:
                visible[name] = index
                if node.is_constant:
                    self._producer[index] = self.rows[row]
                if name in graph.constants:
                    self._stored[index] = graph.constants[name]

    def _add_bodies(self, row: int, visible: MutableMapping[str, int]) -> None:
        """Add the bodies of a row, and set `captured` and `returned` of the row."""
        placed = self.rows[row]
        first_inside = len(self.values)
        own = self.body_inputs[row] = []
        read: set[int | None] = set()
        pairs: list[tuple[int, int]] = []
        # The first output of a loop's body says whether the loop goes on.
        first_output = 1 if placed.node.type == "Loop" else 0
        for body in placed.node.bodies:
            first = len(self.rows)
            scope = (*placed.scope, placed.node.name, body.attribute)
            names = self._add_graph(body.graph, scope, visible)
            own += [names[name] for name in body.graph.inputs]
            returned = [names.get(name) for name in body.graph.outputs]
            read.update(returned)
            pairs += [
                (output, index)
                for output, index in zip(placed.outputs, returned[first_output:], strict=False)
                if output is not None and index is not None
            ]
            for one in self.rows[first:]:
                read.update((*one.inputs, *one.captured))
        self._returned.setdefault(len(self.rows) - 1, []).extend(pairs)
        self.rows[row] = placed._replace(
            captured=tuple(sorted(n for n in read if n is not None and n < first_inside)),
            returned=tuple(index for _, index in pairs),
        )

    def _set_roles_of_constants(self) -> None:
        """Give each constant the highest role of its uses.

        A constant node passes the role of its output on to its inputs. So the rows are visited from
        the last to the first.
        """
        constants = [index for index, one in enumerate(self._roles) if one == terms.UNUSED]
        of_bodies = (output for pairs in self._returned.values() for output, _ in pairs)
        roles = dict.fromkeys((*constants, *of_bodies), terms.UNUSED)
        # `roles` has the constants and the outputs of rows with bodies. Such a tensor counts as a
        # weight or a scalar if it is a result of the model, even if no operator uses it. An
        # initializer (`UNUSED`, without a producer) does not: no row could count its parameters.
        for index in self._results & roles.keys():
            if self._roles[index] != terms.UNUSED or index in self._producer:
                roles[index] = self._weight_or_scalar(index)
        for row in range(len(self.rows) - 1, -1, -1):
            # Of nested bodies that end at the same row, the outermost come last in the list.
            for output, index in reversed(self._returned.get(row, ())):
                if roles[output] == terms.WEIGHT:
                    roles[index] = higher(
                        roles.get(index, terms.UNUSED), self._weight_or_scalar(index)
                    )
                else:
                    roles[index] = higher(roles.get(index, terms.UNUSED), roles[output])
            self._add_uses(self.rows[row], roles)
        for index in constants:
            has_values = index not in self._producer or _makes_values(self._producer[index].node)
            self._roles[index] = roles[index] if has_values else terms.DERIVED_CONSTANT

    def _weight_or_scalar(self, index: int) -> str:
        return terms.SCALAR if self.values[index].dims == () else terms.WEIGHT

    def _add_uses(self, placed: PlacedNode, roles: dict[int, str]) -> None:
        """Update `roles`: the uses in this row can give its inputs higher roles."""
        made = terms.UNUSED
        for index in placed.outputs:
            made = higher(made, roles.get(-1 if index is None else index, terms.UNUSED))
        for position, index in enumerate(placed.inputs):
            if index is None or index not in roles:
                continue
            role = role_of_use(placed.node, position, self.tensor(index))
            if role == terms.WEIGHT and placed.node.is_constant:
                role = made
            roles[index] = higher(roles[index], role)

    def weights(self) -> Iterator[WeightsOfRow]:
        """Yield the weights of each row.

        The weights of a constant node are counted in the rows that use its result. A row with
        bodies also has the weights that its bodies return.
        """
        counted: set[int] = set()
        for placed in self.rows:
            own: set[int] = set()
            read: Iterable[int | None] = (*placed.inputs, *placed.returned)
            # If this node computes a result of the model, perhaps no other row uses the result. So
            # this row counts its weights.
            if placed.node.is_constant:
                read = self._results.intersection(placed.outputs)
            for index in read:
                own |= self.weights_behind(index)
            yield WeightsOfRow(tuple(sorted(own - counted)), tuple(sorted(own & counted)))
            counted |= own

    def weights_behind(self, index: int | None) -> set[int]:
        """Return the weights from which a constant is computed; for a weight, the weight itself."""
        found: set[int] = set()
        pending = [] if index is None else [index]
        seen = set(pending)
        while pending:
            one = pending.pop()
            if self._roles[one] == terms.WEIGHT:
                found.add(one)
            elif self._roles[one] == terms.DERIVED_CONSTANT:
                producer = self._producer[one]
                read = (*producer.inputs, *producer.returned)
                further = {n for n in read if n is not None} - seen
                seen |= further
                pending += further
        return found

    def largest_weight(self, row: int) -> int | None:
        """Return the largest weight of at least two dimensions that is an input of a row.

        A constant that is computed from weights counts as a weight here, too. Return None if the
        row has no such input.
        """
        weights = [
            index
            for index in self.rows[row].inputs
            if index is not None
            and len(self.values[index].dims or ()) > 1
            and self.weights_behind(index)
        ]
        return max(weights, key=lambda index: self.tensor(index).elements, default=None)

    def stored(self, index: int) -> Weight | None:
        """Return a constant as it is in the file; None if a node computes it."""
        return self._stored.get(index)

    def producer(self, index: int) -> PlacedNode | None:
        """Return the constant node that computes a tensor; None if no constant node does."""
        return self._producer.get(index)

    def bodies_have_weights(self, row: int) -> bool:
        """Return whether a row inside a body of this row uses weights."""
        depth = len(self.rows[row].scope)
        if not self.rows[row].node.bodies:
            return False
        following = (self.rows[n] for n in range(row + 1, len(self.rows)))
        return any(
            self.weights_behind(index)
            for inside in takewhile(lambda one: len(one.scope) > depth, following)
            for index in (*inside.inputs, *inside.returned)
        )

    def is_floating(self, index: int) -> bool:
        """Return whether a tensor has floating-point numbers."""
        return (self.values[index].dtype or "").startswith(("fp", "bf"))

    def tensor(self, index: int) -> Tensor:
        """Return the shape and dtype of a tensor."""
        value = self.values[index]
        return Tensor(value.dims, value.dtype)

    def distinct(self, indices: Iterable[int | None]) -> list[Tensor]:
        """Return the tensors that are not constants, each once."""
        return [
            self.tensor(index)
            for index in dict.fromkeys(indices)
            if index is not None and self._roles[index] not in terms.CONSTANT_ROLES
        ]

    def tensors(self) -> Tensors:
        """Return the table of tensors."""
        all_tensors = [Tensor(value.dims, value.dtype) for value in self.values]
        return Tensors(
            key=Categorical.of([value.name for value in self.values]),
            shape=Categorical.of([known_shape(value.dims) for value in self.values]),
            dtype=Categorical.of([value.dtype for value in self.values]),
            size=np.array([tensor.bytes for tensor in all_tensors], np.float64),
            role=Categorical.of(self._roles),
            elements=np.array([tensor.elements for tensor in all_tensors], np.float64),
            is_result=np.array([n in self._results for n in range(len(all_tensors))], np.bool_),
        )

    def uses(self) -> Uses:
        """Return the table of uses. A node also uses the outer tensors that its bodies read."""
        found = [
            (row, index, is_output)
            for row, placed in enumerate(self.rows)
            for indices, is_output in (
                ((*placed.inputs, *placed.captured), False),
                (placed.outputs, True),
            )
            for index in dict.fromkeys(indices)
            if index is not None
        ]
        return Uses(
            operator=np.array([row for row, _, _ in found], np.int32),
            tensor=np.array([index for _, index, _ in found], np.int32),
            is_output=np.array([is_output for _, _, is_output in found], np.bool_),
        )


def _role_of_output(node: Node, scope: tuple[str, ...]) -> str:
    if node.is_constant:
        return terms.UNUSED  # until its uses are known
    if scope:
        return terms.INNER
    return terms.SHAPE_ARITHMETIC if node.is_shape_arithmetic else terms.ACTIVATION


def _makes_values(node: Node) -> bool:
    """Return whether a constant node has values that do not come from its inputs."""
    return node.type in ("Constant", "ConstantOfShape") or not any(node.inputs)


def known_shape(dims: tuple[int | None, ...] | None) -> tuple[int, ...] | None:
    """Return the shape; None if a size is unknown."""
    return None if dims is None else all_known(dims)

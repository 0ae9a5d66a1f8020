"""Finds the nodes of a model from the name that an operator has in a profile.

Runtimes rename nodes when they optimise a graph. They append words to a name, join the names of
fused nodes, or name a fused node after the tensor that it writes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.graph.generated_names import without_counter
from profile_analyze.model.terms import (
    ATTENTION,
    CONTROL,
    CONVOLUTION,
    ELEMENTWISE,
    MATMUL,
    NORMALIZATION,
    POOLING,
    SHAPES,
    SOFTMAX,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.model.graph.graph import Group, ModelGraph
    from profile_analyze.model.operators import Shape
    from profile_analyze.model.profile import Profile

ONE_KIND: Final = (CONVOLUTION, MATMUL, ATTENTION, SOFTMAX, POOLING)
"""In these categories, operators of different types count as one kind, such as MatMul and Gemm."""
_FUSED: Final = (ELEMENTWISE, NORMALIZATION)
"""The categories of nodes that runtimes fuse into the operator before them."""
_REMOVED: Final = ("Identity", "Dropout")
"""The types of nodes that compute nothing, so that runtimes remove them. Some exporters write many:
Paddle writes an Identity after each Add."""

_BETWEEN_NAMES: Final = r"\s*[+,;&|]+\s*|\s+"
"""The separators between names, as in `conv1 + relu1` and `fused conv1`."""
_BEFORE_SUFFIX: Final = re.compile(r"[_/.:-]")
"""The separators between a name and an appended word: `conv1_nchwc`, `MatMul/Fusion/`."""
_MOST_PARTS: Final = 64
"""A name with more parts than this is not split into several names, which would take long."""
_MOST_NODES: Final = 64
"""If more nodes than this share a name, operators with this name are matched only in order.
Comparing each operator with each node would take long."""
_COPY: Final = r"#[0-9]+$"
"""The suffix of a repeated name: the second node `conv` is called `conv#2`."""


class Facts(NamedTuple):
    """The facts about a node or an operator that decide whether the two have the same kind."""

    type: str | None
    category: str | None
    in_shape: Shape | None
    """The shape of the first input; None if it is unknown."""
    out_shape: Shape | None


def facts_of(profile: Profile) -> list[Facts]:
    """Return the facts about each operator of a profile, or about each node of a model."""
    operators = profile.operators
    shapes = (
        operators.categorical(name).mapped(lambda shapes: shapes[0] if shapes else None)
        for name in SHAPES
    )
    columns = (operators.type, operators.category, *shapes)
    return [Facts(*row) for row in zip(*(column.values() for column in columns), strict=True)]


class NodeNames:
    """Looks up nodes of a model by their names, or by the names of the tensors that they write."""

    def __init__(self, model: Profile, graph: ModelGraph) -> None:
        self.facts = facts_of(model)
        self._by_name: dict[str, list[int]] = {}
        for node, name in enumerate(model.operators.name.values().tolist()):
            # Constants and bookkeeping are left out: they have no work, and runtimes may skip them.
            if name and self.facts[node].category != CONTROL:
                names = {name, re.sub(_COPY, "", name)}
                for one in {*names, without_counter(name, self.facts[node].type)}:
                    self._by_name.setdefault(one, []).append(node)
        self._graph = graph
        count = Counter(graph.tensor_names)  # the bodies of loops may use a name again
        self._writer_of = {
            name: node
            for tensor, node in graph.writer.items()
            if count[name := graph.tensor_names[tensor]] == 1
            and self.facts[node].category != CONTROL
        }

    def in_order(self, name: str) -> list[Group]:
        """Return all nodes with this name in the order of the model, each as a group of its own."""
        return [(node,) for node in self._by_name.get(name, ())]

    def of_exact_name(self, name: str) -> list[Group]:
        """Return the nodes with this name, each as a group of its own.

        The result is empty if more than `_MOST_NODES` nodes have the name.
        """
        nodes = self._by_name.get(name, ())
        return [(node,) for node in nodes] if len(nodes) <= _MOST_NODES else []

    def of_changed_name(self, name: str, is_kind: Callable[[int], bool]) -> list[Group]:
        """Return the groups of connected nodes to which a changed name may refer.

        `is_kind(node)` says whether a node has the kind of the operator.
        """
        groups = [
            self._of_word(word)
            for word in re.split(_BETWEEN_NAMES, name)
            if word and not (word.isalpha() and word not in self._by_name)  # skips `fused`
        ]
        of_tensor = self._of_tensor(name, is_kind)
        if not groups or not all(groups):
            return of_tensor
        if len(groups) > 1:
            nodes = tuple(node for group in groups for node in group[0])
            is_clear = all(len(group) == 1 for group in groups)
            return [nodes] if is_clear and self._graph.are_connected(nodes) else []
        # PyTorch names a tensor after the node that writes it: `relu1_output_0`. An operator with
        # this name may run the whole chain of nodes that ends with `relu1`.
        has_kind = any(is_kind(node) for group in groups[0] for node in group)
        return groups[0] if has_kind else of_tensor or groups[0]

    def _of_word(self, word: str) -> list[Group]:
        if word in self._by_name:
            return self.of_exact_name(word)
        joined = [group for group in self._joined(word) if self._graph.are_connected(group)]
        if joined:
            return joined
        for prefix in _prefixes(word):
            if prefix in self._by_name:
                # If a node has no name, a runtime may name it after its type, such as `Conv_12`.
                # Such a name does not refer to a node that is called `Conv`.
                groups = self.of_exact_name(prefix)
                return [group for group in groups if self.facts[group[0]].type != prefix]
        return []

    def _joined(self, word: str) -> list[Group]:
        """Return at most two ways to split a word such as `conv1_relu1` into names of nodes."""
        starts = [0, *(match.end() for match in _BEFORE_SUFFIX.finditer(word))]
        if len(starts) > _MOST_PARTS:
            return []
        ends = [*(start - 1 for start in starts[1:]), len(word)]
        # `ways[n]` has the ways to split `word[n:]`. The first entry is for the end of the word, as
        # if a separator followed the word.
        ways: dict[int, list[Group]] = {len(word) + 1: [()]}
        for start in reversed(starts):
            ways[start] = [
                (nodes[0], *rest)
                for end in ends
                if end > start and len(nodes := self._by_name.get(word[start:end], [])) == 1
                for rest in ways.get(end + 1, ())
            ][:2]
        return ways[0]

    def _of_tensor(self, name: str, is_kind: Callable[[int], bool]) -> list[Group]:
        """Return the chain of nodes whose last node writes a tensor; empty without such a chain.

        The tensor is called `name` or a prefix of `name`. The chain begins with a node for which
        `is_kind` is true. Each later node has a category in `_FUSED` or a type in `_REMOVED`, and
        reads only constants and the output of the node before it. If there are later nodes, the
        first node has a category in `ONE_KIND`, or the later nodes all have a type in `_REMOVED`.
        """
        names = (name, *_prefixes(name))
        last = next((self._writer_of[one] for one in names if one in self._writer_of), None)
        group: list[int] = []
        while last is not None:
            group.insert(0, last)
            type_, category = self.facts[last].type, self.facts[last].category
            if is_kind(last):
                computed = [one for one in group if self.facts[one].type not in _REMOVED]
                return [tuple(group)] if len(computed) <= 1 or category in ONE_KIND else []
            is_passed = category in _FUSED or type_ in _REMOVED
            last = self._graph.node_before(last) if is_passed else None
        return []


def _prefixes(name: str) -> list[str]:
    """Return the text before each separator, the longest first: `a_b_c` gives `a_b` and `a`."""
    ends = [match.start() for match in _BEFORE_SUFFIX.finditer(name)]
    return [name[:end] for end in reversed(ends) if end]

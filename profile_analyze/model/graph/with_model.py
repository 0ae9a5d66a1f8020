"""Adds facts of a model to the profile of its run: each operator gets the facts of its nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.findings import Finding, Kind, Subject
from profile_analyze.model.graph.before_model import with_earlier_values
from profile_analyze.model.graph.described_dtypes import notes_on_dtypes
from profile_analyze.model.graph.graph import ModelGraph
from profile_analyze.model.graph.matching import NAME, ORDER, expected_of, matches_of
from profile_analyze.model.terms import (
    ABSENT,
    DERIVED,
    DERIVED_WORK,
    DEVICE,
    HOST,
    INPUT,
    MEASURED,
    NODES,
    ONNX_TOOL_NAMES,
    SHAPES,
    TILE_AMOUNTS,
    UNIQUE_NAME,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.graph.matching import Match, Matches
    from profile_analyze.model.operators import Operators, OptionalValues, Parameters
    from profile_analyze.model.profile import Profile

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

_SUMS: Final = ("macs", "macs_with_bias", "backward_macs", *ONNX_TOOL_NAMES)
"""The columns whose values are added up over the nodes of a fused operator."""
_WEIGHTS: Final = ("params", "param_bytes")
_MOVED: Final = ("input_bytes", "output_bytes")
_LARGE_SHARE: Final = 0.25
"""If most operators are not matched, and they take more of the time than this, the model may be the
wrong one. Conversions and copies, which only the runtime has, take less."""


def with_model(
    profile: Profile, model: Profile, subject: str | None = None, instead: str = ""
) -> Profile:
    """Return the profile of a run with facts of `model`, which is the model that ran.

    The model adds multiply-adds, parameters and attributes. It also fills in types, categories,
    shapes, dtypes, computation and memory where the profile lacks them. Operators are matched with
    the nodes of the model by name, then by order.

    A note says how many operators were matched. It begins with `subject`, or with the name of the
    model if there is no `subject` or no match. If the model is an execution graph that lacks some
    operators, the note names `instead`: what would describe them without the option `--model`.
    Notes that the model makes untrue are left out. Other notes say which operators were computed in
    other dtypes than the model describes.

    If the whole run is one operator that holds a graph, it gets the computation and the parameters
    of all nodes: see `_with_whole_model`.

    Raises `QueryError` in these cases:

    - `profile` is not a profile of a run.
    - `model` is not a model.
    - One of the two was loaded without shapes.
    """
    _check(profile, model)
    if (whole := _whole_run(profile, model)) is not None:
        return _with_whole_model(profile, model, whole)
    graph = ModelGraph(model)
    matches = matches_of(profile, model, graph)
    added = _Added(profile, model, graph, matches.by_row)
    of_model = (
        note.about(Subject("file", model.file))
        for note in model.notes
        if note.dropped_beside != "profile"
    )
    own = (note for note in profile.notes if matches.are_few or note.dropped_beside != "model")
    lead = subject if subject and matches.by_row else model.file
    has_memory = added.has_memory_of_nodes() & expected_of(profile, model)
    of_dtypes = notes_on_dtypes(profile, model, graph, matches.by_row, has_memory)
    notes = (
        _finding(profile, model, matches, instead).about(Subject("file", lead)),
        *(note.about(Subject("file", model.file)) for note in of_dtypes),
        *own,
        *of_model,
    )
    operators = added.operators()
    if not model.is_execution_graph:  # such a graph describes the very operators that ran
        operators = with_earlier_values(operators, profile.operators, added.main_nodes())
    return profile.changed(operators=operators, notes=notes)


def _check(profile: Profile, model: Profile) -> None:
    if model.origin.times != ABSENT and not model.is_execution_graph:
        right = "name the model that ran, such as model.onnx, or the graph that the runtime wrote"
        if profile.model is not None:  # the two files are swapped
            right = f"write {quote(model.file)} --model {quote(profile.file)}"
        raise QueryError(f"{model.file}: is a profile of a run; {right}")
    if profile.origin.times == ABSENT:
        raise QueryError(
            f"{profile.file}: is a model that has not run; name a profile of its run, or leave out "
            "the second model"
        )


def _whole_run(profile: Profile, model: Profile) -> int | None:
    """Return the only operator that ran, if it holds a graph that may be the whole model.

    None for all other profiles, and for models with bodies, because it is unknown how often their
    bodies run.
    """
    ran = np.flatnonzero(profile.recorded(DEVICE) | profile.recorded(HOST))
    is_one = len(ran) == 1 and profile.operators.hold_graphs[ran[0]]
    is_whole = not (model.is_execution_graph or model.in_bodies().any())
    return int(ran[0]) if is_one and is_whole else None


def _with_whole_model(profile: Profile, model: Profile, row: int) -> Profile:
    """Return the profile in which the operator `row` has the computation of the whole model.

    The operator keeps its other values, and gets nothing if its shapes are not those of the model.
    The memory that it moves depends on how the runtime fused the nodes, so it stays unknown.
    """
    if not _has_shapes_of(profile, row, model):
        return profile.changed(
            notes=(_on_whole("other-shapes-of-whole-model", Kind.ANSWER, model), *profile.notes)
        )
    own, nodes = profile.operators, model.operators

    def filled(values: Floats, own_values: Floats) -> Floats:
        column = own_values.copy()
        column[row] = values.sum()
        return column

    computation = filled(nodes.computation, own.computation)
    columns = {
        name: filled(nodes.numbers(name), own.numbers(name))
        for name in (*_SUMS, *_WEIGHTS)
        if name in nodes.optional
    }
    columns |= {DERIVED_WORK[0]: computation} if DERIVED_WORK[0] in own.optional else {}
    sources = own.source_of("computation").values().tolist()
    sources[row] = DERIVED
    operators = replace(
        own,
        computation=computation,
        computation_source=Categorical.of(sources),
        optional={**own.optional, **columns},
    )
    notes = (note for note in profile.notes if note.dropped_beside != "model")
    of_model = (
        note.about(Subject("file", model.file))
        for note in model.notes
        if note.dropped_beside != "profile"
    )
    finding = _on_whole("whole-model-in-one-operator", Kind.CONTEXT, model)
    return profile.changed(operators=operators, notes=(finding, *notes, *of_model))


def _on_whole(code: str, kind: Kind, model: Profile) -> Finding:
    return Finding.of(code, kind).about(Subject("file", model.file))


def _has_shapes_of(profile: Profile, row: int, model: Profile) -> bool:
    """Return whether the known inputs and outputs of a model are among those of an operator.

    An operator of unknown shapes may have run other sizes, or only a part of the model.
    """
    tensors = model.table("tensors")
    if tensors is None or tensors.role is None or tensors.is_result is None:
        return True
    is_input = tensors.role.where(role == INPUT for role in tensors.role.categories)
    shapes = tensors.shape.values()
    sides = zip(SHAPES, (is_input, tensors.is_result), strict=True)
    of_operator = ((profile.operators.categorical(name).values()[row], of) for name, of in sides)
    return all(
        own is not None and {*filter(None, shapes[of_model].tolist())} <= {*own}
        for own, of_model in of_operator
    )


class _Added:
    """Combines the operators of a profile with the columns of the nodes that they execute."""

    def __init__(
        self, profile: Profile, model: Profile, graph: ModelGraph, by_row: Mapping[int, Match]
    ) -> None:
        self._own = profile.operators
        self._nodes = model.operators
        self._matches = by_row
        self._of_execution_graph = model.is_execution_graph
        self._bytes = {
            row: graph.moved_bytes(match.nodes)
            for row, match in by_row.items()
            if len(match.nodes) > 1 and match.has_work
        }
        of_work = {row: match.nodes for row, match in by_row.items() if match.has_work}
        self._first = self._node_indices({row: nodes[0] for row, nodes in of_work.items()})
        self._last = self._node_indices({row: nodes[-1] for row, nodes in of_work.items()})
        self._main = self._node_indices({row: match.main for row, match in by_row.items()})

    def _node_indices(self, node_of: Mapping[int, int]) -> Indices:
        """Return the node of each operator, shape (operators,); -1 for operators without a node."""
        nodes = np.full(len(self._own), -1)
        nodes[[*node_of]] = [*node_of.values()]
        return nodes

    def operators(self) -> Operators:
        """Return the operators with all columns."""
        computation = self._sums(self._nodes.computation)
        memory = self._moved("memory", self._nodes.memory)
        optional = dict(self._own.optional)
        for name, values in self._nodes.optional.items():
            # Columns that are not loaded are not needed. The keys stay those of the profile.
            if name not in self._own.not_loaded and name != UNIQUE_NAME:
                optional[name] = self._column(name, values)
        for name, values in zip(DERIVED_WORK, (computation, memory), strict=True):
            if name in optional:
                optional[name] = _filled(values, self._own.numbers(name))
        return replace(
            self._own,
            type=self._filled_texts("type"),
            category=self._filled_texts("category"),
            **self._work("computation", computation),
            **self._work("memory", memory),
            optional=optional,
            not_loaded=self._own.not_loaded | (self._nodes.not_loaded - optional.keys()),
        )

    def main_nodes(self) -> Categorical[str]:
        """Return the name of the main node of each operator: see `Match.main`."""
        return self._nodes.name.take_or_missing(self._main)

    def has_memory_of_nodes(self) -> NDArray[np.bool_]:
        """Return which operators have memory above 0 that their nodes give, shape (operators,)."""
        return ~self._is_measured("memory") & (self._moved("memory", self._nodes.memory) > 0)

    def _filled_texts(self, name: Literal["type", "category"]) -> Categorical[str]:
        of_model: Categorical[str] = getattr(self._nodes, name)
        return _combined(
            getattr(self._own, name), of_model.take_or_missing(self._main), _first_known
        )

    def _column(self, name: str, values: OptionalValues) -> OptionalValues:
        """Return an optional column that combines the values of the profile and the model."""
        if not isinstance(values, Categorical):
            own_numbers = self._own.numbers(name)
            if name in _MOVED:
                return _filled(own_numbers, self._moved(name, values))
            # In the columns below, values of the model win: no runtime measures them, and the
            # shapes of a run may have channels that only pad a block.
            if name in _WEIGHTS:
                return _filled(self._weights(values), own_numbers)
            if name in _SUMS:
                return _filled(self._sums(values), own_numbers)
            if name in TILE_AMOUNTS:
                return _filled(self._sums(values, of_known=True), own_numbers)
            of_main = np.append(values, np.nan)[self._main]  # index -1 gets the appended NaN
            return _filled(of_main, own_numbers)
        own = self._own.categorical(name)
        if name == "parameters":
            own = self._with_node_names(own)
        of_node = {"in_shapes": self._first, "out_shapes": self._last}.get(name, self._main)
        merge = _merged if name == "parameters" else _first_known
        return _combined(own, values.take_or_missing(of_node), merge)

    def _with_node_names(self, own: Categorical[Parameters]) -> Categorical[Parameters]:
        """Return the parameters with the names of the nodes that each operator executes.

        Runtimes rename nodes when they optimise a graph. An execution graph describes the very
        operators that ran, so the names of its nodes are only of interest if they differ.
        """
        parameters, names = own.values().tolist(), self._own.name.values()
        node_names = self._nodes.name.values()
        for row, match in self._matches.items():
            nodes = " + ".join(filter(None, node_names[[*match.nodes]]))
            if nodes and not (self._of_execution_graph and nodes == names[row]):
                parameters[row] = _merged(parameters[row], ((NODES, nodes),))
        return Categorical.of(parameters)

    def _sums(self, values: Floats, *, of_known: bool = False) -> Floats:
        """Return the sum of `values` over the nodes of each operator.

        The sum is N/A for operators without the work of nodes: see `Match.has_work`. With
        `of_known`, nodes without a value are left out: only the matrix products of a fused operator
        have tiles.
        """
        sums = np.full(len(self._own), np.nan)
        for row, match in self._matches.items():
            chosen = values[[*match.nodes]]
            if of_known:
                chosen = chosen[~np.isnan(chosen)]
            if match.has_work and len(chosen):
                sums[row] = chosen.sum()
        return sums

    def _weights(self, values: Floats) -> Floats:
        """Return the sum of `values`, a column on weights, over the nodes of each operator.

        Weights do not depend on the shapes of a run. If the weights of a node count at another row
        of the node, the sum is 0.
        """
        sums = np.full(len(self._own), np.nan)
        for row, match in self._matches.items():
            sums[row] = values[[*match.nodes]].sum() if match.has_weights else 0.0
        return sums

    def _moved(self, name: str, values: Floats) -> Floats:
        """Return the bytes of the column `name` for each operator.

        A fused operator does not move the tensors between its nodes, so their bytes do not count.
        """
        moved = self._sums(values)
        for row, of_group in self._bytes.items():
            moved[row] = getattr(of_group, name)
        return moved

    def _is_measured(self, name: Literal["computation", "memory"]) -> NDArray[np.bool_]:
        source = self._own.source_of(name)
        return source.where(one == MEASURED for one in source.categories)

    def _work(self, name: Literal["computation", "memory"], derived: Floats) -> dict[str, Any]:
        """Return a work column and its source. Measured values win over derived values."""
        own: Floats = getattr(self._own, name)
        is_measured = self._is_measured(name)
        is_new = ~is_measured & ~np.isnan(derived)
        return {
            name: np.where(is_new, derived, own),
            f"{name}_source": Categorical(
                np.where(is_measured, 0, np.where(np.isnan(derived) & np.isnan(own), -1, 1)),
                (MEASURED, DERIVED),
            ),
        }


def _combined(
    own: Categorical[Any], of_model: Categorical[Any], combine: Callable[[Any, Any], Any]
) -> Categorical[Any]:
    pairs = zip(own.values(), of_model.values(), strict=True)
    return Categorical.of([combine(*pair) for pair in pairs])


def _filled(values: Floats, others: Floats) -> Floats:
    return np.where(np.isnan(values), others, values)


def _first_known(own: Any, of_model: Any) -> Any:
    return of_model if own is None else own


def _merged(own: Parameters | None, of_model: Parameters | None) -> Parameters | None:
    """Merge two sets of parameters. If both have a parameter, the runtime's value wins."""
    if own is None or of_model is None:
        return of_model if own is None else own
    return tuple(sorted({**dict(of_model), **dict(own)}.items()))


def _finding(profile: Profile, model: Profile, matches: Matches, instead: str) -> Finding:
    """Return how many operators were matched, and how.

    If some operators are not matched, the model may be the wrong one. The finding is then among the
    most important ones.
    """
    expected = expected_of(profile, model)
    counts = Counter(match.how for row, match in matches.by_row.items() if expected[row])
    left = expected.copy()
    left[[*matches.by_row]] = False
    # If all operators are matched, there is no share: a share of 0 would make it unimportant.
    share = profile.share_of(left) if left.any() else np.nan
    is_doubtful = bool(2 * left.sum() > expected.sum() and share > _LARGE_SHARE)
    kind = Kind.ANSWER if left.any() or not expected.any() else Kind.CONTEXT
    if is_doubtful and counts and not model.is_execution_graph:
        kind = Kind.WRONG
    return Finding.of(
        *("matched-nodes", kind),
        share=share,
        by_name=counts[NAME],
        by_order=counts[ORDER],
        left=left.sum(),
        expected=expected.sum(),
        other_shapes=left[[*matches.other_shapes]].sum(),
        doubtful=is_doubtful,
        is_execution_graph=model.is_execution_graph,
        instead=instead,
    )

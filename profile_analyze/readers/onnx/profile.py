"""Makes the profile of an ONNX model: a row for each node, without times."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import (
    ABSENT,
    CONTROL,
    CONVOLUTION,
    DERIVED,
    ONNX_TOOL_NAMES,
    OTHER,
    SPARSITY_NAMES,
    UNIQUE_NAME,
)
from profile_analyze.model.visible import escaped
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.onnx.defaults import with_defaults
from profile_analyze.readers.onnx.static import static_model
from profile_analyze.readers.onnx.tables import ModelTables, known_shape
from profile_analyze.readers.onnx.work.gradients import needed_gradients
from profile_analyze.readers.onnx.work.onnx_tool_columns import onnx_tool_columns
from profile_analyze.readers.onnx.work.operations import is_known, operation_of
from profile_analyze.readers.onnx.work.sparsity import sparsity_columns
from profile_analyze.readers.onnx.work.tile_columns import tile_columns
from profile_analyze.work.convolutions import conv_kind, macs_without_padding
from profile_analyze.work.kinds import KINDS, backward_macs, bias_elements, work_of
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import all_known, compute_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import OptionalValues, Parameters, Shapes
    from profile_analyze.readers.onnx.graph import OnnxModel
    from profile_analyze.readers.onnx.safety.external_data import ModelFolder
    from profile_analyze.readers.onnx.tables import PlacedNode
    from profile_analyze.readers.onnx.work.gradients import NeededGradients


_MOST_TYPES: Final = 4
"""The most types of operator that a note names."""


class _Cost(NamedTuple):
    """What one call of a node costs, without its bodies. NaN stands for N/A."""

    category: str
    work: Work
    bias_elements: float = nan
    backward_macs: float = nan
    macs_without_padding: float = nan
    conv_kind: str | None = None


_NOTHING: Final = _Cost(CONTROL, Work(0.0, 0.0, 0.0), 0.0, 0.0)
"""The cost of a constant operator, unless it is a convolution."""


def profile_of(
    model: OnnxModel, file: str, folder: ModelFolder | None, wanted: Collection[str]
) -> Profile:
    """Return the profile of `model`.

    The profile has all tables, all columns that are cheap to compute, and the costly columns that
    `wanted` names. `folder` has the files with external data; it is None if there is no folder.
    Raises `QueryError` if the caller gives the size of tiles and the model has no matrix products.
    """
    tables = ModelTables(model.graph)
    costs = [
        _cost(placed, needed)
        for placed, needed in zip(tables.rows, needed_gradients(tables), strict=True)
    ]
    costly, notes = _costly_columns(model, tables, folder, wanted)
    if model.tile is not None:
        of_tiles, notes_on_tiles = tile_columns(tables.rows, model.tile, file)
        costly, notes = costly | of_tiles, (*notes, *notes_on_tiles)
    return Profile(
        file=file,
        origin=Origin("ONNX model", model.producer or None, times=ABSENT),
        operators=_operators(tables, costs, costly, model.opsets),
        executions=Executions.of([], []),
        tracks=(),
        runs=(Run(),),
        processes=(file,),
        tensors=tables.tensors(),
        uses=tables.uses(),
        model=static_model(model.graph, tables.rows, [cost.work.macs for cost in costs])._replace(
            lacks=model.lacks, tile=model.tile and model.tile.sizes
        ),
        notes=(
            *model.problems,
            *_notes_on_unknown_types(tables),
            *notes,
        ),
    )


def _costly_columns(
    model: OnnxModel, tables: ModelTables, folder: ModelFolder | None, wanted: Collection[str]
) -> tuple[dict[str, OptionalValues], tuple[Note, ...]]:
    """Return the columns that are computed only if a question needs them, and their notes."""
    columns: dict[str, OptionalValues] = {}
    notes: tuple[Note, ...] = ()
    if not frozenset(wanted).isdisjoint(ONNX_TOOL_NAMES):
        columns |= onnx_tool_columns(tables.rows)
    if not frozenset(wanted).isdisjoint(SPARSITY_NAMES):
        of_sparsity, notes = sparsity_columns(tables, folder)
        columns |= of_sparsity
        if model.problem_of_values is not None:
            notes = (model.problem_of_values, *notes)
    return columns, notes


def _notes_on_unknown_types(tables: ModelTables) -> Iterator[Note]:
    """Yield a note if operators have unknown types."""
    nodes = (placed.node for placed in tables.rows if not placed.node.is_constant)
    types = [
        f"{node.domain}.{node.type}" if node.domain else node.type
        for node in nodes
        if not is_known(node)
    ]
    if not types:
        return
    named = [escaped(one) for one in [*dict.fromkeys(types)][:_MOST_TYPES]]
    more = len({*types}) - len(named)
    yield Finding.of(
        *("unknown-types", Kind.INCOMPLETE), operators=len(types), types=named, more=more
    )


def _cost(placed: PlacedNode, needed: NeededGradients) -> _Cost:
    """Return the cost of a node. All numbers are N/A if its attributes have wrong types."""
    try:
        return _known_cost(placed, needed)
    # For example, a node of a damaged model may have a number instead of a list.
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        return _Cost(OTHER, Work())


def _known_cost(placed: PlacedNode, needed: NeededGradients) -> _Cost:
    operation = operation_of(placed.node, placed.graph.values)
    if operation is None:
        return _Cost(OTHER, Work())
    if placed.node.contradiction is not None:
        return _Cost(KINDS[operation.kind].category, Work())
    return _Cost(
        KINDS[operation.kind].category,
        work_of(operation),
        bias_elements(operation),
        backward_macs(
            operation, input_gradients=needed.of_inputs, weight_gradients=needed.of_weights
        ),
        macs_without_padding(operation),
        conv_kind(operation),
    )


def _cost_in_run(placed: PlacedNode, cost: _Cost) -> _Cost:
    """Return what one call of a node costs in a run.

    A constant operator costs nothing, because its result can be computed before the run.
    """
    if not placed.node.is_constant:
        return cost
    # Only convolutions have a number of multiply-adds without padding.
    return _NOTHING._replace(macs_without_padding=0.0 if cost.category == CONVOLUTION else nan)


def _operators(
    tables: ModelTables,
    costs: Sequence[_Cost],
    costly: Mapping[str, OptionalValues],
    opsets: Mapping[str, int],
) -> Operators:
    rows = tables.rows
    in_run = list(map(_cost_in_run, rows, costs))
    return Operators.of(
        key=np.arange(len(rows)),
        name=Categorical.of([placed.node.name for placed in rows]),
        type=Categorical.of([placed.node.type for placed in rows]),
        category=Categorical.of([cost.category for cost in in_run]),
        scope=Categorical.of([placed.scope or None for placed in rows]),
        computation=floats(cost.work.computation for cost in in_run),
        memory=floats(cost.work.memory for cost in in_run),
        source=DERIVED,
        optional={
            UNIQUE_NAME: Categorical.of(
                distinct_keys("/".join((*one.scope, one.node.name)) for one in rows)
            ),
            **_shapes_and_dtypes(tables),
            "parameters": Categorical.of([_parameters(placed, opsets) for placed in rows]),
            **_weights(tables),
            "input_bytes": floats(_bytes(tables, placed.inputs) for placed in rows),
            "output_bytes": floats(_bytes(tables, placed.outputs) for placed in rows),
            "macs": floats(cost.work.macs for cost in in_run),
            "macs_with_bias": floats(cost.work.macs + cost.bias_elements for cost in in_run),
            "macs_without_padding": floats(cost.macs_without_padding for cost in in_run),
            "conv_kind": Categorical.of([cost.conv_kind for cost in in_run]),
            "backward_macs": floats(cost.backward_macs for cost in in_run),
            **costly,
        },
        not_loaded=frozenset((*ONNX_TOOL_NAMES, *SPARSITY_NAMES)) - frozenset(costly),
    )


def _bytes(tables: ModelTables, indices: Iterable[int | None]) -> float:
    """Return the total bytes of the tensors that are not constant. Each tensor counts once."""
    return sum((tensor.bytes for tensor in tables.distinct(indices)), 0.0)


def _shapes_and_dtypes(tables: ModelTables) -> dict[str, OptionalValues]:
    def of_rows(value: Callable[[PlacedNode], Any]) -> Categorical[Any]:
        return Categorical.of([value(placed) for placed in tables.rows])

    return {
        "in_shapes": of_rows(lambda placed: _shapes(tables, placed.inputs)),
        "out_shapes": of_rows(lambda placed: _shapes(tables, placed.outputs)),
        "input_dtypes": of_rows(
            lambda placed: tuple(tables.tensor(n).dtype for n in placed.inputs if n is not None)
        ),
        "compute_dtype": of_rows(lambda placed: _compute_dtype(tables, placed)),
    }


def _shapes(tables: ModelTables, indices: Iterable[int | None]) -> Shapes | None:
    """Return the shapes of tensors; None if a size is unknown."""
    return all_known(
        known_shape(tables.values[index].dims) for index in indices if index is not None
    )


def _compute_dtype(tables: ModelTables, placed: PlacedNode) -> str | None:
    """Return the dtype that a node computes in; None for a constant node, which no run executes."""
    if placed.node.is_constant:
        return None
    return compute_dtype(
        *(
            [None if index is None else tables.tensor(index).dtype for index in indices]
            for indices in (placed.inputs, placed.outputs)
        )
    )


def _parameters(placed: PlacedNode, opsets: Mapping[str, int]) -> Parameters:
    """Return the attributes of a node as parameters. Lists become texts such as `3x3`."""
    attributes = with_defaults(placed.node, opsets)
    return tuple((name, _attribute(value)) for name, value in sorted(attributes.items()))


def _attribute(value: Any) -> int | float | str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (tuple, list)):
        return "x".join(str(_attribute(one)) for one in value)
    return value if isinstance(value, (int, float)) else str(value)


def _weights(tables: ModelTables) -> dict[str, OptionalValues]:
    params, sizes, reused = [], [], []
    for weights in tables.weights():
        counted = [tables.tensor(index) for index in weights.counted]
        params.append(sum((tensor.elements for tensor in counted), 0.0))
        sizes.append(sum((tensor.bytes for tensor in counted), 0.0))
        names = [tables.values[index].name for index in weights.reused]
        reused.append(", ".join(names) or None)
    return {
        "params": floats(params),
        "param_bytes": floats(sizes),
        "reused_weights": Categorical.of(reused),
    }

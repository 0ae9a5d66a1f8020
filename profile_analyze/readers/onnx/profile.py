"""Makes the profile of an ONNX model: a row for each node, without times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.operators import Operators
from profile_analyze.model.profile import Origin, Profile
from profile_analyze.model.terms import ABSENT, CONTROL, DERIVED, DTYPES, OTHER
from profile_analyze.readers.onnx.operations import operation_of
from profile_analyze.readers.onnx.static import static_model
from profile_analyze.readers.onnx.tables import ModelTables, known_shape
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from profile_analyze.model.operators import OptionalValues, Parameters, Shapes
    from profile_analyze.readers.onnx.graph import OnnxModel
    from profile_analyze.readers.onnx.tables import PlacedNode
    from profile_analyze.work.tensor import Tensor


def profile_of(model: OnnxModel, file: str, wanted: Collection[str]) -> Profile:  # noqa: ARG001
    """Return the profile of `model`. It has all columns and tables, which cost little."""
    tables = ModelTables(model.graph)
    work = [_work(placed) for placed in tables.rows]
    return Profile(
        file=file,
        origin=Origin("ONNX model", model.producer or None, times=ABSENT),
        operators=_operators(tables, [category for category, _ in work], [one for _, one in work]),
        executions=Executions.of([], []),
        tracks=(),
        runs=(Run(),),
        processes=(file,),
        tensors=tables.tensors(),
        uses=tables.uses(),
        model=static_model(model.graph, tables.rows, [one.macs for _, one in work]),
    )


def _work(placed: PlacedNode) -> tuple[str, Work]:
    """Return the category of a node and the work of one call, which bodies are not part of."""
    operation = operation_of(placed.node, placed.values)
    if operation is None:
        return OTHER, Work()
    return KINDS[operation.kind].category, work_of(operation)


def _operators(tables: ModelTables, categories: Sequence[str], work: Sequence[Work]) -> Operators:
    rows = tables.rows
    # The results of constant operators can be stored, so they cost nothing when the model runs.
    costs = [
        Work(0.0, 0.0, 0.0) if one.node.is_constant else w
        for one, w in zip(rows, work, strict=True)
    ]
    return Operators.of(
        key=np.arange(len(rows)),
        name=Categorical.of([placed.node.name for placed in rows]),
        type=Categorical.of([placed.node.type for placed in rows]),
        category=Categorical.of(
            [
                CONTROL if placed.node.is_constant else category
                for placed, category in zip(rows, categories, strict=True)
            ]
        ),
        scope=Categorical.of([placed.scope or None for placed in rows]),
        computation=np.array([one.computation for one in costs], np.float64),
        memory=np.array([one.memory for one in costs], np.float64),
        source=DERIVED,
        optional={
            **_shapes_and_dtypes(tables),
            **_weights(tables),
            **_bytes(tables),
            "macs": np.array([one.macs for one in costs], np.float64),
        },
    )


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
        "parameters": of_rows(_parameters),
    }


def _shapes(tables: ModelTables, indices: Iterable[int | None]) -> Shapes | None:
    """Return the shapes of tensors; None if a size is unknown."""
    shapes = [known_shape(tables.values[index].dims) for index in indices if index is not None]
    return None if None in shapes else tuple(shapes)  # type: ignore[arg-type]  # none is None


def _compute_dtype(tables: ModelTables, placed: PlacedNode) -> str | None:
    """Return the dtype of the first input; of the first output if that is a condition or absent."""
    for indices in (placed.inputs[:1], placed.outputs[:1]):
        for index in indices:
            dtype = None if index is None else tables.tensor(index).dtype
            if dtype in DTYPES and dtype != "bool":
                return dtype
    return None


def _parameters(placed: PlacedNode) -> Parameters:
    """Return the attributes of a node: a kernel shape is `3x3`."""
    return tuple(
        (name, _attribute(value)) for name, value in sorted(placed.node.attributes.items())
    )


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
        "params": np.array(params, np.float64),
        "param_bytes": np.array(sizes, np.float64),
        "reused_weights": Categorical.of(reused),
    }


def _bytes(tables: ModelTables) -> dict[str, OptionalValues]:
    """Return the bytes of inputs and outputs that are not constant."""

    def total(tensors: Iterable[Tensor]) -> float:
        return sum((tensor.bytes for tensor in tensors), 0.0)

    return {
        "input_bytes": np.array(
            [total(tables.distinct(placed.inputs)) for placed in tables.rows], np.float64
        ),
        "output_bytes": np.array(
            [total(tables.distinct(placed.outputs)) for placed in tables.rows], np.float64
        ),
    }

"""The reader of execution graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.static import Port, StaticModel, Stored
from profile_analyze.model.terms import ABSENT, DERIVED, DTYPES, FUSED_NAMES, MEAN, UNIQUE_NAME
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.openvino.layers import read_graph
from profile_analyze.readers.openvino.notes import notes_on_graph
from profile_analyze.readers.openvino.tables import GraphTables
from profile_analyze.readers.openvino.terms import device_track, dtype_of
from profile_analyze.readers.openvino.work import Row, tensor_of, work_of_layer
from profile_analyze.units import US_PER_S
from profile_analyze.work.tensor import all_known

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.operators import OptionalValues, Parameters, Shapes
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.openvino.layers import ExecutionGraph, Layer, LayerPort
    from profile_analyze.work.tensor import Tensor

FORMAT: Final = "OpenVINO execution graph"
_PARAMETERS: Final = {
    "primitive": "primitiveType",
    "precision": "runtimePrecision",
    "out_precision": "outputPrecisions",
    "layout": "outputLayouts",
    "original_layers": "originalLayersNames",
}
"""For each parameter of a row, the attribute in the file that has its value."""


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile in `source`. See `Reader.read`."""
    with gc_paused():
        graph = read_graph(source)
        _check(source.name, graph)
        tables = GraphTables(graph)
        rows = [_row(layer) for layer in tables.rows]
        has_times = any(row.layer.time_us is not None for row in rows)
        ran = [index for index, row in enumerate(rows) if row.layer.time_us is not None]
        return Profile(
            file=source.name,
            origin=Origin(FORMAT, times=MEAN if has_times else ABSENT),
            operators=_operators(rows, tables),
            executions=Executions.of(
                ran, [(rows[index].layer.time_us or 0.0) / US_PER_S for index in ran]
            ),
            tracks=(device_track(row.layer.data.get("primitiveType", "") for row in rows),)
            if has_times
            else (),
            runs=(Run(),),
            processes=(source.name,),
            tensors=tables.tensors(),
            uses=tables.uses(),
            notes=tuple(notes_on_graph(rows, graph.layers, tables.run_once)),
            model=None if has_times else _static_model(tables),
            is_execution_graph=True,
        )


def _check(file: str, graph: ExecutionGraph) -> None:
    """Raise `MalformedProfileError` if there is nothing to analyse, and say why."""
    if not graph.layers:
        raise MalformedProfileError(file, "has no layers (elements net/layers/layer)")
    if not any("execTimeMcs" in layer.data for layer in graph.layers):
        raise MalformedProfileError(
            file,
            "is a model of OpenVINO (IR), not an execution graph: no layer has execTimeMcs; "
            "benchmark_app -m FILE -pc -exec_graph_path graph.xml writes an execution graph",
        )


def _row(layer: Layer) -> Row:
    inputs, outputs = (tuple(map(tensor_of, ports)) for ports in (layer.inputs, layer.outputs))
    cost = work_of_layer(layer.type, inputs, outputs)
    dtype = dtype_of(layer.data.get("runtimePrecision", ""))
    return Row(layer, inputs, outputs, cost, dtype if dtype in DTYPES else None)


def _static_model(tables: GraphTables) -> StaticModel:
    inputs, outputs = (
        tuple(Port(one.name, one.tensor.shape, one.tensor.dtype) for one in ports)
        for ports in tables.ports()
    )
    constants = tables.constants()
    elements = sum((one.elements for one in constants), 0.0)
    stored = Stored(len(constants), elements, sum(_bytes(constants), 0.0))
    return StaticModel(inputs, outputs, stored)


def _operators(rows: Sequence[Row], tables: GraphTables) -> Operators:
    computation = floats(row.cost.work.computation for row in rows)
    memory = floats(row.cost.work.memory for row in rows)
    return Operators.of(
        key=_keys([row.layer for row in rows]),
        name=Categorical.of([row.layer.name for row in rows]),
        type=Categorical.of([row.layer.type or None for row in rows]),
        category=Categorical.of([row.cost.category for row in rows]),
        computation=computation,
        memory=memory,
        source=DERIVED,
        optional={
            UNIQUE_NAME: Categorical.of(distinct_keys(row.layer.name for row in rows)),
            **_categorical_columns(rows),
            **_weights(tables),
            "macs": floats(row.cost.work.macs for row in rows),
            "derived_computation": computation,
            "derived_memory": memory,
            "output_bytes": floats(sum(_bytes(row.outputs)) for row in rows),
        },
    )


def _categorical_columns(rows: Sequence[Row]) -> dict[str, OptionalValues]:
    def of_rows(value: Callable[[Row], Any]) -> Categorical[Any]:
        return Categorical.of([value(row) for row in rows])

    return {
        "in_shapes": of_rows(lambda row: _shapes(row.inputs)),
        "out_shapes": of_rows(lambda row: _shapes(row.outputs)),
        "input_dtypes": of_rows(lambda row: _precisions(row.layer.inputs)),
        "compute_dtype": of_rows(lambda row: row.dtype),
        "conv_kind": of_rows(lambda row: row.cost.conv_kind),
        "parameters": of_rows(lambda row: _parameters(row.layer)),
        FUSED_NAMES: of_rows(lambda row: _fused_names(row.layer)),
    }


def _keys(layers: Sequence[Layer]) -> NDArray[np.int64] | Categorical[str]:
    """Return the position of each layer in the order of execution.

    If a position is unknown or occurs twice, the keys are the ids of the layers.
    """
    orders = [layer.order for layer in layers if layer.order is not None]
    if len(set(orders)) == len(layers):
        return np.array(orders, np.int64)
    return Categorical.of([layer.id for layer in layers])


def _bytes(tensors: Iterable[Tensor | None]) -> list[float]:
    return [one.bytes for one in tensors if one is not None]


def _shapes(tensors: Iterable[Tensor | None]) -> Shapes | None:
    """Return the shapes of tensors; None if a size is unknown."""
    shapes = (one.shape for one in tensors if one is not None)
    return all_known(None if shape is None else all_known(shape) for shape in shapes)


def _precisions(ports: Iterable[LayerPort]) -> tuple[str, ...]:
    return tuple(port.precision for port in ports if tensor_of(port) is not None)


def _parameters(layer: Layer) -> Parameters:
    values = {name: layer.data.get(attribute, "") for name, attribute in _PARAMETERS.items()}
    return tuple(sorted((name, value) for name, value in values.items() if value))


def _fused_names(layer: Layer) -> tuple[str, ...] | None:
    """Return the names of the model's layers that were fused into `layer`; None without fusion."""
    names = tuple(filter(None, layer.data.get("originalLayersNames", "").split(",")))
    return names if len(names) > 1 else None


def _weights(tables: GraphTables) -> dict[str, OptionalValues]:
    weights = tables.weights()
    return {
        "params": floats(sum((one.elements for one in row), 0.0) for row in weights),
        "param_bytes": floats(sum(_bytes(row)) for row in weights),
    }

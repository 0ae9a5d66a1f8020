"""The reader of descriptions of engines, which `trtexec --exportLayerInfo` writes."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model import terms
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.static import Port, StaticModel, Stored
from profile_analyze.model.terms import UNIQUE_NAME
from profile_analyze.readers.input.companions import profiles_of
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.tensorrt.layers import read_engine
from profile_analyze.readers.tensorrt.tables import EngineTables
from profile_analyze.readers.tensorrt.work import Cost, cost_of
from profile_analyze.work.tensor import compute_dtype

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from profile_analyze.model.operators import OptionalValues
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.tensorrt.layers import Layer
    from profile_analyze.readers.tensorrt.tensors import EngineTensor

FORMAT: Final = "TensorRT engine description"


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile of the engine that `source` describes, without times."""
    engine = read_engine(source)
    costs = [cost_of(layer) for layer in engine.layers]
    tables = EngineTables(engine)
    return Profile(
        file=source.name,
        origin=Origin(FORMAT, times=terms.ABSENT),
        operators=_operators(engine.layers, costs, tables),
        executions=Executions.of([], []),
        tracks=(),
        runs=(Run(),),
        processes=(source.name,),
        tensors=tables.tensors(),
        uses=tables.uses(),
        model=_model(tables, engine.layers, costs),
        is_execution_graph=True,
        notes=(_no_times(source), *_notes(engine.layers, costs)),
    )


def _operators(layers: Sequence[Layer], costs: Sequence[Cost], tables: EngineTables) -> Operators:
    return Operators.of(
        key=np.arange(len(layers)),
        name=Categorical.of([layer.name for layer in layers]),
        type=Categorical.of([layer.type for layer in layers]),
        category=Categorical.of([cost.category for cost in costs]),
        scope=Categorical.of([layer.scope for layer in layers]),
        computation=floats(cost.work.computation for cost in costs),
        memory=floats(cost.work.memory for cost in costs),
        source=terms.DERIVED,
        optional=_optional(layers, costs, tables),
    )


def _optional(
    layers: Sequence[Layer], costs: Sequence[Cost], tables: EngineTables
) -> dict[str, OptionalValues]:
    of_layers = tables.weights()
    weights = [of_layers.get(row, []) for row in range(len(layers))]
    return {
        UNIQUE_NAME: Categorical.of(distinct_keys(layer.name for layer in layers)),
        "in_shapes": Categorical.of([_shapes(layer.inputs) for layer in layers]),
        "out_shapes": Categorical.of([_shapes(layer.outputs) for layer in layers]),
        "input_dtypes": Categorical.of(
            [tuple(one.dtype_name for one in layer.inputs) for layer in layers]
        ),
        "compute_dtype": Categorical.of([_compute_dtype(layer) for layer in layers]),
        "parameters": Categorical.of([layer.parameters for layer in layers]),
        "macs": floats(cost.work.macs for cost in costs),
        "macs_with_bias": floats(cost.macs_with_bias for cost in costs),
        "macs_without_padding": floats(cost.macs_without_padding for cost in costs),
        "conv_kind": Categorical.of([cost.conv_kind for cost in costs]),
        "params": floats(sum((one.elements for one in of_row), 0.0) for of_row in weights),
        "param_bytes": floats(sum((one.bytes for one in of_row), 0.0) for of_row in weights),
        "input_bytes": floats(_bytes(layer.inputs) for layer in layers),
        "output_bytes": floats(_bytes(layer.outputs) for layer in layers),
    }


def _shapes(tensors: Sequence[EngineTensor]) -> tuple[tuple[int, ...], ...] | None:
    shapes = [one.shape for one in tensors]
    return None if None in shapes else tuple(one for one in shapes if one is not None)


def _bytes(tensors: Sequence[EngineTensor]) -> float:
    """Return the bytes of all tensors in memory. Each tensor counts once."""
    by_name = {one.name: one.stored for one in tensors}
    return sum((one.bytes for one in by_name.values()), 0.0)


def _compute_dtype(layer: Layer) -> str | None:
    """Return the dtype that the layer computes in.

    This dtype follows from the weights, or if there are no weights, from the inputs and outputs.
    """
    weights = layer.constant("Weights")
    inputs = [one.tensor.dtype for one in layer.inputs] if weights is None else [weights.dtype]
    return compute_dtype(inputs, [one.tensor.dtype for one in layer.outputs])


def _model(tables: EngineTables, layers: Sequence[Layer], costs: Sequence[Cost]) -> StaticModel:
    weights = [one for of_row in tables.weights().values() for one in of_row]
    first = [cost for cost, layer in zip(costs, layers, strict=True) if layer.scope is None]
    return StaticModel(
        inputs=tuple(map(_port, tables.inputs)),
        outputs=tuple(map(_port, tables.results)),
        initializers=Stored(
            len(weights),
            sum((one.elements for one in weights), 0.0),
            sum((one.bytes for one in weights), 0.0),
        ),
        macs_executed=sum((cost.work.macs for cost in first), 0.0),
    )


def _port(tensor: EngineTensor) -> Port:
    return Port(tensor.name, tensor.tensor.shape, tensor.tensor.dtype)


def _no_times(source: Source) -> Finding:
    """Return a finding that says where the times are, for people who expect some in this file."""
    beside = next(filter(source.has_neighbour, profiles_of(Path(source.name).name)), None)
    return Finding.of("engine-without-times", Kind.ANSWER, dropped_beside="profile", beside=beside)


def _notes(layers: Sequence[Layer], costs: Sequence[Cost]) -> Iterator[Finding]:
    yield from on_operators(
        *("other-optimization-profiles", Kind.CONTEXT),
        sum(layer.scope is not None for layer in layers),
        share=nan, dropped_beside="profile", shown=True,
    )  # fmt: skip
    unknown = [
        layer.type or "N/A"
        for layer, cost in zip(layers, costs, strict=True)
        if np.isnan(cost.work.computation) and layer.scope is None
    ]
    types = [*dict.fromkeys(unknown)]
    yield from on_operators("undescribed-work", Kind.INCOMPLETE, len(unknown), nan, types=types)

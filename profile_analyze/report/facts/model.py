"""Facts on a model that has not run: its size, its work and the memory of its activations."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.report.facts.facts import (
    INTEGER,
    NUMBER,
    TEXT,
    Fact,
    FactGroup,
    list_schema,
    object_schema,
)
from profile_analyze.report.facts.model_texts import (
    body_lines,
    bytes_text,
    constants_text,
    macs_text,
    memory_text,
    model_of,
    operators_text,
    params_text,
    peak_text,
    port_lines,
)
from profile_analyze.report.facts.tiling_texts import TILING_MEANING, tiling_lines, tiling_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.model.static import BodyWork, Port, Stored
    from profile_analyze.views.model_summary import BaseWork, ModelSummary


def _port_record(port: Port) -> dict[str, Any]:
    sizes = None if port.sizes is None else list(port.sizes)
    return {"name": port.name, "shape": sizes, "dtype": port.dtype}


def _body_record(body: BodyWork) -> dict[str, Any]:
    return {**body._asdict(), "macs": None if isnan(body.macs) else body.macs}


def _stored_record(stored: Stored) -> dict[str, Any]:
    size = None if isnan(stored.size) else stored.size
    return {"tensors": stored.tensors, "elements": stored.elements, "size_bytes": size}


def _base_record(base: BaseWork | None) -> dict[str, Any] | None:
    if base is None:
        return None
    return {
        "file": base.file,
        "macs": base.macs,
        "params": base.params,
        "memory_bytes": base.memory,
        "unknown_operators": {"macs": base.unknown_macs, "memory": base.unknown_memory},
    }


def _number(
    name: str,
    meaning: str,
    value: Callable[[ModelSummary], float],
    shown_with: str,
) -> Fact:
    return Fact(name, meaning, lambda summary: value(model_of(summary)), shown_with=shown_with)


_OR_NULL: Final = {"type": ["string", "null"]}
_PORT_SCHEMA: Final = {
    "name": TEXT,
    "shape": {
        "description": "A size is a number, a symbol, or null if it is unknown.",
        "type": ["array", "null"],
        "items": {"type": ["integer", "string", "null"]},
    },
    "dtype": _OR_NULL,
}

_SIZE_FACTS: Final = (
    Fact(
        "operators",
        "The number of operators outside of bodies, without operators that compute constants.",
        lambda summary: model_of(summary).operators,
        INTEGER,
        label="operators",
        text=operators_text,
    ),
    Fact(
        "types",
        "The number of operators of each type, the most frequent type first.",
        lambda summary: [
            {"type": name, "operators": count} for name, count in model_of(summary).types
        ],
        list_schema({"type": TEXT, "operators": INTEGER}),
        shown_with="operators",
    ),
    Fact(
        "constant_operators",
        "The number of operators that compute constants, which cost nothing in a run.",
        lambda summary: model_of(summary).facts.constant_operators,
        INTEGER,
        shown_with="operators",
    ),
    Fact(
        "initializers",
        "The tensors that the file stores as initializers, whether they are used or not.",
        lambda summary: _stored_record(model_of(summary).facts.initializers),
        object_schema({"tensors": INTEGER, "elements": NUMBER, "size_bytes": NUMBER}),
        shown_with="params",
    ),
    Fact(
        "params",
        "The number of weights: elements of constants, without scales, shapes and single numbers.",
        lambda summary: model_of(summary).params,
        label="parameters",
        text=params_text,
    ),
    _number("param_bytes", "The bytes of the weights.", lambda model: model.param_bytes, "params"),
    Fact(
        "params_by_dtype",
        "The weights of each dtype, the dtype with the most bytes first.",
        lambda summary: [
            {"dtype": one.dtype, "params": one.params, "size_bytes": one.size}
            for one in model_of(summary).params_by_dtype
        ],
        list_schema({"dtype": _OR_NULL, "params": NUMBER, "size_bytes": NUMBER}),
        shown_with="params",
    ),
    Fact(
        "constants",
        "The stored constants that are not weights, by role: quantization (scales and zero "
        "points), scalar (single numbers), structure (shapes and indices) or unused.",
        lambda summary: [
            {
                "role": one.role,
                "tensors": one.tensors,
                "elements": one.elements,
                "size_bytes": one.size,
            }
            for one in model_of(summary).constants
        ],
        list_schema(
            {
                "role": TEXT,
                "tensors": INTEGER,
                "elements": NUMBER,
                "size_bytes": NUMBER,
            }
        ),
        label="other constants",
        text=constants_text,
    ),
)

_WORK_FACTS: Final = (
    Fact(
        "macs",
        "The multiply-adds of one run, without bodies, as far as they are known.",
        lambda summary: model_of(summary).macs,
        label="MACs",
        text=macs_text,
    ),
    Fact(
        "memory_without_bodies_bytes",
        "The bytes that operators outside of bodies read and write, as far as they are known.",
        lambda summary: model_of(summary).memory,
        label="memory traffic",
        text=memory_text,
    ),
    Fact(
        "base",
        "The work of the baseline, as far as it is known; null without --compare.",
        lambda summary: _base_record(model_of(summary).base),
        object_schema(
            {
                "file": TEXT,
                "macs": NUMBER,
                "params": NUMBER,
                "memory_bytes": NUMBER,
                "unknown_operators": object_schema({"macs": INTEGER, "memory": INTEGER}),
            }
        )
        | {"type": ["object", "null"]},
        shown_with="macs",
    ),
    Fact(
        "unknown_operators",
        "How many operators outside of bodies are left out of totals because their work is "
        "unknown.",
        lambda summary: {
            "macs": model_of(summary).unknown_macs,
            "computation": model_of(summary).unknown_computation,
            "memory": model_of(summary).unknown_memory,
        },
        object_schema(dict.fromkeys(("macs", "computation", "memory"), INTEGER)),
        shown_with="macs",
    ),
    _number(
        "macs_executed",
        "The multiply-adds of one run, with each body as often as it runs; null if unknown.",
        lambda model: model.facts.macs_executed,
        "macs",
    ),
    _number(
        "macs_of_constant_operators",
        "The multiply-adds of operators that compute constants, which macs leaves out; null if "
        "unknown.",
        lambda model: model.facts.macs_of_constant_operators,
        "macs",
    ),
    Fact(
        "bodies",
        "The graphs inside operators such as If and Loop, each with the MACs of one execution, "
        "and how often one call of the operator (trip_count) and a run (executions) execute it.",
        lambda summary: list(map(_body_record, model_of(summary).facts.bodies)),
        list_schema(
            {
                "operator": TEXT,
                "attribute": TEXT,
                "operators": INTEGER,
                "macs": NUMBER,
                "trip_count": {"type": ["integer", "null"]},
                "executions": {"type": ["integer", "null"]},
            }
        ),
        lines=body_lines,
    ),
)

_TILING_FACT: Final = Fact(
    "tiling",
    TILING_MEANING,
    tiling_record,
    object_schema(
        {
            "tile": {"type": "array", "items": INTEGER},
            **dict.fromkeys(("products", "split_products", "tiles"), INTEGER),
            **dict.fromkeys(("macs", "tiled_macs", "tile_efficiency"), NUMBER),
            **dict.fromkeys(("untiled_memory_bytes", "tiled_memory_bytes"), NUMBER),
            **dict.fromkeys(
                ("padded_memory_bytes", "tile_peak_bytes", "untiled_peak_bytes"), NUMBER
            ),
            "tile_peak_operator": _OR_NULL,
        }
    )
    | {"type": ["object", "null"]},
    lines=tiling_lines,
)

_MEMORY_FACTS: Final = (
    Fact(
        "activation_bytes",
        "The bytes of all results of operators outside of bodies, without constants.",
        lambda summary: model_of(summary).activations.total_bytes,
        label="activations",
        text=lambda summary, _: bytes_text(model_of(summary).activations.total_bytes),
    ),
    _number(
        "activation_without_shapes_bytes",
        "activation_bytes without the results of shape arithmetic.",
        lambda model: model.activations.without_shapes_bytes,
        "activation_bytes",
    ),
    Fact(
        "peak_activation_bytes",
        "The most bytes of inputs and activations that are needed at one operator.",
        lambda summary: model_of(summary).activations.peak_bytes,
        label="peak of activations",
        text=peak_text,
    ),
    Fact(
        "peak_operator",
        "The first operator at which the peak is reached.",
        lambda summary: model_of(summary).peak_operator,
        _OR_NULL,
        shown_with="peak_activation_bytes",
    ),
    Fact(
        "alive_at_peak",
        "The tensors that are needed at the peak, the largest first.",
        lambda summary: [
            {"name": one.name, "size_bytes": one.size} for one in model_of(summary).alive
        ],
        list_schema({"name": TEXT, "size_bytes": NUMBER}),
        shown_with="peak_activation_bytes",
    ),
    _number(
        "peak_inputs_kept_bytes",
        "The peak if the inputs of the model stay in memory to the end.",
        lambda model: model.activations.peak_inputs_kept_bytes,
        "peak_activation_bytes",
    ),
    Fact(
        "weights_and_peak_bytes",
        "The sum of param_bytes and peak_activation_bytes.",
        lambda summary: model_of(summary).weights_and_peak,
        label="weights and peak",
        text=lambda summary, _: bytes_text(model_of(summary).weights_and_peak),
    ),
)

_PORT_FACTS: Final = (
    Fact(
        "inputs",
        "The inputs of the model.",
        lambda summary: list(map(_port_record, model_of(summary).facts.inputs)),
        list_schema(_PORT_SCHEMA),
        lines=lambda summary, _: port_lines("input", model_of(summary).facts.inputs),
    ),
    Fact(
        "outputs",
        "The outputs of the model.",
        lambda summary: list(map(_port_record, model_of(summary).facts.outputs)),
        list_schema(_PORT_SCHEMA),
        lines=lambda summary, _: port_lines("output", model_of(summary).facts.outputs),
    ),
)

GROUP: Final = FactGroup(
    "model",
    "The size and work of a model that has not run; null for a profile of a run.",
    (*_SIZE_FACTS, *_WORK_FACTS, _TILING_FACT, *_MEMORY_FACTS, *_PORT_FACTS),
    page="docs/models.md",
)

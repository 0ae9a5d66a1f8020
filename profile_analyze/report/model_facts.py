"""Facts on a model that has not run: its size, its work and the memory of its activations."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.facts import NUMBER, TEXT, Fact, FactGroup, list_schema, object_schema
from profile_analyze.report.sentence_parts import signed
from profile_analyze.units import NOT_AVAILABLE, counted, percent, scaled_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.model.static import BodyWork, Port
    from profile_analyze.query.model_summary import BaseWork, ModelSummary
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.sections import Line
    from profile_analyze.report.times import Times

_MOST_TYPES: Final = 3
_MOST_ALIVE: Final = 2
_MOST_PORTS: Final = 4
_MOST_BODIES: Final = 4


def _model(summary: Summary) -> ModelSummary:
    assert summary.model is not None, "the profile is of a run"
    return summary.model


def _operators_text(summary: Summary, _: Times) -> str:
    model = _model(summary)
    types = ", ".join(f"{count} {name}" for name, count in model.types[:_MOST_TYPES])
    of = f" of {counted(len(model.types), 'type')}" if model.types else ""
    which = f": {types}" if types else ""
    return visible(f"{model.operators}{of}{which}", "utf-8")


def _params_text(summary: Summary, _: Times) -> str:
    model = _model(summary)
    dtypes = model.params_by_dtype
    if model.base is not None:
        return _count(model.params) + _against(model.params, model.base.params, _count)
    text = f"{_count(model.params)}, {_bytes(model.param_bytes)}"
    if len(dtypes) == 1:
        return f"{text} of {dtypes[0].dtype or 'unknown dtype'}"
    parts = (f"{_bytes(one.size)} of {one.dtype or 'unknown dtype'}" for one in dtypes)
    return f"{text}: {', '.join(parts)}" if dtypes else text


def _macs_text(summary: Summary, _: Times) -> str:
    model = _model(summary)
    executed = model.facts.macs_executed
    text = _count(model.macs)
    if model.macs_unknown:
        text += f", unknown for {counted(model.macs_unknown, 'operator')}"
    if model.facts.bodies:
        text += f" without bodies; executed in a run: {_count(executed)}"
    return text + _against(model.macs, model.base and model.base.macs, _count)


def _memory_text(summary: Summary, _: Times) -> str:
    model = _model(summary)
    # Without a baseline, the totals have this line.
    if model.base is None:
        return ""
    return _bytes(model.memory) + _against(model.memory, model.base.memory, _bytes)


def _against(value: float, base: float | None, text_of: Callable[[float], str]) -> str:
    """Return the difference to the baseline in brackets; empty without a baseline."""
    if base is None or isnan(value - base):
        return ""
    change = f", {signed(value / base - 1, percent)}" if base else ""
    return f" ({signed(value - base, text_of)}{change}: {text_of(base)} in the baseline)"


def _peak_text(summary: Summary, _: Times) -> str:
    model = _model(summary)
    text = _bytes(model.activations.peak_bytes)
    if model.peak_operator is None:
        return text
    alive = [f"{one.name} {_bytes(one.size)}" for one in model.alive[:_MOST_ALIVE]]
    more = len(model.alive) - len(alive)
    parts = ", ".join([*alive, *([f"{more} more"] if more else [])])
    return visible(f"{text} at {model.peak_operator}: {parts}", "utf-8")


def _ports(label: str, ports: Sequence[Port]) -> Iterator[Line]:
    """Yield a line for each of the first inputs or outputs, and how many more there are."""
    for port in ports[:_MOST_PORTS]:
        yield label, visible(" ".join(filter(None, (port.name, _sizes(port), port.dtype))), "utf-8")
    if len(ports) > _MOST_PORTS:
        yield label, f"{len(ports) - _MOST_PORTS} more"


def _sizes(port: Port) -> str:
    if port.sizes is None:
        return "of unknown shape"
    return "{" + ",".join("?" if size is None else str(size) for size in port.sizes) + "}"


def _body_lines(summary: Summary, _: Times) -> Iterator[Line]:
    bodies = _model(summary).facts.bodies
    for body in bodies[:_MOST_BODIES]:
        trips = "" if body.trip_count is None else f", executed {counted(body.trip_count, 'time')}"
        path = visible(f"{body.operator}/{body.attribute}", "utf-8")
        operators = counted(body.operators, "operator")
        yield "body", f"{path}: {operators}, {_count(body.macs)} MACs{trips}"
    if len(bodies) > _MOST_BODIES:
        yield "body", f"{len(bodies) - _MOST_BODIES} more"


def _count(value: float) -> str:
    return NOT_AVAILABLE if isnan(value) else scaled_text(value, "count")


def _bytes(value: float) -> str:
    return NOT_AVAILABLE if isnan(value) else scaled_text(value, "byte")


def _port_record(port: Port) -> dict[str, Any]:
    sizes = None if port.sizes is None else list(port.sizes)
    return {"name": port.name, "shape": sizes, "dtype": port.dtype}


def _body_record(body: BodyWork) -> dict[str, Any]:
    return {**body._asdict(), "macs": None if isnan(body.macs) else body.macs}


def _base_record(base: BaseWork | None) -> dict[str, Any] | None:
    if base is None:
        return None
    return {
        "file": base.file,
        "macs": base.macs,
        "params": base.params,
        "memory_bytes": base.memory,
    }


def _number(
    name: str,
    meaning: str,
    value: Callable[[ModelSummary], float],
    shown_with: str,
) -> Fact:
    return Fact(name, meaning, lambda summary: value(_model(summary)), shown_with=shown_with)


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
        "The number of operators outside of bodies, without those that compute constants.",
        lambda summary: _model(summary).operators,
        {"type": "integer"},
        label="operators",
        text=_operators_text,
    ),
    Fact(
        "types",
        "How many of these operators have each type, the most frequent first.",
        lambda summary: [
            {"type": name, "operators": count} for name, count in _model(summary).types
        ],
        list_schema({"type": TEXT, "operators": {"type": "integer"}}),
        shown_with="operators",
    ),
    Fact(
        "constant_operators",
        "The number of operators that compute constants, which cost nothing in a run.",
        lambda summary: _model(summary).facts.constant_operators,
        {"type": "integer"},
        shown_with="operators",
    ),
    Fact(
        "params",
        "The number of weights: elements of constants, without scales, shapes and single numbers.",
        lambda summary: _model(summary).params,
        label="parameters",
        text=_params_text,
    ),
    _number("param_bytes", "The bytes of the weights.", lambda model: model.param_bytes, "params"),
    Fact(
        "params_by_dtype",
        "The weights by dtype, the largest bytes first.",
        lambda summary: [
            {"dtype": one.dtype, "params": one.params, "size_bytes": one.size}
            for one in _model(summary).params_by_dtype
        ],
        list_schema({"dtype": _OR_NULL, "params": NUMBER, "size_bytes": NUMBER}),
        shown_with="params",
    ),
)

_WORK_FACTS: Final = (
    Fact(
        "macs",
        "The multiply-adds of one run, without bodies, as far as they are known.",
        lambda summary: _model(summary).macs,
        label="MACs",
        text=_macs_text,
    ),
    Fact(
        "memory_without_bodies_bytes",
        "The bytes that operators outside of bodies read and write, as far as they are known.",
        lambda summary: _model(summary).memory,
        label="memory",
        text=_memory_text,
    ),
    Fact(
        "base",
        "The work of the baseline, if it is a model; null without one.",
        lambda summary: _base_record(_model(summary).base),
        object_schema({"file": TEXT, "macs": NUMBER, "params": NUMBER, "memory_bytes": NUMBER})
        | {"type": ["object", "null"]},
        shown_with="macs",
    ),
    _number(
        "macs_executed",
        "The multiply-adds of one run with its bodies, as often as they run; null if unknown.",
        lambda model: model.facts.macs_executed,
        "macs",
    ),
    _number(
        "macs_of_constant_operators",
        "The multiply-adds of operators that compute constants, which macs leaves out.",
        lambda model: model.facts.macs_of_constant_operators,
        "macs",
    ),
    Fact(
        "bodies",
        "The graphs inside operators such as If and Loop, each with the MACs of one execution.",
        lambda summary: list(map(_body_record, _model(summary).facts.bodies)),
        list_schema(
            {
                "operator": TEXT,
                "attribute": TEXT,
                "operators": {"type": "integer"},
                "macs": NUMBER,
                "trip_count": {"type": ["integer", "null"]},
            }
        ),
        lines=_body_lines,
    ),
)

_MEMORY_FACTS: Final = (
    Fact(
        "activation_bytes",
        "The bytes of all results of operators outside of bodies, without constants.",
        lambda summary: _model(summary).activations.total_bytes,
        label="activations",
        text=lambda summary, _: _bytes(_model(summary).activations.total_bytes),
    ),
    _number(
        "activation_without_shapes_bytes",
        "The same without the results of shape arithmetic.",
        lambda model: model.activations.without_shapes_bytes,
        "activation_bytes",
    ),
    Fact(
        "peak_activation_bytes",
        "The most bytes of inputs and activations that are needed at one operator.",
        lambda summary: _model(summary).activations.peak_bytes,
        label="peak of these",
        text=_peak_text,
    ),
    Fact(
        "peak_operator",
        "The first operator with this peak.",
        lambda summary: _model(summary).peak_operator,
        _OR_NULL,
        shown_with="peak_activation_bytes",
    ),
    Fact(
        "alive_at_peak",
        "The tensors that are needed at the peak, the largest first.",
        lambda summary: [
            {"name": one.name, "size_bytes": one.size} for one in _model(summary).alive
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
)

_PORT_FACTS: Final = (
    Fact(
        "inputs",
        "The inputs of the model.",
        lambda summary: list(map(_port_record, _model(summary).facts.inputs)),
        list_schema(_PORT_SCHEMA),
        lines=lambda summary, _: _ports("input", _model(summary).facts.inputs),
    ),
    Fact(
        "outputs",
        "The outputs of the model.",
        lambda summary: list(map(_port_record, _model(summary).facts.outputs)),
        list_schema(_PORT_SCHEMA),
        lines=lambda summary, _: _ports("output", _model(summary).facts.outputs),
    ),
)

GROUP: Final = FactGroup(
    "model",
    "The size and work of a model that has not run; null for a profile of a run.",
    (*_SIZE_FACTS, *_WORK_FACTS, *_MEMORY_FACTS, *_PORT_FACTS),
)

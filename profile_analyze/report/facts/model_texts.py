"""The texts of the facts on a model that has not run, as people read them."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.terms import QUANTIZATION, SCALAR, STRUCTURE, UNUSED
from profile_analyze.report.facts.sentence_parts import known_part, signed, signed_percent
from profile_analyze.units import NOT_AVAILABLE, counted, scaled_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.model.static import Port
    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line
    from profile_analyze.views.model_summary import ModelSummary
    from profile_analyze.views.summary import Summary

_MOST_TYPES: Final = 3
_MOST_ALIVE: Final = 2
_LONGEST_NAME: Final = 32
"""The most characters that are shown of a name at the peak of activations."""
_MOST_PORTS: Final = 4
_MOST_BODIES: Final = 4

_ROLES: Final = (
    (QUANTIZATION, "in scales and zero points"),
    (SCALAR, "in single numbers"),
    (STRUCTURE, "in shapes and indices"),
    (UNUSED, "unused"),
)
"""The roles of constants that are not weights, each with a text for people."""


def model_of(summary: Summary) -> ModelSummary:
    """Return the part of the summary on the model."""
    assert summary.model is not None, "the profile is of a run"
    return summary.model


def operators_text(summary: Summary, _: Times) -> str:
    """Return how many operators there are, their types, and how many compute constants."""
    model = model_of(summary)
    parts = [f"{count} {name}" for name, count in model.types[:_MOST_TYPES]]
    others = sum(count for _, count in model.types[_MOST_TYPES:])
    if others:
        parts.append(counted(others, "other"))
    of = f" of {counted(len(model.types), 'type')}: " if parts else ""
    constant = model.facts.constant_operators
    further = counted(
        constant,
        "further operator only computes constants",
        "further operators only compute constants",
    )
    more = f"; {further}" if constant else ""
    return f"{model.operators}{of}{', '.join(parts)}{more}"


def params_text(summary: Summary, _: Times) -> str:
    """Return the number of weights, with their bytes by dtype or the difference to the baseline."""
    model = model_of(summary)
    dtypes = model.params_by_dtype
    if model.base is not None:
        return count_text(model.params) + _against(model.params, model.base.params, count_text)
    text = f"{count_text(model.params)}, {bytes_text(model.param_bytes)}"
    if len(dtypes) == 1:
        return f"{text} of {dtypes[0].dtype or 'unknown dtype'}"
    parts = (f"{bytes_text(one.size)} of {one.dtype or 'unknown dtype'}" for one in dtypes)
    return f"{text}: {', '.join(parts)}" if dtypes else text


def constants_text(summary: Summary, _: Times) -> str:
    """Return the number of elements in constants that are not weights, by role."""
    counts = {one.role: one.elements for one in model_of(summary).constants}
    return ", ".join(
        f"{count_text(counts[role])} {name}" for role, name in _ROLES if role in counts
    )


def macs_text(summary: Summary, _: Times) -> str:
    """Return the multiply-adds of the model, its bodies, and operators that compute constants.

    In a comparison, the difference to the baseline follows.
    """
    model = model_of(summary)
    facts = model.facts
    text = known_part(model.macs, "count", model.unknown_macs)
    if facts.bodies:
        text += f"; with bodies, a run executes {count_text(facts.macs_executed)}"
    if facts.macs_of_constant_operators:
        more = count_text(facts.macs_of_constant_operators)
        text += f"; {more} more in operators that only compute constants"
    base = model.base
    if base is not None and (model.unknown_macs or base.unknown_macs):
        return text + _unknown_difference(base.macs, "count", base.unknown_macs)
    return text + _against(model.macs, base and base.macs, count_text)


def memory_text(summary: Summary, _: Times) -> str:
    """Return the bytes that operators read and write, and the difference to the baseline.

    The text is empty without a baseline.
    """
    model = model_of(summary)
    base = model.base
    if base is None:  # in this case, the totals have a line on memory
        return ""
    unknown = model.unknown_memory
    text = known_part(model.memory, "byte", unknown)
    if unknown or base.unknown_memory:
        return text + _unknown_difference(base.memory, "byte", base.unknown_memory)
    return text + _against(model.memory, base.memory, bytes_text)


def _unknown_difference(base: float, unit: str, unknown: int) -> str:
    """Return a remark in brackets: the difference to the baseline is unknown.

    The totals leave out operators of unknown work. These totals cannot be compared, because the two
    sides may leave out different operators.
    """
    return f" (difference {NOT_AVAILABLE}: baseline {known_part(base, unit, unknown)})"


def _against(value: float, base: float | None, text_of: Callable[[float], str]) -> str:
    """Return the difference to the baseline in brackets; empty if it is unknown."""
    if base is None or isnan(value - base):
        return ""
    change = f", {signed_percent(value / base - 1)}" if base else ""
    return f" ({signed(value - base, text_of)}{change}: {text_of(base)} in the baseline)"


def peak_text(summary: Summary, _: Times) -> str:
    """Return the peak of activations, where it is, and the largest tensors there."""
    model = model_of(summary)
    text = bytes_text(model.activations.peak_bytes)
    if model.peak_operator is None:
        return text
    alive = [f"{_shortened(one.name)} {bytes_text(one.size)}" for one in model.alive[:_MOST_ALIVE]]
    more = len(model.alive) - len(alive)
    parts = ", ".join([*alive, *([f"{more} more"] if more else [])])
    return f"{text} at {_shortened(model.peak_operator)}: {parts}"


def _shortened(name: str) -> str:
    """Return a long name without its middle. Its ends often name the first and the last module."""
    if len(name) <= _LONGEST_NAME:
        return name
    kept = _LONGEST_NAME - len("...")
    return f"{name[: kept // 3]}...{name[-(kept - kept // 3) :]}"


def port_lines(label: str, ports: Sequence[Port]) -> Iterator[Line]:
    """Yield a line for each of the first inputs or outputs, and how many more there are."""
    for port in ports[:_MOST_PORTS]:
        yield label, " ".join(filter(None, (port.name, _sizes(port), port.dtype)))
    if len(ports) > _MOST_PORTS:
        yield label, f"{len(ports) - _MOST_PORTS} more"


def _sizes(port: Port) -> str:
    if port.sizes is None:
        return "of unknown shape"
    return "{" + ",".join("?" if size is None else str(size) for size in port.sizes) + "}"


def body_lines(summary: Summary, _: Times) -> Iterator[Line]:
    """Yield a line for each of the first bodies, and how many more there are."""
    bodies = model_of(summary).facts.bodies
    for body in bodies[:_MOST_BODIES]:
        trips = "" if body.executions is None else f", executed {counted(body.executions, 'time')}"
        operators = counted(body.operators, "operator")
        yield (
            "body",
            f"{body.operator}/{body.attribute}: {operators}, {count_text(body.macs)} MACs{trips}",
        )
    if len(bodies) > _MOST_BODIES:
        yield "body", f"{len(bodies) - _MOST_BODIES} more"


def count_text(value: float) -> str:
    """Return a number of multiply-adds or elements as text; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else scaled_text(value, "count")


def bytes_text(value: float) -> str:
    """Return bytes as text; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else scaled_text(value, "byte")

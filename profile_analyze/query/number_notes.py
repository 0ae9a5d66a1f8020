"""Notes on numeric conditions that keep no row or every row, and time limits that keep no row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.advice.names import did_you_mean
from profile_analyze.model.notes import Importance, Note
from profile_analyze.units import (
    SCALED,
    base_unit_name,
    parse_quantity,
    percent,
    scaled_text,
    short_time,
    suitable_unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

_UNITS_OF_WORK: Final = ("FLO", "FLO/s", "byte", "byte/s")
"""Units in which operators without work have the value 0."""


def number_notes(
    conditions: Iterable[Condition], rows: OperatorRows | GroupRows, candidates: NDArray[np.bool_]
) -> Iterator[Note]:
    """Yield notes on numeric conditions that keep no row of `candidates`, or all of them.

    Rows whose value is N/A do not count. A condition whose number lacks its unit, such as
    `time > 5`, gets a note in both cases. It also gets one if zeros alone decide: `flops < 400`
    keeps only operators without computation. Any other condition, such as `time > 1ms` or
    `time < 0`, gets a note only if it keeps no row and does not compare by `==` or `!=`.
    """
    selects_operators = rows.operators is rows
    selects_members = rows.query.grouped and selects_operators
    noun = "operator" if selects_operators else rows.query.kind.noun.removesuffix("s")
    for condition in conditions:
        if condition.column.kind != "number":
            continue
        values = rows[condition.column.name][candidates]
        known = values[~np.isnan(values)]
        without_zeros = _without_zeros(condition, known)
        has_zeros = len(without_zeros) < len(known)
        known = without_zeros
        holds = condition.holds_for_numbers(known)
        if not len(known) or _divides(holds):
            continue
        closest = "" if holds.all() else _closest_value(condition, known)
        if condition.assumed_unit and condition.bound != 0:
            unit = condition.assumed_unit
            in_base_units = f"{condition.value} {base_unit_name(unit)}"
            read_as = percent(condition.bound) if unit == "1" else in_base_units
            which_rows = f"{'every' if holds.all() else 'no'} {noun}"
            if has_zeros and condition.holds_for_numbers(0.0) != holds.all():
                which_rows += " with a value other than 0"
            means = f"{condition.text}: {condition.value} means {read_as}, which {which_rows} meets"
            other = did_you_mean(_with_suitable_unit(condition, known)) or closest
            yield Note(f"{means}; {other}" if other else means, Importance.ANSWER)
        elif closest:
            of_groups = "; --having selects groups" if selects_members else ""
            text = f"{condition.text}: no {noun} meets this; {closest}{of_groups}"
            yield Note(text, Importance.ANSWER)


def _without_zeros(condition: Condition, known: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `known` without zeros if the number of the condition probably lacks its unit.

    Operators without work have 0 FLO and 0 FLOPS. They alone would meet `flops < 400`. A bound of
    at most 1, as in `flops >= 1`, is meant to tell zeros apart.
    """
    if condition.assumed_unit not in _UNITS_OF_WORK or abs(condition.bound) <= 1:
        return known
    others = known[known != 0]
    return others if len(others) else known


def _closest_value(condition: Condition, known: NDArray[np.float64]) -> str:
    """Return a phrase with the value that comes closest to meeting the condition.

    For example, `the largest value is 3 ms`. The phrase is empty for `==` and `!=`.
    """
    if condition.operator in ("==", "!="):
        return ""
    if condition.operator in (">", ">="):
        return f"the largest value is {_value_text(condition, float(known.max()))}"
    return f"the smallest value is {_value_text(condition, float(known.min()))}"


def _value_text(condition: Condition, value: float) -> str:
    unit = condition.column.unit
    if unit == "s":
        return short_time(value)
    if unit in SCALED:
        return scaled_text(value, unit)
    is_share = unit == "1" and condition.column.shown_as == "percent"
    return percent(value) if is_share else f"{value:.6g}"


def _with_suitable_unit(condition: Condition, known: NDArray[np.float64]) -> list[str]:
    """Return the condition with a suitable unit; empty if that keeps all values or no value."""
    assumed = condition.assumed_unit
    unit = "%" if assumed == "1" else suitable_unit(float(known.max()), assumed)
    bound = parse_quantity(condition.value + unit, assumed)
    better = condition._replace(bound=bound)
    if not _divides(better.holds_for_numbers(known)):
        return []
    return [f"{condition.column.name} {condition.operator} {condition.value}{unit}"]


def _divides(holds: NDArray[np.bool_]) -> bool:
    """Whether a condition keeps some values, but not all."""
    return bool(holds.any() and not holds.all())


def time_range_notes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Note]:
    """Yield a note if all operators are faster than `min_time_s` or slower than `max_time_s`."""
    times = operators["time"][operators.recorded]
    known = times[~np.isnan(times)]
    if len(selection.operators) or not len(known):
        return
    if query.min_time_s is not None and known.max() < query.min_time_s:
        longest = short_time(float(known.max()))
        yield Note(
            f"no operator took {short_time(query.min_time_s)} or more; the longest took {longest}"
            f"{_advice_on_minimum(query.min_time_s, known)}",
            Importance.ANSWER,
        )
    if query.max_time_s is not None and known.min() > query.max_time_s:
        shortest = short_time(float(known.min()))
        limit = short_time(query.max_time_s)
        yield Note(
            f"every operator took over {limit}; the shortest took {shortest}", Importance.ANSWER
        )


def _advice_on_minimum(minimum_s: float, times_s: NDArray[np.float64]) -> str:
    """Return the minimum with the unit that the user probably forgot, such as 1ms instead of 1.

    Empty if this minimum would also keep all times or none. It is also empty for a fraction of a
    second, which the user may have written with a unit, such as 10ms.
    """
    if minimum_s < 1:
        return ""
    meant = f"{minimum_s:g}{suitable_unit(float(times_s.max()), 's')}"
    if not _divides(times_s >= parse_quantity(meant, "s")):
        return ""
    return f"; {did_you_mean([f'--min-time {meant}'])}"

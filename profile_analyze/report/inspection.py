"""Makes the report for `--inspect`: facts about one operator, and lists of its surroundings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.wording import parameters_text, shapes_text, strides_text
from profile_analyze.query.inspection import inspect
from profile_analyze.query.inspection_listings import names_of_tracks
from profile_analyze.report.base import Report
from profile_analyze.report.sections import INSPECTION, Facts, FactValue, ListSection
from profile_analyze.units import percent, scaled_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.inspection import Inspection
    from profile_analyze.report.sections import Line
    from profile_analyze.report.times import Times

_OPTIONAL: Final[Mapping[str, Callable[[Any], str]]] = {
    "in_shapes": shapes_text,
    "in_strides": strides_text,
    "input_dtypes": lambda dtypes: ", ".join("N/A" if one is None else one for one in dtypes),
    "out_shapes": shapes_text,
    "compute_dtype": str,
    "parameters": parameters_text,
}
"""The optional columns to show. Each has a function that turns a value into text for people."""


def inspection_report(profile: Profile, key: str) -> Report:
    """Return the report on one operator. For `key` and errors, see `query.inspection.inspect`."""
    found = inspect(profile, key)
    facts = Facts(INSPECTION, (*_identity(found), *_of_executions(found)))
    lists = (ListSection(listing) for listing in found.listings)
    return Report((facts, *lists), profile, profile.notes)


def _identity(found: Inspection) -> Iterator[FactValue]:
    """Yield the facts that describe the operator, without facts that are N/A."""
    operators = found.profile.operators.take(np.array([found.operator]))
    for name in ("name", "key", "type", "category", "level"):
        value = _value(getattr(operators, name))
        if value is not None:
            yield _text(name, value, str(value))
    scope = _value(operators.scope)
    if scope:
        yield _text("scope", list(scope), "/".join(scope))
    for name, as_text in _OPTIONAL.items():
        value = _value(operators.categorical(name)) if operators.state(name) == "loaded" else None
        if value is not None and value != ():
            shown = dict(value) if name == "parameters" else value
            yield _text(name, shown, as_text(value))
    for name, unit in (("computation", "FLO"), ("memory", "byte")):
        amount = float(getattr(operators, name)[0])
        if amount == amount:  # noqa: PLR0124  # not NaN
            source = operators.source_of(name).values()[0]  # type: ignore[arg-type]  # a literal
            text = f"{scaled_text(amount, unit)} ({source})"
            suffix = "flo" if unit == "FLO" else "bytes"
            yield _text(f"{name}_{suffix}", amount, text, f"{name} of a call")


def _value(column: Any) -> Any:
    """Return the value of a column with one row; None for N/A."""
    values = column.values() if hasattr(column, "categories") else column
    return values.tolist()[0]


def _of_executions(found: Inspection) -> Iterator[FactValue]:
    """Yield facts about the executions: how many there are, where they ran, and how long."""
    executions, rows = found.profile.executions, found.rows
    count = len(rows)
    if found.number is not None:
        yield _text("number", found.number, str(found.number), "execution")
        yield _time("start_s", found.start_s)
        run = found.profile.runs[executions.run[rows[0]]]
        if run.step is not None:
            yield _text("step", run.step, str(run.step))
    else:
        # Formats for programs use the name `executions` for a list: the longest executions.
        yield _text("execution_count", count, str(count), "executions")
    names = [*names_of_tracks(found.profile, rows).values()]
    if names:
        yield _text("tracks", names, ", ".join(names))
    phases = [*dict.fromkeys(executions.phase.take(rows).values().tolist())]
    phases = [one for one in phases if one is not None]
    if phases:
        yield _text("phases", phases, ", ".join(phases))
    for name, value in found.statistics_s().items():
        if name == "share":
            yield _text(name, value, percent(value), f"own share of {found.side} time")
        else:
            yield _time(name, value)


def _text(name: str, value: Any, text: str, label: str = "") -> FactValue:
    line = (label or name.replace("_", " "), text)
    return FactValue(name, None if value != value else value, lambda _: (line,))  # noqa: PLR0124  # NaN


def _time(name: str, time_s: float) -> FactValue:
    known = None if time_s != time_s else time_s  # noqa: PLR0124  # NaN
    label = name.removesuffix("_s").replace("_", " ")
    return FactValue(name, known, partial(_time_lines, label, time_s))


def _time_lines(label: str, time_s: float, times: Times) -> tuple[Line, ...]:
    return ((label, times.text(time_s)),)

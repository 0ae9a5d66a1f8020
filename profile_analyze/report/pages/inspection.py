"""Makes the report for `--inspect`: facts about one operator, and lists of its surroundings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.columns.wording import parameters_text, shapes_text, strides_text
from profile_analyze.model.numbers import quantile_of_runs
from profile_analyze.report.base import Report
from profile_analyze.report.sections import INSPECTION, Facts, FactValue
from profile_analyze.units import counted, percent, scaled_text
from profile_analyze.views.inspection import inspect
from profile_analyze.views.inspection_listings import names_of_tracks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from profile_analyze.model.profile import Profile
    from profile_analyze.views.inspection import Inspection

_OPTIONAL: Final[Mapping[str, Callable[[Any], str]]] = {
    "in_shapes": shapes_text,
    "in_strides": strides_text,
    "input_dtypes": lambda dtypes: ", ".join("N/A" if one is None else one for one in dtypes),
    "out_shapes": shapes_text,
    "compute_dtype": str,
    "parameters": parameters_text,
}
"""The optional columns to show. Each has a function that turns a value into text for people."""

_LABELS: Final = {
    "time_s": "{side} time",
    "own_time_s": "own {side} time",
    "time_min_s": "{side} time, min",
    "time_median_s": "{side} time, median",
    "time_p90_s": "{side} time, p90",
    "time_max_s": "{side} time, max",
    "host_time_s": "host time",
    "device_time_s": "device time",
    "share": "own share of {side} time",
}
"""The labels of the statistics for people. `{side}` is where the operator ran."""


def inspection_report(profile: Profile, key: str) -> Report:
    """Return the report on one operator. For `key` and errors, see `views.inspection.inspect`."""
    found = inspect(profile, key)
    facts = Facts(INSPECTION, (*_identity(found), *_of_executions(found)), found.listings)
    return Report((facts,), profile, profile.notes)


def _identity(found: Inspection) -> Iterator[FactValue]:
    """Yield the facts that describe the operator, without facts that are N/A."""
    operators = found.profile.operators.take(np.array([found.operator]))
    columns = {"name": operators.name, "key": operators.key_texts()}
    columns |= {name: getattr(operators, name) for name in ("type", "category", "level")}
    for name, column in columns.items():
        value = _value(column)
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
    yield from _times(found)
    yield from _times_of_a_run(found)


def _times(found: Inspection) -> Iterator[FactValue]:
    """Yield the statistics of the executions, each with its side."""
    counts = {"host_time_s": len(found.on_host)}
    for name, value in found.statistics_s().items():
        label = _LABELS[name].format(side=found.side)
        if name == "share":
            # The column `share` of tables is of medians over the runs.
            several = len(found.profile.runs) > 1 and not np.isnan(value)
            of = " (of the sum over all runs)" if several else ""
            yield _text(name, value, f"{percent(value)}{of}", label)
            continue
        count = counts.get(name, len(found.rows))
        what = "" if "," in label else "sum "
        yield _time(name, value, label, f" ({what}of {count} executions)" if count > 1 else "")


def _times_of_a_run(found: Inspection) -> Iterator[FactValue]:
    """Yield the times that tables show: self times of a run, the median over the runs."""
    for measure, times_s in found.times_in_runs_s().items():
        name = f"{measure.title.replace(' ', '_')}_of_a_run_s"
        median_s = float(quantile_of_runs(times_s[np.newaxis], 0.5)[0])
        label, runs = f"{measure.title} of a run", counted(len(times_s), "run")
        yield _time(name, median_s, label, f" (median of {runs})")


def _text(name: str, value: Any, text: str, label: str = "") -> FactValue:
    line = (label or name.replace("_", " "), text)
    return FactValue(name, None if value != value else value, lambda _: (line,))  # noqa: PLR0124  # NaN


def _time(name: str, time_s: float, label: str = "", ending: str = "") -> FactValue:
    """Return the fact of a time. `ending` follows the time in output for people."""
    known = None if time_s != time_s else time_s  # noqa: PLR0124  # NaN
    label = label or name.removesuffix("_s").replace("_", " ")
    return FactValue(name, known, lambda times: ((label, f"{times.text(time_s)}{ending}"),))

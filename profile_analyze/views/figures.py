"""Figures are values that formulas use but that are not columns, such as the total time.

`Column.worked` names columns and figures, as in `{time} / {total_time}`. In output, a figure has
blanks instead of `_`: `total time`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.wording import quantity_text
from profile_analyze.model.joining.iterations import unit_noun
from profile_analyze.model.numbers import quantile_of_runs
from profile_analyze.model.terms import ABSENT
from profile_analyze.roofline.formulas import peak_rates
from profile_analyze.units import counted, decimal_rate, percent, scaled_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows


TimeText: TypeAlias = "Callable[[float], str]"
"""Returns the text of a time in seconds, with a unit."""

Figure: TypeAlias = "Callable[[ShownRows, int | None, TimeText], str]"
"""Returns the text of a figure for the first row shown. The second argument is the index of a run,
or None for the statistic over all runs."""


def _total_time(column: str) -> Figure:
    """Return the figure of the total time of the runs in which the row has a value of `column`."""

    def text(shown: ShownRows, run: int | None, time_text: TimeText) -> str:
        totals_s = shown.own_totals_s(column) if run is None else shown.totals_in_runs[:, run]
        return time_text(float(totals_s[0]))

    return text


def _total_count(column: str) -> Figure:
    def text(shown: ShownRows, run: int | None, _: TimeText) -> str:
        totals = shown.total_of(column)
        return scaled_text(shown.over_runs(totals) if run is None else float(totals[run]), "count")

    return text


def _calls_in_a_run(shown: ShownRows, run: int | None, _: TimeText) -> str:
    """Return the calls that work is multiplied by. Without times, it is the work of one call."""
    if shown.profile.origin.times == ABSENT:
        return "1"
    calls = shown["calls"] if run is None else shown.per_run("calls")[:, run]
    return quantity_text(find_column("calls"), float(calls[0]))


def _of_a_call(name: str) -> Figure:
    """Return the figure of the work of one call. `name` is a column with the work of all calls."""

    def work(rows: OperatorRows) -> NDArray[np.float64]:
        operators = rows.profile.operators
        if name == "computation":
            return operators.computation
        return operators.memory if name == "memory" else operators.numbers(name)

    def text(shown: ShownRows, *_: object) -> str:
        return quantity_text(find_column(name), float(shown.of_operators(work)[0]))

    return text


def _quartile(share: float) -> Figure:
    def text(shown: ShownRows, _: int | None, time_text: TimeText) -> str:
        return time_text(float(quantile_of_runs(shown.per_run("time")[:1], share)[0]))

    return text


def _all_runs(shown: ShownRows, *_: object) -> str:
    return counted(shown.per_run("time").shape[1], "run")


def _candidate_runs(shown: ShownRows, *_: object) -> str:
    return _units(shown.per_unit("time"), unit_noun(shown.query.unit, shown.profile.runs))


def _baseline_runs(shown: ShownRows, *_: object) -> str:
    assert shown.comparison is not None, "this figure needs a comparison"
    noun = unit_noun(shown.query.unit, shown.comparison.base.runs)
    return f"{_units(shown.per_unit('base'), noun)} of the baseline"


def _units(values: NDArray[np.float64], noun: str) -> str:
    """Return the number of units with their noun, such as `1 run`.

    `values` has shape (rows, units), and `noun` is plural.
    """
    singular = "process" if noun == "processes" else noun.removesuffix("s")
    return counted(values.shape[1], singular, noun)


def _peak_rate(shown: ShownRows, *_: object) -> str:
    return scaled_text(float(shown.of_operators(peak_rates)[0]), "FLO/s")


def _peak_bandwidth(shown: ShownRows, *_: object) -> str:
    assert shown.peaks is not None, "this figure needs peak rates"
    return decimal_rate(shown.peaks.bandwidth)


FIGURES: Final[Mapping[str, Figure]] = {
    "selected_kind_of_time": lambda shown, *_: shown.measure.title,
    "total_time": _total_time("time"),
    "total_time_of_judged_runs": _total_time("lost.sum"),
    "macs_of_all_operators_including_bodies": _total_count("macs"),
    "total_params": _total_count("params"),
    "calls_in_a_run": _calls_in_a_run,
    **{
        f"{name}_of_a_call": _of_a_call(name)
        for name in ("computation", "memory", "macs", "message_bytes")
    },
    "first_quartile": _quartile(0.25),
    "median_time": _quartile(0.5),
    "third_quartile": _quartile(0.75),
    "all_runs": _all_runs,
    "candidate_runs": _candidate_runs,
    "baseline_runs": _baseline_runs,
    "peak_rate": _peak_rate,
    "peak_bandwidth": _peak_bandwidth,
    "threshold": lambda shown, *_: percent(shown.threshold),
}

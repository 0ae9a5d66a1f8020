"""The formulas of the columns that need a baseline: see `comparison_columns.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.columns.formulas import work_in_runs
from profile_analyze.columns.rows import Formulas
from profile_analyze.comparison.compared_work import (
    WORK_VERDICTS,
    compared_work,
    with_work,
    work_ratio,
)
from profile_analyze.comparison.intervals import ratios_of
from profile_analyze.comparison.row_tests import OperatorTimes, compare_rows
from profile_analyze.comparison.verdicts import runs_needed, verdict_codes
from profile_analyze.model.categorical import MISSING_CODE, Categorical
from profile_analyze.model.measuring import side_of
from profile_analyze.model.numbers import difference, finite, quantile_of_runs, ratio
from profile_analyze.model.terms import ABSENT, ADDED, OWN, RELATIVE, REMOVED

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.columns.rows import GroupRows, OperatorRows, Rows
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.comparison.row_tests import RowTests

    Floats: TypeAlias = NDArray[np.float64]


BOTH: Final = "both"
ALL_VERDICTS: Final = (*WORK_VERDICTS, ADDED, REMOVED)
"""All values of the column `verdict`."""
_WORK: Final = ("computation", "macs", "params", "memory")


def _comparison(rows: OperatorRows) -> Comparison:
    comparison: Comparison | None = rows.comparison
    assert comparison is not None, "this column needs a comparison"
    return comparison


def _base(rows: OperatorRows) -> Floats:
    return _comparison(rows).base.measured(rows.measure.name)


def _difference(rows: Rows) -> Floats:
    """Return time - base.

    If a row is on only one side, the difference is its time there, negated for the baseline. If no
    time of the other side is known, the difference is N/A.
    """
    return _difference_of(rows, "time", "base")


def _difference_of(rows: Rows, column: str, base_column: str) -> Floats:
    """Return `column` - `base_column`.

    A side that does not have the row counts as 0, unless it has no value of the column at all. The
    row may then be a part of another operator, whose value is unknown.
    """
    in_profile, in_base = rows.on_sides
    both = difference(rows[column], rows[base_column])
    ours = 0.0 if _has_values(rows, column) else np.nan
    base = 0.0 if _has_values(rows, base_column) else np.nan
    # `0 - x` instead of `-x`: the negative of 0.0 is -0.0, which is printed with its sign.
    one_sided = np.where(in_profile, rows[column] - base, ours - rows[base_column])
    return np.where(in_profile & in_base, both, one_sided)


def _has_values(rows: Rows, column: str) -> bool:
    """Return whether any operator has a value of `column`."""
    return not np.isnan(rows.operators[column]).all()


def _work_difference(name: str) -> Callable[[Rows], Floats]:
    return lambda rows: _difference_of(rows, name, f"base_{name}")


def _absolute(column: str) -> Callable[[Rows], Floats]:
    def formula(rows: Rows) -> Floats:
        values: Floats = abs(rows[column])
        return values

    return formula


def _base_work(name: str) -> Callable[[OperatorRows], Floats]:
    return lambda rows: work_in_runs(
        _comparison(rows).base, name, side_of(_comparison(rows).base, rows.measure)
    )


def _base_shapes(name: str) -> Callable[[OperatorRows], Categorical[Any]]:
    def formula(rows: OperatorRows) -> Categorical[Any]:
        comparison = _comparison(rows)
        # If the baseline was loaded without shapes, `categorical` raises an error that says so.
        return comparison.base_shapes.get(name) or comparison.base.operators.categorical(name)

    return formula


def _per_work(column: str) -> Callable[[Rows], Floats]:
    return lambda rows: ratio(rows[column], rows["work_ratio"])


def _base_params(rows: OperatorRows) -> Floats:
    return _comparison(rows).base.operators.numbers("params")


def _change(rows: Rows) -> Floats:
    return ratio(difference(rows["time"], rows["base"]), rows["base"])


def _ratio(rows: Rows) -> Floats:
    # Medians over processes or iterations, as in the confidence interval of this ratio.
    times, base = rows.per_unit("time"), rows.per_unit("base")
    return ratio(quantile_of_runs(times, 0.5), quantile_of_runs(base, 0.5))


def _measured_ratio(rows: Rows) -> Floats:
    """Return the ratio of the times as measured."""
    measured: Floats = rows.as_measured["ratio"]
    return measured


def tests_of(rows: Rows) -> RowTests:
    """Return the tests of all rows. A group is tested by the requested aggregate of its times."""
    # Verdicts are on the times as measured, because drift correction hides changes that all
    # operators share.
    operators, own_s = (_times_of_sides(one.as_measured) for one in (rows.operators, rows))
    runs = rows.as_measured.per_unit("time").shape[1]
    codes = _comparison(rows.operators).profile.operators.category.codes
    return compare_rows(OperatorTimes(operators, runs, codes), rows.row_of_operator, own_s)


def _times_of_sides(rows: Rows) -> Floats:
    """Return the times of each process or iteration of both sides, shape (rows, units)."""
    return np.concatenate([rows.per_unit(column) for column in ("time", "base")], axis=1)


def _ratio_low(rows: Rows) -> Floats:
    # The ratio of medians may differ from the estimate of the test. The interval is widened to
    # hold this ratio, too.
    low = np.minimum(_exponential(rows.once(tests_of).own.low), rows["ratio"])
    return _if_measured(rows, low)


def _ratio_high(rows: Rows) -> Floats:
    high = np.maximum(_exponential(rows.once(tests_of).own.high), rows["ratio"])
    return _if_measured(rows, high)


def _if_measured(rows: Rows, ends: Floats) -> Floats:
    """Return `ends`, but N/A for rows whose ratio is corrected for drift.

    The interval is of the times as measured, so it would not belong to this ratio.
    """
    return np.where(rows["ratio"] == rows.once(_measured_ratio), ends, np.nan)


def _exponential(logs: Floats) -> Floats:
    """Return the ratios with these logarithms; NaN if a ratio is infinite."""
    return finite(ratios_of(logs))


def _test(rows: Rows) -> Categorical[str]:
    tests = rows.once(tests_of)
    codes = np.where(tests.is_relative, 1, 0)
    return Categorical(np.where(np.isnan(tests.p_values), MISSING_CODE, codes), (OWN, RELATIVE))


def _codes(rows: Rows) -> NDArray[np.int64]:
    return verdict_codes(rows.once(tests_of), rows.once(_measured_ratio), rows.threshold)


def _runs_needed(rows: Rows) -> Floats:
    runs = rows.per_unit("time").shape[1], rows.per_unit("base").shape[1]
    return runs_needed(rows.once(tests_of), rows.once(_codes), runs, rows.threshold)


def _verdict(rows: Rows) -> Categorical[str]:
    in_profile, in_base = rows.on_sides
    tests, work = rows.once(tests_of), rows.once(compared_work)
    codes = with_work(rows.once(_codes), tests.chosen, work, rows.threshold)
    # A row on only one side has no ratio, so `verdict_codes` gives it no verdict. Its verdict is
    # `added` or `removed`, whose codes come after the codes of `WORK_VERDICTS`.
    codes = np.where(in_base, codes, len(WORK_VERDICTS))
    codes = np.where(in_profile, codes, len(WORK_VERDICTS) + 1)
    if not _may_compare(rows):
        return Categorical.missing(len(codes))
    return Categorical(codes, ALL_VERDICTS)


def _may_compare(rows: Rows) -> bool:
    """Return whether both sides have times, or are models that have not run."""
    is_static = rows.operators.profile.origin.times == ABSENT
    return is_static or all(_has_values(rows, column) for column in ("time", "base"))


def _match(rows: OperatorRows) -> Categorical[str]:
    return _comparison(rows).match


def _match_of_groups(rows: GroupRows) -> Categorical[str]:
    in_profile, in_base = rows.on_sides
    return Categorical(np.where(in_base, np.where(in_profile, 0, 2), 1), (BOTH, ADDED, REMOVED))


FORMULAS: Final = Formulas(
    of_rows={
        "difference": _difference,
        "absolute_difference": _absolute("difference"),
        "change": _change,
        "ratio": _ratio,
        "ratio_low": _ratio_low,
        "ratio_high": _ratio_high,
        "relative_ratio": lambda rows: _exponential(rows.once(tests_of).relative.estimate),
        "relative_low": lambda rows: _exponential(rows.once(tests_of).relative.low),
        "relative_high": lambda rows: _exponential(rows.once(tests_of).relative.high),
        "p_value": lambda rows: rows.once(tests_of).corrected,
        "test": _test,
        "runs_needed": _runs_needed,
        "verdict": _verdict,
        **{f"{name}_difference": _work_difference(name) for name in _WORK},
        "absolute_macs_difference": _absolute("macs_difference"),
        "work_ratio": work_ratio,
        "compared_work": lambda rows: rows.once(compared_work).kind,
        "ratio_per_work": _per_work("ratio"),
        "ratio_per_work_low": _per_work("ratio_low"),
        "ratio_per_work_high": _per_work("ratio_high"),
    },
    of_operators={
        "base": _base,
        "match": _match,
        "base_name": lambda rows: _comparison(rows).base_name,
        "base_computation": _base_work("computation"),
        "base_macs": _base_work("macs"),
        "base_memory": _base_work("memory"),
        "base_params": _base_params,
        "base_in_shapes": _base_shapes("in_shapes"),
        "base_out_shapes": _base_shapes("out_shapes"),
    },
    of_groups={"match": _match_of_groups},
)

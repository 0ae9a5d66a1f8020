"""Says whether a comparison has too few runs for verdicts, or to detect a change of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.comparison.formulas import tests_of
from profile_analyze.comparison.statistics import LEAST_RUNS
from profile_analyze.comparison.verdicts import enough_runs, hidden_rows
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.iterations import required_noun, units_in
from profile_analyze.model.terms import DEVICE
from profile_analyze.query.missing_times import missing_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.columns.rows import Rows
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.query.table import Table


class Hidden(NamedTuple):
    """The rows that have too few runs to be `slower` or `faster`, if only one row changed."""

    rows: NDArray[np.bool_]
    """Whether each row of the table is hidden, shape (rows,)."""
    finding: Finding | None
    """Says that there are too few runs, and how many are enough; None if no row is hidden."""


def why_no_verdict(comparison: Comparison, unit: SampleUnit) -> Finding | None:
    """Return why no row has a verdict on its device time; None if there may be verdicts.

    A side has no device times, or too few runs. The `unit` of the question decides whether
    processes or iterations count as runs.
    """
    return missing_times(comparison, DEVICE) or few_runs(comparison, unit)


def few_runs(comparison: Comparison, unit: SampleUnit) -> Finding | None:
    """Return the finding that there are too few runs for any verdict; None if there are enough."""
    ours, theirs = units_of(comparison, unit)
    if min(ours, theirs) >= LEAST_RUNS:
        return None
    return Finding.of(
        "few-runs",
        Kind.INCOMPLETE,
        least=LEAST_RUNS,
        units=_noun(comparison, unit),
        runs=ours,
        base_runs=theirs,
    )


def hidden_of(comparison: Comparison, table: Table) -> Hidden:
    """Return the rows of `table` that are hidden: see `verdicts.hidden_rows`."""
    ours, theirs = units_of(comparison, table.query.unit)
    if not len(table):
        return Hidden(np.zeros(0, np.bool_), None)
    # The p-values of all rows are corrected together, even of rows that the table does not show.
    tests = table.shown.of_all_rows(tests_of)
    is_hidden, enough = hidden_rows(tests, (ours, theirs))
    hidden, tested = int(is_hidden.sum()), int((~np.isnan(tests.p_values)).sum())
    finding = None
    if hidden:
        finding = Finding.of(
            "few-runs-for-one-row",
            Kind.INCOMPLETE,
            runs=ours,
            base_runs=theirs,
            units=_noun(comparison, table.query.unit),
            rows=hidden,
            noun="group" if table.query.grouped else "operator",
            are_all=hidden == tested,
            enough=enough,
        )
    return Hidden(is_hidden[table.shown.chosen], finding)


def enough_for_one_operator(table: Table) -> int:
    """Return how many runs of each side are enough to show a change of just one operator.

    Each row of `table` is an operator. Unlike `hidden_of`, this also works if there are too few
    runs for any verdict.
    """

    def is_comparable(rows: Rows) -> NDArray[np.bool_]:
        comparable: NDArray[np.bool_] = ~np.isnan(rows["time"] + rows["base"])
        return comparable

    return enough_runs(int(table.shown.of_all_rows(is_comparable).sum()))


def units_of(comparison: Comparison, unit: SampleUnit) -> tuple[int, int]:
    """Return how many processes or iterations the profile and the baseline have."""
    ours, theirs = (units_in(side.runs, unit) for side in (comparison.profile, comparison.base))
    return ours, theirs


def _noun(comparison: Comparison, unit: SampleUnit) -> str:
    return required_noun(unit, comparison.profile.runs, comparison.base.runs)

"""Tells whether a comparison has too few runs for verdicts, or to detect a change of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.comparison.formulas import tests_of
from profile_analyze.comparison.statistics import LEAST_RUNS, SIGNIFICANT, least_p, too_few_runs
from profile_analyze.comparison.verdicts import enough_runs, hidden_rows, least_runs
from profile_analyze.model.joining.iterations import required_noun, units_in
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.query.notes.missing_times import missing_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.columns.rows import Rows
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.query.table import Table


class Hidden(NamedTuple):
    """The rows that have too few runs to be `slower` or `faster`, if only one row changed."""

    rows: NDArray[np.bool_]
    """Whether each row of the table is hidden, shape (rows,)."""
    reason: str
    """Says that there are too few runs, and how many are enough; empty if no row is hidden."""


def few_units_notes(comparison: Comparison, table: Table) -> Iterator[Note]:
    """Yield a note if there are too few runs: for any verdict, or to detect a change of one row.

    The `unit` of the question decides whether processes or iterations count as runs. If the
    profile or the baseline has no device times, a note asks for them.
    """
    missing = missing_times(comparison, DEVICE)
    if missing and missing.profiles == 1:  # if both have no times, the notes on the answer say so
        text = f"differences and verdicts of device times are N/A: {missing}"
        yield TextNote(text, Importance.INCOMPLETE)
    if missing and missing_times(comparison, HOST):
        return  # more runs would not help
    ours, theirs = units_of(comparison, table.query.unit)
    if min(ours, theirs) < LEAST_RUNS:
        yield TextNote(
            f"verdicts are N/A: they need {LEAST_RUNS} {_noun(comparison, table)} or more on each "
            f"side; the profile has {ours}, the baseline {theirs}; with so few, large differences "
            "often occur by chance",
            Importance.INCOMPLETE,
        )
    elif reason := hidden_of(comparison, table).reason:
        yield TextNote(reason, Importance.INCOMPLETE)


def why_no_verdict(comparison: Comparison, unit: SampleUnit) -> str:
    """Return why no row has a verdict on its device time; empty if there may be verdicts.

    A side has no device times, or too few runs.
    """
    if missing := missing_times(comparison, DEVICE):
        return missing.clause
    noun = required_noun(unit, comparison.profile.runs, comparison.base.runs)
    return too_few_runs(noun, *units_of(comparison, unit))


def hidden_of(comparison: Comparison, table: Table) -> Hidden:
    """Return the rows of `table` that are hidden: see `verdicts.hidden_rows`."""
    ours, theirs = units_of(comparison, table.query.unit)
    if not len(table):
        return Hidden(np.zeros(0, np.bool_), "")
    # The p-values of all rows are corrected together, even of rows that the table does not show.
    tests = table.shown.of_all_rows(tests_of)
    is_hidden, enough = hidden_rows(tests, (ours, theirs))
    hidden, tested = int(is_hidden.sum()), int((~np.isnan(tests.p_values)).sum())
    if not hidden:
        return Hidden(is_hidden[table.shown.chosen], "")
    noun = "group" if table.query.grouped else "operator"
    if hidden == 1:
        of_rows = f"the {noun} that takes the least time"
    else:
        which = "" if hidden == tested else " that take the least time"
        of_rows = f"just one of the {hidden} {noun}s{which}"
    reason = (
        f"{ours} {_noun(comparison, table)} and {theirs} of the baseline are too few to show a "
        f"change of {of_rows}, however large; {enough} on each side are enough"
    )
    return Hidden(is_hidden[table.shown.chosen], reason)


def enough_for_one_operator(table: Table) -> int:
    """Return how many runs of each side are enough to show a change of just one operator.

    Each row of `table` is an operator. Unlike `hidden_of`, this also works if there are too few
    runs for any verdict.
    """

    def is_comparable(rows: Rows) -> NDArray[np.bool_]:
        comparable: NDArray[np.bool_] = ~np.isnan(rows["time"] + rows["base"])
        return comparable

    return enough_runs(int(table.shown.of_all_rows(is_comparable).sum()))


def reason_few_for_one_condition(units: tuple[int, int], conditions: int, noun: str) -> str:
    """Return why the units are too few to show a change for one condition alone; empty if not.

    `units` has the units of each side. The p-values of all `conditions` are corrected together.
    """
    # The correction multiplies p by the number of conditions.
    permitted = SIGNIFICANT / conditions
    if least_p(*units) <= permitted:
        return ""
    return (
        f"{units[0]} {noun} and {units[1]} of the baseline are too few to show a change for just "
        f"one of {conditions} conditions, however large; {least_runs(permitted)} on each side are "
        "enough"
    )


def units_of(comparison: Comparison, unit: SampleUnit) -> tuple[int, int]:
    """Return how many processes or iterations the profile and the baseline have."""
    ours, theirs = (units_in(side.runs, unit) for side in (comparison.profile, comparison.base))
    return ours, theirs


def _noun(comparison: Comparison, table: Table) -> str:
    return required_noun(table.query.unit, comparison.profile.runs, comparison.base.runs)

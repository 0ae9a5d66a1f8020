"""The notes on a machine that was slower or faster in some runs than in others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.analysis.drift import drift_factors, shared_change
from profile_analyze.model.notes import Importance, Note, operators_and_share
from profile_analyze.model.numbers import total
from profile_analyze.units import short_time, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.table import Table

_NOTEWORTHY: Final = 0.03
"""Smaller changes, as a fraction of the baseline, get no note."""
_WITHOUT_TOTALS: Final = (
    "with it, totals have no verdict, and --fail-if rejects conditions on totals"
)
"""The drawback of `--correct-drift`. Each note that suggests the option ends with this text."""


def drift_notes(operators: Table, comparison: Comparison, difference_s: float) -> Iterator[Note]:
    """Yield notes if drift between the runs may explain differences in the comparison.

    `operators` has a row for each operator, and `difference_s` is the difference of the totals.
    There are no notes if drift is corrected, or if the two sides have different formats. Times of
    different formats differ for other reasons than the state of the machine.
    """
    formats = {side.origin.format for side in (comparison.profile, comparison.base)}
    if comparison.drift_corrected or len(formats) > 1:
        return
    yield from _shared_change_notes(operators)
    yield from _sum_notes(operators, comparison, difference_s)


def _shared_change_notes(operators: Table) -> Iterator[Note]:
    """Yield a note if nearly all operators changed in one direction by a similar ratio."""
    times_s = operators["time"]
    shared = shared_change(times_s, operators["base"])
    if shared is None or max(shared.ratio, 1 / shared.ratio) <= 1 + _NOTEWORTHY:
        return
    word = "slower" if shared.ratio > 1 else "faster"
    yield Note(
        f"{operators_and_share(shared.alike.sum())} are {word} by similar ratios, with a median of "
        f"{three_digits(shared.ratio)}: either the machine was {word}, or all operators "
        "changed; profile both sides in turns to tell; --correct-drift removes what all operators "
        f"share, whatever the cause; {_WITHOUT_TOTALS}",
        Importance.WRONG,
        total(times_s[shared.alike]) / total(times_s),
    )


def _sum_notes(operators: Table, comparison: Comparison, difference_s: float) -> Iterator[Note]:
    """Yield a note if whole runs are slow or fast, and differences therefore do not add up."""
    sum_s = total(operators["difference"])
    sides = (comparison.profile, comparison.base)
    factors = drift_factors(np.concatenate([side.measured("time") for side in sides], axis=1))
    if factors is None or factors.max() <= factors.min() * (1 + _NOTEWORTHY):
        return
    if abs(sum_s - difference_s) > _NOTEWORTHY * total(operators["base"]):
        yield Note(
            f"the operators differ by {_signed(sum_s)} in sum, but the total by "
            f"{_signed(difference_s)}, because whole runs were slow or fast "
            f"({three_digits(factors.min())} to {three_digits(factors.max())} times the median "
            "run); --correct-drift corrects the times of operators for this, but also hides a "
            f"change that all operators share; {_WITHOUT_TOTALS}",
            Importance.CONTEXT,
        )


def _signed(time_s: float) -> str:
    return f"{'+' if time_s > 0 else ''}{short_time(time_s)}"

"""The notes on a machine that was slower or faster in some runs than in others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.comparison.drift import drift_factors, shared_change
from profile_analyze.comparison.run_levels import robust_deviation
from profile_analyze.comparison.statistics import LEAST_RUNS
from profile_analyze.model.joining.iterations import by_unit, unit_names
from profile_analyze.model.notes import Importance, Note, TextNote, operators_and_share
from profile_analyze.model.numbers import quantile_of_runs, ratio, total
from profile_analyze.units import short_time, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table

_NOTEWORTHY: Final = 0.03
"""Smaller changes, as a fraction of the baseline, get no note."""
_ODD: Final = 5.0
"""A run is odd only if the logarithm of its total is at least this many robust standard deviations
from the median."""
_LEAST_ODD: Final = 1.25
"""A run is odd only if it also took at least 1.25 times the median, or at most 1 / 1.25 times."""
_MOST_NAMED: Final = 3
_ADVICE_ON_RUNS: Final = (
    "--correct-drift removes such differences between runs from the rows of tables, but not from "
    "the summary"
)


def drift_notes(operators: Table, comparison: Comparison, difference_s: float) -> Iterator[Note]:
    """Yield notes if drift between the runs may explain differences in the comparison.

    `operators` has a row for each operator, and `difference_s` is the difference of the totals.
    There are no notes if drift is corrected, or if the two sides have different formats. Times of
    different formats differ for other reasons than the state of the machine.
    """
    formats = {side.origin.format for side in (comparison.profile, comparison.base)}
    if comparison.uncorrected is not None or len(formats) > 1:
        return
    yield from _shared_change_notes(operators, comparison)
    yield from _sum_notes(operators, comparison, difference_s)


def _shared_change_notes(operators: Table, comparison: Comparison) -> Iterator[Note]:
    """Yield a note if nearly all operators changed in one direction by a similar ratio."""
    times_s = operators["time"]
    shared = shared_change(times_s, operators["base"])
    if shared is None or max(shared.ratio, 1 / shared.ratio) <= 1 + _NOTEWORTHY:
        return
    word = "slower" if shared.ratio > 1 else "faster"
    by_dtype = _changed_dtype(operators, comparison, shared.alike)
    cause = by_dtype or (
        f"either the machine was {word}, or all operators changed; profile both sides in turns to "
        "find out; --correct-drift removes the change that all operators share"
    )
    yield TextNote(
        f"{operators_and_share(shared.alike.sum())} are {word} by similar ratios, with a median of "
        f"{three_digits(shared.ratio)}: {cause}",
        Importance.CONTEXT if by_dtype else Importance.WRONG,
        total(times_s[shared.alike]) / total(times_s),
    )


def _changed_dtype(operators: Table, comparison: Comparison, alike: NDArray[np.bool_]) -> str:
    """Return a clause that says how the dtype of most of the operators in `alike` changed.

    "Most" means over half of the time of these operators in the baseline. Empty if the dtypes of
    most operators are the same or unknown.
    """
    changes = comparison.changed_dtypes().take(operators.shown.chosen[alike])
    base_s = operators["base"][alike]
    by_change = np.bincount(changes.codes + 1, base_s, len(changes.categories) + 1)[1:]
    if not by_change.sum() > base_s.sum() / 2:
        return ""
    most = int(np.argmax(by_change))
    count = int((changes.codes >= 0).sum())
    mostly = "" if count == (changes.codes == most).sum() else "mostly "
    how = f"{mostly}{changes.categories[most]}"
    if count == alike.sum():
        return f"probably because their dtype changed ({how})"
    return f"probably because the dtype of {count} of them changed ({how})"


def _sum_notes(operators: Table, comparison: Comparison, difference_s: float) -> Iterator[Note]:
    """Yield a note if whole runs are slow or fast, and differences therefore do not add up.

    There is no note if the sides do not belong together, or if operators with a time on only one
    side, whose difference is N/A, explain the rest.
    """
    if comparison.mismatch is not None:
        return
    differences_s = operators["difference"]
    sum_s = total(differences_s)
    one_sided = [np.where(np.isnan(differences_s), operators[one], 0.0) for one in ("time", "base")]
    rest_s = difference_s - sum_s - float(np.nansum(one_sided[0]) - np.nansum(one_sided[1]))
    sides = (comparison.profile, comparison.base)
    factors = drift_factors(np.concatenate([side.measured("time") for side in sides], axis=1))
    if factors is None or factors.max() <= factors.min() * (1 + _NOTEWORTHY):
        return
    if abs(rest_s) > _NOTEWORTHY * total(operators["base"]):
        on_both = ~np.isnan(operators["time"] + operators["base"])
        # Drift correction would also remove the effect of another dtype.
        by_dtype = _changed_dtype(operators, comparison, on_both)
        advice = "" if by_dtype else f"; {_ADVICE_ON_RUNS}"
        yield TextNote(
            f"the differences of the operators add up to {_signed(sum_s)}, but the total differs "
            f"by {_signed(difference_s)}: some runs were slower or faster as a whole "
            f"({three_digits(factors.min())} to {three_digits(factors.max())} times as long as the "
            f"median run), so differences of medians do not add up{advice}",
            Importance.CONTEXT,
        )


def odd_run_notes(
    comparison: Comparison, unit: SampleUnit, *, is_uncertain: bool
) -> Iterator[Note]:
    """Yield a note if some runs took far longer or shorter than the other runs of their side.

    If the verdict on the total `is_uncertain`, the note is important: such runs make intervals
    wider, and without them the verdict may be certain.
    """
    sides = comparison.as_measured.profile, comparison.as_measured.base
    odd = [one for side in sides for one in _odd_runs(side, unit)]
    if not odd:
        return
    named = ", ".join(f"{name} took {three_digits(factor)}" for name, factor in odd[:_MOST_NAMED])
    side, them = ("its side", "it") if len(odd) == 1 else ("their sides", "them")
    others = len(odd) - _MOST_NAMED
    more = ", and 1 more is odd" if others == 1 else f", and {others} more are odd"
    yield TextNote(
        f"{named} times the median of {side}{more if others > 0 else ''}: find out why, or leave "
        f"{them} out",
        Importance.ANSWER if is_uncertain else Importance.CONTEXT,
    )


def _odd_runs(side: Profile, unit: SampleUnit) -> Iterator[tuple[str, float]]:
    """Yield the name of each odd run of a side, and its total divided by the median total."""
    totals_s = by_unit(side.totals_s("time")[np.newaxis], side.runs, unit)
    names = unit_names(side, unit)
    with np.errstate(all="ignore"):
        logs = np.log(ratio(totals_s, float(quantile_of_runs(totals_s, 0.5)[0])))
    if logs.shape[1] < LEAST_RUNS or not np.isfinite(logs).all():
        return
    limit = max(_ODD * float(robust_deviation(logs)[0]), np.log(_LEAST_ODD))
    for index in np.flatnonzero(np.abs(logs[0]) >= limit).tolist():
        yield names[index], float(np.exp(logs[0, index]))


def _signed(time_s: float) -> str:
    return f"{'+' if time_s > 0 else ''}{short_time(time_s)}"

"""The findings on the times of a comparison: few runs, a slower machine, odd runs, wall times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.comparison.drift import drift_factors, shared_change
from profile_analyze.comparison.run_levels import robust_deviation
from profile_analyze.comparison.statistics import LEAST_RUNS
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.joining.iterations import by_unit, unit_names
from profile_analyze.model.numbers import quantile_of_runs, ratio, total
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.query.few_units import few_runs, hidden_of
from profile_analyze.query.missing_times import missing_times
from profile_analyze.query.wall_times import ComparedTimes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.run_times import TypicalRun
    from profile_analyze.query.table import Table

_NOTEWORTHY: Final = 0.03
"""Smaller changes, as a fraction of the baseline, are no finding."""
_ODD: Final = 5.0
"""A run is odd only if the logarithm of its total is at least this many robust standard deviations
from the median."""
_LEAST_ODD: Final = 1.25
"""A run is odd only if it also took at least 1.25 times the median, or at most 1 / 1.25 times."""
_MOST_NAMED: Final = 3
_LARGE_CHANGE: Final = 0.1
"""With too few runs for verdicts, a smaller change of the wall time alone is no finding."""
_FOLLOWS: Final = 0.5
"""A run follows its operators if it changes by at least this share of their change, in seconds or
as a fraction: operators on several threads save more seconds than their run."""
_SMALL_PART: Final = 0.5
"""If operators take a smaller share of a run, on both sides, other things decide how long the run
takes. A run may then not follow its operators, even if its noise could also hide that it does."""


def few_units_findings(comparison: Comparison, table: Table) -> Iterator[Finding]:
    """Yield a finding if runs are too few: for any verdict, or to detect a change of one row.

    If the profile or the baseline has no device times, a finding asks for them.
    """
    missing = missing_times(comparison, DEVICE)
    if missing and missing["whose"]:  # if both have no times, findings on the answer say so
        yield replace(missing, code="one-side-without-times", kind=Kind.INCOMPLETE)
    if missing and missing_times(comparison, HOST):
        return  # more runs would not help
    if few := few_runs(comparison, table.query.unit):
        yield few
    elif hidden := hidden_of(comparison, table).finding:
        yield hidden


def drift_findings(
    operators: Table, comparison: Comparison, difference_s: float
) -> Iterator[Finding]:
    """Yield findings if drift between the runs may explain differences in the comparison.

    `operators` has a row for each operator, and `difference_s` is the difference of the totals.
    There are none if drift is corrected, or if the two sides have different formats. Times of
    different formats differ for other reasons than the state of the machine.
    """
    formats = {side.origin.format for side in (comparison.profile, comparison.base)}
    if comparison.uncorrected is not None or len(formats) > 1:
        return
    yield from _shared_change(operators, comparison)
    yield from _sums(operators, comparison, difference_s)


def _shared_change(operators: Table, comparison: Comparison) -> Iterator[Finding]:
    """Yield a finding if nearly all operators changed in one direction by a similar ratio."""
    times_s = operators["time"]
    shared = shared_change(times_s, operators["base"])
    if shared is None or max(shared.ratio, 1 / shared.ratio) <= 1 + _NOTEWORTHY:
        return
    dtypes = _changed_dtype(operators, comparison, shared.alike)
    yield from on_operators(
        "shared-change",
        Kind.CONTEXT if dtypes else Kind.WRONG,
        int(shared.alike.sum()),
        total(times_s[shared.alike]) / total(times_s),
        ratio=shared.ratio,
        dtypes=dtypes,
    )


def _changed_dtype(
    operators: Table, comparison: Comparison, alike: NDArray[np.bool_]
) -> tuple[Any, ...]:
    """Return how the dtype of most of the operators in `alike` changed.

    These are the most frequent change, how many operators changed, and whether all of these changed
    like that. "Most" means over half of the time of these operators in the baseline. Empty if the
    dtypes of most operators are the same or unknown.
    """
    changes = comparison.changed_dtypes().take(operators.shown.chosen[alike])
    base_s = operators["base"][alike]
    by_change = np.bincount(changes.codes + 1, base_s, len(changes.categories) + 1)[1:]
    if not by_change.sum() > base_s.sum() / 2:
        return ()
    most = int(np.argmax(by_change))
    count = int((changes.codes >= 0).sum())
    return changes.categories[most], count, bool(count == (changes.codes == most).sum())


def _sums(operators: Table, comparison: Comparison, difference_s: float) -> Iterator[Finding]:
    """Yield a finding if whole runs are slow or fast, and differences therefore do not add up.

    There is none if the sides do not belong together, or if operators with a time on only one side,
    whose difference is N/A, explain the rest.
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
        yield Finding.of(
            "drifting-runs",
            Kind.CONTEXT,
            sum_s=sum_s,
            difference_s=difference_s,
            least=factors.min(),
            most=factors.max(),
            # Drift correction would also remove the effect of another dtype.
            by_dtype=bool(_changed_dtype(operators, comparison, on_both)),
        )


def odd_run_findings(
    comparison: Comparison, unit: SampleUnit, *, is_uncertain: bool
) -> Iterator[Finding]:
    """Yield a finding if some runs took far longer or shorter than the other runs of their side.

    If the verdict on the total `is_uncertain`, the finding is important: such runs make intervals
    wider, and without them the verdict may be certain.
    """
    sides = comparison.as_measured.profile, comparison.as_measured.base
    odd = [one for side in sides for one in _odd_runs(side, unit)]
    if odd:
        kind = Kind.ANSWER if is_uncertain else Kind.CONTEXT
        yield Finding.of("odd-runs", kind, first=odd[:_MOST_NAMED], runs=len(odd))


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


def wall_time_findings(whole: Table, comparison: Comparison) -> Iterator[Finding]:
    """Yield a finding if runs did not become slower or faster as their operators did.

    `whole` has one row for all operators together. A change counts if it is at least as large as
    the threshold of verdicts, and at least 1 %. There are three cases:

    - The wall time changed in the opposite direction.
    - The wall time changed by less than half of what the operators did, both in seconds and as a
      fraction.
    - The wall time changed, but the operators did not.

    If noise may be the reason, only some of these cases are found: see
    `_doubt_on_different_changes` and `_doubt_on_change_of_runs`. If the two sides do not belong
    together, there is no finding.
    """
    if not len(whole) or comparison.mismatch is not None:
        return
    times = ComparedTimes.of(whole, comparison)
    operators, runs = times.operators, times.runs
    if np.isnan(operators.fraction) or np.isnan(runs.fraction):
        return
    only_runs, is_opposite = abs(operators.fraction) < times.least, False
    if only_runs:
        doubt = _doubt_on_change_of_runs(times)
    else:
        doubt, is_opposite = _doubt_on_different_changes(times)
    if doubt is not None:
        yield Finding.of(
            "only-runs-changed" if only_runs else "runs-unlike-operators",
            Kind.ANSWER,
            operators=operators.fraction,
            operators_s=operators.difference_s,
            runs=runs.fraction,
            runs_s=runs.difference_s,
            opposite=is_opposite,
            doubt=doubt,
            **_where_to_look(times),
        )


def _doubt_on_different_changes(times: ComparedTimes) -> tuple[str | None, bool]:
    """Return how noise may explain that runs changed in another way than their operators did.

    The first result is empty if noise is an unlikely reason, and None if there is nothing to say:
    the runs follow their operators, or noise is a likely reason. The second result is whether the
    wall time changed in the opposite direction.

    Doubtful cases are a change in the opposite direction with few runs, and any different change
    if operators take only a small part of a run.
    """
    operators, runs = times.operators, times.runs
    is_opposite = operators.fraction * runs.fraction < 0 and abs(runs.fraction) >= times.least
    as_fractions = (operators.difference_s / times.base.wall_s, operators.fraction)
    limit = _FOLLOWS * min(as_fractions, key=abs)
    follows = runs.fraction <= limit if operators.fraction < 0 else runs.fraction >= limit
    is_plausible = not follows and _take_small_part(times)
    if not times.has_enough_runs:
        return ("few runs" if is_opposite or is_plausible else None), is_opposite
    is_opposite = is_opposite and _is_beyond_noise(times, 0.0)
    if is_opposite or _is_beyond_noise(times, limit):
        return "", is_opposite
    return ("noise" if is_plausible else None), False


def _doubt_on_change_of_runs(times: ComparedTimes) -> str | None:
    """Return how noise may explain that only the wall time changed, not the operators.

    The result is None if the wall time did not change, or if noise is a likely reason. With few
    runs, only a large change is doubtful; a smaller one is likely to be noise.
    """
    change = times.runs.fraction
    if not times.has_enough_runs:
        return "few runs" if abs(change) >= _LARGE_CHANGE else None
    of_runs, whole = times.shift_of_runs(), times.whole
    # The change of the operators is not known exactly, either. The runs may still follow it.
    with np.errstate(divide="ignore"):
        highest = np.maximum(np.log1p(times.least), np.log(whole["ratio_high"][0]))
        lowest = np.minimum(np.log1p(-min(times.least, 1.0)), np.log(whole["ratio_low"][0]))
    is_change = of_runs.low[0] > highest or of_runs.high[0] < lowest
    return "" if is_change and abs(change) >= times.least else None


def _take_small_part(times: ComparedTimes) -> bool:
    """Return whether operators take only a small part of a run, on both sides."""
    return all(part < _SMALL_PART for part in times.parts_of_run())


def _where_to_look(times: ComparedTimes) -> dict[str, Any]:
    """Return where the reason may be, with the times or shares of both sides that show it."""
    ours, base = times.ours, times.base
    # A part of a run explains the wall time only if it changed in the same direction. It may not
    # have, because the median time of the operators may be from another run.
    unexplained_s = times.runs.difference_s - times.operators.difference_s
    outside_s, inside_s = ours.outside_s - base.outside_s, _inside_s(ours) - _inside_s(base)
    if unexplained_s < 0:
        outside_s, inside_s = -outside_s, -inside_s
    is_same_side = ours.explained_on == base.explained_on
    found: dict[str, Any] = {"explained_on": ours.explained_on, "times_s": (), "parts": ()}
    if is_same_side and ours.explained_on == HOST and inside_s > max(outside_s, 0):
        return {"look": "host", **found, "times_s": (_inside_s(ours), _inside_s(base))}
    is_small = _take_small_part(times)
    if is_same_side and outside_s > (abs(unexplained_s) / 2 if is_small else 0):
        return {"look": "outside", **found, "times_s": (ours.outside_s, base.outside_s)}
    if is_small:
        return {"look": "rest", **found, "parts": times.parts_of_run()}
    return {"look": "overlap", **found}


def _inside_s(run: TypicalRun) -> float:
    """Return the time of the run that operators explain."""
    return run.wall_s - run.outside_s


def _is_beyond_noise(times: ComparedTimes, limit: float) -> bool:
    """Return whether noise is an unlikely reason for the different changes.

    The 95 % confidence interval of the change of the operators must exclude "no change". If they
    became slower, the interval of the wall time must be below `limit`, a change as a fraction of
    the baseline; if they became faster, above `limit`. An end that is N/A counts as infinite.
    """
    whole, of_runs, limit_log = times.whole, times.shift_of_runs(), np.log1p(limit)
    if whole["ratio_low"][0] > 1:
        return bool(of_runs.high[0] < limit_log)
    return bool(whole["ratio_high"][0] < 1 and of_runs.low[0] > limit_log)

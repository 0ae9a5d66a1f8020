"""The findings on runs: means, waits, runs without times, slow first runs, outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.large_arrays import blocks_of_runs
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.iterations import by_unit, indices_in_process, runs_by_process
from profile_analyze.model.numbers import Spread, quantile_of_runs, ratio
from profile_analyze.model.terms import MEAN
from profile_analyze.query.run_times import outside_s, walls_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_HARDLY_ANY: Final = 0.1
"""A run with less than this share of the operators of another run did hardly any of the work."""
_LEAST_RUNS: Final = 3
"""With fewer runs, nobody can tell which runs are slower than usual."""
_SLOW: Final = 1.2
"""A run at the start counts as warm-up if it takes more than this multiple of the median."""
_OUTLIER: Final = 3.0
"""A run after the warm-up is an outlier if it takes at least this multiple of the median."""


def mean_findings(profile: Profile) -> Iterator[Finding]:
    """Yield a finding if the times are means over inferences, or are from a single inference.

    It says what is known about how much times vary. With several runs, the summary shows the spread
    of the runs. Single inferences vary more than means over them.
    """
    if profile.origin.times == MEAN:
        count = profile.origin.averaged_over
        spread = _has_spread(profile)
        yield Finding.of("times-are-means", Kind.CONTEXT, inferences=count, has_spread=spread)


def _has_spread(profile: Profile) -> bool:
    """Return whether the runs show how much the total varies.

    Copies of a run do not show it. Runs of different models, or files of different kinds about one
    run, do not show it either.
    """
    if profile.unlike:
        return False
    totals_s = by_unit(profile.totals_s("time")[np.newaxis], profile.runs, "iteration")
    return not np.isnan(Spread.of(totals_s[0]).value)


def synchronisation_findings(profile: Profile) -> Iterator[Finding]:
    """Yield a finding on how much waits add to the times. The rows must be of one level."""
    if profile.origin.synchronised:
        factor = float(np.fmax.reduce(ratio(profile.totals_s("time"), walls_s(profile)), initial=0))
        kind = Kind.WRONG if factor > 1 else Kind.CONTEXT
        yield Finding.of("synchronised", kind, factor=factor if factor > 1 else None)


def unequal_run_findings(profile: Profile) -> Iterator[Finding]:
    """Yield findings on runs without a device time, and on runs with hardly any work."""
    if len(profile.runs) < 2:
        return
    is_known = ~np.isnan(profile.totals_s("time"))
    empty = np.flatnonzero(~is_known)
    if len(empty) and is_known.any():
        yield Finding.of("runs-without-device-time", Kind.WRONG, **_among(profile, empty))
    counts = _operators_in_runs(profile)
    small = np.flatnonzero(is_known & (counts < _HARDLY_ANY * _most_in_process(profile, counts)))
    if len(small):
        yield Finding.of("unequal-runs", Kind.WRONG, **_among(profile, small))


def _operators_in_runs(profile: Profile) -> Integers:
    """Return how many operators have a device time in each run, shape (runs,)."""
    times_s = profile.measured("time")
    counts = np.zeros(times_s.shape[1], np.int64)
    for runs, (block,) in blocks_of_runs(times_s):
        counts[runs] = (~np.isnan(block)).sum(axis=0)
    return counts


def _most_in_process(profile: Profile, counts: Integers) -> Integers:
    """Return the largest of `counts` in the process of each run, shape (runs,).

    If a process has only one run, there is nothing to compare it with, and the result is 0.
    """
    most = np.zeros_like(counts)
    for runs in runs_by_process(profile.runs, least=2):
        most[runs] = counts[runs].max()
    return most


def _among(profile: Profile, chosen: Integers) -> dict[str, Any]:
    """Return how many of the runs are chosen, and the first of them."""
    return {"chosen": len(chosen), "runs": len(profile.runs), **_named(profile, int(chosen[0]))}


def _named(profile: Profile, run: int) -> dict[str, Any]:
    """Return the number of a run as users count, and its process; None if there is only one."""
    number = profile.skipped_runs + 1 + int(indices_in_process(profile.runs)[run])
    process = profile.processes[profile.runs[run].process]
    return {"run": number, "process": process if len(profile.processes) > 1 else None}


def warm_up_findings(profile: Profile) -> Iterator[Finding]:
    """Yield a finding if the first runs of a process took longer than its other runs."""
    if len(profile.runs) < _LEAST_RUNS:
        return
    time, times_s = _times_of_runs(profile)
    slow = [
        _first_slow_runs(times_s[runs]) for runs in runs_by_process(profile.runs, least=_LEAST_RUNS)
    ]
    if count := max((runs for runs, _ in slow), default=0):
        yield Finding.of(
            "warm-up",
            Kind.WRONG,
            time=time,
            skipped=profile.skipped_runs,
            runs=count,
            slow_processes=sum(runs > 0 for runs, _ in slow),
            processes=len(profile.processes),
            multiple=max(multiple for _, multiple in slow),
        )


def _times_of_runs(profile: Profile) -> tuple[str, Floats]:
    """Return the time of each run, and which time this is: the wall time if every run has one."""
    walls = walls_s(profile)
    if not np.isnan(walls).any():
        return "wall", walls
    device_s = profile.totals_s("time")
    if not np.isnan(device_s).all():
        return "device", device_s
    return "host", profile.totals_s("host_time")


def outlier_findings(profile: Profile) -> Iterator[Finding]:
    """Yield a finding if runs after the slow first ones took far longer than the median run."""
    walls = walls_s(profile)
    multiples = np.full(len(walls), np.nan)  # of the median
    for runs in runs_by_process(profile.runs, least=_LEAST_RUNS):
        first, _ = _first_slow_runs(walls[runs])
        median = quantile_of_runs(walls[runs][np.newaxis], 0.5)
        multiples[runs[first:]] = ratio(walls[runs], median)[first:]
    outliers = np.flatnonzero(multiples >= _OUTLIER)
    if len(outliers):
        slowest = int(outliers[np.argmax(multiples[outliers])])
        yield Finding.of(
            "outliers",
            Kind.WRONG,
            **_named(profile, slowest),
            outliers=len(outliers),
            multiple=multiples[slowest],
            outside=outside_s(profile)[slowest] / walls[slowest],
        )


def _first_slow_runs(times_s: Floats) -> tuple[int, float]:
    """Return how many runs at the start of a process are slow, and how slow the slowest is.

    The second number is the time of the slowest run at the start, divided by the median of all
    runs; 0 if no run at the start is slow.
    """
    multiples = ratio(times_s, quantile_of_runs(times_s[np.newaxis], 0.5))
    is_slow = multiples > _SLOW
    count = len(times_s) if is_slow.all() else int(np.argmin(is_slow))
    return count, float(multiples[:count].max(initial=0.0))

"""The totals of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.columns import RUN_STATISTICS
from profile_analyze.model.numbers import over_runs, totals
from profile_analyze.model.profile import Profile
from profile_analyze.model.runs import by_run
from profile_analyze.query.filters import of_kind
from profile_analyze.units import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.change import Change
    from profile_analyze.query.judgement import Judgement
    from profile_analyze.query.question import Query

COPY_TYPE = "Copy"
_SHORTEST_SHOWN_S = 0.5e-4  # copy times are shown with four decimals


class CopyTime(NamedTuple):
    """Seconds spent in operators that copy between comp nodes; NaN if there is none."""

    total_s: float
    mean_s: float
    wait_total_s: float
    wait_mean_s: float


class Summary(NamedTuple):
    """Totals over all operators of a profile, whatever a query filters. NaN is N/A.

    Of several runs it is the statistic of their totals that the query asks for.
    """

    device_time_s: float
    host_time_s: float
    copy: CopyTime | None
    """Of the copy operators that pass a query's filters by type, name and dtype; None if not
    asked for."""
    notes: tuple[str, ...]
    judgement: Judgement | None = None
    """How all that stands against the peaks of a device; None if none were given."""
    runs: int = 1
    """How many; where they are kept apart, the totals are of all together."""
    spread: float = np.nan
    """How much the device time varies from run to run: half the interquartile range over the
    median; NaN with one run."""
    change: Change | None = None
    """How the device time differs from that of a base; None without one."""


def summarise(
    source: Profile | Comparison, copies_of: Query | None = None, judged_by: Query | None = None
) -> Summary:
    """The totals of a profile, or of that of a comparison, and how they differ from its base.

    With the copy times of what passes `copies_of`, if given, and how all stands against the peaks
    of `judged_by`, if that has some; its statistic makes one value of those of several runs.
    """
    profile = source if isinstance(source, Profile) else source.profile
    if judged_by is not None and judged_by.runs_apart:
        profile = by_run(profile)  # so that totals are what shares are of
    operators = len(source) if isinstance(source, Profile) else source.operators
    statistic = RUN_STATISTICS[0] if judged_by is None else judged_by.run_statistic
    copy = None if copies_of is None else _copy_time(profile, copies_of)
    judgement, change = None, None
    if judged_by is not None and judged_by.peaks is not None:
        from profile_analyze.query.judgement import judge

        judgement = judge(judged_by, profile)
    if not isinstance(source, Profile):
        from profile_analyze.query.change import change_of
        from profile_analyze.query.question import Query

        change = change_of(judged_by or Query(compared=True), source)
    return Summary(
        device_time_s=profile.total_s("device", run_statistic=statistic),
        host_time_s=profile.total_s("host", run_statistic=statistic),
        copy=copy,
        notes=(
            *_notes(profile, operators, copy),
            *(judgement.notes if judgement else ()),
            *(change.notes if change else ()),
        ),
        judgement=judgement,
        runs=len(profile.run_files),
        spread=profile.device.spread("end"),
        change=change,
    )


def _copy_time(profile: Profile, query: Query) -> CopyTime:
    is_copy = profile.type.where(word == COPY_TYPE for word in profile.type.categories)
    passed, _ = of_kind(query, profile)
    chosen = profile.device.recorded & is_copy & passed
    total_s, mean_s = _total_and_mean(profile.device.time_s[chosen], query.run_statistic)
    wait_total_s, wait_mean_s = _total_and_mean(profile.device.wait_s[chosen], query.run_statistic)
    return CopyTime(total_s, mean_s, wait_total_s, wait_mean_s)


def _total_and_mean(times: NDArray[np.float64], run_statistic: str) -> tuple[float, float]:
    """Of times of shape (operators, runs)."""
    sums = totals(times)[np.newaxis]
    means = sums / np.maximum((~np.isnan(times)).sum(axis=0), 1)
    sum_s, mean_s = (over_runs(values, run_statistic)[0] for values in (sums, means))
    return float(sum_s), float(mean_s)


def _notes(profile: Profile, operators: int, copy: CopyTime | None) -> Iterator[str]:
    recorded = int(profile.device.recorded.sum())
    if 0 < recorded < operators / 2:
        yield (
            f"only {recorded} of {operators} operators have a device time; totals and shares "
            "are of those"
        )
    by_lane = profile.device.lanes.total_by_lane()
    if len(by_lane) > 1:
        parts = ", ".join(
            f"{'N/A' if np.isnan(total) else f'{seconds(total)} s'} on {lane}"
            for lane, total in sorted(by_lane.items())
        )
        yield (
            f"the device time adds up {len(by_lane)} comp nodes, which may have worked at the "
            f"same time: {parts}"
        )
    for side, timings in (("device", profile.device), ("host", profile.host)):
        if (np.isnan(totals(timings.time_s)) & ~np.isnan(timings.time_s).all(axis=0)).any():
            yield f"the total {side} time is N/A: its times add up to more than any number"
    if profile.total_s("device") == 0:
        yield "the total device time is 0, so that shares of it are N/A" + (
            "; OpenCL measures only after CompNode::enable_opencl_profile(true)"
            if any("opencl" in lane for lane in by_lane)
            else ""
        )
    if copy is not None and 0 < copy.total_s < _SHORTEST_SHOWN_S:
        yield f"the copy time is {seconds(copy.total_s)} s, too short for four decimals"

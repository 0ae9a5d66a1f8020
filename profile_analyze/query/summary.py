"""The totals of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.columns import RUN_STATISTICS
from profile_analyze.model.iterations import by_unit
from profile_analyze.model.levels import at_level
from profile_analyze.model.numbers import over_runs, totals
from profile_analyze.model.profile import Profile
from profile_analyze.model.splitting import split
from profile_analyze.model.terms import ABSENT, COPY, DEVICE, MEAN, RUN_KEYS
from profile_analyze.query.filters import of_kind
from profile_analyze.units import counted, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.executions import Track
    from profile_analyze.model.iterations import Unit
    from profile_analyze.query.change import Change
    from profile_analyze.query.judgement import Judgement
    from profile_analyze.query.question import Query

_SHORTEST_SHOWN_S = 0.5e-4  # copy times are shown with four decimals


class CopyTime(NamedTuple):
    """Seconds spent in operators that copy between devices; NaN if there is none."""

    total_s: float
    mean_s: float
    wait_total_s: float
    wait_mean_s: float


class Summary(NamedTuple):
    """Totals over all operators of a profile, whatever a query filters. NaN is N/A.

    With several runs, they are the statistic of the runs' totals that the query asks for.
    """

    device_time_s: float
    host_time_s: float
    copy: CopyTime | None
    """The time of copy operators that pass a query's filters by type, name and dtype; None if not
    asked for."""
    notes: tuple[str, ...]
    judgement: Judgement | None = None
    """How all operators compare with the peaks of a device; None without peaks."""
    computation: float = np.nan
    """Floating-point operations of all operators in a run."""
    memory: float = np.nan
    """Bytes that all operators in a run read and write."""
    wall_s: float = np.nan
    """From the start of a run to its end, where the file says so."""
    has_times: bool = True
    """Whether the format has times at all."""
    processes: int = 1
    """How many processes the runs are of."""
    runs: int = 1
    """How many runs there are. If they are kept apart, the totals are of all together."""
    spread: float = np.nan
    """How much the device time varies from run to run: half the interquartile range over the
    median; NaN with one run."""
    change: Change | None = None
    """How the device time differs from that of a baseline; None without one."""


def summarise(
    source: Profile | Comparison, copies_of: Query | None = None, judged_by: Query | None = None
) -> Summary:
    """The totals of a profile, or of a comparison with the differences to its baseline.

    `copies_of` adds the copy times of operators that pass its filters. `judged_by` has the
    statistic over several runs; if it has peaks, it adds how all operators compare with them.
    """
    profile = source if isinstance(source, Profile) else source.profile
    if isinstance(source, Profile):
        profile = at_level(profile, None if judged_by is None else judged_by.level)
    operators = len(profile) if isinstance(source, Profile) else source.operators
    runs, processes = len(profile.runs), {run.process for run in profile.runs}
    if judged_by is not None:  # totals are the denominators of shares
        profile = split(profile, [key for key in judged_by.split_by if key in RUN_KEYS])
    statistic = RUN_STATISTICS[0] if judged_by is None else judged_by.run_statistic
    # a comparison shows what its verdicts count
    unit: Unit = "iteration"
    if judged_by is not None and not isinstance(source, Profile):
        unit = judged_by.unit
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
        device_time_s=_total_s(profile, "time", statistic, unit),
        host_time_s=_total_s(profile, "host_time", statistic, unit),
        copy=copy,
        notes=(
            *_notes(profile, operators, copy),
            *(judgement.notes if judgement else ()),
            *(change.notes if change else ()),
        ),
        judgement=judgement,
        **_work(profile, statistic),
        wall_s=_wall_s(profile, statistic),
        has_times=profile.origin.times != ABSENT,
        processes=len(processes),
        runs=runs,
        spread=profile.spread(),
        change=change,
    )


def _total_s(profile: Profile, measure: str, statistic: str, unit: Unit) -> float:
    """Seconds of all operators: the statistic over what is counted."""
    totals_s = by_unit(profile.totals_s(measure)[np.newaxis], profile.runs, unit)
    return float(over_runs(totals_s, statistic)[0])


def _work(profile: Profile, statistic: str) -> dict[str, float]:
    """Computation and memory of all operators in a run; NaN if none is known."""
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

    rows = OperatorRows(profile, Query(run_statistic=statistic))
    return {name: rows.over_runs(totals(rows.per_run(name))) for name in ("computation", "memory")}


def _wall_s(profile: Profile, statistic: str) -> float:
    walls = np.array([[run.wall_s for run in profile.runs]])
    return float(over_runs(walls, statistic)[0])


def _copy_time(profile: Profile, query: Query) -> CopyTime:
    category = profile.operators.category
    is_copy = category.where(one == COPY for one in category.categories)
    passed, _ = of_kind(query, profile)
    chosen = profile.recorded(DEVICE) & is_copy & passed
    total_s, mean_s = _total_and_mean(profile.measured("time")[chosen], query.run_statistic)
    wait_total_s, wait_mean_s = _total_and_mean(
        profile.measured("wait")[chosen], query.run_statistic
    )
    return CopyTime(total_s, mean_s, wait_total_s, wait_mean_s)


def _total_and_mean(times: NDArray[np.float64], run_statistic: str) -> tuple[float, float]:
    """Of times of shape (operators, runs)."""
    sums = totals(times)[np.newaxis]
    means = sums / np.maximum((~np.isnan(times)).sum(axis=0), 1)
    sum_s, mean_s = (over_runs(values, run_statistic)[0] for values in (sums, means))
    return float(sum_s), float(mean_s)


def _notes(profile: Profile, operators: int, copy: CopyTime | None) -> Iterator[str]:
    if profile.origin.times == MEAN:
        count = profile.origin.averaged_over
        many = "several inferences" if count is None else counted(count, "inference")
        yield f"times are means over {many}; how much they vary is not known"
    recorded = int(profile.recorded(DEVICE).sum())
    if 0 < recorded < operators / 2:
        yield (
            f"only {recorded} of {operators} operators have a device time; totals and shares "
            "are of those"
        )
    yield from _on_several_tracks(profile)
    for side, measure in (("device", "time"), ("host", "host_time")):
        times = profile.measured(measure)
        if (np.isnan(totals(times)) & ~np.isnan(times).all(axis=0)).any():
            yield f"the total {side} time is N/A: its times add up to more than any number"
    if profile.total_s() == 0:
        yield "the total device time is 0, so that shares of it are N/A"
    if copy is not None and 0 < copy.total_s < _SHORTEST_SHOWN_S:
        yield f"the copy time is {seconds(copy.total_s)} s, too short for four decimals"


def _on_several_tracks(profile: Profile) -> Iterator[str]:
    by_track = profile.total_by_track(DEVICE)
    if len(by_track) < 2:
        return
    kinds = {track.kind for track in by_track}
    what = kinds.pop() if len(kinds) == 1 else "track"
    same_names = len({track.name for track in by_track}) < len(by_track)
    parts = ", ".join(
        f"{'N/A' if np.isnan(total) else f'{seconds(total)} s'} on "
        + _called(track, same_names=same_names)
        for track, total in sorted(by_track.items(), key=lambda item: item[0].name)
    )
    yield (
        f"the device time adds up {counted(len(by_track), what)}, which may have worked at the "
        f"same time: {parts}"
    )


def _called(track: Track, *, same_names: bool) -> str:
    """The name of a track; if others have the same name, with its device or rank."""
    where = track.device if track.rank is None else f"rank {track.rank}"
    return f"{track.name} of {where}" if same_names and where else track.name

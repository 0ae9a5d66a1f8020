"""The summary of a profile or a comparison: totals over all operators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.columns.formulas import work_in_runs
from profile_analyze.model.findings import BASELINE, Finding, Kind
from profile_analyze.model.joining.iterations import by_unit, copies_in
from profile_analyze.model.joining.ranks import ranks_of
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.splitting import split
from profile_analyze.model.measuring import total_by_track
from profile_analyze.model.numbers import Spread, any_known, median, over_runs, ratio, totals
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import ABSENT, COPY, DEVICE, HOST, RUN_KEYS
from profile_analyze.query.filters import filter_by_type_name_and_dtype
from profile_analyze.query.notes.runs import (
    mean_findings,
    outlier_findings,
    synchronisation_findings,
    unequal_run_findings,
    warm_up_findings,
)
from profile_analyze.query.notes.tracks import track_findings
from profile_analyze.query.question import Query
from profile_analyze.query.run_times import (
    host_waits_s,
    typical_run,
    walls_s,
    with_device_times,
    worked_s,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.notes import Note
    from profile_analyze.model.origin import RecordedFact
    from profile_analyze.model.terms import Side
    from profile_analyze.views.comparison_summary import Change
    from profile_analyze.views.judgement import Judgement
    from profile_analyze.views.model_summary import ModelSummary

_BUSY_HOST: Final = 2.0
"""If the host works for more than this multiple of the device, the device probably waits."""
_BUSY: Final = 0.5
"""A device does not wait for the host if it is busy for at least this share of a run."""


class CopyTime(NamedTuple):
    """Seconds spent in operators that copy between devices; NaN if no operator copies."""

    total_s: float
    mean_s: float
    wait_total_s: float
    wait_mean_s: float


class Summary(NamedTuple):
    """Totals over all operators of a profile, regardless of filters. NaN is N/A.

    With several runs, each total is computed per run. The run statistic, such as the median, then
    combines the totals of all runs.
    """

    device_time_s: float
    host_time_s: float
    copy: CopyTime | None
    """The time of the copy operators that pass the filters of `copies_of`: see `summarise`. None
    without `copies_of`."""
    notes: tuple[Note, ...]
    judgement: Judgement | None = None
    """How all operators compare with the peak rates of a device; None without peak rates."""
    computation: float = np.nan
    """Floating-point operations of all operators in a run, without bodies of models."""
    memory: float = np.nan
    """Bytes that all operators in a run read and write, without bodies of models."""
    wall_s: float = np.nan
    """Seconds from the start of a run to its end; NaN if the file does not say."""
    outside_s: float = np.nan
    """Seconds of a run that no operator explains, such as overhead of the runtime, or in which the
    device was idle: see `explained_on`."""
    explained: float = np.nan
    """The rest of the run, as a share."""
    explained_on: Side | None = None
    """What `outside_s` leaves out: the times of operators on the host, or the time in which the
    device worked. None if the profile has times on one side only."""
    busy_s: float = np.nan
    """Seconds of a run in which the busiest device worked; NaN if the file does not say."""
    devices: int = 1
    """How many devices worked."""
    level: str | None = None
    """The level of the rows; None for operators of a format without levels."""
    measured_apart: bool = False
    """Whether the operators take longer than a run, because they were measured on their own."""
    ran_outside: bool = False
    """Whether the operators take longer than a run, because some ran before or after the run."""
    has_times: bool = True
    """Whether the profile's format has times at all."""
    processes: int = 1
    """How many processes the runs belong to."""
    copies: int = 0
    """How many of the processes are copies of other processes. Verdicts leave out copies."""
    runs: int = 1
    """How many runs there are. If rows are split by run, the totals are of all runs together."""
    runs_without_time: int = 0
    """How many further runs the totals leave out, because these runs have no device time."""
    runs_per_total: float = 1.0
    """How many runs each total adds up: more than 1 if rows are split by runs."""
    spread: Spread = Spread()
    """The spread of the device time over the runs. Unknown with one run."""
    unlike: str = ""
    """What the runs look like if they share few operators, such as `different models`. The totals
    then make no sense."""
    model: ModelSummary | None = None
    """The size and work of a model that has not run; None for a profile of a run."""
    recorded: tuple[RecordedFact, ...] = ()
    """Numbers about the whole program, such as its latencies."""
    thread_wait_s: float = np.nan
    """How much of the host time is only waiting, such as for the device; NaN if it is unknown."""
    change: Change | None = None
    """How the device time differs from the baseline; None without a baseline."""


def summarise(
    source: Profile | Comparison, copies_of: Query | None = None, judged_by: Query | None = None
) -> Summary:
    """Return the summary of a profile or of a comparison.

    `copies_of` adds the times of the copy operators that pass its filters by type, name and dtype.
    `judged_by` chooses the level, the keys that split runs, the run statistic and, in a comparison,
    its unit. If it has peaks, all operators are compared with them.
    """
    query = judged_by or Query(compared=not isinstance(source, Profile))
    at_one_level = _profile_of_totals(source, query)
    operators = len(at_one_level) if isinstance(source, Profile) else source.operators
    # Totals are the denominators of shares, so they must cover the same runs as the rows do. If
    # rows are split by `run`, the split profile has one run, and totals cover all runs together.
    run_keys = [key for key in query.split_by if key in RUN_KEYS]
    with_device = with_device_times(at_one_level)
    in_totals = at_one_level if run_keys else with_device
    profile = split(in_totals, run_keys)
    # In a comparison, verdicts compare processes or iterations, and totals combine the same units.
    unit = None if isinstance(source, Profile) else query.unit
    parts = _parts(source, profile, query)
    return Summary(
        **_total_times(profile, query, unit),
        copy=None if copies_of is None else _copy_time(profile, copies_of),
        notes=(
            *_notes(profile, in_totals, operators, judges=bool(query.peaks)),
            *_notes_on_times(source, at_one_level, run_keys),
            *(note for part in parts.values() if part for note in part.notes),
        ),
        **_work(profile, query),
        **_wall_times(with_device, query, unit),
        has_times=profile.origin.times != ABSENT,
        **_run_counts(in_totals),
        runs_without_time=len(at_one_level.runs) - len(in_totals.runs),
        runs_per_total=len(in_totals.runs) / len(profile.runs),
        spread=profile.spread(),
        unlike=at_one_level.unlike,
        recorded=profile.origin.recorded,
        **parts,
    )


def _profile_of_totals(source: Profile | Comparison, query: Query) -> Profile:
    """Return the profile whose totals the summary shows, at the level of the question.

    In a comparison, totals are as measured: drift correction would hide a change of the whole.
    Without a comparison, totals include any drift correction of `source`.
    """
    if isinstance(source, Profile):
        return at_level(source, query.level)
    return source.as_measured.profile


def _imported(module: str) -> Any:
    """Import a module that few questions need."""
    return import_module(f"profile_analyze.{module}")


def _parts(source: Profile | Comparison, profile: Profile, query: Query) -> dict[str, Any]:
    """Return the fields of `Summary` that only some questions have."""
    parts: dict[str, Any] = {}
    if query.peaks:
        parts["judgement"] = _imported("views.judgement").judge(query, profile)
    comparison = None if isinstance(source, Profile) else source
    # Models have no times to compare: their summary has the difference of their work.
    if profile.model is not None:
        parts["model"] = _imported("views.model_summary").model_summary(profile, comparison)
    elif comparison is not None:
        parts["change"] = _imported("views.comparison_summary").change_of(query, comparison)
    return parts


def _total_times(profile: Profile, query: Query, unit: SampleUnit | None) -> dict[str, Any]:
    """Return the fields of `Summary` on the times of all operators, over processes or iterations.

    If `unit` is None, the totals are combined over all runs, as in the rows of a table.
    """

    def total_s(totals_s: NDArray[np.float64]) -> float:
        of_units = totals_s[np.newaxis]
        if unit is not None:
            of_units = by_unit(of_units, profile.runs, unit)
        return float(over_runs(of_units, query.run_statistic)[0])

    return {
        "device_time_s": total_s(profile.totals_s("time")),
        "host_time_s": total_s(profile.totals_s("host_time")),
        "thread_wait_s": total_s(host_waits_s(profile)),
    }


def _run_counts(profile: Profile) -> dict[str, Any]:
    """Return the fields `runs`, `processes` and `copies` of `Summary`."""
    runs = profile.runs
    processes = len({run.process for run in runs})
    return {"runs": len(runs), "processes": processes, "copies": copies_in(runs)}


def _work(profile: Profile, query: Query) -> dict[str, Any]:
    """Return the fields `computation` and `memory` of `Summary`; NaN if no value is known."""
    in_bodies = profile.in_bodies()

    def total(name: str) -> float:
        values = work_in_runs(profile, name)
        # Most profiles have no bodies, and then the values, which may be many, need no copy.
        of_runs = totals(values[~in_bodies] if in_bodies.any() else values)
        return float(over_runs(of_runs[np.newaxis], query.run_statistic)[0])

    return {"computation": total("computation"), "memory": total("memory")}


def _wall_times(profile: Profile, query: Query, unit: SampleUnit | None) -> dict[str, Any]:
    """Return the fields of `Summary` on the time of a whole run."""
    typical = typical_run(profile, query.run_statistic, unit)
    explained = 1 - float(ratio(np.array([typical.outside_s]), typical.wall_s)[0])
    devices = {(one.rank, one.device) for one in profile.tracks if one.side == DEVICE}
    return {
        **typical._asdict(),
        "explained": explained,
        "devices": len(devices),
        "level": profile.level,
    }


def _copy_time(profile: Profile, query: Query) -> CopyTime:
    category = profile.operators.category
    is_copy = category.where(one == COPY for one in category.categories)
    passed, _ = filter_by_type_name_and_dtype(query, profile)
    chosen = profile.recorded(DEVICE) & is_copy & passed
    total_s, mean_s = _total_and_mean(profile.measured("time")[chosen], query.run_statistic)
    wait_total_s, wait_mean_s = _total_and_mean(
        profile.measured("wait")[chosen], query.run_statistic
    )
    return CopyTime(total_s, mean_s, wait_total_s, wait_mean_s)


def _total_and_mean(times: NDArray[np.float64], run_statistic: str) -> tuple[float, float]:
    """Return the total and the mean over operators, from times of shape (operators, runs)."""
    totals_s = totals(times)[np.newaxis]
    # Without a known time, the total is NaN, and 1 only avoids a division by 0.
    means_s = totals_s / np.maximum((~np.isnan(times)).sum(axis=0), 1)
    total_s, mean_s = (over_runs(values, run_statistic)[0] for values in (totals_s, means_s))
    return float(total_s), float(mean_s)


def _notes(profile: Profile, unsplit: Profile, operators: int, *, judges: bool) -> Iterator[Note]:
    """Yield notes on `profile`. `unsplit` is the same profile before rows were split by runs.

    `judges` says whether operators are compared with peak rates.
    """
    yield from mean_findings(unsplit)
    recorded = int(profile.recorded(DEVICE).sum())
    # Profiles often lack a few times. Only a profile that lacks most of its times gets a note.
    # In a profile with levels, no time is missing: an operator without a device time launched no
    # kernel, or its time belongs to the row around it.
    if profile.level is None and 0 < recorded < operators / 2:
        yield Finding.of(
            "few-device-times", Kind.INCOMPLETE, recorded=recorded, operators=operators
        )
    yield from track_findings(profile)
    yield from _notes_on_busy_host(unsplit, judges=judges)
    for side, measure in (("device", "time"), ("host", "host_time")):
        is_unknown = np.isnan(profile.totals_s(measure))
        # If the sum of known times overflows, the total is N/A.
        if is_unknown.any() and (is_unknown & any_known(profile.measured(measure))).any():
            yield Finding.of("too-large-total", Kind.INCOMPLETE, side=side)
    if profile.total_s() == 0:
        yield Finding.of("zero-total", Kind.WRONG)


def _notes_on_busy_host(profile: Profile, *, judges: bool) -> Iterator[Note]:
    """Yield a note if the host works far longer than the device, which then waits for the host.

    Waits of the host are no work. Faster operators hardly shorten such a run, so the note is about
    all of the device time. It matters most if the user asks how much faster operators could be: see
    `judges` in `_notes`. A damaged file may lack kernels, so it has no note.
    """
    if any(note.importance == Kind.DAMAGED for note in profile.notes):
        return
    device_s = worked_s(profile)
    host_s = profile.totals_s("host_time") - np.nan_to_num(host_waits_s(profile))
    hosts = max(len(ranks_of(profile)), 1)
    multiple = median(ratio(host_s / hosts, device_s)[np.newaxis])
    if multiple > _BUSY_HOST and not (device_s >= _BUSY * _least_walls_s(profile)).any():
        kind = Kind.ANSWER if judges else Kind.WRONG
        yield Finding.of("busy-host", kind, share=1.0, multiple=multiple)


def _least_walls_s(profile: Profile) -> NDArray[np.float64]:
    """Return the seconds that each run took at least, shape (runs,).

    If the wall time is unknown, this is the time of the busiest thread. Several threads may work at
    the same time, so all of them together can take longer than a busy device.
    """
    walls = walls_s(profile)
    if not np.isnan(walls).any():
        return walls
    threads_s = total_by_track(profile, HOST)
    return np.where(np.isnan(walls), np.fmax.reduce(threads_s, initial=0.0), walls)


def _notes_on_times(
    source: Profile | Comparison, profile: Profile, run_keys: list[str]
) -> Iterator[Note]:
    yield from _notes_on_times_of(profile, run_keys)
    if not isinstance(source, Profile):
        yield from (note.about(BASELINE) for note in _notes_on_times_of(source.base, run_keys))


def _notes_on_times_of(profile: Profile, run_keys: list[str]) -> Iterator[Note]:
    if not run_keys:  # otherwise, the totals are of all runs together
        yield from unequal_run_findings(profile)
    yield from warm_up_findings(profile)
    yield from outlier_findings(profile)
    yield from synchronisation_findings(profile)

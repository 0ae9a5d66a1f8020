"""Collects what a profile says about one operator or one execution: the answer to `--inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.levels.levels import timed_rows
from profile_analyze.model.measures import HOST_TIME, TIME
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import quantile_of_runs, total
from profile_analyze.model.terms import HOST, LEVELS, RUNTIME
from profile_analyze.views.inspected_rows import find_rows
from profile_analyze.views.inspection_listings import first_start_s, launched_work, listings_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.measures import Measure
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side
    from profile_analyze.query.table import Table

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


class Inspection(NamedTuple):
    """What a profile says about one operator, or about one of its executions."""

    profile: Profile
    operator: int
    """The row of the operator in the table of operators."""
    number: int | None
    """The number of the execution in order of time, from 1; None for all executions."""
    rows: Indices
    """The executions of the operator in order of time. With a number, only that execution."""
    listings: tuple[Table, ...]
    """Short tables of what ran around, inside and beside the operator."""

    @property
    def start_s(self) -> float:
        """The start of the first execution, in seconds after the start of the profile; or NaN."""
        starts = self.profile.executions.start_s
        first_s = first_start_s(self.profile)
        return float(starts[self.rows[0]] - first_s) if len(self.rows) else np.nan

    @property
    def side(self) -> Side:
        """The side on which the executions ran. There must be executions."""
        side: Side = self.profile.tracks[self.profile.executions.track[self.rows[0]]].side
        return side

    @property
    def on_host(self) -> Indices:
        """The executions on the host of an operator that ran on a device, too."""
        executions = self.profile.executions
        # They are not in `rows` (see `find_rows`), so they do not belong to execution number N.
        if self.number is not None or not len(self.rows) or self.side == HOST:
            return np.zeros(0, np.int64)
        is_own = executions.operator == self.operator
        return np.flatnonzero(is_own & on_side(self.profile, HOST))

    def statistics_s(self) -> dict[str, float]:
        """Return the statistics of the executions by name, in seconds; empty without executions.

        `share` is the own time of these executions, divided by the own time of all executions on
        the same side. The own time of a driver call is its whole time. NaN is N/A.
        """
        executions, rows = self.profile.executions, self.rows
        if not len(rows):
            return {}
        durations, own_s = executions.duration_s[rows], _own_s(self.profile)
        is_same_side = on_side(self.profile, self.side)
        all_s = total(own_s[is_same_side])
        is_call = bool(_are_driver_calls(self.profile)[self.operator])
        times = {
            "time_s": total(durations),
            "own_time_s": total(durations if is_call else own_s[rows]),
        }
        if len(rows) > 1:
            names = (("time_min_s", 0.0), ("time_median_s", 0.5), ("time_p90_s", 0.9))
            for name, share in (*names, ("time_max_s", 1.0)):
                times[name] = float(quantile_of_runs(durations[np.newaxis], share)[0])
        if len(self.on_host):
            times["host_time_s"] = total(executions.duration_s[self.on_host])
        launched = launched_work(self.profile, rows)[0]
        if len(launched):
            times["device_time_s"] = total(executions.duration_s[launched])
        return {**times, "share": times["own_time_s"] / all_s if all_s > 0 else np.nan}

    def times_in_runs_s(self) -> dict[Measure, Floats]:
        """Return the self times of the operator in each run, as in tables, without N/A.

        Empty for an operator that tables do not show, for one execution, and if there is one run.
        """
        profile, level = self.profile, self.profile.operators.level
        name = level.categories[level.codes[self.operator]]
        if self.number is not None or len(profile.runs) == 1 or name not in LEVELS:
            return {}
        of_level = np.flatnonzero(profile.operators.are_at(name))
        row = int(np.searchsorted(of_level, self.operator))
        rows = timed_rows(profile, name)
        times = {measure: rows.measured(measure.name)[row] for measure in (HOST_TIME, TIME)}
        known = {measure: times_s[~np.isnan(times_s)] for measure, times_s in times.items()}
        return {measure: times_s for measure, times_s in known.items() if len(times_s)}


def inspect(profile: Profile, key: str) -> Inspection:
    """Return what `profile` says about the operator that `key` names.

    `key` is the key of an operator, or a name that only one operator has. `@N` at the end chooses
    execution number N of the operator. `profile` must be as `load` returned it. Raises `QueryError`
    if `key` names no operator, several operators, or an execution that does not exist.
    """
    operator, number, rows = find_rows(profile, key)
    found = Inspection(profile, operator, number, rows, ())
    if not len(rows):
        return found
    return found._replace(listings=listings_of(profile, rows))


def _own_s(profile: Profile) -> Floats:
    """Return the own time of each execution in seconds, shape (executions,).

    The own time of an execution leaves out the executions inside it on the same track, except
    driver calls. A driver call inside another execution has no own time.
    """
    executions = profile.executions
    is_inner_call = _are_driver_calls(profile)[executions.operator] & (executions.parent >= 0)
    durations = np.where(is_inner_call, 0.0, executions.duration_s)
    return executions.changed(duration_s=durations).own_s


def _are_driver_calls(profile: Profile) -> NDArray[np.bool_]:
    """Return whether each operator is a driver call, shape (operators,)."""
    return profile.operators.are_at(RUNTIME)

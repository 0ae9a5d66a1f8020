"""Says that no operator of a profile has a time, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.model.levels.owned_work import leaves_work_inside
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import CPU, DEVICE, HOST
from profile_analyze.units import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side
    from profile_analyze.query.table import Table


def advice_on_missing_times(profile: Profile, side: Side) -> str:
    """Return what to do if no operator of `profile` has a time on `side` (host or device)."""
    other: Side = HOST if side == DEVICE else DEVICE
    others = int(profile.recorded(other).sum())
    if side == HOST and others and all(one.device_kind == CPU for one in profile.tracks):
        return "the profile is of a CPU, so all times are device times; use --print-only device"
    have = "has" if others == 1 else "have"
    shown = (
        f"{counted(others, 'operator')} {have} a {other} time; --print-only {other} shows "
        "these times, or "
    )
    return f"{shown if others else ''}profile again with {side} times"


def untimed_clause(profile: Profile, rows: NDArray[np.int64], time: str = "such a time") -> str:
    """Return the clause that the operators in `rows`, which lack a time, would match."""
    clause = f"{counted(len(rows), 'operator')} without {time} would match"
    if not leaves_work_inside(profile.operators)[rows].any():
        return clause
    return f"{clause}; --level top adds the times of the operators inside"


class Missing(NamedTuple):
    """Says which profiles of a comparison have no times at all."""

    profiles: int
    """How many of the two have no times: 1 or 2."""
    clause: str
    """Such as `no operator of the baseline has a device time`."""
    advice: str

    def __str__(self) -> str:
        return f"{self.clause}; {self.advice}"


def missing_times(comparison: Comparison, side: Side) -> Missing | None:
    """Return which profiles have no times on `side`; None if the profile and the baseline have."""
    lacking = {
        name: profile
        for name, profile in (("profile", comparison.profile), ("baseline", comparison.base))
        if not profile.recorded(side).any()
    }
    if not lacking:
        return None
    first, *others = lacking
    whose = "" if others else f" of the {first}"
    clause = f"no operator{whose} has a {side} time"
    return Missing(len(lacking), clause, advice_on_missing_times(lacking[first], side))


def missing_times_of(table: Table) -> Missing | None:
    """Return which profiles have none of the times that `table` compares; usually None."""
    comparison = table.shown.comparison
    if comparison is None:
        return None
    return missing_times(comparison, MEASURES[table.query.measure].side)

"""Says that no operator of a profile, or of a side of a comparison, has a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import CPU, DEVICE, HOST

if TYPE_CHECKING:
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side
    from profile_analyze.query.table import Table


def no_times(profile: Profile, side: Side, whose: str = "") -> Finding:
    """Return the finding that no operator of `profile` has a time on `side` (host or device).

    `whose` is the side of a comparison (profile or baseline) if the other one has times.
    """
    other: Side = HOST if side == DEVICE else DEVICE
    others = int(profile.recorded(other).sum())
    is_of_cpu = side == HOST and all(one.device_kind == CPU for one in profile.tracks)
    return Finding.of(
        *("no-times", Kind.ANSWER), side=side, whose=whose, others=others,
        on_cpu=bool(others) and is_of_cpu,
    )  # fmt: skip


def missing_times(comparison: Comparison, side: Side) -> Finding | None:
    """Return which profiles have no times on `side`; None if the profile and the baseline have."""
    lacking = {
        name: profile
        for name, profile in (("profile", comparison.profile), ("baseline", comparison.base))
        if not profile.recorded(side).any()
    }
    if not lacking:
        return None
    first, *others = lacking
    return no_times(lacking[first], side, "" if others else first)


def missing_times_of(table: Table) -> Finding | None:
    """Return which profiles have none of the times that `table` compares; usually None."""
    comparison = table.shown.comparison
    if comparison is None:
        return None
    return missing_times(comparison, MEASURES[table.query.measure].side)

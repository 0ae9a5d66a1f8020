"""Notes on executions that belong to no row of a level, so that no row includes their time."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.numbers import ratio, total
from profile_analyze.model.terms import KERNEL, OPERATOR, RUNTIME, TOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.levels.level import Level
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

_KINDS: Final = (KERNEL, RUNTIME, OPERATOR)
"""The kinds of execution that may have no owner."""


def notes_on_unowned(profile: Profile, level: Level, shown: Profile) -> Iterator[Note]:
    """Yield notes on executions without an owner: a note for each kind of execution and each side.

    `shown` has the rows of the level. The shares in the notes are relative to the whole device
    time: the time of these rows, and the time that was left out. Times on the host have no share.
    """
    left_out = {kind: is_kind for kind in _KINDS if (is_kind := level.unowned(kind)).any()}
    if not left_out:
        return
    duration_s, on_device = profile.executions.duration_s, level.on_device
    left_out_s = [total(duration_s[is_kind & on_device]) for is_kind in left_out.values()]
    whole_s = total(np.array([*shown.totals_s("time"), *left_out_s]))
    for kind, is_kind in left_out.items():
        for on_host in (False, True):
            chosen = np.flatnonzero(is_kind & (on_device != on_host))
            if len(chosen):
                times_s = duration_s[chosen]
                share = nan if on_host else float(ratio(np.array(total(times_s)), whole_s))
                is_launched = bool((level.parent[chosen] >= 0).any())
                yield Finding.of(
                    *("without-owner", Kind.INCOMPLETE), share=share, what=kind,
                    executions=len(chosen), total_s=total(times_s), runs=len(profile.runs),
                    on_host=on_host, owner=OPERATOR if level.name == TOP else level.name,
                    is_launched=is_launched,
                )  # fmt: skip

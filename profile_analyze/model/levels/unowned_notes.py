"""Notes on executions that belong to no row of a level, so that no row includes their time."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.notes import Importance, Note, TextNote, time_and_share, time_per_run
from profile_analyze.model.numbers import ratio, total
from profile_analyze.model.terms import KERNEL, OPERATOR, RUNTIME, TOP
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.levels.level import Level
    from profile_analyze.model.profile import Profile

_KINDS: Final = {
    KERNEL: ("kernel", "--level kernel has them"),
    RUNTIME: ("call into the driver", "no level has them"),
    OPERATOR: ("operator", "--level operator has them"),
}
"""The kinds of execution that may have no owner, each with a noun and advice for a note."""


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
                why = _why(kind, level.name, is_launched=is_launched)
                text = _text(kind, times_s, why, len(profile.runs), on_host=on_host)
                yield TextNote(text, Importance.INCOMPLETE, share)


def _text(kind: str, times_s: NDArray[np.float64], why: str, runs: int, *, on_host: bool) -> str:
    """Return the text of a note on executions of a kind, with the times `times_s` on one side."""
    noun, advice = _KINDS[kind]
    in_runs = f" in {runs} runs" if runs > 1 else ""
    time_s = total(times_s)
    time = time_per_run(time_s, runs, " of host time") if on_host else time_and_share(time_s, runs)
    return f"left out {counted(len(times_s), noun)}{in_runs}, {time}, {why}; {advice}"


def _why(kind: str, level: str, *, is_launched: bool) -> str:
    """Return why executions of a kind have no owner at a level.

    `is_launched` says whether the file has the launch of any of them.
    """
    owner = OPERATOR if level == TOP else level
    if kind != KERNEL:
        return f"that ran outside of all {owner}s"
    return f"that no {owner} launched" if is_launched else "whose launch is not in the file"

"""Leaves out Python functions, as a reader does unless a question needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.joining.run_copies import digests_of
from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.terms import FRAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions, Track
    from profile_analyze.model.joining.runs import Partial

_NS_PER_S: Final = 1e9


def without_frames(partial: Partial) -> Partial:
    """Return the partial result without operators of level `frame` and their executions."""
    is_frame = partial.operators.are_at(FRAME)
    if not is_frame.any():
        return partial
    kept = np.flatnonzero(~is_frame)
    executions = _executions(_from_first_start(partial, is_frame), is_frame)
    # A track on which only functions ran is left out, too. The reader keeps a track on which
    # nothing ran.
    is_kept_track = _is_used(partial.tracks, executions) | ~_is_used(
        partial.tracks, partial.executions
    )
    result = partial._replace(
        keys=[partial.keys[row] for row in kept.tolist()],
        operators=partial.operators.take(kept),
        run_counts=partial.run_counts[kept],
        conflicting=partial.conflicting[kept],
        executions=executions.changed(track=_new_indices(is_kept_track)[executions.track]),
        tracks=tuple(partial.tracks[index] for index in np.flatnonzero(is_kept_track).tolist()),
        times=None,
    )
    return result._replace(digests=tuple(digests_of(result.as_profile())))


def _from_first_start(partial: Partial, is_frame: NDArray[np.bool_]) -> Executions:
    """Return all executions, with the start times that they have if the reader skips functions.

    Some readers count times from the earliest event that they read. If this event is a function,
    the earliest event that is not a function gets the time 0 instead.
    """
    executions = partial.executions
    process = np.array([run.process for run in partial.runs], np.int64)[executions.run]
    # With whole nanoseconds, the new times equal the reader's times to the last bit.
    start_ns = _nanoseconds(executions.start_s)
    first, first_kept = np.full((2, len(partial.processes)), np.inf)
    is_kept = ~is_frame[executions.operator]
    np.fmin.at(first, process, start_ns)
    np.fmin.at(first_kept, process[is_kept], start_ns[is_kept])
    shift_ns = np.where((first == 0) & np.isfinite(first_kept), first_kept, 0.0)[process]
    return executions.changed(
        **{
            name: np.where(
                shift_ns > 0,
                (_nanoseconds(getattr(executions, name)) - shift_ns) / _NS_PER_S,
                getattr(executions, name),
            )
            for name in ("start_s", "submitted_s")
        }
    )


def _nanoseconds(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # a damaged file may have huge times
        return np.rint(seconds * _NS_PER_S)


def _executions(executions: Executions, is_frame: NDArray[np.bool_]) -> Executions:
    """Return the executions that are not functions. In the result, no parent is a function."""
    is_kept = ~is_frame[executions.operator]
    executions = executions.changed(
        parent=innermost_above(executions.parent, is_kept),
        operator=_new_indices(~is_frame)[executions.operator],
    )
    return executions.take(np.flatnonzero(is_kept))


def _is_used(tracks: Sequence[Track], executions: Executions) -> NDArray[np.bool_]:
    """Return whether any of `executions` ran on each track, shape (tracks,)."""
    is_used = np.zeros(len(tracks), np.bool_)
    is_used[executions.track] = True
    return is_used


def _new_indices(is_kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the new index of each row that is kept, shape (rows,)."""
    return np.cumsum(is_kept, dtype=np.int32) - np.int32(1)

"""Finds the row that gets the time of each execution, at a chosen level.

The parent of an execution is the execution around it, or else the execution that launched it. A
target is an execution at the chosen level; at `top`, any execution of an operator. Each execution
has at most one owner: the target that gets its time and work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.levels.ancestors import innermost_above, outermost
from profile_analyze.model.measuring import on_side
from profile_analyze.model.terms import DEVICE, KERNEL, MODULE, OPERATOR, TOP

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_NONE: Final = -1


class Ownership(NamedTuple):
    """The owner of each execution, at one level.

    Shapes are (executions,), except the shape of `shown`.
    """

    parent: Indices
    """The parent of each execution, or -1."""
    is_target: Flags
    """Whether each execution is a target."""
    above: Indices
    """The innermost target above each execution, or -1."""
    owner: Indices
    """The target that owns each execution, or -1."""
    is_row: Flags
    """Whether each execution is a target that owns itself. Only these are calls of rows."""
    shown: Indices
    """The executions that a profile of this level keeps: the calls of its rows, then kernels."""

    @property
    def row_execution(self) -> Indices:
        """For each execution, the index in `shown` of the execution that gets its time.

        An execution in `shown` keeps its time. The time of any other execution goes to its owner.
        The index is -1 if there is no owner.
        """
        index = np.full(len(self.owner) + 1, _NONE)  # `index[-1]` stays -1, for no owner
        index[self.shown] = np.arange(len(self.shown))
        return np.where(index[:-1] >= 0, index[:-1], index[self.owner])


def ownership(profile: Profile, level: str) -> Ownership:
    """Return the owners of all executions of `profile` at `level`, one of `terms.LEVELS`."""
    rows = np.arange(len(profile.executions))
    parent = profile.executions.above
    is_kernel = is_at_level(profile, KERNEL)
    if level == KERNEL:  # a kernel owns only itself
        owner = np.where(is_kernel, rows, _NONE)
        above = np.full(len(rows), _NONE)
        return Ownership(parent, is_kernel, above, owner, is_kernel, np.flatnonzero(is_kernel))
    is_target = is_at_level(profile, MODULE if level == MODULE else OPERATOR)
    above = innermost_above(parent, is_target)
    owner = np.where(is_target, rows, above)
    if level == TOP:  # an outermost operator owns all operators inside it
        owner = outermost(owner, above)
    is_row = is_target & (owner == rows)  # at level `top`, a nested operator is not a row
    # Kernels stay separate executions, whose durations are the device time of their owner.
    launched = np.flatnonzero(is_kernel & on_side(profile, DEVICE) & (owner >= 0))
    shown = np.concatenate([np.flatnonzero(is_row), launched])
    return Ownership(parent, is_target, above, owner, is_row, shown)


def have_device_time(profile: Profile, owned: Ownership) -> Flags:
    """Return whether the owner of each execution has device time from it, shape (executions,).

    This is the time of the execution itself, or of an execution that it surrounds or launched, if
    both have the same owner.
    """
    duration_s = profile.executions.duration_s
    result = on_side(profile, DEVICE) & ~np.isnan(duration_s) & (owned.owner >= 0)
    rows = np.flatnonzero(result)
    while len(rows):  # each pass marks the executions around the executions of the last pass
        above = owned.parent[rows[rows != owned.owner[rows]]]
        above = above[(above >= 0) & ~result[above]]
        result[above] = True
        rows = np.flatnonzero(np.bincount(above)) if len(above) else above
    return result


def is_at_level(profile: Profile, level: str) -> NDArray[np.bool_]:
    """Return whether the operator of each execution has `level`, shape (executions,)."""
    column = profile.operators.level
    return column.where(one == level for one in column.categories)[profile.executions.operator]


def nested_targets(
    profile: Profile, is_target: NDArray[np.bool_], above: Indices
) -> tuple[Indices, Indices]:
    """Return two arrays of the targets that have a target above them.

    The first has the targets on the same line as the target above; the second has all others. See
    `Track.line`.
    """
    line = Categorical.of([track.line for track in profile.tracks]).codes[profile.executions.track]
    nested = np.flatnonzero(is_target & (above >= 0))
    is_same = line[nested] == line[above[nested]]
    return nested[is_same], nested[~is_same]


def without_nested(executions: Executions, nested: Indices, above: Indices) -> Floats:
    """Return each duration in seconds without the `nested` targets inside, shape (executions,).

    `above` has the target above each execution, or -1. An execution without nested targets keeps
    the `self_s` of the file, or its duration if the file has no `self_s`.
    """
    recorded = np.where(np.isnan(executions.self_s), executions.duration_s, executions.self_s)
    if not len(nested):
        return recorded
    inside_s = np.bincount(above[nested], executions.duration_s[nested], minlength=len(executions))
    has_inside = np.bincount(above[nested], minlength=len(executions)) > 0
    # Rounding may give slightly less than 0.
    return np.where(has_inside, np.maximum(executions.duration_s - inside_s, 0.0), recorded)

"""`Level`: who owns each execution at one level, and the times of the owners.

The parent of an execution is the execution around it, or else the execution that launched it. A
target is an execution at the chosen level; at `top`, any execution of an operator. Each execution
has at most one owner: the target that gets its time and work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import OWNED
from profile_analyze.model.frozen import constant, frozen
from profile_analyze.model.levels.ancestors import innermost_above, outermost
from profile_analyze.model.terms import DEVICE, KERNEL, OPERATOR, TOP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions, Track
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int32]
    """32 bits, as in the tables: a level stays in memory as long as its profile."""

_NONE: Final = -1


def level_of(profile: Profile, name: str) -> Level:
    """Return a level of `profile`, one of `terms.LEVELS`. The profile keeps it."""
    # A level holds tables, not the profile that keeps it: such a cycle would stay in memory.
    tables = (profile.operators, profile.executions, profile.tracks)
    return profile.once(f"level {name}", lambda: Level(name, *tables))


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """One level of a profile: what each of its rows owns.

    Each fact is computed on first use. Facts about executions have shape (executions,).
    """

    name: str
    operators: Operators
    """The operators of all levels."""
    executions: Executions
    """The executions of all levels."""
    tracks: Sequence[Track]

    @cached_property
    def rows(self) -> Indices:
        """The operators that are rows of the level, shape (rows,)."""
        return frozen(np.flatnonzero(self.operators.are_at(self._target)).astype(np.int32))

    @property
    def _target(self) -> str:
        return OPERATOR if self.name == TOP else self.name

    def are_at(self, level: str) -> Flags:
        """Return whether the operator of each execution has `level` in the table of operators."""
        return self.operators.are_at(level)[self.executions.operator]

    @cached_property
    def are_kernels(self) -> Flags:
        """Whether each execution is a kernel."""
        return frozen(self.are_at(KERNEL))

    @cached_property
    def on_device(self) -> Flags:
        """Whether each execution is on a device track."""
        of_tracks = np.array([track.side == DEVICE for track in self.tracks], np.bool_)
        return frozen(of_tracks[self.executions.track])

    @cached_property
    def parent(self) -> Indices:
        """The parent of each execution, or -1."""
        return frozen(self.executions.above)

    @cached_property
    def are_targets(self) -> Flags:
        """Whether each execution is a target."""
        return self.are_kernels if self.name == KERNEL else frozen(self.are_at(self._target))

    @cached_property
    def above(self) -> Indices:
        """The innermost target above each execution, or -1."""
        if self.name == KERNEL:  # a kernel owns only itself
            return constant(np.int32(_NONE), len(self.executions))
        return frozen(innermost_above(self.parent, self.are_targets))

    @cached_property
    def owner(self) -> Indices:
        """The target that owns each execution, or -1."""
        rows = np.arange(len(self.executions), dtype=np.int32)
        owner = np.where(self.are_targets, rows, self.above)
        # An outermost operator owns all operators inside it.
        return frozen(outermost(owner, self.above) if self.name == TOP else owner)

    def owning(self, rows: NDArray[Any]) -> Indices:
        """Return the operator of the owner of each of `rows`, all of which have an owner."""
        operators: Indices = self.executions.operator[self.owner[rows]]
        return operators

    @cached_property
    def own_themselves(self) -> Flags:
        """Whether each execution is a target that owns itself. Only these are calls of rows."""
        # At level `top`, a nested operator is not a row.
        return frozen(self.are_targets & (self.owner == np.arange(len(self.executions))))

    @cached_property
    def shown(self) -> Indices:
        """The executions that a profile of this level keeps: the calls of its rows, then kernels.

        Shape (shown,).
        """
        rows = np.flatnonzero(self.own_themselves)
        if self.name == KERNEL:
            return frozen(rows.astype(np.int32))
        # Kernels stay separate executions, whose durations are the device time of their owner.
        launched = np.flatnonzero(self.are_kernels & self.on_device & (self.owner >= 0))
        return frozen(np.concatenate([rows, launched]).astype(np.int32))

    @property
    def shown_owner(self) -> Indices:
        """For each execution, the index in `shown` of the execution that gets its time.

        An execution in `shown` keeps its time. The time of any other execution goes to its owner.
        The index is -1 if there is no owner.
        """
        index = np.full(len(self.owner) + 1, _NONE)  # `index[-1]` stays -1, for no owner
        index[self.shown] = np.arange(len(self.shown))
        return np.where(index[:-1] >= 0, index[:-1], index[self.owner])

    def unowned(self, kind: str) -> Flags:
        """Return which executions of a kind have no owner. `kind` is a level of operators."""
        result = (self.owner < 0) & self.are_at(kind)
        if kind != KERNEL:
            # Only outermost executions are counted: their times include all nested executions.
            result &= self.parent < 0
        return result

    @cached_property
    def have_device_time(self) -> Flags:
        """Whether the owner of each execution has device time from it.

        This is the time of the execution itself, or of an execution that it surrounds or launched,
        if both have the same owner.
        """
        owner = self.owner
        result = self.on_device & ~np.isnan(self.executions.duration_s) & (owner >= 0)
        rows = np.flatnonzero(result)
        while len(rows):  # each pass marks the executions around the executions of the last pass
            above = self.parent[rows[rows != owner[rows]]]
            above = above[(above >= 0) & ~result[above]]
            result[above] = True
            rows = np.flatnonzero(np.bincount(above)) if len(above) else above
        return frozen(result)

    @cached_property
    def own_s(self) -> Floats:
        """The duration of each execution in seconds without the targets inside on its line.

        See `without_nested`.
        """
        nested, _ = self._nested_targets
        return frozen(without_nested(self.executions, nested, self.above))

    @cached_property
    def _nested_targets(self) -> tuple[Indices, Indices]:
        return nested_targets(self.executions, self.tracks, self.are_targets, self.above)

    def shown_executions(self) -> Executions:
        """Return the executions in `shown`, each with its own time and what else it owns.

        They refer to `rows`: the index of an operator is its index there.
        """
        shown = self.executions.changed(kernel=self._kernel_names(), **self._owned_columns())
        # Taking rows copies all columns, which takes long for millions of executions.
        if not np.array_equal(self.shown, np.arange(len(shown))):
            shown = shown.take(self.shown)
        new_row = np.full(len(self.operators), _NONE, np.int32)
        new_row[self.rows] = np.arange(len(self.rows))
        return shown.changed(operator=new_row[shown.operator])

    def _kernel_names(self) -> Categorical[str]:
        """Return the name of each execution of a kernel; N/A for other executions."""
        if not self.are_kernels.any():
            return Categorical.missing(len(self.executions))
        name = self.operators.name
        codes = np.where(self.are_kernels, name.codes[self.executions.operator], _NONE)
        return Categorical(codes, name.categories)

    def _owned_columns(self) -> dict[str, Any]:
        """Return the columns of executions that change if each gets everything that it owns."""
        if self.name == KERNEL:  # kernels do not nest, so their times are as recorded
            return {}
        executions, owner, is_row = self.executions, self.owner, self.own_themselves
        duration_s = self._with_other_lines() if self.name == TOP else self.own_s
        sums = self._owned_sums()
        if "thread_wait_s" in sums:  # a call may end after the operator around it
            sums["thread_wait_s"] = np.minimum(sums["thread_wait_s"], duration_s)
        untimed = np.where(is_row & ~self.have_device_time, executions.calls, 0)
        nothing = constant(np.int32(_NONE), len(executions))
        return {
            "self_s": np.where(is_row, self.own_s, np.nan),
            "duration_s": duration_s,
            "operator": np.where(owner >= 0, executions.operator[owner], executions.operator),
            # A kernel is not a call of its operator.
            "calls": np.where(is_row, executions.calls, 0),
            **({"untimed_calls": untimed} if untimed.any() else {}),
            "phase": _filled_from_owner(executions.phase, owner),
            **sums,
            # The times already account for nested executions, so the result is flat.
            "parent": nothing,
            "launched_by": nothing,
        }

    def _with_other_lines(self) -> Floats:
        """Return each duration plus the durations of nested targets on other lines.

        The duration of a target does not contain them, unlike nested targets on its own line: see
        `Track.line`.
        """
        _, on_others = self._nested_targets
        duration_s, owner = self.executions.duration_s, self.owner[on_others]
        return duration_s + np.bincount(owner, duration_s[on_others], minlength=len(duration_s))

    def _owned_sums(self) -> dict[str, Floats]:
        """Return the columns in `OWNED`: the sums over all executions that each execution owns.

        A sum is N/A if the execution owns no execution with a known amount.
        """
        found, owner = {}, self.owner
        for name in OWNED:
            amounts: Floats = getattr(self.executions, name)
            known = np.flatnonzero(~np.isnan(amounts) & (owner >= 0))
            if len(known):
                sums = np.bincount(owner[known], amounts[known], minlength=len(owner))
                has_known = np.bincount(owner[known], minlength=len(owner)) > 0
                found[name] = np.where(has_known, sums, np.nan)
        return found


def _filled_from_owner(values: Categorical[str], owner: Indices) -> Categorical[str]:
    """Replace N/A in the values of executions by the value of the owner."""
    if not values.categories:
        return values
    codes = np.where((values.codes < 0) & (owner >= 0), values.codes[owner], values.codes)
    return Categorical(codes, values.categories)


def nested_targets(
    executions: Executions, tracks: Sequence[Track], are_targets: Flags, above: Indices
) -> tuple[Indices, Indices]:
    """Return two arrays of the targets that have a target above them.

    The first has the targets on the same line as the target above; the second has all others. See
    `Track.line`.
    """
    line = Categorical.of([track.line for track in tracks]).codes[executions.track]
    nested = np.flatnonzero(are_targets & (above >= 0)).astype(np.int32)
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

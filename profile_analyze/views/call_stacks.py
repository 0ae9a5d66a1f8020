"""Computes the stacks of a profile: the modules and operators in which it spent its time.

Terms:

- The stack of an execution has the names of the modules and operators around it, then its own name.
- A driver call is a call into the driver, such as a launch. Its name is in a stack only if nothing
  visible is around it.
- Execution A is around execution B if A surrounds or launched B.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.levels.ancestors import depths, innermost_above
from profile_analyze.model.levels.level import nested_targets, without_nested
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import numbered
from profile_analyze.model.terms import EARLIER, KERNEL, MODULE, RUNTIME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Flags: TypeAlias = NDArray[np.bool_]
    Indices: TypeAlias = NDArray[np.int64]

Stack: TypeAlias = tuple[str, ...]
"""The names in a stack, outermost first."""

_MOST_FRAMES: Final = 1000
"""A stack with this many names does not grow. It also gets the time of deeper executions.

Without this limit, memory would grow with the square of the depth of a profile.
"""


def stacks_of(profile: Profile, side: Side, counts: Flags) -> dict[Stack, float]:
    """Return the seconds of each stack: the self times of its executions, summed over all runs.

    An execution counts if it ran on a track of `side`, and if its element in `counts`, shape
    (executions,), is true. Its self time leaves out the executions inside it on the same track.
    Unknown times, and work from before the recording, do not count. Stacks without time are left
    out.
    """
    is_earlier = profile.operators.are_at(EARLIER)[profile.executions.operator]
    is_on_side = on_side(profile, side) & ~is_earlier
    self_s = _self_times(profile, is_on_side)
    chosen = np.flatnonzero(is_on_side & counts & (self_s > 0))  # false for NaN
    contexts, context = _contexts(profile)
    stacks = _stacks(profile.operators, contexts)
    seconds = np.bincount(context[chosen], self_s[chosen], minlength=len(stacks))
    result: dict[Stack, float] = {}
    for index in np.flatnonzero(seconds).tolist():
        stack = stacks[index]
        result[stack] = result.get(stack, 0.0) + float(seconds[index])
    return result


def _self_times(profile: Profile, is_on_side: Flags) -> NDArray[np.float64]:
    """Return the self time of each execution on a side in seconds, shape (executions,).

    NaN is N/A. The values of all other executions have no meaning.
    """
    above = innermost_above(profile.executions.above, is_on_side)
    nested, _ = nested_targets(profile.executions, profile.tracks, is_on_side, above)
    return without_nested(profile.executions, nested, above)


class _Contexts(NamedTuple):
    """The contexts of a profile: the distinct paths of operators, from the outermost one inwards.

    Executions of the same operator inside the same context share a context. All columns have shape
    (contexts,). An inner context comes after the context around it.
    """

    around: Indices
    """For each context: the context around it, or -1."""
    operator: Indices
    """For each context: the row of its innermost operator."""


def _contexts(profile: Profile) -> tuple[_Contexts, Indices]:
    """Return all contexts, and the context of each execution, shape (executions,)."""
    # A loop over millions of executions would be slow. Each pass of this loop handles all
    # executions of one depth at once.
    operator = profile.executions.operator.astype(np.int64)
    parent = profile.executions.above
    depth = depths(parent)
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[by_depth], np.arange(int(depth.max(initial=-1)) + 2))
    context = np.full(len(parent) + 1, -1)  # the last entry stays -1, for parent -1
    arounds, operators, count = [], [], 0
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = by_depth[first:last]
        around = context[parent[rows]]
        number, example = numbered((around + 1) * len(profile) + operator[rows])
        context[rows] = number + count
        count += len(example)
        arounds.append(around[example])
        operators.append(operator[rows[example]])
    nothing = np.empty(0, np.int64)
    found = _Contexts(np.concatenate([nothing, *arounds]), np.concatenate([nothing, *operators]))
    return found, context[:-1]


def _stacks(operators: Operators, contexts: _Contexts) -> list[Stack]:
    """Return the stack of each context."""
    levels, names = operators.level.values().tolist(), operators.name.values().tolist()
    scopes: list[Stack] = [scope or () for scope in operators.scope.values().tolist()]
    arounds, rows = contexts.around.tolist(), contexts.operator.tolist()
    stacks: list[Stack] = []
    scope_of: list[Stack] = []
    for around, row in zip(arounds, rows, strict=True):
        level, name, scope = levels[row], names[row], scopes[row]
        if level in (RUNTIME, KERNEL) and around >= 0 and not scope:
            scope = scope_of[around]  # the scope of the operator that launched it
        scope_of.append(scope)
        outer_stack: Stack = ()
        covered: Stack = ()  # the part of the scope that is in `outer_stack`
        while around >= 0:
            path = (*scope_of[around], names[rows[around]])
            if _is_visible(levels[rows[around]], path, scope):
                outer_stack, covered = stacks[around], path
                break
            around = arounds[around]  # noqa: PLW2901  # one context further out
        # Inside an operator, a driver call adds no name, because its time belongs to the operator.
        # Nor does a kernel if the format gives kernels the names of their operators.
        is_of_operator = level == RUNTIME or (level == KERNEL and outer_stack[-1:] == (name,))
        if (outer_stack and is_of_operator) or len(outer_stack) >= _MOST_FRAMES:
            stacks.append(outer_stack)
        else:
            missing = scope[_common_length(scope, covered) :]
            stacks.append((*outer_stack, *missing, name))
    return stacks


def _is_visible(level: str, path: Stack, scope: Stack) -> bool:
    """Return whether an execution appears in the stacks of inner executions that have `scope`.

    `level` and `path` describe the outer execution: `path` is its scope, then its name. Operators
    and kernels always appear. Driver calls never appear.

    Modules and regions appear only if `scope` begins with their path. A step does not appear,
    because no scope has its name. Nor does a region around a backward operator, because that
    operator has the scope of its forward operator.
    """
    return scope[: len(path)] == path if level == MODULE else level != RUNTIME


def _common_length(one: Stack, other: Stack) -> int:
    """Return the number of names with which both stacks begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

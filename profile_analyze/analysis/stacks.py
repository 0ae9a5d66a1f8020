"""The stacks of a profile: inside which modules and operators its time was spent."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.ancestors import depths, innermost_above
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import numbered
from profile_analyze.model.ownership import nested_targets, without_nested
from profile_analyze.model.terms import KERNEL, MODULE, RUNTIME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Flags: TypeAlias = NDArray[np.bool_]
    Indices: TypeAlias = NDArray[np.int64]

Stack: TypeAlias = tuple[str, ...]
"""The names of an execution and of what it ran inside, outermost first."""

_MOST_FRAMES: Final = 1000
"""An execution inside a stack of so many names counts in that stack.

Otherwise, memory would grow with the square of the depth of a profile.
"""


def stacks_of(profile: Profile, side: Side, counts: Flags) -> dict[Stack, float]:
    """Return the seconds of each stack: the self times of its executions, summed over all runs.

    Only executions on tracks of `side` count, and only where `counts`, shape (executions,), is
    true. The self time of an execution leaves out the executions inside it on the same track.
    """
    is_on_side = on_side(profile, side)
    self_s = _self_times(profile, is_on_side)
    chosen = np.flatnonzero(is_on_side & counts & (self_s > 0))  # an unknown time is not above 0
    contexts, context = _contexts(profile)
    stacks = _stacks(profile.operators, contexts)
    seconds = np.bincount(context[chosen], self_s[chosen], minlength=len(stacks))
    result: dict[Stack, float] = {}
    for index in np.flatnonzero(seconds).tolist():
        stack = stacks[index]
        result[stack] = result.get(stack, 0.0) + float(seconds[index])
    return result


def _self_times(profile: Profile, is_target: Flags) -> NDArray[np.float64]:
    """Return the self times in seconds of the executions that are targets."""
    above = innermost_above(profile.executions.above, is_target)
    nested, _ = nested_targets(profile, is_target, above)
    return without_nested(profile.executions, nested, above)


class _Contexts(NamedTuple):
    """The distinct paths of operators from an outermost execution inwards.

    All columns have shape (contexts,). A context comes after the context around it.
    """

    around: Indices
    """The context around each context, or -1."""
    operator: Indices


def _contexts(profile: Profile) -> tuple[_Contexts, Indices]:
    """Return all contexts, and the context of each execution, shape (executions,)."""
    # A trace has millions of executions, but few contexts. Each pass numbers those one level
    # further inside, so that no execution is handled by itself.
    operator = profile.executions.operator.astype(np.int64)
    parent = profile.executions.above
    depth = depths(parent)
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[by_depth], np.arange(int(depth.max(initial=-1)) + 2))
    context = np.full(len(parent) + 1, -1)  # the extra entry is that of an execution around none
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
            scope = scope_of[around]  # of the operator that launched it
        scope_of.append(scope)
        outer_stack: Stack = ()
        known: Stack = ()
        while around >= 0:
            inside = (*scope_of[around], names[rows[around]])
            if _is_visible(levels[rows[around]], inside, scope):
                outer_stack, known = stacks[around], inside
                break
            around = arounds[around]  # noqa: PLW2901  # one context further out
        # The time of a call into the driver belongs to the operator that made it. Some formats
        # name a kernel after its operator.
        is_of_operator = level == RUNTIME or (level == KERNEL and outer_stack[-1:] == (name,))
        if (outer_stack and is_of_operator) or len(outer_stack) >= _MOST_FRAMES:
            stacks.append(outer_stack)
        else:
            missing = scope[_common_length(scope, known) :]
            stacks.append((*outer_stack, *missing, name))
    return stacks


def _is_visible(level: str, inside: Stack, scope: Stack) -> bool:
    """Return whether an execution is part of the stack of what has the `scope` and ran inside it.

    `inside` is its own scope with its name. Modules and regions are part of the stack if they are
    part of the scope. Steps are not, and neither is the region around a backward operator, which
    has the scope of its forward operator.
    """
    return scope[: len(inside)] == inside if level == MODULE else level != RUNTIME


def _common_length(one: Stack, other: Stack) -> int:
    """Return how many elements at the start of two stacks are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))

"""Finds the phase of each host event, and the forward operator of each backward operator.

The docstring of the package defines host events, driver calls and work. The argument `parent` has
the innermost host event around each host event, or -1. All arrays have shape (events,).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.levels.ancestors import innermost_above, outermost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"
_PHASES = (FORWARD, BACKWARD, OPTIMIZER)


class Autograd(NamedTuple):
    """What autograd recorded for each host event."""

    sequence: Indices
    """A forward operator and its backward operator have the same number here; -1 if unknown."""
    is_backward: Flags
    """Whether the event is a backward operator."""


def backward_above(parent: Indices, autograd: Autograd) -> Indices:
    """Return the backward operator of each event: the event itself, or the innermost one around it.

    The value is -1 for events outside all backward operators. Backward operators without a
    sequence number are ignored.
    """
    is_root = autograd.is_backward & (autograd.sequence >= 0)
    return at_or_above(parent, is_root)


def forward_of(autograd: Autograd, start_ns: Indices) -> Indices:
    """Return the forward operator of each backward operator, or -1 if it is unknown.

    All other events have -1.
    """
    forward = np.flatnonzero((autograd.sequence >= 0) & ~autograd.is_backward)
    # An operator that is not differentiable has the number of the next differentiable one. The last
    # of all forward operators with the same number is therefore the differentiable one.
    by_number = forward[np.lexsort((start_ns[forward], autograd.sequence[forward]))]
    numbers = autograd.sequence[by_number]
    last = np.searchsorted(numbers, autograd.sequence, side="right") - 1
    is_found = autograd.is_backward & (last >= 0)
    is_found &= np.append(numbers, -1)[last] == autograd.sequence
    return np.where(is_found, np.append(by_number, -1)[last], -1)


def phases_of(
    parent: Indices, autograd: Autograd, is_gradient: Flags, is_optimizer: Flags, is_operator: Flags
) -> Categorical[str]:
    """Return the phase of each event; N/A for events outside all phases.

    The phase of all events is N/A in a trace that has no backward operator and no node of the
    autograd graph. `is_gradient` says which events are such nodes, even without sequence numbers.

    If an outermost operator or an event inside it has a sequence number, the operator and all
    events inside it have the forward phase. In backward operators with a sequence number, autograd
    nodes and optimizer regions, events have the backward or the optimizer phase instead.
    """
    if not (autograd.is_backward.any() or is_gradient.any()):
        return Categorical.missing(len(parent))
    is_backward = is_gradient | (autograd.is_backward & (autograd.sequence >= 0))
    is_in_backward = at_or_above(parent, is_backward) >= 0
    is_in_optimizer = at_or_above(parent, is_optimizer) >= 0
    above = innermost_above(parent, is_operator)
    outer = outermost(at_or_above(parent, is_operator), above)
    has_number = np.zeros(len(parent) + 1, np.bool_)
    has_number[outer[autograd.sequence >= 0]] = True
    has_number[-1] = False
    codes = np.where(has_number[outer], _PHASES.index(FORWARD), -1)
    codes[is_in_backward] = _PHASES.index(BACKWARD)
    codes[is_in_optimizer] = _PHASES.index(OPTIMIZER)
    return Categorical(codes, _PHASES)


def at_or_above(parent: Indices, is_target: Flags) -> Indices:
    """Return each event itself if it is a target, else the innermost target around it, or -1."""
    return np.where(is_target, np.arange(len(parent)), innermost_above(parent, is_target))

"""The phases of a training step, and the forward operators of backward operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.ancestors import innermost_above, outermost
from profile_analyze.model.categorical import Categorical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"
_PHASES = (FORWARD, BACKWARD, OPTIMIZER)


class Autograd(NamedTuple):
    """What the sequence numbers say of the events of the host. Shapes are (events,)."""

    sequence: Indices
    """The number that a forward operator and its backward operator share, or -1."""
    is_backward: Flags
    """Whether the event is such a backward operator."""


def backward_above(parent: Indices, autograd: Autograd) -> Indices:
    """Return the innermost backward operator at or above each event, or -1, shape (events,)."""
    is_root = autograd.is_backward & (autograd.sequence >= 0)
    return at_or_above(parent, is_root)


def forward_of(autograd: Autograd, start_ns: Indices) -> Indices:
    """Return the forward operator of each backward operator, or -1, shape (events,)."""
    forward = np.flatnonzero((autograd.sequence >= 0) & ~autograd.is_backward)
    # Operators between two differentiable ones share the number of the second one, which is last.
    by_number = forward[np.lexsort((start_ns[forward], autograd.sequence[forward]))]
    numbers = autograd.sequence[by_number]
    last = np.searchsorted(numbers, autograd.sequence, side="right") - 1
    is_found = autograd.is_backward & (last >= 0)
    is_found &= np.append(numbers, -1)[last] == autograd.sequence
    return np.where(is_found, np.append(by_number, -1)[last], -1)


def phases_of(
    parent: Indices, autograd: Autograd, is_gradient: Flags, is_optimizer: Flags, is_operator: Flags
) -> Categorical[str]:
    """Return the phase of each event of the host; N/A in a trace without a backward operator.

    `is_gradient` says which events are nodes of the graph of gradients. Those that add up the
    gradients of a weight have no sequence number. An operator belongs to the forward phase if it,
    or an operator inside it, has a sequence number.
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
    """Return each event itself if it is a target, otherwise the innermost target above, or -1."""
    return np.where(is_target, np.arange(len(parent)), innermost_above(parent, is_target))

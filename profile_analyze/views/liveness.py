"""Computes how much memory the activations of a model take while its operators run one by one.

An activation is alive from the operator that computes it to the last operator that reads it.
Weights and other constants do not count. Operators are assumed not to work in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.model.terms import ACTIVATION, INPUT, SHAPE_ARITHMETIC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.tables import Tensors


class ActivationMemory(NamedTuple):
    """The memory of the activations of a model. Bytes are NaN if a size is unknown."""

    total_bytes: float
    """The bytes of all results of operators outside of the bodies of If, Loop and Scan."""
    without_shapes_bytes: float
    """`total_bytes` without the results of shape arithmetic."""
    peak_bytes: float
    """The most bytes alive at one step: inputs, activations and results of shape arithmetic."""
    peak_operator: int | None
    """The row of the first operator at the peak; None without operators, or if the peak is N/A."""
    alive: tuple[int, ...]
    """The rows of the tensors that are alive at the peak, the largest tensor first."""
    peak_inputs_kept_bytes: float
    """The peak if the inputs of the model stayed in memory to the end."""


class _Lives(NamedTuple):
    """The first and the last step at which each tensor is alive, shape (tensors,) each.

    `last` is -1 for a tensor that never takes memory.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]


def activation_memory(profile: Profile) -> ActivationMemory:
    """Return how much memory the activations of `profile` take.

    The profile must have tensors and their roles. The steps are the operators outside of bodies, in
    the order of their rows.
    """
    tensors: Tensors = profile.table("tensors")
    is_input, is_activation, is_shape = (
        _has_role(tensors, role) for role in (INPUT, ACTIVATION, SHAPE_ARITHMETIC)
    )
    # A comparison appends the operators that exist only in the baseline. They use no tensor, so
    # they do not change the peak.
    steps = np.flatnonzero(profile.operators.scope.codes == MISSING_CODE)
    lives = _lives(profile, tensors, steps, is_input, is_activation | is_shape)
    in_use = _bytes_at_steps(tensors.size, lives, len(steps))
    kept = lives._replace(last=np.where(is_input & (lives.last >= 0), len(steps) - 1, lives.last))
    peak_bytes, step = _largest(in_use)
    alive = np.flatnonzero((lives.first <= step) & (step <= lives.last) & (lives.last >= 0))
    largest_first = alive[np.argsort(-tensors.size[alive], kind="stable")]
    return ActivationMemory(
        total_bytes=float(tensors.size[is_activation | is_shape].sum()),
        without_shapes_bytes=float(tensors.size[is_activation].sum()),
        peak_bytes=peak_bytes,
        peak_operator=None if step < 0 else int(steps[step]),
        alive=() if step < 0 else tuple(largest_first.tolist()),
        peak_inputs_kept_bytes=_largest(_bytes_at_steps(tensors.size, kept, len(steps)))[0],
    )


def _has_role(tensors: Tensors, role: str) -> NDArray[np.bool_]:
    assert tensors.role is not None, "only tensors of models have roles"
    return tensors.role.where(one == role for one in tensors.role.categories)


def _lives(
    profile: Profile,
    tensors: Tensors,
    steps: NDArray[np.int64],
    is_input: NDArray[np.bool_],
    is_computed: NDArray[np.bool_],
) -> _Lives:
    """Return the lives of the inputs, and of the tensors that the `steps` compute."""
    uses = profile.table("uses")
    step_of = np.full(len(profile), -1)
    step_of[steps] = np.arange(len(steps))
    at = step_of[uses.operator]
    # A use inside a body has no step: the operator with the body counts as the user of the tensor.
    counts = (at >= 0) & (is_input | is_computed)[uses.tensor]
    last = np.full(len(tensors), -1)
    np.maximum.at(last, uses.tensor[counts], at[counts])
    first = np.full(len(tensors), len(steps))
    np.minimum.at(first, uses.tensor[counts], at[counts])
    first[is_input] = 0
    if tensors.is_result is not None:
        last[tensors.is_result & (is_input | is_computed)] = len(steps) - 1
    return _Lives(first, last)


def _bytes_at_steps(sizes: NDArray[np.float64], lives: _Lives, steps: int) -> NDArray[np.float64]:
    """Return the bytes of the tensors that are alive at each step, shape (steps,)."""
    alive = lives.last >= 0
    changes = np.zeros(steps + 1)
    np.add.at(changes, lives.first[alive], sizes[alive])
    np.subtract.at(changes, lives.last[alive] + 1, sizes[alive])
    return np.cumsum(changes)[:steps]


def _largest(values: NDArray[np.float64]) -> tuple[float, int]:
    """Return the largest value and its first index; NaN and -1 if a value is unknown."""
    if not len(values) or np.isnan(values).any():
        return np.nan, -1
    index = int(np.argmax(values))
    return float(values[index]), index

"""Finds operators whose speed is limited by a link between devices, such as PCIe.

Copies between devices are limited by their link. The bandwidth of a GPU's memory is many times as
high, so it says nothing about how short these copies could be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.terms import COPY, GPU

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Flags = NDArray[np.bool_]

COPIES: Final = "copies_between_devices"
"""The optional column that marks operators whose kernels mostly copy between devices. It is 1 if
these copies take more than half of the time of the operator's kernels, and NaN otherwise."""
_MOST: Final = 0.5


def is_limited_by_link(profile: Profile) -> Flags:
    """Return whether a link, not a memory, limits each operator, shape (operators,).

    Without a GPU, this is false for all operators: copies stay in the memory of the host. With a
    GPU, it is true for all copies, even on a CPU: a copy may run on the device that receives it.
    """
    if not any(track.device_kind == GPU for track in profile.tracks):
        return np.zeros(len(profile), np.bool_)
    operators = profile.operators
    result: Flags = _is_copy(operators) | ~np.isnan(operators.numbers(COPIES))
    return result


def copies_column(
    profile: Profile, kernels: NDArray[np.int64], owner: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the optional column `COPIES`; `{}` if no kernel copies between devices.

    `kernels` are the executions of kernels that have an owner, and `owner` has the owner of each
    execution of `profile`. The module `ownership` explains owners.
    """
    executions, size = profile.executions, len(profile)
    copies = _is_copy(profile.operators)[executions.operator[kernels]]
    if not copies.any():
        return {}
    owning, duration_s = executions.operator[owner[kernels]], executions.duration_s[kernels]
    total_s = np.bincount(owning, duration_s, minlength=size)
    copies_s = np.bincount(owning[copies], duration_s[copies], minlength=size)
    return {COPIES: np.where(copies_s > _MOST * total_s, 1.0, np.nan)}


def _is_copy(operators: Operators) -> Flags:
    category = operators.category
    return category.where(one == COPY for one in category.categories)

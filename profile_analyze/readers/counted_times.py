"""The share of the time that some operators take, before a reader has made the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.numbers import median

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CountedTimes(NamedTuple):
    """The executions whose times add up to the total time. All arrays have shape (executions,)."""

    operator: NDArray[np.int32]
    """The index of the operator that the time of each execution counts for."""
    run: NDArray[np.int32]
    duration_s: NDArray[np.float64]

    def share_of(self, chosen: NDArray[np.bool_]) -> float:
        """Return the share of the total time that the chosen operators take; NaN if it is unknown.

        `chosen` has shape (operators,). With several runs, the result is the ratio of two medians,
        as in `Profile.share_of`. It is 0 if no operator is chosen.
        """
        if not chosen.any():
            return 0.0
        ran = np.bincount(self.run) > 0
        of_chosen_s = np.where(chosen[self.operator], self.duration_s, 0.0)
        chosen_s, total_s = (
            median(np.bincount(self.run, seconds)[ran].astype(np.float64)[np.newaxis])
            for seconds in (of_chosen_s, self.duration_s)
        )
        return share_of_total(chosen_s, total_s)


def share_of_total(part_s: float, total_s: float) -> float:
    """Return the share of a total time; NaN if the total is 0 or unknown."""
    return part_s / total_s if total_s > 0 else np.nan

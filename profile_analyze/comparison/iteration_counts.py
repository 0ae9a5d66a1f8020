"""Tells whether the two sides of a comparison have different numbers of iterations in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.large_arrays import blocks_of_runs
from profile_analyze.model.numbers import quantile_of_runs, ratio
from profile_analyze.model.terms import HOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats = NDArray[np.float64]

_MOST: Final = 0.8
"""The share of the names, and of the time of each side, that must have the same factor. A network
with twice as many layers does not reach this share: its first and last layers are called as often
as before."""


class Factor(NamedTuple):
    """How much more often the operators of a profile were called in a run than in the baseline."""

    factor: float
    share: float
    """The share of the time of the profile that operators with this factor take."""


def factor_of_calls(profile: Profile, base: Profile) -> Factor | None:
    """Return the factor by which most operators were called more often; None if there is none.

    Both profiles must have the same operators. Rows with the same name count together, because only
    one side may tell them apart, for example by their modules.
    """
    calls, base_calls = _calls_by_name(profile), _calls_by_name(base)
    shared = (calls > 0) & (base_calls > 0)
    factors = np.where(shared, ratio(calls, base_calls), np.nan)
    values, counts = _distinct(factors[shared])
    if not len(values) or counts.max() < _MOST * shared.sum():
        return None
    factor = float(values[np.argmax(counts)])
    if factor == 1:
        return None
    has_factor = factors == factor
    shares = [_share_of_names(side, has_factor) for side in (profile, base)]
    return Factor(factor, shares[0]) if all(share >= _MOST for share in shares) else None


def _distinct(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct values, and how often each occurs."""
    # `np.unique` would import `numpy.ma`: see `numbers.numbered`.
    ordered = np.sort(values)
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]  # empty without values
    starts = np.flatnonzero(is_first)
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _calls_by_name(profile: Profile) -> Floats:
    """Return how often the operators of each name are called in the median run, shape (names,)."""
    name, calls = profile.operators.name, profile.calls(HOST)
    known = name.codes >= 0
    sums = np.zeros((len(name.categories), calls.shape[1]))
    for runs, (block,) in blocks_of_runs(calls):
        counts = np.nan_to_num(block[known])
        for run in range(counts.shape[1]):
            sums[:, runs.start + run] = np.bincount(name.codes[known], counts[:, run], len(sums))
    return quantile_of_runs(sums, 0.5)


def _share_of_names(profile: Profile, names: NDArray[np.bool_]) -> float:
    """Return the share of the time that operators with the names take; NaN if none is known."""
    chosen = np.append(names, False)[profile.operators.name.codes]  # -1 is the appended False
    return profile.share_of(chosen)

"""How the values of a group's operators become one value: the formulas of the aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.numbers import finite

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.query.aggregates import Aggregate

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]


class Members(NamedTuple):
    """The known values of each group's operators."""

    values: Floats
    """Shape (values,): group after group, in the file's order in each; none is NaN."""
    sizes: Integers
    """Shape (groups,): how many each group has; may be 0."""

    @classmethod
    def of(cls, values: Floats, sizes: Integers) -> Members:
        """Those of `values` (shape: operators, group after group) that are not NaN."""
        known = ~np.isnan(values)
        group = np.repeat(np.arange(len(sizes)), sizes)
        return cls(values[known], np.bincount(group[known], minlength=len(sizes)))

    @property
    def groups(self) -> Integers:
        """Shape (values,): the group of each value."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def starts(self) -> Integers:
        """Shape (groups,): the index of each group's first value, or of the next group's."""
        return np.cumsum(self.sizes) - self.sizes


def aggregated(aggregate: Aggregate, members: Members) -> Floats:
    """Shape (groups,): `aggregate` over the values of each group; NaN for a group without any.

    A count is 0 there. A value that is not finite is NaN too.
    """
    if aggregate.how == "count":
        return members.sizes.astype(np.float64)
    if aggregate.how == "percentile":
        return _percentile(members, aggregate.share)
    if aggregate.how == "deviation":
        return _deviation(members)
    sums = finite(np.where(members.sizes > 0, _sums(members), np.nan))
    return sums / np.maximum(members.sizes, 1) if aggregate.how == "mean" else sums


def _deviation(members: Members) -> Floats:
    """The sample standard deviation, over n - 1; NaN for fewer than two values.

    Values are taken relative to the first of their group, so that equal ones give exactly 0
    whatever the rounding of their mean.
    """
    values, sizes = members
    groups = members.groups
    with np.errstate(all="ignore"):  # what is not finite becomes N/A in the end
        apart = values - values[members.starts[groups]]
        mean = _sums(Members(apart, sizes)) / np.maximum(sizes, 1)
        squares = (apart - mean[groups]) ** 2
        squared = np.bincount(groups, squares, minlength=len(sizes)).astype(np.float64)
        return np.sqrt(finite(squared) / np.where(sizes > 1, sizes - 1, np.nan))


def _percentile(members: Members, share: float) -> Floats:
    """The value below which a share of the values lies, interpolated linearly between neighbours.

    Of n values in ascending order it is the one at place (n - 1) * share, counted from 0: method 7
    of Hyndman and Fan (1996), the default of NumPy and pandas.
    """
    values, sizes = members
    ascending = np.append(values[np.lexsort((values, members.groups))], np.nan)
    place = np.maximum(sizes - 1, 0) * share
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(sizes - 1, 0))
    low, high = (
        ascending[np.minimum(members.starts + near, len(values))] for near in (below, above)
    )
    weight = place - below
    with np.errstate(all="ignore"):  # the neighbour's value counts only where it has a weight
        steps = low + (high - low) * weight
        between = np.where(np.isfinite(steps), steps, low * (1 - weight) + high * weight)
    return np.where(sizes > 0, np.where(weight > 0, between, low), np.nan)


def _sums(members: Members) -> Floats:
    """Shape (groups,): the sum of each group's values, in NumPy's pairwise order.

    This gives the same last digits as the original, which sums each group by itself. NumPy adds up
    to seven values in turn, so groups of that size are added here in turn, all at once.
    """
    with np.errstate(all="ignore"):  # a sum that is not finite becomes N/A in the end
        sums: Floats = np.bincount(
            members.groups, members.values, minlength=len(members.sizes)
        ).astype(np.float64)
        ends = np.cumsum(members.sizes)
        for group in np.flatnonzero(members.sizes > _ADDED_IN_TURN):
            end = ends[group]
            sums[group] = members.values[end - members.sizes[group] : end].sum()
    return sums


_ADDED_IN_TURN: Final = 7

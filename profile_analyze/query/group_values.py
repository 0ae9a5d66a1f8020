"""The formulas of the aggregates. Each computes the values of all groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.numbers import exact_sums, finite

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.columns.aggregates import Aggregate

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

_ADDED_ONE_BY_ONE: Final = 7
"""NumPy's sum adds seven or fewer values one after the other. From 8 values on, it keeps eight
partial sums, which gives another rounding."""


class Members(NamedTuple):
    """The known values of each group's operators."""

    values: Floats
    """Shape (values,): all values of the first group, then all values of the second, and so on.
    Within a group, values are in file order. NaN is left out."""
    sizes: Integers
    """Shape (groups,): the number of values in each group; may be 0."""

    @classmethod
    def of(cls, values: Floats, sizes: Integers) -> Members:
        """Make members from `values`, shape (operators,), which are sorted by group.

        `sizes` has the number of operators in each group. NaN in `values` is left out.
        """
        known = ~np.isnan(values)
        if known.all():
            return cls(values, sizes)
        group = np.repeat(np.arange(len(sizes)), sizes)
        return cls(values[known], np.bincount(group[known], minlength=len(sizes)))

    @property
    def groups(self) -> Integers:
        """Shape (values,): the index of the group that each value belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def starts(self) -> Integers:
        """Shape (groups,): the index of each group's first value.

        For an empty group, it is the index at which the next group starts.
        """
        return np.cumsum(self.sizes) - self.sizes


def aggregated(aggregate: Aggregate, members: Members, *, is_exact: bool = False) -> Floats:
    """Return the aggregate of each group, shape (groups,).

    For a group without values, a count is 0, and all other aggregates are NaN. Infinite results
    also become NaN. With `is_exact`, the order of the members does not matter.
    """
    if aggregate.how == "count":
        return members.sizes.astype(np.float64)
    if aggregate.how == "percentile":
        return _percentile(members, aggregate.share)
    if aggregate.how == "deviation":
        return _deviation(members)
    sums = finite(np.where(members.sizes > 0, _sums(members, is_exact=is_exact), np.nan))
    return sums / np.maximum(members.sizes, 1) if aggregate.how == "mean" else sums


def aggregated_in_each_run(
    aggregate: Aggregate, values: Floats, sizes: Integers, *, is_exact: bool = False
) -> Floats:
    """Return the aggregate of each group in each run, shape (groups, runs): see `aggregated`.

    `values`, shape (operators, runs), are sorted by group. `sizes` has the number of operators in
    each group.
    """
    known = ~np.isnan(values)
    is_known = known.all(axis=1)
    # `_sums_in_each_run` needs operators that are known in all runs or in none.
    if aggregate.how == "sum" and np.array_equal(is_known, known.any(axis=1)):
        group = np.repeat(np.arange(len(sizes)), sizes)
        known_sizes = np.bincount(group[is_known], minlength=len(sizes))
        return finite(_sums_in_each_run(values[is_known], known_sizes, is_exact=is_exact))
    runs = values.shape[1]
    # All groups of the first run come first.
    members = Members.of(values.T.ravel(), np.tile(sizes, runs))
    return aggregated(aggregate, members, is_exact=is_exact).reshape(runs, len(sizes)).T


def _sums_in_each_run(values: Floats, sizes: Integers, *, is_exact: bool) -> Floats:
    """Return the sum of each group in each run, rounded as by `_sums`; NaN for an empty group.

    This is `_sums` for many runs in which the same operators have values. It is several times as
    fast, because no index is computed for each value.
    """
    sums = np.full((len(sizes), values.shape[1]), np.nan)
    starts = np.cumsum(sizes) - sizes
    with np.errstate(all="ignore"):  # a sum that is not finite becomes N/A
        for size in {*sizes[sizes > 0].tolist()}:
            groups = np.flatnonzero(sizes == size)
            members = values[starts[groups, np.newaxis] + np.arange(size)]
            if is_exact:
                sums[groups] = exact_sums(members.transpose(1, 0, 2))
            elif size <= _ADDED_ONE_BY_ONE:
                sums[groups] = sum(members[:, index] for index in range(size))
            else:
                # The values of a group must be neighbours in memory to be added as in `_sums`.
                neighbours = np.ascontiguousarray(members.transpose(0, 2, 1))
                sums[groups] = neighbours.sum(axis=2)
    return sums


def _deviation(members: Members) -> Floats:
    """Return the sample standard deviation of each group; NaN for fewer than two values.

    The divisor is n - 1. Each group's least value is subtracted from all its values. Equal values
    then give exactly 0, however their mean is rounded.
    """
    values, sizes = members
    groups = members.groups
    with np.errstate(all="ignore"):  # a result that is not finite becomes N/A at the end
        least = np.full(len(sizes), np.inf)
        np.minimum.at(least, groups, values)
        shifted = values - least[groups]
        mean = _sums(Members(shifted, sizes), is_exact=True) / np.maximum(sizes, 1)
        squares = (shifted - mean[groups]) ** 2
        sums = _sums(Members(squares, sizes), is_exact=True)
        return np.sqrt(finite(sums) / np.where(sizes > 1, sizes - 1, np.nan))


def _percentile(members: Members, share: float) -> Floats:
    """Return a percentile of each group, shape (groups,): the median for a `share` of 0.5.

    With n values in ascending order, the percentile is at index (n - 1) * share. Between two
    indices, it is interpolated linearly. This is method 7 of Hyndman and Fan (1996), the default of
    NumPy and pandas.
    """
    values, sizes = members
    # An empty group at the end starts after the last value, and reads the NaN that is added here.
    ascending = np.append(values[np.lexsort((values, members.groups))], np.nan)
    last = np.maximum(sizes - 1, 0)  # an index within the group
    position = last * share
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, last)
    low, high = (
        ascending[np.minimum(members.starts + index, len(values))] for index in (below, above)
    )
    weight = position - below
    with np.errstate(all="ignore"):  # the overflow is handled below
        direct = low + (high - low) * weight
        # The difference of two very large values overflows; their weighted sum does not.
        between = np.where(np.isfinite(direct), direct, low * (1 - weight) + high * weight)
    return np.where(sizes > 0, np.where(weight > 0, between, low), np.nan)


def _sums(members: Members, *, is_exact: bool = False) -> Floats:
    """Return the sum of each group, shape (groups,), rounded like NumPy's sum of a single group.

    The last digits are then the same as in the original tool (docs/compatibility.md): it sums each
    group alone. NumPy adds the values of a small group one by one. `np.bincount` also does so,
    for all groups at once. With `is_exact`, the order of the values does not matter.
    """
    values, sizes = members
    if is_exact:
        sums = np.zeros(len(sizes))
        for size in {*sizes[sizes > 0].tolist()}:
            groups = np.flatnonzero(sizes == size)
            sums[groups] = exact_sums(
                values[members.starts[groups] + np.arange(size)[:, np.newaxis]]
            )
        return sums
    with np.errstate(all="ignore"):  # a sum that is not finite becomes N/A at the end
        sums = np.bincount(members.groups, values, minlength=len(sizes)).astype(np.float64)
        # Groups of one size form the rows of a matrix, whose sums are rounded like sums of one row.
        for size in {*sizes[sizes > _ADDED_ONE_BY_ONE].tolist()}:
            groups = np.flatnonzero(sizes == size)
            rows = members.starts[groups][:, np.newaxis] + np.arange(size)
            sums[groups] = values[rows].sum(axis=1)
    return sums

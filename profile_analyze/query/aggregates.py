"""How the values of a group's operators become one value.

Each aggregate keeps a state with a place for every group. States are started, added to and
merged, so that what is found in several files is the merge of what is found in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    State: TypeAlias = tuple[NDArray[Any], ...]


class Members(NamedTuple):
    """The values that are known of each group's operators."""

    values: Floats
    """Shape (values,): group after group, in the file's order in each; none is NaN."""
    sizes: Integers
    """Shape (groups,): how many each group has; may be 0."""

    @classmethod
    def of(cls, values: Floats, sizes: Integers) -> Members:
        """Those of `values` (shape: operators, group after group) that are not NaN."""
        import numpy as np

        known = ~np.isnan(values)
        group = np.repeat(np.arange(len(sizes)), sizes)
        return cls(values[known], np.bincount(group[known], minlength=len(sizes)))

    def groups(self) -> Integers:
        """Shape (values,): the group of each value."""
        import numpy as np

        return np.repeat(np.arange(len(self.sizes)), self.sizes)


class Aggregate(Protocol):
    """The steps from values to one value a group. What is N/A was left out before."""

    adds_up: bool
    """Whether a ratio is formed from what it gives for numerator and denominator (a sum), or has
    to be worked out for each operator first (a maximum)."""

    def start(self, groups: int) -> State:
        """The state of `groups` groups that have no operators yet."""

    def add(self, state: State, members: Members) -> State:
        """The state with the values of each group's further operators."""

    def merge(self, state: State, other: State) -> State:
        """The state of both together."""

    def finish(self, state: State) -> Floats:
        """Shape (groups,): the values, NaN for a group without any."""


class Sum:
    """The sum of the values that are known."""

    adds_up = True

    def start(self, groups: int) -> State:
        """See `Aggregate.start`: the sums, and how many values are in each."""
        import numpy as np

        return np.zeros(groups), np.zeros(groups, np.int64)

    def add(self, state: State, members: Members) -> State:
        """See `Aggregate.add`."""
        return self.merge(state, (_sums(members), members.sizes))

    def merge(self, state: State, other: State) -> State:
        """See `Aggregate.merge`."""
        return state[0] + other[0], state[1] + other[1]

    def finish(self, state: State) -> Floats:
        """See `Aggregate.finish`."""
        import numpy as np

        from profile_analyze.model.numbers import finite

        sums, counts = state
        return finite(np.where(counts > 0, sums, np.nan))


class Mean(Sum):
    """The mean of the values that are known."""

    def finish(self, state: State) -> Floats:
        """See `Aggregate.finish`."""
        import numpy as np

        return super().finish(state) / np.maximum(state[1], 1)


class Count(Sum):
    """How many values are known; 0 where none is."""

    adds_up = False

    def finish(self, state: State) -> Floats:
        """See `Aggregate.finish`."""
        import numpy as np

        counts: Floats = state[1].astype(np.float64)
        return counts


class Deviation:
    """The sample standard deviation, over n - 1; N/A for fewer than two values.

    The state is that of Chan, Golub and LeVeque (1979): count, mean and sum of squared deviations.
    """

    adds_up = False

    def start(self, groups: int) -> State:
        """See `Aggregate.start`."""
        import numpy as np

        return np.zeros(groups), np.zeros(groups), np.zeros(groups)

    def add(self, state: State, members: Members) -> State:
        """See `Aggregate.add`."""
        import numpy as np

        groups = members.groups()
        with np.errstate(all="ignore"):  # what is not finite becomes N/A in the end
            mean = _sums(members) / np.maximum(members.sizes, 1)
            squares = (members.values - mean[groups]) ** 2
            squared = np.bincount(groups, weights=squares, minlength=len(mean))
            return self.merge(state, (members.sizes.astype(np.float64), mean, squared))

    def merge(self, state: State, other: State) -> State:
        """See `Aggregate.merge`."""
        import numpy as np

        (count, mean, squared), (other_count, other_mean, other_squared) = state, other
        both = count + other_count
        apart = other_mean - mean
        weight = other_count / np.maximum(both, 1)
        together = squared + other_squared + apart**2 * count * weight
        return both, mean + apart * weight, together

    def finish(self, state: State) -> Floats:
        """See `Aggregate.finish`."""
        import numpy as np

        from profile_analyze.model.numbers import finite

        count, _, squared = state
        with np.errstate(all="ignore"):
            variance = finite(squared) / np.where(count > 1, count - 1, np.nan)
            return np.sqrt(variance)


class Percentile:
    """The value below which a share of the values lies, interpolated linearly between neighbours.

    Of n values in ascending order it is the one at place (n - 1) * share, counted from 0: method 7
    of Hyndman and Fan (1996), the default of NumPy and pandas.
    """

    adds_up = False

    def __init__(self, share: float) -> None:
        self.share = share

    def start(self, groups: int) -> State:
        """See `Aggregate.start`: all values, the group of each, and how many each group has."""
        import numpy as np

        return np.empty(0), np.empty(0, np.int64), np.zeros(groups, np.int64)

    def add(self, state: State, members: Members) -> State:
        """See `Aggregate.add`."""
        return self.merge(state, (members.values, members.groups(), members.sizes))

    def merge(self, state: State, other: State) -> State:
        """See `Aggregate.merge`."""
        import numpy as np

        values, groups = (np.concatenate(both) for both in zip(state[:2], other[:2], strict=True))
        return values, groups, state[2] + other[2]

    def finish(self, state: State) -> Floats:
        """See `Aggregate.finish`."""
        import numpy as np

        values, groups, counts = state
        ascending = np.append(values[np.lexsort((values, groups))], np.nan)
        starts = np.cumsum(counts) - counts
        place = np.maximum(counts - 1, 0) * self.share
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(counts - 1, 0))
        low, high = (ascending[np.minimum(starts + near, len(values))] for near in (below, above))
        weight = place - below
        with np.errstate(all="ignore"):  # the neighbour's value counts only where it has a weight
            steps = low + (high - low) * weight
            between = np.where(np.isfinite(steps), steps, low * (1 - weight) + high * weight)
        return np.where(counts > 0, np.where(weight > 0, between, low), np.nan)


def _sums(members: Members) -> Floats:
    """Shape (groups,): the sum of each group's values, in NumPy's pairwise order.

    It gives the last digits of the original, which sums each group by itself. Up to seven values
    that is one after the other, and so are they added here, all groups at once.
    """
    import numpy as np

    with np.errstate(all="ignore"):  # a sum that is not finite becomes N/A in the end
        groups, count = members.groups(), len(members.sizes)
        sums: Floats = np.bincount(groups, members.values, minlength=count).astype(np.float64)
        ends = np.cumsum(members.sizes)
        for group in np.flatnonzero(members.sizes > _ADDED_IN_TURN):
            end = ends[group]
            sums[group] = members.values[end - members.sizes[group] : end].sum()
    return sums


_ADDED_IN_TURN: Final = 7

COUNT: Final = "count"
DEFAULT_AGGREGATE: Final = "sum"

AGGREGATES: Final[Mapping[str, Aggregate]] = {
    "sum": Sum(),
    "mean": Mean(),
    "max": Percentile(1.0),
    "min": Percentile(0.0),
    "median": Percentile(0.5),
    "std": Deviation(),
    COUNT: Count(),
}
"""Every aggregate by the name that users give it, and `pN` besides: see `find_aggregate`."""


def find_aggregate(name: str) -> Aggregate | None:
    """The aggregate of that name; `p90`, `p99.9` and the like are percentiles. None if none is."""
    if name in AGGREGATES:
        return AGGREGATES[name]
    number = name.removeprefix("p")
    if number == name or not number.replace(".", "", 1).isdecimal() or not number.isascii():
        return None
    share = float(number) / 100
    return Percentile(share) if share <= 1 else None


def canonical_name(name: str) -> str:
    """The one name of an aggregate that has several: `p50.0` is `p50`."""
    return name if name in AGGREGATES else f"p{float(name[1:]):g}"


def aggregated(aggregate: Aggregate, members: Members) -> Floats:
    """Shape (groups,): `aggregate` over the values of each group's operators."""
    return aggregate.finish(aggregate.add(aggregate.start(len(members.sizes)), members))

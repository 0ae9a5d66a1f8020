"""How the values of a group's operators become one value.

Each aggregate keeps a state of arrays with a place for every group. States are started, added to
and merged, so that what is found in several files is the merge of what is found in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    State: TypeAlias = tuple[Floats, ...]


class Aggregate(Protocol):
    """The steps from values to one value a group. NaN values are N/A and count for nothing."""

    adds_up: bool
    """Whether a ratio is formed from what it gives for numerator and denominator (a sum), or has
    to be worked out for each operator first (a maximum)."""

    def start(self, groups: int) -> State:
        """The state of `groups` groups that have no operators yet."""

    def add(self, state: State, members: Sequence[Floats]) -> State:
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

        return np.zeros(groups), np.zeros(groups)

    def add(self, state: State, members: Sequence[Floats]) -> State:
        """See `Aggregate.add`."""
        import numpy as np

        known = [_known(values) for values in members]
        with np.errstate(all="ignore"):  # a sum that is not finite becomes N/A in the end
            # a call for each group: its pairwise summing gives the last digits of the original
            sums = _of_each(known, lambda values: values.sum())
            return self.merge(state, (sums, _of_each(known, len)))

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


class Max:
    """The largest of the values that are known."""

    adds_up = False

    def start(self, groups: int) -> State:
        """See `Aggregate.start`."""
        import numpy as np

        return (np.full(groups, np.nan),)

    def add(self, state: State, members: Sequence[Floats]) -> State:
        """See `Aggregate.add`."""
        return self.merge(state, (_of_each(members, self._of_values),))

    def merge(self, state: State, other: State) -> State:
        """See `Aggregate.merge`."""
        import numpy as np

        return (np.fmax(state[0], other[0]),)

    def finish(self, state: State) -> Floats:
        """See `Aggregate.finish`."""
        return state[0]

    @staticmethod
    def _of_values(values: Floats) -> float:
        import numpy as np

        return float(np.fmax.reduce(values, initial=np.nan))


class Min(Max):
    """The smallest of the values that are known."""

    def merge(self, state: State, other: State) -> State:
        """See `Aggregate.merge`."""
        import numpy as np

        return (np.fmin(state[0], other[0]),)

    @staticmethod
    def _of_values(values: Floats) -> float:
        import numpy as np

        return float(np.fmin.reduce(values, initial=np.nan))


def _known(values: Floats) -> Floats:
    import numpy as np

    return values[~np.isnan(values)]


def _of_each(members: Sequence[Floats], function: Callable[[Any], float]) -> Floats:
    import numpy as np

    return np.fromiter(map(function, members), np.float64, len(members))


AGGREGATES: Final[Mapping[str, Aggregate]] = {
    "sum": Sum(),
    "mean": Mean(),
    "max": Max(),
    "min": Min(),
}
"""Every aggregate by the name that users give it."""

DEFAULT_AGGREGATE: Final = "sum"


def aggregated(aggregate: Aggregate, members: Sequence[Floats]) -> Floats:
    """Shape (groups,): `aggregate` over the values of each group's operators."""
    return aggregate.finish(aggregate.add(aggregate.start(len(members)), members))

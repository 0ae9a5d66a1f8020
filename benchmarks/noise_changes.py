"""Simulated changes of a model, and what the tables of comparisons say about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from benchmarks.noise_samples import SEED, rows_of, slowed
from benchmarks.noise_verdicts import IS_FASTER, IS_SLOWER, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from benchmarks.noise_samples import Model
    from profile_analyze.comparison.row_tests import OperatorTimes

    Flags: TypeAlias = NDArray[np.bool_]
    Integers: TypeAlias = NDArray[np.int64]


class Change(NamedTuple):
    """A simulated change of the candidate."""

    text: str
    table: str
    """The table in which the change must be found: `total`, `kinds` or `operators`."""
    factor: float
    chosen: Callable[[Model, np.random.Generator], Flags]
    """Returns which operators change."""

    def is_possible(self, model: Model) -> bool:
        """Return whether the model has operators to change; always true if the factor is 1."""
        return self.factor == 1 or bool(self.chosen(model, np.random.default_rng(SEED)).any())


CONVOLUTIONS: Final = Change(
    "convolutions 10 % slower", "kinds", 1.1, lambda model, _: model.kind("convolution")
)
WHOLE: Final = Change(
    *("all operators 10 % slower", "total", 1.1),
    lambda model, _: np.ones(len(model.names), np.bool_),
)
NOTHING: Final = Change(
    *("nothing", "kinds", 1.0),
    lambda model, _: np.zeros(len(model.names), np.bool_),
)
CHANGES: Final = (
    WHOLE,
    CONVOLUTIONS,
    Change("elementwise 10 % slower", "kinds", 1.1, lambda model, _: model.kind("elementwise")),
    Change(
        *("longest convolution 10 % slower", "operators", 1.1),
        lambda model, _: model.longest("convolution"),
    ),
    Change(
        *("one random operator takes twice as long", "operators", 2.0),
        lambda model, generator: model.only(int(generator.integers(len(model.names)))),
    ),
)


class Outcome(NamedTuple):
    """What a table of a comparison says about a known change."""

    found: float
    """The share of the changed rows whose verdict is `slower`."""
    slower_or_faster: int
    """How many rows have the verdict `slower` or `faster`."""
    wrong: int
    """How many of these rows did not change, or changed in the other direction."""

    @property
    def share_wrong(self) -> float:
        """The share of `wrong` in `slower_or_faster`; 0 if no row is slower or faster."""
        return self.wrong / max(self.slower_or_faster, 1)


def outcome(codes: Integers, changed: Integers) -> Outcome:
    """Return what the verdicts say about rows that became slower. `changed` has their indices."""
    found = codes[changed] == IS_SLOWER
    total = int(np.isin(codes, (IS_SLOWER, IS_FASTER)).sum())
    return Outcome(float(found.mean()) if len(found) else 0.0, total, total - int(found.sum()))


def changed_splits(
    model: Model, change: Change, splits: Iterable[OperatorTimes]
) -> Iterator[tuple[OperatorTimes, Flags]]:
    """Yield the splits after a change, each with the operators that changed."""
    generator = np.random.default_rng(SEED)
    for operators in splits:
        chosen = change.chosen(model, generator)
        yield slowed(operators, chosen, change.factor), chosen


def outcomes_of(
    model: Model, change: Change, table: str, drawn: Iterable[OperatorTimes]
) -> list[Outcome]:
    """Return the outcomes of all comparisons."""
    row = rows_of(model, table)
    return [
        outcome(verdicts(operators, row), np.unique(row[chosen]))
        for operators, chosen in changed_splits(model, change, drawn)
    ]

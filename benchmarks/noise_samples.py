"""Reads the real runs on which docs/statistics.md is based, splits them, and slows them down."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

import profile_analyze as pa
from profile_analyze.comparison.comparison import COMPARISON_COLUMNS
from profile_analyze.comparison.row_tests import OperatorTimes
from profile_analyze.model.joining.iterations import by_unit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]
    Integers: TypeAlias = NDArray[np.int64]

RUNS: Final = Path(__file__).parent.parent / "tests" / "fixtures" / "runs"
SEED: Final = 1995
LAYER: Final = "conv(l.2.RELU[1],fuse[2186]@2187)[3348]"
"""The convolution whose kernel is larger in the changed model."""


class Model(NamedTuple):
    """The real runs of one unchanged model. Only operators with a time in each run are included."""

    name: str
    times_s: Floats
    """Shape (operators, runs)."""
    names: tuple[str, ...]
    types: Integers
    """The code of the type of each operator; `type_names` has the names."""
    type_names: tuple[str, ...]
    categories: Integers
    category_names: tuple[str, ...]

    @property
    def runs(self) -> int:
        """The number of real runs."""
        return int(self.times_s.shape[1])

    @property
    def medians_s(self) -> Floats:
        """The median time of each operator, shape (operators,)."""
        medians: Floats = np.median(self.times_s, axis=1)
        return medians

    def of_category(self, name: str) -> Flags:
        """Return whether each operator is of this category, shape (operators,)."""
        if name not in self.category_names:
            return np.zeros(len(self.names), np.bool_)
        chosen: Flags = self.categories == self.category_names.index(name)
        return chosen

    def kind(self, category: str) -> Flags:
        """Return whether each operator is of the slowest type of a category; shape (operators,)."""
        chosen = self.of_category(category)
        if not chosen.any():
            return chosen
        times_s = np.bincount(self.types[chosen], self.medians_s[chosen])
        slowest: Flags = chosen & (self.types == int(times_s.argmax()))
        return slowest

    def longest(self, category: str) -> Flags:
        """Return whether each operator is the longest of a category; shape (operators,)."""
        chosen = self.of_category(category)
        return chosen & self.only(int(np.where(chosen, self.medians_s, -1.0).argmax()))

    def only(self, index: int) -> Flags:
        """Return whether each operator has this index, shape (operators,)."""
        chosen: Flags = np.arange(len(self.names)) == index
        return chosen

    def split(self, order: Integers) -> OperatorTimes:
        """Return a comparison of these runs: the first half of `order` is the candidate."""
        return OperatorTimes(self.times_s[:, order], len(order) // 2, self.categories)


def read(files: list[Path], name: str) -> Model:
    """Read the runs of a model. Several runs of one process count as one, with their medians."""
    return _model(_load(files), name)


def read_fixtures() -> tuple[Model, Model]:
    """Return the models in the fixtures, except the changed model: see `read_changed`."""
    return read(fixture("base"), "ResNet-18"), read(fixture("mobilenet"), "MobileNet")


def read_changed() -> tuple[Model, Model]:
    """Return ResNet-18 with and without a larger kernel in one convolution, operator by operator.

    Both have the same operators in the same order.
    """
    compared = pa.compare(_load(fixture("changed")), _load(fixture("base")))
    changed = _model(compared.profile, "ResNet-18, changed")
    base = _model(compared.base, "ResNet-18")
    assert changed.times_s.shape == base.times_s.shape
    return changed, changed._replace(name=base.name, times_s=base.times_s)


def fixture(name: str) -> list[Path]:
    """Return the profiles in a folder of the fixtures, in order."""
    return sorted((RUNS / name).glob("*.json.gz"))


def _load(files: list[Path]) -> Profile:
    return pa.load_runs([str(path) for path in files], wanted=COMPARISON_COLUMNS)


def _model(profile: Profile, name: str) -> Model:
    times_s = by_unit(profile.measured("time"), profile.runs, "process")
    timed = np.flatnonzero(np.isfinite(times_s).all(axis=1))
    operators = profile.operators
    names = operators.name.values()
    return Model(
        name,
        times_s[timed],
        tuple(names[row] or "" for row in timed.tolist()),
        operators.type.codes[timed],
        operators.type.categories,
        operators.category.codes[timed],
        operators.category.categories,
    )


def draw(model: Model, runs: int, splits: int, *, replace: bool = False) -> Iterator[OperatorTimes]:
    """Yield comparisons of randomly drawn runs of an unchanged model, `runs` on each side.

    Without `replace`, no run is drawn twice in the same comparison. The seed is fixed.
    """
    generator = np.random.default_rng([SEED, runs, int(replace)])
    for _ in range(splits):
        yield model.split(generator.choice(model.runs, 2 * runs, replace=replace))


def slowed(operators: OperatorTimes, chosen: Flags, factor: float) -> OperatorTimes:
    """Return the comparison after multiplying the candidate's times of `chosen` by `factor`."""
    times_s = operators.times_s.copy()
    times_s[chosen, : operators.runs] *= factor
    return operators._replace(times_s=times_s)


def swapped(operators: OperatorTimes) -> OperatorTimes:
    """Return the comparison with the candidate as baseline, and the baseline as candidate."""
    ours, theirs = operators.split(operators.times_s)
    return operators._replace(times_s=np.concatenate([theirs, ours], axis=1), runs=theirs.shape[1])


def rows_of(model: Model, table: str) -> Integers:
    """Return the row of each operator in a table: `total`, `kinds` or `operators`."""
    if table == "total":
        return np.zeros(len(model.names), np.int64)
    if table == "operators":
        return np.arange(len(model.names))
    rows: Integers = np.unique(model.types, return_inverse=True)[1].reshape(-1)
    return rows

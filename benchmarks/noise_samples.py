"""Reads the real runs on which docs/statistics.md is based, and resamples them for comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import profile_analyze as pa
from profile_analyze.analysis.drift import drift_factors
from profile_analyze.analysis.statistics import permutation_test
from profile_analyze.model.comparison import COMPARISON_COLUMNS
from profile_analyze.model.numbers import quantile_of_runs, ratio, spread_of_runs

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

RUNS: Final = Path(__file__).parent.parent / "tests" / "fixtures" / "runs"
SEED: Final = 1995
QUIET: Final = 0.02
"""The spread of the totals on a simulated quiet machine."""
LAYER: Final = "conv(l.2.RELU[1],fuse[2186]@2187)[3348]"
"""The convolution whose kernel is larger in the changed model."""


@dataclass(frozen=True)
class Data:
    """The times of both sides in seconds, each of shape (operators, runs).

    Only operators that have times on both sides are included.
    """

    base: Floats
    changed: Floats
    layer: int
    """The row of `LAYER`, the convolution that was changed."""


@dataclass(frozen=True)
class Drawn:
    """Many comparisons: the times of both sides, each of shape (comparisons, rows, runs)."""

    new: Floats
    base: Floats

    def slowed(self, by: float, row: int | None = None) -> Drawn:
        """Return the comparisons after the new side, or one row of it, became slower by `by`."""
        new = self.new.copy()
        new[:, slice(None) if row is None else row] *= 1 + by
        return Drawn(new, self.base)

    def corrected(self) -> Drawn:
        """Return the comparisons after drift correction over the runs of both sides together."""
        both = np.concatenate([self.new, self.base], axis=2)
        factors = np.array([drift_factors(one) for one in both])[:, np.newaxis]
        runs = self.new.shape[2]
        return Drawn(self.new / factors[..., :runs], self.base / factors[..., runs:])

    def totals(self) -> Drawn:
        """Return comparisons with one row, the total of all rows."""
        return Drawn(self.new.sum(axis=1, keepdims=True), self.base.sum(axis=1, keepdims=True))

    def row(self, row: int) -> Drawn:
        """Return comparisons with this row only."""
        return Drawn(self.new[:, row : row + 1], self.base[:, row : row + 1])

    def ratios(self) -> Floats:
        """Return the ratios of the medians, shape (comparisons, rows)."""
        medians = [quantile_of_runs(flat_rows(side), 0.5) for side in (self.new, self.base)]
        return ratio(*medians).reshape(self.new.shape[:2])

    def p_values(self) -> Floats:
        """Return p without correction for the number of rows, shape (comparisons, rows)."""
        found = permutation_test(flat_rows(self.new), flat_rows(self.base))
        return found.reshape(self.new.shape[:2])


@dataclass(frozen=True)
class Judged:
    """Comparisons of unchanged runs, and the verdicts on them.

    Several tables of the document use them.
    """

    tables: Drawn
    p_values: Floats
    """Without correction for the number of rows, shape (comparisons, rows)."""
    is_change: Flags
    """Whether the verdict is slower or faster, shape (comparisons, rows)."""


def read() -> Data:
    """Read the runs of both sides, and return the times of the operators that both sides have."""
    base, changed = (
        pa.load_runs(
            [str(path) for path in sorted((RUNS / side).glob("*.json.gz"))],
            wanted=COMPARISON_COLUMNS,
        )
        for side in ("base", "changed")
    )
    compared = pa.compare(changed, base)
    times, base_times = compared.profile.measured("time"), compared.base.measured("time")
    timed = np.flatnonzero(np.isfinite(times.sum(axis=1) + base_times.sum(axis=1)))
    names = compared.profile.operators.name.values()
    layer = [names[row] for row in timed.tolist()].index(LAYER)
    return Data(base_times[timed], times[timed], layer)


def draw_with_replacement(new: Floats, base: Floats, runs: int, comparisons: int) -> Drawn:
    """Return comparisons with `runs` runs on each side, drawn with replacement."""
    generator = _generator(runs)
    chosen = [generator.integers(side.shape[1], size=(comparisons, runs)) for side in (new, base)]
    return Drawn(new[:, chosen[0]].swapaxes(0, 1), base[:, chosen[1]].swapaxes(0, 1))


def draw_halves(times: Floats, comparisons: int) -> Drawn:
    """Return comparisons of one random half of the runs with the other half."""
    half = times.shape[1] // 2
    shuffled = _shuffled(_generator(0), times, comparisons)
    return Drawn(shuffled[..., :half], shuffled[..., half : 2 * half])


def draw_without_replacement(new: Floats, base: Floats, runs: int, comparisons: int) -> Drawn:
    """Return comparisons with `runs` runs on each side, drawn without replacement."""
    generator = _generator(runs, 1)
    drawn = [_shuffled(generator, side, comparisons)[..., :runs] for side in (new, base)]
    return Drawn(*drawn)


def _shuffled(generator: np.random.Generator, times: Floats, comparisons: int) -> Floats:
    """Return the runs in random orders, shape (comparisons, operators, runs)."""
    orders = generator.permuted(np.tile(np.arange(times.shape[1]), (comparisons, 1)), axis=1)
    return times[:, orders].swapaxes(0, 1)


def all_pairs(times: Floats) -> Drawn:
    """Return one comparison for each ordered pair of different runs."""
    new, base = np.nonzero(~np.eye(times.shape[1], dtype=np.bool_))
    return Drawn(times[:, new].T[..., np.newaxis], times[:, base].T[..., np.newaxis])


def with_quiet_noise(times: Floats) -> Floats:
    """Return the times after scaling each run, so that the totals have a spread of `QUIET`."""
    totals = times.sum(axis=0)
    apart = np.log(totals / np.median(totals))

    def spread(k: float) -> float:
        return float(spread_of_runs(np.exp(k * apart)[np.newaxis])[0])

    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if spread(middle) < QUIET else (low, middle)
    scaled: Floats = times * np.exp((high - 1) * apart)
    return scaled


def _generator(*numbers: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *numbers])


def flat_rows(times: Floats) -> Floats:
    """Return the rows of all comparisons one after another, shape (comparisons * rows, runs)."""
    return times.reshape(-1, times.shape[2])

"""The rules that docs/statistics.md compares, and the smallest slow-down that each detects."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import stats

from benchmarks.noise_samples import (
    Data,
    Drawn,
    Judged,
    all_pairs,
    draw_with_replacement,
    flat_rows,
)
from profile_analyze.analysis.statistics import (
    FASTER,
    SIGNIFICANT,
    SLOWER,
    VERDICTS,
    adjusted,
    ratio_interval,
    verdict_codes,
)
from profile_analyze.model.numbers import quantile_of_runs, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

THRESHOLD: Final = 0.03
SIZES: Final = (4, 8, 16, 32)
"""The numbers of runs on each side."""
TARGET: Final = 0.9
"""A slow-down counts as detectable if it is found in at least this share of the comparisons."""
GRID: Final = tuple(
    percent / 100 for percent in (*range(1, 21), *range(25, 51, 5), *range(60, 201, 10))
)
"""The slow-downs to try, in increasing order."""


def table_verdicts(drawn: Drawn, p_values: Floats) -> NDArray[np.int64]:
    """Return the codes of the verdicts, shape (comparisons, rows).

    The p-values of each comparison are corrected for the number of its rows. If p is too large for
    a change, the code is -1, and `same` is not distinguished from `uncertain`.
    """
    q = np.array([adjusted(one) for one in p_values])
    codes = _codes_of(flat_rows(drawn.new), flat_rows(drawn.base), q.ravel())
    return codes.reshape(q.shape)


def _codes_of(new: Floats, base: Floats, q: Floats) -> NDArray[np.int64]:
    """Return the codes of the verdicts, shape (rows,); -1 if q is too large for a change."""
    # To save time, ratios and intervals are computed only for the other rows.
    rows = np.flatnonzero(q <= SIGNIFICANT)
    codes = np.full(len(q), -1)
    ratios = ratio(quantile_of_runs(new[rows], 0.5), quantile_of_runs(base[rows], 0.5))
    interval = ratio_interval(new[rows], base[rows])
    codes[rows] = verdict_codes(ratios, q[rows], interval, THRESHOLD)
    return codes


def is_slower_or_faster(codes: NDArray[np.int64]) -> Flags:
    """Return whether each code means slower or faster, in the shape of `codes`."""
    return np.isin(codes, [VERDICTS.index(SLOWER), VERDICTS.index(FASTER)])


def reported_changes(drawn: Drawn, p_values: Floats) -> Flags:
    """Return whether the verdict on each row is slower or faster, shape (comparisons, rows)."""
    return is_slower_or_faster(table_verdicts(drawn, p_values))


def judge_unchanged(data: Data, runs: int, comparisons: int, *, corrected: bool) -> Judged:
    """Draw both sides from the baseline, and judge all operators."""
    print(f"{runs} runs a side, {correction_text(corrected)} correction ...", file=sys.stderr)
    tables = draw_with_replacement(data.base, data.base, runs, comparisons)
    judged = tables.corrected() if corrected else tables
    p_values = judged.p_values()
    return Judged(tables, p_values, reported_changes(judged, p_values))


def by_verdict(tables: Drawn) -> tuple[Flags, Flags]:
    """Judge each total by the verdict of `--compare`.

    Returns two arrays of shape (comparisons,): whether the total is slower, and whether it is
    faster.
    """
    totals = tables.totals()
    codes = table_verdicts(totals, totals.p_values())[:, 0]
    return codes == VERDICTS.index(SLOWER), codes == VERDICTS.index(FASTER)


def _by_means(tables: Drawn) -> tuple[Flags, Flags]:
    """Judge each total by the ratio of the means, which must be beyond the threshold."""
    totals = tables.totals()
    return beyond_threshold(ratio(totals.new.mean(axis=2), totals.base.mean(axis=2))[:, 0])


def _by_operators(tables: Drawn) -> tuple[Flags, Flags]:
    """Judge each total by one run on each side.

    It has changed if its ratio is beyond the threshold and Wilcoxon's signed-rank test over the
    operators is significant.
    """
    found = stats.wilcoxon(tables.new[..., 0], tables.base[..., 0], axis=1)
    unlikely = np.asarray(found.pvalue) <= SIGNIFICANT
    slower, faster = beyond_threshold(tables.totals().ratios()[:, 0])
    return unlikely & slower, unlikely & faster


def beyond_threshold(ratios: Floats) -> tuple[Flags, Flags]:
    """Return two arrays: whether each ratio reaches the threshold for slower, and for faster."""
    return ratios >= 1 + THRESHOLD, ratios <= 1 / (1 + THRESHOLD)


@dataclass(frozen=True)
class Case:
    """A rule, and comparisons of unchanged runs to test the rule."""

    rule: str
    runs: int
    judge: Callable[[Drawn], tuple[Flags, Flags]]
    tables: Drawn

    def false_alarms(self) -> Flags:
        """Return whether the rule reports a change of the total, for each comparison."""
        slower, faster = self.judge(self.tables)
        return slower | faster

    def smallest(self) -> float | None:
        """Return the smallest slow-down of the total that the rule detects, or None."""
        return _smallest(lambda by: float(self.judge(self.tables.slowed(by))[0].mean()))


def rule_cases(times: Floats, comparisons: int) -> Iterator[Case]:
    """Yield the cases of each rule. Profile and baseline are random samples of the same `times`."""
    for runs in SIZES:
        yield Case(
            "the verdict", runs, by_verdict, draw_with_replacement(times, times, runs, comparisons)
        )
    for runs in SIZES:
        tables = draw_with_replacement(times, times, runs, comparisons)
        yield Case("means 3 % apart", runs, _by_means, tables)
    yield Case("operators of one run", 1, _by_operators, all_pairs(times))


def _smallest(share_found: Callable[[float], float]) -> float | None:
    """Return the smallest detectable slow-down in `GRID`, by bisection; None if there is none.

    `share_found` returns the share of comparisons in which a slow-down is found.
    """
    low, high = 0, len(GRID)
    while low < high:
        middle = (low + high) // 2
        if share_found(GRID[middle]) >= TARGET:
            high = middle
        else:
            low = middle + 1
    return GRID[low] if low < len(GRID) else None


def smallest_slow_down_of_layer(judged: Judged, layer: int, *, corrected: bool) -> float | None:
    """Return the smallest detectable slow-down of one operator; None if there is none.

    The other operators keep their p-values, because they are not slowed down.
    """

    def share_found(by: float) -> float:
        slowed = judged.tables.slowed(by, layer)
        row = (slowed.corrected() if corrected else slowed).row(layer)
        p_values = judged.p_values.copy()
        p_values[:, [layer]] = row.p_values()
        q = np.array([adjusted(one)[layer] for one in p_values])
        codes = _codes_of(row.new[:, 0], row.base[:, 0], q)
        return float((codes == VERDICTS.index(SLOWER)).mean())

    return _smallest(share_found)


def correction_text(corrected: bool) -> str:  # noqa: FBT001  # a value of a table
    """Return the cell that says whether drift is corrected."""
    return "with" if corrected else "without"

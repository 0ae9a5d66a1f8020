"""The tables of docs/statistics.md, each measured on random splits of real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.noise_changes import (
    CHANGES,
    CONVOLUTIONS,
    NOTHING,
    WHOLE,
    changed_splits,
    outcome,
    outcomes_of,
)
from benchmarks.noise_samples import (
    LAYER,
    SEED,
    draw,
    read_changed,
    rows_of,
    slowed,
    swapped,
)
from benchmarks.noise_verdicts import (
    IS_FASTER,
    IS_SAME,
    IS_SLOWER,
    IS_UNCERTAIN,
    by_means,
    intervals,
    verdicts,
    verdicts_and_needed,
)
from profile_analyze.model.numbers import spread_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from benchmarks.noise_changes import Change
    from benchmarks.noise_samples import Model
    from profile_analyze.comparison.row_tests import OperatorTimes

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

SIZES: Final = (4, 8, 12, 16)
"""The runs on each side for splits without replacement, if there are enough real runs."""
SIZES_REPLACED: Final = (4, 8, 16)
"""The runs on each side for draws with replacement."""
USUAL: Final = 8
TARGET: Final = 0.9
"""A slow-down counts as detectable if it is found in at least this share of the comparisons."""
GRID: Final = tuple(
    percent / 100 for percent in (*range(1, 21), *range(25, 51, 5), *range(60, 201, 10))
)
"""The slow-downs to try, in increasing order."""
_MOST_DRAWN: Final = 100
"""The most runs of each side that `needed_table` draws, to save time."""


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> Iterator[str]:
    """Yield the lines of a Markdown table. Columns after the first `texts` are right-aligned."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * texts}{'--:|' * (len(columns) - texts)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _share(values: Iterable[float]) -> str:
    known = list(values)
    return f"{float(np.mean(known)):.1%}" if known else "N/A"


def data_table(models: Sequence[Model], _: int) -> Iterator[str]:
    """Describe the real runs."""

    def rows() -> Iterator[Sequence[str]]:
        for model in models:
            totals_s = model.times_s.sum(axis=0)
            median, spread = np.median(totals_s), spread_of_runs(totals_s[np.newaxis])[0]
            ends = [f"{end / median - 1:+.0%}" for end in (totals_s.min(), totals_s.max())]
            counts = str(len(model.names)), str(model.runs)
            yield model.name, *counts, f"{median * 1e3:.1f} ms", f"{spread:.1%}", *ends

    columns = "model", "operators", "runs", "median total", "spread", "fastest run", "slowest run"
    return markdown(columns, rows(), 1)


def no_change_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure how often each table reports a change although nothing changed."""
    cases = [
        ("total", "total", verdicts),
        ("total", "total by means", by_means),
        ("kinds", "kinds", verdicts),
        ("operators", "operators", verdicts),
    ]

    def rows() -> Iterator[Sequence[str]]:
        for model in models:
            row_of = {table: rows_of(model, table) for table, _, _ in cases}
            for runs in (size for size in SIZES if 2 * size <= model.runs):
                reported = [
                    np.isin(judge(one, row_of[table]), (IS_SLOWER, IS_FASTER)).any()
                    for one in draw(model, runs, splits)
                    for table, _, judge in cases
                ]
                by_case = np.array(reported).reshape(splits, len(cases)).T
                yield model.name, str(runs), *map(_share, by_case)

    columns = "model", "runs a side", *(title for _, title, _ in cases)
    return markdown(columns, rows(), 1)


def detection_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure how often each of `CHANGES` is found."""

    def rows() -> Iterator[Sequence[str]]:
        for change in CHANGES:
            for model in filter(change.is_possible, models):
                outcomes = outcomes_of(model, change, change.table, draw(model, USUAL, splits))
                yield (
                    *(change.text, change.table, model.name),
                    _share(one.found for one in outcomes),
                    _share(one.wrong > 0 for one in outcomes),
                )

    columns = "change", "table", "model", "found", "another row slower or faster"
    return markdown(columns, rows(), 3)


def real_change_table(_: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure verdicts on a real change: one convolution has a larger kernel."""
    changed, base = read_changed()
    row = rows_of(base, "operators")
    layer = np.array([base.names.index(LAYER)])
    both = base._replace(times_s=np.concatenate([changed.times_s, base.times_s], axis=1))

    def rows() -> Iterator[Sequence[str]]:
        generator = np.random.default_rng(SEED)
        for runs in (4, USUAL, 12):
            outcomes = []
            for _ in range(splits):
                ours, theirs = (generator.permutation(one.runs)[:runs] for one in (changed, base))
                operators = both.split(np.concatenate([ours, changed.runs + theirs]))
                outcomes.append(outcome(verdicts(operators, row), layer))
            found = _share(one.found for one in outcomes)
            yield str(runs), found, _share(one.share_wrong for one in outcomes)

    return markdown(("runs a side", "found", "wrong among slower or faster"), rows(), 1)


def smallest_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Find the smallest detectable slow-down of the whole model, and of its convolutions."""

    def rows() -> Iterator[Sequence[str]]:
        for model in models:
            for runs in SIZES_REPLACED:
                drawn = list(draw(model, runs, splits // 2, replace=True))
                yield (
                    *(model.name, str(runs)),
                    *(_smallest(model, change, drawn) for change in (WHOLE, CONVOLUTIONS)),
                )

    columns = "model", "runs a side", "whole model", "convolutions"
    return markdown(columns, rows(), 1)


def _smallest(model: Model, change: Change, drawn: list[OperatorTimes]) -> str:
    """Return the smallest detectable slow-down in `GRID`, by bisection."""
    if not change.is_possible(model):
        return "N/A"
    row = rows_of(model, change.table)

    def share_found(by: float) -> float:
        splits = changed_splits(model, change._replace(factor=1 + by), drawn)
        found = [
            outcome(verdicts(one, row), np.unique(row[chosen])).found for one, chosen in splits
        ]
        return float(np.mean(found))

    low, high = 0, len(GRID)
    while low < high:
        middle = (low + high) // 2
        if share_found(GRID[middle]) >= TARGET:
            high = middle
        else:
            low = middle + 1
    return f"{GRID[low]:.0%}" if low < len(GRID) else "not found"


def wrong_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure wrong rows if convolutions are 20 % slower, and if nothing changed."""
    slower = CONVOLUTIONS._replace(text="convolutions 20 % slower", factor=1.2)

    def rows() -> Iterator[Sequence[str]]:
        for change in (slower, NOTHING):
            for model in filter(change.is_possible, models):
                for table in ("kinds", "operators"):
                    outcomes = outcomes_of(model, change, table, draw(model, USUAL, splits))
                    found = "" if change is NOTHING else _share(one.found for one in outcomes)
                    wrong = _share(one.share_wrong for one in outcomes)
                    yield change.text, model.name, table, found, wrong

    columns = "change", "model", "table", "found", "wrong among slower or faster"
    return markdown(columns, rows(), 3)


def coverage_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure how often the interval of the total's ratio includes the true ratio.

    The last column has the share of intervals that end below the true ratio of 1.2.
    """

    def rows() -> Iterator[Sequence[str]]:
        for model in models:
            for runs in SIZES_REPLACED:
                shares = []
                for factor in (1.0, 1.2):
                    drawn = draw(model, runs, splits, replace=True)
                    low, high = _ends_of_total(model, drawn, factor)
                    shares.append((low <= factor) & (factor <= high))
                    if factor > 1:
                        shares.append(high < factor)
                yield model.name, str(runs), *map(_share, shares)

    columns = (
        *("model", "runs a side", "true ratio 1", "true ratio 1.2"),
        "1.2 is above the interval",
    )
    return markdown(columns, rows(), 1)


def _ends_of_total(model: Model, drawn: Iterable[OperatorTimes], factor: float) -> Floats:
    """Return the intervals if all operators are slower by a factor; shape (2, splits)."""
    row = rows_of(model, "total")
    splits = changed_splits(model, WHOLE._replace(factor=factor), drawn)
    return np.array([np.concatenate(intervals(one, row)) for one, _ in splits], np.float64).T


def mirror_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure how often swapped sides give the opposite verdicts and the inverse intervals."""

    def rows() -> Iterator[Sequence[str]]:
        for model in models:
            row = rows_of(model, "kinds")
            drawn = list(changed_splits(model, CONVOLUTIONS, draw(model, USUAL, splits)))
            # Shape (splits, 2, rows): verdicts come first, then intervals.
            mirrored = np.array([is_mirrored(operators, row) for operators, _ in drawn])
            yield model.name, *(_share(mirrored[:, part].ravel()) for part in (0, 1))

    return markdown(("model", "verdicts", "intervals"), rows(), 1)


def is_mirrored(operators: OperatorTimes, row: Integers) -> Flags:
    """Return whether swapped sides give opposite verdicts and inverse intervals.

    The shape is (2, rows): verdicts come first, then intervals.
    """
    opposite = swapped(operators)
    exchanged = {IS_SLOWER: IS_FASTER, IS_FASTER: IS_SLOWER}
    expected = [exchanged.get(code, code) for code in verdicts(operators, row).tolist()]
    (low, high), (other_low, other_high) = (intervals(one, row) for one in (operators, opposite))
    with np.errstate(divide="ignore"):  # an interval of a ratio may begin at 0
        ends, others = np.log([low, high]), -np.log([other_high, other_low])
    are_inverse = np.isclose(ends, others, equal_nan=True).all(axis=0)
    return np.array([verdicts(opposite, row) == expected, are_inverse])


def needed_table(models: Sequence[Model], splits: int) -> Iterator[str]:
    """Measure how often `runs_needed` runs settle an uncertain row."""

    def rows() -> Iterator[Sequence[str]]:
        for model in models:
            for change in (NOTHING, CONVOLUTIONS, WHOLE):
                if not change.is_possible(model):
                    continue
                yield change.text, change.table, model.name, *_of_needed(model, change, splits // 4)

    columns = (
        *("change", "table", "model", "uncertain rows"),
        *(f"rows that need at most {_MOST_DRAWN} runs", "their median `runs_needed`"),
        *("settled", "settled wrongly"),
    )
    return markdown(columns, rows(), 3)


def _of_needed(model: Model, change: Change, splits: int) -> Iterator[str]:
    row = rows_of(model, change.table)
    generator = np.random.default_rng(SEED)
    counts, settled, wrong, uncertain = [], [], [], 0
    for operators, chosen in changed_splits(model, change, draw(model, USUAL, splits)):
        true_codes = np.full(int(row.max()) + 1, IS_SAME)
        true_codes[np.unique(row[chosen])] = IS_SLOWER
        codes, needed = verdicts_and_needed(operators, row)
        uncertain += int((codes == IS_UNCERTAIN).sum())
        for index in np.flatnonzero(needed <= _MOST_DRAWN).tolist():
            runs = int(needed[index])
            more = model.split(generator.integers(model.runs, size=2 * runs))
            code = verdicts(slowed(more, chosen, change.factor), row)[index]
            counts.append(runs)
            settled.append(code != IS_UNCERTAIN)
            wrong.append(code not in (IS_UNCERTAIN, true_codes[index]))
    yield str(uncertain)
    yield str(len(counts))
    yield f"{np.median(counts):.0f}" if counts else "N/A"
    yield _share(settled)
    yield _share(wrong)

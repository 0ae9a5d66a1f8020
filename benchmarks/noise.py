"""Measures how often verdicts are wrong, on resampled real runs with and without a slow-down.

Prints the tables of docs/statistics.md, or updates them with `--write`. Takes about five minutes.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import stats

import profile_analyze as pa
from profile_analyze.analysis.drift import drift_factors
from profile_analyze.analysis.statistics import (
    FASTER,
    SIGNIFICANT,
    SLOWER,
    VERDICTS,
    adjusted,
    permutation_test,
    ratio_interval,
    verdict_codes,
)
from profile_analyze.model.comparison import COMPARISON_COLUMNS
from profile_analyze.model.numbers import quantile_of_runs, ratio, spread_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

ROOT: Final = Path(__file__).parent.parent
RUNS: Final = ROOT / "tests" / "fixtures" / "runs"
DOCUMENT: Final = ROOT / "docs" / "statistics.md"

SEED: Final = 1995
THRESHOLD: Final = 0.03
SIZES: Final = (4, 8, 16, 32)
FEWER_SIZES: Final = (4, 8, 16)
REAL_SIZES: Final = (4, 8, 12)
TARGET: Final = 0.9
"""The share of comparisons in which a slow-down must be found."""
QUIET: Final = 0.02
"""The spread of a simulated quiet machine."""
LAYER: Final = "conv(l.2.RELU[1],fuse[2186]@2187)[3348]"
GRID: Final = tuple(
    percent / 100 for percent in (*range(1, 21), *range(25, 51, 5), *range(60, 201, 10))
)


@dataclass(frozen=True)
class Data:
    """Seconds of both sides, shape (operators, runs), for the operators that have times."""

    base: Floats
    changed: Floats
    layer: int
    """The row of the convolution that was changed."""


@dataclass(frozen=True)
class Drawn:
    """Many comparisons: the times of both sides, each of shape (comparisons, rows, runs)."""

    new: Floats
    base: Floats

    def slowed(self, by: float, row: int | None = None) -> Drawn:
        """Return the comparisons with the new side, or one row of it, slowed by the share `by`."""
        new = self.new.copy()
        new[:, slice(None) if row is None else row] *= 1 + by
        return Drawn(new, self.base)

    def corrected(self) -> Drawn:
        """Return the comparisons after drift correction, each over the runs of both sides."""
        both = np.concatenate([self.new, self.base], axis=2)
        factors = np.array([drift_factors(one) for one in both])[:, np.newaxis]
        runs = self.new.shape[2]
        return Drawn(self.new / factors[..., :runs], self.base / factors[..., runs:])

    def totals(self) -> Drawn:
        """Return the comparisons of the totals, as tables of one row."""
        return Drawn(self.new.sum(axis=1, keepdims=True), self.base.sum(axis=1, keepdims=True))

    def row(self, row: int) -> Drawn:
        """Return the comparisons of a single row."""
        return Drawn(self.new[:, row : row + 1], self.base[:, row : row + 1])

    def ratios(self) -> Floats:
        """Return the ratios of the medians, shape (comparisons, rows)."""
        medians = [quantile_of_runs(_flat(side), 0.5) for side in (self.new, self.base)]
        return ratio(*medians).reshape(self.new.shape[:2])

    def p_values(self) -> Floats:
        """Return p before any correction, shape (comparisons, rows)."""
        found = permutation_test(_flat(self.new), _flat(self.base))
        return found.reshape(self.new.shape[:2])


@dataclass(frozen=True)
class Judged:
    """Comparisons without a change, and their results. Several tables use them."""

    tables: Drawn
    p_values: Floats
    is_change: Flags


def main() -> None:
    """Compute and print the tables, and update the document with `--write`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument("--comparisons", type=int, default=2000, help="how many of each kind")
    parser.add_argument(
        "--write", action="store_true", help=f"update the tables in {DOCUMENT.name}"
    )
    arguments = parser.parse_args()
    data = read()
    unchanged = {
        (runs, corrected): _unchanged(data, runs, arguments.comparisons, corrected=corrected)
        for runs in SIZES
        for corrected in (False, True)
    }
    for name, lines in _tables(data, unchanged, arguments.comparisons):
        text = "\n".join(lines)
        print(f"{_start(name)}\n{text}\n{_end(name)}\n", flush=True)
        if arguments.write:
            _put(name, text)


def read() -> Data:
    """Return the times of the operators that both sides have."""
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


def _tables(
    data: Data, unchanged: Mapping[tuple[int, bool], Judged], comparisons: int
) -> Iterator[tuple[str, Iterable[str]]]:
    yield "data", _data_table(data)
    yield "no change", _no_change_table(data, unchanged, comparisons)
    yield "total", _total_table(data, comparisons)
    yield "why", _why_table(data, comparisons)
    yield "layer", _layer_table(data, unchanged)
    yield "real change", _real_change_table(data, comparisons)
    yield "drift of the total", _drift_table(data, comparisons)


# --- the document


def _start(name: str) -> str:
    return f"<!-- measured: {name} -->"


def _end(name: str) -> str:
    return f"<!-- end: {name} -->"


def _put(name: str, text: str) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    pattern = re.escape(_start(name)) + ".*" + re.escape(_end(name))
    fresh = f"{_start(name)}\n\n{text}\n\n{_end(name)}"
    document, count = re.subn(pattern, lambda _: fresh, document, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{DOCUMENT.name} has the table {name!r} {count} times, not once")
    DOCUMENT.write_text(document, encoding="utf-8")


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a Markdown table whose first column is text."""
    yield f"| {' | '.join(columns)} |"
    yield f"|---|{'--:|' * (len(columns) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _share(flags: Flags | Floats) -> str:
    return f"{flags.mean():.1%}"


def _size(share: float | None) -> str:
    return "not found" if share is None else f"{share:.0%}"


def _correction(corrected: bool) -> str:  # noqa: FBT001  # a value of a table
    return "with" if corrected else "without"


# --- resampling and verdicts


def _flat(times: Floats) -> Floats:
    return times.reshape(-1, times.shape[2])


def _generator(*what: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *what])


def _drawn(new: Floats, base: Floats, runs: int, comparisons: int) -> Drawn:
    """Return comparisons of `runs` runs a side, drawn from each side with replacement."""
    generator = _generator(runs)
    chosen = [generator.integers(side.shape[1], size=(comparisons, runs)) for side in (new, base)]
    return Drawn(new[:, chosen[0]].swapaxes(0, 1), base[:, chosen[1]].swapaxes(0, 1))


def _halves(times: Floats, comparisons: int) -> Drawn:
    """Return comparisons of a random half of the runs with the other half."""
    half = times.shape[1] // 2
    shuffled = _shuffled(_generator(0), times, comparisons)
    return Drawn(shuffled[..., :half], shuffled[..., half : 2 * half])


def _subsets(new: Floats, base: Floats, runs: int, comparisons: int) -> Drawn:
    """Return comparisons of `runs` runs a side, drawn without replacement."""
    generator = _generator(runs, 1)
    drawn = [_shuffled(generator, side, comparisons)[..., :runs] for side in (new, base)]
    return Drawn(*drawn)


def _shuffled(generator: np.random.Generator, times: Floats, comparisons: int) -> Floats:
    """Return the runs in random orders, shape (comparisons, operators, runs)."""
    orders = generator.permuted(np.tile(np.arange(times.shape[1]), (comparisons, 1)), axis=1)
    return times[:, orders].swapaxes(0, 1)


def _codes(drawn: Drawn, p_values: Floats) -> NDArray[np.int64]:
    """Return the codes of the verdicts, shape (comparisons, rows).

    Each table is corrected for the number of its rows. Where p is too large for a change, the code
    is -1, which stands for both `same` and `uncertain`.
    """
    q = np.array([adjusted(one) for one in p_values])
    codes = _codes_of(_flat(drawn.new), _flat(drawn.base), q.ravel())
    return codes.reshape(q.shape)


def _codes_of(new: Floats, base: Floats, q: Floats) -> NDArray[np.int64]:
    """Return the codes, shape (rows,). Intervals are computed only where p allows a change."""
    rows = np.flatnonzero(q <= SIGNIFICANT)
    codes = np.full(len(q), -1)
    ratios = ratio(quantile_of_runs(new[rows], 0.5), quantile_of_runs(base[rows], 0.5))
    interval = ratio_interval(new[rows], base[rows])
    codes[rows] = verdict_codes(ratios, q[rows], interval, THRESHOLD)
    return codes


def _is_slower_or_faster(codes: NDArray[np.int64]) -> Flags:
    return np.isin(codes, [VERDICTS.index(SLOWER), VERDICTS.index(FASTER)])


def _reported_changes(drawn: Drawn, p_values: Floats) -> Flags:
    return _is_slower_or_faster(_codes(drawn, p_values))


def _unchanged(data: Data, runs: int, comparisons: int, *, corrected: bool) -> Judged:
    """Return comparisons of all operators, with both sides drawn from the baseline."""
    print(f"{runs} runs a side, {_correction(corrected)} correction ...", file=sys.stderr)
    tables = _drawn(data.base, data.base, runs, comparisons)
    judged = tables.corrected() if corrected else tables
    p_values = judged.p_values()
    return Judged(tables, p_values, _reported_changes(judged, p_values))


def _smallest(share_found: Callable[[float], float]) -> float | None:
    """Return the smallest slow-down of `GRID` that is found often enough, by bisection."""
    low, high = 0, len(GRID)
    while low < high:
        middle = (low + high) // 2
        if share_found(GRID[middle]) >= TARGET:
            high = middle
        else:
            low = middle + 1
    return GRID[low] if low < len(GRID) else None


# --- rules for the total: each returns whether the total is slower, and whether it is faster


def _by_verdict(tables: Drawn) -> tuple[Flags, Flags]:
    """Report a change by the verdict of `--compare`."""
    totals = tables.totals()
    codes = _codes(totals, totals.p_values())[:, 0]
    return codes == VERDICTS.index(SLOWER), codes == VERDICTS.index(FASTER)


def _by_means(tables: Drawn) -> tuple[Flags, Flags]:
    """Report a change if the ratio of the means is beyond the threshold."""
    totals = tables.totals()
    return _beyond(ratio(totals.new.mean(axis=2), totals.base.mean(axis=2))[:, 0])


def _by_operators(tables: Drawn) -> tuple[Flags, Flags]:
    """Apply Wilcoxon's signed-rank test to the operators of one run a side."""
    found = stats.wilcoxon(tables.new[..., 0], tables.base[..., 0], axis=1)
    unlikely = np.asarray(found.pvalue) <= SIGNIFICANT
    slower, faster = _beyond(tables.totals().ratios()[:, 0])
    return unlikely & slower, unlikely & faster


def _beyond(ratios: Floats) -> tuple[Flags, Flags]:
    return ratios >= 1 + THRESHOLD, ratios <= 1 / (1 + THRESHOLD)


@dataclass(frozen=True)
class Case:
    """A rule, and comparisons without a change to test it on."""

    rule: str
    runs: int
    judge: Callable[[Drawn], tuple[Flags, Flags]]
    tables: Drawn

    def false_alarms(self) -> Flags:
        """Return the comparisons in which the rule reports a change of the total."""
        slower, faster = self.judge(self.tables)
        return slower | faster

    def smallest(self) -> float | None:
        """Return the smallest slow-down of the total that is found in nine of ten comparisons."""
        return _smallest(lambda by: float(self.judge(self.tables.slowed(by))[0].mean()))


def _cases(times: Floats, comparisons: int) -> Iterator[Case]:
    for runs in SIZES:
        yield Case("the verdict", runs, _by_verdict, _drawn(times, times, runs, comparisons))
    for runs in SIZES:
        tables = _drawn(times, times, runs, comparisons)
        yield Case("means 3 % apart", runs, _by_means, tables)
    yield Case("operators of one run", 1, _by_operators, _pairs(times))


def _pairs(times: Floats) -> Drawn:
    """Return the comparisons of each run with each other run."""
    new, base = np.nonzero(~np.eye(times.shape[1], dtype=np.bool_))
    return Drawn(times[:, new].T[..., np.newaxis], times[:, base].T[..., np.newaxis])


# --- the tables


def _data_table(data: Data) -> Iterator[str]:
    def rows() -> Iterator[Sequence[str]]:
        for name, times in (("`base`", data.base), ("`changed`", data.changed)):
            totals = times.sum(axis=0)
            median, spread = np.median(totals), spread_of_runs(totals[np.newaxis])[0]
            extremes = [f"{end / median - 1:+.0%}" for end in (totals.min(), totals.max())]
            figures = f"{median * 1e3:.1f} ms", f"{2 * spread:.1%}", f"{spread:.1%}"
            yield name, str(len(totals)), *figures, *extremes

    return _table(
        (
            *("side", "runs", "median total", "interquartile range / median", "spread"),
            *("fastest run", "slowest run"),
        ),
        rows(),
    )


def _no_change_table(
    data: Data, unchanged: Mapping[tuple[int, bool], Judged], comparisons: int
) -> Iterator[str]:
    columns = ("rule", "runs a side", "comparisons", "false alarms: total")
    row_columns = ("tables", "false alarms: rows", "tables with a false alarm")

    def rows() -> Iterator[Sequence[str]]:
        for case in _cases(data.base, comparisons):
            alarms = case.false_alarms()
            figures = str(case.runs), str(len(alarms)), _share(alarms)
            is_ours = case.judge is _by_verdict
            of_rows = _alarms(unchanged[case.runs, False].is_change) if is_ours else ("", "", "")
            yield case.rule, *figures, *of_rows
        halves = _halves(data.base, comparisons)
        case = Case("the verdict, without replacement", halves.new.shape[2], _by_verdict, halves)
        alarms = case.false_alarms()
        figures = str(case.runs), str(len(alarms)), _share(alarms)
        yield case.rule, *figures, *_alarms(_reported_changes(halves, halves.p_values()))

    return _table((*columns, *row_columns), rows())


def _alarms(is_change: Flags) -> tuple[str, str, str]:
    """Return the cells for tables, the share of false alarms, and of tables with any of them."""
    return str(len(is_change)), f"{is_change.mean():.2%}", _share(is_change.max(axis=1))


def _total_table(data: Data, comparisons: int) -> Iterator[str]:
    noises = data.base, _quiet(data.base)

    def rows() -> Iterator[Sequence[str]]:
        for cases in zip(*(_cases(times, comparisons) for times in noises), strict=True):
            found = [
                text
                for case in cases
                for text in (_share(case.false_alarms()), _size(case.smallest()))
            ]
            yield cases[0].rule, str(cases[0].runs), *found

    measured, quiet = "as measured", f"spread {QUIET:.0%}"
    return _table(
        (
            *("rule", "runs a side"),
            *(f"{measured}: false alarms", f"{measured}: smallest detectable slow-down"),
            *(f"{quiet}: false alarms", f"{quiet}: smallest detectable slow-down"),
        ),
        rows(),
    )


def _quiet(times: Floats) -> Floats:
    """Return the times with each run scaled, so that the totals have a spread of `QUIET`."""
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


def _why_table(data: Data, comparisons: int) -> Iterator[str]:
    """Return how often each of the three conditions of a verdict holds."""

    def rows() -> Iterator[Sequence[str]]:
        for noise, times, by in (
            (f"spread {QUIET:.0%}", _quiet(data.base), 0.1),
            ("as measured", data.base, 0.3),
        ):
            for runs in FEWER_SIZES:
                tables = _drawn(times, times, runs, comparisons).totals().slowed(by)
                yield noise, _size(by), str(runs), *_conditions(tables)

    return _table(
        (
            *("noise", "slow-down", "runs a side", "verdict slower", "p at most 0.05"),
            *("interval above 1", "ratio at least 1.03", "p and ratio alone"),
        ),
        rows(),
    )


def _conditions(totals: Drawn) -> Iterator[str]:
    p = totals.p_values()
    unlikely = p[:, 0] <= SIGNIFICANT
    beyond, _ = _beyond(totals.ratios()[:, 0])
    above = ratio_interval(_flat(totals.new), _flat(totals.base)).low > 1
    slower = _codes(totals, p)[:, 0] == VERDICTS.index(SLOWER)
    return (_share(one) for one in (slower, unlikely, above, beyond, unlikely & beyond))


def _layer_table(data: Data, unchanged: Mapping[tuple[int, bool], Judged]) -> Iterator[str]:
    def rows() -> Iterator[Sequence[str]]:
        for (runs, corrected), judged in unchanged.items():
            smallest = _smallest_of_layer(judged, data.layer, corrected=corrected)
            figures = str(runs), _correction(corrected), *_alarms(judged.is_change)
            yield *figures, _size(smallest)

    return _table(
        (
            *("runs a side", "drift correction", "tables", "false alarms: rows"),
            *("tables with a false alarm", "smallest detectable slow-down"),
        ),
        rows(),
    )


def _smallest_of_layer(judged: Judged, layer: int, *, corrected: bool) -> float | None:
    """Return the smallest slow-down of one operator that is found in nine of ten tables.

    The p-values of the other operators are those without the slow-down.
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


def _real_change_table(data: Data, comparisons: int) -> Iterator[str]:
    """Return the changes reported for a model in which one convolution has a larger kernel."""

    def rows() -> Iterator[Sequence[str]]:
        for runs in REAL_SIZES:
            tables = _subsets(data.changed, data.base, runs, comparisons)
            for corrected in (False, True):
                yield str(runs), *_of_real_change(tables, data.layer, corrected=corrected)
        all_runs = Drawn(data.changed[np.newaxis], data.base[np.newaxis])
        for corrected in (False, True):
            found = _of_real_change(all_runs, data.layer, corrected=corrected)
            yield f"all {data.base.shape[1]}", *found

    return _table(
        (
            *("runs a side", "drift correction", "tables", "changed layer: verdict slower"),
            *("false alarms: other rows", "tables with a false alarm"),
            "false alarms among the reported changes",
        ),
        rows(),
    )


def _of_real_change(tables: Drawn, layer: int, *, corrected: bool) -> tuple[str, ...]:
    judged = tables.corrected() if corrected else tables
    codes = _codes(judged, judged.p_values())
    found = codes[:, layer] == VERDICTS.index(SLOWER)
    is_change = _is_slower_or_faster(codes)
    others = np.delete(is_change, layer, axis=1)
    share_of_others = others.sum(axis=1) / np.maximum(is_change.sum(axis=1), 1)
    count, *of_others = _alarms(others)
    return _correction(corrected), count, _share(found), *of_others, _share(share_of_others)


def _drift_table(data: Data, comparisons: int) -> Iterator[str]:
    """Return verdicts on the total under drift correction, without a change and with one."""

    def rows() -> Iterator[Sequence[str]]:
        for runs in FEWER_SIZES:
            tables = _drawn(data.base, data.base, runs, comparisons)
            slowed = tables.slowed(0.2)
            for corrected in (False, True):
                judged = [one.corrected() if corrected else one for one in (tables, slowed)]
                (slower, faster), (found, _) = map(_by_verdict, judged)
                ratios = float(np.median(judged[1].totals().ratios()))
                figures = _share(slower | faster), _share(found), f"{ratios:.3f}"
                yield str(runs), _correction(corrected), *figures

    return _table(
        (
            *("runs a side", "drift correction", "no change: false alarms"),
            *("all 20 % slower: verdict slower", "all 20 % slower: median ratio"),
        ),
        rows(),
    )


if __name__ == "__main__":
    main()

"""Measures how often verdicts are wrong, on resampled real runs with and without a slow-down.

Prints the tables of docs/statistics.md. With `--write`, also updates them in the document. Takes
about five minutes.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.noise_samples import (
    QUIET,
    Data,
    Drawn,
    Judged,
    draw_halves,
    draw_with_replacement,
    draw_without_replacement,
    flat_rows,
    read,
    with_quiet_noise,
)
from benchmarks.noise_verdicts import (
    SIZES,
    Case,
    beyond_threshold,
    by_verdict,
    correction_text,
    is_slower_or_faster,
    judge_unchanged,
    reported_changes,
    rule_cases,
    smallest_slow_down_of_layer,
    table_verdicts,
)
from profile_analyze.analysis.statistics import SIGNIFICANT, SLOWER, VERDICTS, ratio_interval
from profile_analyze.model.numbers import spread_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "statistics.md"
FEWER_SIZES: Final = (4, 8, 16)
REAL_SIZES: Final = (4, 8, 12)
"""The numbers of runs on each side. They are drawn without replacement from 24 real runs."""


def main() -> None:
    """Compute and print the tables. With `--write`, also update the document."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument("--comparisons", type=int, default=2000, help="how many of each kind")
    parser.add_argument(
        "--write", action="store_true", help=f"update the tables in {DOCUMENT.name}"
    )
    arguments = parser.parse_args()
    data = read()
    unchanged = {
        (runs, corrected): judge_unchanged(data, runs, arguments.comparisons, corrected=corrected)
        for runs in SIZES
        for corrected in (False, True)
    }
    for name, lines in _tables(data, unchanged, arguments.comparisons):
        text = "\n".join(lines)
        print(f"{_start(name)}\n{text}\n{_end(name)}\n", flush=True)
        if arguments.write:
            _put(name, text)


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
    """Yield the lines of a Markdown table. All columns after the first are right-aligned."""
    yield f"| {' | '.join(columns)} |"
    yield f"|---|{'--:|' * (len(columns) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _share(flags: Flags | Floats) -> str:
    return f"{flags.mean():.1%}"


def _size(share: float | None) -> str:
    return "not found" if share is None else f"{share:.0%}"


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
        for case in rule_cases(data.base, comparisons):
            alarms = case.false_alarms()
            figures = str(case.runs), str(len(alarms)), _share(alarms)
            is_ours = case.judge is by_verdict
            of_rows = _alarms(unchanged[case.runs, False].is_change) if is_ours else ("", "", "")
            yield case.rule, *figures, *of_rows
        halves = draw_halves(data.base, comparisons)
        case = Case("the verdict, without replacement", halves.new.shape[2], by_verdict, halves)
        alarms = case.false_alarms()
        figures = str(case.runs), str(len(alarms)), _share(alarms)
        yield case.rule, *figures, *_alarms(reported_changes(halves, halves.p_values()))

    return _table((*columns, *row_columns), rows())


def _alarms(is_change: Flags) -> tuple[str, str, str]:
    """Return three cells. `is_change`, of shape (tables, rows), says which rows are false alarms.

    The cells are the number of tables, the share of rows that are false alarms, and the share of
    tables with at least one false alarm.
    """
    return str(len(is_change)), f"{is_change.mean():.2%}", _share(is_change.max(axis=1))


def _total_table(data: Data, comparisons: int) -> Iterator[str]:
    noises = data.base, with_quiet_noise(data.base)

    def rows() -> Iterator[Sequence[str]]:
        for cases in zip(*(rule_cases(times, comparisons) for times in noises), strict=True):
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


def _why_table(data: Data, comparisons: int) -> Iterator[str]:
    """Return a table of how often each of the three conditions of a verdict holds."""

    def rows() -> Iterator[Sequence[str]]:
        for noise, times, by in (
            (f"spread {QUIET:.0%}", with_quiet_noise(data.base), 0.1),
            ("as measured", data.base, 0.3),
        ):
            for runs in FEWER_SIZES:
                tables = draw_with_replacement(times, times, runs, comparisons).totals().slowed(by)
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
    beyond, _ = beyond_threshold(totals.ratios()[:, 0])
    above = ratio_interval(flat_rows(totals.new), flat_rows(totals.base)).low > 1
    slower = table_verdicts(totals, p)[:, 0] == VERDICTS.index(SLOWER)
    return (_share(one) for one in (slower, unlikely, above, beyond, unlikely & beyond))


def _layer_table(data: Data, unchanged: Mapping[tuple[int, bool], Judged]) -> Iterator[str]:
    def rows() -> Iterator[Sequence[str]]:
        for (runs, corrected), judged in unchanged.items():
            smallest = smallest_slow_down_of_layer(judged, data.layer, corrected=corrected)
            figures = str(runs), correction_text(corrected), *_alarms(judged.is_change)
            yield *figures, _size(smallest)

    return _table(
        (
            *("runs a side", "drift correction", "tables", "false alarms: rows"),
            *("tables with a false alarm", "smallest detectable slow-down"),
        ),
        rows(),
    )


def _real_change_table(data: Data, comparisons: int) -> Iterator[str]:
    """Return a table of verdicts on a real change: one convolution has a larger kernel."""

    def rows() -> Iterator[Sequence[str]]:
        for runs in REAL_SIZES:
            tables = draw_without_replacement(data.changed, data.base, runs, comparisons)
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
    codes = table_verdicts(judged, judged.p_values())
    found = codes[:, layer] == VERDICTS.index(SLOWER)
    is_change = is_slower_or_faster(codes)
    others = np.delete(is_change, layer, axis=1)
    share_of_others = others.sum(axis=1) / np.maximum(is_change.sum(axis=1), 1)
    count, *of_others = _alarms(others)
    return correction_text(corrected), count, _share(found), *of_others, _share(share_of_others)


def _drift_table(data: Data, comparisons: int) -> Iterator[str]:
    """Return a table of verdicts on the total, with and without drift correction.

    Each row compares unchanged runs, and runs in which all operators are 20 % slower.
    """

    def rows() -> Iterator[Sequence[str]]:
        for runs in FEWER_SIZES:
            tables = draw_with_replacement(data.base, data.base, runs, comparisons)
            slowed = tables.slowed(0.2)
            for corrected in (False, True):
                judged = [one.corrected() if corrected else one for one in (tables, slowed)]
                (slower, faster), (found, _) = map(by_verdict, judged)
                ratios = float(np.median(judged[1].totals().ratios()))
                figures = _share(slower | faster), _share(found), f"{ratios:.3f}"
                yield str(runs), correction_text(corrected), *figures

    return _table(
        (
            *("runs a side", "drift correction", "no change: false alarms"),
            *("all 20 % slower: verdict slower", "all 20 % slower: median ratio"),
        ),
        rows(),
    )


if __name__ == "__main__":
    main()

"""The script behind docs/statistics.md judges as the command does, and its results are on the page."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from benchmarks import noise, noise_tables
from benchmarks.noise_changes import outcome
from benchmarks.noise_samples import (
    Model,
    draw,
    fixture,
    read_changed,
    read_fixtures,
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
from profile_analyze.comparison.row_tests import OperatorTimes
from profile_analyze.comparison.statistics import VERDICTS
from tests.small import Operator, document

if TYPE_CHECKING:
    from pathlib import Path

PAGE = noise.DOCUMENT.read_text(encoding="utf-8")
SMALL = Model(
    name="small",
    times_s=np.array([[3.0, 4.0, 5.0, 6.0], [9.0, 8.0, 7.0, 6.0], [1.0, 1.0, 1.0, 1.0]]),
    names=("a", "b", "c"),
    types=np.array([2, 0, 2]),
    type_names=("Conv", "Unused", "Relu"),
    categories=np.array([1, 0, 1]),
    category_names=("convolution", "elementwise"),
)
HALVES = OperatorTimes(SMALL.times_s, 2, SMALL.categories)


@pytest.fixture(scope="module")
def models() -> tuple[Model, Model]:
    return read_fixtures()


def measured(name: str) -> list[str]:
    """Return the lines of a table of the page."""
    found = re.findall(
        f"<!-- measured: {name} -->\n\n(.*?)\n\n<!-- end: {name} -->", PAGE, re.DOTALL
    )
    assert len(found) == 1, f"the page has the table {name} {len(found)} times"
    return str(found[0]).splitlines()


def test_the_page_has_each_table_once() -> None:
    assert re.findall("<!-- measured: (.*) -->", PAGE) == list(noise.TABLES)


def labels(lines: list[str]) -> list[str]:
    """Return the heading, the alignment, and the left-aligned cells of each row."""
    texts = lines[1].split("|").count("---")
    return [*lines[:2], *("|".join(line.split("|")[: texts + 1]) for line in lines[2:])]


@pytest.mark.slowest
@pytest.mark.parametrize("name", noise.TABLES)
def test_the_page_has_the_tables_of_the_script(name: str, models: tuple[Model, Model]) -> None:
    # The labels do not depend on the number of splits.
    assert labels(measured(name)) == labels(list(noise.TABLES[name](models, 4)))


def test_the_data_on_the_page_are_current(models: tuple[Model, Model]) -> None:
    assert measured("data") == list(noise_tables.data_table(models, 0))


def test_the_rates_in_the_conclusions_are_in_the_tables() -> None:
    conclusions = PAGE.partition("## Conclusions")[2].partition("\n## ")[0]
    rates = re.findall(r"([0-9]+\.[0-9]) %", conclusions)
    assert len(rates) > 10
    cells = {cell.strip() for name in noise.TABLES for cell in "|".join(measured(name)).split("|")}
    assert [rate for rate in rates if f"{rate}%" not in cells] == []


@pytest.mark.slowest
def test_the_script_judges_as_the_command_does() -> None:
    """The script ignores work: where the command says `more work`, the script says `slower`."""
    changed, base = read_changed()
    both = base._replace(times_s=np.concatenate([changed.times_s, base.times_s], axis=1))
    operators = both.split(np.concatenate([np.arange(8), changed.runs + np.arange(8)]))
    candidate, baseline = (
        pa.load_runs([str(path) for path in fixture(name)[:8]]) for name in ("changed", "base")
    )
    comparison = pa.compare(candidate, baseline)
    found = Counter[str]()
    for table, key, query in (
        ("operators", "name", pa.Query(compared=True)),
        ("kinds", "type", pa.Query(compared=True, by="type")),
        ("total", "", pa.Query(compared=True, aggregates="sum")),
    ):
        row = rows_of(both, table)
        codes, needed = verdicts_and_needed(operators, row)
        first = [int(np.flatnonzero(row == index)[0]) for index in range(len(codes))]
        keys = {
            "name": [both.names[index] for index in first],
            "type": [both.type_names[both.types[index]] for index in first],
            "": [None],
        }[key]
        expected = {
            one.get(key): (one["verdict"].replace("more work", "slower"), one["runs_needed"])
            for one in pa.run(query, comparison).rows
        }
        assert expected == {
            key: (VERDICTS[code], None if np.isnan(runs) else runs)
            for key, code, runs in zip(keys, codes.tolist(), needed.tolist(), strict=True)
        }
        found.update(verdict for verdict, _ in expected.values())
    assert found.keys() >= {"slower", "uncertain"}


def test_means_are_judged_without_a_test() -> None:
    # a: 3.5 against 5.5, b: 8.5 against 6.5, c: 1 against 1
    codes = by_means(HALVES, rows_of(SMALL, "operators"))
    assert codes.tolist() == [IS_FASTER, IS_SLOWER, IS_UNCERTAIN]


def test_rows_are_operators_types_or_all() -> None:
    assert rows_of(SMALL, "operators").tolist() == [0, 1, 2]
    assert rows_of(SMALL, "kinds").tolist() == [1, 0, 1]  # `Unused` has no row
    assert rows_of(SMALL, "total").tolist() == [0, 0, 0]


def test_a_model_knows_its_slowest_kind_and_operator() -> None:
    two_types = SMALL._replace(types=np.array([2, 0, 1]))
    assert two_types.kind("elementwise").tolist() == [True, False, False]
    assert SMALL.kind("elementwise").tolist() == [True, False, True]
    assert SMALL.longest("elementwise").tolist() == [True, False, False]
    assert SMALL.kind("matmul").tolist() == SMALL.longest("matmul").tolist() == [False] * 3


def test_draws_are_the_same_each_time_and_use_each_run_once() -> None:
    first, second = (
        [one.times_s.tolist() for one in draw(SMALL, 2, 5)],
        [one.times_s.tolist() for one in draw(SMALL, 2, 5)],
    )
    assert first == second
    assert all(sorted(a) == [3.0, 4.0, 5.0, 6.0] for a, _, _ in first)
    assert len({tuple(a) for a, _, _ in first}) > 1
    (replaced,) = draw(SMALL, 3, 1, replace=True)
    assert (replaced.runs, replaced.times_s.shape) == (3, (3, 6))


def test_slowed_changes_the_candidate_and_swapped_exchanges_the_sides() -> None:
    slower = slowed(HALVES, SMALL.only(0), 2.0)
    assert slower.times_s.tolist() == [[6, 8, 5, 6], [9, 8, 7, 6], [1, 1, 1, 1]]
    assert swapped(slower).times_s.tolist() == [[5, 6, 6, 8], [7, 6, 9, 8], [1, 1, 1, 1]]


def test_an_outcome_counts_rows_that_are_found_and_wrong() -> None:
    codes = np.array([IS_SLOWER, IS_UNCERTAIN, IS_FASTER, IS_SAME, IS_SLOWER])
    # Rows 0, 1 and 2 became slower. Row 0 is found. The verdicts on rows 2 and 4 are wrong.
    result = outcome(codes, np.array([0, 1, 2]))
    assert (result.found, result.slower_or_faster, result.wrong) == (1 / 3, 3, 2)
    assert result.share_wrong == 2 / 3
    assert outcome(codes[[1, 3]], np.array([], np.int64)).share_wrong == 0


def test_a_large_change_is_found() -> None:
    noisy = np.random.default_rng(1).normal(1, 0.01, size=(12, 16)) * np.arange(1, 13)[:, None]
    operators = OperatorTimes(noisy, 8, np.arange(12) % 4)
    slower = slowed(operators, np.arange(12) == 5, 2.0)
    codes = verdicts(slower, np.arange(12))
    assert np.flatnonzero(codes == IS_SLOWER).tolist() == [5]
    assert IS_FASTER not in codes
    low, high = intervals(slower, np.arange(12))
    assert 1.9 < low[5] < 2 < high[5] < 2.1


def test_swapped_sides_mirror_verdicts_and_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    times_s = np.concatenate([np.full((1, 8), 2.0), np.full((1, 8), 1.0)], axis=1)
    times_s = times_s * np.random.default_rng(1).normal(1, 0.01, size=(1, 16))
    operators, row = OperatorTimes(times_s, 8, np.array([0])), np.array([0])
    assert verdicts(operators, row).tolist() == [IS_SLOWER]
    assert noise_tables.is_mirrored(operators, row).tolist() == [[True], [True]]
    # If both orders of the sides get the same verdict and interval, neither is mirrored.
    monkeypatch.setattr(noise_tables, "verdicts", lambda _, row: np.full(len(row), IS_SLOWER))
    same = np.array([1.5]), np.array([2.0])
    monkeypatch.setattr(noise_tables, "intervals", lambda *_: same)
    assert noise_tables.is_mirrored(operators, row).tolist() == [[False], [False]]


def runs_in(folder: Path, count: int) -> str:
    folder.mkdir()
    for run in range(count):
        times_us = 100.0 + run, 50.0, 20.0
        operators = [Operator(f"op{one}", "Relu", time) for one, time in enumerate(times_us)]
        (folder / f"{run:02}.json").write_text(json.dumps(document(operators)))
    return str(folder)


DATA = """<!-- measured: data -->
| model | operators | runs | median total | spread | fastest run | slowest run |
|---|--:|--:|--:|--:|--:|--:|
| mine | 3 | 16 | 0.2 ms | 2.1% | -4% | +4% |
<!-- end: data -->

"""


def test_own_runs_can_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise.main(["--runs", runs_in(tmp_path / "mine", 16), "--splits", "2", "--only", "data"])
    assert capsys.readouterr() == (DATA, "data ...\n")


@pytest.mark.slowest
def test_own_runs_get_every_table_except_the_real_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise.main(["--runs", runs_in(tmp_path / "mine", 16), "--splits", "2"])
    found = re.findall("<!-- measured: (.*) -->", capsys.readouterr().out)
    assert found == [name for name in noise.TABLES if name != noise.OF_FIXTURES]


def test_too_few_runs_and_no_folder_are_errors(tmp_path: Path) -> None:
    folder = runs_in(tmp_path / "mine", 15)
    with pytest.raises(SystemExit, match=r"mine has 15 runs; record at least 16, each in a"):
        noise.main(["--runs", folder])
    with pytest.raises(SystemExit, match=r"nowhere is not a folder; give a folder with profiles"):
        noise.main(["--runs", str(tmp_path / "nowhere")])


@pytest.mark.slowest
def test_write_updates_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- measured: data -->\n\nold\n\n<!-- end: data -->\n\nafter\n")
    monkeypatch.setattr(noise, "DOCUMENT", page)
    noise.main(["--write", "--only", "data"])
    table = "\n".join(measured("data"))
    assert page.read_text() == (
        f"before\n\n<!-- measured: data -->\n\n{table}\n\n<!-- end: data -->\n\nafter\n"
    )
    page.write_text("no table\n")
    with pytest.raises(SystemExit, match="has the table 'data' 0 times, not once"):
        noise.main(["--write", "--only", "data"])
    capsys.readouterr()

"""Several runs of one model: statistics over runs, groups, keys and notes."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.findings import Finding, Kind, Subject
from profile_analyze.model.joining.identity import in_order_of_execution
from profile_analyze.model.joining.runs import RunJoiner
from profile_analyze.model.numbers import over_runs, quantile_of_runs, spread_of_runs
from tests.conftest import PROFILES, run_command
from tests.findings.found import said
from tests.readers.timed_runs import near, runs, us
from tests.small import (
    Operator,
    document,
    joined_at_once,
    profile_of,
    runs_of,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")


VALUES = np.array([[4.0, 1.0, nan, 3.0], [nan, nan, nan, nan], [nan, 2.0, nan, nan]])


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("median", [3.0, nan, 2.0]),
        ("mean", [8 / 3, nan, 2.0]),
        ("min", [1.0, nan, 2.0]),
        ("max", [4.0, nan, 2.0]),
    ],
)
def test_statistics_of_runs_leave_out_unknown_values(statistic: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(over_runs(VALUES, statistic), expected)


def test_quantiles_and_spread_of_runs_leave_out_unknown_values() -> None:
    np.testing.assert_array_equal(quantile_of_runs(VALUES, 0.25), [2.0, nan, 2.0])
    np.testing.assert_allclose(spread_of_runs(VALUES), [0.25, nan, nan])
    many = np.array([np.random.default_rng(0).random(11)])
    for share in (0.0, 0.1, 0.5, 0.77, 1.0):
        assert quantile_of_runs(many, share)[0] == pytest.approx(np.quantile(many, share))


def test_group_times_are_computed_per_run() -> None:
    profile = runs((10, 1), (1, 10), (1, 1))
    rows = pa.run(pa.Query(order="+id"), profile).rows
    names = ("name", "time", "runs", "time_min", "time_max", "spread", "share")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("conv", us(1), 3, us(1), us(10), near(2.25), near(1 / 11)),  # 1 of 11 us
        ("relu", us(1), 3, us(1), us(10), near(2.25), near(1 / 11)),
    ]
    (whole,) = pa.run(pa.Query(aggregates="sum,max,count"), profile).rows
    assert whole["time"] == us(11)  # the median of 11, 11 and 2
    assert (whole["time_min"], whole["time_max"]) == (us(2), us(11))
    assert (whole["time.max"], whole["time.count"]) == (us(10), 2)
    assert whole["share"] == near(1.0)
    shown = pa.run(pa.Query(), profile)
    assert shown["cumulative_time"].tolist() == [us(1), us(2)]
    assert shown["cumulative_share"].tolist() == [near(1 / 11), near(2 / 11)]
    summary = pa.summarise(profile)
    assert (summary.device_time_s, summary.runs) == (us(11), 3)
    assert summary.spread.value == near((11 - 6.5) / 2 / 11)


@pytest.mark.parametrize(
    ("statistic", "time", "total"),
    [("mean", 4.0, 8.0), ("min", 1.0, 2.0), ("max", 10.0, 11.0)],
)
def test_a_run_statistic_decides_the_times_of_rows_and_the_total(
    statistic: str, time: float, total: float
) -> None:
    profile = runs((10, 1), (1, 10), (1, 1))
    query = pa.Query(run_statistic=statistic)
    assert pa.run(query, profile)["time"].tolist() == [us(time), us(time)]
    assert pa.summarise(profile, judged_by=query).device_time_s == us(total)


def test_an_operator_that_some_runs_lack_is_kept() -> None:
    one = profile_of([Operator("conv", "Conv", 10), Operator("relu", "Relu", 1)], "1.json")
    two = profile_of(
        [Operator("conv", "Conv", 20), Operator("relu", "Relu", 3), Operator("add", "Add", 5)],
        "2.json",
    )
    profile = pa.join_runs([one, two])
    assert said(profile.notes_on_runs) == ("1 of 3 operators are in only some of the 2 runs",)
    rows = pa.run(pa.Query(order="+name"), profile).rows
    assert [(row["name"], row["time"], row["runs"]) for row in rows] == [
        ("add", us(5), 1),
        ("conv", us(15), 2),
        ("relu", us(2), 2),
    ]
    assert (profile.file, profile.processes) == ("2 files", ("1.json", "2.json"))
    assert len(profile.runs) == 2


def test_operators_with_different_shapes_have_rows_of_their_own_but_may_be_of_one_model() -> None:
    one = profile_of([Operator("conv", "Conv", 10, shape=[1])], "1.json")
    two = profile_of([Operator("conv", "Conv", 20, shape=[2])], "2.json")
    assert said(pa.join_runs([one, two]).notes_on_runs) == (
        "2 of 2 operators are in only some of the 2 runs",
    )
    other = profile_of([Operator("pool", "Pool", 20, shape=[2])], "3.json")
    assert said(pa.join_runs([one, other]).notes_on_runs) == (
        "none of 2 operators are in all 2 runs: these look like different models, so the totals "
        "make no sense; --aggregate-by file shows each file on its own",
    )


def test_the_note_on_different_models_comes_first() -> None:
    files = [str(PROFILES / name) for name in ("trace-dyn.json", "resnet18.json")]
    outcome = run_command(*files, "-t", "1", "--print-only", "device")
    assert outcome.err.splitlines()[0] == (
        "note: only 2 of 113 operators are in all 2 runs: these look like different models, so the "
        "totals make no sense; --aggregate-by file shows each file on its own"
    )


@pytest.mark.parametrize(
    ("files", "what"),
    [
        (("trace-dyn.json", "resnet18.json"), "different models"),
        (("resnet18.json", "../tensorrt/net.profile.json"), "different kinds of file"),
    ],
)
def test_the_summary_says_that_totals_of_different_models_make_no_sense(
    files: tuple[str, ...], what: str
) -> None:
    paths = [str(PROFILES / name) for name in files]
    outcome = run_command(*paths, "--print-only", "summary", "--format", "plain")
    runs = next(line for line in outcome.out.splitlines() if line.startswith("runs "))
    assert runs.endswith(f"%); these look like {what}, so the totals make no sense")
    same = run_command(paths[0], paths[0], "--print-only", "summary", "--format", "plain")
    assert "these look like" not in same.out


def test_a_repeated_operator_has_its_own_row(tmp_path: Path) -> None:
    once, twice = [Operator("a", "A", 5.0)], [Operator("a", "A", 1.0), Operator("a", "A", 2.0, 1.0)]
    files = [written(tmp_path / "1.json", once), written(tmp_path / "2.json", twice)]
    one_by_one = pa.join_runs(map(pa.load, files))
    for profile in (one_by_one, pa.load_runs(files)):
        np.testing.assert_allclose(profile.measured("time"), [[5e-6, 1e-6], [nan, 2e-6]])


def test_a_time_may_be_missing_in_one_run() -> None:
    profile = runs((10, 1), (None, 3))
    rows = pa.run(pa.Query(order="+id"), profile).rows
    assert [(row["time"], row["runs"]) for row in rows] == [(us(10), 1), (us(2), 2)]


def test_joining_one_profile_changes_nothing() -> None:
    alone = pa.join_runs([pa.load(TINY)])
    assert (alone.file, alone.processes) == (TINY, (TINY,))
    assert pa.run(pa.Query(), alone).rows == pa.run(pa.Query(), pa.load(TINY)).rows


def test_a_total_over_runs_is_the_median_unless_asked_otherwise() -> None:
    profile = runs_of("a", [1.0, 2.0, 9.0])
    assert profile.total_s() == pytest.approx(2e-6)
    assert profile.total_s(run_statistic="mean") == pytest.approx(4e-6)


def test_notes_name_their_files() -> None:
    broken = Operator("relu", "Relu", -1)
    conv = Operator("conv", "Conv", 1)
    note = Finding.of("untimed-executions", Kind.INCOMPLETE, operators=1, side="device")
    good, bad = profile_of([conv, Operator("relu", "Relu", 1)], "good"), [conv, broken]
    some = pa.join_runs([good, profile_of(bad, "b"), profile_of(bad, "c"), profile_of(bad, "d")])
    assert some.notes == (note.about(Subject("files", "b", 3)),)
    assert pa.join_runs([good, profile_of(bad, "b")]).notes == (note.about(Subject("files", "b")),)
    assert pa.join_runs([profile_of(bad, "a"), profile_of(bad, "b")]).notes == (
        note.about(Subject("each file", files=2)),
    )


def test_grouping_by_run_keeps_the_notes_on_files(tmp_path: Path) -> None:
    good = written(tmp_path / "1.json", [Operator("a", "A", 1.0)])
    odd = written(tmp_path / "2.json", [Operator("a", "A", -1.0)])
    outcome = run_command(good, odd, "--aggregate-by", "run", "--format", "plain")
    assert "2.json: the device time of 1 operator is N/A" in outcome.err


def disagree_on(operators: str) -> str:
    return (
        f"the runs disagree on computation or memory of {operators}, and the first known value is "
        "used; if the runs differ in dtype, batch size or model, name those of one kind after "
        "--compare"
    )


def test_runs_that_disagree_on_work_are_noted() -> None:
    one = pa.load(TINY)
    doubled = pa.load(TINY)
    other = doubled.changed(
        operators=replace(doubled.operators, memory=doubled.operators.memory * 2),
        file="other.json",
        processes=("other.json",),
    )
    joined = pa.join_runs([one, other])
    assert joined.operators.memory.tolist() == one.operators.memory.tolist()
    assert said(joined.notes_on_runs) == (
        "probably copies: 1 file with exactly the times of another; totals count copies, verdicts "
        "do not; name each run once",
        disagree_on("2 operators"),
    )


def test_joining_loads_no_dtypes() -> None:
    joined = pa.load_runs([TINY, str(PROFILES / "smallcnn.json")], wanted=frozenset())
    assert joined.operators.state("compute_dtype") == "not loaded"


def with_work(*amounts: tuple[int, int]) -> list[dict[str, Any]]:
    """Return documents of one operator, each with an amount of computation and memory."""
    return [document([Operator("a", "A", index, work=one)]) for index, one in enumerate(amounts, 1)]


def test_the_first_known_work_is_used() -> None:
    profile = joined_at_once(with_work((5, 50), (7, 50), (5, 60)))
    assert (profile.operators.computation.tolist(), profile.operators.memory.tolist()) == (
        [5],
        [50],
    )
    assert said(profile.notes_on_runs) == (disagree_on("1 operator"),)
    unknown = with_work((0, 50), (7, 50), (7, 50))  # 0 means that the writer has no formula
    profile = joined_at_once(unknown)
    assert (profile.operators.computation.tolist(), profile.notes_on_runs) == ([7], ())


def test_profiles_without_times_do_not_count_as_copies() -> None:
    empty = [profile_of([], "a"), profile_of([], "b")]
    assert said(pa.join_runs(empty).notes_on_runs) == ()


def test_files_and_runs_are_group_keys() -> None:
    profile = runs((10, 1), (1, 10), (1, 1))
    rows = pa.run(pa.Query(by="file"), profile).rows
    assert [(row["file"], row["time"], row["share"]) for row in rows] == [
        ("0.json", us(11), near(11 / 24)),
        ("1.json", us(11), near(11 / 24)),
        ("2.json", us(2), near(2 / 24)),
    ]
    rows = pa.run(pa.Query(by="run,type", order="+run,+type", where="run != 2"), profile).rows
    assert [(row["run"], row["type"], row["time"]) for row in rows] == [
        (1, "Conv", us(10)),
        (1, "Relu", us(1)),
        (3, "Conv", us(1)),
        (3, "Relu", us(1)),
    ]
    split_rows = pa.run(pa.Query(split_by="run", order="+run"), profile)
    assert split_rows["run"].tolist() == [1, 1, 2, 2, 3, 3]
    assert "file" in split_rows.columns
    with pytest.raises(pa.QueryError, match="rows are not split by run; group by run"):
        _ = pa.run(pa.Query(), profile)["run"]
    assert said(pa.run(pa.Query(by="run"), profile).notes) == (
        "rows are split by run: shares are relative to the total of all 3 runs",
    )


def test_parts_of_file_names_can_be_group_keys() -> None:
    profile = runs((10, 1), (1, 10), (1, 1))
    rows = pa.run(pa.Query(by=r"file~(\d)", order=r"+file~(\d)"), profile).rows
    assert [row["time"] for row in rows] == [us(11), us(11), us(2)]
    with pytest.raises(pa.QueryError, match=r"rows are not split by file~\(\\d\); group by file"):
        _ = pa.run(pa.Query(), profile)[r"file~(\d)"]
    with pytest.raises(pa.QueryError, match="needs a profile to compare with"):
        pa.Query(by="match~x")
    with pytest.raises(pa.QueryError, match="needs the peak rates of a device"):
        pa.Query(by="bound~mem")


def test_run_and_file_can_be_shown_as_columns(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    outcome = run_command(*files, "--columns", "run,file,time", "--format", "csv", "-t", "0")
    assert outcome.out == f"run,file,time_s\r\n2,{files[1]},2e-6\r\n1,{files[0]},1e-6\r\n"


def test_csv_of_several_runs_has_the_column_spread(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.json", [Operator("a", "A", n)]) for n in (1.0, 2.0)]
    of_runs = run_command(*files, "--format", "csv").out.splitlines()[0].split(",")
    of_one = run_command(files[0], "--format", "csv").out.splitlines()[0].split(",")
    assert [name for name in of_runs if name not in of_one] == ["spread"]


def test_rates_of_groups_use_sums_of_the_same_run() -> None:
    def run_of(*names: str) -> pa.Profile:
        return profile_of([Operator(name, "Conv", 1e6, work=(10, 20)) for name in names], names[-1])

    profile = pa.join_runs([run_of("a"), run_of("a"), run_of("a", "b")])
    peaks = pa.parse_peaks("20FLOPS:1000B/s")
    for query in (pa.Query(by="type", peaks=peaks), pa.Query(by="name", peaks=peaks)):
        for row in pa.run(query, profile).rows:
            assert (row["flops"], row["bandwidth"]) == (near(10), near(20))
            assert row["efficiency"] == near(0.5)
    for statistic in ("min", "max", "mean"):
        (row,) = pa.run(pa.Query(by="type", run_statistic=statistic), profile).rows
        assert row["flops"] == near(10)


def test_the_first_run_decides_the_order_of_execution(tmp_path: Path) -> None:
    times = ((1.0, 1.0), (2.0, 5.0)), ((8.0, 9.0), (4.0, 0.0))
    files = [
        written(
            tmp_path / f"{index}.json",
            [Operator(name, "A", us, start=at) for name, (us, at) in zip("ab", run, strict=True)],
        )
        for index, run in enumerate(times)
    ]
    profile = pa.load_runs(files)
    assert in_order_of_execution(profile).tolist() == [0, 1]


def test_concatenated_columns_have_only_used_categories() -> None:
    one = Categorical(np.array([1, -1]), ("unused", "a"))
    two = Categorical(np.array([0, 1]), ("b", "a"))
    joined = Categorical.concatenated([one, two])
    assert joined.categories == ("a", "b")
    assert joined.values().tolist() == ["a", None, "b", "a"]
    empty: Categorical[Any] = Categorical.concatenated([])
    assert len(empty) == 0


def test_merged_partial_results_equal_a_single_join() -> None:
    profiles = [runs((10, 1), (20, None)), pa.load(TINY), runs((5, 5))]
    whole, first, rest = RunJoiner(), RunJoiner(), RunJoiner()
    for profile in profiles:
        whole.add(profile)
    first.add(profiles[0])
    for profile in profiles[1:]:
        rest.add(profile)
    partial = rest.partial()
    assert partial is not None
    first.merge(partial)
    assert RunJoiner().partial() is None
    query = pa.Query(order="+name")
    assert pa.run(query, first.joined()).rows == pa.run(query, whole.joined()).rows
    assert first.joined().notes_on_runs == whole.joined().notes_on_runs

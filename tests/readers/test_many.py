"""Several files as runs of one model: what is joined, what is shown, and what is said of it."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
from dataclasses import replace
from math import nan
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.analysis.drift import drift_factors, without_drift
from profile_analyze.cli.progress import Progress
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.identity import in_order_of_execution
from profile_analyze.model.numbers import over_runs, quantile_of_runs, spread_of_runs
from profile_analyze.readers import many
from profile_analyze.readers.paths import files_in
from profile_analyze.readers.source import Source
from tests.conftest import PROFILES, run_command
from tests.small import (
    Operator,
    document,
    joined_at_once,
    profile_of,
    profile_of_document,
    runs_of,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable

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
def test_the_statistics_of_runs(statistic: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(over_runs(VALUES, statistic), expected)


def test_quantiles_and_spread_of_runs() -> None:
    np.testing.assert_array_equal(quantile_of_runs(VALUES, 0.25), [2.0, nan, 2.0])
    np.testing.assert_allclose(spread_of_runs(VALUES), [0.25, nan, nan])
    many = np.array([np.random.default_rng(0).random(11)])
    for share in (0.0, 0.1, 0.5, 0.77, 1.0):
        assert quantile_of_runs(many, share)[0] == pytest.approx(np.quantile(many, share))


def runs(*times: tuple[float | None, float | None]) -> pa.Profile:
    """Runs of two operators, conv and relu."""
    return pa.join_runs(
        profile_of(
            [Operator("conv", "Conv", conv), Operator("relu", "Relu", relu)], f"{place}.json"
        )
        for place, (conv, relu) in enumerate(times)
    )


def test_the_time_of_a_group_is_that_of_its_runs() -> None:
    profile = runs((10, 1), (1, 10), (1, 1))
    rows = pa.run(pa.Query(order="+id"), profile).rows
    names = ("name", "time", "runs", "time_min", "time_max", "spread", "share")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("conv", us(1), 3, us(1), us(10), near(2.25), near(0.5)),  # of 10/11, 1/11 and 1/2
        ("relu", us(1), 3, us(1), us(10), near(2.25), near(0.5)),
    ]
    (whole,) = pa.run(pa.Query(aggregates="sum,max,count"), profile).rows
    assert whole["time"] == us(11)  # the medians of the two add up to 2, which no run took
    assert (whole["time_min"], whole["time_max"]) == (us(2), us(11))
    assert (whole["time.max"], whole["time.count"]) == (us(10), 2)
    assert whole["share"] == near(1.0)
    shown = pa.run(pa.Query(), profile)
    assert shown["cumulative_time"].tolist() == [us(1), us(11)]
    assert shown["cumulative_share"].tolist() == [near(0.5), near(1.0)]
    summary = pa.summarise(profile)
    assert (summary.device_time_s, summary.runs) == (us(11), 3)
    assert summary.spread == near((11 - 6.5) / 2 / 11)


@pytest.mark.parametrize(
    ("statistic", "time", "total"),
    [("mean", 4.0, 8.0), ("min", 1.0, 2.0), ("max", 10.0, 11.0)],
)
def test_another_statistic(statistic: str, time: float, total: float) -> None:
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
    assert profile.notes_on_runs == ("1 of 3 operators are in some of 2 runs only",)
    rows = pa.run(pa.Query(order="+name"), profile).rows
    assert [(row["name"], row["time"], row["runs"]) for row in rows] == [
        ("add", us(5), 1),
        ("conv", us(15), 2),
        ("relu", us(2), 2),
    ]
    assert (profile.file, profile.processes) == ("2 files", ("1.json", "2.json"))
    assert len(profile.runs) == 2


def test_shapes_tell_operators_apart() -> None:
    one = profile_of([Operator("conv", "Conv", 10, shape=[1])])
    two = profile_of([Operator("conv", "Conv", 20, shape=[2])])
    assert pa.join_runs([one, two]).notes_on_runs == (
        "1 file named again: the same run counts twice",
        "only 0 of 2 operators are in all 2 runs: these look like different models; "
        "--aggregate-by file treats them so",
    )


def test_a_time_that_one_run_does_not_tell() -> None:
    profile = runs((10, 1), (None, 3))
    rows = pa.run(pa.Query(order="+id"), profile).rows
    assert [(row["time"], row["runs"]) for row in rows] == [(us(10), 1), (us(2), 2)]


def test_notes_name_the_files_that_they_are_of() -> None:
    broken = Operator("relu", "Relu", -1)
    conv = Operator("conv", "Conv", 1)
    note = (
        "the device time of 1 operator is N/A: in the file it is missing, not a finite number, or "
        "ends before it starts"
    )
    good, bad = profile_of([conv, Operator("relu", "Relu", 1)], "good"), [conv, broken]
    some = pa.join_runs([good, profile_of(bad, "b"), profile_of(bad, "c"), profile_of(bad, "d")])
    assert some.notes == (f"b and 2 more: {note}",)
    assert pa.join_runs([good, profile_of(bad, "b")]).notes == (f"b: {note}",)
    assert pa.join_runs([profile_of(bad, "a"), profile_of(bad, "b")]).notes == (
        f"in each of 2 files: {note}",
    )


def test_runs_that_tell_different_work_are_noted() -> None:
    one = pa.load(TINY)
    doubled = pa.load(TINY)
    other = doubled.changed(
        operators=replace(doubled.operators, memory=doubled.operators.memory * 2),
        file="other.json",
        processes=("other.json",),
    )
    joined = pa.join_runs([one, other])
    assert joined.operators.memory.tolist() == one.operators.memory.tolist()
    assert joined.notes_on_runs == (
        "1 file with exactly the times of another: copies of one file under several names? The same "
        "run counts twice",
        "the runs disagree on computation or memory of 3 operators; the first known value is used",
    )


def test_profiles_without_times_are_no_copies() -> None:
    empty = [profile_of([], "a"), profile_of([], "b")]
    assert pa.join_runs(empty).notes_on_runs == ()


def test_files_and_runs_are_keys() -> None:
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
    apart = pa.run(pa.Query(split_by="run", order="+run"), profile)
    assert apart["run"].tolist() == [1, 1, 2, 2, 3, 3]
    assert "file" in apart.columns
    with pytest.raises(pa.QueryError, match="run: rows are not split by it; group by it"):
        _ = pa.run(pa.Query(), profile)["run"]


def test_drift_is_what_all_operators_have_in_common() -> None:
    steady = np.array([[10.0] * 4, [20.0] * 4, [5.0, 5.0, 5.0, 9.0], [nan, 1.0, 1.0, 1.0]])
    slow = np.array([1.0, 1.5, 0.5, 1.0])
    factors = drift_factors(steady * slow)
    assert factors is not None
    np.testing.assert_allclose(factors, slow)
    assert drift_factors(np.full((2, 3), nan)) is None
    assert drift_factors(np.zeros((2, 3))) is None


def test_without_drift() -> None:
    profile = runs((10, 1), (20, 2), (5, 0.5))
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    assert pa.run(pa.Query(order="+id"), corrected)["time_max"].tolist() == [us(10), us(1)]
    assert corrected.notes == (
        "times are corrected for drift: those of each run are divided by how slow it was as a "
        "whole, 0.5 to 2 of the median run; what changed in all operators at once is hidden",
    )
    comparison = pa.compare(profile, runs((20, 2), (40, 4), (10, 1)))
    both = without_drift(comparison)
    assert isinstance(both, pa.Comparison)
    result = pa.run(pa.Query(compared=True), both)
    assert result["ratio"].tolist() == [near(1.0), near(1.0)]
    alone = without_drift(runs((10, 1)))
    assert alone.notes == ("there is only one run: there is no drift between runs to correct",)


def test_what_no_number_can_hold_without_drift_is_not_available() -> None:
    operators = [
        Operator("a", "Conv", 10),
        Operator("long", "Conv", 1),
        Operator("late", "Conv", 2e306, start=1.5e308),
    ]
    found = document(operators)
    found["profiler"]["device"]["1"]["gpu0:0"]["end"] = 1.5e308
    new = profile_of_document(found)
    base = profile_of([Operator("a", "Conv", 30)])
    both = without_drift(pa.compare(new, base))
    times = pa.run(pa.Query(compared=True, order="+id"), both)["time"]
    np.testing.assert_allclose(times, [20e-6, nan, 4e300])


def test_folders_and_lists_stand_for_files(tmp_path: Path) -> None:
    for name in ("b.json", "a.json.gz", "c.json.zst", "d.txt", "e.JSON"):
        (tmp_path / name).touch()
    (tmp_path / "inner").mkdir()
    inside = [str(tmp_path / name) for name in ("a.json.gz", "b.json", "c.json.zst")]
    assert files_in([str(tmp_path)]) == inside
    listed = tmp_path / "list.txt"
    listed.write_text(f"# mine\n\n  x.json  \n{tmp_path}\n-\n")
    assert files_in(["z.json", f"@{listed}"]) == ["z.json", "x.json", *inside, "-"]
    with pytest.raises(pa.InputError) as caught:
        files_in([str(tmp_path / "inner")])
    assert caught.value.reason == "is a directory without profiles (*.json, *.json.gz, *.json.zst)"
    listed.write_text("# nothing\n")
    with pytest.raises(pa.InputError, match="is a list without names; write one in each line"):
        files_in([f"@{listed}"])
    listed.write_text("a.json\n@more.txt\n")
    with pytest.raises(pa.InputError, match=r"has the list @more\.txt in it; write the names them"):
        files_in([f"@{listed}"])
    with pytest.raises(
        pa.InputError, match=r"tiny\.json: looks like JSON, not like a list; name a"
    ):
        files_in([f"@{TINY}"])
    with pytest.raises(pa.InputError, match="@nowhere: the list cannot be read: no such file"):
        files_in(["@nowhere"])


def test_the_command_on_a_folder(tmp_path: Path) -> None:
    conv, relu = Operator("conv", "Conv", 10), Operator("relu", "Relu", 4)
    written(tmp_path / "1.json", [conv, relu])
    second = Path(written(tmp_path / "2.json", [Operator("conv", "Conv", 20), relu]))
    (tmp_path / "3.json.gz").write_bytes(gzip.compress(second.read_bytes()))
    outcome = run_command(str(tmp_path), "--format", "plain", "--show-host")
    assert (outcome.code, outcome.err) == (
        0,
        "note: 1 file with exactly the times of another: copies of one file under several names? The"
        " same run counts twice\n"
        "note: no operator has a host time; 2 have one on the device\n",
    )
    assert (
        outcome.out
        == """\
total device time  2.4e-05
total host time    N/A
runs               3, which spread by 10.4%

  device self time (s)    spread    share  type    name
                 2e-05     12.5%    83.3%  Conv    conv
                 4e-06      0.0%    16.7%  Relu    relu

host self time (s)    spread    share    flops    bandwidth    type    name
"""
    )
    means = run_command(str(tmp_path), "--format", "csv", "--columns", "time", "--run-stat", "mean")
    assert means.out == "time_s\r\n0.000016666666666666664\r\n4e-6\r\n"


def test_tracks_are_in_one_order_however_runs_are_read() -> None:
    at = {"start": 0, "end": 2**-10}
    graph = {"operator": {"0": {"name": "a", "type": "Conv"}}}
    found: list[dict[str, Any]] = [
        {"profiler": {"host": {"0": {"y": at}}}, "graph_exec": graph},
        {"profiler": {"host": {"0": {"x": at}}, "device": {"0": {"x": at}}}, "graph_exec": graph},
    ]
    at_once = joined_at_once(found)
    one_by_one = pa.join_runs(
        profile_of_document(one, f"{place}.json") for place, one in enumerate(found)
    )
    for profile in (at_once, one_by_one):
        assert [(track.name, track.side) for track in profile.tracks] == [
            *(("x", "device"), ("y", "host"), ("x", "host")),
        ]
        by_track = pa.run(pa.Query(by="track", measure="host_time"), profile)
        assert by_track["track"].tolist() == ["x", "y"]


def test_columns_that_tell_runs_apart(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    outcome = run_command(*files, "--columns", "run,file,time", "--format", "csv", "-t", "0")
    assert outcome.out == f"run,file,time_s\r\n2,{files[1]},2e-6\r\n1,{files[0]},1e-6\r\n"


def test_bad_files_stop_the_call_or_are_counted(tmp_path: Path) -> None:
    good = written(tmp_path / "good.json", [Operator("conv", "Conv", 10)])
    bad, worse = tmp_path / "bad.json", tmp_path / "worse.json"
    bad.write_text("{")
    worse.write_text("[")
    outcome = run_command(good, str(bad), str(worse))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"profile_analyze: error: {bad}: ")
    assert outcome.err.endswith("; --skip-bad leaves out what cannot be read\n")
    outcome = run_command(good, str(bad), str(worse), "--skip-bad", "--print-only", "summary")
    assert outcome.code == 0
    note, *_ = outcome.err.splitlines()
    assert note.startswith(f"note: left out 2 files that cannot be read: {bad}: ")
    assert note.endswith("; and 1 more")
    assert run_command(str(bad), str(worse), "--skip-bad").code == 1
    assert run_command(str(bad), "--skip-bad").err.startswith(f"profile_analyze: error: {bad}: ")


def test_standard_input_can_be_one_of_the_runs() -> None:
    data = Path(TINY).read_bytes()
    outcome = run_command(TINY, "-", "--print-only", "summary", stdin=data)
    assert "runs               2, which spread by 0.0%" in outcome.out
    outcome = run_command("-", "-", stdin=data)
    assert (
        outcome.err
        == "profile_analyze: error: standard input: is named twice; it can be read once\n"
    )


class Terminal:
    """A standard error that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_is_shown_on_a_terminal_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    clock = iter([0.0, 0.5, 1.2, 1.2, 1.25, 1.5, 1.5])
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("profile_analyze.cli.progress.monotonic", lambda: next(clock))
    progress = Progress(4)
    for files in (1, 3):
        step = progress.of_next(files)
        for read in range(1, files + 1):
            step(read)
    progress.clear()
    assert terminal.text == "\rread 2 of 4 files\rread 4 of 4 files\r\x1b[K"


def test_progress_is_not_shown_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(1)
    progress.of_next(1)(1)
    progress.clear()
    assert capsys.readouterr().err == ""


def test_columns_are_joined_over_the_words_that_they_use() -> None:
    one = Categorical(np.array([1, -1]), ("unused", "a"))
    two = Categorical(np.array([0, 1]), ("b", "a"))
    joined = Categorical.concatenated([one, two])
    assert joined.categories == ("a", "b")
    assert joined.values().tolist() == ["a", None, "b", "a"]
    empty: Categorical[Any] = Categorical.concatenated([])
    assert len(empty) == 0


def us(microseconds: float) -> Any:
    return pytest.approx(microseconds * 1e-6)


def near(value: float) -> Any:
    return pytest.approx(value)


def test_a_profile_of_one_file_is_as_it_was() -> None:
    alone = pa.join_runs([pa.load(TINY)])
    assert (alone.file, alone.processes) == (TINY, (TINY,))
    assert pa.run(pa.Query(), alone).rows == pa.run(pa.Query(), pa.load(TINY)).rows
    assert runs_of("conv", [1, 2, 3]).total_s() == us(2)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
def test_several_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profile_analyze.readers.many._MANY", 2)
    monkeypatch.setattr("profile_analyze.readers.many._FILES_OF_A_PART", 3)
    files = []
    for place in range(8):
        more = [Operator("add", "Add", 2)] if place in (4, 7) else []
        broken = [Operator("relu", "Relu", -1 if place in (1, 5) else 3)]
        operators = [Operator("conv", "Conv", 10 + place), *broken, *more]
        files.append(written(tmp_path / f"{place}.json", operators))
    told: list[int] = []
    one = pa.load_runs(files)
    several = pa.load_runs(files, processes=2, progress=told.append)
    assert told == [3, 6, 8]
    query = pa.Query(order="+id")
    assert pa.run(query, several).rows == pa.run(query, one).rows
    assert (several.notes, several.notes_on_runs) == (one.notes, one.notes_on_runs)
    assert several.notes[0].startswith(f"{files[1]} and 1 more: the device time of 1 operator")
    assert (several.processes, several.file) == (one.processes, one.file)
    assert several.origin == one.origin
    bad = [tmp_path / "bad.json", tmp_path / "worse.json"]
    for path in bad:
        path.write_text("{")
    mixed = [*files[:4], *map(str, bad)]
    with pytest.raises(pa.UnknownFormatError) as caught:
        pa.load_runs(mixed, processes=2)
    assert caught.value.file == str(bad[0])
    kept = pa.load_runs(mixed, processes=2, skip_bad=True)
    assert kept.notes == pa.load_runs(mixed, skip_bad=True).notes
    with pytest.raises(pa.UnknownFormatError):
        pa.load_runs(list(map(str, bad)), processes=2, skip_bad=True)


def test_what_is_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_AT_ONCE", 10)
    missing = pa.InputError("x.json", "no such file")
    sizes = [4, 4, 4, 12, 3, None, 1, 10, 2]
    sources = [
        missing if size is None else Source.of_bytes("a.json", b" " * size) for size in sizes
    ]
    groups = [
        [len(one.content()) if isinstance(one, Source) else None for one in group]
        for group in many._groups(sources)
    ]
    assert groups == [[4, 4], [4], [12], [3, None], [1], [10], [2]]


def test_a_file_that_is_not_there_is_told_before_others_are_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes to it
    with pytest.raises(pa.InputError) as caught:
        pa.load_runs([str(tmp_path / "missing.json"), str(pipe)])
    assert caught.value.reason == "no such file"


def test_lanes_are_in_the_order_in_which_operators_of_the_graph_ran_on_them(tmp_path: Path) -> None:
    files = []
    for name in ("1.json", "2.json"):
        found = document([Operator("a", "A", 1.0), Operator("b", "B", 1.0)])
        times = {"start": 0, "end": 1e-6}
        found["profiler"]["device"] = {
            "99": {"gpu1": times, "gpu9": times},
            "1": {"gpu0": times},
            "0": {"gpu1": times},
        }
        files.append(tmp_path / name)
        files[-1].write_text(json.dumps(found))
    one, both = pa.load(files[0]), pa.load_runs(files)
    assert [track.name for track in one.tracks] == ["gpu0", "gpu1"]
    assert one.tracks == both.tracks


def test_no_file_at_all() -> None:
    with pytest.raises(pa.InputError) as caught:
        pa.load_runs([])
    assert (caught.value.file, caught.value.reason) == ("", "no profile was named")


def test_joiners_merge() -> None:
    from profile_analyze.model.runs import RunJoiner

    profiles = [runs((10, 1), (20, None)), pa.load(TINY), runs((5, 5))]
    whole, first, rest = RunJoiner(), RunJoiner(), RunJoiner()
    for profile in profiles:
        whole.add(profile)
    first.add(profiles[0])
    for profile in profiles[1:]:
        rest.add(profile)
    seen = rest.partial()
    assert seen is not None
    first.take(seen)
    assert RunJoiner().partial() is None
    query = pa.Query(order="+name")
    assert pa.run(query, first.joined()).rows == pa.run(query, whole.joined()).rows
    assert first.joined().notes_on_runs == whole.joined().notes_on_runs


def test_many_files_are_read_by_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    original = pa.load_runs

    def load_runs(paths: list[str], **options: Any) -> pa.Profile:
        asked.append(options.pop("processes"))
        return original(paths, **options)

    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 2, 3}, raising=False)
    monkeypatch.setattr("profile_analyze.readers.many.load_runs", load_runs)
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    data = Path(files[0]).read_bytes()
    for names in (files, [*files[:1], "-"]):
        assert run_command(*names, stdin=data).code == 0
    assert asked == [3, 1]


def test_rates_of_groups_are_of_what_ran_together() -> None:
    def run_of(*names: str) -> pa.Profile:
        return profile_of([Operator(name, "Conv", 1e6, work=(10, 20)) for name in names], names[-1])

    profile = pa.join_runs([run_of("a"), run_of("a"), run_of("a", "b")])
    peaks = pa.parse_peaks("20:1000")
    for query in (pa.Query(by="type", peaks=peaks), pa.Query(by="name", peaks=peaks)):
        for row in pa.run(query, profile).rows:
            assert (row["flops"], row["bandwidth"]) == (near(10), near(20))
            assert row["efficiency"] == near(0.5)
    for statistic in ("min", "max", "mean"):
        (row,) = pa.run(pa.Query(by="type", run_statistic=statistic), profile).rows
        assert row["flops"] == near(10)


def test_parts_of_the_names_of_files_are_keys_too() -> None:
    profile = runs((10, 1), (1, 10), (1, 1))
    rows = pa.run(pa.Query(by=r"file~(\d)", order=r"+file~(\d)"), profile).rows
    assert [row["time"] for row in rows] == [us(11), us(11), us(2)]
    with pytest.raises(pa.QueryError, match="rows are not split by it; group by it"):
        _ = pa.run(pa.Query(), profile)[r"file~(\d)"]
    with pytest.raises(pa.QueryError, match="needs a profile to compare with"):
        pa.Query(by="match~x")
    with pytest.raises(pa.QueryError, match="needs the peak rates of a device"):
        pa.Query(by="bound~mem")
    assert pa.run(pa.Query(by="run"), profile).notes == (
        "runs are kept apart: shares are of the time of all 3 together",
    )


def test_drift_that_cannot_be_told_is_left() -> None:
    one = profile_of([Operator("conv", "Conv", 10)], "1.json")
    two = profile_of([Operator("relu", "Relu", 30)], "2.json")
    profile = pa.join_runs([one, two])
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    assert corrected.notes == ("no operator has a time in each run: drift was not corrected",)
    assert pa.run(pa.Query(), corrected).rows == pa.run(pa.Query(), profile).rows
    comparison = without_drift(pa.compare(one, two))
    assert isinstance(comparison, pa.Comparison)
    assert comparison.notes[-1] == corrected.notes[0]
    assert not comparison.drift_corrected  # so that the whole is judged


def test_a_whole_that_was_corrected_has_no_verdict() -> None:
    slow, fast = runs(*[(20, 4)] * 4), runs(*[(10, 2)] * 4)
    comparison = pa.compare(slow, fast)
    query = pa.Query(compared=True)
    found = [
        pa.summarise(one, judged_by=query).change for one in (comparison, without_drift(comparison))
    ]
    assert [change and change.verdict for change in found] == ["slower", None]


def _die(_paths: object, steps: object) -> None:
    assert steps
    os._exit(1)


def _run_out_of_memory(_paths: object, steps: object) -> None:
    assert steps
    raise MemoryError


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
@pytest.mark.parametrize("fail", [_die, _run_out_of_memory])
def test_a_process_that_dies_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: Callable[..., None]
) -> None:
    monkeypatch.setattr("profile_analyze.readers.many._MANY", 2)
    monkeypatch.setattr("profile_analyze.readers.many._FILES_OF_A_PART", 1)
    monkeypatch.setattr("profile_analyze.readers.many._read", fail)
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    with pytest.raises(pa.InputError) as caught:
        pa.load_runs(files, processes=2)
    assert caught.value.file == files[0]
    assert caught.value.reason == (
        "the process that read this or one of the next files died: out of memory?"
    )


def test_a_list_that_is_read_is_never_replaced(tmp_path: Path) -> None:
    file = written(tmp_path / "1.json", [Operator("conv", "Conv", 1)])
    listed = tmp_path / "list.txt"
    listed.write_text(file)
    outcome = run_command(f"@{listed}", "-o", str(listed), "--force")
    assert outcome.err.endswith("list.txt: is a profile that is read; write to another file\n")
    assert listed.read_text() == file


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
@pytest.mark.parametrize("started", [0, 1])
def test_where_no_process_can_start_this_one_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, started: int
) -> None:
    start = ForkProcess.start
    asked = []

    def start_or_refuse(process: ForkProcess) -> None:
        asked.append(process)
        if len(asked) > started:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        start(process)

    monkeypatch.setattr(ForkProcess, "start", start_or_refuse)
    files = [written(tmp_path / f"{place}.json", [Operator("a", "A", 1)]) for place in range(100)]
    assert len(pa.load_runs(files, processes=2).runs) == 100
    assert len(asked) == started + 1
    if started:
        asked[0].join(10)
        assert asked[0].exitcode == -signal.SIGTERM


def with_work(*amounts: tuple[int, int]) -> list[dict[str, Any]]:
    """Documents of one operator, with such computation and memory."""
    return [document([Operator("a", "A", place, work=one)]) for place, one in enumerate(amounts, 1)]


def test_of_several_files_the_first_that_says_something_is_believed() -> None:
    profile = joined_at_once(with_work((5, 50), (7, 50), (5, 60)))
    assert (profile.operators.computation.tolist(), profile.operators.memory.tolist()) == (
        [5],
        [50],
    )
    assert profile.notes_on_runs == (
        "the runs disagree on computation or memory of 1 operator; the first known value is used",
    )
    unknown = with_work((0, 50), (7, 50), (7, 50))  # 0 is no formula
    profile = joined_at_once(unknown)
    assert (profile.operators.computation.tolist(), profile.notes_on_runs) == ([7], ())


def test_what_one_run_has_twice_is_another_operator_the_second_time(tmp_path: Path) -> None:
    once, twice = [Operator("a", "A", 5.0)], [Operator("a", "A", 1.0), Operator("a", "A", 2.0, 1.0)]
    files = [written(tmp_path / "1.json", once), written(tmp_path / "2.json", twice)]
    one_by_one = pa.join_runs(map(pa.load, files))
    for profile in (one_by_one, pa.load_runs(files)):
        np.testing.assert_allclose(profile.measured("time"), [[5e-6, 1e-6], [nan, 2e-6]])


def test_a_total_over_runs_is_the_median_unless_asked_otherwise() -> None:
    profile = runs_of("a", [1.0, 2.0, 9.0])
    assert profile.total_s() == pytest.approx(2e-6)
    assert profile.total_s(run_statistic="mean") == pytest.approx(4e-6)


def test_runs_kept_apart_keep_their_notes(tmp_path: Path) -> None:
    good = written(tmp_path / "1.json", [Operator("a", "A", 1.0)])
    odd = written(tmp_path / "2.json", [Operator("a", "A", -1.0)])
    outcome = run_command(good, odd, "--aggregate-by", "run", "--format", "plain")
    assert "2.json: the device time of 1 operator is N/A" in outcome.err


def test_columns_of_runs_are_in_the_forms_for_programs(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.json", [Operator("a", "A", n)]) for n in (1.0, 2.0)]
    of_runs = run_command(*files, "--format", "csv").out.splitlines()[0].split(",")
    of_one = run_command(files[0], "--format", "csv").out.splitlines()[0].split(",")
    assert [name for name in of_runs if name not in of_one] == ["spread"]


def test_the_order_of_execution_is_that_of_the_first_run(tmp_path: Path) -> None:
    times = ((1.0, 1.0), (2.0, 5.0)), ((8.0, 9.0), (4.0, 0.0))
    files = [
        written(
            tmp_path / f"{place}.json",
            [Operator(name, "A", us, start=at) for name, (us, at) in zip("ab", run, strict=True)],
        )
        for place, run in enumerate(times)
    ]
    profile = pa.load_runs(files)
    assert in_order_of_execution(profile).tolist() == [0, 1]


def test_one_file_that_is_left_out_is_told_as_one(tmp_path: Path) -> None:
    good = written(tmp_path / "1.json", [Operator("a", "A", 1.0)])
    missing = str(tmp_path / "2.json")
    (note,) = pa.load_runs([good, missing], skip_bad=True).notes
    assert note == f"left out 1 file that cannot be read: {missing}: no such file"

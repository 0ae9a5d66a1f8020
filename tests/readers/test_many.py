"""Many files as one profile: files that are read together, pools of processes, and bad files."""

from __future__ import annotations

import gzip
import json
import os
from multiprocessing.context import ForkProcess
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind, Subject
from profile_analyze.readers.input import many, pool
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.recognition import first_reader
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.small import (
    Operator,
    document,
    joined_at_once,
    profile_of_document,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from profile_analyze.readers.base import Paths, ReadFiles


TINY = str(PROFILES / "tiny.json")


def test_the_files_in_a_folder_are_runs(tmp_path: Path) -> None:
    conv, relu = Operator("conv", "Conv", 10), Operator("relu", "Relu", 4)
    written(tmp_path / "1.json", [conv, relu])
    second = Path(written(tmp_path / "2.json", [Operator("conv", "Conv", 20), relu]))
    (tmp_path / "3.json.gz").write_bytes(gzip.compress(second.read_bytes()))
    outcome = run_command(str(tmp_path), "--format", "plain", "--show-host")
    assert (outcome.code, outcome.err) == (
        0,
        "note: probably copies: 1 file with exactly the times of another; totals count copies, "
        "verdicts do not; name each run once\n"
        "note: no operator has a host time; 2 operators have a device time; --print-only device "
        "shows these times, or profile again with host times\n",
    )
    assert (
        outcome.out
        == """\
total device time  24.000 us
total host time    N/A
runs               3, 1 of them a copy (spread: half within -20.8% to 0.0%)

device self time (us)  spread  share  type  name
               20.000   12.5%  83.3%  Conv  conv
                4.000    0.0%  16.7%  Relu  relu

host self time (s)  spread  share  flops  bandwidth  type  name
"""
    )
    means = run_command(str(tmp_path), "--format", "csv", "--columns", "time", "--run-stat", "mean")
    assert means.out == "time_s\r\n0.000016666666666666664\r\n4e-6\r\n"


def test_bad_files_stop_the_call_or_are_counted(tmp_path: Path) -> None:
    good = written(tmp_path / "good.json", [Operator("conv", "Conv", 10)])
    bad, worse = tmp_path / "bad.json", tmp_path / "worse.json"
    bad.write_text("{")
    worse.write_text("[")
    outcome = run_command(good, str(bad), str(worse))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"profile_analyze: error: {bad}: ")
    assert outcome.err.endswith("; --skip-bad leaves out what cannot be read\n")
    answer = json.loads(run_command(good, str(bad), str(worse), "--skip-bad", "--format=json").out)
    left_out = answer["profile"]["left_out"]
    assert [one["file"] for one in left_out] == [str(bad), str(worse)]
    unread = unread_files(2, left_out[0]["file"], left_out[0]["reason"])
    assert answer["notes"][0] == sentence(unread)
    assert run_command(str(bad), str(worse), "--skip-bad").code == 1
    assert run_command(str(bad), "--skip-bad").err.startswith(f"profile_analyze: error: {bad}: ")


def unread_files(files: int, first: str, reason: str) -> Finding:
    return Finding.of("unread-files", Kind.INCOMPLETE, files=files, first=first, reason=reason)


def test_a_missing_file_is_left_out(tmp_path: Path) -> None:
    good = written(tmp_path / "1.json", [Operator("a", "A", 1.0)])
    missing = str(tmp_path / "2.json")
    profile = pa.load_runs([good, missing], skip_bad=True)
    assert profile.notes == (unread_files(1, missing, "no such file"),)


def test_standard_input_can_be_one_of_the_runs() -> None:
    data = Path(TINY).read_bytes()
    outcome = run_command(TINY, "-", "--print-only", "summary", stdin=data)
    assert (
        "runs               2, 1 of them a copy (spread: half within 0.0% to 0.0%)" in outcome.out
    )
    outcome = run_command("-", "-", stdin=data)
    assert (
        outcome.err
        == "profile_analyze: error: standard input: is named twice; it can be read once\n"
    )


def test_no_file_at_all_is_an_error() -> None:
    with pytest.raises(pa.InputError) as caught:
        pa.load_runs([])
    assert (caught.value.file, caught.value.reason) == ("", "no profile was named")


def test_a_missing_file_is_reported_before_others_are_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # opening it would wait forever, because nobody writes
    with pytest.raises(pa.InputError) as caught:
        pa.load_runs([str(tmp_path / "missing.json"), str(pipe)])
    assert caught.value.reason == "no such file"


def test_small_files_are_grouped_and_an_error_ends_its_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(many, "_GROUP_SIZE", 10)
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


def test_tracks_have_the_same_order_if_files_are_read_together() -> None:
    at = {"start": 0, "end": 2**-10}
    graph = {"operator": {"0": {"name": "a", "type": "Conv"}}}
    found: list[dict[str, Any]] = [
        {"profiler": {"host": {"0": {"y": at}}}, "graph_exec": graph},
        {"profiler": {"host": {"0": {"x": at}}, "device": {"0": {"x": at}}}, "graph_exec": graph},
    ]
    at_once = joined_at_once(found)
    one_by_one = pa.join_runs(
        profile_of_document(one, f"{index}.json") for index, one in enumerate(found)
    )
    for profile in (at_once, one_by_one):
        assert [(track.name, track.side) for track in profile.tracks] == [
            *(("x", "device"), ("y", "host"), ("x", "host")),
        ]
        by_track = pa.run(pa.Query(by="track", measure="host_time"), profile)
        assert by_track["track"].tolist() == ["x", "y"]


def test_tracks_are_in_the_order_of_entries_that_match_operators(tmp_path: Path) -> None:
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


def test_tables_of_the_graph_are_not_joined() -> None:
    profile = pa.load_runs([TINY, TINY], wanted={"tensors"})
    for table in ("tensors", "uses"):
        with pytest.raises(pa.QueryError, match=f"{table}: the profile was loaded without this"):
            profile.table(table)


def test_the_command_uses_all_cores_unless_an_input_is_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    original = pa.load_runs

    def load_runs(paths: list[str], **options: Any) -> pa.Profile:
        asked.append(options.pop("processes"))
        return original(paths, **options)

    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 2, 3}, raising=False)
    monkeypatch.setattr("profile_analyze.cli.inputs.several_files.load_runs", load_runs)
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    data = Path(files[0]).read_bytes()
    for names in (files, [*files[:1], "-"]):
        assert run_command(*names, stdin=data).code == 0
    assert asked == [3, 1]


@pytest.mark.slowest
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
def test_several_processes_give_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profile_analyze.readers.input.many._MANY_FILES", 2)
    monkeypatch.setattr("profile_analyze.readers.input.pool.FILES_PER_PART", 3)
    files = []
    for index in range(8):
        more = [Operator("add", "Add", 2)] if index in (4, 7) else []
        broken = [Operator("relu", "Relu", -1 if index in (1, 5) else 3)]
        operators = [Operator("conv", "Conv", 10 + index), *broken, *more]
        files.append(written(tmp_path / f"{index}.json", operators))
    reported: list[int] = []
    one = pa.load_runs(files)
    several = pa.load_runs(files, processes=2, progress=reported.append)
    assert reported == [3, 6, 8]
    query = pa.Query(order="+id")
    assert pa.run(query, several).rows == pa.run(query, one).rows
    assert (several.notes, several.notes_on_runs) == (one.notes, one.notes_on_runs)
    note = Finding.of("untimed-executions", Kind.INCOMPLETE, operators=1, side="device")
    assert several.notes[0] == note.about(Subject("files", files[1], 2))
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
    with pytest.raises(pa.UnknownFormatError) as caught:
        pa.load_runs(list(map(str, bad)), processes=2, skip_bad=True)
    assert caught.value.file == str(bad[0])


def _die(_paths: object, _read_files: object) -> None:
    os._exit(1)


def _run_out_of_memory(_paths: object, _read_files: object) -> None:
    raise MemoryError


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
@pytest.mark.parametrize("fail", [_die, _run_out_of_memory])
def test_a_process_that_dies_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: Callable[..., None]
) -> None:
    monkeypatch.setattr("profile_analyze.readers.input.many._MANY_FILES", 2)
    monkeypatch.setattr("profile_analyze.readers.input.pool.FILES_PER_PART", 1)
    monkeypatch.setattr("profile_analyze.readers.input.pool.read_part", fail)
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    with pytest.raises(pa.InputError) as caught:
        pa.load_runs(files, processes=2)
    assert caught.value.file == files[0]
    assert caught.value.reason == (
        "the process that read this or one of the next files died: out of memory?"
    )


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
def test_a_process_that_dies_while_it_sends_a_result_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_half(_parts: object, _read: object, sender: Connection, _unused: object) -> None:
        length = (1000).to_bytes(4, "big")
        os.write(sender.fileno(), length + b"less than announced")
        os._exit(1)

    monkeypatch.setattr("profile_analyze.readers.input.many._MANY_FILES", 2)
    monkeypatch.setattr("profile_analyze.readers.input.pool.FILES_PER_PART", 1)
    monkeypatch.setattr("profile_analyze.readers.input.pool._send_results", send_half)
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    with pytest.raises(pa.InputError, match="died: out of memory"):
        pa.load_runs(files, processes=2)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
def test_an_error_does_not_wait_for_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_part(paths: Paths, read_files: ReadFiles) -> object:
        if str(paths[0]) == files[1]:
            sleep(60)
        return original(paths, read_files)

    original = pool.read_part
    monkeypatch.setattr("profile_analyze.readers.input.many._MANY_FILES", 2)
    monkeypatch.setattr("profile_analyze.readers.input.pool.FILES_PER_PART", 1)
    monkeypatch.setattr("profile_analyze.readers.input.pool.read_part", read_part)
    files = [
        str(tmp_path / "missing.json"),
        written(tmp_path / "slow.json", [Operator("conv", "Conv", 1)]),
    ]
    begin = monotonic()
    with pytest.raises(pa.InputError, match="no such file"):
        pa.load_runs(files, processes=2)
    assert monotonic() - begin < 30


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
def test_a_process_that_must_not_start_others_reads_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profile_analyze.readers.input.many._MANY_FILES", 2)
    files = [written(tmp_path / f"{n}.json", [Operator("conv", "Conv", n)]) for n in (1, 2)]
    daemon = ForkProcess(
        target=lambda: os._exit(len(pa.load_runs(files, processes=2).runs)), daemon=True
    )
    daemon.start()
    daemon.join(30)
    assert daemon.exitcode == 2


@pytest.mark.parametrize("processes", [-1, 0])
def test_this_process_reads_if_the_number_of_processes_is_not_positive(
    monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr("profile_analyze.readers.input.many._MANY_FILES", 2)
    assert len(pa.load_runs([TINY, TINY], processes=processes).runs) == 2


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the tests' runner has threads
@pytest.mark.parametrize("started", [0, 1])
@pytest.mark.parametrize("refusal", [BlockingIOError, KeyboardInterrupt])
def test_if_not_all_processes_start_the_others_end(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    started: int,
    refusal: type[BaseException],
) -> None:
    start = ForkProcess.start
    asked: list[ForkProcess] = []
    pids: list[int] = []

    def start_or_refuse(process: ForkProcess) -> None:
        asked.append(process)
        if len(asked) > started:
            raise refusal(11, "Resource temporarily unavailable")
        start(process)
        assert process.pid is not None
        pids.append(process.pid)

    monkeypatch.setattr(ForkProcess, "start", start_or_refuse)
    files = [written(tmp_path / f"{index}.json", [Operator("a", "A", 1)]) for index in range(100)]
    if refusal is BlockingIOError:  # this process reads all files
        assert len(pa.load_runs(files, processes=2).runs) == 100
    else:
        with pytest.raises(refusal):
            pa.load_runs(files, processes=2)
    assert len(asked) == started + 1
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_only_the_reader_of_the_first_file_is_looked_up_if_it_reads_no_files_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = (FIXTURES / "onnxruntime/quirks-1.31.json").read_text()
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_text(content + "\n" * number)
    looked_up = Mock(wraps=first_reader)
    monkeypatch.setattr("profile_analyze.readers.loading.first_reader", looked_up)
    assert len(pa.load_runs([str(path) for path in paths]).processes) == 3
    assert [call.args[2] for call in looked_up.call_args_list] == [str(paths[0])]

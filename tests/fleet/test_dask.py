"""Reading files with Dask: the same answers, killed workers, clusters that cannot be used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import dask
import psutil
import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.fleet import dask_engine, dask_pool
from profile_analyze.fleet.dask_pool import DaskPool
from profile_analyze.model.joining.runs import RunJoiner
from profile_analyze.readers.input.pool import parts_of
from profile_analyze.readers.input.source import Source
from tests.conftest import Outcome, examples, run_command
from tests.readers.same_profiles import difference
from tests.small import Operator, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.readers.base import Paths, ReadFiles, Step

ERROR = "profile_analyze: error: "
FILES = 40


def write_files(folder: Path) -> list[str]:
    """Write small profiles with different operators, times and notes. Return their names."""
    files = []
    for index in range(FILES):
        more = [Operator("add", "Add", 2)] if index % 3 == 1 else []
        wrong = [Operator("relu", "Relu", -1 if index % 5 == 4 else 3)]
        operators = [Operator("conv", "Conv", 10 + index / 8), *wrong, *more]
        files.append(written(folder / f"{index:02}.json", operators))
    return files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with profiles and nothing else."""
    folder = tmp_path_factory.mktemp("profiles")
    write_files(folder)
    return folder


@contextmanager
def local_cluster(workers: int, *, processes: bool) -> Iterator[Client]:
    """Start a cluster without `DaskEngine`, as a user can."""
    # The fork server imports Dask once, for all workers.
    with (
        TemporaryDirectory() as folder,
        dask.config.set(
            {
                "temporary-directory": folder,
                "distributed.worker.multiprocessing-method": "forkserver",
            }
        ),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            memory_limit=None,
            silence_logs=50,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A cluster with two processes, whose current folder has none of the profiles."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("workers"))
    try:
        with local_cluster(2, processes=True) as client:
            os.chdir(before)
            yield client
    finally:
        os.chdir(before)


@pytest.fixture
def engine(client: Client) -> str:
    """The value of `--engine` for the cluster of `client`."""
    return f"dask:{client.scheduler_info()['address']}"


@pytest.fixture
def read_by_dask(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of files in each list of files that a cluster reads, in the order of the lists."""
    numbers: list[int] = []

    def pool(client: Client, paths: Paths, read_files: ReadFiles, *, name: str) -> DaskPool:
        numbers.append(len(paths))
        return DaskPool(client, paths, read_files, name=name)

    monkeypatch.setattr(dask_engine, "DaskPool", pool)
    return numbers


@pytest.fixture(scope="module")
def threads() -> Iterator[dict[int, Client]]:
    """Clusters of 1, 2 and 4 workers, which are threads of this process."""
    with (
        local_cluster(1, processes=False) as one,
        local_cluster(2, processes=False) as two,
        local_cluster(4, processes=False) as four,
    ):
        yield {1: one, 2: two, 4: four}


QUESTIONS = (
    ["--format", "json", "-t", "0"],
    ["--format", "json", "--aggregate-by", "type", "--run-stat", "mean", "--notes", "all"],
    ["--label", "{night}.json", "--aggregate-by", "night", "--format", "csv", "-t", "0"],
    ["--fail-if", "total > 1h", "--print-only", "summary"],
    ["--sql", "select type, sum(device_time_s) as total_s from operators group by 1 order by 1"],
)


@pytest.mark.slowest
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_from_a_cluster_are_the_same(
    folder: Path,
    engine: str,
    question: list[str],
    read_by_dask: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    names = sorted(path.name for path in folder.iterdir())
    local = run_command(*names, *question)
    assert local.code == 0
    assert read_by_dask == []
    assert run_command(*names, *question, "--engine", engine) == local
    assert read_by_dask == [FILES]


def test_both_sides_of_a_comparison_use_the_cluster(
    folder: Path, engine: str, read_by_dask: list[int]
) -> None:
    files = sorted(map(str, folder.iterdir()))
    call = (*files[:25], "--compare", *files[25:], "--format", "json")
    assert run_command(*call, "--engine", engine) == run_command(*call)
    assert read_by_dask == [25, 15]


def test_an_export_uses_the_cluster(
    folder: Path, engine: str, read_by_dask: list[int], tmp_path: Path
) -> None:
    def exported(*more: str) -> tuple[Outcome, Outcome]:
        data_set = str(tmp_path / f"set{len(more)}")
        outcome = run_command(str(folder), "--export", data_set, *more)
        answer = run_command(data_set, "--format", "json", "--aggregate-by", "file", "-t", "0")
        named = outcome.out.replace(data_set, "set")
        return Outcome(outcome.code, named, outcome.err), answer

    first, second = exported(), exported("--engine", engine)
    assert first == second
    assert read_by_dask == [FILES]
    assert first[0].out == "set: added 40 profiles; now 40 profiles\n"


def test_bad_files_give_the_same_messages(folder: Path, engine: str, tmp_path: Path) -> None:
    files = sorted(map(str, folder.iterdir()))
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    missing = str(tmp_path / "missing.json")
    names = tmp_path / "names.txt"
    names.write_text("\n".join([*files[:30], str(bad), missing, *files[30:]]))
    for call in (
        [f"@{names}"],
        [f"@{names}", "--skip-bad", "--format", "json"],
        [f"@{names}", "--max-size", "10B"],
        [str(bad), missing, "--skip-bad"],
    ):
        assert run_command(*call, "--engine", engine) == run_command(*call)


def test_a_model_among_the_profiles_is_refused(engine: str, folder: Path) -> None:
    model = str(Path(__file__).parents[1] / "fixtures" / "classifiers" / "classifier.onnx")
    files = [model, *sorted(map(str, folder.iterdir()))]
    outcome = run_command(*files, "--engine", engine)
    assert outcome.code == 2
    assert outcome == run_command(*files)


def test_progress_counts_the_files_of_each_part(folder: Path, client: Client) -> None:
    files = sorted(folder.iterdir())
    reported: list[int] = []
    pa.load_runs(files, engine=pa.DaskEngine(client), progress=reported.append)
    assert reported == [25, 40]


def pids_of(client: Client) -> list[int]:
    return [*client.run(os.getpid).values()]


@pytest.mark.slowest
def test_a_killed_worker_does_not_change_the_answer(
    folder: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profile_analyze.readers.input.pool.FILES_PER_PART", 1)
    files = sorted(folder.iterdir())
    left = pids_of(client)

    def kill_one(done: int) -> None:
        if done == 10:
            os.kill(left.pop(), signal.SIGKILL)

    with pa.DaskEngine(client) as engine:
        killed = pa.load_runs(files, engine=engine, progress=kill_one)
    assert len(left) == 1
    assert difference(killed, pa.load_runs(files)) is None
    assert pids_of(client)  # the cluster stays


# `_die`, `_fill_memory` and `_misfit` replace the function that reads files. They fail in
# workers, which always get a folder `within`.


def _die(_joiner: RunJoiner, _paths: Paths, *, within: str = "") -> Iterator[Step]:
    """Kill the worker, as the system does if a reader needs too much memory."""
    assert within
    os.kill(os.getpid(), signal.SIGKILL)
    yield 0, ()


def _fill_memory(_joiner: RunJoiner, _paths: Paths, *, within: str = "") -> Iterator[Step]:
    if within:
        raise MemoryError
    yield 0, ()


@pytest.mark.slowest
@pytest.mark.parametrize("read", [_die, _fill_memory])
def test_a_part_that_kills_its_workers_is_an_error(
    client: Client, read: Callable[..., Iterator[Step]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.cluster is not None
    # By default, Dask gives up only after 4 workers have died, which takes long.
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    pool = DaskPool(client, ["a.json", "b.json"], read, name="Dask")
    with pytest.raises(pa.InputError) as caught:
        next(pool.merge_into(RunJoiner()))
    assert str(caught.value) == (
        "a.json: the workers that read this or one of the next files died: out of memory?"
    )
    client.wait_for_workers(2, timeout=60)


@pytest.mark.slowest
@given(data=st.data())
@examples(60)
def test_any_partition_and_number_of_workers_gives_the_same_profile(
    folder: Path, threads: dict[int, Client], data: st.DataObject
) -> None:
    files = sorted(map(str, folder.iterdir()))
    chosen = data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=12))
    cuts = data.draw(st.sets(st.integers(1, len(chosen))))
    client = threads[data.draw(st.sampled_from([1, 2, 4]))]

    def cut(paths: Sequence[str], _: int) -> Iterator[Paths]:
        ends = sorted({*cuts, len(paths)})
        for first, end in zip([0, *ends], ends, strict=False):
            yield paths[first:end]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_pool, "parts_of", cut)
        found = pa.load_runs(chosen, engine=pa.DaskEngine(client))
    assert difference(found, pa.load_runs(chosen)) is None


@pytest.mark.slowest
def test_few_parts_are_submitted_at_a_time(
    folder: Path, threads: dict[int, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of later parts take memory until earlier parts are merged."""
    monkeypatch.setattr("profile_analyze.readers.input.pool.FILES_PER_PART", 1)
    asked: list[int] = []

    def counted(paths: Sequence[str], times: int) -> Iterator[Paths]:
        for number, part in enumerate(parts_of(paths, times), start=1):
            asked.append(number)
            yield part

    monkeypatch.setattr(dask_pool, "parts_of", counted)
    pending: list[int] = []
    pa.load_runs(
        sorted(folder.iterdir()),
        engine=pa.DaskEngine(threads[2]),
        progress=lambda done: pending.append(len(asked) - done),
    )
    assert max(pending) == 8  # four for each of the two threads
    assert len(asked) == FILES


@pytest.mark.slowest
@pytest.mark.parametrize(
    "parts", [[1], [25] * 8, [25] * 15 + [24], [50] * 8, [100] * 99 + [99]], ids=sum
)
def test_many_files_are_read_in_larger_parts(threads: dict[int, Client], parts: list[int]) -> None:
    def pretend(_: RunJoiner, paths: Paths, /, *, within: str = "") -> Iterator[Step]:
        assert within == os.getcwd()  # noqa: PTH109  # as text
        yield len(paths), ()

    pool = DaskPool(threads[2], ["a.json"] * sum(parts), pretend, name="cluster")
    assert [files for files, _ in pool.merge_into(RunJoiner())] == parts
    pool.shut_down()


@contextmanager
def command(*arguments: str, scratch: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the command in a process group of its own, with an empty folder for temporary files."""
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "profile_analyze", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | {"TMPDIR": str(scratch)},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def group_of(pid: int) -> list[int]:
    """Return the processes in the process group of `pid`."""
    found = []
    for one in psutil.pids():
        with suppress(ProcessLookupError):
            if os.getpgid(one) == pid and psutil.Process(one).status() != psutil.STATUS_ZOMBIE:
                found.append(one)
    return found


def wait_until(holds: Callable[[], bool]) -> bool:
    """Wait until a condition holds, for at most a minute."""
    end = monotonic() + 60
    while not holds() and monotonic() < end:
        sleep(0.02)
    return holds()


@contextmanager
def slow_file(path: Path) -> Iterator[Callable[[], bool]]:
    """Make a pipe that stays open inside the block. Yield a function that says if it is read."""
    os.mkfifo(path)
    writers: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):  # no process has opened the pipe to read it
            writers.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        return bool(writers)

    try:
        yield is_read
    finally:
        for writer in writers:
            os.close(writer)


@pytest.mark.slowest
def test_a_local_cluster_ends_with_the_call(folder: Path, tmp_path: Path) -> None:
    question = ("--format", "json", "--aggregate-by", "type")
    with command(str(folder), *question, "--engine=dask", scratch=tmp_path / "tmp") as process:
        out, err = process.communicate(timeout=60)
        local = run_command(str(folder), *question)
        assert Outcome(process.returncode, out, err) == local
        assert wait_until(lambda: not group_of(process.pid))
    assert [*(tmp_path / "tmp").iterdir()] == []


def interrupted(folder: Path, engine: str) -> None:
    """Send Ctrl-C to a call while it reads. Check that no process and no file is left."""
    other = written(folder / "b.json", [Operator("conv", "Conv", 1)])
    scratch = folder / "scratch"
    with slow_file(folder / "a.json") as is_read:
        call = (str(folder / "a.json"), other, "--engine", engine)
        with command(*call, scratch=scratch) as process:
            assert wait_until(is_read)
            os.killpg(process.pid, signal.SIGINT)
            assert process.communicate(timeout=60) == ("", "")
            assert process.returncode == 130
            assert wait_until(lambda: not group_of(process.pid))
    assert [*scratch.iterdir()] == []


# The start of a local cluster takes seconds.
@pytest.mark.slowest
@pytest.mark.parametrize("is_local", [False, True])
def test_an_interrupt_ends_only_the_local_cluster(
    tmp_path: Path, client: Client, engine: str, *, is_local: bool
) -> None:
    before, tasks = pids_of(client), client.run_on_scheduler(_tasks)
    interrupted(tmp_path, "dask" if is_local else engine)
    assert pids_of(client) == before
    assert client.submit(sum, [1, 2]).result(timeout=60) == 3
    assert wait_until(lambda: client.run_on_scheduler(_tasks) <= tasks)


def _tasks(dask_scheduler: Any) -> set[str]:
    return {*dask_scheduler.tasks}


def refused(*arguments: str, folder: Path) -> str:
    """Return the message of a call that fails with exit status 1."""
    outcome = run_command(str(folder), *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    return outcome.err.removeprefix(ERROR).rstrip("\n")


def test_clusters_that_cannot_be_used_are_errors(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "_CONNECT_S", 0.2)
    assert refused("--engine", "dask:tcp://127.0.0.1:9", folder=folder) == (
        "Dask at tcp://127.0.0.1:9: cannot be reached: Timed out trying to connect to "
        "tcp://127.0.0.1:9 after 0.2 s; check the address, and that `dask scheduler` runs there"
    )
    assert refused("--engine", "dask:127.0.0.1", folder=folder) == (
        "Dask at 127.0.0.1: cannot be reached: missing port number in address '127.0.0.1'; "
        "check the address, and that `dask scheduler` runs there"
    )
    with local_cluster(0, processes=False) as client:
        address = client.scheduler_info()["address"]
        assert refused("--engine", f"dask:{address}", folder=folder) == (
            f"Dask at {address}: has no workers; start some with `dask worker {address}`"
        )


def test_a_client_without_a_cluster_leaves_no_thread(folder: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(pa.EngineError) as raised:
        pa.load_runs([folder], engine=pa.DaskEngine("127.0.0.1"))
    assert "missing port number" in str(raised.value)
    # The exception still refers to the client, so the garbage collector did not close it.
    started = set(threading.enumerate()) - before
    assert not [thread.name for thread in started if "loop" in thread.name]


@pytest.mark.slowest
def test_other_versions_on_the_cluster_are_errors(
    folder: Path, threads: dict[int, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = threads[2].scheduler_info()["address"]
    install = "pip install 'profile_analyze[fleet]==9.9'"
    with monkeypatch.context() as patch:
        patch.setattr(dask_engine, "VERSION", "9.9")
        assert refused("--engine", f"dask:{address}", folder=folder) == (
            f"Dask at {address}: its scheduler has profile_analyze {pa.__version__}, and this is "
            f"version 9.9; install it there: {install}"
        )
        patch.setattr(dask_engine, "_VERSION", "a_missing_package:VERSION")
        assert refused("--engine", f"dask:{address}", folder=folder) == (
            f"Dask at {address}: its scheduler has no profile_analyze, and this is version 9.9; "
            f"install it there: {install}"
        )
    with pytest.raises(pa.EngineError, match=r"Dask: its worker tcp://a has no profile_analyze"):
        dask_engine._check_version(ImportError(), "worker tcp://a", "Dask")
    remedy = r"this is version 9\.9; install it there: pip install 'profile_analyze\[fleet\]==9\.9'"
    with pytest.raises(pa.EngineError, match=rf"a worker has profile_analyze .*, and {remedy}"):
        dask_pool._read("9.9", [], read_files=_die, within="")


def _misfit(_joiner: RunJoiner, _paths: Paths, *, within: str = "") -> Iterator[Step]:
    """Fail as Dask does if the versions of packages do not fit together."""
    if within:
        raise RuntimeError("Error during deserialization.\nFor more information, see")
    yield 0, ()


def test_a_cluster_that_fails_while_it_reads_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def failure(client: Client) -> str:
        pool = DaskPool(client, ["a.json"], _misfit, name="Dask")
        with pytest.raises(pa.EngineError) as caught:
            next(pool.merge_into(RunJoiner()))
        pool.shut_down()
        return str(caught.value)

    monkeypatch.setattr(dask_pool, "_PATIENCE_S", 0.01)
    with local_cluster(0, processes=False) as client:
        assert failure(client) == "Dask: all workers ended while files were read; start some"
    with local_cluster(1, processes=False) as client:
        assert failure(client) == (
            "Dask: Error during deserialization.; its scheduler, its workers and this machine need "
            "the same versions of profile_analyze, numpy and dask"
        )
        monkeypatch.setattr(DaskPool, "_wait_for", lambda _, future: future.cancel())
        assert failure(client) == (
            "Dask: the connection was lost while files were read; look at the log of its scheduler"
        )


def test_a_relative_name_is_in_the_folder_of_the_caller(folder: Path) -> None:
    source = Source("a/b.json", within=str(folder))
    assert (source.name, source.path) == ("a/b.json", str(folder / "a" / "b.json"))
    assert source.folder == folder / "a"
    for name in ("/a.json", "-", "", "memory://a.json"):
        assert Source(name, within=str(folder)).path == name
    # URL schemes have two letters or more, so this is a local file.
    assert Source("C://a.json", within=str(folder)).path == f"{folder}/C://a.json"
    beside = Source("00.json", within=str(folder)).neighbour("01.json")
    assert beside is not None
    assert (beside.name, beside.path) == ("01.json", str(folder / "01.json"))


def test_engines_that_do_not_exist_are_refused(folder: Path) -> None:
    for wrong in ("spark", "dask:", "tcp://host:8786", ""):
        outcome = run_command(str(folder), "--engine", wrong)
        assert (outcome.code, outcome.err) == (
            2,
            f"{ERROR}argument --engine: {wrong!r} is not an engine; write local, dask, or "
            "dask:ADDRESS for a cluster that exists, such as dask:tcp://host:8786\n",
        )
    assert run_command(str(folder), "--engine", "local") == run_command(str(folder))


def test_workers_cannot_read_standard_input(folder: Path) -> None:
    for call in (["-"], [str(folder), "--compare", "-"]):
        outcome = run_command(*call, "--engine", "dask", stdin=b"{")
        assert (outcome.code, outcome.err) == (
            2,
            f"{ERROR}argument --engine: the workers of Dask cannot read standard input; save it to "
            "a file, or leave --engine out\n",
        )


def test_one_file_starts_no_cluster(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "LocalCluster", None)
    file = str(folder / "00.json")
    outcome = run_command(file, "--engine", "dask")
    note = (
        "note: --engine has no effect: workers share the reading of several files, and there is "
        "only one"
    )
    assert outcome == Outcome(0, run_command(file).out, f"{note}\n")
    compared = run_command(file, "--compare", str(folder / "01.json"), "--engine", "dask")
    assert (compared.code, f"{note} on each side\n" in compared.err) == (0, True)


def test_a_missing_dask_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "profile_analyze.fleet.dask_engine")
    monkeypatch.setitem(sys.modules, "dask", None)
    assert refused("--engine", "dask", folder=folder) == (
        "--engine dask needs dask; install the extra fleet: pip install 'profile_analyze[fleet]'"
    )


def test_json_has_the_files_that_were_left_out(folder: Path, engine: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    call = (str(folder), str(bad), "--skip-bad", "--format", "json", "--engine", engine)
    left_out = json.loads(run_command(*call).out)["profile"]["left_out"]
    assert [one["file"] for one in left_out] == [str(bad)]

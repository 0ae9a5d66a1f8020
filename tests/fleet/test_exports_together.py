"""Exports that run at the same time, and exports that are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from errno import ENOSPC
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING

import pytest

from profile_analyze.errors import InputError, MalformedProfileError, OutputError
from profile_analyze.fleet import locking, new_parts
from profile_analyze.fleet.exporting import export
from profile_analyze.fleet.parts import partial_of, parts_of
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.content import MAX_SIZE
from tests.conftest import ROOT, Outcome, run_command
from tests.fleet.test_data_sets import exported, small

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

if sys.platform != "win32":
    import fcntl

QUESTION = ("--aggregate-by", "file", "--format", "csv", "--columns", "file,time", "-t", "0")


def files_in(data_set: Path | str) -> list[str]:
    """Return the files in all parts. Check that manifests and tables have the same files."""
    parts = parts_of(str(data_set))
    named = [source.name for part in parts for source in part.manifest.sources]
    assert named == [name for part in parts for name in partial_of(part).processes]
    return named


def left_overs(data_set: Path) -> list[str]:
    return [path.name for path in data_set.iterdir() if path.name.startswith(".unfinished")]


def is_locked(data_set: Path) -> bool:
    """Return whether the lock on a data set is held; always true if the system has no locks."""
    with suppress(BlockingIOError), (data_set / locking.LOCK).open("ab") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    return True


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a process that runs `code`."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.slowest
def test_a_file_that_another_export_adds_meanwhile_is_left_out(tmp_path: Path) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(6)]
    others = iter([[files[1], files[4]], [files[3]]])

    def read_while_another_exports(_: int) -> None:
        if names := next(others, None):
            exported(tmp_path / "set", names)

    outcome = export(
        str(tmp_path / "set"),
        files,
        max_size=MAX_SIZE,
        files_per_part=2,
        progress=read_while_another_exports,
    )
    note = Finding.of(
        *("repeated-content", Kind.ANSWER),
        data_set=str(tmp_path / "set"),
        first=files[1],
        files=3,
    )
    assert (outcome.added, outcome.files, [*outcome.notes]) == (3, 6, [note])
    assert files_in(tmp_path / "set") == [files[n] for n in (1, 4, 3, 0, 2, 5)]
    assert left_overs(tmp_path / "set") == []
    # The answer has a row for each file, in the order of the parts.
    answer = run_command(str(tmp_path / "set"), *QUESTION)
    assert answer == run_command(*files_in(tmp_path / "set"), *QUESTION)


COMMAND = (
    "import sys\n"
    "from profile_analyze.cli.main import main\n"
    "input()\n"  # the test lets both processes begin at the same time
    "sys.exit(main(sys.argv[1:]))\n"
)


@pytest.mark.slowest
@pytest.mark.skipif(sys.platform == "win32", reason="the system has no locks")
def test_two_processes_add_each_content_once(tmp_path: Path) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(40)]
    data_set = tmp_path / "set"
    orders: tuple[Sequence[str], ...] = (files[:30], files[:9:-1])
    processes = [started(COMMAND, *order, "--export", str(data_set)) for order in orders]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    outcomes = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outcomes
    assert sorted(files_in(data_set)) == sorted(files)
    assert left_overs(data_set) == []
    assert sum(int(out.partition("added ")[2].split()[0]) for out, _ in outcomes) == len(files)
    assert any(out.endswith("now 40 profiles\n") for out, _ in outcomes)


@pytest.mark.slowest
@pytest.mark.skipif(sys.platform == "win32", reason="the system has no locks")
def test_an_export_waits_while_another_one_publishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = small(tmp_path, "a.json")
    data_set = tmp_path / "set"
    exported(data_set, [small(tmp_path, "b.json", 9.0)])
    with locking.locked(data_set):
        process = started(COMMAND, file, "--export", str(data_set))
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        while not [*data_set.glob(".unfinished-*/0/_part.json")]:
            sleep(0.01)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        # This export must not wait for the lock, which this process holds.
        monkeypatch.setattr(locking, "fcntl", None)
        exported(data_set, [file])
    out, _ = process.communicate(timeout=30)
    assert out == f"{data_set}: added 0 profiles; now 2 profiles\n"


SLOW = (
    "import sys, time\n"
    "from profile_analyze.cli.process import run_process\n"
    "from profile_analyze.fleet.exporting import export\n"
    "from profile_analyze.readers.input.content import MAX_SIZE\n"
    "def wait(read):\n"
    "    if read == 2:\n"
    "        print('waits', flush=True)\n"
    "        for _ in range(6000): time.sleep(0.01)\n"
    "def answer():\n"
    "    export(sys.argv[1], sys.argv[2:], max_size=MAX_SIZE, files_per_part=1, progress=wait)\n"
    "run_process(answer)\n"
)


@pytest.mark.slowest
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_export_that_is_stopped_adds_nothing(tmp_path: Path, end: signal.Signals) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(3)]
    data_set = tmp_path / "set"
    exported(data_set, files[:1])
    expected = run_command(str(data_set), *QUESTION)
    others = [small(tmp_path, f"other{n}.json", n + 10.0) for n in range(3)]
    with started(SLOW, str(data_set), *others) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        process.send_signal(end)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert run_command(str(data_set), *QUESTION) == expected
    left = left_overs(data_set)
    assert len(left) == (0 if end == signal.SIGINT else 1)
    # A day later, the next export removes what the killed process left.
    for name in left:
        os.utime(data_set / name, (0, 0))
    again = run_command(*others, "--export", str(data_set))
    assert again == Outcome(0, f"{data_set}: added 3 profiles; now 4 profiles\n", "")
    assert left_overs(data_set) == []


def test_parts_are_published_together_in_spite_of_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename(folder: Path, target: Path) -> None:
        folder.rename(target)
        # The other thread gets the signal, because this thread blocks it.
        os.kill(os.getpid(), signal.SIGINT)
        sleep(0.1)

    is_done = Event()
    other = Thread(target=is_done.wait)
    other.start()
    monkeypatch.setattr(new_parts, "_rename_new", rename)
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(3)]
    with pytest.raises(KeyboardInterrupt):
        export(str(tmp_path / "set"), files, max_size=MAX_SIZE, files_per_part=1)
    is_done.set()
    other.join()
    assert files_in(tmp_path / "set") == files
    assert left_overs(tmp_path / "set") == []


@pytest.mark.slowest
@pytest.mark.parametrize("failing", range(4))
@pytest.mark.parametrize("is_lasting", [False, True])
def test_an_export_that_fails_while_it_publishes_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, *, is_lasting: bool
) -> None:
    """Publishing renames each of three parts, then makes them visible with a fourth rename."""
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(4)]
    data_set = tmp_path / "set"
    exported(data_set, files[:1])
    expected = run_command(str(data_set), *QUESTION)
    rename, calls = Path.rename, count()

    def failing_rename(path: Path, target: Path | str) -> Path:
        call = next(calls)
        assert run_command(str(data_set), *QUESTION) == expected
        assert is_locked(data_set)
        if call == failing or (is_lasting and call > failing):
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing_rename)
        with pytest.raises(OutputError, match="set: no space left on device"):
            exported(data_set, files, files_per_part=1)
    assert run_command(str(data_set), *QUESTION) == expected
    # Parts that cannot be removed at once stay hidden. A day later, the next export removes them.
    assert bool(left_overs(data_set)) == (is_lasting and failing > 0)
    for name in left_overs(data_set):
        os.utime(data_set / name, (0, 0))
    exported(data_set, files, files_per_part=1)
    assert files_in(data_set) == files
    assert left_overs(data_set) == []
    assert len([*data_set.glob("part=*")]) == len(files)


def test_a_part_that_is_removed_while_parts_are_listed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(3)]
    data_set = tmp_path / "set"
    exported(data_set, files, files_per_part=1)
    iterdir = Path.iterdir

    def removing(path: Path) -> Iterator[Path]:
        entries = [*iterdir(path)]
        (data_set / "part=000002").rename(tmp_path / "removed")
        return iter(entries)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", removing)
        assert files_in(data_set) == [files[0], files[2]]
    # A folder without a manifest, and a link to nothing, are damage.
    (data_set / "part=000002").mkdir()
    (data_set / "part=000004").symlink_to("nothing")
    for wrong in ("part=000002/_part.json: no such", "part=000004: is a link"):
        with pytest.raises(MalformedProfileError, match=f"damaged: {wrong}"):
            parts_of(str(data_set))
        name = wrong[: len("part=000002")]
        (data_set / name).rename(tmp_path / name)


def test_a_failed_export_cleans_up_although_a_manifest_is_damaged(tmp_path: Path) -> None:
    data_set = tmp_path / "set"
    exported(data_set, [small(tmp_path, "a.json")])
    bad = tmp_path / "bad.json"
    bad.write_text("{")

    def damage(_: int) -> None:
        assert len(left_overs(data_set)) == 1
        (data_set / "part=000001" / "_part.json").write_text("{")

    names = [small(tmp_path, "b.json", 5.0), str(bad)]
    with pytest.raises(InputError, match=r"bad\.json"):
        export(str(data_set), names, max_size=MAX_SIZE, files_per_part=1, progress=damage)
    assert left_overs(data_set) == []


def test_an_export_needs_no_locks_and_no_signal_masks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "fcntl", None)
    monkeypatch.delattr(signal, "pthread_sigmask")
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(2)]
    exported(tmp_path / "set", files)
    assert files_in(tmp_path / "set") == files

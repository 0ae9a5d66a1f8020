"""Progress is shown on a terminal if something takes long, and erased afterwards."""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.cli.output.progress import Progress, status_line
from profile_analyze.readers.input import content
from tests.conftest import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TINY = PROFILES / "tiny.json"
ERASE = "\x1b[K"


class Terminal:
    """A stream that claims to be a terminal, in place of standard error."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def terminal_of_messages(monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> Terminal:
    """Replace standard error by a terminal, and return the terminal."""
    # Not a fixture: after the fixtures, pytest replaces standard error again.
    monkeypatch.setenv("COLUMNS", str(columns))
    result = Terminal()
    monkeypatch.setattr(sys, "stderr", result)
    return result


def set_clock(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
    clock: Iterator[float] = iter(seconds)
    monkeypatch.setattr("profile_analyze.cli.output.progress.monotonic", lambda: next(clock))


def test_files_are_counted_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of_messages(monkeypatch)
    set_clock(monkeypatch, 0.0, 0.5, 1.2, 1.25, 1.5)
    progress = Progress(4)
    for files in (1, 3):
        step = progress.counter_of_next(files)
        for read in range(1, files + 1):
            step(read)
    progress.clear()
    assert terminal.text == (
        f"\rread 2 of 4 files, 1.7 files/s, about 1 s left{ERASE}\rread 4 of 4 files{ERASE}\r{ERASE}"
    )


def test_the_files_in_data_sets_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of_messages(monkeypatch)
    set_clock(monkeypatch, 0.0, 2.0, 4.0, 6.0)
    progress = Progress(3)  # a file and a data set, compared with a file
    candidate = progress.counter_of_next(2)
    progress.add_data_set(50)
    candidate(10)
    candidate(51)
    progress.counter_of_next(1)(1)
    assert terminal.text == (
        f"\rread 10 of 52 files, 5.0 files/s, about 8 s left{ERASE}"
        f"\rread 51 of 52 files, 13 files/s, about 0 s left{ERASE}\rread 52 of 52 files{ERASE}"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.0, "read 500 of 10000 files, 250 files/s, about 38 s left"),
        (50.0, "read 500 of 10000 files, 10 files/s, about 16 min left"),
        (500.0, "read 500 of 10000 files, 1.0 files/s, about 2.6 h left"),
    ],
)
def test_the_rate_and_the_remaining_time_are_shown(
    monkeypatch: pytest.MonkeyPatch, seconds: float, text: str
) -> None:
    terminal = terminal_of_messages(monkeypatch)
    set_clock(monkeypatch, 10.0, 10.0 + seconds)
    Progress(10_000).counter_of_next(10_000)(500)
    assert terminal.text == f"\r{text}{ERASE}"


def test_bytes_are_counted_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of_messages(monkeypatch)
    set_clock(monkeypatch, 0.0, 0.9, 1.1, 1.15, 1.16, 1.3)
    progress = Progress(1)
    for mebibytes in (1, 2, 3, 4):
        progress.count_bytes(mebibytes << 20, 4 << 20)
    progress.count_bytes(1 << 30, 0)
    progress.clear()
    progress.clear()
    assert terminal.text == (
        f"\rread 2.00 MiB of 4.00 MiB{ERASE}\rdecoding the profile{ERASE}"
        f"\rread 1.00 GiB{ERASE}\r{ERASE}"
    )


@pytest.mark.parametrize(("size", "is_shown"), [((128 << 20) - 1, False), (128 << 20, True)])
def test_decoding_a_large_file_is_announced_at_once(
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    *,
    is_shown: bool,
) -> None:
    terminal = terminal_of_messages(monkeypatch)
    set_clock(monkeypatch, 0.0, 0.1, 0.2)
    progress = Progress(1)
    progress.count_bytes(size - 1, size)
    progress.count_bytes(size, size)
    assert terminal.text == (f"\rdecoding the profile{ERASE}" if is_shown else "")


def test_steps_are_shown_at_once_and_fit_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of_messages(monkeypatch, columns=20)

    def stop() -> None:
        with status_line("measuring ", "measuring takes 10 s") as show:
            show("products of matrices")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert terminal.text == f"\rmeasuring products {ERASE}\r{ERASE}"


def test_progress_is_not_shown_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(1)
    progress.counter_of_next(1)(1)
    progress.count_bytes(1 << 30, 1 << 30)
    progress.clear()
    with status_line("measuring ", "measuring takes 10 s"):
        pass
    assert capsys.readouterr().err == ""


def test_in_a_pipe_one_note_replaces_the_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with status_line("measuring ", "measuring takes 10 s") as show:
        show("copies")
        show("products")
    assert capsys.readouterr().err == "note: measuring takes 10 s\n"


def test_load_reports_the_bytes_that_it_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[tuple[int, int]] = []

    def note(read: int, size: int) -> None:
        reported.append((read, size))

    size = TINY.stat().st_size
    pa.load(TINY, progress=note)
    assert reported == [(size, size)]
    # A large file is read in steps, into one buffer.
    monkeypatch.setattr("profile_analyze.readers.input.source.SMALL_SIZE", 0)
    monkeypatch.setattr(content, "SMALL_SIZE", 0)
    monkeypatch.setattr(content, "_STEP", 1000)
    monkeypatch.setattr(content, "_LARGE_STEP", 2000)
    reported.clear()
    assert len(pa.load(TINY, progress=note)) == len(pa.load(TINY))
    assert reported[:3] == [(1000, size), (3000, size), (5000, size)]
    assert reported[-1] == (size, size)
    # For a compressed file, progress counts the compressed bytes.
    packed = tmp_path / "tiny.json.gz"
    packed.write_bytes(gzip.compress(TINY.read_bytes()))
    reported.clear()
    pa.load(packed, progress=note)
    assert reported[-1] == (packed.stat().st_size, packed.stat().st_size)

"""Signals that end the command: nothing temporary stays, and no traceback is printed.

The processes stop themselves at a known place, so the tests do not depend on times.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from profile_analyze.readers.cache.files import write
from tests.conftest import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

RESNET = str(PROFILES / "resnet18.json")
STOP = """
import os, signal, sys, time
name = sys.argv.pop(1)
def stop():
    os.kill(os.getpid(), signal.Signals[name])
    # In small steps: a signal that arrives just before a sleep is handled after the sleep.
    for _ in range(6000): time.sleep(0.01)
"""
WHILE_WRITING = """
from profile_analyze.cli.output import standard as output
write = output.NewFiles._stage
def stopping(files, file, pieces):
    write(files, file, (stop() for _ in range(1)))
output.NewFiles._stage = stopping
"""
WHILE_DRAWING = """
import profile_analyze.report.pictures.charts as charts
charts.picture = lambda *_: stop()
"""
RUN = """
from profile_analyze.__main__ import run
run()
"""


def ended(folder: Path, code: str, name: str, *arguments: str) -> int:
    """Run code in a process in `folder`, and return its exit code. It must print nothing."""
    done = subprocess.run(
        [sys.executable, "-c", code, name, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("", "")
    return done.returncode


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize(
    ("place", "option", "file"),
    [(WHILE_WRITING, "-o", "out.csv"), (WHILE_DRAWING, "--plot", "out.svg")],
    ids=["-o", "--plot"],
)
def test_a_signal_leaves_no_temporary_file(
    tmp_path: Path, name: str, place: str, option: str, file: str
) -> None:
    if place is WHILE_DRAWING:
        pytest.importorskip("matplotlib")
    code = ended(tmp_path, STOP + place + RUN, name, RESNET, option, file)
    assert code == (130 if name == "SIGINT" else -signal.Signals[name])
    assert [*tmp_path.iterdir()] == []


def test_a_signal_while_files_get_their_names_leaves_whole_files(tmp_path: Path) -> None:
    place = """
from profile_analyze.cli.output import standard as output
publish = output.NewFiles._publish
def stopping(files, staged, created):
    os.kill(os.getpid(), signal.Signals[name])
    publish(files, staged, created)
output.NewFiles._publish = stopping
"""
    code = ended(tmp_path, STOP + place + RUN, "SIGTERM", RESNET, "-o", "out.csv")
    assert code == -signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text().endswith("\n")


def test_a_second_signal_does_not_stop_the_removal(tmp_path: Path) -> None:
    place = """
unlink = os.unlink
def stopping(path):
    os.kill(os.getpid(), signal.SIGTERM)
    unlink(path)
os.unlink = stopping
"""
    code = ended(tmp_path, STOP + WHILE_WRITING + place + RUN, "SIGTERM", RESNET, "-o", "out.csv")
    assert code == -signal.SIGTERM
    assert [*tmp_path.iterdir()] == []


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from profile_analyze.termination import CleanEnd\n"
        "import os\n"
        "with CleanEnd(): os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.exit(7)"
    )
    assert ended(tmp_path, code, "") == 7


def test_a_signal_leaves_no_unfinished_file_in_the_cache(tmp_path: Path) -> None:
    place = f"""
from profile_analyze.readers.cache.files import {write.__name__}
class Pieces(list):
    def __iter__(self):
        yield b"x"
        if not os.listdir("."): return  # the size is computed first
        os.kill(os.getpid(), signal.Signals[name])
{write.__name__}(".", "0" * 16, Pieces(), 100)
"""
    assert ended(tmp_path, STOP + place, "SIGTERM") == -signal.SIGTERM
    assert [path.suffix for path in tmp_path.iterdir()] == [".profile"]


def test_a_signal_during_an_export_leaves_no_unfinished_folder(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    place = """
from profile_analyze.fleet import new_parts
new_parts.NewParts.write = lambda *_: stop()
"""
    code = ended(tmp_path, STOP + place + RUN, "SIGTERM", RESNET, "--export", "set")
    assert code == -signal.SIGTERM
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["_profile_analyze.json"]


@pytest.mark.parametrize(
    "module", ["profile_analyze.cli.process", "profile_analyze.cli.main", "numpy", "orjson"]
)
def test_an_interrupt_while_modules_are_imported_is_silent(tmp_path: Path, module: str) -> None:
    """The signal comes in the middle of an import."""
    code = f"""{STOP}
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            stop()
sys.meta_path.insert(0, Finder())
{RUN}"""
    assert ended(tmp_path, code, "SIGINT", RESNET, "--format=json") in (130, -signal.SIGINT)


def test_an_interrupt_while_the_process_ends_is_silent(tmp_path: Path) -> None:
    code = f"{STOP}\nimport atexit\natexit.register(stop)\n{RUN}"
    output = tmp_path / "out.csv"
    assert (
        ended(tmp_path, code, "SIGINT", RESNET, "--notes=none", "-o", str(output)) == -signal.SIGINT
    )
    assert [*tmp_path.iterdir()] == [output]

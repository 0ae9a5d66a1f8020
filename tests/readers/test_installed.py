"""Readers from other packages. The tests install a reader as pip would; the command uses it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profile_analyze.readers.input.source import HEAD_SIZE
from tests.conftest import Outcome, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TEXT = "made-up\nconv1 Conv 3000\nrelu Relu 10\nconv2 Conv 5\n"


def documented_reader() -> str:
    """Return the code of the example in the documentation."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(code)


def install(folder: Path, code: str) -> None:
    """Write the files that pip installs for a package `made-up` with this reader."""
    (folder / "made_up.py").write_text(code, encoding="utf-8")
    metadata = folder / "made_up-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[profile_analyze.readers]\nmade-up-text = made_up:MadeUpReader\n", encoding="utf-8"
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder from which packages are imported."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("made_up", None)


def answer(folder: Path, text: str, *arguments: str) -> Outcome:
    """Run the command on a file with `text`."""
    file = folder / "run.txt"
    file.write_text(text, encoding="utf-8")
    return run_command(str(file), *arguments)


def test_the_documented_reader_works_once_its_package_is_installed(folder: Path) -> None:
    arguments = ("--aggregate-by", "type", "--columns", "time,type", "--format", "csv")
    missing = answer(folder, TEXT, *arguments)
    assert (missing.code, missing.out) == (1, "")
    assert "run.txt: is in no known format" in missing.err
    install(folder, documented_reader())
    expected = "time_s,type\r\n0.003005,Conv\r\n0.00001,Relu\r\n"
    assert answer(folder, TEXT, *arguments) == Outcome(0, expected, "")
    assert answer(folder, TEXT, "-t", "1", "--columns", "time,name") == Outcome(
        0,
        "total device time  3.015 ms\ntotal host time    N/A\n\n"
        "device self time (ms)  name\n"
        "                3.000  conv1\n",
        "",
    )


def test_messages_name_the_format_of_an_installed_reader(folder: Path) -> None:
    install(folder, documented_reader())
    assert answer(folder, "hello").err.endswith(", made-up text\n")


def test_an_installed_reader_gets_a_longer_head_if_necessary(folder: Path) -> None:
    head = 'head.startswith(b"made-up\\n")'
    assert head in documented_reader()
    install(folder, documented_reader().replace(head, 'b"\\nmade" in head'))
    # The reader skips the first line. It reads `made 0 1` as an operator of type 0.
    outcome = answer(folder, "#" * HEAD_SIZE + "\nmade 0 1", "--columns", "type", "-t", "1")
    assert outcome.out.endswith("\n0\n")


BROKEN = """
class MadeUpReader:
    format = "x"
    has_inputs = False

    def recognises(self, head, name):
        return 1 / self.one

    def read(self, source, wanted):
        return {}["time"]
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import a_missing_one", "ModuleNotFoundError: No module named 'a_missing_one'"),
        ("", "AttributeError: module 'made_up' has no attribute 'MadeUpReader'"),
        (BROKEN + "    one = 0", "ZeroDivisionError: division by zero"),
        (BROKEN + "    one = 1", "KeyError: 'time'"),
    ],
)
def test_a_broken_package_is_named(folder: Path, code: str, reason: str) -> None:
    install(folder, code)
    assert answer(folder, TEXT) == Outcome(
        1,
        "",
        f"profile_analyze: error: {folder / 'run.txt'}: the reader made-up-text of the package "
        f"made-up failed ({reason}); update or uninstall made-up\n",
    )

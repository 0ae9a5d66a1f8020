"""A made-up output format needs one module, and one entry in its register."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.conftest import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")


def run_made_up(*arguments: str) -> tuple[int, str, str]:
    """Run the command with a made-up view and a made-up output format: see `made_up.py`."""
    command = [sys.executable, "-m", "tests.made_up", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_made_up_format_needs_one_entry(tmp_path: Path) -> None:
    rows = "('ADD', 'Elemwise')\n('data', 'InputCallback')\n"
    call = (TINY, "--columns", "name,type", "--where", "name ~ ^(ADD|data)$", "-t", "0")
    assert run_made_up(*call, "--format", "made-up") == (0, rows, "")
    output = tmp_path / "answer.made"
    assert run_made_up(*call, "-o", str(output)) == (0, "", "")
    assert output.read_text(encoding="utf-8") == rows
    assert ",made-up," in run_made_up("--help")[1]

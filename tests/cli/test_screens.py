"""Whole screens: what a person sees on terminals of several widths.

`python -m tests.cli.test_screens` records them again. Look at the difference, as a person would.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from profile_analyze.cli.output import progress
from profile_analyze.report.layout.colors import without_colors
from profile_analyze.report.layout.text_layout import text_width
from tests.conftest import IS_FULL, ROOT
from tests.pseudo_terminal import run_command_on_terminal

WIDTHS: Final = (40, 60, 80, 120, 200)
SCREENS: Final = Path(__file__).parent / "screens"

PROFILES: Final = "tests/fixtures/profiles"
RUNS: Final = "tests/fixtures/runs"
COMPARISON: Final = f"{RUNS}/changed --compare {RUNS}/base"

# The answers that people see most, and the widest ones. Each word is an argument.
CALLS: Final = (
    f"{PROFILES}/resnet18.json -t 2",
    f"{PROFILES}/trace-dyn.json -t 2 --time-unit us",
    f"{PROFILES}/mobilenet.json --format plain",
    f"{PROFILES}/mobilenet.json --format plain --columns name,time,wait,cumulative_time,parameters",
    f"{PROFILES}/twocn.json --format plain -t 0 --aggregate-by type",
    f"{PROFILES}/twocn.json --format plain --aggregate-by type --aggregate sum,p90,max",
    f"{PROFILES}/resnet18.json --format plain --peaks 110G:12G",
    f"{PROFILES}/resnet18.json -t 1 --peaks 110G:12G --color always",
    f"{COMPARISON} -t 2",
    f"{COMPARISON} -t 3 --format plain --color always",
    f"{COMPARISON} --format plain --aggregate-by type",
    f"{COMPARISON} --print-only summary --format plain --fail-if total>+5% --fail-if time>0.1s",
    f"{PROFILES}/tiny.json --columns all --format plain -t 1",
    "--peaks list",
    "--columns help",
    "--explain flops",
    f"{PROFILES}/resnet18.json --explain flops",
    "--help",
    f"{PROFILES}/no-such-profile-in-this-folder.json",
    f"{PROFILES}/tiny.json --columns time,names",
    f"{PROFILES}/tiny.json --format csv --time-unit ms --color always",
)


def screen(width: int) -> str:
    """Return what all calls show on a terminal with `width` columns, without a pager."""
    answers = []
    with pytest.MonkeyPatch.context() as patch, Path(os.devnull).open() as nothing:
        patch.chdir(ROOT)
        for call in CALLS:
            shown = run_command_on_terminal(
                call.split(), (width, 40), {"NO_COLOR": "1"}, stdin=nothing.fileno()
            )
            answers.append(f"$ profile-analyze {call}\n{shown.text}[exit status {shown.code}]\n\n")
    return "".join(answers).replace("\x1b", "␛")


def recorded_file(width: int) -> Path:
    """Return the file with the recorded screen."""
    return SCREENS / f"{width}.txt"


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS if IS_FULL else [80])
def test_screens_match_the_recorded_ones(width: int) -> None:
    assert screen(width) == recorded_file(width).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_screen_unless_it_is_one_word(width: int) -> None:
    text = recorded_file(width).read_text(encoding="utf-8").replace("␛", "\x1b")
    for line in without_colors(text).splitlines():
        is_call = line.startswith("$ ")
        assert is_call or text_width(line) <= width or " " not in line.strip(), line


def test_a_busy_machine_changes_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "monotonic", count(0, 5).__next__)  # each step takes 5 s
    shown = run_command_on_terminal([str(ROOT / RUNS / "base")], (80, 40), {})
    assert shown.code == 0
    assert "files/s" not in shown.text


if __name__ == "__main__":  # records them again; review the difference
    for columns in WIDTHS:
        recorded_file(columns).write_text(screen(columns), encoding="utf-8")

"""The environment variable with the user's own defaults of options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.options.default_options import VARIABLE
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, TABLE_FORMATS
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = (*(name for name in OUTPUT_FORMATS if name != OPERATORS), *TABLE_FORMATS)
FILE = str(PROFILES / "resnet18.json")
DEFAULTS = "--format plain -t 1 --time-unit us"


@pytest.mark.parametrize(
    ("arguments", "same_as"),
    [
        ([], ["--format", "plain", "-t", "1", "--time-unit", "us"]),
        (["-t", "2"], ["--format", "plain", "-t", "2", "--time-unit", "us"]),
        (["--time-unit", "auto"], ["--format", "plain", "-t", "1"]),
        (["--format", "table"], ["--format", "table", "-t", "1", "--time-unit", "us"]),
        (["--wiki"], ["--wiki", "-t", "1", "--time-unit", "us"]),
        (["--dump-only-opr"], ["--dump-only-opr", "-t", "1", "--time-unit", "us"]),
        (["--format", "csv"], ["--format", "csv", "-t", "1"]),
        (["--format", "collapsed"], ["--format", "collapsed"]),  # a default -t cuts no stacks
        (["--explain", "time"], ["--explain", "time", "--time-unit", "us"]),
    ],
)
def test_a_call_overrides_defaults(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], same_as: list[str]
) -> None:
    expected = run_command(FILE, *same_as)
    monkeypatch.setenv(VARIABLE, DEFAULTS)
    assert run_command(FILE, *arguments) == expected
    assert expected.code == 0


def test_defaults_apply_only_while_the_variable_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run_command(FILE)
    monkeypatch.setenv(VARIABLE, DEFAULTS)
    assert run_command(FILE) != expected
    monkeypatch.delenv(VARIABLE)
    assert run_command(FILE) == expected


def test_the_suffix_of_the_output_file_overrides_a_default_format(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, DEFAULTS)
    assert run_command(FILE, "-o", str(tmp_path / "a.csv")).code == 0
    assert (tmp_path / "a.csv").read_text().startswith("id,name,type,time_s")


@pytest.mark.parametrize("defaults", ["", "  "])
def test_an_empty_variable_changes_nothing(monkeypatch: pytest.MonkeyPatch, defaults: str) -> None:
    expected = run_command(FILE)
    monkeypatch.setenv(VARIABLE, defaults)
    assert run_command(FILE) == expected


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        (
            "--format plan",
            f"argument --format: invalid choice: 'plan' (choose from {', '.join(FORMATS)}); "
            "did you mean plain?",
        ),
        ("--format csv", "--format csv is for programs; write it in the call"),
        (
            "-t 5 --where x",
            "--where cannot be a default, only --top, --format, --notes, --ignore, --time-unit, --color can; "
            "write --where in the call",
        ),
        (
            "run.json",
            "run.json cannot be a default, only --top, --format, --notes, --ignore, --time-unit, --color "
            "can; write run.json in the call",
        ),
    ],
)
def test_wrong_contents_are_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, defaults: str, message: str
) -> None:
    monkeypatch.setenv(VARIABLE, defaults)
    outcome = run_command(FILE)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: PROFILE_ANALYZE_OPTIONS: {message}\n"
    assert run_command("--help").code == 0  # in spite of the wrong contents

"""Options that have no effect together with `--sql` or `--export` are refused."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from profile_analyze.cli.options.table import OPTIONS
from tests.conftest import PROFILES, run_command

TINY = str(PROFILES / "tiny.json")
SQL = "--sql=select count(*) as n from operators"
ALWAYS_ALLOWED = {
    *("--max-size", "--skip-bad", "--cache", "--no-cache", "--label", "--engine"),
    *("--notes", "--color", "--no-pager"),
}
ALLOWED_WITH_SQL = ALWAYS_ALLOWED | {
    *("--sql", "--sql-timeout", "--level", "--work", "--skip-runs", "--force"),
    *("--from", "--to", "--step", "--step-region", "--input-shape", "--dim", "--model"),
    *("--split-matmul", "--correct-drift", "--time-unit"),
    *("--format", "--confluence", "--output"),
}
PRINTING = {"--help", "--version", "--print-completion", "--clear-cache"}
"""Options that print a text and end the process."""


@pytest.mark.parametrize(
    ("what", "allowed", "reason"),
    [
        (SQL, ALLOWED_WITH_SQL, "--sql shows the answer to a query"),
        (
            "--export=set",
            ALWAYS_ALLOWED | {"--export", "--sql-timeout"},
            "--export adds profiles to a data set",
        ),
    ],
)
def test_options_without_effect_are_refused(
    what: str, allowed: set[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for option in OPTIONS:
        flag = next(flag for flag in option.flags if flag.startswith("--"))
        if flag in PRINTING or allowed.intersection(option.flags):
            continue
        written = shlex.split(option.example_call) if option.takes_values else [flag]
        if "choices" in option.settings:  # the first choice is often the default
            written = [flag, option.settings["choices"][-1]]
        outcome = run_command(TINY, what, *written)
        assert (outcome.code, outcome.out) == (2, ""), flag
        assert outcome.err.startswith("profile_analyze: error: "), flag
        if not outcome.err.endswith(f"{reason}, so {flag} has no effect; leave one out\n"):
            # Another check of the same options may come first.
            assert any(other in outcome.err for other in (flag, *option.flags)), flag
    assert not Path("set").exists()


def test_options_in_the_environment_are_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE_ANALYZE_OPTIONS", "--format plain -t 5 --time-unit ms")
    assert run_command(TINY, SQL).out == "n\n4\n"
    assert run_command(TINY, "--export", "set").code == 0

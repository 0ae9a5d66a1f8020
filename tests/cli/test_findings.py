"""The options on findings: `--findings`, `--ignore` and `--explain CODE`."""

from __future__ import annotations

import pytest

from tests.conftest import FIXTURES, run_command

BASE, CHANGED = (str(FIXTURES / "runs" / side / "01.json.gz") for side in ("base", "changed"))
BOTH = (BASE, CHANGED, "--print-only", "summary")
SIDES = (
    f"{BASE} and {CHANGED} count as runs of one profile; to compare them, write {CHANGED} "
    f"--compare {BASE}"
)


def notes(*arguments: str) -> list[str]:
    return run_command(*BOTH, *arguments).err.splitlines()


def test_findings_are_chosen_and_ignored_by_code() -> None:
    (first, second) = notes()
    assert first == f"note: {SIDES}"
    assert notes("--ignore", "sides-without-compare") == [second]
    assert notes("--ignore", "idle-engine, sides-without-compare") == [second]
    assert notes("--findings", "sides-without-compare,idle-engine") == [first]
    assert notes("--findings", "idle-engine") == []
    markdown = run_command(*BOTH, "--format", "markdown", "--ignore", "sides-without-compare").out
    assert (SIDES in markdown, second in markdown) == (False, True)


@pytest.mark.parametrize("option", ["--findings", "--ignore"])
def test_an_unknown_code_is_an_error(option: str) -> None:
    outcome = run_command(*BOTH, option, "split-product")
    assert (outcome.code, outcome.err) == (
        2,
        f"profile_analyze: error: argument {option}: no finding has the code 'split-product'; did you "
        "mean split-products?\n",
    )


def test_a_finding_is_explained_with_its_values() -> None:
    general = (
        "sides-without-compare: the names of two inputs suggest a comparison, but they are joined\n"
    )
    assert run_command("--explain", "sides-without-compare").out == general
    absent = f"{general}This answer has no such finding.\n"
    assert run_command(BASE, "--explain", "sides-without-compare").out == absent
    assert run_command(BASE, CHANGED, "--explain", "sides-without-compare").out == (
        f"{general}In this answer:\n  {SIDES}\n    kind: wrong\n    old: {BASE}\n    new: {CHANGED}\n"
    )

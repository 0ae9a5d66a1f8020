"""What the original printed on real profiles, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import FIXTURES, PROFILES, run_command, some_of

CASES = [
    pytest.param(path.stem, case, id=f"{path.stem} {' '.join(case['args'])}")
    for path in sorted((FIXTURES / "cases").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))["same"]
]


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "case"), some_of(CASES, 6))
def test_prints_what_the_original_printed(profile: str, case: dict[str, Any]) -> None:
    outcome = run_command(str(PROFILES / f"{profile}.json"), *case["args"])
    assert (outcome.code, outcome.out) == (0, case["stdout"])

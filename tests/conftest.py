"""What several tests need: the shipped profiles, and the command run in this process."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

from profile_analyze.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
PROFILES = FIXTURES / "profiles"
PROFILE_NAMES = sorted(path.stem for path in PROFILES.glob("*.json"))

# The tests run once a mutant for `make mutants`. There a few examples must do, the same ones each
# time, or a mutant would die or live by chance; what fails is not made smaller, for nobody reads it.
_FOR_MUTANTS = os.environ.get("TESTS_FOR") == "mutants"
_MOST_EXAMPLES_FOR_MUTANTS = 30
# Tests time nothing, on a machine that may be busy.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "mutants",
    settings.get_profile("tests"),
    database=None,
    derandomize=True,
    max_examples=_MOST_EXAMPLES_FOR_MUTANTS,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("mutants" if _FOR_MUTANTS else "tests")


def examples(count: int) -> settings:
    """Ask a property of so many examples, or of the few that mutants are given."""
    return settings(max_examples=min(count, _MOST_EXAMPLES_FOR_MUTANTS) if _FOR_MUTANTS else count)


@dataclass(frozen=True)
class Outcome:
    """What a call of the command did."""

    code: int
    out: str
    err: str


def run_command(*arguments: str, encoding: str = "utf-8", stdin: bytes = b"") -> Outcome:
    """Run the command in this process; `--help` and `--version` may exit."""
    saved = sys.stdout, sys.stderr, sys.stdin
    out, err = io.BytesIO(), io.StringIO()
    text = io.TextIOWrapper(out, encoding=encoding, newline="", write_through=True)
    sys.stdout, sys.stderr, sys.stdin = text, err, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        code = main(list(arguments))
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    finally:
        text.flush()
        sys.stdout, sys.stderr, sys.stdin = saved
    return Outcome(code, out.getvalue().decode(encoding), err.getvalue())


@pytest.fixture
def profile_path() -> Callable[[str], str]:
    """The path of a shipped profile, by its name."""
    return lambda name: str(PROFILES / f"{name}.json")

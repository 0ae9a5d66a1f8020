"""What several tests need: the shipped profiles, and the command run in this process."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
PROFILES = FIXTURES / "profiles"
PROFILE_NAMES = sorted(path.stem for path in PROFILES.glob("*.json"))


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

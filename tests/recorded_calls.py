"""Calls with their whole recorded answers, in one text file for each topic."""

from __future__ import annotations

import contextlib
import os
import shlex
from functools import cache
from typing import TYPE_CHECKING

from tests.conftest import FIXTURES, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAM = "profile-analyze "


@contextlib.contextmanager
def in_fixtures() -> Iterator[None]:
    """Make the folder of fixtures the current one, so that names of files are short."""
    before = os.getcwd()  # noqa: PTH109
    os.chdir(FIXTURES)
    try:
        yield
    finally:
        os.chdir(before)


def answer(call: str) -> str:
    """Return what a call prints: standard output, standard error and the exit status."""
    with in_fixtures():
        outcome = run_command(*shlex.split(call))
    printed = f"{outcome.out}{outcome.err}".replace("\r\n", "\n")
    return f"{printed}[exit status {outcome.code}]\n"


@cache
def recorded(topic: str) -> dict[str, str]:
    """Return the recorded answer of each call about a topic."""
    text = (FIXTURES / "calls" / f"{topic}.txt").read_text(encoding="utf-8")
    parts = f"\n{text}".split(f"\n$ {PROGRAM}")[1:]
    return {call: printed for call, _, printed in (part.partition("\n") for part in parts)}


def record(topic: str, calls: Sequence[str]) -> None:
    """Record the answers of all calls about a topic anew. Review the difference."""
    texts = (f"$ {PROGRAM}{call}\n{answer(call)}" for call in calls)
    file = FIXTURES / "calls" / f"{topic}.txt"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(texts), encoding="utf-8")

"""The console sessions in the documents. Run this module to record their output anew."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from tests.conftest import ROOT, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("benchmarks", "tests/fixtures")),
    *sorted((ROOT / "docs").glob("*.md")),
]

_SESSION = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.*)\n", re.MULTILINE)


def sessions(path: Path) -> list[str]:
    """Return the text of each console session in a document."""
    return _SESSION.findall(path.read_text(encoding="utf-8"))


def recorded(session: str) -> str:
    """Return the session with what its commands print now."""
    return "".join(f"$ {command}\n{answer(command)}" for command in _COMMAND.findall(session))


def answer(command: str) -> str:
    """Return what a command prints on both streams. It must succeed, or fail by its gate."""
    program, *arguments = shlex.split(command)
    assert program == "profile-analyze"
    outcome = run_command(*arguments)
    assert outcome.code == (3 if "FAILED: " in outcome.out else 0), outcome.err
    return (outcome.out + outcome.err).replace("\r\n", "\n")


def changed_documents() -> Iterator[tuple[Path, str]]:
    """Yield each document with outdated sessions, and its text with the sessions recorded anew."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        new = _SESSION.sub(lambda found: f"```console\n{recorded(found[1])}```", text)
        if new != text:
            yield path, new


if __name__ == "__main__":
    for path, text in changed_documents():
        path.write_text(text, encoding="utf-8", newline="\n")

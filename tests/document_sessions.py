"""The console sessions in the documents. Run this module to record their output anew."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from tests.conftest import ROOT, run_command
from tests.pseudo_terminal import run_command_on_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("benchmarks", "tests/fixtures")),
    *sorted((ROOT / "docs").glob("*.md")),
]

_SESSION = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)  # a line may end with a backslash


_MANY_LINES = 1000  # enough to show any answer without a pager
_WIDTHS = {"README.md": 90, "pytorch.md": 90}
"""The columns of the terminal on which a document's sessions run. Sessions of other documents run
without a terminal, so their output has no fixed width."""


def sessions(path: Path) -> list[str]:
    """Return the text of each console session in a document."""
    return _SESSION.findall(path.read_text(encoding="utf-8"))


def recorded(session: str, path: Path) -> str:
    """Return a session of the document `path`, with what its commands print now."""
    width = _WIDTHS.get(path.name)
    return "".join(
        f"$ {command}\n{answer(command, width)}" for command in _COMMAND.findall(session)
    )


def answer(command: str, width: int | None = None) -> str:
    """Return what a command prints. The command must succeed, or fail because of `--fail-if`."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    assert program == "profile-analyze"
    if width is not None:
        size = (width, _MANY_LINES)
        screen = run_command_on_terminal(arguments, size, {"NO_COLOR": "1"})
        text, code = screen.text, screen.code
    else:
        outcome = run_command(*arguments)
        text, code = (outcome.out + outcome.err).replace("\r\n", "\n"), outcome.code
    assert code == (3 if "FAILED: " in text else 0), text
    return text


def changed_documents() -> Iterator[tuple[Path, str]]:
    """Yield each document with outdated sessions, and its text with the sessions recorded anew."""
    for path in DOCUMENTS:
        new = text = path.read_text(encoding="utf-8")
        for session in sessions(path):
            new = new.replace(session, recorded(session, path))
        if new != text:
            yield path, new


if __name__ == "__main__":
    for path, text in changed_documents():
        path.write_text(text, encoding="utf-8", newline="\n")

"""The picture of a terminal in the README. Run this module to draw it anew from a real call."""

from __future__ import annotations

import io
import re
from html import unescape
from typing import Final

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from tests.conftest import ROOT
from tests.pseudo_terminal import run_command_on_terminal

PICTURE: Final = ROOT / "docs" / "terminal.svg"
_FILE: Final = "resnet18.json"
_OPTIONS: Final = "--peaks 100G:20G --aggregate-by type -t 5 --format plain"
_COLUMNS: Final = 118
_LINES: Final = 60
# Web fonts would be fetched from elsewhere; without them, the reader's own monospaced font is used.
_WEB_FONT: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def screen() -> str:
    """Return the command and what it prints now, with colours."""
    path = str(ROOT / "tests" / "fixtures" / "profiles" / _FILE)
    shown = run_command_on_terminal((path, *_OPTIONS.split()), (_COLUMNS, _LINES), {})
    assert shown.code == 0, shown.text
    return f"$ profile-analyze {_FILE} {_OPTIONS}\n{shown.text}"


def drawn(text: str) -> str:
    """Return the picture of a terminal with `text`, as SVG."""
    console = Console(
        record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    console.print(Text.from_ansi(text))
    svg = console.export_svg(title="", theme=DIMMED_MONOKAI, unique_id="terminal")
    # Without this attribute, some programs leave out the blanks at the start of a line.
    svg = _WEB_FONT.sub("", svg).replace("<svg ", '<svg xml:space="preserve" ', 1)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def lines_in(svg: str) -> list[str]:
    """Return the lines of text in a picture."""
    lines: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        lines.setdefault(float(y), []).append((float(x), unescape(text).replace("\xa0", " ")))
    return ["".join(text for _, text in sorted(lines[y])).rstrip() for y in sorted(lines)]


if __name__ == "__main__":
    PICTURE.write_text(drawn(screen()), encoding="utf-8", newline="\n")

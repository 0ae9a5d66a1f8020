"""The pages and parts of documents that are made from the code. Run this module to write them.

A part stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->`.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.options.options_page import options_page
from profile_analyze.work.kinds import KINDS
from tests import format_capabilities
from tests.conftest import ROOT, run_command
from tests.document_sessions import DOCUMENTS
from tests.test_layering import MAY_IMPORT
from tests.test_layering import ROOT as PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


def _columns() -> str:
    return run_command("--columns", "help").out


def _findings() -> str:
    return run_command("--findings", "help").out


def _devices() -> str:
    return run_command("--peaks", "list").out


def _kinds() -> str:
    rows = ["| kind | category | inputs; attributes | counts | source |", "|---|---|---|---|---|"]
    rows += [
        f"| {kind.name} | {kind.category} | {kind.inputs} | {kind.meaning} | {kind.source} |"
        for kind in KINDS.values()
    ]
    return "\n".join(rows) + "\n"


def _rooms() -> str:
    """Return the packages from top to bottom, and what each folder and top-level module is for."""
    floors = (sorted(name for name in floor if (PACKAGE / name).is_dir()) for floor in _floors())
    drawing = [f"    {', '.join(packages)}" for packages in floors if packages]
    files = {*PACKAGE.rglob("__init__.py"), *PACKAGE.glob("*.py")} - {PACKAGE / "__init__.py"}
    rows = sorted(f"| `{_place(file)}` | {_first_line(file)} |" for file in files)
    return "\n".join(["", *drawing, "", "| place | what is there |", "|---|---|", *rows, ""])


def _floors() -> list[set[str]]:
    """Return the packages by floor. The packages of a floor import only from the floors below."""
    left = {name: set(imported) for name, imported in MAY_IMPORT.items() if name != "__init__"}
    floors = []
    while left:
        floors.append(left.keys() - set().union(*left.values()))
        left = {name: imported for name, imported in left.items() if name not in floors[-1]}
    return floors


def _place(file: Path) -> str:
    place = file.relative_to(PACKAGE)
    return f"{place.parent.as_posix()}/" if place.stem == "__init__" else place.as_posix()


def _first_line(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


PAGES: Final[Mapping[Path, Callable[[], str]]] = {
    ROOT / "docs" / "columns.md": _columns,
    ROOT / "docs" / "findings.md": _findings,
    ROOT / "docs" / "options.md": options_page,
}
"""The pages that are generated whole."""
PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "devices": _devices,
    "formats": format_capabilities.table,
    "kinds": _kinds,
    "rooms": _rooms,
}
"""The parts of other pages, by name."""

GENERATED: Final = re.compile(
    r"(<!-- (generated|measured): (.+) -->\n).*?(<!-- end: \3 -->\n)", re.DOTALL
)
"""A part that nobody writes by hand. Benchmarks write the measured parts, on request only."""


@cache
def current(name: str) -> str:
    """Return the text that a generated part has now."""
    return PARTS[name]()


def with_current_parts(document: str) -> str:
    """Return a document with all its generated parts made anew."""

    def part(found: re.Match[str]) -> str:
        start, kind, name, end = found.groups()
        return start + current(name) + end if kind == "generated" else found[0]

    return GENERATED.sub(part, document)


def current_documents() -> Iterator[tuple[Path, str]]:
    """Yield each document, with the text that it has now."""
    for path in DOCUMENTS:
        page = PAGES.get(path)
        yield path, page() if page else with_current_parts(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path, text in current_documents():
        path.write_text(text, encoding="utf-8", newline="\n")

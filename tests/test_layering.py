"""The arrows between the rooms, and what only one room may do."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import profile_analyze

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(profile_analyze.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# room -> the rooms that it may import, besides itself
ARROWS = {
    "collector": set(),
    "errors": set(),
    "version": set(),
    "units": {"errors"},
    "model": {"errors", "units"},
    "readers": {"collector", "errors", "units", "model"},
    "analysis": {"errors", "units", "model"},
    "query": {"errors", "units", "model", "analysis"},
    "report": {"errors", "units", "model", "analysis", "query"},
    "cli": {
        "collector",
        "errors",
        "version",
        "units",
        "model",
        "readers",
        "analysis",
        "query",
        "report",
    },
    "__main__": {"cli"},
    "__init__": {"errors", "version", "units", "model", "readers", "analysis", "query", "report"},
}

# package from elsewhere -> the rooms that may import it
FOREIGN = {
    "msgspec": {"readers"},
    "zstandard": {"readers"},
    "matplotlib": {"report"},
    "shtab": {"cli"},
    "orjson": {"report"},
    "tomllib": {"analysis"},
    "tomli": {"analysis"},
    "numpy": {"model", "readers", "analysis", "query", "report"},
    "regex": {"query"},
    "tabulate": {"report"},
    "wcwidth": {"report"},
}

# what acts on the world outside -> the rooms that may
ACTING = {
    "print": {"cli"},
    "exit": {"__main__", "cli"},
    "isatty": {"cli", "readers"},
    "environ": {"cli"},
    "getenv": {"cli"},
    "stdout": {"cli"},
    "stderr": {"cli"},
    "stdin": {"readers"},
    "open": {"readers", "cli"},
}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module is not None
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_import_only_what_they_may(path: Path) -> None:
    room = room_of(path)
    for name in imports_of(path):
        top, _, rest = name.partition(".")
        if top == "profile_analyze":
            assert rest.split(".")[0] in ARROWS[room] | {room}
        else:
            assert room in FOREIGN.get(top, {room})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_acts_on_the_world(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        if isinstance(name, str):
            assert room_of(path) in ACTING.get(name, {room_of(path)}), f"line {node.lineno}"  # type: ignore[attr-defined]


def test_every_room_is_known() -> None:
    assert {room_of(path) for path in MODULES} == set(ARROWS)

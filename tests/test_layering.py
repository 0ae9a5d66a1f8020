"""The arrows between the rooms, and what only one room may do."""

from __future__ import annotations

import ast
import re
import sys
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
    "gc_pause": set(),
    "errors": set(),
    "version": set(),
    "suggestions": set(),
    "units": {"errors"},
    "model": {"errors", "units"},
    "readers": {"gc_pause", "errors", "units", "model"},
    "analysis": {"errors", "suggestions", "units", "model"},
    "query": {"errors", "suggestions", "units", "model", "analysis"},
    "report": {"errors", "units", "model", "analysis", "query"},
    "cli": {
        "gc_pause",
        "errors",
        "suggestions",
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

# package from elsewhere -> the rooms that may import it; of the standard library, only those few
# that not all rooms may import are here
FOREIGN: dict[str, set[str]] = {
    "msgspec": {"readers"},
    "zstandard": {"readers"},
    "matplotlib": {"report"},
    "shtab": {"cli"},
    "orjson": {"report"},
    "compression": {"readers"},  # of the standard library from Python 3.14 on
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
            assert may_import(room, top), name


def may_import(room: str, package: str) -> bool:
    """Whether a room may import a package from elsewhere."""
    if package in FOREIGN:
        return room in FOREIGN[package]
    return package in sys.stdlib_module_names


@pytest.mark.parametrize("room", ARROWS)
def test_a_package_that_is_not_known_may_not_be_imported(room: str) -> None:
    assert not may_import(room, "requests")
    assert not may_import(room, "tests")
    assert not may_import(room, "fuzz")
    assert may_import(room, "__future__")
    assert may_import(room, "regex") == (room == "query")
    assert may_import(room, "tomllib") == (room == "analysis")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_acts_on_the_world(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        if isinstance(name, str):
            assert room_of(path) in ACTING.get(name, {room_of(path)}), f"line {node.lineno}"  # type: ignore[attr-defined]


def test_every_room_is_known() -> None:
    assert {room_of(path) for path in MODULES} == set(ARROWS)


NEUTRAL = ("model", "query", "report", "analysis")
"""The rooms that know nothing of any one runtime."""

# what only MegEngine has, whatever its case; `kernel` and `plane` are words of all
WORDS_OF_ONE_RUNTIME = re.compile(
    r"megengine|comp[ _-]?node|opencl|footprint|graph_exec|in_layouts"
    r"|(?<![a-z])(?:kern|lanes?|opr)(?![a-z])",
    re.IGNORECASE,
)

# The headings of the original's tables for wiki pages, which are to the byte what the original's are.
HEADINGS = {Path("report/wiki.py"): ('"opr name"', '"opr type"', '"opr count"', '"opr id"')}


def words_of_one_runtime(text: str) -> list[str]:
    """Each line with such a word, by its number."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {line}" for number, line in lines if WORDS_OF_ONE_RUNTIME.search(line)]


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if room_of(path) in NEUTRAL],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_neutral_rooms_have_no_word_of_one_runtime(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for heading in HEADINGS.get(path.relative_to(PACKAGE), ()):
        assert heading in text
        text = text.replace(heading, "")
    assert words_of_one_runtime(f"{path.name}\n{text}") == []


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        *((text, True) for text in ("MegEngine", "a megengine.tools", "kern", "KERN_S", "kern_s")),
        *((text, True) for text in ("comp node", "comp_node", "CompNode", "compNode", "OpenCL")),
        *((text, True) for text in ("enable_opencl_profile", "footprints", "OprFootprint")),
        *((text, True) for text in ("graph_exec", "in_layouts", "a lane", "lanes", "by_lane")),
        *((text, True) for text in ("opr_id", "opr id", "--opr-name", "per opr ", "OPR_name")),
        *((text, False) for text in ("kernel", "first_kernel_s", "plane", "explanes", "planes")),
        *((text, False) for text in ("operator", "component", "layout", "improper", "in_strides")),
    ],
)
def test_words_of_one_runtime_are_found(text: str, *, is_told: bool) -> None:
    assert bool(words_of_one_runtime(text)) == is_told


def test_no_other_file_is_in_the_neutral_rooms() -> None:
    """Or it would have to be read for such words too."""
    found = {
        path
        for room in NEUTRAL
        for path in (PACKAGE / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == {path for path in MODULES if room_of(path) in NEUTRAL}

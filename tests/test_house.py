"""How large rooms, files and functions are, which files import each other, who makes sentences.

python -m tests.test_house    prints what the tests hold
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final

from tests.test_layering import MODULES, ROOT, code_of, facts_of, label, none_found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_FILES: Final = 25
"""How many modules a folder may have."""
MOST_LINES: Final = 600
MOST_LINES_OF_A_FUNCTION: Final = 50
CIRCLES: Final = 4
"""How many groups of files import each other, at least for type checkers. May only shrink."""
SENTENCE_MAKERS: Final = ("TextNote", "notes_with_share")
PLACES_OF_SENTENCES: Final = 4
"""At how many places notes may be made."""


def files_in_folders() -> dict[str, int]:
    """Return how many modules each folder has."""
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES)
    return dict(folders.most_common())


@cache
def imported_files() -> dict[str, frozenset[str]]:
    """Return, for each file, the files of the package that it imports, also for type checkers."""
    files = {
        ".".join((ROOT.name, *path.relative_to(ROOT).with_suffix("").parts)): label(path)
        for path in MODULES
    }
    files |= {name.removesuffix(".__init__"): file for name, file in files.items()}
    found = {}
    for path in MODULES:
        names = set()
        for node in ast.walk(ast.parse(code_of(path))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {f"{node.module}.{alias.name}" for alias in node.names} & files.keys()
                if not all(f"{node.module}.{alias.name}" in files for alias in node.names):
                    names |= {node.module} & files.keys()
        found[label(path)] = frozenset(files[name] for name in names) - {label(path)}
    return found


def circles(imported: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Return the groups of files that can each be reached from each other."""

    def reached(start: str) -> frozenset[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for file in imported.get(waiting.pop(), frozenset()) - seen:
                seen.add(file)
                waiting.append(file)
        return frozenset(seen)

    reach = {file: reached(file) for file in imported}
    inside = [file for file in imported if file in reach[file]]
    groups = {frozenset(b for b in inside if b in reach[a] and a in reach[b]) for a in inside}
    return sorted(map(sorted, groups))


def places_of_sentences() -> Counter[str]:
    """Return how many notes each file makes."""
    return Counter(
        label(path)
        for path in MODULES
        for node in ast.walk(ast.parse(code_of(path)))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in SENTENCE_MAKERS
    )


def test_no_folder_is_crowded() -> None:
    folders = files_in_folders()
    assert {name: count for name, count in folders.items() if count > MOST_FILES} == {}


def test_files_and_functions_are_short() -> None:
    def too_long(code: str) -> Iterator[str]:
        if (count := len(code.splitlines())) > MOST_LINES:
            yield f"{count} lines"
        for first, last, name in facts_of(code).functions:
            if last - first >= MOST_LINES_OF_A_FUNCTION:
                yield f"{first}: {name} has {last - first + 1} lines"

    none_found({path: list(too_long(code_of(path))) for path in MODULES})


def test_files_import_each_other_in_few_circles() -> None:
    found = circles(imported_files())
    assert len(found) <= CIRCLES, "\n".join(" <-> ".join(one) for one in found)


def test_a_circle_is_detected() -> None:
    imported = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "e"}, "e": {"d"}}
    assert circles({file: frozenset(names) for file, names in imported.items()}) == [
        ["b", "c"],
        ["d", "e"],
    ]


def test_sentences_are_made_at_few_places() -> None:
    places = places_of_sentences()
    assert sum(places.values()) <= PLACES_OF_SENTENCES, places.most_common()


if __name__ == "__main__":
    print("modules in each folder:", files_in_folders())
    for one in circles(imported_files()):
        print("circle:", " <-> ".join(one))
    sentences = places_of_sentences()
    print(f"notes are made at {sum(sentences.values())} places in {len(sentences)} files:")
    print(dict(sentences.most_common()))

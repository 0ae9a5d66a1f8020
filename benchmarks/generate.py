"""Generates profiles of any size by repeating a real one.

    python -m benchmarks.generate --operators 94000 large.json

Each copy has its own ids, names and times, so that ids do not collide. Durations vary slightly with
a fixed seed, so that values are as distinct as in a real profile of that size.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SOURCE = Path(__file__).parent.parent / "tests" / "fixtures" / "profiles" / "mobilenet.json"
SEED = 2026
JITTER = 0.1
TICK_S = 1e-6

_PLACEHOLDER = re.compile(r'"@(\d+)@"')


@dataclass(frozen=True)
class Template:
    """The JSON of one entry, split at its ids. A mark in its name stands for the copy's number."""

    texts: tuple[str, ...]
    """The JSON before, between and after the ids."""
    ids: tuple[int, ...]

    @classmethod
    def of(cls, value: Any, known: set[str]) -> Template:
        """Return the template of a decoded `value`. `known` has all ids."""
        parts = _PLACEHOLDER.split(json.dumps(_marked(value, known), separators=(", ", ": ")))
        return cls(tuple(parts[::2]), tuple(map(int, parts[1::2])))

    def written(self, copy: int, step: int) -> str:
        """Return the JSON of the entry in copy number `copy`. Its ids grow by `copy * step`."""
        parts = [self.texts[0]]
        for id_, text in zip(self.ids, self.texts[1:], strict=True):
            parts += f'"{id_ + copy * step}"', text
        return "".join(parts).replace("#COPY#", str(copy))


def _marked(value: Any, known: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _marked_field(key, inner, known) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, known) for inner in value]
    return f"@{value}@" if isinstance(value, str) and value in known else value


def _marked_field(key: str, value: Any, known: set[str]) -> Any:
    return f"{value}#COPY#" if key == "name" else _marked(value, known)


@dataclass(frozen=True)
class Copies:
    """How often a profile is repeated, and how much of the last copy is used."""

    whole: int
    """The number of whole copies."""
    rest: int
    """The number of operators in a last, partial copy; 0 without such a copy."""
    index: dict[str, int]
    """The index of each operator in its copy."""
    step: int
    """How much larger the id of an operator is in each copy than in the copy before."""

    @classmethod
    def of(cls, graph: dict[str, Any], operators: int) -> Copies:
        """Return the copies that together have this number of operators."""
        whole, rest = divmod(operators, len(graph["operator"]))
        index = {id_: n for n, id_ in enumerate(graph["operator"])}
        return cls(whole, rest, index, 1 + max(map(int, [*graph["operator"], *graph["var"]])))

    def of_section(self, section: Iterable[str]) -> Iterator[tuple[int, str]]:
        """Yield the number of the copy and the id of each entry of a section.

        A partial copy leaves out operators, but no variables.
        """
        ids = list(section)
        for copy in range(self.whole + (self.rest > 0)):
            for id_ in ids:
                if copy < self.whole or self.index.get(id_, 0) < self.rest:
                    yield copy, id_


def generated(operators: int, source: Path = SOURCE, seed: int = SEED) -> Iterator[str]:
    """Yield the JSON of a profile with this number of operators, in pieces."""
    document = json.loads(source.read_text(encoding="utf-8"))
    profiler, graph = document["profiler"], document["graph_exec"]
    copies = Copies.of(graph, operators)
    known = set(graph["operator"]) | set(graph["var"])
    yield '{"profiler": {"opr_internal_pf": {}, '
    yield from _section("host", _times(profiler["host"], copies, seed))
    yield ", "
    yield from _section("opr_footprint", _entries(profiler["opr_footprint"], copies, known))
    yield ", "
    yield from _section("device", _times(profiler["device"], copies, seed))
    yield '}, "graph_exec": {'
    yield from _section("var", _entries(graph["var"], copies, known))
    yield ", "
    yield from _section("operator", _entries(graph["operator"], copies, known))
    yield "}}"


def _entries(section: dict[str, Any], copies: Copies, known: set[str]) -> Iterator[tuple[int, str]]:
    templates = {key: Template.of(value, known) for key, value in section.items()}
    for copy, id_ in copies.of_section(section):
        yield int(id_) + copy * copies.step, templates[id_].written(copy, copies.step)


def _times(section: dict[str, Any], copies: Copies, seed: int) -> Iterator[tuple[int, str]]:
    generator = random.Random(seed)
    span_s = 1 + max(event["end"] for events in section.values() for event in events.values())
    for copy, id_ in copies.of_section(section):
        factor = 1 + generator.uniform(-JITTER, JITTER)
        events = {key: _moved(event, copy * span_s, factor) for key, event in section[id_].items()}
        yield int(id_) + copy * copies.step, json.dumps(events)


def _moved(event: dict[str, float], shift_s: float, factor: float) -> dict[str, float]:
    start_s = event["start"] + shift_s
    moved = {key: start_s + (event[key] - event["start"]) * factor for key in ("kern", "end")}
    # Without rounding to 15 digits, 5 ticks would be written as 4.9999999999999996e-06.
    ticks = {key: round(value / TICK_S) for key, value in {"start": start_s, **moved}.items()}
    return {key: float(f"{count * TICK_S:.15g}") for key, count in ticks.items()}


def _section(name: str, entries: Iterable[tuple[int, str]]) -> Iterator[str]:
    yield f'"{name}": {{'
    for number, (id_, text) in enumerate(entries):
        yield f'{", " if number else ""}"{id_}": {text}'
    yield "}"


def write(path: Path, operators: int) -> None:
    """Write a profile with this number of operators to `path`, unless the file exists."""
    write_once(path, generated(operators))


def write_once(path: Path, pieces: Iterable[str]) -> None:
    """Write `pieces` to `path`, unless the file exists. The file appears once it is complete."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w", encoding="utf-8") as stream:
        stream.writelines(pieces)
    unfinished.rename(path)


def main() -> None:
    """Write a profile. The command line gives its path and its number of operators."""
    parser = argparse.ArgumentParser(description="Write a profile of any size.")
    parser.add_argument("--operators", type=int, required=True)
    parser.add_argument("path", type=Path)
    arguments = parser.parse_args()
    write(arguments.path, arguments.operators)


if __name__ == "__main__":
    main()

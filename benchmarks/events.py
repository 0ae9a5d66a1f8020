"""Generates ONNX Runtime profiles with any number of events by repeating a real one.

Each copy starts after the copy before it. Durations vary slightly with a fixed seed, so that values
are as distinct as in a real profile of that size.
"""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.generate import JITTER, SEED, write_once

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: Final = (
    Path(__file__).parent.parent / "tests" / "fixtures" / "onnxruntime" / "squeezenet-1.31.json.gz"
)
_TIMES: Final = re.compile(r'"dur" :(\d+),"ts" :(\d+)')


def events(count: int, source: Path = SOURCE, seed: int = SEED) -> Iterator[str]:
    """Yield at least `count` events: the last copy is always complete."""
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        lines = [line.rstrip(",\n") for line in stream if line.startswith("{")]
    generator = random.Random(seed)
    last_start_us = max(int(start) for line in lines for _, start in _TIMES.findall(line))
    span_us = 2 * (1 + last_start_us)  # long enough for the last event to end
    for copy in range(-(-count // len(lines))):
        for line in lines:
            # Only nodes become shorter, so that the runs still contain them.
            factor = 1 - JITTER * generator.random() if _is_node(line) else 1
            yield _moved(line, copy * span_us, factor)


def _is_node(line: str) -> bool:
    return line.startswith('{"cat" : "Node"')


def _moved(line: str, shift_us: int, factor: float) -> str:
    """Return an event that starts later and takes `factor` times as long."""
    before, duration_us, start_us, after = _TIMES.split(line, maxsplit=1)
    times = f'"dur" :{round(int(duration_us) * factor)},"ts" :{int(start_us) + shift_us}'
    return f"{before}{times}{after}"


def write(path: Path, count: int) -> None:
    """Write a profile with at least `count` events to `path`, unless the file exists."""
    write_once(path, _document(count))


def _document(count: int) -> Iterator[str]:
    yield "[\n"
    for number, event in enumerate(events(count)):
        yield f",\n{event}" if number else event
    yield "\n]\n"

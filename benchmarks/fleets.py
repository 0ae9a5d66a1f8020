"""The cases of the benchmarks with many files."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from benchmarks.cases import DATA, JSON_LOAD, OURS, ROOT, Case, ours, python
from benchmarks.events import SOURCE as ONNX_RUNTIME
from benchmarks.generate import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

RUNS = ROOT / "tests" / "fixtures" / "runs" / "base"
THOUSAND = "a thousand files"
FILES = "the files"
LOCAL_POOL = "--engine local"

# `and None` frees each document before the next is read.
_JSON_OF_FOLDER = (
    "import json, pathlib, sys; "
    "[json.load(path.open()) and None for path in pathlib.Path(sys.argv[1]).iterdir()]"
)
_VARIATION = 0.1
"""A run is at most this much faster or slower than the real run that it repeats; 0.1 is 10 %."""


def many() -> Iterator[Case]:
    """Yield cases with more and more files, to show how time and memory grow."""
    for count in (100, 1000, 10_000):
        folder = str(_runs(count))
        commands = {
            OURS: ours(folder, "--aggregate-by", "type"),
            JSON_LOAD: python(_JSON_OF_FOLDER, folder),
        }
        if count > 1000:
            commands[THOUSAND] = ours(str(_runs(1000)), "--aggregate-by", "type")
        yield Case(f"{count:,} x 154 KB", "by type", commands)
    folder = str(_repeated(1000, "onnx-runtime", [ONNX_RUNTIME], _events_at_speed))
    commands = {
        OURS: ours(folder, "--aggregate-by", "type"),
        JSON_LOAD: python(_JSON_OF_FOLDER, folder),
    }
    yield Case("1,000 x 111 KB", "ONNX Runtime, by type", commands)


def data_sets() -> Iterator[Case]:
    """Yield the case with a data set of ten thousand profiles."""
    folder, query = _runs(10_000), ("-t", "5", "--aggregate-by", "type")
    data_set = DATA / "10000.dataset"
    if not data_set.exists():
        unfinished = data_set.with_suffix(".unfinished")
        rmtree(unfinished, ignore_errors=True)
        subprocess.run(ours(str(folder), "--export", str(unfinished)), check=True)
        unfinished.rename(data_set)
    commands = {OURS: ours(str(data_set), *query), FILES: ours(str(folder), *query)}
    yield Case("10,000 x 154 KB", "data set", commands)


def engines() -> Iterator[Case]:
    """Yield the case with ten thousand files, read by a local cluster of Dask and without it.

    The time includes the start and the end of the cluster. The cluster has one worker for each
    core, up to eight.
    """
    arguments = (str(_runs(10_000)), "--aggregate-by", "type")
    commands = {OURS: ours(*arguments, "--engine", "dask"), LOCAL_POOL: ours(*arguments)}
    yield Case("10,000 x 154 KB", "--engine dask", commands)


def _runs(count: int) -> Path:
    """Return a folder with `count` files: the real runs of one model, repeated at other speeds."""
    return _repeated(count, "runs", sorted(RUNS.glob("*.json.gz")), _at_speed)


def _repeated(
    count: int, name: str, sources: Sequence[Path], at_speed: Callable[[Any, float], Any]
) -> Path:
    """Return a folder with `count` files: real profiles, repeated at other speeds.

    No two files are equal, because copies of a file count once in statistics and in data sets.
    """
    folder = DATA / f"{count}-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    real = [gzip.decompress(path.read_bytes()) for path in sources]
    generator = random.Random(SEED)
    for number in range(count):
        speed = generator.uniform(1 - _VARIATION, 1 + _VARIATION)
        path = folder / f"{number:05}.json"
        if not path.exists():
            path.write_text(json.dumps(at_speed(json.loads(real[number % len(real)]), speed)))
    return folder


def _at_speed(document: dict[str, Any], speed: float) -> dict[str, Any]:
    """Return a profile whose times are divided by `speed`."""
    for side in ("host", "device"):
        for executions in document["profiler"][side].values():
            for times in executions.values():
                times.update({name: seconds / speed for name, seconds in times.items()})
    return document


def _events_at_speed(events: list[dict[str, Any]], speed: float) -> list[dict[str, Any]]:
    """Return the events of an ONNX Runtime profile with all times divided by `speed`."""
    return [{**one, "ts": one["ts"] / speed, "dur": one["dur"] / speed} for one in events]

"""The cases of the benchmarks. The commands of a case run in turn, and are compared."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING

import onnx
import zstandard

from benchmarks import events, traces
from benchmarks.generate import write
from tests.readers.onnx.onnx_tool_models import LIGHT, with_stored_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
SMALL = ROOT / "tests" / "fixtures" / "profiles" / "resnet18.json"
SIZES = {"15 MB": 9_400, "151 MB": 94_000, "1.5 GB": 940_000}
"""The number of operators in a generated profile of each size."""

OURS = "profile_analyze"
ORIGINAL = "original"
FLOOR = "floor"
"""Work that few programs can avoid: importing libraries, and parsing a large profile."""
COLD = "--no-cache"
AT_151_MB = "at 151 MB"
AT_HALF_A_MILLION = "at half a million events"
JSON_LOAD = "json.load"
INFERENCE = "onnx.load and shape_inference"

QUERIES = {
    "default table": [],
    "by type": ["-t", "5", "--aggregate-by", "type"],
    "--opr-name, every name": ["--opr-name", ".*conv"],
    "--order-by memory": ["--order-by", "memory"],
    "--input-dtype": ["--input-dtype", "Float32"],
    "--dump-only-opr -t 0": ["--dump-only-opr", "-t", "0"],
    "-t 0, full table": ["-t", "0"],
    "-t 0 --format csv": ["-t", "0", "--format", "csv"],
    "-t 0 --format json": ["-t", "0", "--format", "json"],
    "by name": ["-t", "5", "--aggregate-by", "name"],
}
# The original rejects --aggregate-by without --aggregate, and fails with --input-dtype.
ORIGINAL_QUERIES = {
    "default table": [],
    "by type": ["-t", "5", "--aggregate-by", "type", "--aggregate", "sum"],
    "--order-by memory": ["--order-by", "memory"],
    "--dump-only-opr -t 0": ["--dump-only-opr", "-t", "0"],
    "-t 0, full table": ["-t", "0"],
}

_READ = "import sys; data = open(sys.argv[1], 'rb').read(); "
LIBRARIES = {
    JSON_LOAD: "import json, sys; json.load(open(sys.argv[1]))",
    "orjson.loads": _READ + "import orjson; orjson.loads(data)",
    "orjson.loads, garbage collection paused": _READ
    + "import gc, orjson; gc.disable(); orjson.loads(data)",
    "load()": "import sys; from profile_analyze import load; load(sys.argv[1], wanted=())",
    "load() and run()": "import sys; from profile_analyze import Query, load, run; "
    "run(Query(by='type'), load(sys.argv[1], wanted=())).rows",
}
_INFERENCE = (
    "import onnx, sys; onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1]), data_prop=True)"
)
_HTA = (
    "import pathlib, sys; from hta.trace_analysis import TraceAnalysis; "
    "path = pathlib.Path(sys.argv[1]); TraceAnalysis({0: path.name}, str(path.parent))"
)
_IMPORTS = "import numpy, tabulate, msgspec"
_FLOOR = f"{_READ} {_IMPORTS}, simdjson; simdjson.Parser().parse(data)"


@dataclass(frozen=True)
class Case:
    """Commands that run in turn. One of them is the command under test."""

    size: str
    name: str
    commands: dict[str, list[str]]


def ours(*arguments: str) -> list[str]:
    """Return the command under test with these arguments, without its cache."""
    return [sys.executable, "-m", "profile_analyze", *arguments, "--no-cache"]


def python(code: str, *arguments: str) -> list[str]:
    """Return a command that runs `code` in Python with these arguments."""
    return [sys.executable, "-c", code, *arguments]


def starts(original: Path | None) -> Iterator[Case]:
    """Yield the cases of start-up: without a file, and with a small profile."""
    for option in ("--help", "--version"):
        floor = {"import argparse": python("import argparse")}
        yield Case("no file", option, {OURS: ours(option)} | floor)
    small = str(SMALL)
    for name, query in QUERIES.items():
        commands = {OURS: ours(small, *query), FLOOR: python(_IMPORTS)}
        if original and name in ORIGINAL_QUERIES:
            commands[ORIGINAL] = _original(original, small, ORIGINAL_QUERIES[name])
        yield Case("154 KB", name, commands)


def sizes(chosen: list[str], original: Path | None) -> Iterator[Case]:
    """Yield the cases with large profiles of the `chosen` sizes."""
    for size in chosen:
        path = DATA / f"{SIZES[size]}.json"
        write(path, SIZES[size])
        if size == "1.5 GB":
            write(DATA / f"{SIZES['151 MB']}.json", SIZES["151 MB"])
        for name, query in QUERIES.items():
            if size == "1.5 GB" and name == "-t 0, full table":
                continue  # the printed table would have 2 GB
            commands = {OURS: ours(str(path), *query)}
            if name == "by type":
                commands[FLOOR] = python(_FLOOR, str(path))
                if size == "1.5 GB":  # to compare the time per operator
                    commands[AT_151_MB] = ours(str(DATA / f"{SIZES['151 MB']}.json"), *query)
                else:  # at 1.5 GB, the libraries would need more memory than the machine has
                    commands |= {key: python(code, str(path)) for key, code in LIBRARIES.items()}
            if original and size != "1.5 GB" and name in ORIGINAL_QUERIES:
                commands[ORIGINAL] = _original(original, str(path), ORIGINAL_QUERIES[name])
            yield Case(size, name, commands)


def compressed() -> Iterator[Case]:
    """Yield the cases with the 151 MB profile, compressed and uncompressed."""
    path = DATA / f"{SIZES['151 MB']}.json"
    write(path, SIZES["151 MB"])
    packed = {"gzip": path.with_suffix(".json.gz"), "zstd": path.with_suffix(".json.zst")}
    # Files are copied in steps, so that this process never has a whole file in memory.
    if not packed["gzip"].exists():
        with path.open("rb") as plain, gzip.open(packed["gzip"], "wb", 6) as file:
            copyfileobj(plain, file)
    if not packed["zstd"].exists():
        with path.open("rb") as plain, packed["zstd"].open("wb") as file:
            zstandard.ZstdCompressor().copy_stream(plain, file)
    query = QUERIES["by type"]
    for name, compressed_path in packed.items():
        commands = {
            OURS: ours(str(compressed_path), *query),
            "not compressed": ours(str(path), *query),
        }
        yield Case("151 MB", f"by type, {name}", commands)


def onnx_runtime() -> Iterator[Case]:
    """Yield the cases with profiles of ONNX Runtime: a small profile, and a million events."""
    small, large = str(_small_profile_of_onnx_runtime()), DATA / "1000000-events.json"
    events.write(large, 1_000_000)
    for name in ("default table", "by type"):
        query = QUERIES[name]
        commands = {OURS: ours(small, *query), "154 KB of MegEngine": ours(str(SMALL), *query)}
        yield Case("111 KB", f"ONNX Runtime, {name}", commands)
        library = {JSON_LOAD: python(LIBRARIES[JSON_LOAD], str(large))}
        commands = {OURS: ours(str(large), *query)} | library
        yield Case("0.9 GB", f"ONNX Runtime, {name}", commands)


def pytorch() -> Iterator[Case]:
    """Yield the cases with PyTorch traces of half a million and of five million events."""
    smaller, large = _trace(500_000), _trace(5_000_000)
    for size, path in (("0.1 GB", smaller), ("1.1 GB", large)):
        commands = {
            OURS: ours(path, *QUERIES["by type"]),
            **{name: python(LIBRARIES[name], path) for name in (JSON_LOAD, "orjson.loads")},
        }
        if path == large:  # to compare the time per event
            commands[AT_HALF_A_MILLION] = ours(smaller, *QUERIES["by type"])
        if find_spec("hta"):
            commands["HTA"] = python(_HTA, path)
        yield Case(size, "PyTorch, by type", commands)


def _trace(count: int) -> str:
    """Generate a trace with this number of events, and return its path."""
    path = DATA / f"{count}-events-pytorch.json"
    traces.write(path, count)
    return str(path)


def cached() -> Iterator[Case]:
    """Yield the cases of a second question about a large file, whose decoded profile is cached."""
    large = DATA / "1000000-events.json"
    events.write(large, 1_000_000)
    for name in ("default table", "by type"):
        arguments = [str(large), *QUERIES[name]]
        warm = [sys.executable, "-m", "profile_analyze", *arguments, "--cache", str(DATA / "cache")]
        subprocess.run(warm, stdout=subprocess.DEVNULL, check=True)  # the first question
        yield Case("0.9 GB", f"second question, {name}", {OURS: warm, COLD: ours(*arguments)})
    arguments = [_trace(5_000_000), *QUERIES["by type"]]
    warm = [sys.executable, "-m", "profile_analyze", *arguments, "--cache", str(DATA / "cache")]
    subprocess.run(warm, stdout=subprocess.DEVNULL, check=True)
    yield Case("1.1 GB", "second question, PyTorch", {OURS: warm, COLD: ours(*arguments)})


def _small_profile_of_onnx_runtime() -> Path:
    """Decompress a real profile and return its path."""
    path = DATA / "events.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress(events.SOURCE.read_bytes()))
    return path


def models() -> Iterator[Case]:
    """Yield the cases with models that have not run: ResNet-50 without and with weights."""
    yield _model("80 KB", LIGHT / "light_resnet50.onnx")
    stored = DATA / "resnet50.onnx"
    if not stored.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        onnx.save(with_stored_weights("resnet50"), stored)
    yield _model("102 MB", stored)


def _model(size: str, path: Path) -> Case:
    commands = {OURS: ours(str(path)), INFERENCE: python(_INFERENCE, str(path))}
    return Case(size, "ResNet-50 as ONNX", commands)


def _original(interpreter: Path, file: str, arguments: list[str]) -> list[str]:
    module = ["-W", "ignore", "-m", "megengine.tools.profile_analyze"]
    return [str(interpreter), *module, file, *arguments]

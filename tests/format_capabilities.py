"""What profiles of each format have, found in all fixtures: a table of `docs/formats.md`."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

import profile_analyze as pa
from fuzz.recorded import FOLDERS
from profile_analyze.columns.catalog import CATALOG
from profile_analyze.model.terms import UNKNOWN
from tests.conftest import FIXTURES
from tests.readers.onnxruntime import events as onnxruntime
from tests.readers.openvino import documents as openvino
from tests.readers.tensorrt import files as tensorrt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HEADINGS: Final[Mapping[str, str]] = {
    "MegEngine GraphProfiler JSON": "MegEngine",
    "MegEngine timeline": "MegEngine timeline",
    "PyTorch trace": "PyTorch",
    "ONNX Runtime profile": "ONNX Runtime",
    "TensorRT profile": "TensorRT",
    "TensorFlow Lite benchmark": "TensorFlow Lite",
    "MIGraphX report": "MIGraphX",
    "OpenVINO execution graph": "OpenVINO graph",
    "OpenVINO counters": "OpenVINO counters",
    "TensorRT engine description": "TensorRT engine",
    "ONNX model": "ONNX model",
}
"""The formats in the order of the table, with their headings."""
_FOLDERS: Final = ("profiles", *FOLDERS, "classifiers")
_GPU: Final = {"args": {"provider": "CUDAExecutionProvider"}}
_WRITTEN: Final[Mapping[str, bytes]] = {
    "onnxruntime.json": onnxruntime.document(
        onnxruntime.node("conv", "Conv", 12, 4, **_GPU),
        onnxruntime.kernel("gemm<float>", 12, 9, parent_name="conv_kernel_time", stream="7"),
        onnxruntime.run(10, 20),
    ),
    "openvino.csv": openvino.report(
        openvino.row("a", "Relu", 0.02, 0.003, primitive="convolution_gpu_bfyx__f16")
    ),
    "net.profile.json": tensorrt.times(("a", 3.0, 3.0)),
    "net.times.json": b'[{"startEnqMs": 0, "computeMs": 4.0, "latencyMs": 5.0}]',
}
"""Profiles of GPUs, which no fixture is. The last file belongs to the profile before it."""
_IMPLIED: Final = ("_source", "share", "runs")
"""The ends of names of columns that every profile has, or every profile with another column."""
_SPLIT_KEYS: Final = ("step", "phase")
"""Columns that exist only in answers grouped by them."""


def table() -> str:
    """Return a table with a column for each format, and a row for features that go together."""
    found = capabilities()
    in_rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for feature, by_format in found.items():
        in_rows[tuple(by_format.get(name, "") for name in HEADINGS)].append(feature)
    lines = [
        f"| | {' | '.join(HEADINGS.values())} |",
        f"|---|{'---|' * len(HEADINGS)}",
        *(f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in in_rows.items()),
    ]
    return "\n".join(lines) + "\n"


def capabilities() -> dict[str, dict[str, str]]:
    """Return, for each feature, the cell of each format that has it."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for profile in _profiles():
        for feature, value in _features(profile):
            found[feature][profile.origin.format].add(value)
    order = {f"`{column.name}`": number for number, column in enumerate(CATALOG)}
    return {
        feature: {name: ", ".join(sorted(values)) for name, values in found[feature].items()}
        for feature in sorted(found, key=lambda feature: order.get(feature, -1))
    }


def _profiles() -> Iterator[pa.Profile]:
    paths = (path for folder in _FOLDERS for path in sorted((FIXTURES / folder).iterdir()))
    yield from _readable(paths)
    with TemporaryDirectory() as folder:
        for name, content in _WRITTEN.items():
            (Path(folder) / name).write_bytes(content)
        yield from _readable(Path(folder) / name for name in _WRITTEN)


def _readable(paths: Iterable[Path]) -> Iterator[pa.Profile]:
    """Yield the profiles in files. Some files only have what tests expect of others."""
    for path in paths:
        with suppress(pa.InputError):
            yield pa.load(path)


def _features(profile: pa.Profile) -> Iterator[tuple[str, str]]:
    """Yield what one profile has, each with the text of its cell. Some occur several times."""
    yield "times", {"mean": "means"}.get(profile.origin.times, profile.origin.times)
    if len(profile.runs) > 1:
        yield "several runs in a file", "yes"
    if not np.isnan([run.wall_s for run in profile.runs]).all():
        yield "wall time of a run", "yes"
    for level in pa.levels_of(profile):
        yield f"`--level {level}`", "yes"
        yield from _columns(pa.run(pa.Query(top=0, level=level), profile))
    for key in _SPLIT_KEYS:
        if pa.run(pa.Query(by=key, top=0), profile).has_values(key):
            yield f"`{key}`", "yes"


def _columns(rows: pa.Table) -> Iterator[tuple[str, str]]:
    for name in rows.columns:
        source = f"{name}_source"
        if source in rows.columns:
            yield from ((f"`{name}`", one) for one in rows[source] if one != UNKNOWN)
        elif rows.has_values(name) and not name.endswith(_IMPLIED):
            yield f"`{name}`", "yes"

"""Compares the times that our readers find in a folder of profiles with an independent count.

python -m tests.readers.check_samples FOLDER

Each format has a module `independent` beside the tests of its reader. Its function `expected`
returns the seconds of each operator type, counted without this package. The exit status is 1 if
any sum in any file differs. In a few kinds of files, the two counts have different meanings
(`_OTHER_MEANINGS`). Their sums are not compared.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from tabulate import tabulate

import profile_analyze as pa
from profile_analyze.model.levels.levels import at_level
from tests.readers.megengine_timeline import independent as megengine_timeline
from tests.readers.migraphx import independent as migraphx
from tests.readers.onnxruntime import independent as onnxruntime
from tests.readers.openvino import independent as openvino
from tests.readers.pytorch import independent as pytorch
from tests.readers.tensorrt import independent as tensorrt
from tests.readers.tflite import independent as tflite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

INDEPENDENT: Final[dict[str, Callable[[Path], Mapping[str, float]]]] = {
    "ONNX Runtime profile": onnxruntime.expected,
    "OpenVINO counters": openvino.expected,
    "OpenVINO execution graph": openvino.expected,
    "TensorRT profile": tensorrt.expected,
    "MIGraphX report": migraphx.expected,
    "MegEngine timeline": megengine_timeline.expected,
    "PyTorch trace": pytorch.expected,
    "TensorFlow Lite benchmark": tflite.expected,
}
"""The independent count for each format."""


def _has_streams(profile: pa.Profile) -> bool:
    """Return whether there are several streams. In OpenVINO counters, each stream is a run."""
    return len(profile.runs) > 1


def _has_nesting(profile: pa.Profile) -> bool:
    return bool((profile.executions.parent >= 0).any())


def _has_only_host_times(profile: pa.Profile) -> bool:
    return all(track.side == "host" for track in profile.tracks)


_OTHER_MEANINGS: Final[dict[str, tuple[Callable[[pa.Profile], bool], str]]] = {
    "ONNX Runtime profile": (
        _has_only_host_times,
        "the independent count takes launches for work of the device",
    ),
    "OpenVINO counters": (_has_streams, "the independent count is a mean over streams, ours a sum"),
    "MIGraphX report": (
        _has_nesting,
        "in the independent count, an `if` or `loop` includes the instructions in its modules",
    ),
    "TensorFlow Lite benchmark": (
        _has_nesting,
        "the independent count does not look into subgraphs and delegates",
    ),
}
"""For some formats: which profiles the two counts treat differently, and how."""

_TOLERANCE: Final = 1e-9


class Checked(NamedTuple):
    """What was found in one file."""

    file: str
    format: str
    operators: int | None
    time_ms: float | None
    types: str
    """How many sums by type are equal, such as `5 of 5`; or why no sums were compared."""
    is_wrong: bool = False


def check(folder: Path) -> Iterator[Checked]:
    """Yield what was found in each file of `folder` and of the folders in it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield check_file(path, str(path.relative_to(folder)))


def check_file(path: Path, name: str) -> Checked:
    """Return what was found in one file."""
    try:
        profile = pa.load(path)
    except pa.InputError as error:
        return Checked(name, "", None, None, error.reason.split(";")[0])
    format_ = profile.origin.format
    if format_ not in INDEPENDENT:
        return Checked(name, format_, len(profile.operators), None, "no times to compare")
    found = sums_s(profile)
    total_ms = sum(found.values()) * 1e3
    differs, reason = _OTHER_MEANINGS.get(format_, (lambda _: False, ""))
    if differs(profile):
        return Checked(name, format_, len(profile.operators), total_ms, reason)
    try:
        expected = INDEPENDENT[format_](path)
    except ValueError:
        return Checked(name, format_, len(profile.operators), total_ms, "not valid JSON")
    equal = [
        one
        for one in {*found, *expected}
        if np.isclose(found.get(one, 0.0), expected.get(one, 0.0), rtol=_TOLERANCE, atol=1e-12)
    ]
    count = len({*found, *expected})
    types = f"{len(equal)} of {count}"
    return Checked(name, format_, len(profile.operators), total_ms, types, len(equal) < count)


def sums_s(profile: pa.Profile) -> dict[str, float]:
    """Return the seconds of each type in all runs, as our reader finds them."""
    operators = at_level(profile)
    times_s = np.nansum(operators.measured("time"), axis=1)
    sums: dict[str, float] = defaultdict(float)
    for type_, time_s in zip(operators.operators.type.values(), times_s.tolist(), strict=True):
        sums[str(type_)] += time_s
    return sums


def main(folder: str) -> int:
    """Print a table of all files in `folder`. Return 1 if a sum is wrong."""
    rows = list(check(Path(folder)))
    heads = ("file", "format", "operators", "time (ms)", "equal sums by type")
    print(tabulate([row[:5] for row in rows], heads, tablefmt="plain", floatfmt=".6f"))
    return int(any(row.is_wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

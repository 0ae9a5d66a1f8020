"""The check of a folder of samples finds no error in our fixtures, and detects wrong sums."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROFILES
from tests.readers import check_samples
from tests.readers.check_samples import INDEPENDENT, check_file

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = (
    *("megengine-timeline", "migraphx", "onnxruntime", "openvino", "pytorch", "tensorrt"),
    "tflite",
)
NOT_COMPARED = {
    "trace.json.gz": "has no operator: replays of trace() leave no events",
    "names-1.14.json": "not valid JSON",
    "no-arguments.json": "the independent count takes launches for work of the device",
    "net.graph.json": "no times to compare",
    "layers-average-2026.4.json.gz": "has one layer, which did not run: benchmark_app writes only "
    "the first layer of average counters as JSON",
    "branches.txt": "in the independent count, an `if` or `loop` includes the instructions in its "
    "modules",
    "layers-requests-2026.4.json.gz": "the independent count is a mean over streams, ours a sum",
    "subgraphs.txt": "the independent count does not look into subgraphs and delegates",
}
"""Why no sums are compared for some files."""
FILES = sorted(
    path
    for one in FOLDERS
    for path in (PROFILES.parent / one).iterdir()
    if not path.name.endswith(".averages.json")
)
LOOP = PROFILES.parent / "onnxruntime" / "loop-1.31.json.gz"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_all_sums_of_our_profiles_are_right(path: Path) -> None:
    checked = check_file(path, path.name)
    assert not checked.is_wrong, checked
    if path.name in NOT_COMPARED:
        assert checked.types == NOT_COMPARED[path.name]
    else:
        assert re.fullmatch(r"([1-9]\d*) of \1", checked.types), checked


def test_a_wrong_sum_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = INDEPENDENT["ONNX Runtime profile"](LOOP)
    wrong = {**right, "If": right["If"] * 1.000001, "None": 1.0}
    monkeypatch.setitem(INDEPENDENT, "ONNX Runtime profile", lambda _: wrong)
    checked = check_file(LOOP, "loop")
    assert (checked.types, checked.is_wrong) == ("8 of 10", True)


def test_the_table_has_every_file_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "loop.json.gz").write_bytes(LOOP.read_bytes())
    (tmp_path / "b.json").write_text("{}", encoding="utf-8")
    assert check_samples.main(str(tmp_path)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "file            format                  operators    time (ms)  equal sums by type",
        "a/loop.json.gz  ONNX Runtime profile            9     0.767000  9 of 9",
        "b.json                                                          is in no known "
        "format: it starts with '{}'",
    ]

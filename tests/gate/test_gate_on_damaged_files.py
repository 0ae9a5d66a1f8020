"""`--fail-if` on files that are cut: times may be too short, so no condition can be judged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.findings import Kind
from tests.conftest import FIXTURES, run_command

FILES = (
    "tflite/xnnpack-new.txt",
    "onnxruntime/squeezenet-1.31.json.gz",
    "megengine-timeline/train.json.gz",
    "migraphx/detailed.txt",
    "openvino/layers-f32-2026.4.csv.gz",
)


@pytest.mark.parametrize("name", FILES)
def test_no_condition_is_judged(name: str, tmp_path: Path) -> None:
    content = (FIXTURES / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    file = tmp_path / name.removesuffix(".gz").rpartition("/")[2]
    file.write_bytes(content[: len(content) // 2])
    (reason,) = (as_text(note) for note in pa.load(file).notes if note.importance == Kind.DAMAGED)
    conditions = ("--fail-if", "total > 1h", "--fail-if", "macs > 1G", "--notes", "none")
    outcome = run_command(str(file), *conditions, "--format", "csv", "--columns", "name")
    assert outcome.err == (
        f"note: cannot be judged: total > 1h: {reason}\n"
        f"note: cannot be judged: macs > 1G: {reason}\n"
    )
    assert outcome.code == 4


def test_no_change_from_a_damaged_baseline_is_judged(tmp_path: Path) -> None:
    whole = FIXTURES / "tflite/xnnpack-new.txt"
    names = [
        str(tmp_path / f"{side}{number}.txt") for side in ("whole", "cut") for number in "1234"
    ]
    for name in names:
        content = whole.read_bytes()
        Path(name).write_bytes(content[:2500] if "cut" in name else content)
    outcome = run_command(
        *names[:4],
        *("--compare", *names[4:], "--fail-if", "total > +5%"),
        *("--print-only", "summary", "--notes", "none"),
    )
    assert outcome.out.endswith(
        "\ncannot be judged: total > +5%: baseline: in each of 4 files: the file ends inside of a "
        "table, so nodes may be missing; copy it again\n"
    )
    assert outcome.code == 4

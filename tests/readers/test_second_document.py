"""Files with two JSON documents, as `cat a.json b.json` writes: an error says where to split."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.readers.input.second_document import second_document
from profile_analyze.readers.input.source import Cache
from tests.conftest import PROFILES, run_command
from tests.readers.onnxruntime.events import document as ort_document
from tests.readers.onnxruntime.events import node, run
from tests.readers.pytorch.events import document as trace
from tests.readers.pytorch.events import op
from tests.readers.tiny_file import TINY, failure, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = PROFILES.parent


def fixture(name: str) -> bytes:
    """Return the uncompressed content of a real profile."""
    content = (FIXTURES / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


def in_one_line(content: bytes) -> bytes:
    """Return the JSON as another program would write it."""
    return json.dumps(json.loads(content)).encode()


ORT = fixture("onnxruntime/resnet50-1.31.json.gz")
TRACE = fixture("pytorch/cnn-plain.json.gz")
TIMELINE = fixture("megengine-timeline/plain.json.gz")
COUNTERS = fixture("openvino/layers-requests-2026.4.json.gz")
BACKSLASH = ort_document(node(r"C:\q", "Abs", 10, 2), run(9, 10))
SMALL_TRACE = trace(op("a"), op("b", 10))
FIRST = {
    "MegEngine": TINY,
    "MegEngine, control characters": fixture("profiles/names-ctrlchar.json"),
    "timeline": TIMELINE,
    "timeline, a list": json.dumps(json.loads(TIMELINE)["traceEvents"]).encode(),
    "timeline, other layout": b'{"a": 1, ' + TIMELINE.strip()[1:],
    "ONNX Runtime": ORT,
    "ONNX Runtime, one line": in_one_line(ORT),
    "ONNX Runtime, names that are not escaped": BACKSLASH,
    "PyTorch": TRACE,
    "PyTorch, one line": in_one_line(TRACE),
    "PyTorch, no event": b'{"schemaVersion": 1, "traceEvents": []}',
    "PyTorch, one event": trace(op("a")),
    "PyTorch, an empty event": trace(op("a"), {}),
    "PyTorch, metadata like events": trace(
        op("a"), op("b", 10), tail=', "x": [{"name": "x"}, {"name": "y"}], "y": {}'
    ),
    "TensorRT": fixture("tensorrt/old.profile.json"),
    "TensorRT, names that are not escaped": fixture("tensorrt/old.profile.json").replace(
        b'"name" : "', b'"name" : ""a"][', 1
    ),
    "TensorRT engine": fixture("tensorrt/net.graph.json"),
    "OpenVINO": COUNTERS,
}
SECOND = (
    TRACE,
    ORT,
    in_one_line(ORT),
    TINY,
    COUNTERS,
    BACKSLASH,
    SMALL_TRACE,
    b'{"a": 1}',
    TRACE[:999],
)
CHUNKS = "profile_analyze.readers.input.source.Source.chunks.__defaults__"
BLOCKS = "profile_analyze.readers.pytorch.blocks.BLOCK_SIZE"


def reason(start: int) -> str:
    """Return the expected message without the name of the file."""
    return f"a second JSON document begins at byte {start}; split the file, and name both files"


@pytest.mark.parametrize("first", FIRST)
def test_two_documents_of_one_format_are_refused(first: str, tmp_path: Path) -> None:
    content = FIRST[first]
    joined = content + b"\n" + content
    expected = reason(len(content) + 1)
    path = write_bytes(tmp_path, joined)
    assert failure(path, pa.MalformedProfileError) == expected
    members = gzip.compress(content + b"\n") + gzip.compress(content)
    path = write_bytes(tmp_path, members, "run.json.gz")
    assert failure(path, pa.MalformedProfileError) == expected
    done = run_command("-", stdin=joined)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"profile_analyze: error: standard input: {expected}\n"
    with pytest.raises(pa.MalformedProfileError, match=expected):
        pa.load(path, cache=Cache(str(tmp_path / "kept"), smallest=1))
    with pytest.raises(pa.MalformedProfileError, match=expected):
        pa.load_runs([path, path])


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("second", range(len(SECOND)))
@pytest.mark.parametrize("between", [b"", b" \r\n\n"])
def test_two_documents_of_any_formats_are_refused(
    first: str, second: int, between: bytes, tmp_path: Path
) -> None:
    before = FIRST[first].rstrip() + between
    path = write_bytes(tmp_path, before + SECOND[second])
    with pytest.raises(pa.MalformedProfileError) as caught:
        pa.load(path)
    assert caught.value.reason == reason(len(before))


@pytest.mark.parametrize("size", [67, 500, 9000, 70_000])
def test_the_documents_of_a_large_file_are_found(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large files are decoded in parts. The message counts bytes from the start of the file."""
    monkeypatch.setattr(CHUNKS, (size,))
    monkeypatch.setattr(BLOCKS, size)
    small = (BACKSLASH, SMALL_TRACE, FIRST["PyTorch, metadata like events"])
    for content in small if size < 9000 else (*small, ORT, TRACE, TIMELINE):
        path = write_bytes(tmp_path, content + content)
        with pytest.raises(pa.MalformedProfileError) as caught:
            pa.load(path)
        assert caught.value.reason == reason(len(content))


@pytest.mark.parametrize("first", [name for name in FIRST if name != "PyTorch, no event"])
def test_white_space_after_a_document_is_no_second_document(first: str, tmp_path: Path) -> None:
    content = FIRST[first]
    profile = pa.load(write_bytes(tmp_path, content))
    blank = pa.load(write_bytes(tmp_path, content + b" \r\n\t\n"))
    assert (len(blank.executions), blank.notes) == (len(profile.executions), profile.notes)


@pytest.mark.parametrize(
    ("data", "opened", "start"),
    [
        (b"{} []", b"", 3),
        (b"1], 2] {", b"[[", 7),
        (b'{"a": 1}{"b": 2}', b"", 8),
        (b'{"a": "}{"}', b"", None),
        (b"{} x", b"", None),
        (b"{}\0\0", b"", None),
        (b"{} [x", b"", None),
        (b"{}\n[2026-01-01 10:00] done", b"", None),
        (b"{", b"", None),
        (b"x {}", b"", None),
        (b"[" * 99_999, b"", None),
    ],
)
def test_the_start_of_a_second_document_is_found(
    data: bytes, opened: bytes, start: int | None
) -> None:
    assert second_document(data, opened=opened) == start

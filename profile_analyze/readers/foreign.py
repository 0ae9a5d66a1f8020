"""Telling what a file is that is not read: other runtimes' profiles, models, broken files."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_HEAD_BYTES: Final = 1 << 16


class _Kind(NamedTuple):
    """One kind of file, told by what is in its first 64 KiB."""

    description: str
    pattern: re.Pattern[bytes]


def _kind(description: str, pattern: bytes) -> _Kind:
    return _Kind(description, re.compile(pattern, re.DOTALL))


# The first that fits counts: the more telling come first.
_KINDS: Final = (
    _kind(
        "a report of profile_analyze, not a profile",
        rb'\{\s*"version"\s*:\s*\d+\s*,\s*"profile"\s*:\s*(null|\{\s*"source")',
    ),
    _kind(
        "an ONNX Runtime profile",
        rb'\[\s*\{\s*"cat"\s*:\s*"(Session|Node|Kernel|Api)"',
    ),
    _kind("a TensorRT layer profile (trtexec --exportProfile)", rb'\[\s*\{\s*"count"\s*:'),
    _kind(
        "a TensorRT list of inference times (trtexec --exportTimes)",
        rb'\[\s*\{\s*"startEnqMs"|\[\s*\{[^}]*"latencyMs"',
    ),
    _kind("a TensorRT engine description (trtexec --exportLayerInfo)", rb'\{\s*"Layers"\s*:'),
    _kind(
        "an OpenVINO counter report",
        rb'\{.*"report_type".*"(detailed|avg)_performance"',
    ),
    _kind("an OpenVINO counter report", rb"layerName;execStatus;layerType;"),
    _kind("an OpenVINO execution graph", rb"(<\?xml[^>]*>\s*)?<net\b"),
    _kind(
        "a Chrome timeline of MegEngine's imperative profiler",
        rb'[\[{].*"(OpDispatch|KernelLaunch|TensorLink|train_time_ratio)"',
    ),
    _kind(
        "a JAX or TensorFlow (XLA) trace", rb'\{.*("highres-ticks"|"name"\s*:\s*"/(host|device):)'
    ),
    _kind("a Paddle profile", rb'\{.*("span_index"|"schemaVersion"\s*:\s*")'),
    _kind(
        "a PyTorch (Kineto) trace",
        rb'\{.*("schemaVersion"|"deviceProperties"|"distributedInfo"'
        rb'|"cat"\s*:\s*"(cpu_op|[kK]ernel|cuda_runtime|Operator|user_annotation|Runtime)")',
    ),
    _kind("a Chrome timeline", rb'\{.*"traceEvents"\s*:|\[\s*\{[^}]*"ph"\s*:'),
    _kind("an onnx-tool table", rb"Name,Type,(Sparse Pattern,.*)?Forward_(MACs|FLOPs),"),
    _kind("a TensorFlow Lite benchmark log", rb".*\[node type\].*\[avg ms\]"),
    _kind("a trtexec log", rb".*=== Profile \(\d+ iterations? \) ==="),
    _kind("a MIGraphX performance report", rb".*\bTotal instructions time: "),
    # protobuf: the field ir_version, then the producer's name, its version, or the graph
    _kind("an ONNX model, not a profile", rb"\x08[\x01-\x20][\x12\x1a\x22\x3a\x42]"),
    _kind("a MegEngine model, not a profile", rb".{0,16}mgv[0-9]|mgb[0-9]"),
    _kind("a gzip file inside another; unpack it once", rb"\x1f\x8b"),
    _kind("a bzip2 file; unpack it first", rb"BZh[1-9]"),
    _kind("an xz file; unpack it first", rb"\xfd7zXZ"),
    _kind("a zip archive; unpack it first", rb"PK\x03\x04"),
    _kind("a tar archive; unpack it first", rb".{257}ustar"),
    _kind("JSON, but no profile", rb'\{\s*["}]|\[\s*[\[{"\]\d]|"|null\b|true\b|false\b|-?\d+\s*$'),
)


def looks_like(data: bytes) -> str:
    """What `data` looks like, in words that follow a file's name: `is empty`, `looks like ...`."""
    if not data.strip():
        return "is empty; the program that should have written it may have died"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is text in UTF-16, not the UTF-8 of JSON"
    head = data[:_HEAD_BYTES].lstrip()
    for kind in _KINDS:
        if kind.pattern.match(head):
            return f"looks like {kind.description}"
    return f"is not JSON: it starts with {head[:12].decode('latin-1')!r}"

"""Formats that are recognised but not supported: other runtimes' profiles, models, archives.

The message about an unsupported file says what the file is. To support one of these formats, move
its signature to the new reader and delete its entry here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.recognition import ASCEND, first_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.readers.base import Reader, Recogniser


class _Signature:
    """A format that is recognised by the first bytes of a file, or by the end of its name."""

    def __init__(self, format_: str, pattern: bytes, suffixes: tuple[str, ...] = ()) -> None:
        self.format = format_
        """The name of the format with an article, such as `a zip archive`. Advice may follow after
        a semicolon."""
        self._pattern = re.compile(pattern, re.DOTALL)
        self._suffixes = suffixes

    def recognises(self, head: bytes, name: str) -> bool:
        """See `Recogniser.recognises`."""
        return self._pattern.match(head) is not None or name.lower().endswith(self._suffixes)


# Patterns of the reports that profile_analyze writes, one for each output format. A report for
# people begins with the summary, or with the table if it has no summary.
_TOTAL: Final = rb"total (device time|computation)(?=  | *\|)"
_TIME: Final = rb"(device|host) (self |wait )?time"
_BOX_TOP: Final = rb"\xe2\x95\x92[^\n]*\n"  # begins with the character U+2552
_BOX_LINE: Final = rb"\xe2\x94\x82"  # the character U+2502
_OWN_TABLES: Final = {
    "table": rb"-{4,} +-{4,}\r?\n%b|(%b%b )?%b *%b"
    % (_TOTAL, _BOX_TOP, _BOX_LINE, _TIME, _BOX_LINE),
    "plain": rb"%b|%b \([a-z]{1,3}\)(  |\r?\n)" % (_TOTAL, _TIME),
    "markdown": rb"## [^\n]*\r?\n\r?\nprofile_analyze \d|\|([^\n]*\|)? *%b \(" % _TIME,
    "wiki": rb"\|[^\n]*\n\|[-:|]*\n\| %b|\| +# \| +time \|" % _TOTAL,
    # The limits bound the time that a hostile line can take.
    "csv": rb"[a-z][a-z0-9_,]{0,2000},(time_s,(share|spread|runs|base_s)|macs,macs_share)[,\r\n]"
    rb"|device_time_s,host_time_s,",
    "jsonl": rb'\{"(measure":"[a-z_]*(time|wait|self|queue)"|device_time_s":)',
}
_OWN_TABLE: Final = b"|".join(_OWN_TABLES.values())

_FRAMEWORK: Final = (
    "which is not supported; record with the profiler of the framework, such as torch.profiler"
)

# The first match counts, so specific signatures come before general ones.
UNSUPPORTED: Final[tuple[Recogniser, ...]] = (
    _Signature(
        "a report of profile_analyze, not a profile",
        rb'\{\s*"version"\s*:\s*\d+\s*,\s*"profile"\s*:\s*(null|\{\s*"(source|format)")',
    ),
    _Signature("a table that profile_analyze printed; name the profile it is about", _OWN_TABLE),
    _Signature(
        "counters of OpenVINO that a program wrote (get_profiling_info); write the execution "
        "graph, too: ov.serialize(compiled_model.get_runtime_model(), 'graph.xml')",
        rb'[\[{](?=.*"exec_?[tT]ype"\s*:)'
        rb'(?=.*"status"\s*:\s*"(Status\.)?(EXECUTED|NOT_RUN|OPTIMIZED_OUT)")',
    ),
    _Signature(
        "a JAX or TensorFlow (XLA) trace",
        rb'\{(?=.*"traceEvents"\s*:).*("metadata"\s*:\s*\{\s*"highres-ticks"'
        rb'|"args"\s*:\s*\{\s*"name"\s*:\s*"/(host|device):)',
    ),
    # torch_npu writes the times of operators as texts, PyTorch as numbers.
    _Signature(
        ASCEND,
        rb'(\[\s*\{|\{(?=.*"traceEvents"\s*:))'
        rb'.*("name"\s*:\s*"Ascend Hardware"|"cat"\s*:\s*"async_npu")'
        rb'|\[\s*\{(?=.*"cat"\s*:\s*"cpu_op").*"ts"\s*:\s*"\d'
        rb"|(Step Id|Device_id),.{0,400}(Accelerator Core|Task Type),",
    ),
    _Signature(
        "a Chrome timeline of an unknown program, or an empty one",
        rb'\{(?=\s*").*"traceEvents"\s*:\s*\[|\[\s*\{[^}]*"ph"\s*:\s*"',
    ),
    _Signature(
        "a log of OpenVINO's benchmark_app; name the file of -exec_graph_path or -report_type",
        # Rows of layers may have been copied from the log.
        rb"\[Step \d+/11\] |(.*\n)?[^\n]*\b(EXECUTED|NOT_RUN|OPTIMIZED_OUT) +layerType: ",
    ),
    _Signature(
        "a trtexec log or list of times (--exportTimes); name the file of --exportProfile",
        # The table may come after megabytes. Each line may begin with a time and a letter.
        rb"(.*\n)?(&&&& [A-Z]+ TensorRT\.trtexec\b"
        rb"|(\[[^\]\n]{1,40}\] ){0,3}=== Profile \(\d+ iterations? ?\) ===)"
        rb"|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[A-Z]\] "
        rb'|\[\s*\{[^}]*"(startEnqMs|startInMs|computeMs)"\s*:',
    ),
    _Signature(
        "a table of key_averages() (PyTorch), which has only sums; name the trace that "
        "export_chrome_trace wrote",
        rb"-{4}[- ]{0,4000}\s+Name\s+Self C(PU|UDA)\b",
    ),
    _Signature(
        f"a file of Nsight Systems (nsys), {_FRAMEWORK}",
        rb"SQLite format 3\0.*(CUPTI_ACTIVITY|TARGET_INFO_)|QDSTRM|NVIDIA Tegra Profiler"
        rb'|"?Time ?\(%\)"?,"?Total Time \(ns\)',
        (".nsys-rep", ".qdrep", ".qdstrm"),
    ),
    _Signature(
        f"a report of Nsight Compute (ncu), {_FRAMEWORK}",
        rb'(.*\n)?"?ID"?[,\t]"?Process ID"?[,\t]"?Process Name"?[,\t]',
        (".ncu-rep",),
    ),
    _Signature(
        f"a recording of ROCm's profiler (rocprof), {_FRAMEWORK}",
        rb'[^\n]*\bCorrelation_Id"?[,\t]"?Start_Timestamp\b'
        rb'|"?Name"?[,\t]"?Calls"?[,\t]"?TotalDurationNs\b|\{\s*"rocprofiler-sdk-tool"\s*:'
        rb"|SQLite format 3\0.*\brocpd_",
    ),
    _Signature(
        "a TensorFlow Lite model, not a profile; run it with benchmark_model "
        "--enable_op_profiling=true",
        rb"..\0\0TFL3",
    ),
    _Signature(
        "a TensorRT engine, not a profile; run it with trtexec --loadEngine and --exportProfile",
        rb"ftrt[^ -~]",
    ),
    _Signature(
        "a PyTorch model, not a profile; run it under torch.profiler",
        rb"PK\x03\x04.{0,1000}/data\.pkl",
    ),
    _Signature("a Python pickle, not a profile", rb"\x80[\x02-\x05]"),
    _Signature(
        "a page of HTML, not a profile; download the file itself",
        rb"\s*<(![dD][oO][cC][tT][yY][pP][eE] [hH][tT][mM][lL]|[hH][tT][mM][lL])\b",
    ),
    _Signature(
        "a pointer of Git LFS, not the file itself; run git lfs pull",
        rb"version https://git-lfs\.github\.com",
    ),
    # The magic of a tar header is at offset 257. The first layer of gzip is already gone.
    _Signature(
        "an archive or a compressed file; unpack it first",
        rb"PK\x03\x04|.{257}ustar|\x1f\x8b|BZh[1-9](1AY|\x17rE)|\xfd7zXZ",
    ),
)
"""All unsupported formats, in the order in which they are tried."""


_LATER_JSON: Final = re.compile(rb'\n(?=\[\s*[\[{]|\{\s*")')
"""The end of a line before JSON."""


class Likeness(NamedTuple):
    """What a file looks like."""

    text: str
    """The part of a message after the name of the file."""
    has_advice: bool
    """Whether `text` says what to do."""


def looks_like(head: bytes, name: str, readers: Sequence[Reader]) -> Likeness:
    """Return what a file that begins with `head` looks like.

    `readers` are all readers. None of them recognised the file.
    """
    if not head:
        return Likeness(
            "is empty; the program that should have written it may have died", has_advice=True
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = "is text in UTF-16, as PowerShell's > writes it; convert it to UTF-8"
        return Likeness(text, has_advice=True)
    for signature in UNSUPPORTED:
        if signature.recognises(head, name):
            return Likeness(f"looks like {signature.format}", "; " in signature.format)
    later = _LATER_JSON.search(head)
    reader = first_reader(readers, head[later.end() :], name) if later else None
    if later and reader:
        before = head[: later.start()].rstrip()
        return Likeness(
            f"has other text before the JSON ({reader.format}); delete this text, which starts "
            f"with {_start(before)!r}",
            has_advice=True,
        )
    return Likeness(f"is in no known format: it starts with {_start(head)!r}", has_advice=False)


def _start(text: bytes) -> str:
    """Return the first characters, for a message."""
    return text[:12].decode("latin-1")

"""Files that are not profiles or are damaged: each error says what is wrong and where."""

from __future__ import annotations

import gc
import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

import profile_analyze as pa
from profile_analyze.readers.loading import READERS
from profile_analyze.readers.unsupported import UNSUPPORTED
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, find_renderer
from tests.conftest import PROFILES, run_command
from tests.readers.tiny_file import TINY, document_with, failure, write_bytes

if TYPE_CHECKING:
    from profile_analyze.readers.base import Recogniser

SUPPORTED = (
    "supported formats: MegEngine GraphProfiler JSON, ONNX Runtime profile, TensorRT profile, "
    "TensorRT engine description, MegEngine timeline, PyTorch trace, OpenVINO execution graph, "
    "OpenVINO counters, ONNX model, MIGraphX report, TensorFlow Lite benchmark"
)
OWN_REPORT = run_command(str(PROFILES / "tiny.json"), "--format", "json").out.encode()
OWN_TABLE = "looks like a table that profile_analyze printed; name the profile it is about"
OWN_TABLES = [
    run_command(str(PROFILES / name), *options, "--format", output_format).out.encode()
    for output_format in OUTPUT_FORMATS
    if find_renderer(output_format).has_tables and output_format not in ("json", OPERATORS)
    for name, options in (
        ("tiny.json", ("--print-only", "summary")),
        ("tiny.json", ("--print-only", "device")),
        ("../classifiers/smallcnn.onnx", ("-t", "1")),
        ("../pytorch/gpu.json", ("-t", "1", "--print-only", "device")),
    )
]

OTHER_PROFILER = (
    "which is not supported; record with the profiler of the framework, such as torch.profiler"
)
NSYS = f"looks like a file of Nsight Systems (nsys), {OTHER_PROFILER}"
NCU = f"looks like a report of Nsight Compute (ncu), {OTHER_PROFILER}"
NOT_PROFILES: list[tuple[bytes, str]] = [
    (b"", "is empty; the program that should have written it may have died"),
    (b" \n", "is empty; the program that should have written it may have died"),
    (b"hello", "is in no known format: it starts with 'hello'"),
    *(
        (
            b"%b\nRunning...\n%b" % (line.encode(), TINY),
            "has other text before the JSON (MegEngine GraphProfiler JSON); delete this text, which "
            f"starts with {line[:12]!r}",
        )
        for line in ("[I] Profiling...", "[2026-03-08 11:26:14] Profiling...")
    ),
    (
        b"log\r\n%b" % TINY,
        "has other text before the JSON (MegEngine GraphProfiler JSON); delete this text, which "
        "starts with 'log'",
    ),
    (b'log\n{"a": 1}', """is in no known format: it starts with 'log\\n{"a": 1}'"""),
    (b"\x00\x01\x02", "is in no known format: it starts with '\\x00\\x01\\x02'"),
    (b"{}", "is in no known format: it starts with '{}'"),
    (OWN_REPORT, "looks like a report of profile_analyze, not a profile"),
    *((table, OWN_TABLE) for table in OWN_TABLES),
    (b"a; b", "is in no known format: it starts with 'a; b'"),
    (b"total loss 0.3", "is in no known format: it starts with 'total loss 0'"),
    (b"| name | time |", "is in no known format: it starts with '| name | tim'"),
    (b"[project]\nname = 1", "is in no known format: it starts with '[project]\\nna'"),
    *(
        (content, "looks like an archive or a compressed file; unpack it first")
        for content in (
            gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0),
            *(b"BZh91AY&SY", b"\xfd7zXZ\x00", b"PK\x03\x04"),
            b"run.json".ljust(257, b"\0") + b"ustar",
        )
    ),
    (
        b'{"traceEvents": [{"ph": "X"}]}',
        "looks like a Chrome timeline of an unknown program, or an empty one",
    ),
    (
        b'[{"name": "a", "ph": "X"}]',
        "looks like a Chrome timeline of an unknown program, or an empty one",
    ),
    (
        b'[{"ph": "M", "args": {"name": "Ascend Hardware"}}]',
        "looks like a profile of an Ascend NPU (torch_npu), which is not supported; open it in "
        "MindStudio Insight",
    ),
    *(
        (b'{%b"traceEvents": [%b]}' % parts, "looks like a JAX or TensorFlow (XLA) trace")
        for parts in (
            (b'"metadata":{"highres-ticks":true},', b""),
            (b"", b'{"ph": "M", "name": "process_name", "args": {"name": "/device:TPU:0"}}'),
        )
    ),
    *(
        (
            content,
            "looks like a log of OpenVINO's benchmark_app; name the file of -exec_graph_path or "
            "-report_type",
        )
        for content in (
            b"[Step 1/11] Parsing and validating input arguments",
            b"[Step 11/11] Dumping statistics report",
            b"conv1   EXECUTED   layerType: Convolution  realTime: 9  cpu: 9  execType: jit_FP32",
            b"[ INFO ] Performance counts for 0-th infer request\n"
            b"ct  Status.NOT_RUN  layerType: Parameter...  execType: unknown_f32  realTime (ms): 0.0",
        )
    ),
    *(
        (
            content,
            "looks like counters of OpenVINO that a program wrote (get_profiling_info); write the "
            "execution graph, too: ov.serialize(compiled_model.get_runtime_model(), 'graph.xml')",
        )
        for content in (
            b'[{"node_name": "x", "status": "Status.NOT_RUN", "exec_type": "undef"}]',
            b'{"x": {"status": "EXECUTED", "real_time": 0, "execType": "jit"}}',
        )
    ),
    *(
        (
            content,
            "looks like a trtexec log or list of times (--exportTimes); name the file of "
            "--exportProfile",
        )
        for content in (
            b"[I] === Profile (10 iterations ) ===",
            b"[03/02/2021-10:00:00] [I] a line\n[03/02/2021-10:00:00] [I] === Profile (1 iteration) ===",
            b"&&&& RUNNING TensorRT.trtexec [TensorRT v100700] # trtexec --onnx=m.onnx",
            b"== TensorRT ==\n\n&&&& RUNNING TensorRT.trtexec # trtexec --onnx=m.onnx",
            b"[05/08/2024-14:05:12] [V] [TRT] Tactic: 0x0000000000003996 Time: 0.01 layer_3996",
            b'[{ "startEnqMs" : 1 }',
        )
    ),
    (
        b"-----  ------  \n Name    Self CPU %      Self CPU ",
        "looks like a table of key_averages() (PyTorch), which has only sums; name the trace that "
        "export_chrome_trace wrote",
    ),
    *(
        (content, NSYS)
        for content in (
            b"SQLite format 3\0\x10\0 CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)",
            *(b"QDSTRM\0\1", b"Time (%),Total Time (ns),Instances,Avg (ns)"),
        )
    ),
    *(
        (b'==PROF== Connected\n"ID"%b"Process ID"%b"Process Name"%b"Host Name"' % ((one,) * 3), NCU)
        for one in (b",", b"\t")
    ),
    *(
        (content, f"looks like a recording of ROCm's profiler (rocprof), {OTHER_PROFILER}")
        for content in (
            b'"Kind","Agent_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"',
            b"Domain\tFunction\tProcess_Id\tThread_Id\tCorrelation_Id\tStart_Timestamp\tEnd_Timestamp",
            b'"Name","Calls","TotalDurationNs","AverageNs","Percentage"',
            b'{"rocprofiler-sdk-tool":[{"metadata":{}}]}',
            b"SQLite format 3\0\x10\0 CREATE TABLE rocpd_string",
        )
    ),
    (
        b"\x1c\0\0\0TFL3",
        "looks like a TensorFlow Lite model, not a profile; run it with benchmark_model "
        "--enable_op_profiling=true",
    ),
    (
        b"ftrt\0\0",
        "looks like a TensorRT engine, not a profile; run it with trtexec --loadEngine and "
        "--exportProfile",
    ),
    (
        b"PK\x03\x04\0\0\0\0archive/data.pkl",
        "looks like a PyTorch model, not a profile; run it under torch.profiler",
    ),
    (b"\x80\x04\x95", "looks like a Python pickle, not a profile"),
    (
        b"\n<!doctype html>",
        "looks like a page of HTML, not a profile; download the file itself",
    ),
    (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
        "looks like a pointer of Git LFS, not the file itself; run git lfs pull",
    ),
    ("{}".encode("utf-16"), "is text in UTF-16, as PowerShell's > writes it; convert it to UTF-8"),
    (
        b"\xfe\xff" + "{}".encode("utf-16-be"),
        "is text in UTF-16, as PowerShell's > writes it; convert it to UTF-8",
    ),
]


BY_SUFFIX = {
    ".nsys-rep": NSYS,
    ".qdrep": NSYS,
    ".ncu-rep": NCU,
}


@pytest.mark.parametrize("suffix", BY_SUFFIX)
def test_reports_of_nsight_tools_are_recognised_by_their_suffix(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"Report1{suffix}"
    path.write_bytes(b"\x01\x02\x03")
    assert failure(str(path), pa.UnknownFormatError) == BY_SUFFIX[suffix]


def test_every_unsupported_format_is_tested() -> None:
    reasons = [*(reason for _, reason in NOT_PROFILES), *BY_SUFFIX.values()]
    tested = {reason.removeprefix("looks like ") for reason in reasons}
    assert {signature.format for signature in UNSUPPORTED} <= tested


@pytest.mark.parametrize(("content", "reason"), NOT_PROFILES)
def test_unsupported_files_are_named_by_their_format(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = write_bytes(tmp_path, content)
    has_advice = "; " in reason and "it starts with" not in reason
    expected = reason if has_advice else f"{reason}; {SUPPORTED}"
    assert failure(path, pa.UnknownFormatError) == expected


NEAR_MISSES = {
    "a report of profile_analyze": [b'{"version": 1, "profile": {"name": "x"}}'],
    "a table that profile_analyze": [
        *(b"total device time: 5 ms", b"total computation of 3 layers", b"device time (ms): 5"),
        *(b"epoch,time_s,loss\n", b"name,macs,params\n", b'{"measure":"length","unit":"m"}'),
    ],
    "counters of OpenVINO": [
        b'[{"name": "a", "status": "EXECUTED"}]',
        b'[{"exec_type": "batch", "status": "RUNNING"}]',
    ],
    "a JAX": [
        b'{"traceEvents": [], "metadata": {"os": "x", "highres-ticks": true}}',
        b'{"name": "/device:GPU:0"}',
    ],
    "a profile of an Ascend NPU": [
        *(b'{"name": "Ascend Hardware"}', b'[INFO] {"name": "Ascend Hardware"}'),
        *(b'[{"cat": "cpu_op", "ts": 12}]', b"Step Id,Loss\n1,2\n"),
    ],
    "a Chrome timeline": [b'{"keep": ["traceEvents"]}', b'[{"sample": "water", "ph": 7.2}]'],
    "a log of OpenVINO": [
        b"[Step 1/3] Starting the build",
        b"EXECUTED in order\nlayerType: Convolution",
    ],
    "a trtexec log": [
        b"import trtexec\n# the line === Profile (10 iterations ) === begins the table",
        b"# &&&& RUNNING TensorRT.trtexec begins a log",
        b"[05/08/2024 14:05] [I] a line",
        b'[{"model": "a", "latencyMs": 5}]',
    ],
    "a table of key_averages": [b"------  \n Name  Self Contained"],
    "a file of Nsight Systems": [
        *(b"SQLite format 3\0 CREATE TABLE runs", b"see QDSTRM", b"Time (%),Name"),
    ],
    "a report of Nsight Compute": [b'"ID","Name","Process ID"'],
    "a recording of ROCm": [
        b"id,start_timestamp,end_timestamp\n",
        b"Name,Calls,Total\n",
        b"id,name\n1,Correlation_Id,Start_Timestamp",
    ],
    "a TensorFlow Lite": [b"the TFL3 format"],
    "a TensorRT engine": [b"ftrt is a text"],
    "a PyTorch model": [b"PK\x03\x04".ljust(30, b"\0") + b"mydata.pkl"],
    "a Python pickle": [b"\x80\x06", b"\xe2\x80\x9d"],
    "a page of HTML": [b"<!doctype svg>", b"<htmlx>"],
    "a pointer of Git LFS": [b"version https://example.org/spec/v1"],
    "an archive": [
        *(b"\x1f\x8a", b"BZh9 is a name", b"7zXZ", b"PK means Phil Katz", b"ustar"),
    ],
}
"""For each signature, by the start of its format: contents that it must not recognise."""


@pytest.mark.parametrize("signature", UNSUPPORTED, ids=lambda one: one.format[:30])
def test_similar_contents_are_not_recognised(signature: Recogniser) -> None:
    (contents,) = [
        found for start, found in NEAR_MISSES.items() if signature.format.startswith(start)
    ]
    assert contents
    for content in contents:
        assert not signature.recognises(content, "run.txt"), content


def test_a_trtexec_log_is_recognised_before_its_table(tmp_path: Path) -> None:
    tactic = b"[05/08/2024-14:05:12] [V] [TRT] Tactic: 0x0000000000000001 Time: 0.01 layer_1\n"
    start = b"&&&& RUNNING TensorRT.trtexec [TensorRT v100700] # trtexec --onnx=m.onnx --verbose\n"
    for content in (start + tactic * 40_000, tactic * 40_000):
        path = write_bytes(tmp_path, content + b"[I] === Profile (2094 iterations ) ===\n")
        reason = failure(path, pa.UnknownFormatError)
        assert (
            reason
            == "looks like a trtexec log or list of times (--exportTimes); name the file of --exportProfile"
        )


PROGRAM = b"""import sys
# the columns [node type] [first] [avg ms] of a table
HEAD = "\t[node type]\t  [first]\t [avg ms]\t     [%]"
print("Inference timings in us: Init: ", HEAD)
"""


def test_a_python_file_with_the_columns_of_a_benchmark_is_not_recognised(tmp_path: Path) -> None:
    reason = failure(write_bytes(tmp_path, PROGRAM), pa.UnknownFormatError)
    assert reason == f"is in no known format: it starts with 'import sys\\n#'; {SUPPORTED}"


@pytest.mark.parametrize("line", [b"Total time: 1ms", b"node type, first, avg_ms, %"])
def test_the_first_mebibyte_of_a_text_is_searched_for_a_line(line: bytes) -> None:
    """Searching all of a long head would take a second for each format."""
    for before, is_found in ((1_000_000, True), (1_100_000, False)):
        content = b"log\n" * (before // 4) + line + b"\n" * 100_000
        readers = [reader for reader in READERS if reader.recognises(content, "log.txt")]
        assert bool(readers) is is_found


@pytest.mark.parametrize("name", ["report.onnx", "report.txt"])
def test_a_text_with_the_name_of_a_model_has_the_format_of_its_content(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(
        b"Batch size: 64\nTotal time: 3ms\nTotal instructions time: 4ms\n"
    )
    assert pa.load(tmp_path / name).origin.format == "MIGraphX report"


BROKEN = [
    (b'{"profiler": {}}', "at $: object missing required field `graph_exec`"),
    (
        b'{"profiler": {}, "graph_exec": {}}',
        "at $.graph_exec: object missing required field `operator`",
    ),
    (document_with(1, "profiler"), "at $.profiler: expected `object`, got `int`"),
    (
        document_with([], "profiler", "device"),
        "at $.profiler.device: expected `object`, got `array`",
    ),
    (
        document_with(None, "profiler", "host"),
        "at $.profiler.host: expected `object`, got `null`",
    ),
    (
        document_with("soon", "profiler", "device", "6", 'CompNode("cpu0:0" from "xpux:0")', "end"),
        "at $.profiler.device.6[...].end: expected a number, inf, -inf or nan, got 'soon'",
    ),
    (
        document_with("many", "profiler", "opr_footprint", "6", "memory"),
        "at $.profiler.opr_footprint.6.memory: expected `float | null`, got `str`",
    ),
    (
        document_with([1], "profiler", "opr_footprint", "6", "in_shapes"),
        "at $.profiler.opr_footprint[...].in_shapes[0]: expected `array`, got `int`",
    ),
    (
        document_with({"type": "x"}, "graph_exec", "operator", "6"),
        "at $.graph_exec.operator.6: object missing required field `name`",
    ),
    (
        document_with({"type": "x", "name": "y"}, "graph_exec", "operator", "six"),
        "at $.graph_exec.operator: the operator id 'six' is not a whole number of 0 or more",
    ),
    (
        # All other ids fit into 64 bits, even the one with 19 digits.
        document_with({"type": "x", "name": "y"}, "graph_exec", "operator", "1" * 19).replace(
            b'"operator": {', b'"operator": {"' + b"9" * 30 + b'": {"type": "x", "name": "y"},', 1
        ),
        f"at $.graph_exec.operator: the operator id '{'9' * 30}' does not fit into 64 bits",
    ),
    (TINY + b" }", f"is not valid JSON: trailing characters (byte {len(TINY) + 2})"),
    (
        b'{"profiler": {"device": {"6": NaN}}, "graph_exec": {"operator": {}}}',
        "is not valid JSON: invalid character (byte 30)",
    ),
    (
        b'{"profiler": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        "is nested too deeply for a profile",
    ),
    (
        document_with("?", "graph_exec", "operator", "6", "name").replace(b"?", b"d\xe4ta"),
        "at $.graph_exec.operator.6: text that is not UTF-8, b'\\xe4ta'",
    ),
    (
        document_with({"type": "x"}, "graph_exec", "operator", "a\nb"),
        r"at $.graph_exec.operator.a\nb: object missing required field `name`",
    ),
    (
        document_with({}, "profiler", "host", "?").replace(b"?", b"\xed\xa0\x80"),
        "at $.profiler.host: text that is not UTF-8, b'\\xed\\xa0\\x80'",
    ),
    (gzip.compress(TINY, mtime=0)[:-20], "truncated: the gzip stream has no end; copy it again"),
    (
        zstandard.ZstdCompressor().compress(TINY)[:40],
        "truncated: the zstd stream has no end; copy it again",
    ),
]


@pytest.mark.parametrize(("content", "reason"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_profile_says_where_and_what(tmp_path: Path, content: bytes, reason: str) -> None:
    assert failure(write_bytes(tmp_path, content), pa.MalformedProfileError) == reason


@pytest.mark.parametrize(
    ("content", "start"),
    [
        (gzip.compress(TINY, mtime=0)[:9] + b"\xff" * 40, "damaged gzip: Error -3 "),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "damaged zstd: "),
    ],
)
def test_damaged_compression_is_named(tmp_path: Path, content: bytes, start: str) -> None:
    reason = failure(write_bytes(tmp_path, content), pa.MalformedProfileError)
    # The rest of the reason comes from the package that decompresses.
    assert re.fullmatch(re.escape(start) + r"\w.*", reason)


def test_fields_that_the_question_does_not_need_may_be_broken(tmp_path: Path) -> None:
    path = write_bytes(tmp_path, document_with({"layout": 1}, "graph_exec", "var", "7", "mem_plan"))
    assert run_command(path).code == 0
    outcome = run_command(path, "--input-dtype", "Float32")
    assert (outcome.code, outcome.err) == (
        1,
        f"profile_analyze: error: {path}: at $.graph_exec.var[...].mem_plan.layout: "
        "expected `object | null`, got `int`\n",
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_profile_says_at_which_byte(tmp_path: Path, share: float) -> None:
    length = int(len(TINY) * share)
    assert failure(write_bytes(tmp_path, TINY[:length]), pa.MalformedProfileError) == (
        f"truncated: the JSON ends in the middle, at byte {length}; the program that wrote it may "
        "have died: profile again"
    )


def test_the_word_truncated_in_a_file_does_not_make_it_truncated(tmp_path: Path) -> None:
    comp_node = 'CompNode("cpu0:0" from "xpux:0")'
    content = document_with("truncated", "profiler", "device", "6", comp_node, "end")
    assert failure(write_bytes(tmp_path, content), pa.MalformedProfileError) == (
        "at $.profiler.device.6[...].end: expected a number, inf, -inf or nan, got 'truncated'"
    )


def test_a_truncated_file_with_control_characters_is_truncated(tmp_path: Path) -> None:
    content = (PROFILES / "names-ctrlchar.json").read_bytes()[:-100]
    assert failure(write_bytes(tmp_path, content), pa.MalformedProfileError).startswith(
        f"truncated: the JSON ends in the middle, at byte {len(content)}; "
    )


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    assert failure(str(tmp_path / "nothing.json")) == "no such file"
    with pytest.raises(pa.InputError, match="is a directory; name a file in it"):
        pa.load(tmp_path)
    assert failure(str(tmp_path / "a\0b")) == "no such file: the name has a NUL character"


def test_a_file_without_permission_to_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(pa.InputError) as caught:
        pa.load(tmp_path / "secret.json")
    assert caught.value.reason == (
        "permission denied; ask the owner for access, or run chmod u+r on it"
    )


def test_closed_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(pa.InputError) as caught:
        pa.load("-")
    assert str(caught.value) == "standard input: is closed"


OPEN_FILES = Path("/proc/self/fd")


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="the system does not list open files")
def test_errors_leave_no_file_open(tmp_path: Path) -> None:
    file = write_bytes(
        tmp_path, document_with({"a thread": {"end": "late"}}, "profiler", "host", "9")
    )
    gc.disable()  # as the command does: a file in a reference cycle would then stay open
    try:
        before = len(list(OPEN_FILES.iterdir()))
        with pytest.raises(pa.MalformedProfileError, match=r"at \$\.profiler\.host"):
            pa.load(file)
        assert len(list(OPEN_FILES.iterdir())) == before
    finally:
        gc.enable()

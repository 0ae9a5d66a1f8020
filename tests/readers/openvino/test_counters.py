"""Reports of counters written by hand: dialects, totals, host times, and files that are broken."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from tests.conftest import IS_FULL, run_command
from tests.findings.found import codes_in
from tests.readers.openvino.documents import HEADER, graph, layer, report, row
from tests.readers.tiny_file import failure, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

ROWS = (
    row("data", "Parameter", 0, status="NOT_RUN"),
    row("conv", "Convolution", 0.03, primitive="brgconv_avx512_f32"),
    row("relu", "Relu", 0, status="NOT_RUN", primitive="undef"),
    row("pool", "MaxPool", 0.01),
)
NO_SHAPES = (
    "note: counters have no shapes: computation and memory need --model graph.xml, the execution "
    "graph that -exec_graph_path of benchmark_app writes\n"
)
MEANS = "note: times are means over several inferences; how much they vary is not known\n"
ANSWER = (
    "total device time  40.000 us\n"
    "total host time    N/A\n"
    "\n"
    "device self time (us)  share  type         name\n"
    "               30.000  75.0%  Convolution  conv\n"
    "               10.000  25.0%  MaxPool      pool\n"
)


def node(name: str, type_: str, real: Any, status: str = "Status.EXECUTED") -> dict[str, Any]:
    return {
        "name": name,
        "node_type": type_,
        "status": status,
        "real_time": real,
        "cpu_time": real,
        "exec_type": "jit_avx512_f32",
    }


NODES = [node("conv", "Convolution", "0.030"), node("pool", "MaxPool", "0.010")]
PART = {"nodes": NODES, "total_real_time": "0.040", "total_cpu_time": "0.040"}


def document(**changes: Any) -> bytes:
    whole = {"report_type": "detailed", "detailed_performance": [PART], **changes}
    return json.dumps(whole, indent=4).encode()


def shown(folder: Path, content: bytes, *options: str) -> tuple[str, str]:
    done = run_command(write_bytes(folder, content), *options)
    assert done.code == 0, done.err
    return done.out.replace("\r\n", "\n"), done.err


SORTED = (
    b'layerName,execStatus,layerType,execType,realTime (ms),cpuTime (ms),"proportion (%)\n"\n'
    b"conv,Status.EXECUTED,Convolution,jit_avx512_f32,0.030,0.030,75.00%\n"
    b"pool,Status.EXECUTED,MaxPool,jit_avx512_f32,0.010,0.010,25.00%\n"
    b"\nTotal time: 0.04 milliseconds\nTotal CPU time: 0.04 milliseconds\n\n\n"
)
SORTED_IN_CPP = (
    b"layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms); %;\n"
    b"conv;EXECUTED;Convolution;jit_avx512_f32;0.030;0.030;75.000;\n"
    b"pool;EXECUTED;MaxPool;jit_avx512_f32;0.010;0.010;25.000;\n"
    b"Total;;;;0.040;0.040;100.000;\n\n"
)
ORDER_UNKNOWN = (
    "note: the layers are sorted by their time, so the order of execution is not known; "
    "a report of type detailed_counters has this order\n"
)


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        (report(*ROWS), ""),
        (report(*ROWS).replace(b"Status.", b""), ""),  # as the tool in C++ writes it
        (report(*ROWS).replace(b"\n", b"\r\n"), ""),
        (report(*ROWS).replace(b"\n", b";\n"), ""),
        (b"\n\t" + report(*ROWS), ""),
        (document(), ""),
        (document(report_type="average", detailed_performance=None, avg_performance=PART), ""),
        # Two requests of one stream: both have the counters of the stream.
        (document(detailed_performance=[PART, PART]), ""),
        (document().replace(b'"0.030"', b"0.030"), ""),
        (SORTED, ORDER_UNKNOWN),
        (SORTED_IN_CPP, ORDER_UNKNOWN),
        (SORTED_IN_CPP.replace(b"\n", b"\r\n"), ORDER_UNKNOWN),  # as the tool writes on Windows
        (SORTED_IN_CPP * 2, ORDER_UNKNOWN),  # two requests of one stream
        (SORTED.replace(b"\n", b"\r\n"), ORDER_UNKNOWN),  # as Python's csv.writer writes it
        # Spreadsheets may write commas, also in empty lines.
        (report(*ROWS).replace(b";", b",") + b",,,,,\n", ""),
        (SORTED_IN_CPP.replace(b";", b","), ORDER_UNKNOWN),
        # In some countries, spreadsheets write decimal commas.
        (re.sub(rb"(?<=\d)\.(?=\d)", b",", report(*ROWS)), ""),
        (re.sub(rb"(?<=\d)\.(?=\d)", b",", SORTED_IN_CPP), ORDER_UNKNOWN),
        (
            document(report_type="sorted", detailed_performance=None, avg_performance=PART),
            ORDER_UNKNOWN,
        ),
    ],
)
def test_counters_of_every_form_have_the_same_answer(
    content: bytes, notes: str, tmp_path: Path
) -> None:
    assert shown(tmp_path, content, "--notes", "all") == (ANSWER, NO_SHAPES + notes + MEANS)


def test_several_streams_are_runs_of_one_process(tmp_path: Path) -> None:
    second = {"nodes": [node("conv", "Convolution", "0.050")], "total_real_time": "0.050"}
    for content in (
        document(detailed_performance=[PART, second]),
        report(*ROWS) + report(row("conv", "Convolution", 0.05, primitive="brgconv_avx512_f32")),
    ):
        profile = pa.load(write_bytes(tmp_path, content))
        nan = float("nan")
        found = [row for times in profile.measured("time").tolist() for row in times]
        assert found == pytest.approx([30e-6, 50e-6, 10e-6, nan], nan_ok=True)
        assert len(profile.processes) == 1


def test_layers_that_look_alike_stay_apart(tmp_path: Path) -> None:
    content = report(row("a", "Relu", 0.001), row("a", "Relu", 0.002))
    profile = pa.load(write_bytes(tmp_path, content))
    assert profile.measured("time").tolist() == [[1e-6], [2e-6]]


def test_a_gpu_has_host_times(tmp_path: Path) -> None:
    kernel = {"primitive": "convolution_gpu_bfyx__f16"}
    content = report(
        row("a", "Relu", 0.02, 0.003, **kernel), row("b", "Relu", 0.01, 0.001, **kernel)
    )
    out, notes = shown(
        tmp_path, content, "--columns", "time,host_time,device,name", "--format", "csv"
    )
    assert out == "time_s,host_time_s,device,name\n0.00002,3e-6,GPU,a\n0.00001,1e-6,GPU,b\n"
    assert notes.startswith(
        "note: the compute dtype of 2 operators (100.0% of the time) is fp16; if the model is "
        "in fp32, "
    )


@pytest.mark.parametrize(
    ("primitives", "device"),
    [
        (("jit_avx512_f32", "brgconv_avx512_f32"), "CPU"),
        (("DPU", "Shave"), ""),  # an NPU
        (("jit_avx512_f32", "convolution_gpu_bfyx__f16"), ""),  # the device HETERO
    ],
)
def test_the_names_of_primitives_decide_the_device(
    primitives: tuple[str, str], device: str, tmp_path: Path
) -> None:
    first, second = primitives
    # The second time of a layer is a host time only for a GPU.
    content = report(
        row("a", "Relu", 0.02, 0.019, primitive=first), row("b", "Relu", 0.01, primitive=second)
    )
    options = ("--columns", "time,host_time,device,name", "--format", "csv")
    out, _ = shown(tmp_path, content, *options)
    assert out == f"time_s,host_time_s,device,name\n0.00002,,{device},a\n0.00001,,{device},b\n"


def test_json_without_a_total_is_whole(tmp_path: Path) -> None:
    content = document(detailed_performance=[{"nodes": NODES}])
    assert shown(tmp_path, content) == (ANSWER, NO_SHAPES + MEANS)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (
            report(*ROWS, total=0.9),
            "the layers add up to 0.040 ms, but the file states a total of 0.900 ms: layers are "
            "missing or were changed",
        ),
        (
            report(*ROWS).partition(b"Total")[0],
            "the file ends before the total, so layers may be missing; copy it again",
        ),
        (
            report(ROWS[0], "conv;Status.MAYBE;x;y;1;1", "pool;x", *ROWS[1:], total=0.04),
            "left out 2 lines without a layer; the first is line 3",
        ),
        (
            SORTED.partition(b"Total")[0],
            "the file ends before the total, so layers may be missing; copy it again",
        ),
        (
            SORTED.partition(b" milliseconds")[0],
            "the file ends before the total, so layers may be missing; copy it again",
        ),
        (
            SORTED_IN_CPP.partition(b"0.040;")[0],
            "the file ends before the total, so layers may be missing; copy it again",
        ),
        (
            report(*ROWS, total=0.9).replace(b";", b","),
            "the layers add up to 0.040 ms, but the file states a total of 0.900 ms: layers are "
            "missing or were changed",
        ),
        (
            report(*ROWS).replace(b";", b",").partition(b"0.040,")[0],
            "the file ends before the total, so layers may be missing; copy it again",
        ),
        (  # without shares, a line is not complete
            SORTED_IN_CPP.replace(b"pool", b"other;EXECUTED;MaxPool;jit_avx512_f32;9;9;\npool"),
            "left out 1 line without a layer; the first is line 3",
        ),
        (
            SORTED.replace(b"0.04", b"0.05"),
            "the layers add up to 0.040 ms, but the file states a total of 0.050 ms: layers are "
            "missing or were changed",
        ),
        (  # a field may have up to 131,072 characters
            SORTED.replace(b"\npool", b"\n" + b"a" * 131_073 + b",EXECUTED,Relu,x,1,1\npool"),
            "left out 1 line without a layer; the first is line 4",
        ),
    ],
)
def test_odd_files_have_notes(content: bytes, note: str, tmp_path: Path) -> None:
    out, notes = shown(tmp_path, content)
    assert out == ANSWER
    assert notes.splitlines()[0] == f"note: {note}"


@pytest.mark.parametrize(
    "name", ["a;b", "a;Status.EXECUTED;c", "Total", '"a', "a,b", "\u202e", "", "layerName"]
)
def test_hostile_names_are_read(name: str, tmp_path: Path) -> None:
    profile = pa.load(write_bytes(tmp_path, report(row(name, "Relu", 0.001))))
    assert profile.operators.name.values().tolist() == [name]
    profile = pa.load(
        write_bytes(tmp_path, document(detailed_performance=[{"nodes": [node(name, "Relu", 1)]}]))
    )
    assert profile.operators.name.values().tolist() == [name]


@pytest.mark.parametrize("name", ["a,b", 'a"b', "a;b", "Total", "layerName", "\u202e"])
def test_hostile_names_in_sorted_reports_are_read(name: str, tmp_path: Path) -> None:
    """`csv.writer` quotes names with a comma or a quotation mark."""
    quoted = f'"{name.replace(chr(34), chr(34) * 2)}"' if {*name} & {*',"'} else name
    profile = pa.load(write_bytes(tmp_path, SORTED.replace(b"conv,", f"{quoted},".encode())))
    assert profile.operators.name.values().tolist() == [name, "pool"]
    assert profile.measured("time")[:, 0] == pytest.approx([30e-6, 10e-6])
    assert codes_in(profile.notes)[0] == "counters-without-shapes"


@pytest.mark.parametrize("name", ["a;b", "a;EXECUTED;c;", "Total", ""])
def test_hostile_names_in_sorted_reports_of_cpp_are_read(name: str, tmp_path: Path) -> None:
    profile = pa.load(write_bytes(tmp_path, SORTED_IN_CPP.replace(b"conv;", f"{name};".encode())))
    assert profile.operators.name.values().tolist() == [name, "pool"]
    assert profile.measured("time")[:, 0] == pytest.approx([30e-6, 10e-6])


def test_the_total_of_a_sorted_report_is_rounded_to_two_decimals(tmp_path: Path) -> None:
    content = SORTED.replace(b"0.030,0.030", b"0.034,0.034")
    assert shown(tmp_path, content)[1] == NO_SHAPES + ORDER_UNKNOWN + MEANS


def test_counters_get_the_shapes_of_an_execution_graph(tmp_path: Path) -> None:
    """Names of types differ: counters use the operators' names, graphs use the plugin's names."""
    image, small = ("FP32", (1, 3, 8, 8)), ("FP32", (1, 3, 4, 4))
    layers = (
        layer(0, "pool", "Pooling", 5, ins=[image], outs=[small]),
        layer(1, "join", "Concatenation", 5, ins=[small, small], outs=[("FP32", (1, 6, 4, 4))]),
    )
    (tmp_path / "graph.xml").write_bytes(graph(*layers))
    content = report(row("pool", "MaxPool", 0.02), row("join", "Concat", 0.01))
    options = ("--model", str(tmp_path / "graph.xml"), "--columns", "name,type,memory,out_shapes")
    out, notes = shown(tmp_path, content, *options, "--format", "csv", "--notes", "all")
    assert out == (
        'name,type,memory_bytes,out_shapes\npool,MaxPool,960.0,"{1,3,4,4}"\n'
        'join,Concat,768.0,"{1,6,4,4}"\n'
    )
    assert f"note: {tmp_path}/graph.xml: 2 operators matched by name, 0 by order" in notes


BROKEN = [
    (HEADER.encode(), "has no layers; record again with -pc"),
    (report(ROWS[0]), "has 1 layer, but none that ran; record again with -pc"),
    (report(ROWS[0], ROWS[2]), "has 2 layers, but none that ran; record again with -pc"),
    (document(detailed_performance=[]), "has no layers; record again with -pc"),
    (
        document(detailed_performance=[{"nodes": [node("a", "Relu", "soon")]}]),
        "at $.detailed_performance[0].nodes[0].real_time: expected `float`, got `str`",
    ),
    (
        document(detailed_performance=[{"nodes": [node("a", "Relu", "-1")]}]),
        "at $.detailed_performance[0].nodes[0].real_time: expected `float` >= 0.0",
    ),
    (
        document(detailed_performance=[{"nodes": [node("a", "Relu", "nan")]}]),
        "at $.detailed_performance[0].nodes[0].real_time: expected `float` >= 0.0",
    ),
    (
        document(detailed_performance=[{"nodes": [{"name": "a"}]}]),
        "at $.detailed_performance[0].nodes[0]: object missing required field `node_type`",
    ),
    (
        document(detailed_performance={}),
        "at $.detailed_performance: expected `array | null`, got `object`",
    ),
    (document()[:-1], "is not valid JSON: input data was truncated"),
    (
        document().replace(b'"conv"', b'"\xff"'),
        "is not valid JSON: a text in it is not UTF-8",
    ),
    (
        document().replace(b"[", b"[" * 100_000, 1),
        "at $.detailed_performance[0]: expected `object`, got `array`",
    ),
    (
        document(more=1).replace(b"1\n}", b"[" * 100_000 + b"]" * 100_000 + b"}"),
        "is nested too deeply for a profile",
    ),
]


@pytest.mark.parametrize(("content", "reason"), BROKEN)
def test_broken_files_are_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    assert failure(write_bytes(tmp_path, content), pa.MalformedProfileError) == reason


@pytest.mark.slow
@pytest.mark.parametrize("content", [report(*ROWS), document(), SORTED, SORTED_IN_CPP])
def test_truncation_at_every_byte_is_noted_or_refused(content: bytes, tmp_path: Path) -> None:
    for end in range(0, len(content.rstrip()), 1 if IS_FULL else 23):
        done = run_command(write_bytes(tmp_path, content[:end]))
        assert (done.code, done.out == "") in ((0, False), (1, True)), end
        assert done.code == 0 or done.err.count("\n") == 1, end
        assert "note: " in done.err or done.code == 1, end

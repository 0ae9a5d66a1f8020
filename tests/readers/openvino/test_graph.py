"""Execution graphs written by hand: whole tables, tensors, notes, and files that are broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from tests.conftest import IS_FULL, PROFILES, run_command
from tests.readers.openvino.documents import graph, layer
from tests.readers.tiny_file import failure, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

DATA = layer(0, "data", "Input", outs=[("FP32", (1, 3, 8, 8))])
WEIGHT = layer(1, "w", "Const", outs=[("FP32", (4, 3, 3, 3))])
BIAS = layer(2, "b", "Const", outs=[("FP32", (1, 4, 1, 1))])
SHAPE = layer(3, "s", "Const", outs=[("I32", (1,))])
FLAT = layer(
    4, "flat", "Reshape", ins=[("FP32", (1, 4, 1, 1)), ("I32", (1,))], outs=[("FP32", (4,))]
)
CONV = layer(
    5,
    "conv",
    "Convolution",
    30,
    ins=[("FP32", (1, 3, 8, 8)), ("FP32", (4, 3, 3, 3)), ("FP32", (4,))],
    outs=[("FP32", (1, 4, 6, 6))],
    originalLayersNames="conv,relu",
    primitiveType="brgconv_avx512_f32",
)
FUSED = layer(6, "sub", "Subgraph", 10, ins=[("FP32", (1, 4, 6, 6))], outs=[("FP32", (1, 4, 6, 6))])
VIEW = layer(7, "view", "Reshape", ins=[("FP32", (1, 4, 6, 6))], outs=[("FP32", (1, 144))])
RESULT = layer(8, "out", "Output", ins=[("FP32", (1, 144))])
LAYERS = (DATA, WEIGHT, BIAS, SHAPE, FLAT, CONV, FUSED, VIEW, RESULT)
EDGES = "0:0-5:0 1:0-5:1 2:0-4:0 3:0-4:1 4:2-5:2 5:3-6:0 6:1-7:0 7:1-8:0"
GRAPH = graph(*LAYERS, edges=EDGES)


def shown(folder: Path, content: bytes, *options: str) -> tuple[str, str]:
    done = run_command(write_bytes(folder, content), *options)
    assert done.code == 0, done.err
    return done.out.replace("\r\n", "\n"), done.err


def rows(content: bytes, folder: Path, *columns: str) -> list[tuple[Any, ...]]:
    table = pa.run(pa.Query(order="+id"), pa.load(write_bytes(folder, content)))
    return list(zip(*(table[column].tolist() for column in columns), strict=True))


def test_layers_with_times_are_the_rows_of_an_answer(tmp_path: Path) -> None:
    assert shown(tmp_path, GRAPH) == (
        "total device time  40.000 us\n"
        "total host time    N/A\n"
        "\n"
        "device self time (us)  share          flops    bandwidth  type         name\n"
        "               30.000  75.0%  259.20 MFLOPS  56.97 MiB/s  Convolution  conv\n"
        "               10.000  25.0%            N/A          N/A  Subgraph     sub\n",
        "note: the computation of 1 operator (25.0% of the time) is unknown: a Subgraph runs several "
        "operators in one, and the file does not say which\n"
        "note: times are means over several inferences; how much they vary is not known\n",
    )
    columns = (
        "id,type,category,time,macs,params,param_bytes,conv_kind,memory_source,input_dtype,"
        "in_shapes,out_shapes,device,param.original_layers,param.primitive"
    )
    table, _ = shown(tmp_path, GRAPH, "--format", "csv", "--columns", columns)
    assert table == (
        "id,type,category,time_s,macs,params,param_bytes,conv_kind,memory_source,input_dtype,"
        "in_shapes,out_shapes,device,param.original_layers,param.primitive\n"
        "5,Convolution,convolution,0.00003,3888,112,448.0,full,derived,FP32,"
        '"{1,3,8,8}, {4,3,3,3}, {4}","{1,4,6,6}",CPU,"conv,relu",brgconv_avx512_f32\n'
        '6,Subgraph,other,0.00001,,0,0.0,,unknown,FP32,"{1,4,6,6}","{1,4,6,6}",CPU,,jit_avx512_f32\n'
    )


def test_tensors_have_roles_and_uses(tmp_path: Path) -> None:
    profile = pa.load(write_bytes(tmp_path, GRAPH))
    assert profile.operators.name.values().tolist() == ["conv", "sub", "view"]
    tensors, uses = profile.table("tensors"), profile.table("uses")
    assert list(
        zip(
            tensors.key.values(),
            tensors.role.values(),
            tensors.size,
            tensors.is_result,
            strict=True,
        )
    ) == [
        ("data", "input", 768, False),
        ("w", "weight", 432, False),
        ("b", "weight", 16, False),
        ("s", "structure", 4, False),
        ("flat", "derived constant", 16, False),
        ("conv", "activation", 576, False),
        ("sub", "activation", 576, False),
        ("view", "activation", 576, True),
    ]
    assert list(zip(uses.operator, uses.tensor, uses.is_output, strict=True)) == [
        *((0, 0, False), (0, 1, False), (0, 4, False), (0, 5, True)),
        *((1, 5, False), (1, 6, True)),
        *((2, 6, False), (2, 7, True)),
    ]


def test_rows_are_in_the_order_of_execution(tmp_path: Path) -> None:
    late, early = layer(3, "late", "Relu", 1, execOrder=9), layer(7, "early", "Relu", 1)
    assert rows(graph(late, early), tmp_path, "id", "name") == [(7, "early"), (9, "late")]
    # Without a position of its own for each layer, the keys are the ids in the file.
    unordered = (layer(3, "x", "Relu", 1, execOrder=""), layer(7, "y", "Relu", 1, execOrder=""))
    assert rows(graph(*unordered), tmp_path, "id", "name") == [("3", "x"), ("7", "y")]
    same = (layer(3, "x", "Relu", 1), layer(7, "y", "Relu", 1, execOrder=3))
    assert rows(graph(*same), tmp_path, "id", "name") == [("3", "x"), ("7", "y")]


def test_a_time_of_zero_is_known(tmp_path: Path) -> None:
    content = graph(layer(0, "a", "Relu", 0), layer(1, "b", "Relu", 2))
    assert rows(content, tmp_path, "name", "time") == [("a", 0.0), ("b", 2e-6)]


KEEPS_FP32 = (
    "-infer_precision f32 of benchmark_app, or the property INFERENCE_PRECISION_HINT, keeps fp32"
)


@pytest.mark.parametrize(
    ("input_", "weight", "note"),
    [
        (
            *("FP32", "FP16"),
            "bf16, which OpenVINO chooses by itself on devices that support it; " + KEEPS_FP32,
        ),
        ("FP32", "BF16", "bf16, the dtype of inputs or constants of the model"),
        ("I32", "UNSPECIFIED", f"bf16; if the model is in fp32, {KEEPS_FP32}"),
    ],
)
def test_the_note_on_a_reduced_precision_says_who_chose_it(
    input_: str, weight: str, note: str, tmp_path: Path
) -> None:
    """Tensors between operators have the reduced precision, too. So only inputs and constants show
    whether the model already had it."""
    reduced = {"runtimePrecision": "bf16", "primitiveType": "brgconv_avx512_bf16"}
    content = graph(
        layer(0, "data", "Input", outs=[(input_, (1, 3))]),
        layer(1, "w", "Const", outs=[(weight, (3, 3))]),
        layer(2, "a", "Relu", 30, ins=[("BF16", (1, 3))], outs=[("BF16", (1, 3))], **reduced),
        layer(3, "b", "Relu", 10, ins=[("FP32", (1, 3))], outs=[("FP32", (1, 3))]),
    )
    _, notes = shown(tmp_path, content, "--print-only", "summary", "--notes", "all")
    assert notes.splitlines()[0] == (
        f"note: the compute dtype of 1 operator (75.0% of the time) is {note}"
    )
    assert pa.load(write_bytes(tmp_path, content)).operators.categorical(
        "compute_dtype"
    ).values().tolist() == ["bf16", "fp32"]


@pytest.mark.parametrize(
    ("primitive", "device"),
    [
        ("jit_avx512_f32", ("CPU", "cpu")),
        ("unknown_f32", ("CPU", "cpu")),
        ("undef", (None, None)),
        ("DPU", (None, None)),
        ("convolution_gpu_bfyx_os_iyx_osv16__f16", ("GPU", "gpu")),
        ("ocl:ref:any__f16", ("GPU", "gpu")),
    ],
)
def test_the_name_of_the_primitive_decides_the_device(
    primitive: str, device: tuple[str | None, str | None], tmp_path: Path
) -> None:
    content = graph(layer(0, "a", "Relu", 1, primitiveType=primitive))
    (track,) = pa.load(write_bytes(tmp_path, content)).tracks
    assert (track.device, track.device_kind) == device


def test_a_graph_without_times_is_a_model(tmp_path: Path) -> None:
    content = GRAPH.replace(b'execTimeMcs="30"', b'execTimeMcs="not_executed"')
    content = content.replace(b'execTimeMcs="10"', b'execTimeMcs="not_executed"')
    out, notes = shown(tmp_path, content)
    assert out == (
        "total computation     7.78 KFLO, unknown for 1 operator\n"
        "total memory traffic  1.75 KiB, unknown for 1 operator\n"
        "operators             3 of 3 types: 1 Convolution, 1 Subgraph, 1 Reshape\n"
        "parameters            112, 448.00 byte of fp32\n"
        "other constants       1 in shapes and indices\n"
        "MACs                  3.89 K, unknown for 1 operator\n"
        "activations           1.69 KiB\n"
        "peak of activations   1.31 KiB at conv: data 768.00 byte, conv 576.00 byte\n"
        "weights and peak      1.75 KiB\n"
        "input                 data {1,3,8,8} fp32\n"
        "output                out {1,144} fp32\n"
        "\n"
        "  macs  params     memory  out_shapes  type         name\n"
        "3.89 K     112   1.75 KiB  {1,4,6,6}   Convolution  conv\n"
        "   N/A       0        N/A  {1,4,6,6}   Subgraph     sub\n"
        "     0       0  0.00 byte  {1,144}     Reshape      view\n"
    )
    assert notes.splitlines()[0] == (
        "note: the graph has no times, because profiling was off: -pc of benchmark_app, or the "
        "property PERF_COUNT, switches it on"
    )


def test_sizes_that_change_from_run_to_run_are_unknown(tmp_path: Path) -> None:
    port = ("FP32", (-1, 8))
    content = graph(layer(0, "a", "Softmax", 3, ins=[port], outs=[port]))
    found = rows(content, tmp_path, "in_shapes", "computation", "category")
    assert found == [(None, pytest.approx(float("nan"), nan_ok=True), "softmax")]


def test_hostile_names_and_nesting_are_read(tmp_path: Path) -> None:
    name = 'a<b>&"\n\t\u202e'
    found = rows(graph(layer(0, name, "Relu", 1)), tmp_path, "name")
    assert found == [(name,)]
    deep = b"<a>" * 100_000 + b"</a>" * 100_000
    content = GRAPH.replace(b"<edges>", deep + b"<edges>")
    assert rows(content, tmp_path, "name") == [("conv",), ("sub",)]


TRUNCATED = "truncated: the file ends before the end of its root element; copy it again"
BROKEN = [
    (graph(), "has no layers (elements net/layers/layer)"),
    (
        graph(layer(0, "a", "Relu", 1)).replace(b"execTimeMcs", b"other"),
        "is a model of OpenVINO (IR), not an execution graph: no layer has execTimeMcs; "
        "benchmark_app -m FILE -pc -exec_graph_path graph.xml writes an execution graph",
    ),
    (graph(layer(0, "a", "Relu", "soon")), "layer 'a': execTimeMcs 'soon' is not a time (line 4)"),
    (graph(layer(0, "a", "Relu", "-1")), "layer 'a': execTimeMcs '-1' is not a time (line 4)"),
    (graph(layer(0, "a", "Relu", "nan")), "layer 'a': execTimeMcs 'nan' is not a time (line 4)"),
    (
        GRAPH.replace(b"<dim>8</dim>", b"<dim>wide</dim>"),
        "layer 'data': the size 'wide' is not a whole number (line 4)",
    ),
    (  # a message shows only the first 64 characters of the size
        GRAPH.replace(b"<dim>8</dim>", b"<dim>7" + b" " * 100 + b"wide</dim>"),
        "layer 'data': the size '7' is not a whole number (line 4)",
    ),
    (
        GRAPH.replace(b"<dim>8</dim>", b"<dim>" + b"1\n" * 1000 + b"</dim>"),
        "layer 'data': the size '" + r"1\n" * 31 + r"1' is not a whole number (line 1004)",
    ),
    (
        GRAPH.replace(b'<layer id="0" ', b"<layer "),
        "has a layer without id or name (line 4)",
    ),
    (
        graph(layer(0, "a", "Relu", 1), layer(0, "b", "Relu", 1)),
        "layer 'b' has the id '0' of an earlier layer (line 5)",
    ),
    (
        GRAPH.replace(b'<port id="1"', b'<port id="0"', 1),
        "layer 'flat' has several inputs with the same id (line 8)",
    ),
    *((content, TRUNCATED) for content in (GRAPH[:-8], GRAPH[:-3], GRAPH[:90])),
    (  # the file ends inside of a character of two bytes
        GRAPH.replace(b'name="conv"', 'name="\u00e9'.encode())[: GRAPH.index(b'"conv"') + 2],
        TRUNCATED,
    ),
    (GRAPH + b"<!-- ", "is not valid XML: unclosed token (line 16, column 1)"),
    (
        GRAPH.replace(b"<edges>", b"<edge>"),
        "is not valid XML: mismatched tag (line 14, column 497)",
    ),
    (
        GRAPH.replace(b"<net", b'<!DOCTYPE net [<!ENTITY a "aaaa">]><net', 1),
        "declares a document type, which no execution graph does (line 2)",
    ),
    (
        GRAPH.replace(b"<net", b'<!DOCTYPE net SYSTEM "file:///etc/passwd"><net', 1),
        "declares a document type, which no execution graph does (line 2)",
    ),
    (
        GRAPH.replace(b'name="conv"', b'name="\xff"'),
        "is not valid XML: not well-formed (invalid token) (line 9, column 21)",
    ),
]


@pytest.mark.parametrize(("content", "reason"), BROKEN)
def test_broken_files_are_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    assert failure(write_bytes(tmp_path, content), pa.MalformedProfileError) == reason


def test_white_space_before_the_document_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The file is read in chunks of 2 bytes, so that the white space fills whole chunks.
    monkeypatch.setattr("profile_analyze.readers.input.source.Source.chunks.__defaults__", (2,))
    assert rows(b" \n\r\n\t" + GRAPH, tmp_path, "name") == [("conv",), ("sub",)]
    for content, reason in (
        (
            GRAPH.replace(b"<edges>", b"<edge>"),
            "is not valid XML: mismatched tag (line 16, column 497)",
        ),
        (
            GRAPH.replace(b"<dim>8</dim>", b"<dim>wide</dim>"),
            "layer 'data': the size 'wide' is not a whole number (line 6)",
        ),
    ):
        path = write_bytes(tmp_path, b"\n \n" + content)
        assert failure(path, pa.MalformedProfileError) == reason


@pytest.mark.slow
def test_truncation_at_every_byte_is_refused(tmp_path: Path) -> None:
    for end in range(0, len(GRAPH) - 1, 1 if IS_FULL else 23):
        done = run_command(write_bytes(tmp_path, GRAPH[:end]))
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), end


LAYER_RUN_ONCE = PROFILES.parent / "openvino" / "constant-layer-2026.4.xml"
LEFT_OUT = (
    "left out 1 layer (11.6 ms) with only constant inputs, which ran once, when OpenVINO compiled "
    "the model"
)


def test_a_layer_that_ran_once_at_compilation_is_not_inference_time() -> None:
    done = run_command(str(LAYER_RUN_ONCE), "-t", "2", "--columns", "name,time,share")
    assert (done.code, done.out.replace("\r\n", "\n")) == (
        0,
        "total device time  1.069 ms\n"
        "total host time    N/A\n"
        "\n"
        "name     device self time (us)  share\n"
        "matmul                 744.000  69.6%\n"
        "quant_2                141.000  13.2%\n",
    )
    assert f"note: {LEFT_OUT}\n" in done.err
    profile = pa.load(LAYER_RUN_ONCE)
    assert not any("transpose_b" in name for name in profile.operators.name.values())


def test_a_layer_that_ran_once_is_not_compared(tmp_path: Path) -> None:
    content = LAYER_RUN_ONCE.read_bytes()
    base = write_bytes(tmp_path, content.replace(b'"11598"', b'"1598"'), "base.xml")
    done = run_command(
        str(LAYER_RUN_ONCE), "--compare", base, "--fail-if", "total > +5%", "--unit", "iteration"
    )
    assert "baseline device time  1.069 ms\n" in done.out
    assert "difference            0 ms (0.0%)\n" in done.out
    assert "transpose_b" not in done.out
    text = LEFT_OUT.replace("11.6 ms", "11.6 ms, 1.60 ms in the baseline")
    assert f"note: on both sides: {text}\n" in done.err


def test_several_files_have_one_note_on_layers_that_ran_once(tmp_path: Path) -> None:
    content = LAYER_RUN_ONCE.read_bytes().replace(b'"11598"', b'"1598"')
    joined = pa.load_runs([LAYER_RUN_ONCE, write_bytes(tmp_path, content, "other.xml")])
    (finding,) = (one for one in joined.notes if one.code == "constant-layers")
    assert as_text(finding) == f"in each of 2 files: {LEFT_OUT.replace('11.6 ms', '6.60 ms')}"


def test_a_graph_of_which_no_inference_ran_says_so(tmp_path: Path) -> None:
    content = re.sub(
        rb'execTimeMcs="(?!11598)\d+"', b'execTimeMcs="not_executed"', LAYER_RUN_ONCE.read_bytes()
    )
    _, notes = shown(tmp_path, content)
    assert (
        "note: the graph has no times of an inference, because it was written before the first one\n"
        in notes
    )
    assert f"note: {LEFT_OUT}\n" in notes


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("Reorder", [("3", "a")]),
        *(
            (type_, [("1", "layer"), ("2", "next"), ("3", "a")])
            for type_ in ("RandomUniform", "ReadValue", "Inverse")
        ),
    ],
)
def test_random_layers_and_states_run_in_each_inference(
    type_: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    """The layers are not in the order of execution."""
    content = graph(
        layer(2, "next", "Reorder", 3, ins=[("FP32", (4,))], execOrder=""),
        layer(1, "layer", type_, 7, ins=[("FP32", (4,))], outs=[("FP32", (4,))], execOrder=""),
        layer(0, "w", "Const", outs=[("FP32", (4,))], execOrder=""),
        layer(3, "a", "Relu", 5, ins=[("FP32", (4,))], execOrder=""),
        edges="0:0-1:0 1:1-2:0",
    )
    assert rows(content, tmp_path, "id", "name") == expected

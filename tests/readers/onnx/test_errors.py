"""Damaged and unusual ONNX models cause one line of error each, and never a traceback."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, numpy_helper

import profile_analyze as pa
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.onnx.loading import read_model
from tests.conftest import run_command
from tests.readers.onnx.models import HEAD, RELU, model, write_model
from tests.remote_files import in_memory

NEWEST = onnx.defs.onnx_opset_version()


def changed(**changes: Any) -> Any:
    """Return a model with one node. `changes` replace fields of the node."""
    proto = model(RELU)
    for field, value in changes.items():
        getattr(proto.graph.node[0], field)[:] = value
    return proto


def with_negative_initializer() -> Any:
    proto = model(RELU)
    proto.graph.initializer.append(TensorProto(name="w", data_type=1, dims=[3, -1]))
    return proto


def with_negative_sparse_initializer() -> Any:
    proto = model(RELU)
    sparse = proto.graph.sparse_initializer.add(dims=[8, -8])
    sparse.values.CopyFrom(TensorProto(name="w", data_type=1, dims=[0]))
    return proto


def without_graph() -> Any:
    proto = model(RELU)
    proto.ClearField("graph")
    return proto


def without_output() -> Any:
    proto = model(RELU)
    proto.graph.output[0].name = "z\n"
    return proto


ERRORS = {
    "undefined": (
        changed(input=["z"]),
        "a Relu node reads 'z', which is not an input, an initializer or an output of a node",
    ),
    "cycle": (
        changed(input=["y"]),
        "a Relu node reads 'y' before it is written: the graph has a cycle, or its nodes are not "
        "sorted",
    ),
    "output": (without_output(), r"no node writes the output 'z\n' of the ONNX model"),
    "empty": (
        model("g (float[N, 3] x) => (float[N, 3] x) { }"),
        "the graph of the ONNX model has no nodes",
    ),
    "no graph": (
        without_graph(),
        "is not an ONNX model: it has no graph; the file may be truncated: copy it again",
    ),
    "opset": (
        model(RELU, '<ir_version: 8, opset_import: ["" : 999]>'),
        f"has version 999 of the operator set ai.onnx; the installed onnx {onnx.__version__} reads "
        f"1 to {NEWEST}: update onnx",
    ),
    "no opset": (
        model(RELU, "<ir_version: 8, opset_import: []>"),
        "is not an ONNX model: it imports no operator set",
    ),
    "negative input": (
        model("g (float[2, 3] x) => (float[N, 3] y) { y = Relu (x) }"),
        "the input 'x' of the ONNX model has a negative dimension: -2x3",
    ),
    "negative initializer": (
        with_negative_initializer(),
        "the initializer 'w' of the ONNX model has a negative dimension: 3x-1",
    ),
    "negative sparse initializer": (
        with_negative_sparse_initializer(),
        "the initializer 'w' of the ONNX model has a negative dimension: 8x-8",
    ),
}
ERRORS["negative input"][0].graph.input[0].type.tensor_type.shape.dim[0].dim_value = -2


@pytest.mark.parametrize("name", ERRORS)
def test_damaged_models_give_one_line(tmp_path: Path, name: str) -> None:
    proto, reason = ERRORS[name]
    file = write_model(tmp_path, proto)
    outcome = run_command(file)
    assert (outcome.code, outcome.out, outcome.err) == (
        1,
        "",
        f"profile_analyze: error: {file}: {reason}\n",
    )


def test_a_truncated_model_gives_one_line_wherever_it_ends(tmp_path: Path) -> None:
    whole = model(RELU).SerializeToString()
    reasons = set()
    for size in range(1, len(whole)):
        file = tmp_path / "m.onnx"
        file.write_bytes(whole[:size])
        with pytest.raises(pa.InputError) as error:
            pa.load(file)
        reasons.add(error.value.reason)
    assert reasons == {
        "truncated or damaged: the protobuf of the ONNX model cannot be decoded",
        "is not an ONNX model: it imports no operator set",
    }


def test_a_name_that_is_not_utf8_gives_one_line(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(model(RELU).SerializeToString().replace(b"\x01x", b"\x01\xff"))
    with pytest.raises(pa.MalformedProfileError) as error:
        pa.load(file)
    assert error.value.reason == "damaged: a name in the ONNX model is not UTF-8: b'\\xff'"


def test_a_producer_that_is_not_utf8_gives_one_line(tmp_path: Path) -> None:
    proto = model(RELU)
    proto.producer_name = "pytorch"
    file = tmp_path / "m.onnx"
    file.write_bytes(proto.SerializeToString().replace(b"pytorch", b"pytor\xffh"))
    with pytest.raises(pa.MalformedProfileError) as error:
        pa.load(file)
    assert error.value.reason == "damaged: a name in the ONNX model is not UTF-8: b'pytor\\xffh'"


def test_without_the_onnx_package_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_model(tmp_path, model(RELU))
    for name in [one for one in sys.modules if one.startswith("profile_analyze.readers.onnx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    outcome = run_command(file)
    assert (outcome.code, outcome.out, outcome.err) == (
        1,
        "",
        f"profile_analyze: error: {file}: is an ONNX model; to read it, install the extra onnx: "
        "pip install 'profile_analyze[onnx]'\n",
    )


@pytest.mark.parametrize(
    ("name", "content", "start"),
    [
        ("m.onnx", b'{"profiler": 1}', "at $: object missing"),
        (
            "m.onnx",
            b"version https://git-lfs",
            "is in no known format: it starts with 'version http'",
        ),
        ("m.onnx", b"[1]", "is in no known format: it starts with '[1]'; "),
        ("m.onnx", b"", "is empty; "),
        ("m.json", b"\x08\x08\x3a\x05", "truncated or damaged: "),
        ("m.json", b"\x42\x02\x10\x0d", "is not an ONNX model: it has no graph"),
        ("m.ONNX", b"\x3a\x05", "truncated or damaged: "),
        ("m.json", b"BZh91AY", "looks like an archive or a compressed file"),
    ],
)
def test_models_are_recognised_by_bytes_and_name(
    tmp_path: Path, name: str, content: bytes, start: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(pa.InputError) as error:
        pa.load(file)
    assert error.value.reason.startswith(start)


def test_missing_external_data_gives_one_note(tmp_path: Path) -> None:
    proto = model("g (float[2, 3] x) => (float[2, 4] y) { y = MatMul (x, w) }")
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=[3, 4], data_location=1)
    tensor.external_data.add(key="location", value="w.bin")
    file = write_model(tmp_path, proto)
    read = read_model(Source(file))
    assert read.graph.values["y"].dims == (2, 4)
    assert read.problems == ()
    note = (
        "the values of 1 tensor are in w.bin, not found beside the model; to get the sparsity of "
        "these values, copy the file there"
    )
    assert run_command(file).err == ""
    assert run_command(file, "--columns", "sparsity").err == (
        f"note: {note}\nnote: the sparsity of 1 weight is N/A: the values cannot be read\n"
    )
    (tmp_path / "w.bin").write_bytes(bytes(48))
    assert run_command(file, "--columns", "sparsity").err == ""
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with in_memory(files):
        url = f"memory://{Path(file).name}"
        assert run_command(url, "--columns", "sparsity").err == (
            "note: the values of 1 tensor are in w.bin, not read from a URL; to get the sparsity "
            "of these values, copy the model and the file to a local folder\n"
            "note: the sparsity of 1 weight is N/A: the values cannot be read\n"
        )


def test_several_missing_files_of_external_data_give_one_note(tmp_path: Path) -> None:
    proto = model("g (float[2, 3] x) => (float[2, 5] y) { h = MatMul (x, v) y = MatMul (h, w) }")
    for name, dims in (("v", [3, 4]), ("w", [4, 5])):
        tensor = proto.graph.initializer.add(name=name, data_type=1, dims=dims, data_location=1)
        tensor.external_data.add(key="location", value=f"{name}.bin")
    assert run_command(write_model(tmp_path, proto), "--columns", "sparsity").err == (
        "note: the values of 2 tensors are in v.bin and 1 other file, not found beside the model; "
        "to get the sparsity of these values, copy the files there\n"
        "note: the sparsity of 2 weights is N/A: the values cannot be read\n"
    )


def test_only_shapes_that_depend_on_an_unknown_operator_are_unknown() -> None:
    text = "g (float[2, 3] x) => (float[A, B] y) { u = own.Thing (x) y = Relu (u) z = Abs (x) }"
    head = HEAD.replace("18]", '18, "own" : 1]')
    values = read_model(Source.of_bytes("m", model(text, head).SerializeToString())).graph.values
    assert [values[name].dims for name in "uyz"] == [None, (None, None), (2, 3)]


def test_a_constant_with_a_damaged_value_has_no_dtype() -> None:
    proto = model(
        "g (float[2] x) => (float[N] y) { c = Constant <value_ints = [2, 3]> () y = Add (x, c) }"
    )
    proto.graph.node[0].attribute[0].name = "value"
    values = read_model(Source.of_bytes("m", proto.SerializeToString())).graph.values
    assert values["c"].dtype is None


def hostile(text: str, **arrays: Any) -> Any:
    proto = model(text)
    for name, array in arrays.items():
        proto.graph.initializer.append(numpy_helper.from_array(np.asarray(array, np.int64), name))
    return read_model(Source.of_bytes("m", proto.SerializeToString())).graph


def test_a_model_cannot_demand_unlimited_memory() -> None:
    """Only the shapes of the tensors are computed, not their contents."""
    doubled = " ".join(f"a{i + 1} = Concat <axis = 0> (a{i}, a{i})" for i in range(50))
    chain = hostile(f"g (float[8] x) => (float[N] y) {{ {doubled} y = Reshape (x, a50) }}", a0=[1])
    assert chain.values["a50"].dims == (1 << 50,)
    assert chain.values["y"].dims is None or None in chain.values["y"].dims
    filled = hostile(
        "g (float[8] x) => (float[N] y) { s = ConstantOfShape (n) t = Cast <to = 7> (s) "
        "y = Reshape (x, t) }",
        n=[1 << 40],
    )
    assert filled.values["t"].dims == (1 << 40,)


def test_an_attribute_of_a_wrong_type_makes_the_work_unknown(tmp_path: Path) -> None:
    proto = model(
        "g (float[1, 1, 4, 4] x) => (float[A, B, C, D] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }"
    )
    attribute = proto.graph.node[0].attribute[0]
    attribute.type, attribute.i = AttributeProto.INT, 3
    profile = pa.load(write_model(tmp_path, proto))
    assert np.isnan(profile.operators.computation).all()


def test_a_huge_kernel_takes_little_time(tmp_path: Path) -> None:
    proto = model("g (float[1, 1, 9000000000] x) => (float[A, B, C] y) { y = Conv (x, w) }")
    proto.graph.initializer.append(TensorProto(name="w", data_type=1, dims=[1, 1, 8_000_000_000]))
    row = pa.run(pa.Query(), pa.load(write_model(tmp_path, proto))).rows[0]
    assert (row["macs"], row["macs_without_padding"]) == (1_000_000_001 * 8e9, None)


@pytest.mark.slowest
def test_deeply_nested_loops_take_little_time() -> None:
    body = "o30 = Concat <axis = 0> (s30, s30)"
    for depth in range(30, 0, -1):
        head = f"body = g{depth} (int64 i{depth}, bool c{depth}, float[N{depth}] s{depth})"
        result = f"(bool d{depth}, float[M{depth}] o{depth})"
        inside = f"{{ d{depth} = Identity (c{depth}) {body} }}"
        loop = f"o{depth - 1} = Loop (n, , s{depth - 1})"
        body = f"{loop} <{head} => {result} {inside}>"
    values = hostile(f"g (float[8] s0) => (float[N] o0) {{ {body} }}", n=50).values
    assert values["o0"].dims is None or values["o0"].dims == (None,)


@pytest.mark.parametrize("name", ["third", "then_branch"])
def test_a_node_with_too_many_bodies_causes_no_crash(tmp_path: Path, name: str) -> None:
    proto = model(
        """g (float[2] x, bool c) => (float[A] y) {
            [if] y = If (c) <then_branch = a () => (float[B] t) { t = Relu (x) },
                else_branch = b () => (float[C] e) { e = Abs (x) }>
        }"""
    )
    node = proto.graph.node[0]
    node.attribute.add(name=name, type=AttributeProto.GRAPH).g.CopyFrom(node.attribute[0].g)
    node.attribute[-1].g.node[0].output[0] = node.attribute[-1].g.output[0].name = "u"
    outcome = run_command(write_model(tmp_path, proto), "--columns", "name", "-t", "0")
    assert outcome.code == 0
    names = sorted(outcome.out.splitlines()[-4:])
    assert names == ["Abs_0", "Relu_0", "Relu_0#2", "if"]


@pytest.mark.parametrize("end", [1.5, "x", [0, 1]])
def test_a_shape_node_with_a_damaged_end_causes_no_error(tmp_path: Path, end: Any) -> None:
    # `onnx` infers no shape for a node of unknown type, so the reader itself visits all nodes.
    shape = onnx.helper.make_node("Shape", ["x"], ["s"])
    shape.attribute.append(onnx.helper.make_attribute("end", end))
    unknown = onnx.helper.make_node("Unknown", ["x"], ["z"], domain="custom")
    x = onnx.helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    z = onnx.helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    made = onnx.helper.make_model(
        onnx.helper.make_graph([shape, unknown], "g", [x], [z]),
        opset_imports=[onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("custom", 1)],
    )
    assert len(pa.load(write_model(tmp_path, made))) == 2

"""`--input-shape` and `--dim`: sizes of dynamic inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.onnx.loading import read_model
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.readers.onnx.models import model, write_model
from tests.readers.onnxruntime.events import document, node, run

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import TypeProto

TEXT = """g (float[batch, 3, height, s18] image, float scale, int64[n] sizes) => (float[A] y) {
    relu = Relu (image)
    other = ConstantOfShape (sizes)
    y = Mul (relu, scale)
}"""
INPUTS = "image:batchx3xheightxs18, scale:scalar, sizes:n"


def dynamic(inputs: int, names: str, options: str, *replacements: str) -> Finding:
    return Finding.of(
        *("dynamic-inputs", Kind.INCOMPLETE),
        inputs=inputs, names=names, options=options, replacements=replacements,
    )  # fmt: skip


def shapes_with(shapes: object = (), dims: object = ()) -> list[object]:
    inputs = pa.ModelInputs.of(shapes, dims)  # type: ignore[arg-type]
    source = Source.of_bytes("m", model(TEXT).SerializeToString())
    source.inputs = inputs
    values = read_model(source).graph.values
    return [values[name].dims for name in ("relu", "other", "y")]


@pytest.mark.parametrize(
    ("shapes", "dims", "expected"),
    [
        ((), (), [(None, 3, None, None), None, (None, 3, None, None)]),
        ((), ["batch=8"], [(8, 3, None, None), None, (8, 3, None, None)]),
        (["image:2x3x4x5"], (), [(2, 3, 4, 5), None, (2, 3, 4, 5)]),
        (["image:f32:2x3x4x5", "sizes:i64:2:6"], (), [(2, 3, 4, 5), (6, 6), (2, 3, 4, 5)]),
        (["image:-1", "scale:f32:-1:0.25"], ["s18=9"], [(1, 3, 1, 9), None, (1, 3, 1, 9)]),
        ({"image": (2, 5, 4, 5)}, {"n": 0}, [(2, 5, 4, 5), (), (2, 5, 4, 5)]),
        ({"image": "f32:2x3x4x5"}, (), [(2, 3, 4, 5), None, (2, 3, 4, 5)]),
    ],
)
def test_sizes_reach_all_shapes(shapes: object, dims: object, expected: list[object]) -> None:
    assert shapes_with(shapes, dims) == expected


ERRORS = {
    "--input-shape x:2x3": "FILE: has no input 'x'; inputs: " + INPUTS,
    "--input-shape 2x3x4x5": (
        "FILE: the shape 2x3x4x5 lacks the name of an input; write --input-shape image:2x3x4x5; "
        "inputs: " + INPUTS
    ),
    "--input-shape 2x3": (
        "FILE: the shape 2x3 lacks the name of an input; write NAME:2x3; inputs: " + INPUTS
    ),
    "--dim 2": (
        "FILE: the size 2 lacks a symbol; write --dim batch=2 or --dim height=2 or --dim s18=2 or "
        "--dim n=2; inputs: " + INPUTS
    ),
    "--input-shape image:2x3": ("FILE: the input 'image' has 4 axes (batchx3xheightxs18), not 2"),
    "--input-shape image:f16:2x3x4x5": "FILE: the input 'image' has dtype fp32, not fp16",
    "--dim b=2": (
        "FILE: no input has the symbol 'b'; the inputs of the model have the symbols batch, "
        "height, s18, n; --input-shape gives a whole shape; inputs: " + INPUTS
    ),
    "--dim batch=2 --input-shape image:4x3x4x5": (
        "FILE: the symbol 'batch' is given two sizes: 2, and 4 for the input 'image'"
    ),
    "--input-shape sizes:i64:2:1e30": (
        "FILE: the input 'sizes' has dtype int64, which cannot hold 1e+30; give another value"
    ),
    "--input-shape sizes:2:1.5": (
        "FILE: the input 'sizes' has dtype int64, which cannot hold 1.5; give another value"
    ),
    "--input-shape scale:scalar:-1e39": (
        "FILE: the input 'scale' has dtype fp32, which cannot hold -1e+39; give another value"
    ),
    "--dim batch=2 --dim batch=3": "'batch' is given twice, with different values; leave one out",
    "--dim batch=-2": ("argument --dim: 'batch=-2': the size -2 is negative; write one such as 8"),
    "--input-shape image": (
        "argument --input-shape: 'image' is not NAME:SHAPE, such as data:1x3x224x224 or "
        "ratio:f32:-1:0.25; see profile-analyze --help"
    ),
}


@pytest.mark.parametrize("options", ERRORS)
def test_wrong_sizes_give_one_line_with_the_names_in_the_model(
    tmp_path: Path, options: str
) -> None:
    file = write_model(tmp_path, model(TEXT))
    outcome = run_command(file, *options.split())
    message = ERRORS[options].replace("FILE", file)
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"profile_analyze: error: {message}\n",
    )


NINES = "9" * 5000  # `int` and `str` refuse thousands of digits


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--dim", f"n={NINES}"),
        ("--dim", NINES),
        ("--input-shape", f"x:1x{NINES}"),
        ("--input-shape", NINES),
    ],
    ids=["dim", "only a size", "input shape", "only a shape"],
)
def test_sizes_of_thousands_of_digits_give_one_line(option: str, value: str) -> None:
    outcome = run_command("none.onnx", option, value)
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"profile_analyze: error: argument {option}: {value!r}: the size of 21 digits or more is "
        "too large; write one such as 8\n",
    )


def test_sizes_of_the_library_have_limits() -> None:
    for shapes, dims in (({"x": (2, 10**5000)}, {}), ({}, {"x": 10**5000})):
        with pytest.raises(pa.QueryError, match="x: the size of 21 digits or more is too large; w"):
            pa.ModelInputs.of(shapes, dims)
    with pytest.raises(pa.QueryError, match="x: the size of 21 digits or more is negative; write"):
        pa.ModelInputs.of({"x": (-(10**5000),)})
    with pytest.raises(pa.QueryError, match=f"x: the size {1 << 63} is too large; write one such"):
        pa.ModelInputs.of({"x": (1 << 63,)})
    zeros = "0" * 5000
    assert pa.ModelInputs.of([f"x:{zeros}x{zeros}8"], [f"n={zeros}9"]) == pa.ModelInputs.of(
        {"x": (0, 8)}, {"n": 9}
    )


@pytest.mark.parametrize(
    ("type_", "shape", "message"),
    [
        (
            helper.make_tensor_type_proto(TensorProto.FLOAT, None),
            "x:-1",
            "-1 stands for the shape in the model, but the model has no shape for the input 'x'; "
            "give all sizes, as in --input-shape x:8",
        ),
        (
            helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)),
            "x:2x3",
            "the input 'x' has the type sequence, not tensor; give sizes only to tensors",
        ),
        (
            helper.make_tensor_type_proto(TensorProto.BOOL, (2,)),
            "x:2:0.5",
            "the input 'x' has dtype bool, which cannot hold 0.5; give another value",
        ),
        (
            helper.make_tensor_type_proto(TensorProto.COMPLEX64, (2,)),
            "x:f32:2",
            "the input 'x' has dtype COMPLEX64, not fp32",
        ),
        (
            helper.make_tensor_type_proto(99, (2,)),
            "x:2:3",
            "the input 'x' has dtype number 99, which cannot hold 3; leave out the value",
        ),
        (
            helper.make_tensor_type_proto(TensorProto.INT4, (2,)),
            "x:2:8",
            "the input 'x' has dtype INT4, which cannot hold 8; give another value",
        ),
        (
            helper.make_tensor_type_proto(TensorProto.INT4, (2,)),
            "x:2:1.5",
            "the input 'x' has dtype INT4, which cannot hold 1.5; give another value",
        ),
        (
            helper.make_tensor_type_proto(TensorProto.UINT4, (2,)),
            "x:2:-1",
            "the input 'x' has dtype UINT4, which cannot hold -1; give another value",
        ),
        (
            helper.make_tensor_type_proto(TensorProto.STRING, (2,)),
            "x:2:1",
            "the input 'x' has dtype STRING, which cannot hold 1; leave out the value",
        ),
    ],
)
def test_impossible_inputs_give_one_line(
    tmp_path: Path, type_: TypeProto, shape: str, message: str
) -> None:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [helper.make_value_info("x", type_)],
        [helper.make_value_info("y", type_)],
    )
    file = write_model(tmp_path, helper.make_model(graph))
    outcome = run_command(file, "--input-shape", shape)
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"profile_analyze: error: {file}: {message}\n",
    )


@pytest.mark.parametrize("value", ["-8", "7"])
def test_an_input_of_a_small_dtype_can_have_a_value(tmp_path: Path, value: str) -> None:
    text = """g (int4[1] x) => (float[A] y) { s = Cast <to = 7> (x) a = Abs (s)
        y = ConstantOfShape (a) }"""
    head = '<ir_version: 10, opset_import: ["" : 21]>'
    file = write_model(tmp_path, model(text, head))
    options = ("--input-shape", f"x:1:{value}", "--columns", "name,out_shapes", "--format", "csv")
    assert f"ConstantOfShape_2,{{{value.strip('-')}}}" in run_command(file, *options).out


@pytest.mark.skipif("FLOAT4E2M1" not in [*TensorProto.DataType.keys()], reason="old onnx")
def test_a_dtype_without_infinity_cannot_hold_large_values(tmp_path: Path) -> None:
    dtype = TensorProto.DataType.Value("FLOAT4E2M1")
    values = [helper.make_tensor_value_info(name, dtype, (2,)) for name in "xy"]
    node = helper.make_node("Identity", ["x"], ["y"])
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    file = write_model(tmp_path, helper.make_model(graph))
    assert run_command(file, "--input-shape", "x:2:5.5").code == 0
    outcome = run_command(file, "--input-shape", "x:2:-100")
    assert "dtype FLOAT4E2M1, which cannot hold -100; give another value" in outcome.err


def test_a_complex_input_can_have_a_value(tmp_path: Path) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.COMPLEX64, (2,)) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "g", values[:1], values[1:]
    )
    file = write_model(tmp_path, helper.make_model(graph))
    assert run_command(file, "--input-shape", "x:2:1e30").code == 0
    outcome = run_command(file, "--input-shape", "x:2:1e39")
    assert "dtype COMPLEX64, which cannot hold 1e+39" in outcome.err


@pytest.mark.parametrize("order", [1, -1])
def test_given_sizes_also_fix_symbols_of_other_inputs(order: int) -> None:
    text = "g (float[n] a, float[n] b) => (float[n] y) { y = Add (a, b) }"
    source = Source.of_bytes("m", model(text).SerializeToString())
    source.inputs = pa.ModelInputs.of(["a:f32:-1:0.5", "b:8"][::order])
    values = read_model(source).graph.values
    assert [values[name].dims for name in "aby"] == [(8,), (8,), (8,)]


@pytest.mark.parametrize(
    ("shapes", "dims", "message"),
    [
        ({"x": (1, 8.5)}, {}, "x: the size 8.5 is not an integer; write one such as 8"),
        ({"x": None}, {}, "x: None is not a shape; write one such as (1, 3, 224, 224)"),
        ({}, {"n": 2.5}, "n: the size 2.5 is not an integer; write one such as 8"),
        ({}, {"n": "2"}, "n: the size '2' is not an integer; write one such as 8"),
        ({}, {"n": True}, "n: the size True is not an integer; write one such as 8"),
    ],
)
def test_sizes_in_python_are_checked(shapes: object, dims: object, message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.ModelInputs.of(shapes, dims)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_sizes_in_python_may_be_numbers_of_numpy() -> None:
    inputs = pa.ModelInputs.of({"x": np.array([2, 3])}, {"n": np.int64(4)})
    assert repr(inputs) == repr(pa.ModelInputs.of(["x:2x3"], ["n=4"]))


def test_sizes_of_inputs_are_refused_for_a_profile() -> None:
    file = str(PROFILES / "tiny.json")
    outcome = run_command(file, "--dim", "batch=2")
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"profile_analyze: error: {file}: has the format MegEngine GraphProfiler JSON, but "
        "--input-shape and --dim need a model; leave them out\n",
    )


def test_a_note_names_the_dynamic_inputs_and_all_options() -> None:
    source = Source.of_bytes("m", model(TEXT).SerializeToString())
    assert read_model(source).problems == (
        dynamic(
            2,
            "image (axis 0: batch, 2: height, 3: s18), sizes (axis 0: n)",
            "--dim batch=SIZE --dim height=SIZE --dim s18=SIZE --dim n=SIZE",
            "numbers for SIZE",
        ),
    )


def test_a_note_suggests_input_shape_for_axes_without_a_symbol() -> None:
    text = """g (float[n, 3, ?] x, float[n] y, float[] z, float t, float[a_b] u)
    => (float[n] w) { w = Relu (y) }"""
    proto = model(text)
    proto.graph.input[2].type.tensor_type.ClearField("shape")
    proto.graph.input[4].type.tensor_type.shape.dim[0].dim_param = "a + b"
    assert read_model(Source.of_bytes("m", proto.SerializeToString())).problems == (
        dynamic(
            4,
            "x (axis 0: n, 2), y (axis 0: n), z, u (axis 0: a + b)",
            "--input-shape x:Nx3xN --dim n=SIZE --input-shape z:SHAPE --dim 'a + b'=SIZE",
            "numbers for N",
            "numbers for SIZE",
            "shapes such as 1x3x224x224 for SHAPE",
        ),
    )


def test_a_note_names_only_the_placeholders_that_it_has() -> None:
    proto = model("g (float[n] x) => (float[n] y) { y = Relu (x) }")
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    assert read_model(Source.of_bytes("m", proto.SerializeToString())).problems == (
        dynamic(1, "x", "--input-shape x:SHAPE", "shapes such as 1x3x224x224 for SHAPE"),
    )


def test_a_size_of_minus_1_in_the_model_is_unknown() -> None:
    proto = model("g (float[2, 3] x) => (float[A, 3] y) { y = Relu (x) }")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    source = Source.of_bytes("m", proto.SerializeToString())
    assert read_model(source).problems == (
        dynamic(1, "x (axis 0)", "--input-shape x:Nx3", "numbers for N"),
    )
    source.inputs = pa.ModelInputs.of(["x:8x3"])
    assert read_model(source).graph.values["y"].dims == (8, 3)


@pytest.mark.parametrize("text", ["?", "-1", "None", "*", "_", "unknown", "NaN", "unk__7"])
def test_a_text_that_only_says_unknown_is_no_symbol(text: str) -> None:
    proto = model("g (float[n, 3, n] x, float[n] z) => (float[n, 3, n] y) { y = Relu (x) }")
    for value in (*proto.graph.input, *proto.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = text
    source = Source.of_bytes("m", proto.SerializeToString())
    unknown = read_model(source)
    assert unknown.graph.values["y"].symbols == ()
    assert unknown.problems == (
        dynamic(
            2,
            "x (axis 0, 2), z (axis 0)",
            "--input-shape x:Nx3xN --input-shape z:N",
            "numbers for N",
        ),
    )
    source.inputs = pa.ModelInputs.of(["x:8x3x9"])
    fixed = read_model(source)
    assert [fixed.graph.values[name].dims for name in "xy"] == [(8, 3, 9)] * 2
    assert fixed.problems == (dynamic(1, "z (axis 0)", "--input-shape z:N", "numbers for N"),)


def test_sizes_of_a_model_with_question_marks_reach_a_profile_of_its_run(tmp_path: Path) -> None:
    file = str(FIXTURES / "hostile" / "question_marks.onnx")
    shape = ("--input-shape", "x:1x3x48x192")
    columns = ("--columns", "name,macs,out_shapes", "--format", "csv")
    expected = 'name,macs,out_shapes\r\nconv,1990656,"{1,8,48,192}"\r\n'
    outcome = run_command(file, *shape, *columns)
    assert (outcome.code, outcome.out, outcome.err) == (0, expected, "")
    profile = tmp_path / "run.json"
    profile.write_bytes(document(run(0, 60), node("conv", "Conv", 10, 40, outs=[(1, 8, 48, 192)])))
    outcome = run_command(str(profile), "--model", file, *shape, *columns)
    note = f"note: {file}: 1 operator matched by name, 0 by order\n"
    assert (outcome.code, outcome.out, outcome.err) == (0, expected, note)


@pytest.mark.parametrize("order", [1, -1])
def test_whole_shapes_win_over_an_equal_symbol(order: int) -> None:
    text = """g (float[n, m] a, float[n] b, float[n, m] c) => (float[n] y, float[n] z, float[n] w) {
        y = ReduceMax <axes = [1], keepdims = 0> (a) z = Relu (b)
        w = ReduceMax <axes = [1], keepdims = 0> (c)
    }"""
    proto = model(text, '<ir_version: 8, opset_import: ["" : 17]>')
    source = Source.of_bytes("m", proto.SerializeToString())
    source.inputs = pa.ModelInputs.of(["a:2x3", "b:5"][::order])
    read = read_model(source)
    assert [read.graph.values[name].dims for name in "yzcw"] == [(2,), (5,), (None, 3), (None,)]
    assert read.problems == (
        Finding.of(
            *("several-sizes", Kind.INCOMPLETE),
            symbols=1,
            names=f"n ({', '.join('25'[::order])})",
        ),
        dynamic(1, "c (axis 0)", "--input-shape c:Nx3", "numbers for N"),
    )
    source.inputs = pa.ModelInputs.of(["a:2x3", "b:5", "c:-1"])
    assert read_model(source).graph.values["w"].dims == (1,)


def test_the_name_of_an_input_may_have_a_colon() -> None:
    inputs = pa.ModelInputs.of(["input:0:1x3", "a:i64:2:1.5e3"])
    assert [*inputs.shapes] == ["input:0", "a"]
    assert inputs.shapes["a"] == ((2,), "int64", 1500.0)


def test_stored_types_are_dropped_if_an_input_gets_another_size() -> None:
    text = """g (float[2, 3] x) => (float[2, 3] y) <float[2, 3] t> { t = Relu (x) y = Abs (t) }"""
    source = Source.of_bytes("m", model(text).SerializeToString())
    source.inputs = pa.ModelInputs.of(["x:8x3"])
    values = read_model(source).graph.values
    assert [values[name].dims for name in "xty"] == [(8, 3), (8, 3), (8, 3)]


def test_stored_types_inside_bodies_are_dropped() -> None:
    text = """g (float[2, 3] x, bool c) => (float[2, 3] y) {
        y = If (c) <then_branch = a () => (float[2, 3] t) { t = Relu (x) },
            else_branch = b () => (float[2, 3] e) <float[2, 3] m> { m = Abs (x) e = Relu (m) }>
        z = Loop (n, , x) <body = d (int64 i, bool on, float[2, 3] v)
            => (bool go, float[2, 3] w) { go = Identity (on) w = Relu (v) }>
    }"""
    proto = model(text)
    proto.graph.initializer.append(numpy_helper.from_array(np.array(3), "n"))
    source = Source.of_bytes("m", proto.SerializeToString())
    source.inputs = pa.ModelInputs.of(["x:8x3"])
    found = read_model(source).graph
    bodies = [body.graph for node in found.nodes for body in node.bodies]
    shapes = {name: value.dims for one in (found, *bodies) for name, value in one.values.items()}
    assert [shapes[name] for name in "yztemvw"] == [(8, 3)] * 7


def test_only_symbols_in_the_file_are_kept() -> None:
    text = "g (float[n, 3] x, int64[2] s) => (float[n, 3] y) { y = Relu (x) z = Reshape (x, s) }"
    values = read_model(Source.of_bytes("m", model(text).SerializeToString())).graph.values
    assert [values[name].symbols for name in "xyz"] == [("n", None), ("n", None), ()]


def test_a_note_names_the_sizes_that_differ_from_the_model() -> None:
    text = "g (float[2, 3, N] x, float[3] z) => (float[2, 3, N] y) { y = Add (x, z) }"
    source = Source.of_bytes("m", model(text).SerializeToString())
    source.inputs = pa.ModelInputs.of(["x:8x3x5", "z:4"])
    read = read_model(source)
    assert read.problems == (
        Finding.of(
            *("changed-sizes", Kind.INCOMPLETE), changes="x (axis 0: 2 to 8), z (axis 0: 3 to 4)"
        ),
    )
    assert read.graph.values["y"].dims is None


@pytest.mark.parametrize("option", ["--input-shape x:0x3", "--dim n=0"])
def test_an_input_of_size_0_causes_no_work(tmp_path: Path, option: str) -> None:
    file = write_model(
        tmp_path,
        model("g (float[n, 3] x, float[3, 4] w) => (float[n, 4] y) { y = MatMul (x, w) }"),
    )
    outcome = run_command(file, *option.split(), "--columns", "macs,out_shapes", "--format", "csv")
    assert (outcome.code, outcome.out.splitlines(), outcome.err) == (
        0,
        ["macs,out_shapes", '0,"{0,4}"'],
        "note: 1 input of size 0: x; operators do no work on tensors without elements\n",
    )


def test_in_a_comparison_inputs_and_symbols_of_only_one_model_can_get_sizes(tmp_path: Path) -> None:
    texts = {
        "new": "m (float[batch, n] x) => (float[batch, n] y) {y = Relu(x)}",
        "old": "m (float[s7, s9] data) => (float[s7, s9] y) {y = Relu(data)}",
    }
    new, old = (write_model(tmp_path, model(text), f"{name}.onnx") for name, text in texts.items())
    call = (new, "--compare", old, "--columns", "out_shapes,base_memory,memory", "--format", "csv")
    sizes = ("--dim", "batch=2", "--dim", "n=3", "--input-shape", "data:2x5")
    assert run_command(*call, *sizes).out.splitlines() == [
        "out_shapes,base_memory_bytes,memory_bytes",
        '"{2,3}",80.0,48.0',
    ]
    done = run_command(*call, *sizes, "--dim", "m=3")
    assert (done.code, done.err) == (
        2,
        f"profile_analyze: error: {new}: no input has the symbol 'm'; the inputs of the model have "
        "the symbols batch, n; --input-shape gives a whole shape; inputs: x:batchxn\n",
    )
    done = run_command(*call, "--dim", "2")
    assert done.err.endswith(
        "the size 2 lacks a symbol; write --dim batch=2 or --dim n=2; inputs: x:batchxn\n"
    )

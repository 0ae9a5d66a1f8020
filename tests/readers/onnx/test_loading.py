"""Constants, shape arithmetic, the bodies of loops and branches, and stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from profile_analyze.readers.input.source import Source
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.onnx.parsing import parse
from profile_analyze.readers.onnx.safety.onnx_calls import OnnxCalls
from profile_analyze.readers.onnx.types import bodies_of
from profile_analyze.work.tensor import Tensor
from tests.readers.onnx.models import HEAD, RELU, model
from tests.readers.onnx.test_shapes import MODELS

if TYPE_CHECKING:
    from profile_analyze.readers.onnx.graph import OnnxModel


def read(text: str, head: str = HEAD, **arrays: object) -> OnnxModel:
    proto = model(text, head)
    for name, array in arrays.items():
        proto.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return read_model(Source.of_bytes("m", proto.SerializeToString()))


def test_constants_and_shape_arithmetic_are_recognised() -> None:
    found = read(
        """g (float[2, 3] x) => (float[A, B] y) {
            shape = Shape (x)
            two = Constant <value_int = 2> ()
            double = Mul (shape, two)
            as_float = Cast <to = 1> (shape)
            scaled = Mul (w, w)
            shape_of_constant = Shape (scaled)
            y = Expand (x, double)
        }""",
        w=np.ones((2, 2), np.float32),
    )
    constant = [node.outputs[0] for node in found.graph.nodes if node.is_constant]
    arithmetic = [node.outputs[0] for node in found.graph.nodes if node.is_shape_arithmetic]
    assert constant == ["two", "scaled", "shape_of_constant"]
    assert arithmetic == ["shape", "double"]
    values = found.graph.values
    assert [name for name, value in values.items() if value.is_initializer] == ["w"]
    assert [name for name, value in values.items() if value.is_graph_input] == ["x"]


def test_random_results_are_neither_constant_nor_shape_arithmetic() -> None:
    found = read(
        """g (float[2, 3] x) => (float[2, 3] y) {
            r = RandomNormal <shape = [2, 3]> ()
            picked = Multinomial <sample_size = 3> (w)
            twice = Add (picked, picked)
            y = Add (x, r)
        }""",
        w=np.ones((2, 3), np.float32),
    )
    assert not any(node.is_constant or node.is_shape_arithmetic for node in found.graph.nodes)
    found = read(
        """g (float[2] x, bool c) => (float[2] y) {
            r = If (yes) <then_branch = a () => (float[2] t) { t = RandomNormal <shape = [2]> () },
                else_branch = b () => (float[2] e) { e = Identity (w) }>
            y = Add (x, r)
        }""",
        w=np.ones(2, np.float32),
        yes=np.ones((), np.bool_),
    )
    assert not any(node.is_constant for node in found.graph.nodes)


def test_shape_arithmetic_continues_inside_bodies() -> None:
    found = read(
        """g (float[2, 3] x, bool c, int64 n) => (float[A] y) {
        s = Shape (x)
        y = If (c) <then_branch = a () => (int64[2] t) { t = Mul (s, s) },
            else_branch = b () => (int64[1] e) { e = Unsqueeze (n, zero) }>
        z = Loop (n, , x) <body = d (int64 s, bool on, float[2, 3] v)
            => (bool go, int64 w) { go = Identity (on) w = Neg (s) }>
    }""",
        zero=np.zeros(1, np.int64),
    )
    inside = [
        node for outer in found.graph.nodes for body in outer.bodies for node in body.graph.nodes
    ]
    arithmetic = {node.outputs[0]: node.is_shape_arithmetic for node in inside}
    # `w` depends on the input `s` of the loop's body, which has the name of a shape.
    assert arithmetic == {"t": True, "e": False, "go": False, "w": False}


def test_an_input_with_an_initializer_is_a_constant() -> None:
    found = read("g (float[2, 2] x, float[2, 2] w) => (float[A] y) { y = Add (x, w) }", w=np.eye(2))
    assert found.graph.inputs == ("x",)
    assert found.graph.values["w"].is_constant


def test_large_values_are_stored_outside_the_graph() -> None:
    large = np.arange(10_000, dtype=np.float32)
    proto = model("g (float[10000] x) => (float[A] y) { y = Add (x, w) }")
    proto.graph.initializer.append(numpy_helper.from_array(large, "w"))
    content = proto.SerializeToString()
    (tensor,) = parse(Source.of_bytes("m", content), OnnxCalls("m")).proto.graph.initializer
    assert (list(tensor.dims), len(tensor.raw_data)) == ([10_000], 0)
    found = read_model(Source.of_bytes("m", content))
    stored = found.graph.initializers["w"].proto
    assert np.array_equal(numpy_helper.to_array(stored), large)
    assert found.graph.values["y"].dims == (10_000,)


def test_large_values_in_bodies_are_stored_outside_the_graph() -> None:
    large = numpy_helper.from_array(np.zeros(5000, np.float32), "w")
    proto = model(RELU)
    node = proto.graph.node.add(op_type="Unknown", domain="d", output=["z"])
    one, several = (node.attribute.add(name=name) for name in ("one", "several"))
    several.type = several.GRAPHS
    for body in (one.g, several.graphs.add()):
        body.initializer.append(large)
    proto.opset_import.add(domain="d", version=1)
    parsed = parse(Source.of_bytes("m", proto.SerializeToString()), OnnxCalls("m"))
    inside = [body.initializer[0] for _, body in bodies_of(parsed.proto.graph.node[1])]
    assert [len(tensor.raw_data) for tensor in inside] == [0, 0]
    assert [len(parsed.complete(tensor).raw_data) for tensor in inside] == [20_000, 20_000]


def test_long_lists_are_left_out_of_attributes() -> None:
    proto = model("g () => (float[A] y) { y = Constant <value_floats = [1.0]> () }")
    for count, expected in ((4096, 4096), (4097, None)):
        proto.graph.node[0].attribute[0].floats[:] = [1.0] * count
        found = read_model(Source.of_bytes("m", proto.SerializeToString()))
        (node,) = found.graph.nodes
        assert found.graph.values["y"].dims == (count,)
        assert (len(node.attributes["value_floats"]) if node.attributes else None) == expected


def test_bodies_have_trip_counts_and_captured_values() -> None:
    found = read_model(Source(MODELS / "loops.onnx"))
    (first, second) = (node for node in found.graph.nodes if node.type == "Loop")
    assert [(body.attribute, body.trip_count) for body in first.bodies] == [("body", 3)]
    assert "x" in first.bodies[0].graph.values
    assert not first.is_constant
    assert [body.trip_count for body in second.bodies] == [3]


def test_trip_counts_say_which_branch_is_taken() -> None:
    text = """g (float[2, 3] x, bool c) => (float[A] y) {
        flag = Constant <value = bool {0}> ()
        y = If (flag) <then_branch = a () => (float[p] t) { t = Relu (x) },
            else_branch = b () => (float[q] e) { e = Transpose (x) }>
        z = If (c) <then_branch = d () => (float[r] u) { u = Relu (x) },
            else_branch = f () => (float[s] v) { v = Concat <axis = 0> (x, x) }>
    }"""
    found = read(text)
    assert [[body.trip_count for body in node.bodies] for node in found.graph.nodes[1:]] == [
        [0, 1],
        [None, None],
    ]
    assert [found.graph.values[name].dims for name in "yz"] == [(3, 2), (None, 3)]


def test_a_loop_that_ends_itself_runs_once() -> None:
    text = """g (int64 n, float[2] x, bool c) => (float[A] y) {
        limit = Constant <value = int64 {5}> ()
        y = Loop (limit, , x) <body = b (int64 i, bool on, float[2] v) => (bool go, float[2] w) {
            go = Constant <value = bool {0}> () w = Relu (v) }>
        z = Loop (, , x) <body = d (int64 j, bool p, float[2] q) => (bool r, float[2] s) {
            r = Constant <value = bool {0}> () s = Relu (q) }>
        unknown_limit = Loop (n, , x) <body = e (int64 k, bool l, float[2] m) => (bool o, float[2] t) {
            o = Constant <value = bool {0}> () t = Relu (m) }>
        unknown_start = Loop (limit, c, x) <body = f (int64 ai, bool ac, float[2] ax) => (bool ao, float[2] ay) {
            ao = Constant <value = bool {0}> () ay = Relu (ax) }>
    }"""
    nodes = read(text).graph.nodes
    trips = {node.outputs[0]: node.bodies[0].trip_count for node in nodes if node.bodies}
    assert trips == {"y": 1, "z": 1, "unknown_limit": None, "unknown_start": None}


@pytest.mark.parametrize(
    ("count", "expected"), [(3, [(None,), (None,), (None,), (4,)]), (7, [None] * 8)]
)
def test_a_shape_that_a_loop_can_change_is_unknown(count: int, expected: list[object]) -> None:
    """The first value grows in each iteration. Each further value becomes the value before it, so
    its shape changes one iteration later. The last value never changes. The reader follows such
    changes through a few iterations. If there are more, all shapes are unknown."""
    carried, results = (", ".join(f"float[] {name}{n}" for n in range(count)) for name in "vw")
    copies = " ".join(f"w{n} = Identity (v{n - 1})" for n in range(1, count))
    outputs = [*(f"y{n}" for n in range(count)), "same"]
    proto = model(
        f"""g (int64 n, float[2] x, float[4] u) => (float[2] z) {{
        {", ".join(outputs)} = Loop (n, , {"x, " * count} u) <body = b
            (int64 i, bool on, {carried}, float[] v) => (bool go, {results}, float[] w) {{
                go = Identity (on) w0 = Concat <axis = 0> (v0, v0) {copies} w = Identity (v) }}>
        z = Relu (x)
    }}"""
    )
    body = proto.graph.node[0].attribute[0].g
    for value in (*body.input[2:], *body.output[1:]):
        value.type.tensor_type.ClearField("shape")
    values = read_model(Source.of_bytes("m", proto.SerializeToString())).graph.values
    assert [values[name].dims for name in outputs] == expected


SEQUENCE_LOOP = """before = SequenceConstruct (x)
    after = Loop (limit, , before) <body = b (int64 i, bool on, seq(float) s)
        => (bool go, seq(float) t) { go = Identity (on) BODY }>
    element = SequenceAt (after, zero)"""
GROWING = """at = SequenceAt (s, zero) more = Concat <axis = 0> (at, at)
             t = SequenceConstruct (more)"""
THE_SAME = "at = SequenceAt (s, zero) more = Relu (at) t = SequenceConstruct (more)"


def without_element_shapes(graph: Any) -> None:
    """Remove the shapes of elements, which the syntax of models cannot leave out."""
    for body in (one.g for node in graph.node for one in node.attribute if one.HasField("g")):
        without_element_shapes(body)
        for value in (*body.input, *body.output):
            if value.type.HasField("sequence_type"):
                value.type.sequence_type.elem_type.tensor_type.ClearField("shape")


@pytest.mark.parametrize(
    ("trips", "body", "expected"),
    [
        ("Identity (n)", GROWING, [(None,), (None,)]),
        ("Constant <value = int64 {3}> ()", GROWING, [(None,), (16,)]),
        ("Identity (n)", "t = SequenceInsert (s, longer)", [None, (None,)]),
        ("Identity (n)", THE_SAME, [(2,), (2,)]),
    ],
)
def test_the_elements_of_a_sequence_that_a_loop_carries_can_change_their_shape(
    trips: str, body: str, expected: list[object]
) -> None:
    proto = model(
        f"""g (float[2] x, float[3] longer, int64 n, int64 zero) => (float[A] y) {{
            limit = {trips} {SEQUENCE_LOOP.replace("BODY", body)} y = Relu (element)
        }}"""
    )
    without_element_shapes(proto.graph)
    graph = read_model(Source.of_bytes("m", proto.SerializeToString())).graph
    ((inside,),) = [node.bodies for node in graph.nodes if node.bodies]
    at = inside.graph.values.get("at")
    assert [at and at.dims, graph.values["element"].dims] == expected


def test_a_sequence_in_a_loop_in_another_body_can_change_its_shape() -> None:
    proto = model(
        f"""g (bool c, float[2] x, int64 limit, int64 zero) => (float[A] y) {{
            y = If (c) <
                then_branch = t () => (float[T] u) {{
                    {SEQUENCE_LOOP.replace("BODY", GROWING)} u = Relu (element) }},
                else_branch = e () => (float[E] v) {{ v = Relu (x) }}>
        }}"""
    )
    without_element_shapes(proto.graph)
    found = read_model(Source.of_bytes("m", proto.SerializeToString())).graph
    assert found.values["y"].dims == (None,)


@pytest.mark.parametrize(
    ("version", "split"), [(13, "Split <axis = 0> (s)"), (18, "Split <num_outputs = 2> (s)")]
)
def test_a_shape_is_split_without_sizes(version: int, split: str) -> None:
    found = read(
        f"""g (float[2, 3, 4, 5] x, float[2, 10] v) => (float[A, B] y) {{
            s = Shape (x) first, last = {split} product = Mul (first, last) y = Reshape (v, last)
        }}""",
        HEAD.replace("18", str(version)),
    )
    assert found.graph.values["y"].dims == (4, 5)


def test_a_sparse_initializer_has_its_dense_shape() -> None:
    proto = model("g (float[2, 3] x) => (float[A, B] y) { y = MatMul (x, w) }")
    sparse = proto.graph.sparse_initializer.add(dims=[3, 4])
    sparse.values.CopyFrom(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([1, 5])))
    found = read_model(Source.of_bytes("m", proto.SerializeToString())).graph
    weight = found.values["w"]
    assert (weight.dims, weight.dtype, weight.is_constant) == ((3, 4), "fp32", True)
    assert found.initializers["w"].proto == sparse
    assert found.values["y"].dims == (2, 4)


def test_node_names_are_unique() -> None:
    proto = model("g (float[2] x) => (float[2] z) { y = Relu (x) w = Relu (y) z = Relu (w) }")
    proto.graph.node[0].name = proto.graph.node[1].name = "same"
    found = read_model(Source.of_bytes("m", proto.SerializeToString()))
    assert [node.name for node in found.graph.nodes] == ["same", "same#2", "Relu_2"]


def test_nodes_without_names_get_the_names_of_onnx_runtime() -> None:
    """ONNX Runtime does not count Constant nodes, so Mod is Mod_0 even after a Constant."""
    proto = model("""
        g (int64 n, float[2] x) => (float[2] z) {
            y = Loop (n, , x) <body = b (int64 i, bool on, float[2] v) => (bool go, float[2] w) {
                two = Constant <value = int64 {2}> ()
                odd = Mod (i, two)
                go = Identity (on)
                w = Relu (v)
            }>
            z = Relu (y)
        }
    """)
    (loop, relu) = read_model(Source.of_bytes("m", proto.SerializeToString())).graph.nodes
    assert (loop.name, relu.name) == ("Loop_0", "Relu_1")
    inside = loop.bodies[0].graph.nodes
    assert [node.name for node in inside] == ["Constant_0", "Mod_0", "Identity_1", "Relu_2"]


def test_many_nodes_of_one_name_are_numbered() -> None:
    proto = model(RELU)
    names = ["a", "a", "a#2", "a#3", "a", "a#3", "a"]
    proto.graph.node.extend([proto.graph.node[0]] * (len(names) - 1))
    for position, (node, name) in enumerate(zip(proto.graph.node, names, strict=True)):
        node.name, node.output[0] = name, f"y{position}"
    proto.graph.output[0].name = "y0"
    found = read_model(Source.of_bytes("m", proto.SerializeToString()))
    expected = ["a", "a#2", "a#2#2", "a#3", "a#4", "a#3#2", "a#5"]
    assert [node.name for node in found.graph.nodes] == expected


@pytest.mark.skipif("INT2" not in [*TensorProto.DataType.keys()], reason="old onnx")
def test_the_smallest_dtypes_have_a_size() -> None:
    proto = model(RELU)
    for name in ("FLOAT8E8M0", "INT2", "UINT2"):
        data_type = TensorProto.DataType.Value(name)
        proto.graph.initializer.add(name=name, data_type=data_type, dims=[3, 3])
    found = read_model(Source.of_bytes("m", proto.SerializeToString()))
    values = [found.graph.values[name] for name in found.graph.initializers]
    sizes = [(one.dtype, Tensor(one.dims, one.dtype).bytes) for one in values]
    assert sizes == [("fp8", 9), ("int2", 3), ("uint2", 3)]


def test_small_dtypes_have_their_names() -> None:
    text = "g (int4[3] a, uint4[3] b, float8e4m3fn[3] c, bfloat16[3] d) => (int4[3] y) { y = Identity (a) z = Identity (b) u = Identity (c) v = Identity (d) }"
    values = read(text, HEAD.replace("18", "21")).graph.values
    assert [values[name].dtype for name in "yzuv"] == ["int4", "uint4", "fp8", "bf16"]

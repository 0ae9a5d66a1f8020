"""The zeros in weights of every kind of storage, and the blocks that the zeros form."""

from __future__ import annotations

from itertools import product
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper, parser, save_model

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.terms import SPARSITY_NAMES
from profile_analyze.readers.onnx.safety.external_data import ModelFolder
from profile_analyze.readers.onnx.work.sparsity import Sparsity, sparsity_of
from profile_analyze.readers.onnx.work.weights import share_of_zeros, zeros_of
from tests.conftest import run_command
from tests.readers.onnx.models import write_model

if TYPE_CHECKING:
    from pathlib import Path

NEEDS_INT2 = pytest.mark.skipif("INT2" not in [*TensorProto.DataType.keys()], reason="old onnx")
COLUMNS = ",".join(("name", *SPARSITY_NAMES))


def stored(dtype: str, dims: list[int], **fields: Any) -> TensorProto:
    return TensorProto(data_type=TensorProto.DataType.Value(dtype), dims=dims, **fields)


@pytest.mark.parametrize(
    ("dtype", "raw", "zeros"),
    [
        ("FLOAT", np.array([0, -0.0, 1, 1e-45], "<f4").tobytes(), [1, 1, 0, 0]),
        ("DOUBLE", np.array([0, -0.0, 1, 5e-324], "<f8").tobytes(), [1, 1, 0, 0]),
        ("FLOAT16", np.array([0, -0.0, 1, 6e-8], "<f2").tobytes(), [1, 1, 0, 0]),
        ("BFLOAT16", np.array([0, 0x8000, 0x3F80, 1], "<u2").tobytes(), [1, 1, 0, 0]),
        ("FLOAT8E4M3FN", b"\x00\x80\x01\x7f", [1, 1, 0, 0]),
        ("FLOAT8E5M2", b"\x00\x80\x01\x7f", [1, 1, 0, 0]),
        ("FLOAT8E4M3FNUZ", b"\x00\x80\x01\x7f", [1, 0, 0, 0]),  # the byte 80 is NaN
        ("INT8", b"\x00\x80\x01\xff", [1, 0, 0, 0]),
        ("UINT8", b"\x80\x00\x00\x01", [0, 1, 1, 0]),
        ("INT64", np.array([0, 1 << 32, -1, 0], "<i8").tobytes(), [1, 0, 0, 1]),
        ("BOOL", b"\x01\x00\x00\x01", [0, 1, 1, 0]),
        ("INT4", b"\x80\x01", [1, 0, 0, 1]),
        ("UINT4", b"\x80\x01", [1, 0, 0, 1]),
        pytest.param("INT2", b"\x84", [1, 0, 1, 0], marks=NEEDS_INT2),
        pytest.param("UINT2", b"\x84", [1, 0, 1, 0], marks=NEEDS_INT2),
    ],
)
def test_zeros_of_each_dtype_are_found(dtype: str, raw: bytes, zeros: list[int]) -> None:
    found = zeros_of(stored(dtype, [2, 2], raw_data=raw), None)
    np.testing.assert_array_equal(found, np.reshape(zeros, (2, 2)) == 1)


def test_zeros_among_an_odd_number_of_half_bytes_are_found() -> None:
    found = zeros_of(stored("INT4", [3, 1], raw_data=b"\x10\x00"), None)
    np.testing.assert_array_equal(found, [[True], [False], [True]])


@pytest.mark.parametrize(
    "proto",
    [
        stored("FLOAT", [2, 2], raw_data=b"\x00" * 15),
        stored("FLOAT", [2, 2], float_data=[1, 2, 3]),
        stored("FLOAT", [2, 2]),
        stored("STRING", [1, 1], string_data=[b"a"]),
        TensorProto(data_type=99, dims=[1, 1], raw_data=b"\x00"),
        stored("FLOAT8E8M0", [1, 1], raw_data=b"\x00")
        if "FLOAT8E8M0" in TensorProto.DataType.keys()  # noqa: SIM118  # no mapping
        else stored("COMPLEX64", [1, 1], raw_data=b"\x00" * 8),
    ],
    ids=lambda proto: f"{proto.data_type} {proto.dims}",
)
def test_zeros_are_unknown_if_values_are_missing_or_the_dtype_is_unsupported(
    proto: TensorProto,
) -> None:
    assert zeros_of(proto, None) is None


def test_zeros_of_values_stored_as_a_list_are_found() -> None:
    found = zeros_of(stored("FLOAT", [3], float_data=[0, -0.0, 2]), None)
    np.testing.assert_array_equal(found, [True, True, False])


@pytest.mark.parametrize("indices", [[1, 4], [[0, 1], [1, 1]]])
def test_a_sparse_weight_is_zero_where_it_stores_no_value(indices: list[Any]) -> None:
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([5, 0], np.float32), "w"),
        numpy_helper.from_array(np.array(indices, np.int64)),
        [2, 3],
    )
    np.testing.assert_array_equal(zeros_of(sparse, None), [[True, False, True], [True] * 3])


def test_a_small_file_with_a_huge_sparse_weight_takes_little_memory() -> None:
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([5, 0, 7], np.float32), "w"),
        numpy_helper.from_array(np.array([1, 4, 9], np.int64)),
        [1 << 20, 1 << 20],
    )
    assert zeros_of(sparse, None) is None
    assert share_of_zeros(sparse) == 1 - 2 / (1 << 40)
    sparse.values.ClearField("raw_data")
    assert np.isnan(share_of_zeros(sparse))


def external(location: str, offset: int | None = None) -> TensorProto:
    proto = stored("FLOAT", [2, 2], data_location=TensorProto.EXTERNAL)
    entries = {"location": location} | ({} if offset is None else {"offset": str(offset)})
    for key, value in entries.items():
        proto.external_data.add(key=key, value=value)
    return proto


def test_external_data_is_read_from_the_folder_of_the_model_only(tmp_path: Path) -> None:
    values = np.array([[9, 0], [0, 1]], "<f4")
    (tmp_path / "data").write_bytes(b"12345678" + values.tobytes())
    folder = ModelFolder(tmp_path)
    np.testing.assert_array_equal(zeros_of(external("data", 8), folder), values == 0)
    wrong = (
        *(("data", offset) for offset in (12, -5, 10**23)),
        *(("absent", 0), ("", 0), (str(tmp_path / "data"), 8), ("../data", 8)),
        *(("a\0b", 0), ("x" * 5000, 0), ("/".join("x" * 5000), 0)),
    )
    for location, offset in wrong:
        assert zeros_of(external(location, offset), folder) is None
    assert zeros_of(external("data", 8), None) is None


def test_zeros_in_a_row_or_a_column_form_blocks() -> None:
    none = np.zeros((4, 4), np.bool_)
    assert str(sparsity_of(none)) == str(Sparsity(0.0))
    assert sparsity_of(~none) == Sparsity(1.0, "4x4", 1.0)
    row = none.copy()
    row[1] = True
    assert sparsity_of(row) == Sparsity(0.25, "1x4", 0.25)
    assert sparsity_of(row.T) == Sparsity(0.25, "4x1", 0.25)
    assert sparsity_of(row.reshape(4, 2, 2)) == Sparsity(0.25, "1x4", 0.25)


@st.composite
def _zeros(draw: st.DrawFn) -> np.ndarray[Any, np.dtype[np.bool_]]:
    rows, columns = draw(st.sampled_from([(4, 8), (8, 4), (6, 4), (3, 5), (1, 8)]))
    blocks = draw(st.sampled_from([(1, 1), (2, 1), (1, 4), (2, 2)]))
    count = -(-rows // blocks[0]) * -(-columns // blocks[1])
    flags = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    coarse = np.reshape(flags, (-(-rows // blocks[0]), -(-columns // blocks[1])))
    return np.kron(coarse, np.ones(blocks, np.bool_))[:rows, :columns]


@given(_zeros())
def test_the_pattern_is_the_largest_block_with_few_zeros_outside(
    zeros: np.ndarray[Any, Any],
) -> None:
    height, width = zeros.shape
    share = zeros.sum() / zeros.size
    kept = {}
    for rows, columns in product((1, 2, 4, 8), repeat=2):
        if height % rows == 0 and width % columns == 0:
            blocks = zeros.reshape(height // rows, rows, width // columns, columns).all((1, 3))
            if blocks.mean() >= share - 0.1 - 1e-9:
                kept[rows, columns] = blocks.mean()
    found = sparsity_of(zeros)
    assert found.share == share
    if share <= 0.1:
        assert str(found) == str(Sparsity(float(share)))
        return
    rows, columns = map(int, str(found.pattern).split("x"))
    assert found.zero_blocks == pytest.approx(kept[rows, columns])
    assert rows * columns == max(a * b for a, b in kept)


def model(folder: Path, *, location: str | None = None) -> str:
    """Write a model with a sparse weight that is used twice, and a dense weight."""
    keep = np.tile([1, 1, 0, 0, 0, 0, 0, 0], (8, 1)).astype(np.float32)
    dense, bias = np.ones((8, 8), np.float32), np.zeros(8, np.float32)
    nodes = [
        helper.make_node("Gemm", ["x", "sparse", "bias"], ["a"], "sparse"),
        helper.make_node("MatMul", ["a", "dense"], ["b"], "dense"),
        helper.make_node("MatMul", ["b", "sparse"], ["c"], "again"),
        helper.make_node("Add", ["c", "bias"], ["y"], "bias"),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 8]) for name in "xy"]
    weights = {"sparse": keep, "dense": dense, "bias": bias}
    graph = helper.make_graph(
        nodes,
        "graph",
        info[:1],
        info[1:],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    path = folder / "model.onnx"
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save_model(
        made, path, save_as_external_data=bool(location), location=location, size_threshold=0
    )
    return str(path)


@pytest.mark.parametrize("location", [None, "weights.bin"])
def test_operators_have_the_sparsity_of_their_weights(tmp_path: Path, location: str | None) -> None:
    path = model(tmp_path, location=location)
    answer = run_command(path, "-t", "0", "--columns", COLUMNS, "--format", "csv")
    assert answer.out.replace("\r", "") == (
        "name,sparsity,sparsity_pattern,sparsity_block\n"
        "sparse,0.75,8x2,0.75\n"
        "dense,0.0,,\n"
        "again,0.75,8x2,0.75\n"
        "bias,,,\n"
    )


def test_missing_weights_have_a_note(tmp_path: Path) -> None:
    path = model(tmp_path, location="weights.bin")
    (tmp_path / "weights.bin").unlink()
    profile = pa.load(path, wanted=("sparsity",))
    missing, unread = profile.notes
    assert missing == Finding.of(
        *("weights-in-other-files", Kind.INCOMPLETE),
        tensors=3,
        first="weights.bin",
        files=1,
        where="missing",
    )
    assert unread == Finding.of("unknown-sparsity", Kind.INCOMPLETE, weights=2, reason="unreadable")
    assert np.isnan(profile.operators.numbers("sparsity")).all()
    assert pa.load(path, wanted=()).notes == ()


def test_bodies_read_weights_of_the_outer_graph_and_indices_are_no_weights(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[2, 2] x, bool c) => (float[A, B] y, float[C, D, E] z) {
        [gather] z = Gather (x, index)
        [if] y = If (c) <then_branch = a () => (float[F, G] t) { [inside] t = MatMul (x, w) },
            else_branch = b () => (float[H, I] e) { [relu] e = Relu (x) }>
    }"""
    proto = parser.parse_model(text)
    arrays: dict[str, Any] = {"index": np.zeros((4, 5), np.int64), "w": np.eye(2, dtype=np.float32)}
    for name, array in arrays.items():
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    path = write_model(tmp_path, proto)
    answer = run_command(
        path, *("-t", "0", "--columns", COLUMNS, "--order-by", "+id", "--format", "csv")
    )
    assert (answer.out.replace("\r", ""), answer.err) == (
        "name,sparsity,sparsity_pattern,sparsity_block\n"
        "gather,,,\n"
        "if,,,\n"
        "inside,0.5,1x1,0.5\n"
        "relu,,,\n",
        "note: totals leave out 2 operators in bodies of If, Loop or Scan; their rows show the "
        "work of one execution of the body\n",
    )


def test_weights_that_nodes_compute_have_a_note(tmp_path: Path) -> None:
    proto = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 2] x) => (float[A, B] y) { t = Neg (w) y = MatMul (x, t) }"""
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.eye(2, dtype=np.float32), "w"))
    profile = pa.load(write_model(tmp_path, proto), wanted=("sparsity",))
    assert profile.notes == (
        Finding.of("unknown-sparsity", Kind.INCOMPLETE, weights=1, reason="computed"),
    )
    assert str(profile.operators.numbers("sparsity")) == "[0.5 nan]"


def sparsity_behind(folder: Path, nodes: str, **arrays: Any) -> list[object]:
    """Return the sparsity, pattern, and block ratio of a product with the weight t."""
    proto = parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float[A, B] x) => (float[A, C] y) {{ {nodes} y = MatMul (x, t) }}"""
    )
    for name, array in arrays.items():
        made = array if isinstance(array, TensorProto) else numpy_helper.from_array(array, name)
        made.name = name
        proto.graph.initializer.append(made)
    profile = pa.load(write_model(folder, proto), wanted=SPARSITY_NAMES)
    table = pa.run(pa.Query(types="MatMul"), profile)
    return [table[name][0] for name in SPARSITY_NAMES]


ROW = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], np.float32)


@pytest.mark.parametrize(
    ("nodes", "arrays", "expected"),
    [
        ("t = Transpose (w)", {"w": ROW}, [0.5, "4x1", 0.5]),
        ("u = Transpose <perm = [1, 0]> (w) v = Identity (u) t = Transpose (v)", {"w": ROW},
         [0.5, "1x4", 0.5]),
        ("t = ConstantOfShape (w)", {"w": np.array([12, 6])}, [1.0, "4x2", 1.0]),
        ("t = ConstantOfShape <value = float[1] {0.5}> (w)", {"w": np.array([12, 6])},
         [0.0, None, nan]),
        # More elements than memory could hold.
        ("t = ConstantOfShape <value = float[1] {-0.0}> (w)", {"w": np.array([1 << 40, 3])},
         [1.0, "1099511627776x1", 1.0]),
    ],
)  # fmt: skip
def test_weights_that_simple_nodes_make_have_a_sparsity(
    tmp_path: Path, nodes: str, arrays: dict[str, Any], expected: list[object]
) -> None:
    np.testing.assert_equal(sparsity_behind(tmp_path, nodes, **arrays), expected)


QUANTIZED = np.array([[3, 3, 3, 3], [0, 0, 1, 2]])


@pytest.mark.parametrize(
    ("dtype", "point", "axis", "share"),
    [
        ("INT8", np.array(3), 1, 0.5),
        ("INT8", np.array([3]), 1, 0.5),
        ("INT8", np.array([3, 0]), 0, 0.75),
        ("INT8", np.array([3, 0]), -2, 0.75),
        ("UINT8", np.array([3, 0, 1, 0]), 1, 0.375),
        ("INT4", np.array([3, 3, 3, 1]), 1, 0.375),
        ("INT8", np.array([3, 0, 3]), 0, nan),  # three zero points for two rows
        ("INT8", np.array([3, 0]), 2, nan),  # no such axis
        ("INT8", None, 1, 0.25),
    ],
)
@pytest.mark.parametrize("shift", [0, -4])
@pytest.mark.parametrize("raw", [True, False])
def test_dequantized_weights_are_zero_at_their_zero_point(
    tmp_path: Path, dtype: str, point: Any, axis: int, share: float, shift: int, *, raw: bool
) -> None:
    number = TensorProto.DataType.Value(dtype)
    is_shifted = dtype != "UINT8" and point is not None

    def tensor(values: Any) -> TensorProto:
        values = values + shift * is_shifted
        if raw and dtype != "INT4":
            bits = values.astype(np.int8).tobytes()
            return helper.make_tensor("t", number, values.shape, bits, raw=True)
        return helper.make_tensor("t", number, values.shape, values.ravel().tolist())

    points = {} if point is None else {"z": tensor(point)}
    found = sparsity_behind(
        tmp_path,
        f"t = DequantizeLinear <axis = {axis}> (w, s{', z' if points else ''})",
        w=tensor(QUANTIZED), s=np.ones((), np.float32), **points,
    )  # fmt: skip
    np.testing.assert_equal(found[0], share)


@pytest.mark.slowest
def test_long_chains_of_nodes_are_followed(tmp_path: Path) -> None:
    # The chain has more nodes than Python's limit of nested calls. A much longer one would be slow,
    # because the time grows with the square of the length.
    chain = " ".join(f"n{n + 1} = Transpose (n{n})" for n in range(1021))
    found = sparsity_behind(tmp_path, f"{chain} t = Identity (n1021)", n0=ROW)
    assert found == [0.5, "4x1", 0.5]

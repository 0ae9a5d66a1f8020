"""Splits models for tests: runs them before and after, and counts what their nodes cost."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import profile_analyze as pa
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from profile_analyze.writers import WrittenModel, split_model

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

TOLERANCE = 1e-4
"""The largest difference of two float32 results, absolute or relative. Sums in another order are
rounded differently. The longest sums in these tests have 9,216 products of numbers around 1 or
less."""
PRODUCTS = ("Gemm", "MatMul", "MatMulInteger")
FORMAT = 8
"""A version of the ONNX format that every supported `onnx` reads."""


MICROSOFT = "com.microsoft"


class FusedMatMul(OpRun):
    """The operator of ONNX Runtime. `onnx.reference` has only the operators of ONNX itself."""

    op_domain = MICROSOFT

    def _run(self, a: Any, b: Any, **flags: Any) -> Any:
        a = np.swapaxes(a, -1, -2) if flags.get("transA") and a.ndim > 1 else a
        b = np.swapaxes(b, -1, -2) if flags.get("transB") and b.ndim > 1 else b
        return (np.asarray(np.matmul(a, b) * np.float32(flags.get("alpha", 1))),)


class TransposeMatMul(FusedMatMul):
    """The older name of FusedMatMul."""


class MatMulIntegerToFloat(OpRun):
    """The operator as ONNX Runtime documents it."""

    op_domain = MICROSOFT

    def _run(self, a: Any, b: Any, a_scale: Any, b_scale: Any, *others: Any) -> Any:
        return (_scaled_product(a, b, a_scale, b_scale, *others),)


class DynamicQuantizeMatMul(OpRun):
    """The operator as ONNX Runtime documents it: DynamicQuantizeLinear quantizes A."""

    op_domain = MICROSOFT

    def _run(self, a: Any, b: Any, b_scale: Any, *others: Any) -> Any:
        b_zero, bias = (*others, None, None)[:2]
        node = helper.make_node("DynamicQuantizeLinear", ["a"], ["q", "s", "z"])
        q, scale, zero = ReferenceEvaluator(node).run(None, {"a": a})
        return (_scaled_product(q, b, scale, b_scale, zero, b_zero, bias),)


def _scaled_product(a: Any, b: Any, a_scale: Any, b_scale: Any, *others: Any) -> Any:
    a_zero, b_zero, bias = (*others, None, None, None)[:3]
    sums = np.matmul(_centred(a, a_zero), _centred(b, b_zero))
    result = sums.astype(np.float32) * (a_scale * b_scale)
    return result if bias is None else result + bias


def _centred(values: Any, zero: Any) -> Any:
    return values.astype(np.int32) - (0 if zero is None else zero.astype(np.int32))


OPERATORS: Any = [FusedMatMul, TransposeMatMul, MatMulIntegerToFloat, DynamicQuantizeMatMul]


def split(proto: Any, tile: str, **inputs: Any) -> WrittenModel:
    source = Source.of_bytes("m.onnx", proto.SerializeToString())
    source.inputs = pa.ModelInputs.of(tile=tile, **inputs)
    return split_model(source)


def model_of(
    nodes: Sequence[Any], arrays: Arrays, constants: Collection[str] = (), opset: int = 18
) -> Any:
    """Return a model with the output `y`. It stores the `constants`. Other `arrays` are inputs."""
    ports = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in arrays.items()
        if name not in constants
    ]
    stored = [numpy_helper.from_array(arrays[name], name) for name in constants]
    output = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph(list(nodes), "g", ports, [output], stored)
    opsets = [helper.make_opsetid("", opset)]
    if any(node.domain for node in nodes):
        opsets.append(helper.make_opsetid(MICROSOFT, 1))
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT)
    y = run(proto, arrays)
    element = helper.np_dtype_to_tensor_dtype(y.dtype)
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", element, y.shape))
    return proto


def run(proto: Any, arrays: Arrays) -> NDArray[Any]:
    feeds = {one.name: arrays[one.name] for one in proto.graph.input}
    results: Any = ReferenceEvaluator(proto, new_ops=OPERATORS).run(None, feeds)
    return np.asarray(results[0])


def split_and_compare(proto: Any, arrays: Arrays, tile: str) -> Any:
    """Return the split model. It must be valid, and have the results of the original."""
    written = onnx.load_from_string(split(proto, tile).data)
    onnx.checker.check_model(written, full_check=True)
    for ports in ("input", "output"):
        assert getattr(written.graph, ports) == getattr(proto.graph, ports)
    before, after = run(proto, arrays), run(written, arrays)
    assert (before.shape, before.dtype) == (after.shape, after.dtype)
    if before.dtype.kind == "f":
        np.testing.assert_allclose(after, before, rtol=TOLERANCE, atol=TOLERANCE)
    else:
        np.testing.assert_array_equal(after, before)
    return written


class Counts(NamedTuple):
    """What the product nodes of a model cost in tiles of fp32."""

    tiles: float
    tiled_macs: float
    tiled_memory: float
    tile_peak: float


def counts_of(proto: Any, tile: tuple[int, int, int]) -> Counts:
    """Add up the costs of all nodes.

    Adding a product to a partial sum only costs the memory to read the partial sum: the hardware
    writes the new sum in place of the product.
    """
    inferred = onnx.shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True).graph
    shapes = {one.name: [*one.dims] for one in inferred.initializer}
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        shapes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    counts = Counts(0, 0, 0, 0)
    products = {node.output[0] for node in proto.graph.node if node.op_type in PRODUCTS}
    for node in proto.graph.node:
        partial = ""
        if node.op_type == "Add" and "/sum_" in node.name:  # the model may have other additions
            partial = node.input[0]
        elif node.op_type == "Gemm" and products & {*node.input[2:]}:
            partial = node.input[2]
        if partial:
            memory = counts.tiled_memory + 4 * prod(shapes[partial])
            counts = counts._replace(tiled_memory=memory)
        if node.op_type in PRODUCTS:
            flags = {one.name: one.i for one in node.attribute}
            a, b = (shapes[name] for name in node.input[:2])
            counts = _added(counts, _product(a, b, flags), tile)
    return counts


def _product(a: list[int], b: list[int], flags: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Return how many products a node computes, and M, N and K of each."""
    a = a[::-1] if flags.get("transA") else a
    b = b[::-1] if flags.get("transB") else b
    n = b[-1] if len(b) > 1 else 1
    if len(b) <= 2:  # one product: the leading sizes of A count as rows
        return 1, prod(a[:-1]), n, a[-1]
    batch = np.broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))
    return prod(batch), a[-2] if len(a) > 1 else 1, n, a[-1]


def _added(
    counts: Counts, product: tuple[int, int, int, int], tile: tuple[int, int, int]
) -> Counts:
    products, *sizes = product
    assert all(size <= most for size, most in zip(sizes, tile, strict=True))
    m, n, k = sizes
    memory = 4 * (m * k + k * n + m * n)
    return Counts(
        counts.tiles + products,
        counts.tiled_macs + products * prod(tile),
        counts.tiled_memory + products * memory,
        max(counts.tile_peak, memory),
    )


def costs_of(proto: Any, tile: str) -> Counts:
    """Return the costs that the columns of the original model predict for tiles of this size."""
    source = Source.of_bytes("m.onnx", proto.SerializeToString())
    source.inputs = pa.ModelInputs.of(tile=tile)
    operators = read_profile(source, ()).operators
    known = ~np.isnan(operators.numbers("tiles"))
    values = [operators.numbers(name)[known] for name in Counts._fields]
    tiles, macs, memory = (float(one.sum()) for one in values[:3])
    return Counts(tiles, macs, memory, float(values[3].max()))

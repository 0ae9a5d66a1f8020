"""Computes the work of matrix products."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import (
    Cost,
    Entry,
    broadcast,
    cost,
    entries,
    possible,
)
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.calls import Call

_MATMUL: Final = "matmul"


def product_shape(a: Shape, b: Shape) -> Shape:
    """Return the shape of the product of two matrices, vectors, or batches of matrices."""
    if not a or not b or a[-1] != (b[0] if len(b) == 1 else b[-2]):
        raise UnknownError
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    return (*broadcast(a[:-2], b[:-2]), *rows, *columns)


def _product(call: Call) -> Cost:
    """Return the cost of a product.

    If the call adds a matrix to the product, that matrix is its bias. The additions are not
    counted.
    """
    a, b, bias = call.tensor("mat1"), call.tensor("mat2"), call.optional("bias")
    shape = product_shape(shape_of(a), shape_of(b))
    result = Tensor(shape, call.dtype("out_dtype", a.dtype))
    fused = 1 if "activation" in call.name else 0
    scales = [call.optional(name) for name in ("scale_a", "scale_b", "scale_result")]
    return cost(_MATMUL, [a, b, bias, *scales], [result], fused=fused)


def _reduced_product(call: Call) -> Cost:
    """Return the cost of `addbmm`, which adds up the products of a batch."""
    a, b = call.tensor("mat1"), call.tensor("mat2")
    shape = product_shape(shape_of(a), shape_of(b))
    macs = float(prod(shape) * shape_of(a)[-1])
    result = Tensor(shape[1:], a.dtype)
    memory = sum(one.bytes for one in (a, b, call.tensor("bias"), result))
    return Cost(Work(macs, 2 * macs, memory), possible([result]))


def _linear(call: Call) -> Cost:
    data, weight = call.tensor("input"), call.tensor("weight")
    sizes, matrix = shape_of(data), shape_of(weight)
    if not sizes or len(matrix) not in {1, 2} or sizes[-1] != matrix[-1]:
        raise UnknownError
    result = Tensor((*sizes[:-1], *matrix[:-1]), data.dtype)
    return cost(_MATMUL, [data, weight, call.optional("bias")], [result])


def _outer(call: Call) -> Cost:
    a, b = call.tensor("mat1"), call.tensor("mat2")
    result = Tensor((*shape_of(a), *shape_of(b)), a.dtype)
    return cost(_MATMUL, [a, b, call.optional("bias")], [result], k=1)


def _einsum(call: Call) -> Cost:
    equation, tensors = call.value("equation"), call.tensors("tensors")
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        raise UnknownError
    operands, _, result = equation.replace(" ", "").partition("->")
    subscripts = operands.split(",")
    if [len(one) for one in subscripts] != [len(shape_of(one)) for one in tensors]:
        raise UnknownError
    sizes = {
        label: size
        for labels, tensor in zip(subscripts, tensors, strict=True)
        for label, size in zip(labels, shape_of(tensor), strict=True)
    }
    if not set(result) <= sizes.keys():
        raise UnknownError
    output = Tensor(tuple(sizes[label] for label in result), tensors[0].dtype)
    return cost("einsum", tensors, [output], equation=equation)


_ADDED: Final = "Tensor bias, Tensor mat1, Tensor mat2"
_PAIR: Final = "Tensor mat1, Tensor mat2"
_SCALES: Final = "beta, alpha"
_LINEAR: Final = "Tensor input, Tensor weight, Tensor? bias"


def _of(names: str, *signatures: str) -> dict[str, Entry]:
    return entries(_MATMUL, names, *signatures, translate=_product)


TABLE: Final[Mapping[str, Entry]] = {
    **_of("mm bmm", _PAIR, f"{_PAIR}, out_dtype"),
    **_of("matmul mv dot vdot _int_mm", _PAIR),
    **_of(
        "addmm addmv baddbmm",
        f"{_ADDED}, {_SCALES}",
        f"{_ADDED}, out_dtype, {_SCALES}",
    ),
    **_of("_addmm_activation", f"{_ADDED}, {_SCALES}, use_gelu"),
    **_of(
        "_scaled_mm",
        f"{_PAIR}, Tensor scale_a, Tensor scale_b, Tensor? bias, Tensor? scale_result, out_dtype, "
        "use_fast_accum",
    ),
    "addbmm": Entry(_MATMUL, (f"{_ADDED}, {_SCALES}",), _reduced_product),
    **entries(_MATMUL, "outer ger", _PAIR, translate=_outer),
    "addr": Entry(_MATMUL, (f"{_ADDED}, {_SCALES}",), _outer),
    **entries(_MATMUL, "linear mkldnn_linear", _LINEAR, translate=_linear),
    "_linear_pointwise": Entry(_MATMUL, (f"{_LINEAR}, attr, scalars, algorithm",), _linear),
    "einsum": Entry("einsum", ("equation, Tensor[] tensors, path",), _einsum),
    # The work of these operators is counted in the products that they call.
    **dict.fromkeys(
        ("tensordot", "bilinear", "inner", "chain_matmul", "linalg_multi_dot", "linear_backward"),
        Entry(_MATMUL),
    ),
}
"""The entry of each operator. Keys are names without the namespace."""

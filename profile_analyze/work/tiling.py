"""What a matrix product costs on hardware that multiplies matrices of a limited size.

The product of an M x K matrix and a K x N matrix is cut into tiles, which are no larger than the
matrices that the hardware multiplies. Each tile reads its part of both matrices. The partial sums
of a result are written at the first step along K, and read and written at each later step.
"""

from __future__ import annotations

from math import isnan, nan, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.work.convolutions import CONVOLUTION, DEFORMABLE
from profile_analyze.work.kind import attribute, elements, size, tensor_at
from profile_analyze.work.tensor import bytes_of

if TYPE_CHECKING:
    from profile_analyze.work.operation import Operation
    from profile_analyze.work.tensor import Tensor

MATMUL: Final = "matmul"
_INTEGER_SUM_BYTES: Final = 4.0
"""Partial sums of integers have 32 bits, even if the result has fewer."""


class Product(NamedTuple):
    """Matrix products of one operator: M x K matrices A times K x N matrices B."""

    products: int
    """How many products of this size there are: the matrices of a batch, or the groups of a
    convolution."""
    m: int
    n: int
    k: int
    a_size: float
    """The bytes of an element of A; NaN if unknown."""
    b_size: float
    """The bytes of an element of B; NaN if unknown."""
    result_size: float
    """The bytes of an element of the result; NaN if unknown."""
    sum_size: float
    """The bytes of a partial sum; NaN if unknown."""
    whole: float
    """The bytes of A, B and the result, each once."""


class Tiling(NamedTuple):
    """The cost of the products of one operator on hardware with tiles. NaN is N/A."""

    tiles: float = nan
    """The number of tiles of all products."""
    tiles_m: float = nan
    """The number of tiles along M, in one product."""
    tiles_n: float = nan
    tiles_k: float = nan
    tiled_macs: float = nan
    """The multiply-adds of full tiles, with padding at the edges."""
    untiled_memory: float = nan
    """The bytes of A, B and the result, each once."""
    tiled_memory: float = nan
    """The bytes that the tiles read and write, without padding."""
    padded_memory: float = nan
    """The bytes that the tiles read and write, if each tile is padded to its full size."""
    tile_peak: float = nan
    """The bytes of the largest tile: its parts of A and B, and its partial sums."""


def has_products(kind: str, *, with_convolutions: bool) -> bool:
    """Return whether operators of this kind are matrix products, of known or unknown sizes."""
    return kind == MATMUL or (with_convolutions and kind in (CONVOLUTION, DEFORMABLE))


def product_of(operation: Operation, *, with_convolutions: bool) -> Product | None:
    """Return the products of an operation.

    Return None if the operation is not a matrix product, or a size is unknown. `with_convolutions`
    says whether convolutions count as the products that im2col makes of them.
    """
    if not has_products(operation.kind, with_convolutions=with_convolutions):
        return None
    return _matrix_product(operation) if operation.kind == MATMUL else _convolution(operation)


def _matrix_product(operation: Operation) -> Product | None:
    a, b = (tensor_at(operation.inputs, position) for position in (0, 1))
    result = tensor_at(operation.outputs, 0)
    if a is None or b is None or result is None:
        return None
    # The shape of a packed matrix lacks K and N, so attributes give them.
    is_packed = "n" in operation.attributes
    is_vector = not is_packed and b.shape is not None and len(b.shape) == 1
    n = 1.0 if is_vector else attribute(operation, "n", size(result, -1))
    is_transposed = operation.attributes.get("transposed_a", False)
    k = attribute(operation, "k", size(a, -2 if is_transposed else -1))
    # With a single matrix B, all leading dimensions of A count as rows.
    is_single = is_packed or (b.shape is not None and len(b.shape) <= 2)
    m = elements(result) / n if is_single and n else _rows_of_one(a, result)
    count = elements(result) / (m * n) if m * n else 0.0 if elements(result) == 0 else nan
    if b.shape is None or any(map(isnan, (count, m, n, k))):
        return None
    b_size = b.bytes / (k * n) if is_packed and k * n else bytes_of(b.dtype)
    return _product((count, m, n, k), (bytes_of(a.dtype), b_size), result, a.bytes + b.bytes)


def _rows_of_one(a: Tensor, result: Tensor) -> float:
    """Return the rows of one matrix of the result. A vector A is a single row."""
    return 1.0 if a.shape is not None and len(a.shape) == 1 else size(result, -2)


def _convolution(operation: Operation) -> Product | None:
    """Return the products that im2col makes of a convolution: one for each group.

    A has a row for each output position. The row has the elements of the data under the filter.
    """
    data, weight = (tensor_at(operation.inputs, position) for position in (0, 1))
    result = tensor_at(operation.outputs, 0)
    groups = attribute(operation, "groups", 1)
    if data is None or weight is None or result is None or weight.shape is None:
        return None
    channels = size(weight, 0)
    if isnan(channels) or isnan(groups) or not channels or not groups:
        return None
    m = elements(result) / channels
    k = prod(nan if one is None else one for one in weight.shape[1:])
    n = channels / groups
    if isnan(m) or isnan(k):
        return None
    a_size = bytes_of(data.dtype)
    inputs = groups * m * k * a_size + weight.bytes
    return _product((groups, m, n, k), (a_size, bytes_of(weight.dtype)), result, inputs)


def _product(
    sizes: tuple[float, float, float, float],
    element_sizes: tuple[float, float],
    result: Tensor,
    bytes_of_inputs: float,
) -> Product:
    """Return a product.

    `sizes` has the number of products, M, N and K. `element_sizes` has the bytes of an element of A
    and of B. `bytes_of_inputs` has the bytes of A and B together, each once.
    """
    result_size = bytes_of(result.dtype)
    is_integer = "int" in (result.dtype or "")
    sum_size = max(result_size, _INTEGER_SUM_BYTES) if is_integer else result_size
    whole = bytes_of_inputs + result.bytes
    count, m, n, k = map(int, sizes)
    return Product(count, m, n, k, *element_sizes, result_size, sum_size, whole)


def fits(product: Product, tile: tuple[int, int, int]) -> bool:
    """Return whether a product needs at most one tile. A product without elements fits."""
    if not product.m * product.n * product.k:
        return True
    return product.m <= tile[0] and product.n <= tile[1] and product.k <= tile[2]


def tiling_of(product: Product, tile: tuple[int, int, int]) -> Tiling:
    """Return the cost of products. `tile` has the largest M, N and K that fit the hardware."""
    m, n, k = product.m, product.n, product.k
    tm, tn, tk = tile
    along_m, along_n, along_k = -(-m // tm), -(-n // tn), -(-k // tk)
    tiles = product.products * along_m * along_n * along_k
    # Every step writes the sums, and every step but the first reads them. The sums of the last step
    # are the result. A product with K = 0 writes its result, too.
    further_steps = max(along_k - 1, 0)
    per_result = product.result_size + 2 * further_steps * product.sum_size
    tile_a, tile_b = min(m, tm) * min(k, tk), min(k, tk) * min(n, tn)
    padded_inputs = tiles * tk * (tm * product.a_size + tn * product.b_size)
    return Tiling(
        tiles=float(tiles),
        tiles_m=float(along_m),
        tiles_n=float(along_n),
        tiles_k=float(along_k),
        tiled_macs=float(tiles * tm * tn * tk),
        untiled_memory=product.whole,
        tiled_memory=product.products
        * (
            m * k * along_n * product.a_size + k * n * along_m * product.b_size + m * n * per_result
        ),
        padded_memory=padded_inputs + product.products * along_m * along_n * tm * tn * per_result,
        tile_peak=tile_a * product.a_size
        + tile_b * product.b_size
        + min(m, tm) * min(n, tn) * product.sum_size,
    )

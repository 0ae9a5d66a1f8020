"""Compares the cost of tiled matrix products with counts from plain loops over the tiles."""

from __future__ import annotations

from math import isnan, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.work.operation import Operation
from profile_analyze.work.tensor import Tensor, bytes_of
from profile_analyze.work.tiling import Product, Tiling, fits, has_products, product_of, tiling_of

small = st.integers(1, 7)
sizes = st.tuples(small, small, small)


def matmul(
    a: tuple[int | None, ...],
    b: tuple[int | None, ...] | None,
    result: tuple[int | None, ...],
    dtypes: tuple[str | None, ...] = ("fp32", "fp32", "fp32"),
    **attributes: object,
) -> Operation:
    of_a, of_b, of_result = dtypes
    inputs = (Tensor(a, of_a), Tensor(b, of_b))
    return Operation("matmul", inputs, (Tensor(result, of_result),), attributes)


def loops(m: int, n: int, k: int, tile: tuple[int, int, int]) -> dict[str, int]:
    """Return the counts of one product of fp32, tile by tile."""
    tm, tn, tk = tile
    counts = dict.fromkeys(("tiles", "tiled_macs", "tiled_memory", "padded_memory", "tile_peak"), 0)
    for i in range(0, m, tm):
        for j in range(0, n, tn):
            for step, p in enumerate(range(0, k, tk)):
                rows, columns, inner = min(tm, m - i), min(tn, n - j), min(tk, k - p)
                read = rows * inner + inner * columns
                partial = rows * columns * (2 if step else 1)  # the first step only writes sums
                counts["tiles"] += 1
                counts["tiled_macs"] += tm * tn * tk
                counts["tiled_memory"] += 4 * (read + partial)
                counts["padded_memory"] += 4 * (tm * tk + tk * tn + tm * tn * (2 if step else 1))
                peak = 4 * (read + rows * columns)
                counts["tile_peak"] = max(counts["tile_peak"], peak)
    return counts


@given(sizes, sizes, st.lists(st.integers(1, 3), max_size=2))
def test_costs_equal_the_counts_of_loops_over_tiles(
    product: tuple[int, int, int], tile: tuple[int, int, int], batch: list[int]
) -> None:
    m, n, k = product
    operation = matmul((*batch, m, k), (*batch, k, n), (*batch, m, n))
    found = product_of(operation, with_convolutions=False)
    assert found is not None
    counts = loops(m, n, k, tile)
    tiling = tiling_of(found, tile)._asdict()
    products = prod(batch)
    assert {name: tiling[name] for name in counts} == {
        name: value * (1 if name == "tile_peak" else products) for name, value in counts.items()
    }
    assert tiling["untiled_memory"] == 4 * products * (m * k + k * n + m * n)
    assert fits(found, tile) == (counts["tiles"] == 1)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        # With a single matrix B, the leading sizes of A are rows.
        (matmul((2, 3, 5), (5, 7), (2, 3, 7)), (1, 6, 7, 5)),
        (matmul((2, 3, 5), (2, 5, 7), (2, 3, 7)), (2, 3, 7, 5)),
        (matmul((3, 5), (2, 5, 7), (2, 3, 7)), (2, 3, 7, 5)),
        (matmul((5, 3), (7, 5), (3, 7), transposed_a=True), (1, 3, 7, 5)),
        (matmul((5,), (5, 7), (7,)), (1, 1, 7, 5)),
        (matmul((5,), (2, 5, 7), (2, 7)), (2, 1, 7, 5)),
        (matmul((2, 3, 5), (5,), (2, 3)), (1, 6, 1, 5)),
        (matmul((5,), (5,), ()), (1, 1, 1, 5)),
        (matmul((0, 5), (5, 7), (0, 7)), (0, 0, 7, 5)),
        (matmul((2, 3, 8), (7, 1, 4), (2, 3, 7), n=7), (1, 6, 7, 8)),  # packed B
        (matmul((None, 5), (5, 7), (None, 7)), None),
        (matmul((3, 5), None, (3, 7)), None),
        (Operation("matmul", (Tensor((3, 5)),), (Tensor((3, 7)),)), None),
        (Operation("softmax", (Tensor((3, 5)),), (Tensor((3, 5)),)), None),
    ],
)
def test_sizes_of_products_by_hand(
    operation: Operation, expected: tuple[int, int, int, int] | None
) -> None:
    product = product_of(operation, with_convolutions=True)
    assert (None if product is None else product[:4]) == expected


@given(st.integers(1, 3), *[small] * 5, st.integers(1, 3))
def test_a_convolution_is_one_product_for_each_group(
    groups: int, batch: int, channels: int, filters: int, height: int, width: int, kernel: int
) -> None:
    data = Tensor((batch, groups * channels, height + kernel - 1, width + kernel - 1), "fp16")
    weight = Tensor((groups * filters, channels, kernel, kernel), "fp16")
    result = Tensor((batch, groups * filters, height, width), "fp16")
    operation = Operation("convolution", (data, weight), (result,), {"groups": groups})
    assert product_of(operation, with_convolutions=False) is None
    m, n, k = batch * height * width, filters, channels * kernel**2
    whole = 2 * groups * (m * k + k * n + m * n)
    expected = Product(groups, m, n, k, 2, 2, 2, 2, whole)
    assert product_of(operation, with_convolutions=True) == expected


@pytest.mark.parametrize("weight", [None, (None, 3, 1, 1), (0, 3, 1, 1), (4, None, 1, 1)])
def test_a_convolution_of_unknown_or_zero_sizes_is_no_product(
    weight: tuple[int | None, ...] | None,
) -> None:
    inputs = (Tensor((1, 3, 5, 5), "fp32"), Tensor(weight, "fp32"))
    operation = Operation("convolution", inputs, (Tensor((1, 4, 5, 5), "fp32"),))
    assert product_of(operation, with_convolutions=True) is None


def test_only_matmuls_and_some_convolutions_have_products() -> None:
    kinds = ("matmul", "convolution", "deformable convolution", "transposed convolution", "LSTM")
    assert [has_products(kind, with_convolutions=True) for kind in kinds] == [True] * 3 + [
        False
    ] * 2
    assert [has_products(kind, with_convolutions=False) for kind in kinds] == [True] + [False] * 4


@pytest.mark.parametrize(
    ("dtypes", "sum_size"),
    [
        (("uint8", "int8", "int32"), 4),
        (("uint8", "int8", "uint8"), 4),  # the sums of 8-bit products have 32 bits
        (("fp16", "fp16", "fp16"), 2),
        (("fp32", "int64", "int64"), 8),
    ],
)
def test_partial_sums_of_integers_have_at_least_32_bits(
    dtypes: tuple[str, str, str], sum_size: int
) -> None:
    product = product_of(matmul((2, 6), (6, 3), (2, 3), dtypes), with_convolutions=False)
    assert product is not None
    a, b, result = map(bytes_of, dtypes)
    tiling = tiling_of(product, (2, 3, 3))
    assert tiling.tiled_memory == 12 * a + 18 * b + 6 * result + 12 * sum_size
    assert tiling.tile_peak == 6 * a + 9 * b + 6 * sum_size


def test_a_packed_matrix_has_the_bytes_of_its_tensor() -> None:
    operation = matmul((4, 8), (7, 1, 4), (4, 7), ("fp32", "uint8", "fp32"), n=7)
    product = product_of(operation, with_convolutions=False)
    assert product is not None
    assert tiling_of(product, (2, 7, 8)) == Tiling(
        tiles=2,
        tiles_m=2,
        tiles_n=1,
        tiles_k=1,
        tiled_macs=4 * 7 * 8,
        untiled_memory=4 * 8 * 4 + 7 * 4 + 4 * 7 * 4,
        tiled_memory=4 * 8 * 4 + 2 * 7 * 4 + 4 * 7 * 4,
        padded_memory=4 * 8 * 4 + 2 * 7 * 4 + 4 * 7 * 4,
        tile_peak=2 * 8 * 4 + 7 * 4 + 2 * 7 * 4,
    )


def test_products_without_elements_cost_nothing() -> None:
    no_rows = product_of(matmul((0, 5), (5, 7), (0, 7)), with_convolutions=False)
    no_sum = product_of(matmul((3, 0), (0, 7), (3, 7)), with_convolutions=False)
    assert no_rows is not None
    assert no_sum is not None
    assert tiling_of(no_rows, (2, 2, 2))[:5] == (0, 0, 4, 3, 0)
    assert tiling_of(no_rows, (2, 2, 2)).tiled_memory == 0
    # The result of a product with K = 0 is zeros, which are written.
    assert tiling_of(no_sum, (2, 2, 2)).tiled_memory == 4 * 3 * 7


def test_bytes_of_an_unknown_dtype_are_unknown() -> None:
    operation = matmul((2, 6), (6, 3), (2, 3), (None, "fp32", "fp32"))
    product = product_of(operation, with_convolutions=False)
    assert product is not None
    tiling = tiling_of(product, (2, 3, 3))
    assert tiling.tiles == 2
    assert isnan(tiling.tiled_memory)

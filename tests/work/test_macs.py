"""Multiply-adds equal the counts of plain loops over the output elements."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.work.convolutions import macs_without_padding
from profile_analyze.work.kinds import backward_macs, bias_elements, work_of
from profile_analyze.work.operation import Operation
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

small = st.integers(1, 3)
flag = st.integers(0, 1)


def operation(
    kind: str,
    inputs: list[tuple[int, ...] | None],
    output: tuple[int, ...],
    attributes: Mapping[str, Any] | None = None,
) -> Operation:
    tensors = tuple(None if shape is None else Tensor(shape, "fp32") for shape in inputs)
    return Operation(kind, tensors, (Tensor(output, "fp32"),), attributes or {})


def indices(*shape: int) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


@st.composite
def windows(draw: st.DrawFn) -> dict[str, Any]:
    """Return a convolution with data at least as large as its kernel."""
    rank = draw(st.integers(1, 3))
    sides = {
        name: tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))
        for name, low, high in [
            ("kernel", 1, 3),
            ("strides", 1, 2),
            ("dilations", 1, 2),
            ("before", 0, 2),
            ("after", 0, 2),
            ("more", 0, 2),
        ]
    }
    reach = [d * (k - 1) + 1 for d, k in zip(sides["dilations"], sides["kernel"], strict=True)]
    data = [r + more for r, more in zip(reach, sides["more"], strict=True)]
    return {**sides, "reach": reach, "data": data, "batch": draw(small), "groups": draw(small)}


def outputs_of(window: dict[str, Any]) -> tuple[int, ...]:
    keys = ("data", "before", "after", "reach", "strides")
    return tuple(
        (data + before + after - reach) // stride + 1
        for data, before, after, reach, stride in zip(*map(window.get, keys), strict=True)
    )


def reads(window: dict[str, Any], at: tuple[int, ...], tap: tuple[int, ...]) -> bool:
    """Return whether a tap of the output `at` reads the data, and not its padding."""
    keys = ("strides", "dilations", "before", "data")
    strides, dilations, befores, sides = (window[key] for key in keys)
    return all(
        0 <= i * stride + k * dilation - before < side
        for i, k, stride, dilation, before, side in zip(
            at, tap, strides, dilations, befores, sides, strict=True
        )
    )


@given(windows(), small, small, flag)
def test_convolutions(window: dict[str, Any], channels: int, filters: int, has_bias: int) -> None:
    groups, batch, output = window["groups"], window["batch"], outputs_of(window)
    all_taps = without_padding = biases = 0
    for _, _, _, *at in indices(batch, groups, filters, *output):
        biases += has_bias
        for _, *tap in indices(channels, *window["kernel"]):
            all_taps += 1
            without_padding += reads(window, tuple(at), tuple(tap))
    one = operation(
        "convolution",
        [
            (batch, groups * channels, *window["data"]),
            (groups * filters, channels, *window["kernel"]),
            (groups * filters,) if has_bias else None,
        ],
        (batch, groups * filters, *output),
        {
            "groups": groups,
            "strides": window["strides"],
            "dilations": window["dilations"],
            "padding_before": window["before"],
        },
    )
    assert work_of(one)[:2] == (all_taps, 2 * all_taps)
    assert macs_without_padding(one) == without_padding
    assert bias_elements(one) == biases


@given(windows(), small, small)
def test_transposed_convolutions(window: dict[str, Any], channels: int, filters: int) -> None:
    """A transposed convolution swaps the roles of data and outputs of a convolution."""
    groups, batch, small_side = window["groups"], window["batch"], outputs_of(window)
    all_taps = not_cut_off = 0
    for _, _, _, *at in indices(batch, groups, channels, *small_side):
        for _, *tap in indices(filters, *window["kernel"]):
            all_taps += 1
            not_cut_off += reads(window, tuple(at), tuple(tap))
    one = operation(
        "transposed convolution",
        [
            (batch, groups * channels, *small_side),
            (groups * channels, filters, *window["kernel"]),
        ],
        (batch, groups * filters, *window["data"]),
        {
            "groups": groups,
            "strides": window["strides"],
            "dilations": window["dilations"],
            "padding_before": window["before"],
        },
    )
    assert work_of(one)[:2] == (all_taps, 2 * all_taps)
    assert macs_without_padding(one) == not_cut_off


@given(st.lists(small, max_size=2), small, small, small, st.sampled_from(["ab", "a", "b", ""]))
def test_products_of_matrices(batch: list[int], m: int, k: int, n: int, matrices: str) -> None:
    """`matrices` names the operands that are matrices, not vectors. Batches are broadcast."""
    a = (*batch, m, k) if "a" in matrices else (k,)
    b = (*[1 for _ in batch], k, n) if "b" in matrices else (k,)
    output = np.matmul(np.zeros(a), np.zeros(b)).shape
    macs = sum(1 for _ in indices(*output) for _ in range(k))
    assert work_of(operation("matmul", [a, b], output)).macs == macs


@given(small, small, small, flag)
def test_products_with_a_transposed_matrix(m: int, k: int, n: int, has_bias: int) -> None:
    macs = sum(1 for _ in indices(m, n, k))
    bias = (n,) if has_bias else None
    one = operation("matmul", [(k, m), (k, n), bias], (m, n), {"transposed_a": True})
    assert work_of(one)[:2] == (macs, 2 * macs)
    assert bias_elements(one) == has_bias * m * n
    packed = operation("matmul", [(2, m, k), (9,), bias], (2, m, n), {"n": n})
    assert work_of(packed).macs == 2 * macs


@given(st.dictionaries(st.sampled_from("abcd"), small, min_size=4), st.data())
def test_einstein_sums(label_sizes: dict[str, int], data: st.DataObject) -> None:
    some = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map("".join)
    operands = data.draw(st.lists(some, min_size=2, max_size=3))
    has_batch = data.draw(flag)
    shapes: list[tuple[int, ...] | None] = []
    for number, labels in enumerate(operands):
        batch = (1 if number else 5,) if has_batch else ()
        shapes.append((*batch, *(label_sizes[label] for label in labels)))
    dots = "..." if has_batch else ""
    equation = ",".join(dots + labels for labels in operands) + f"->{dots}"
    used = sorted(set("".join(operands)))
    macs = sum(1 for _ in indices(5 if has_batch else 1, *(label_sizes[one] for one in used)))
    one = operation("einsum", shapes, (5,) if has_batch else (), {"equation": equation})
    assert work_of(one)[:2] == (macs, 2 * macs)


def test_an_einstein_sum_of_one_operand_multiplies_nothing() -> None:
    one = operation("einsum", [(3, 4)], (4, 3), {"equation": "ij->ji"})
    assert work_of(one) == (0, 0, 2 * 12 * 4)


@given(small, small, small, small, small, small, flag)
def test_attention(
    batch: int, heads: int, queries: int, keys: int, size: int, values: int, has_mask: int
) -> None:
    macs = other = 0
    for _ in indices(batch, heads, queries, keys):
        macs += sum(1 for _ in range(size)) + sum(1 for _ in range(values))
        other += 6 + has_mask
    attributes = {
        "batch": batch,
        "heads": heads,
        "query_length": queries,
        "key_length": keys,
        "head_size": size,
        "value_head_size": values,
        "has_mask": has_mask,
    }
    one = operation("attention", [], (batch, heads, queries, values), attributes)
    assert work_of(one)[:2] == (macs, 2 * macs + other)
    projected = one._replace(attributes={**attributes, "projection_macs": 1000})
    assert work_of(projected).macs == macs + 1000


@given(small, small, small, small, small, small, flag, flag)
def test_linear_attention(
    batch: int, groups: int, share: int, length: int, size: int, values: int, delta: int,
    decay: int,
) -> None:  # fmt: skip
    macs = other = 0
    for _ in indices(batch, length):
        for _ in range(groups):
            for _ in indices(size, values):
                other += decay  # the state fades
                macs += delta  # the delta rule first reads the state with the key
                macs += 1  # the key and value are added to the state
        for _ in indices(groups * share, values):
            macs += sum(1 for _ in range(size))  # the query reads the state
            other += 1  # the scale
    attributes = {
        "batch": batch,
        "heads": groups * share,
        "kv_heads": groups,
        "query_length": length,
        "head_size": size,
        "value_head_size": values,
        "has_delta": delta,
        "has_decay": decay,
    }
    output = (batch, length, groups * share * values)
    one = operation("linear attention", [], output, attributes)
    assert work_of(one)[:2] == (macs, 2 * macs + other)


@given(
    st.sampled_from([("LSTM", 4, 9), ("GRU", 3, 8), ("RNN", 1, 1)]),
    st.tuples(small, small, st.integers(1, 2), small, small),
    flag,
)
def test_recurrent_layers(
    cell: tuple[str, int, int], sizes: tuple[int, int, int, int, int], has_bias: int
) -> None:
    steps, batch, directions, width, hidden = sizes
    kind, gates, per_unit = cell
    macs = other = biases = 0
    for _ in indices(steps, batch, directions):
        for _ in indices(gates, hidden):
            macs += sum(1 for _ in range(width)) + sum(1 for _ in range(hidden))
            biases += 2 * has_bias
        other += sum(per_unit for _ in range(hidden))
    one = operation(
        kind,
        [
            (steps, batch, width),
            (directions, gates * hidden, width),
            (directions, gates * hidden, hidden),
            (directions, 2 * gates * hidden) if has_bias else None,
        ],
        (steps, directions, batch, hidden),
    )
    assert work_of(one)[:2] == (macs, 2 * macs + other)
    assert bias_elements(one) == biases
    peepholes = one._replace(inputs=(*one.inputs, Tensor((directions, 3 * hidden), "fp32")))
    extra = steps * batch * directions * 3 * hidden * 2
    assert work_of(peepholes).computation == 2 * macs + other + extra


def gradient_macs(one: Operation) -> list[float]:
    """Return the counts for gradients of both, of the inputs, of the weights, and of neither."""
    return [
        backward_macs(one, input_gradients=a, weight_gradients=b)
        for a, b in [(True, True), (True, False), (False, True), (False, False)]
    ]


@given(small, small, small)
def test_gradients_of_a_product(m: int, k: int, n: int) -> None:
    of_a = sum(1 for _ in indices(m, k) for _ in range(n))
    of_b = sum(1 for _ in indices(k, n) for _ in range(m))
    one = operation("matmul", [(m, k), (k, n)], (m, n))
    assert gradient_macs(one) == [of_a + of_b, of_a, of_b, 0]


def test_gradients_of_attention_and_its_projection() -> None:
    """The backward pass of attention has four products of matrices, and the forward pass has two.

    The gradients of the projection's input and weights both need all four, but only once.
    """
    attributes = dict.fromkeys(("batch", "heads", "query_length", "key_length"), 2)
    core = operation("attention", [], (), {**attributes, "head_size": 3, "value_head_size": 5})
    macs = 2 * 2 * 2 * 2 * (3 + 5)
    assert gradient_macs(core) == [2 * macs, 2 * macs, 0, 0]
    projected = core._replace(attributes={**core.attributes, "projection_macs": 100})
    assert gradient_macs(projected) == [2 * macs + 200, 2 * macs + 100, 2 * macs + 100, 0]


def test_operations_without_products_have_no_gradient_macs() -> None:
    assert gradient_macs(operation("elementwise", [(3,)], (3,))) == [0, 0, 0, 0]


def test_the_work_of_deformable_convolutions_includes_interpolation() -> None:
    n, groups, c, o, k, h, w = 2, 2, 3, 2, (3, 2), 4, 5
    macs = sum(1 for _ in indices(n, groups * o, h, w) for _ in indices(c, *k))
    values = sum(1 for _ in indices(n, groups * c, h, w, *k))
    shapes: list[tuple[int, ...] | None] = [(n, groups * c, 9, 9), (groups * o, c, *k), None]
    shapes += [(n, 2 * prod(k), h, w), (n, prod(k), h, w)]
    one = operation("deformable convolution", shapes, (n, groups * o, h, w), {"groups": groups})
    assert work_of(one)[:2] == (macs, 2 * macs + 9 * values)
    without_mask = one._replace(inputs=one.inputs[:4])
    assert work_of(without_mask).computation == 2 * macs + 8 * values

"""Finds the factors of a convolution or matrix product among the inputs of a kernel.

The inputs of a kernel may be in any order, and the kernel may add some of them to the result. If
the shapes do not show which inputs are the factors, the factors are unknown.
"""

from __future__ import annotations

from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.readers.migraphx.tensors import Value

    Sizes = tuple[int, ...]

T = TypeVar("T")

_MOST_INPUTS: Final = 16
"""With more inputs, the factors are unknown, because trying all pairs would take too long."""


class Factors(NamedTuple):
    """The factors of a convolution."""

    data: Value
    weight: Value


class Attention(NamedTuple):
    """The sizes of the queries, keys and values of an attention operator."""

    heads: int
    """The number of heads in the whole batch."""
    query_length: int
    key_length: int
    head_size: int
    value_head_size: int


def sizes_of(value: Value) -> Sizes:
    """Return the sizes of all dimensions; empty if any size is unknown or 0."""
    shape = value.shape.tensor.shape or ()
    known = tuple(size for size in shape if size)
    return known if len(known) == len(shape) else ()


def convolution(
    inputs: Sequence[Value], result: Sizes, *, is_transposed: bool = False
) -> Factors | None:
    """Return data and weight of a convolution.

    Return None if no pair of inputs fits, or if several pairs with different costs fit.
    """
    found = [
        Factors(data, weight)
        for data, weight in _pairs(inputs)
        if _convolve(
            *((result, sizes_of(data)) if is_transposed else (sizes_of(data), result)),
            sizes_of(weight),
        )
    ]
    # Prefer pairs in which only the weight is a constant. Otherwise, an activation that the kernel
    # adds to the result could be taken for the weight, or a bias for the data.
    found = [one for one in found if one.weight.is_constant and not one.data.is_constant] or found
    costs = {
        (prod(sizes_of(one.data)) if is_transposed else 0, sizes_of(one.weight)[1:])
        for one in found
    }
    return found[0] if len(costs) == 1 else None


def _convolve(data: Sizes, result: Sizes, weight: Sizes) -> bool:
    """Return whether a convolution of `data` with `weight` may give `result`."""
    if not len(data) == len(result) == len(weight) >= 3:
        return False
    groups = data[1] // weight[1]
    return (
        (data[0], weight[0]) == (result[0], result[1])
        and groups * weight[1] == data[1]
        and weight[0] % groups == 0
        # The result is at most as large as the data, or larger by 1 if the kernel size is even.
        and all(out <= size + 1 for size, out in zip(data[2:], result[2:], strict=True))
    )


def depth(inputs: Sequence[Value], result: Sizes, *, is_reshaped: bool = False) -> int | None:
    """Return the size that both factors of a matrix product share (K).

    Return None if no size fits, or if several sizes fit. `is_reshaped` says whether the kernel
    changes the shapes of its factors before it multiplies them.
    """
    if len(result) < 2:
        return None
    pairs = [(sizes_of(a), sizes_of(b)) for a, b in _pairs(inputs)]
    found = {a[-1] for a, b in pairs if _multiply(a, b, result)}
    if not found and is_reshaped:
        found = {size for a, b in pairs for size in _depths_by_elements(a, b, result)}
    return _only(found)


def _multiply(a: Sizes, b: Sizes, result: Sizes) -> bool:
    if min(len(a), len(b)) < 2 or max(len(a), len(b)) > len(result):
        return False
    batches = {1, prod(result[:-2])}
    return (
        (a[-2], b[-2], b[-1]) == (result[-2], a[-1], result[-1])
        and prod(a[:-2]) in batches
        and prod(b[:-2]) in batches
    )


def _depths_by_elements(a: Sizes, b: Sizes, result: Sizes) -> Iterator[int]:
    """Yield the size that the factors share, if their numbers of elements fit the result.

    The shapes of the factors do not matter.
    """
    *batch, rows, columns = result
    size, rest = divmod(prod(a), prod(batch) * rows)
    if a and b and not rest and prod(b) in {size * columns, size * columns * prod(batch)}:
        yield size


def attention(inputs: Sequence[Value], result: Sizes) -> Attention | None:
    """Return the sizes of an attention operator; None if no sizes fit, or if several sizes fit."""
    if len(result) < 2 or len(inputs) > _MOST_INPUTS:
        return None
    *batch, rows, columns = result
    shapes = [sizes_of(one) for one in inputs]
    whole = [one for one in shapes if len(one) == len(result) and list(one[:-2]) == batch]
    found = {
        Attention(prod(batch), rows, key[-1], query[-1], columns)
        for query, key, value in permutations(whole, 3)
        if query[-2] == rows and key[-2] == query[-1] and value[-2:] == (key[-1], columns)
    }
    return _only(found)


def _pairs(inputs: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    return permutations(inputs if len(inputs) <= _MOST_INPUTS else (), 2)


def _only(found: set[T]) -> T | None:
    return next(iter(found)) if len(found) == 1 else None

"""The longest common subsequence of two sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_MOST_BITS: Final = 1 << 28
"""The most bits to keep. As Python integers, they take 34 MiB. They suffice for two sequences of
16,000 elements."""


def common_subsequence(
    ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> list[tuple[int, int]]:
    """Return the indices of equal elements in a longest common subsequence, in ascending order.

    A pair has an index in `ours` and an index in `theirs`. Elements at the start and at the end
    that are equal on both sides always belong to the result. If the rest needs more than
    `_MOST_BITS`, only these elements are returned.

    This is the bit-parallel algorithm of Hyyrö (2004). It takes one step for each element of
    `theirs`. Each step handles all elements of `ours` at once, as the bits of one integer.
    """
    shorter = min(len(ours), len(theirs))
    start = 0
    while start < shorter and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < shorter - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    # An element that only one side has cannot be common, so it needs no bits.
    our_indices = _shared_with(theirs, ours, start, end)
    their_indices = _shared_with(ours, theirs, start, end)
    pairs = [(index, index) for index in range(start)]
    if len(our_indices) * len(their_indices) <= _MOST_BITS:
        found = _common_bits(
            [ours[index] for index in our_indices], [theirs[index] for index in their_indices]
        )
        pairs.extend((our_indices[column], their_indices[row]) for column, row in found)
    pairs.extend((len(ours) - rest, len(theirs) - rest) for rest in range(end, 0, -1))
    return pairs


def _shared_with(
    side: Sequence[Hashable], chosen: Sequence[Hashable], start: int, end: int
) -> list[int]:
    """Return the indices in `chosen` of elements that `side` also has.

    The first `start` and the last `end` elements of both sequences are left out.
    """
    known = set(side[start : len(side) - end])
    return [index for index in range(start, len(chosen) - end) if chosen[index] in known]


def _common_bits(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the pairs of `common_subsequence`, by the bit-parallel algorithm alone."""
    bits_of: dict[Hashable, int] = {}
    for index, element in enumerate(ours):
        bits_of[element] = bits_of.get(element, 0) | 1 << index
    every = (1 << len(ours)) - 1
    # `rows[n]` compares the first n elements of `theirs` with each prefix of `ours`. Bit i is 0 if
    # the prefix that ends with element i has a longer common subsequence than the prefix before it.
    rows = [every]
    for element in theirs:
        bits = rows[-1]
        hit = bits & bits_of.get(element, 0)
        rows.append(((bits + hit) | (bits - hit)) & every)
    pairs = []
    column, row = len(ours), len(theirs)
    while column and row:
        if rows[row] >> (column - 1) & 1:
            column -= 1
        elif rows[row - 1] >> (column - 1) & 1:
            column, row = column - 1, row - 1
            pairs.append((column, row))
        else:
            row -= 1
    return pairs[::-1]

"""Computes the share of zeros in weights, and the shape of the blocks that the zeros form."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from onnx import SparseTensorProto

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.terms import SPARSITY_NAMES
from profile_analyze.readers.onnx.work.weights import share_of_zeros
from profile_analyze.readers.onnx.work.zeros import needs_unsupported_node, zeros_behind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import OptionalValues
    from profile_analyze.readers.onnx.safety.external_data import ModelFolder
    from profile_analyze.readers.onnx.tables import ModelTables

_MOST_OUTSIDE: Final = 10
"""How many zeros can be outside the blocks of zeros, in percent of the weight's elements."""


class Sparsity(NamedTuple):
    """The zeros of one weight. NaN and None stand for N/A."""

    share: float = np.nan
    """The share of the elements that are 0."""
    pattern: str | None = None
    """The shape of the blocks, as rows x columns."""
    zero_blocks: float = np.nan
    """The share of the blocks that have only zeros."""


def sparsity_columns(
    tables: ModelTables, folder: ModelFolder | None
) -> tuple[dict[str, OptionalValues], tuple[Note, ...]]:
    """Return the sparsity columns of all rows, and notes on weights with unknown sparsity.

    `folder` has the files with external data; it is None if there is no such folder.
    """
    weights = [tables.largest_weight(row) for row in range(len(tables.rows))]
    known = {
        index: _sparsity_in(tables, index, folder)
        for index in dict.fromkeys(weights)
        if index is not None
    }
    of_rows = [Sparsity() if index is None else known[index] for index in weights]
    unknown = [index for index, one in known.items() if isnan(one.share)]
    computed = sum(needs_unsupported_node(tables, index) for index in unknown)
    unread = len(unknown) - computed
    reasons = {"computed": computed, "unreadable": unread}
    columns: tuple[OptionalValues, ...] = (
        np.array([one.share for one in of_rows], np.float64),
        Categorical.of([one.pattern for one in of_rows]),
        np.array([one.zero_blocks for one in of_rows], np.float64),
    )
    notes = (
        Finding.of("unknown-sparsity", Kind.INCOMPLETE, weights=count, reason=reason)
        for reason, count in reasons.items()
        if count
    )
    return dict(zip(SPARSITY_NAMES, columns, strict=True)), tuple(notes)


def _sparsity_in(tables: ModelTables, index: int, folder: ModelFolder | None) -> Sparsity:
    zeros = zeros_behind(tables, index, folder)
    if zeros is not None and zeros.size:
        return sparsity_of(zeros)
    stored = tables.stored(index)
    if stored is not None and isinstance(stored.proto, SparseTensorProto):
        return Sparsity(share_of_zeros(stored.proto))
    return Sparsity()


def sparsity_of(zeros: NDArray[np.bool_]) -> Sparsity:
    """Return the sparsity of a weight, which is treated as a matrix.

    The first axis of the weight becomes the rows. All other axes together become the columns.
    """
    if not any(zeros.strides):  # all elements are a view of one value
        rows, columns = len(zeros), zeros.size // len(zeros)
        # `n & -n` is the largest power of two that divides n.
        pattern = f"{rows & -rows}x{columns & -columns}"
        return Sparsity(1.0, pattern, 1.0) if zeros.flat[0] else Sparsity(0.0)
    matrix = zeros.reshape(len(zeros), -1)
    found = _count(matrix)
    share = found / matrix.size
    if found * 100 <= _MOST_OUTSIDE * matrix.size:  # too few zeros: blocks of any shape would fit
        return Sparsity(share)
    best = (1, 0, 1, 1, share)
    # Each element says whether a block has only zeros. Blocks are rows x 1 in `tall`, and
    # rows x columns in `wide`.
    tall: NDArray[np.bool_] | None = matrix
    rows = 1
    while tall is not None and _has_few_outside(tall, matrix.size, found):
        wide: NDArray[np.bool_] | None = tall
        columns = 1
        while wide is not None and _has_few_outside(wide, matrix.size, found):
            count = _count(wide)
            # Prefer larger blocks. If sizes are equal, prefer more blocks of zeros, then wider
            # blocks.
            best = max(best, (rows * columns, count, columns, rows, count / wide.size))
            wide, columns = _joined_columns(wide), 2 * columns
        tall, rows = _joined_rows(tall), 2 * rows
    _, _, columns, rows, zero_blocks = best
    return Sparsity(share, f"{rows}x{columns}", zero_blocks)


def _count(zeros: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(zeros))


def _has_few_outside(blocks: NDArray[np.bool_], elements: int, zeros: int) -> bool:
    """Return whether the zeros outside of `blocks` are at most `_MOST_OUTSIDE` % of `elements`."""
    in_blocks = _count(blocks) * (elements // blocks.size)
    return (zeros - in_blocks) * 100 <= _MOST_OUTSIDE * elements


def _joined_columns(blocks: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return blocks of twice the width; None if the number of columns is odd."""
    return None if blocks.shape[1] % 2 else blocks[:, ::2] & blocks[:, 1::2]


def _joined_rows(blocks: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return None if blocks.shape[0] % 2 else blocks[::2] & blocks[1::2]

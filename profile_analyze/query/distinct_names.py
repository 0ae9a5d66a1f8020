"""Details that tell operators with equal names apart in pictures and sentences."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.query.catalog import DISTINGUISHING, find_column
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.query.table import Table


def details_of(table: Table, rows: Sequence[int]) -> list[str]:
    """Return, for each of `rows`, a detail that tells it apart from rows with the same name.

    The detail has the row's values in the columns that tell the rows apart. If these columns are
    not enough, the detail also has the row's id. It is empty for a unique name, and if all rows
    with the name are equal even in their ids, as an added and a removed operator may be. The rows
    of `table` are operators.
    """
    codes = table.shown["name"].codes
    is_shared = np.bincount(codes) > 1
    is_asked = np.zeros_like(is_shared)
    is_asked[codes[rows]] = True
    # All rows with one of the names in `rows`, in groups of equal names.
    namesakes = np.flatnonzero((is_shared & is_asked)[codes])
    namesakes = namesakes[np.argsort(codes[namesakes], kind="stable")]
    columns = [*_columns(table, namesakes)] if len(namesakes) else []
    details: list[str] = []
    ends = np.flatnonzero(np.diff(codes[namesakes], append=-1)) + 1
    for start, end in pairwise([0, *ends.tolist()]):
        details += _details([texts[start:end] for texts in columns])
    detail_of = dict(zip(namesakes.tolist(), details, strict=True))
    return [detail_of.get(row, "") for row in rows]


def _columns(table: Table, rows: NDArray[np.int64]) -> Iterator[list[str]]:
    """Yield the texts of the columns that may tell rows apart, with the ids as the last column.

    Texts of unknown values are empty, because details are easier to read without N/A.
    """
    loaded = {"", *table.shown.profile.operators.optional}
    for name in DISTINGUISHING:
        if find_column(name).optional in loaded and table.has_values(name):
            texts = table.texts(name, rows=rows)
            yield ["" if text == NOT_AVAILABLE else text for text in texts]
    yield [f"id {text}" for text in table.texts("id", rows=rows)]


def _details(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return each row's values in the columns that are needed to tell the rows apart."""
    chosen: list[Sequence[str]] = []
    told_apart = 1
    for column in columns:
        with_column = len({*zip(*chosen, column, strict=True)})
        if with_column > told_apart:
            told_apart = with_column
            chosen.append(_innermost_parts(column))
    if not chosen:
        return [""] * len(columns[0])
    return [", ".join(filter(None, texts)) for texts in zip(*chosen, strict=True)]


def _innermost_parts(paths: Sequence[str]) -> list[str]:
    """Return the innermost parts that tell paths apart: `a/x` for `net/a/x` beside `net/b/x`."""
    parts = [path.split("/") for path in paths]
    count = 1
    while len({tuple(path[-count:]) for path in parts}) < len({*paths}):
        count += 1
    return ["/".join(path[-count:]) for path in parts]

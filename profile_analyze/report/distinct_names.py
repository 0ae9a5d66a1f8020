"""Details that tell rows with equal names apart, where no column shows them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from profile_analyze.report.labels import DISTINGUISHING, join_keys, row_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.table import Table


def names_with_details(table: Table) -> list[tuple[str, str]]:
    """Return the name of each row, and what tells the row apart from others with this name.

    The detail has the values of as few columns as possible. If no column tells some rows apart,
    they have their ids. It is empty for unique names, and for groups.
    """
    names = [join_keys(label)[0] for label in row_labels(table)]
    details = [""] * len(names)
    if table.query.keys is None and len({*names}) < len(names):
        columns = [*_columns(table)]
        for rows in _rows_with_equal_values(names):
            of_rows = [[texts[row] for row in rows] for texts in columns]
            for row, detail in zip(rows, _details(of_rows), strict=True):
                details[row] = detail
    return [*zip(names, details, strict=True)]


def _columns(table: Table) -> Iterator[list[str]]:
    """Yield the texts of the columns that may tell rows apart, and ids, which always do."""
    for name in DISTINGUISHING:
        if table.has_values(name):
            yield table.texts(name)
    yield [f"id {text}" for text in table.texts("id")]


def _rows_with_equal_values(values: Iterable[str]) -> list[list[int]]:
    """Return the indices of each value that occurs several times."""
    rows = defaultdict(list)
    for row, value in enumerate(values):
        rows[value].append(row)
    return [of_value for of_value in rows.values() if len(of_value) > 1]


def _details(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return a text for each row, of the columns that tell more rows apart than those before."""
    chosen: list[Sequence[str]] = []
    kinds = 1
    for column in columns:
        more = len({*zip(*chosen, column, strict=True)})
        if more > kinds:
            kinds = more
            chosen.append(_innermost_parts(column))
    return [", ".join(filter(None, texts)) for texts in zip(*chosen, strict=True)]


def _innermost_parts(paths: Sequence[str]) -> list[str]:
    """Return as few innermost parts of paths as tell them apart: `a/x` and `b/x` of `net/a/x`."""
    parts = [path.split("/") for path in paths]
    count = 1
    while len({tuple(path[-count:]) for path in parts}) < len({*paths}):
        count += 1
    return ["/".join(path[-count:]) for path in parts]

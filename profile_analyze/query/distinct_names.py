"""Details that tell operators with equal names apart in tables, pictures and sentences."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.columns.catalog import DISTINGUISHING
from profile_analyze.model.terms import FULL_NAME, TELLING_APART
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.query.table import Table

_WORD: Final = re.compile(r"[^\W_]+|[\W_]")
"""A word in the name of a kernel, or one character between two words."""
_LONGEST: Final = 40
"""The most characters of a detail from a full name. A longer detail loses its middle, unless only
the middle tells the kernels apart."""
_HALF: Final = 18
"""How many characters stay on each side of the middle."""


def variants_of(table: Table) -> list[str]:
    """Return, for each row, the part of a kernel's full name that tells it apart in a table.

    The part is empty unless several rows have the same name and the same values in the columns
    `TELLING_APART`, but different full names: the names of kernels are shortened. In a comparison,
    the part is `256, was 1024` if the kernel has another full name in the baseline.
    """
    variants = [""] * len(table)
    optional = table.shown.profile.operators.optional
    if table.query.grouped or FULL_NAME not in optional or not table.has_values(FULL_NAME):
        return variants
    full_names = _full_names(table)
    loaded = {"", *optional}
    columns = ["name", *(one for one in TELLING_APART if table.kind.find(one).optional in loaded)]
    rows_of: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, values in enumerate(zip(*map(table.texts, columns), strict=True)):
        rows_of[values].append(row)
    for rows in rows_of.values():
        parts = _parts_on_sides([full_names[row] for row in rows])
        for row, part in zip(rows, parts, strict=True):
            variants[row] = part
    return variants


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
    columns = dict(_columns(table, namesakes)) if len(namesakes) else {}
    details: list[str] = []
    ends = np.flatnonzero(np.diff(codes[namesakes], append=-1)) + 1
    for start, end in pairwise([0, *ends.tolist()]):
        details += _details({name: texts[start:end] for name, texts in columns.items()})
    detail_of = dict(zip(namesakes.tolist(), details, strict=True))
    return [detail_of.get(row, "") for row in rows]


def _columns(table: Table, rows: NDArray[np.int64]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the columns that may tell rows apart with their texts. The ids are the last column.

    Texts of unknown values are empty, because details are easier to read without N/A. The column of
    full names has the pairs of `_full_names`.
    """
    loaded = {"", *table.shown.profile.operators.optional}
    for name in DISTINGUISHING:
        if table.kind.find(name).optional not in loaded or not table.has_values(name):
            continue
        if name == FULL_NAME:
            yield name, _full_names(table, rows)
        else:
            texts = table.texts(name, rows=rows)
            yield name, ["" if text == NOT_AVAILABLE else text for text in texts]
    yield "id", [f"id {text}" for text in table.texts("id", rows=rows)]


def _full_names(
    table: Table, rows: NDArray[np.int64] | slice = slice(None)
) -> list[tuple[str, str]]:
    """Return the full name of the kernel in each of `rows`, and its full name in the baseline.

    The two are equal if there is no baseline, or one of them is unknown.
    """
    names = [name or "" for name in table[FULL_NAME][rows].tolist()]
    comparison = table.shown.comparison
    if comparison is None:
        return [*zip(names, names, strict=True)]
    of_base = comparison.base_full_name.take(table.shown.chosen[rows]).values().tolist()
    return [(name, (name and other) or name) for name, other in zip(names, of_base, strict=True)]


def _details(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return each row's values in the columns that are needed to tell the rows apart."""
    rows = len(columns["id"])
    chosen: list[Sequence[str]] = []
    told_apart = 1
    for name, column in columns.items():
        with_column = len({*zip(*chosen, column, strict=True)})
        if with_column > told_apart:
            told_apart = with_column
            shortened = _parts_on_sides if name == FULL_NAME else _innermost_parts
            chosen.append(shortened(column))
    if not chosen:
        return [""] * rows
    return [", ".join(filter(None, texts)) for texts in zip(*chosen, strict=True)]


def _innermost_parts(paths: Sequence[str]) -> list[str]:
    """Return the innermost parts that tell paths apart: `a/x` for `net/a/x` beside `net/b/x`."""
    parts = [path.split("/") for path in paths]
    count = 1
    while len({tuple(path[-count:]) for path in parts}) < len({*paths}):
        count += 1
    return ["/".join(path[-count:]) for path in parts]


def _parts_on_sides(full_names: Sequence[tuple[str, str]]) -> list[str]:
    """Return the words that tell kernels apart, such as `256`, or `256, was 1024`.

    `full_names` has the full name of each kernel, and its full name in the baseline.
    """
    if len({*full_names}) == 1:
        return [""] * len(full_names)
    names, of_base = zip(*full_names, strict=True)
    parts = _differing_parts([*names, *of_base])
    own, base = parts[: len(names)], parts[len(names) :]
    return [
        part if part == other else ", ".join(filter(None, (part, f"was {other or 'without'}")))
        for part, other in zip(own, base, strict=True)
    ]


def _differing_parts(names: Sequence[str]) -> list[str]:
    """Return the words that tell full names of kernels apart: `128` for `f<float, 128>(int)`.

    The parts are empty if all names are equal. Words that all names start or end with are left out.
    """
    distinct = [*{*names}]
    if len(distinct) == 1:
        return [""] * len(names)
    words = [_WORD.findall(name) for name in distinct]
    start = _shared_start(words)
    ends = [found[start:][::-1] for found in words]
    end = _shared_start(ends)
    parts = ["".join(found[end:][::-1]) for found in ends]
    bare = [part.strip(", ") for part in parts]
    short = [one if len(one) <= _LONGEST else f"{one[:_HALF]}...{one[-_HALF:]}" for one in bare]
    best = next(one for one in (short, bare, parts) if len({*one}) == len(distinct))
    part_of = dict(zip(distinct, best, strict=True))
    return [part_of[name] for name in names]


def _shared_start(texts: Sequence[Sequence[str]]) -> int:
    """Return how many words at their start all texts share."""
    together = takewhile(lambda words: len({*words}) == 1, zip(*texts, strict=False))
    return sum(1 for _ in together)

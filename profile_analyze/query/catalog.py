"""All the columns that can be asked for: those of the register, and those made from them.

| written | column |
|---|---|
| `time`, `type`, ... | an entry of the register |
| `param.NAME` | the operator's parameter of that name |
| `name~REGEX` | the part of a text column that the pattern finds: its first group if it has one |
| `time.p90` | an aggregate of another column, for groups |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.analysis import change_columns, roofline_columns
from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.model.column_registry import COLUMNS
from profile_analyze.model.columns import (
    AGGREGATED,
    AggregateOf,
    Column,
    Parameter,
    PartOf,
    RatioOfSums,
    RowKind,
)
from profile_analyze.query.aggregates import COUNT, canonical_name, find_aggregate
from profile_analyze.query.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

CATALOG: Final = (*COLUMNS, *roofline_columns.COLUMNS, *change_columns.COLUMNS)
"""The columns that have a name of their own."""

_BY_NAME: Final = {column.name: column for column in CATALOG}
PARAMETER: Final = "param."


def find_column(text: str) -> Column:
    """The column that `text` means.

    Raises `UnknownColumnError`, which lists the columns that there are, and `PatternError` for a
    wrong pattern.
    """
    if not isinstance(text, str):
        raise UnknownColumnError(f"{text!r} is not the name of a column: a name is a text")
    if text in _BY_NAME:
        return _BY_NAME[text]
    if text.startswith(PARAMETER) and len(text) > len(PARAMETER):
        return _parameter(text)
    base, _, pattern = text.partition("~")
    if pattern and base in _BY_NAME and _BY_NAME[base].kind != "number":
        return _part(_BY_NAME[base], pattern)
    base, _, aggregate = text.partition(".")
    how = find_aggregate(aggregate)
    if base in _BY_NAME and how is not None:
        rule = _BY_NAME[base].of_groups
        # a sum or mean of ratios means nothing; the ratio of sums is the column itself
        if rule == AGGREGATED or (isinstance(rule, RatioOfSums) and not how.adds_up):
            return _aggregate(_BY_NAME[base], aggregate)
    raise UnknownColumnError(f"there is no column {text!r}; {_near(text)}")


def _near(text: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(text, _BY_NAME, n=3)
    if near:
        return f"near: {', '.join(near)}"
    known = ", ".join(column.name for column in CATALOG)
    return f"the columns are {known}, and param.NAME"


def _parameter(text: str) -> Column:
    wanted = text.removeprefix(PARAMETER)
    return Column(
        text,
        "",
        f"the operator's parameter {wanted}",
        of_operators=Parameter(wanted),
        kind="mixed",
        is_key=True,
        optional="parameters",
    )


def _part(column: Column, pattern: str) -> Column:
    compile_pattern(pattern)
    return column._replace(
        name=f"{column.name}~{pattern}",
        meaning=f"the part of {column.name} that {pattern} finds",
        of_operators=PartOf(column.name, pattern),
        of_groups=None,
        kind="text",
        as_text=str,
        is_key=True,
        has_order=True,
    )


def _aggregate(column: Column, written: str) -> Column:
    aggregate = canonical_name(written)
    counts = aggregate == COUNT
    what = f"how many operators have a {column.name}" if counts else f"{aggregate} of {column.name}"
    return Column(
        f"{column.name}.{aggregate}",
        "1" if counts else column.unit,
        what,
        AggregateOf(column.name, aggregate),
        of_operators=None,
        timed=column.timed and not counts,
        measured=column.measured and not counts,
        optional=column.optional,
        shown_as=column.shown_as,
        needs_peaks=column.needs_peaks,
        needs_base=column.needs_base,
    )


def group_keys() -> tuple[str, ...]:
    """The columns of the register that operators can be grouped by."""
    return tuple(column.name for column in CATALOG if column.is_key)


def orderable_names(kind: RowKind) -> tuple[str, ...]:
    """What rows of that kind can be ordered by."""
    found = [column.name for column in CATALOG if column.orderable and kind.has(column)]
    made = [key for key in kind.keys or () if key not in _BY_NAME]
    return (*made, *found)


def columns_of(kind: RowKind, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The columns that rows of that kind have, `extra` after their time.

    What groups have in common comes first; otherwise the order is that of the register.
    """
    keys = kind.keys or ()
    names = [column.name for column in CATALOG if kind.has(column) and column.name not in keys]
    after_time = names.index("time") + 1
    return (*keys, *names[:after_time], *extra, *names[after_time:])


def optional_columns_of(names: Iterable[str]) -> frozenset[str]:
    """The optional columns that these columns are made from."""
    return frozenset({find_column(name).optional for name in names} - {""})


def check_columns(names: Iterable[str], kind: RowKind) -> None:
    """Raise `UnknownColumnError` unless rows of that kind have all `names`."""
    for name in names:
        column = find_column(name)
        check_needs(column, kind)
        if not kind.has(column):
            have = ", ".join(columns_of(kind))
            raise UnknownColumnError(f"{kind.noun} have no column {name!r}; they have {have}")


def check_needs(column: Column, kind: RowKind) -> None:
    """Raise `QueryError` if `column` needs what is not there: peak rates, a base, split rows."""
    if column.needs_peaks and not kind.has_peaks:
        raise QueryError(f"{column.name} needs the peak rates of a device: --peaks (see --help)")
    if column.needs_base and not kind.has_base:
        raise QueryError(f"{column.name} needs a profile to compare with: --compare (see --help)")
    if column.needs_split and column.base_name not in kind.split_by:
        raise QueryError(
            f"{column.name}: rows are not split by it; group by it, or filter with "
            f"--where '{column.name} == ...'"
        )


# An escaped character, a set such as [^(,], or any other character. A set that is not closed goes
# on to the end of the text: searching for its end again from each bracket would take minutes.
_PIECE: Final = r"\\.|\[\^?\]?(?:\\.?|[^\]\\])*(?:\]|\Z)|."


def split_names(text: str) -> tuple[str, ...]:
    """The names in `text` between commas; those within brackets, or escaped, belong to a pattern.

    `type,name~^(l{1,2})` has two, and so has `name~[(,],type`.
    """
    names = [""]
    depth = 0
    for piece in re.findall(_PIECE, text, re.DOTALL):
        if piece == "," and not depth:
            names.append("")
        else:
            names[-1] += piece
            depth = max(0, depth + (piece in "({") - (piece in ")}"))
    return tuple(name.strip() for name in names)

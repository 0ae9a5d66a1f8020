"""The columns that a question may name: columns of the registry, and columns derived from them.

| text | column |
|---|---|
| `time`, `type`, ... | an entry of the registry |
| `param.NAME` | the operator's parameter `NAME` |
| `name~REGEX` | the part of a text column that matches a pattern, or the pattern's first group |
| `scope/2` | the first levels of the scope |
| `time.p90` | an aggregate of another column; only groups have it |
| `label.date` | a label of files; for files that have this label, `date` also names the column |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean, likely_names, plain_name
from profile_analyze.advice.words import advice_on_absent_column, meant_column
from profile_analyze.columns import comparison_columns, roofline_columns
from profile_analyze.columns.aggregates import aggregate_column, canonical_name, find_aggregate
from profile_analyze.columns.column import (
    AGGREGATED,
    Column,
    FirstOf,
    PartOf,
    RatioOfSums,
)
from profile_analyze.columns.label_columns import is_label, label_column
from profile_analyze.columns.parameter_columns import PARAMETER, parameter_column
from profile_analyze.columns.patterns import compile_pattern
from profile_analyze.columns.registry import COLUMNS
from profile_analyze.errors import UnknownColumnError
from profile_analyze.model.terms import FULL_NAME, LABEL, TELLING_APART

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from profile_analyze.columns.column import Kind

CATALOG: Final = (*COLUMNS, *roofline_columns.COLUMNS, *comparison_columns.COLUMNS)
"""All columns with a fixed name."""

BY_NAME: Final = {column.name: column for column in CATALOG}
_PATH: Final = "scope"
"""The only column whose values are paths. A column such as `scope/2` has their first levels."""

_MOST_LISTED: Final = 30
"""A message lists all columns if there are at most this many."""
_FIRST_LISTED: Final = 12
"""If there are more columns than `_MOST_LISTED`, a message lists this many."""
_MOST_OTHERS: Final = 2
"""If all likely columns need a baseline, a message adds at most this many that need none."""

_UNIT_OF_HEADING: Final = r"_(s|ms|us|ns|flo|flo_per_s|flo_per_byte|bytes|bytes_per_s)$"
"""The unit at the end of a heading such as `time_s`, in csv and in other tools."""
NO_BLANKS: Final = "a name is missing beside a comma; write no blank after a comma: type,name"
"""Advice on an empty name: a shell splits `name, time` into two arguments, `name,` and `time`."""


def find_column(text: str, labels: Collection[str] = ()) -> Column:
    """Return the column that `text` names.

    A name in `labels`, such as `date`, means the column `label.date`.

    Raises `UnknownColumnError`, with a suggestion, if there is no such column. Raises
    `PatternError` for an invalid pattern.
    """
    if not isinstance(text, str):
        raise UnknownColumnError(f"{text!r} is not the name of a column: a name is a text")
    if text in BY_NAME:
        return BY_NAME[text]
    base, _, pattern = text.partition("~")
    if base in labels:
        return find_column(LABEL + text)
    if is_label(base) and (pattern or base == text):
        return label_column(base, pattern)
    column = _derived_column(text)
    if column is None:
        raise UnknownColumnError(f"there is no column {text!r}; {_advice(text, labels)}")
    return column


def _derived_column(text: str) -> Column | None:
    """Return the column that `text` derives from a column of the registry; None for other texts."""
    if text.startswith(PARAMETER) and len(text) > len(PARAMETER):
        return parameter_column(text.removeprefix(PARAMETER))
    base, _, pattern = text.partition("~")
    if pattern and _is_text(base):
        return _pattern_column(find_column(base), pattern)
    if levels := _levels(text):
        return _levels_column(BY_NAME[_PATH], levels)
    if _is_aggregate(text):
        base, _, name = text.partition(".")
        return aggregate_column(BY_NAME[base], canonical_name(name))
    return None


def _is_aggregate(text: str) -> bool:
    """Return whether `text` names an aggregate of a column that groups have: `time.p90`."""
    base, _, name = text.partition(".")
    column, aggregate = BY_NAME.get(base), find_aggregate(name)
    if column is None or aggregate is None:
        return False
    # `flops.sum` and `flops.mean` do not exist: a sum or a mean of ratios means nothing. The column
    # `flops` itself is the ratio of the group's sums.
    is_ratio = isinstance(column.of_groups, RatioOfSums)
    return column.of_groups == AGGREGATED or (is_ratio and not aggregate.adds_up)


def _is_text(text: str) -> bool:
    """Return whether `text` names a column of texts that patterns can search."""
    return BY_NAME[text].kind != "number" if text in BY_NAME else _levels(text) > 0


def _levels(text: str) -> int:
    """Return how many levels of a path a name such as `scope/2` keeps; 0 for other names."""
    found = re.fullmatch(rf"{_PATH}/(0*[1-9][0-9]{{0,8}})", text)
    return int(found[1]) if found else 0


def _advice(text: str, labels: Collection[str]) -> str:
    if not text:
        return NO_BLANKS
    if text.removeprefix("+") in BY_NAME:
        return f"+ is for --order-by; write {text[1:]}"
    parts = re.split(r"[,;:|\s]+", text)
    # Other tools have headings of several words that are columns here, such as `self time`.
    is_heading = bool(meant_column(text) or column_of_heading(text))
    if len(parts) > 1 and all(part in BY_NAME for part in parts) and not is_heading:
        names = ",".join(parts)
        return "name one column" if "," in text else f"separate columns by commas: {names}"
    likely = _likely_in_any_question(text, (*BY_NAME, *labels))
    all_columns = f"the columns are {listed(column.name for column in CATALOG)}"
    return missing_part(text) or likely or all_columns


def is_number(name: str) -> bool:
    """Return whether `name` is a column of numbers with a fixed name."""
    return name in BY_NAME and BY_NAME[name].kind == "number"


def column_of_heading(text: str) -> str:
    """Return the column with the heading `text`, such as `host time (s)`; empty if none has it.

    A heading has blanks for `_`, and for the point of `memory.p90`.
    """
    if len(text) > LONGEST_ADVISED:
        return ""
    name = plain_name(re.sub(r" \([A-Za-z/]+\)$", "", text))
    point = ".".join(name.rsplit("_", 1))
    return next((one for one in (name, point) if one in BY_NAME or _is_aggregate(one)), "")


def listed(names: Iterable[str]) -> str:
    """Return the names of columns, separated by commas, for a message. Long lists are cut."""
    every = tuple(names)
    if len(every) <= _MOST_LISTED:
        return ", ".join(every)
    more = len(every) - _FIRST_LISTED
    return f"{', '.join(every[:_FIRST_LISTED])} and {more} more (--columns help explains all)"


def likely_columns(text: str, known: Collection[str], as_text: Callable[[str], str] = str) -> str:
    """Return `did you mean COLUMN?` with one of the `known` columns; empty if no column is likely.

    For a word that stands for no column, such as `start`, return advice. `as_text` may add the
    option that a column needs.
    """
    return advice_on_absent_column(text) or did_you_mean([*map(as_text, _likely(text, known))])


def _likely_in_any_question(text: str, known: Collection[str]) -> str:
    """Return `likely_columns`, with `--compare` after each column that needs a baseline.

    If all likely columns need one, add columns that begin with `text`: `params` for `p`.
    """
    heading = column_of_heading(text)
    likely = [heading] if heading else _likely(text, known)
    if likely and all(map(_needs_base, likely)):
        others = (one for one in known if one.startswith(text) and not _needs_base(one))
        likely += [*others][:_MOST_OTHERS]
    return advice_on_absent_column(text) or did_you_mean([*map(with_need, likely)])


def _likely(text: str, known: Collection[str]) -> list[str]:
    without_unit = re.sub(_UNIT_OF_HEADING, "", text)
    name = without_unit if without_unit in known else text
    return likely_names(name, known, {plain_name(name): meant_column(name)})


def with_need(name: str) -> str:
    """Return the name of a column for a suggestion, with the option that the column needs."""
    return f"{name} (with --compare)" if _needs_base(name) else name


def _needs_base(name: str) -> bool:
    return name in BY_NAME and BY_NAME[name].needs_base


def missing_part(text: str) -> str:
    """Return advice on a key that lacks its pattern or levels: `name~`, `scope/`; else empty."""
    if text.endswith("~") and text[:-1] in BY_NAME:
        return f"write a pattern after ~, such as {text}conv"
    if text.startswith(f"{_PATH}/"):
        return f"write how many levels to keep, such as {_PATH}/2"
    return ""


def _pattern_column(column: Column, pattern: str) -> Column:
    compile_pattern(pattern)  # raises `PatternError` before any file is read
    return column._replace(
        name=f"{column.name}~{pattern}",
        meaning=f"the part of {column.name} that {pattern} finds",
        of_operators=PartOf(column.name, pattern),
        worked=f"what the pattern finds in {{{column.name}}}",
        # A part of a value is always a text, so the rules of the whole column do not apply.
        of_groups=None,
        kind="text",
        as_text=str,
        is_key=True,
        has_order=True,
    )


def _levels_column(column: Column, levels: int) -> Column:
    noun = "level" if levels == 1 else f"{levels} levels"
    return column._replace(
        name=f"{column.name}/{levels}",
        meaning=f"the first {noun} of {column.name}: {column.meaning}",
        of_operators=FirstOf(column.name, levels),
        worked=f"the first {noun} of {{{column.name}}}",
    )


def group_keys() -> tuple[str, ...]:
    """Return the names of the columns that operators can be grouped by."""
    return tuple(column.name for column in CATALOG if column.is_key)


DISTINGUISHING: Final = (*TELLING_APART, "input_dtype", FULL_NAME)
"""The columns that pictures and sentences use to tell operators with equal names apart."""


def optional_columns_of(columns: Iterable[Column]) -> frozenset[str]:
    """Return the optional columns of the profile that `columns` need."""
    return frozenset({column.optional for column in columns} - {""})


def all_optional_columns() -> frozenset[str]:
    """Return the optional columns of the profile that any column needs."""
    return optional_columns_of(CATALOG)


def column_of(kind: Kind, name: str) -> Column:
    """Return the column that `name` names. Raises `UnknownColumnError` if the rows lack it."""
    column = kind.find(name)
    kind.check_needs(column)
    if not kind.has(column):
        if column.is_key and kind.keys is not None:
            advice = "add it to --aggregate-by"
            raise UnknownColumnError(f"groups have no column {name!r}; {advice}")
        have = listed(kind.names())
        raise UnknownColumnError(f"{kind.noun} have no column {name!r}; they have {have}")
    return column


# A token is an escaped character, a character set such as [^(,], or any other character. A set
# that is never closed extends to the end of the text. Otherwise, each [ in the text would start
# another search for a closing bracket, and all searches together would take quadratic time.
_TOKEN: Final = r"\\.|\[\^?\]?(?:\\.?|[^\]\\])*(?:\]|\Z)|."


def split_names(text: str) -> tuple[str, ...]:
    """Split `text` at its commas and return the names between them.

    A comma that is escaped or in brackets belongs to a pattern: `type,name~^(l{1,2})` has two
    names, and `name~[(,],type` also has two.
    """
    names = [""]
    depth = 0  # how many brackets are open
    for token in re.findall(_TOKEN, text, re.DOTALL):
        if token == "," and not depth:
            names.append("")
        else:
            names[-1] += token
            # A bracket that closes nothing, as in `a),b`, is ignored.
            depth = max(0, depth + (token in "({") - (token in ")}"))
    return tuple(name.strip() for name in names)

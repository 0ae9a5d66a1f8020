"""Normalizes and checks the fields of a question."""

from __future__ import annotations

import re
from contextlib import suppress
from math import inf, isinf, isnan
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean, suggestion
from profile_analyze.advice.words import AGGREGATE_WORDS
from profile_analyze.columns.aggregates import (
    AGGREGATES,
    DEFAULT_AGGREGATE,
    canonical_name,
    find_aggregate,
)
from profile_analyze.columns.catalog import (
    CATALOG,
    NO_BLANKS,
    find_column,
    group_keys,
    likely_columns,
    missing_part,
    split_names,
)
from profile_analyze.columns.column import DEFAULT_ORDER, RUN_STATISTICS
from profile_analyze.columns.wording import machine_name
from profile_analyze.errors import PatternError, QueryError, UnknownColumnError
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import (
    LABEL,
    LABEL_NAME,
    LEVELS,
    SAMPLE_UNITS,
    SPLIT_KEYS,
    is_split_key,
)
from profile_analyze.query.conditions import TIME_TOLERANCE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from profile_analyze.columns.column import Column
    from profile_analyze.columns.kinds import RowKind
    from profile_analyze.query.question import Query

_COMPARISON_ORDER: Final = "absolute_difference"


def normalized_fields(arguments: Mapping[str, Any], keys: Mapping[str, Column]) -> dict[str, Any]:
    """Return the fields of a question, with defaults filled in.

    Fields that may have several values become tuples. `arguments` are the arguments of `Query`, and
    `keys` are the columns that `by` names.
    """
    order = arguments["order"]
    if order is None:
        order = _default_order(keys, compared=arguments["compared"])
    aggregates = _aggregates(arguments["aggregates"])
    labels = label_names(arguments["labels"])
    return {
        **arguments,
        **arrangement_fields(arguments["where"], order, arguments["top"]),
        "types": _texts("types", arguments["types"]),
        "by": tuple(keys),
        "aggregates": aggregates or ((DEFAULT_AGGREGATE,) if keys else ()),
        "having": _distinct(_texts("having", arguments["having"])),
        "split_by": _distinct(
            LABEL + name if name.partition("~")[0] in labels else name
            for name in _names("split_by", arguments["split_by"] or ())
        ),
        "labels": labels,
    }


def arrangement_fields(
    where: str | Iterable[str], order: str | Iterable[str], top: int
) -> dict[str, Any]:
    """Return the fields that choose rows and their order, which rows of every kind have."""
    return {
        "where": _distinct(_texts("where", where)),
        "order": _names("order", order),
        "top": _row_count(top),
    }


def _default_order(keys: Mapping[str, Column], *, compared: bool) -> tuple[str, ...]:
    if compared:
        return (_COMPARISON_ORDER,)
    # Groups by label are a trend, so they come in the order of the labels.
    return (*(f"+{name}" for name, column in keys.items() if column.is_label), DEFAULT_ORDER)


def label_names(value: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of labels. Raises `QueryError` if a label cannot have one of these names."""
    names = _distinct(_names("labels", value))
    for name in names:
        if not re.fullmatch(LABEL_NAME, name):
            raise QueryError(
                f"labels: {name!r} is not a name for a label; use letters, digits and _, with a "
                "letter first"
            )
        if not is_label_name(name):
            raise QueryError(
                f"labels: a label named {name!r} would hide the column {name}; choose another name"
            )
    return names


def is_label_name(name: str) -> bool:
    """Return whether a label may have this name, because no column has it."""
    return all(name not in (column.name, machine_name(column)) for column in CATALOG)


def group_key_columns(by: str | Iterable[str], kind: RowKind) -> dict[str, Column]:
    """Return the columns that `by` names, as a mapping from name to column.

    Raises `QueryError` if a column is not a group key.
    """
    columns = (_group_key_column(text, kind) for text in _names("by", by))
    return {column.name: column for column in columns}


def _group_key_column(text: str, kind: RowKind) -> Column:
    keys = (*group_keys(), *kind.labels)
    advice = ""
    if not text:
        raise QueryError(f"by: there is no group key ''; {NO_BLANKS}")
    try:
        column = kind.find(text)
        if column.is_key:
            kind.check_needs(column)
            return column
    except PatternError as error:
        raise PatternError(f"by: {error}") from None
    except UnknownColumnError:
        advice = missing_part(text) or _meant_part(text) or likely_columns(text, keys)
    # Not `repr`, which doubles the backslashes of a pattern.
    one_of = f"'{text}' is not one of {', '.join(keys)}, scope/N, param.NAME, name~REGEX"
    raise QueryError(f"by: '{text}' is not a group key; {advice}" if advice else f"by: {one_of}")


def _meant_part(text: str) -> str:
    r"""Return `did you mean name~r\d?` for a key such as `name=r\d`; empty for other keys."""
    match = re.fullmatch(r"(\w+)\s*[=~:]+\s*(.+)", text, re.DOTALL)
    if match is None or len(text) > LONGEST_ADVISED:
        return ""
    meant = f"{match[1]}~{match[2]}"
    with suppress(QueryError):
        if find_column(meant).is_key:
            return did_you_mean([meant])
    return ""


def _aggregates(value: str | Iterable[str]) -> tuple[str, ...]:
    names = _names("aggregates", value)
    for name in names:
        if find_aggregate(name) is None:
            one_of = f"{name!r} is not one of {', '.join(AGGREGATES)}, or a percentile such as p90"
            percentiles = [f"p{name}"] if find_aggregate(f"p{name}") else []
            advice = (
                _advice_on_key(name)
                or suggestion(name, AGGREGATES, AGGREGATE_WORDS)
                or did_you_mean(percentiles)
            )
            raise QueryError("; ".join(filter(None, (f"aggregates: {one_of}", advice))))
    return _distinct(map(canonical_name, names))


def _advice_on_key(name: str) -> str:
    """Return advice if `name` is a group key, not an aggregate; otherwise empty."""
    return f"{name} is a group key, for --aggregate-by" if name in group_keys() else ""


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _names(field: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """Return a tuple of names. A single text is split at its commas."""
    return split_names(value) if isinstance(value, str) else _texts(field, value)


def _texts(field: str, value: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    texts: tuple[str, ...] | None = None
    with suppress(TypeError):  # `value` is not iterable
        texts = tuple(value)
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise QueryError(f"{field}: {value!r} is not a text or several texts")
    return texts


def _row_count(value: int) -> int:
    try:
        rows = index(value)  # accepts NumPy's integers, and rejects 5.0
    except TypeError:
        raise QueryError(f"top: {value!r} is not a number of rows") from None
    if rows < 0:
        raise QueryError(f"top: {rows} rows cannot be shown; 0 shows all")
    return rows


def check_values(query: Query) -> None:
    """Raise `QueryError` if a field has the wrong type, or a value that makes no sense."""
    _check_types(query)
    _check_threshold(query.threshold)
    _check_choices(query)
    _check_time_range(query)


def _check_types(query: Query) -> None:
    # The fields are annotated, but a library user may pass values of any type.
    for field in ("name", "input_dtype"):
        value = getattr(query, field)
        if not isinstance(value, str | None):
            raise QueryError(f"{field}: {value!r} is not a text")
    if query.peaks is not None:
        # Imported here because few questions have peak rates.
        from profile_analyze.roofline.peaks import Peaks

        if not isinstance(query.peaks, Peaks):
            raise QueryError(f"peaks: {query.peaks!r} is not of type Peaks; parse_peaks makes one")
    for field in ("min_time_s", "max_time_s"):
        value = getattr(query, field)
        if isinstance(value, str):
            raise QueryError(
                f"{field}: {value!r} is a text, not a number of seconds; parse_time converts it"
            )
        if not isinstance(value, Real | None):
            raise QueryError(f"{field}: {value!r} is not a number of seconds")


def _check_threshold(threshold: Any) -> None:
    if not (isinstance(threshold, Real) and 0 <= float(threshold) < inf):
        raise QueryError(f"threshold: {threshold!r} is not a fraction such as 0.03")


def _check_choices(query: Query) -> None:
    choices = [
        ("measure", query.measure, tuple(MEASURES)),
        ("level", query.level, (None, *LEVELS)),
        ("run_statistic", query.run_statistic, RUN_STATISTICS),
        ("unit", query.unit, SAMPLE_UNITS),
        *(("split_by", key, SPLIT_KEYS) for key in query.split_by if not is_split_key(key)),
    ]
    for field, value, allowed in choices:
        if value not in allowed:
            choice = ", ".join(filter(None, allowed))  # without the None of `level`
            raise QueryError(f"{field}: {value!r} is not one of {choice}")
    for key in query.split_by:
        if key.startswith(LABEL):
            query.kind.check_needs(query.kind.find(key))  # raises `QueryError` for an unknown label
    if query.having and not query.grouped:
        raise QueryError(
            "having: there are no groups; group by something (--aggregate-by), or filter "
            "operators (--where)"
        )


def _check_time_range(query: Query) -> None:
    """Raise `QueryError` if no time can be within `min_time_s` and `max_time_s`."""
    low = query.min_time_s or 0.0
    high = inf if query.max_time_s is None else query.max_time_s
    if isnan(low) or isnan(high):
        raise QueryError("min_time_s and max_time_s cannot be NaN")
    if isinf(low) and low > 0:
        raise QueryError("min_time_s: nothing takes infinitely long")
    if high < -TIME_TOLERANCE_S:
        raise QueryError(f"max_time_s: {high:g} s: no time is negative")
    # Filters add the tolerance at both ends, so a minimum just above the maximum may still match.
    if low - TIME_TOLERANCE_S > high + TIME_TOLERANCE_S:
        raise QueryError(
            f"min_time_s: {low:g} s is more than the maximum, {high:g} s; nothing is between them"
        )

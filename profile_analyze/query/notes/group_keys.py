"""Findings on group keys that are N/A for operators, or put nearly all time in one group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import FirstOf, PartOf
from profile_analyze.model.categorical import Categorical, distinct
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.query.meant import Meant
from profile_analyze.query.notes.filters import renaming_of
from profile_analyze.query.time_shares import share_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.columns.column import Column
    from profile_analyze.model.operators import Operators
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

_NEARLY_ALL: Final = 0.95
"""If one group has a larger share of the time, grouping tells nearly nothing."""
_SCOPE: Final = "scope"


def group_key_findings(
    query: Query, operators: OperatorRows, selection: Selection
) -> Iterator[Finding]:
    """Yield findings on keys that are N/A for operators, or put nearly all time in one group."""
    of_parts = [key for key in query.by_columns if isinstance(key.of_operators, PartOf)]
    for key in of_parts:
        if not distinct(operators[key.name]):
            yield from _unmatched_key(key, operators)
    for key in query.by_columns:
        if key.name == _SCOPE or isinstance(key.of_operators, FirstOf):
            yield from _scopes(key.name, operators, selection)
    for key in of_parts:
        if distinct(operators[key.name]) and isinstance(rule := key.of_operators, PartOf):
            condition = f"{rule.column} !~ {rule.pattern}"
            yield from _group_of_unknown(operators, selection, key.name, condition)
    for key in of_parts:
        yield from _dominant_group(key.name, operators, selection)


def _unmatched_key(key: Column, operators: OperatorRows) -> Iterator[Finding]:
    """Yield a finding on a key such as name~REGEX whose pattern matches nothing."""
    rule = key.of_operators
    assert isinstance(rule, PartOf), "another key has no pattern"
    texts = list(map(find_column(rule.column).as_text, distinct(operators[rule.column])))
    if not texts:
        return
    meant = Meant.by_pattern(rule.pattern, texts, f"{rule.column}~")
    renaming = renaming_of(operators.profile, rule.column)
    lists_names = rule.column == "name" and not meant.meant and not renaming
    yield Finding.of(
        "unmatched-key",
        Kind.ANSWER,
        key=key.name,
        column=rule.column,
        **meant._asdict(),
        renaming=renaming,
        better=_better_key(operators.profile.operators) if lists_names else "",
    )


def _scopes(key: str, operators: OperatorRows, selection: Selection) -> Iterator[Finding]:
    """Yield a finding on a key of scopes if some or all operators have no scope."""
    if operators.profile.operators.scope.categories:
        yield from _group_of_unknown(operators, selection, key, "")
    else:
        better = _better_key(operators.profile.operators)
        yield Finding.of("no-scopes", Kind.ANSWER, key=key, better=better)


def _group_of_unknown(
    operators: OperatorRows, selection: Selection, key: str, condition: str
) -> Iterator[Finding]:
    """Yield a finding on the operators whose value of `key` is N/A; none without such operators.

    `condition` selects them; it is empty for a key of scopes.
    """
    values: Categorical[Any] = operators[key]
    unknown = np.zeros(len(values.codes), np.bool_)
    unknown[selection.operators] = values.codes[selection.operators] < 0
    if count := int(unknown.sum()):
        share = share_of(operators, unknown)
        yield from on_operators(
            *("group-of-unknown", Kind.INCOMPLETE), count, share, key=key, condition=condition
        )


def _dominant_group(key: str, operators: OperatorRows, selection: Selection) -> Iterator[Finding]:
    """Yield a finding on a key such as name~REGEX if one of its groups has nearly all the time."""
    parts: Categorical[str] = operators[key]
    known = np.zeros(len(operators.profile), np.bool_)
    known[selection.operators] = parts.codes[selection.operators] >= 0
    if not known.any():
        return
    # There may be as many groups as operators, so only the largest group's share is computed.
    sums_s = np.bincount(parts.codes[known], np.nan_to_num(operators["time"][known]))
    largest = int(np.argmax(sums_s))
    share = share_of(operators, known & (parts.codes == largest))
    if share > _NEARLY_ALL:
        yield Finding.of(
            "dominant-group",
            Kind.CONTEXT,
            key=key,
            group=parts.categories[largest],
            part=share,
            better=_better_key(operators.profile.operators),
        )


def _better_key(operators: Operators) -> str:
    """Return a key that groups layers better than names do; empty without such a key."""
    if operators.scope.categories:
        return _SCOPE
    shapes = operators.optional.get("out_shapes")
    is_known = isinstance(shapes, Categorical) and bool(shapes.categories)
    has_shapes = is_known or operators.state("out_shapes") == "not loaded"
    return "out_shapes" if has_shapes else ""

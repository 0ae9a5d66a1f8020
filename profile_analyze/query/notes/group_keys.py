"""Notes on group keys that are N/A for some operators, or put nearly all time in one group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import FirstOf, PartOf
from profile_analyze.model.categorical import Categorical, distinct
from profile_analyze.model.notes import NO_SCOPE, Importance, Note, TextNote, operators_and_share
from profile_analyze.query.notes.unmatched import (
    advice_on_pattern,
    examples_of,
    renaming_advice,
)
from profile_analyze.query.time_shares import share_of
from profile_analyze.units import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.operators import Operators
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

_NEARLY_ALL: Final = 0.95
"""If one group has a larger share of the time, grouping tells nearly nothing."""
_SCOPE: Final = "scope"
_NO_SCOPE: Final = (f"{NO_SCOPE[0]}: its group is N/A", f"{NO_SCOPE[1]}: their group is N/A")


def group_key_notes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Note]:
    """Yield a note on each key that is N/A for operators, or puts nearly all time in one group."""
    yield from _unmatched_key_notes(query, operators)
    yield from _scope_notes(query, operators, selection)
    yield from _partly_matched_key_notes(query, operators, selection)
    yield from _dominant_part_notes(query, operators, selection)


def _unmatched_key_notes(query: Query, operators: OperatorRows) -> Iterator[Note]:
    """Yield a note on each key such as name~REGEX whose pattern matches nothing."""
    for key in query.by_columns:
        rule = key.of_operators
        if isinstance(rule, PartOf) and not distinct(operators[key.name]):
            as_text = find_column(rule.column).as_text
            texts = list(map(as_text, distinct(operators[rule.column])))
            if texts:
                before = f"{rule.column}~"
                advice = advice_on_pattern(rule.pattern, texts, before)
                if renaming := renaming_advice(operators.profile, rule.column):
                    advice += renaming
                elif rule.column == "name" and advice == examples_of(texts):
                    # The advice suggests no other pattern. It only lists names.
                    better = _other_groups(operators.profile.operators)
                    advice = "; ".join(filter(None, (advice, better)))
                yield TextNote(
                    f"{key.name}: the pattern matches no {rule.column}; {advice}",
                    Importance.ANSWER,
                )


def _scope_notes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Note]:
    """Yield a note on each key of scopes if some or all operators have no scope."""
    for key in query.by_columns:
        if key.name != _SCOPE and not isinstance(key.of_operators, FirstOf):
            continue
        if not operators.profile.operators.scope.categories:
            advice = _other_groups(operators.profile.operators)
            yield TextNote(
                f"{key.name}: the profile has no scopes, so all operators are in one group; "
                f"{advice or '--aggregate-by type groups by type'}",
                Importance.ANSWER,
            )
        else:
            advice = f"--aggregate-by {key.name},type groups operators without a scope by type"
            yield from _note_on_group_of_unknown(operators, selection, key.name, _NO_SCOPE, advice)


def _partly_matched_key_notes(
    query: Query, operators: OperatorRows, selection: Selection
) -> Iterator[Note]:
    """Yield a note on each key such as name~REGEX whose pattern does not match some operators."""
    for key in query.by_columns:
        rule = key.of_operators
        if isinstance(rule, PartOf) and distinct(operators[key.name]):
            # A quote inside would end the quotes around the condition.
            condition = f"{rule.column} !~ {rule.pattern}"
            advice = "" if "'" in condition else f"--where '{condition}' shows them"
            reasons = (
                f"does not match {key.name}: its group is N/A",
                f"do not match {key.name}: their group is N/A",
            )
            yield from _note_on_group_of_unknown(operators, selection, key.name, reasons, advice)


def _note_on_group_of_unknown(
    operators: OperatorRows, selection: Selection, key: str, reasons: tuple[str, str], advice: str
) -> Iterator[Note]:
    """Yield a note on the operators whose value of `key` is N/A; no note without such operators.

    `reasons` has the words for one operator, and the words for several operators.
    """
    values: Categorical[Any] = operators[key]
    unknown = np.zeros(len(values.codes), np.bool_)
    unknown[selection.operators] = values.codes[selection.operators] < 0
    if count := int(unknown.sum()):
        text = f"{operators_and_share(count)} {reasons[0] if count == 1 else reasons[1]}"
        yield TextNote(
            "; ".join(filter(None, (text, advice))),
            Importance.INCOMPLETE,
            share_of(operators, unknown),
        )


def _dominant_part_notes(
    query: Query, operators: OperatorRows, selection: Selection
) -> Iterator[Note]:
    """Yield a note on each key such as name~REGEX if one of its groups has nearly all the time."""
    selected = np.zeros(len(operators.profile), np.bool_)
    selected[selection.operators] = True
    for key in query.by_columns:
        if not isinstance(key.of_operators, PartOf):
            continue
        parts: Categorical[str] = operators[key.name]
        known = selected & (parts.codes >= 0)
        if not known.any():
            continue
        # There may be as many groups as operators, so only the largest group's share is computed.
        sums_s = np.bincount(parts.codes[known], np.nan_to_num(operators["time"][known]))
        largest = int(np.argmax(sums_s))
        share = share_of(operators, known & (parts.codes == largest))
        if share > _NEARLY_ALL:
            advice = _other_groups(operators.profile.operators)
            yield TextNote(
                f"{key.name}: '{parts.categories[largest]}' alone has {percent(share)} of the "
                "time: perhaps the names do not show the layer; -t 0 without groups shows each "
                f"operator{f', {advice}' if advice else ''}",
                Importance.CONTEXT,
            )


def _other_groups(operators: Operators) -> str:
    """Return advice on a key that groups layers better than names do; empty without such a key."""
    if operators.scope.categories:
        return "--aggregate-by scope groups by module"
    shapes = operators.optional.get("out_shapes")
    is_known = isinstance(shapes, Categorical) and bool(shapes.categories)
    has_shapes = is_known or operators.state("out_shapes") == "not loaded"
    return "--aggregate-by out_shapes groups by stage" if has_shapes else ""

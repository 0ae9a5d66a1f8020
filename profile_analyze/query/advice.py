"""The notes on an answer: what a person should know beside its numbers."""

from __future__ import annotations

from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.errors import PatternError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.measures import HOST_TIME, MEASURES, TIME
from profile_analyze.model.terms import ABSENT, DEVICE, HOST, RUN_KEYS
from profile_analyze.query.catalog import PARAMETER
from profile_analyze.query.patterns import matches
from profile_analyze.units import counted, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import GroupRows, OperatorRows

_NOT_WORTH_SAYING = (TIME.name, HOST_TIME.name)
"""Measures whose shares need no explanation."""

_ADVICE_LIMIT_S = 1.0
"""How many seconds a pattern may take that is tried only to write a note."""


def notes_on(
    query: Query, operators: OperatorRows, rows: OperatorRows | GroupRows, selection: Selection
) -> tuple[str, ...]:
    """The notes on the answer to `query`, a sentence each."""
    profile = operators.profile
    return (
        *_on_runs(query, profile),
        *_on_types(query, profile),
        *_on_dtypes(query, profile, selection),
        *on_unjudged(selection.unjudged, "operator"),
        *_on_words(query, operators),
        *_on_parameters(query, profile),
        *_on_an_empty_answer(query, profile, selection),
        *_on_wait_times(query, operators, selection),
        *_on_the_roofline(query, operators),
        *_on_the_order(query, rows, selection),
    )


def _on_runs(query: Query, profile: Profile) -> Iterator[str]:
    keys = [key for key in query.split_by if key in RUN_KEYS]
    if not keys:
        return
    told_apart = len(set(zip(*(profile.split_by[key].codes.tolist() for key in keys), strict=True)))
    if told_apart > 1:
        yield f"runs are kept apart: shares are of the time of all {told_apart} together"


def _on_types(query: Query, profile: Profile) -> Iterator[str]:
    for name in query.types:
        if name not in profile.operators.type.categories:
            yield f"type {name}: the profile has no such operator; {_near_types(name, profile)}"


def _near_types(name: str, profile: Profile) -> str:
    near = _near(name, profile.operators.type.categories)
    if near:
        return f"near: {', '.join(near)}"
    counts = np.bincount(profile.operators.type.codes[profile.operators.type.codes >= 0])
    common = [
        profile.operators.type.categories[code] for code in np.argsort(-counts, kind="stable")[:8]
    ]
    return f"the most frequent are {', '.join(common)}" if common else "it has none at all"


def _near(name: str, words: Sequence[str]) -> list[str]:
    """The words that contain `name` whatever its case, or else those spelt nearly like it."""
    from difflib import get_close_matches

    inside = [word for word in words if name.lower() in word.lower()] if name else []
    return inside[:8] or get_close_matches(name, words, n=3)


def _on_dtypes(query: Query, profile: Profile, selection: Selection) -> Iterator[str]:
    if not query.input_dtype:
        return
    dtypes = profile.operators.categorical("input_dtypes")
    known = sorted({dtype for word in dtypes.categories for dtype in word if dtype})
    if known and query.input_dtype not in known:
        has = ", ".join(known)
        yield f"input dtype {query.input_dtype}: no input is known to be of it; there are {has}"
    if selection.undecided:
        yield (
            f"input dtype {query.input_dtype}: left out {counted(selection.undecided, 'operator')} "
            "with inputs whose dtype the profile does not say"
        )


def on_unjudged(unjudged: Iterable[tuple[Condition, int]], what: str) -> Iterator[str]:
    """A note on each condition that could not be judged for some rows, which are called `what`."""
    for condition, count in unjudged:
        if count:
            yield (
                f"{condition.text}: left out {counted(count, what)} where that is "
                f"{condition.not_comparable}"
            )


def on_groups(formed: int, left: int) -> Iterator[str]:
    """A note if conditions leave no group."""
    if formed and not left:
        yield f"no group matches, of {formed}"


def _on_words(query: Query, operators: OperatorRows) -> Iterator[str]:
    """A note on each text in a condition that no operator has, with the nearest texts."""
    for condition in query.conditions:
        column = condition.column
        if condition.operator != "==" or column.kind == "number":
            continue
        values = operators[column.name]
        distinct = values.categories if isinstance(values, Categorical) else set(values.tolist())
        if distinct and not any(condition.holds_for(distinct)):
            words = list(map(column.as_text, distinct))
            near = ", ".join(_near(condition.value, words)) or "nothing is near"
            yield f"{condition.text}: no operator has that; near: {near}"


def _on_parameters(query: Query, profile: Profile) -> Iterator[str]:
    """A note on each parameter in the question that no operator has."""
    names = (column.name for column in query.used)
    asked = dict.fromkeys(name for name in names if name.startswith(PARAMETER))
    if not asked:
        return
    parameters = profile.operators.categorical("parameters")
    known = {name for word in parameters.categories for name, _ in word}
    for name in asked:
        if name.removeprefix(PARAMETER) not in known:
            yield f"{name}: no operator has it; there are {', '.join(sorted(known)) or 'none'}"


def _on_an_empty_answer(query: Query, profile: Profile, selection: Selection) -> Iterator[str]:
    side = MEASURES[query.measure].side
    if not selection.looked_at:
        other: Side = HOST if side == DEVICE else DEVICE
        others = int(profile.recorded(other).sum())
        have = "has" if others == 1 else "have"
        but = f"; {others} {have} one on the {other}" if others else ""
        yield f"no operator has a {side} time{but}"
    elif not len(selection.operators):
        without = selection.not_recorded
        but = f"; {counted(without, 'operator')} without one would" if without else ""
        timed = "" if profile.origin.times == ABSENT else f" that have a {side} time"
        yield f"no operator matches, of {selection.looked_at}{timed}{but}"
        if query.name:
            yield from _on_the_pattern(query.name, profile)


def _on_the_pattern(pattern: str, profile: Profile) -> Iterator[str]:
    """A note on what the pattern finds anywhere in a name, or if case is ignored."""
    anywhere = f".*(?:{pattern})" if "|" in pattern else f".*{pattern}"
    rule = f"the pattern {pattern} is matched from the start of a name on, and capitals count"
    names = profile.operators.name.categories
    with suppress(PatternError):  # no advice on one that is slow, or cannot be made wider so
        if any(matches(pattern, names, limit_s=_ADVICE_LIMIT_S)):
            return
        for wider in (anywhere, f"(?i){anywhere}"):
            found = sum(matches(wider, names, limit_s=_ADVICE_LIMIT_S))
            if found:
                yield f"{rule}; {wider} matches {counted(found, 'name')}"
                return
        yield f"{rule}; nor does {anywhere} match a name"


def _on_wait_times(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[str]:
    if (
        query.measure not in _NOT_WORTH_SAYING
        and len(selection.operators)
        and not isnan(operators.total_s)
    ):
        total = seconds(operators.total_s)
        yield f"shares are of the total {MEASURES[query.measure].title}, {total} s"


def _on_the_roofline(query: Query, operators: OperatorRows) -> Iterator[str]:
    if query.peaks:
        from profile_analyze.query.roof_notes import roof_notes  # few questions have peaks

        yield from roof_notes(operators)


def _on_the_order(
    query: Query, rows: OperatorRows | GroupRows, selection: Selection
) -> Iterator[str]:
    is_static = rows.profile.origin.times == ABSENT
    if len(selection.operators) < 2 or (query.has_default_order and is_static):
        return
    for order in query.parsed_order:
        values = rows[order.column.name]
        unknown = values.codes < 0 if isinstance(values, Categorical) else np.isnan(values)
        if unknown.all():
            yield f"{order.column.name} is N/A everywhere, and so orders nothing"

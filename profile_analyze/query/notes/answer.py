"""The notes on an answer: what a person should know to read its numbers correctly."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.advice.names import did_you_mean, similar_texts
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.parameter_columns import PARAMETER
from profile_analyze.columns.wording import heading
from profile_analyze.model.categorical import Categorical, distinct
from profile_analyze.model.measures import HOST_TIME, MEASURES, TIME
from profile_analyze.model.notes import Importance, Note, TextNote, operators_and_share
from profile_analyze.model.terms import ABSENT, HOST, LABEL, LEVELS, is_run_key
from profile_analyze.query.notes.group_keys import group_key_notes
from profile_analyze.query.notes.missing_times import advice_on_missing_times, untimed_clause
from profile_analyze.query.notes.row_sums import row_sum_notes
from profile_analyze.query.notes.shape_sets import shape_set_notes
from profile_analyze.query.notes.unmatched import (
    meant_pattern,
    name_pattern_notes,
    number_notes,
    time_limits,
    unmatched_value_notes,
    wildcard_notes,
)
from profile_analyze.query.time_shares import share_of
from profile_analyze.units import counted, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.filters import Selection, Unjudged
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows

_OBVIOUS_MEASURES: Final = (TIME.name, HOST_TIME.name)
"""Measures whose shares need no explanation."""

_MOST: Final = 0.5
"""If operators with an unknown value take a larger share of the time, ordering by this value
misleads."""
_MOST_SUGGESTIONS: Final = 8
"""The largest number of names in one suggestion."""


def notes_on(
    operators: OperatorRows,
    rows: OperatorRows | GroupRows,
    shown: ShownRows,
    selection: Selection,
) -> tuple[Note, ...]:
    """Return the notes on the answer to a question, one sentence each."""
    query = operators.query
    profile = operators.profile
    on_shares = tuple(shape_set_notes(operators, rows, shown))
    return (
        *_run_notes(query, profile),
        *(on_shares or row_sum_notes(operators, rows, selection)),
        *_type_notes(query, profile),
        *_dtype_notes(query, operators, selection),
        *_unjudged_notes(operators, selection.unjudged),
        *(wildcard_notes(query) if len(selection.operators) else ()),
        *unmatched_value_notes(query, operators),
        *group_key_notes(query, operators, selection),
        *number_notes(query.conditions, operators, selection.candidates),
        *_parameter_notes(query, profile),
        *_empty_answer_notes(query, profile, selection),
        *number_notes(time_limits(query), operators, operators.recorded),
        *_measure_notes(query, operators, selection),
        *_roofline_notes(query, operators, shown),
        *_order_notes(query, operators, rows, selection),
    )


def _run_notes(query: Query, profile: Profile) -> Iterator[Note]:
    keys = [key for key in query.split_by if is_run_key(key)]
    if not keys:
        return
    parts = len(set(zip(*(profile.split_by[key].codes.tolist() for key in keys), strict=True)))
    labels = [heading(find_column(key)) for key in keys if key.startswith(LABEL)]
    if parts > 1 and labels:
        split_by = " and ".join(labels)
        yield TextNote(
            f"rows are split by {split_by}: medians and shares are over the runs with the same "
            f"{split_by}",
            Importance.CONTEXT,
        )
    elif parts > 1:
        # `Query` adds `file` and `step` to `run`. The note does not mention them: each run has one
        # file and one step, so they split rows no further.
        named = ["run"] if "run" in keys else keys
        noun = named[0] if len(named) == 1 else "combination"
        yield TextNote(
            f"rows are split by {' and '.join(named)}: shares are relative to the total of all "
            f"{parts} {noun}s",
            Importance.CONTEXT,
        )


def _type_notes(query: Query, profile: Profile) -> Iterator[Note]:
    known = distinct(profile.operators.type) if query.types else []
    for name in query.types:
        if name in known:
            continue
        if level := _level_with_type(name, profile):
            text = f"no row of level {profile.level} has it; it is a type at --level {level}"
        else:
            text = f"the profile has no such operator; {_type_suggestion(name, known, profile)}"
        yield TextNote(f"type {name}: {text}", Importance.ANSWER)


def _level_with_type(name: str, profile: Profile) -> str:
    """Return a level that has rows of a type.

    Empty if no level has them, or if `profile` has the rows of one level only.
    """
    if profile.nested is None:
        return ""
    operators = profile.nested.operators
    has_type = operators.type.where(one == name for one in operators.type.categories)
    levels = distinct(operators.level.take(np.flatnonzero(has_type)))
    return next((level for level in LEVELS if level in levels), "")


def _type_suggestion(name: str, known: Sequence[str], profile: Profile) -> str:
    """Return what to write instead of an unknown type. `known` are the types at this level."""
    if "," in name:
        return "repeat --type for each type"
    if pattern := meant_pattern(name, known):
        condition = f"--where 'type ~ {pattern}'"
        return f"--type takes a whole name; {did_you_mean([condition])}"
    near = similar_texts(name, known)
    if near:
        return did_you_mean(near)
    others = distinct(profile.nested.operators.type) if profile.nested else ()
    for one in similar_texts(name, others):
        if level := _level_with_type(one, profile):
            return f"{one} is a type at --level {level}"
    types = profile.operators.type
    counts = np.bincount(types.codes[types.codes >= 0])
    most_frequent = np.argsort(-counts, kind="stable")[:_MOST_SUGGESTIONS]
    common = [types.categories[code] for code in most_frequent if counts[code]]
    return f"the most frequent are {', '.join(common)}" if common else "no operator has a type"


def _dtype_notes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Note]:
    if not query.input_dtype:
        return
    dtypes = operators.profile.operators.categorical("input_dtypes")
    known = sorted({dtype for inputs in dtypes.categories for dtype in inputs if dtype})
    if known and query.input_dtype not in known:
        meant = [one for one in known if _same_dtype(one, query.input_dtype)]
        advice = did_you_mean(meant) or f"the known dtypes are {', '.join(known)}"
        yield TextNote(
            f"input dtype {query.input_dtype}: no input is known to have it; {advice}"
            f"{_advice_on_rate(query)}",
            Importance.ANSWER,
        )
        if meant:  # a misspelt dtype says nothing about the inputs of unknown dtype
            return
    left_out = selection.unknown_dtype
    if left_out.any():
        yield TextNote(
            f"input dtype {query.input_dtype}: left out {operators_and_share(left_out.sum())} with "
            "an input of unknown dtype",
            Importance.INCOMPLETE,
            share_of(operators, left_out),
        )


def _advice_on_rate(query: Query) -> str:
    """Return how to choose the peak rate of a dtype; empty if the user did not mean a rate."""
    dtype = (query.input_dtype or "").lower()
    if query.peaks is None or dtype not in dict(query.peaks.flops):
        return ""
    return f"; {query.peaks.with_rate_of(dtype)} chooses the peak rate of {dtype}"


def _same_dtype(one: str, other: str) -> bool:
    """Whether two names of dtypes have the same first letter and number, such as fp32, Float32."""
    first, second = (re.findall(r"^[a-z]|\d+", name.lower()) for name in (one, other))
    return first == second


def _unjudged_notes(operators: OperatorRows, unjudged: Unjudged) -> Iterator[Note]:
    """Yield a note on each condition whose column is N/A for some operators."""
    for condition, left_out in unjudged:
        if left_out.any():
            is_all = bool(left_out[operators.recorded].all())
            yield TextNote(
                f"{condition.text}: left out {operators_and_share(left_out.sum())} where the value "
                f"is {condition.unknown_noun}",
                Importance.ANSWER if is_all else Importance.INCOMPLETE,
                share_of(operators, left_out),
            )


def unjudged_notes(unjudged: Unjudged, noun: str) -> Iterator[Note]:
    """Yield a note on each condition whose column is N/A for some rows, such as groups."""
    for condition, left_out in unjudged:
        if left_out.any():
            yield TextNote(
                f"{condition.text}: left out {counted(left_out.sum(), noun)} where the value is "
                f"{condition.unknown_noun}",
                Importance.ANSWER if left_out.all() else Importance.INCOMPLETE,
            )


def group_notes(rows: GroupRows, matching: int) -> Iterator[Note]:
    """Yield notes on conditions that filter groups. `matching` is how many groups meet them all."""
    groups = len(rows.sizes)
    yield from number_notes(rows.query.group_conditions, rows, np.ones(groups, np.bool_))
    yield from none_matches_notes(groups, matching, "group")


def none_matches_notes(count: int, matching: int, noun: str) -> Iterator[Note]:
    """Yield a note if there are rows, but none of them meets all conditions."""
    if count and not matching:
        yield TextNote(_none_matches(count, noun), Importance.ANSWER)


def _parameter_notes(query: Query, profile: Profile) -> Iterator[Note]:
    """Yield a note on each parameter in the question that no operator has."""
    names = (column.name for column in query.used)
    asked = dict.fromkeys(name for name in names if name.startswith(PARAMETER))
    if not asked:
        return
    parameters = profile.operators.categorical("parameters")
    known = {name for of_operator in parameters.categories for name, _ in of_operator}
    for name in asked:
        if name.removeprefix(PARAMETER) not in known:
            text = f"{name}: the profile has no parameters of operators"
            if known:
                text = f"{name}: no operator has it; the parameters are {', '.join(sorted(known))}"
            yield TextNote(text, Importance.ANSWER)


def _empty_answer_notes(query: Query, profile: Profile, selection: Selection) -> Iterator[Note]:
    side = MEASURES[query.measure].side
    # An answer is empty either because the profile has no times on this side, or because no
    # operator passes the filters.
    if not selection.recorded:
        advice = advice_on_missing_times(profile, side)
        yield TextNote(f"no operator has a {side} time; {advice}", Importance.ANSWER)
    elif not len(selection.operators):
        rows = selection.not_recorded
        but = f"; {untimed_clause(profile, rows)}" if len(rows) else ""
        timed = "" if profile.origin.times == ABSENT else f" with a {side} time"
        none_matches = _none_matches(selection.recorded, "operator", timed)
        yield TextNote(f"{none_matches}{but}", Importance.ANSWER)
        if query.name:
            yield from name_pattern_notes(query.name, profile)


def _none_matches(count: int, noun: str, which: str = "") -> str:
    """Return a text that says that none of `count` rows passes the filters."""
    if count == 1:
        return f"the only {noun}{which} does not match"
    return f"none of {counted(count, noun)}{which} matches"


def _measure_notes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Note]:
    if query.measure in _OBVIOUS_MEASURES or not len(selection.operators):
        return
    measure = MEASURES[query.measure]
    if not isnan(operators.total_s):
        total = short_time(operators.total_s)
        yield TextNote(
            f"shares are relative to the total {measure.title}, {total}", Importance.CONTEXT
        )
    elif measure.field == "first_kernel":
        yield TextNote(
            f"no operator has a {measure.title}: the profile does not say when the first kernel of "
            "an operator started; --top-end-key end shows the time to the end of each operator",
            Importance.ANSWER,
        )


def _roofline_notes(query: Query, operators: OperatorRows, shown: ShownRows) -> Iterator[Note]:
    if query.peaks:
        # Imported here because few questions have peak rates.
        from profile_analyze.query.notes.roofline import roofline_findings

        yield from roofline_findings(operators, shown)


def _order_notes(
    query: Query,
    operators: OperatorRows,
    rows: OperatorRows | GroupRows,
    selection: Selection,
) -> Iterator[Note]:
    # One row needs no order. If the profile has no times, the function `run` replaces the default
    # order, so no note is needed.
    is_static = rows.profile.origin.times == ABSENT
    if len(selection.operators) < 2 or (query.has_default_order and is_static):
        return
    if isnan(operators.total_s) and MEASURES[query.measure].field == "first_kernel":
        return  # another note says that there are no times to order by
    for order in query.parsed_order:
        values = rows[order.column.name]
        unknown = values.codes < 0 if isinstance(values, Categorical) else np.isnan(values)
        if unknown.all() and query.has_default_order and query.compared:
            return  # another note says which side has no times to compare
        if unknown.all():
            advice = "" if np.isnan(rows["time"]).all() else "; --order-by time ranks them"
            if is_static:
                advice = "; the file has no times, so leave out --order-by to rank by work"
            of_host = " with host times" if MEASURES[query.measure].side == HOST else ""
            yield TextNote(
                f"{order.column.name} is N/A in all rows{of_host}, so ordering by it has no "
                f"effect{advice}",
                _importance_of_order(order.column),
            )
        elif not query.grouped:
            yield from _unranked_notes(order.column, operators, selection, unknown)


def _importance_of_order(column: Column) -> Importance:
    """Return how important it is that `column`, which orders rows, is N/A.

    For a column of the roofline, another note says why it is N/A, and what to do.
    """
    return Importance.CONTEXT if column.needs_peaks else Importance.ANSWER


def _unranked_notes(
    column: Column, operators: OperatorRows, selection: Selection, unknown: NDArray[np.bool_]
) -> Iterator[Note]:
    """Yield a note if most of the time is in rows that an order by `column` puts last."""
    left_out = np.zeros_like(unknown)
    left_out[selection.operators] = unknown[selection.operators]
    share = share_of(operators, left_out)
    if share > _MOST:
        yield TextNote(
            f"{column.name} is N/A for {operators_and_share(left_out.sum())}; rows with N/A come "
            "last; --order-by time ranks them, too",
            _importance_of_order(column),
            share,
        )

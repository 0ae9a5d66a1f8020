"""Selects the operators that a question is about.

A filter passes an operator, rejects it, or cannot judge it because a value is unknown. A question
keeps only the operators that pass all filters.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.columns.column import AggregateOf
from profile_analyze.columns.patterns import matches
from profile_analyze.model.categorical import Categorical
from profile_analyze.query.conditions import TIME_TOLERANCE_S

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.columns.rows import ColumnValues
    from profile_analyze.model.operators import Dtypes
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

    Mask: TypeAlias = NDArray[np.bool_]
    Unjudged: TypeAlias = tuple[tuple[Condition, Mask], ...]


class Selection(NamedTuple):
    """The operators that passed all filters."""

    operators: NDArray[np.int64]
    """Shape (matched,): the rows of these operators in the profile, in ascending order."""
    candidates: Mask
    """Shape (operators,): the operators with executions on the side (device or host) of the
    measure, or with a value in a column without a side that orders or filters the rows."""
    recorded: int
    """How many operators have executions on the side (device or host) of the measure. In a profile
    without times, all operators count."""
    not_recorded: NDArray[np.int64]
    """The rows of operators that pass all filters but have no executions on this side."""
    unknown_dtype: Mask
    """Shape (operators,): which operators the filter by input dtype cannot judge. Operators that
    fail the filter by type, by name or by time are left out."""
    unjudged: Unjudged
    """For each condition, a mask of the operators that it cannot judge, shape (operators,). Only
    operators that pass all other filters and all earlier conditions count."""


class EvaluatedCondition(NamedTuple):
    """The result of applying a condition to rows. Both masks have shape (rows,)."""

    condition: Condition
    holds: Mask
    unknown: Mask
    """Whether the value is N/A, or a text that cannot be compared with a number."""


def evaluate(conditions: Iterable[Condition], rows: ColumnValues) -> list[EvaluatedCondition]:
    """Apply each condition to all rows."""
    return [_evaluate(condition, rows) for condition in conditions]


def _evaluate(condition: Condition, rows: ColumnValues) -> EvaluatedCondition:
    values = rows[condition.column.name]
    if isinstance(values, Categorical):
        # Compare each category once, not each row: 94,000 rows may have just 20 types.
        holds = values.where(condition.holds_for(values.categories))
        unknown = values.codes < 0
        if condition.compares_numbers:
            unknown |= values.where(isinstance(one, str) for one in values.categories)
        return EvaluatedCondition(condition, holds, unknown)
    unknown = np.isnan(values)
    if isnan(condition.bound):  # the condition compares only texts
        holds = np.fromiter(condition.holds_for(values.tolist()), np.bool_, len(values))
    else:
        holds = condition.holds_for_numbers(values)
    return EvaluatedCondition(condition, holds & ~unknown, unknown)


def select(query: Query, rows: OperatorRows) -> Selection:
    """Return the operators that pass all filters of `query`.

    Raises `QueryError` if a filter needs a column that was not loaded.
    """
    passed, unknown_dtype = filter_by_type_name_and_dtype(query, rows.profile)
    recorded = rows.recorded
    candidates = recorded | _have_values_without_side(query, rows)
    in_range = _in_time_range(query, rows["time"])
    if query.compared:  # a time in the range on one side is enough
        in_range |= _in_time_range(query, rows["base"])
    evaluated = evaluate(query.conditions, rows)
    selected, unjudged = meeting_all(evaluated, passed & in_range & candidates)
    # A note is about the operators that match the filters but did not run on this side.
    not_recorded, _ = meeting_all(evaluated, passed & in_range & ~candidates)
    return Selection(
        operators=np.flatnonzero(selected),
        candidates=candidates,
        recorded=int(recorded.sum()),
        not_recorded=np.flatnonzero(not_recorded),
        unknown_dtype=unknown_dtype & in_range & recorded,
        unjudged=unjudged,
    )


def meeting_all(evaluated: Iterable[EvaluatedCondition], candidates: Mask) -> tuple[Mask, Unjudged]:
    """Return a mask of the candidates that meet all conditions, and `Selection.unjudged`.

    `candidates` and the mask have shape (rows,).
    """
    unjudged = []
    for condition, holds, unknown in evaluated:
        unjudged.append((condition, candidates & unknown))
        candidates = candidates & holds
    return candidates, tuple(unjudged)


def filter_by_type_name_and_dtype(query: Query, profile: Profile) -> tuple[Mask, Mask]:
    """Return two masks of shape (operators,): which operators pass, and which cannot be judged.

    An operator cannot be judged if one of its input dtypes is unknown, and no known input dtype
    matches. Operators whose type or name does not match are rejected.
    """
    passed = np.ones(len(profile), np.bool_)
    if query.types:
        types = profile.operators.type
        passed &= types.where(one in query.types for one in types.categories)
    if query.name:
        names = profile.operators.name
        passed &= names.where(matches(query.name, names.categories))
    if not query.input_dtype:
        return passed, np.zeros(len(profile), np.bool_)
    dtypes: Categorical[Dtypes] = profile.operators.categorical("input_dtypes")
    has_dtype = dtypes.where(query.input_dtype in inputs for inputs in dtypes.categories)
    has_unknown = dtypes.where(None in inputs for inputs in dtypes.categories)
    return passed & has_dtype, passed & ~has_dtype & has_unknown


def _have_values_without_side(query: Query, rows: OperatorRows) -> Mask:
    """Return which operators have a value other than 0 in a column without a side.

    Only columns that order or filter the rows count. The largest allocation, for example, may be of
    an operator that launches no kernel.
    """
    result = np.zeros(len(rows.sizes), np.bool_)
    columns = [(column.of_groups, column.name) for column in query.used if not column.has_side]
    for rule, name in columns:
        values = rows[rule.column if isinstance(rule, AggregateOf) else name]
        result |= ~np.isnan(values) & (values != 0)
    return result


def _in_time_range(query: Query, time: NDArray[np.float64]) -> Mask:
    passed = np.ones(len(time), np.bool_)
    if query.min_time_s is not None:
        passed &= time >= query.min_time_s - TIME_TOLERANCE_S
    if query.max_time_s is not None:
        passed &= time <= query.max_time_s + TIME_TOLERANCE_S
    return passed

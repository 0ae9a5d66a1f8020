"""Selects the operators that a question is about.

A filter says yes, no, or that the profile does not say. Only yes keeps an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.query.conditions import TIME_TOLERANCE_S
from profile_analyze.query.patterns import matches

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.operators import Dtypes
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

    # a condition, where it holds, and where it cannot be judged
    Verdict: TypeAlias = tuple[Condition, NDArray[np.bool_], NDArray[np.bool_]]


class Selection(NamedTuple):
    """The operators that passed all filters."""

    operators: NDArray[np.int64]
    """Shape (matched,): their rows in the profile, ascending."""
    looked_at: int
    """How many operators have an entry on the side that was asked about."""
    not_recorded: int
    """How many have no entry there, but pass all filters."""
    undecided: int
    """How many passed all other filters, but have an input whose dtype the profile does not say."""
    unjudged: tuple[tuple[Condition, int], ...]
    """For each condition, how many passed all conditions before it, but cannot be compared."""


def select(query: Query, rows: OperatorRows) -> Selection:
    """The operators that `query` is about.

    Raises `QueryError` if it asks for what the profile was loaded without.
    """
    passed, undecided = of_kind(query, rows.profile)
    recorded = rows.recorded
    within = _within_time(query, rows["time"])
    if query.compared:
        within |= _within_time(query, rows["base"])
    verdicts = [(condition, *condition.holds(rows)) for condition in query.conditions]
    held, unjudged = holding(verdicts, passed & within & recorded)
    would_hold, _ = holding(verdicts, passed & within & ~recorded)
    return Selection(
        operators=np.flatnonzero(held),
        looked_at=int(recorded.sum()),
        not_recorded=int(would_hold.sum()),
        undecided=int((undecided & within & recorded).sum()),
        unjudged=unjudged,
    )


def holding(
    verdicts: Iterable[Verdict], candidates: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], tuple[tuple[Condition, int], ...]]:
    """Shape (rows,): the `candidates` for which all conditions hold; see `Selection.unjudged`."""
    unjudged = []
    for condition, holds, unknown in verdicts:
        unjudged.append((condition, int((candidates & unknown).sum())))
        candidates = candidates & holds
    return candidates, tuple(unjudged)


def of_kind(query: Query, profile: Profile) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Shape (operators,) each: what passes by type, name and dtype, and what cannot be judged.

    Operators that cannot be judged pass by type and name, but some of their dtypes are unknown.
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
    has_dtype, unknown = _has_dtype(profile, query.input_dtype)
    return passed & has_dtype, passed & ~has_dtype & unknown


def _within_time(query: Query, time: NDArray[np.float64]) -> NDArray[np.bool_]:
    passed = np.ones(len(time), np.bool_)
    if query.min_time_s is not None:
        passed &= time >= query.min_time_s - TIME_TOLERANCE_S
    if query.max_time_s is not None:
        passed &= time <= query.max_time_s + TIME_TOLERANCE_S
    return passed


def _has_dtype(profile: Profile, dtype: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Shape (operators,) each: whether an input is of `dtype`, whether some input is unknown."""
    dtypes: Categorical[Dtypes] = profile.operators.categorical("input_dtypes")
    return (
        dtypes.where(dtype in word for word in dtypes.categories),
        dtypes.where(None in word for word in dtypes.categories),
    )

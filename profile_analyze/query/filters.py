"""Which operators a question is about.

A filter says yes, no, or that the profile does not tell; only yes keeps an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.query.patterns import matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Dtypes, Profile
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

TIME_TOLERANCE_S = 0.5e-9
"""Clocks tick in nanoseconds at the finest, so what is nearer than half of one is equal: the
difference of two clock readings carries rounding noise (3e-06 comes out as 2.99999999997e-06)."""


class Selection(NamedTuple):
    """The operators that passed all filters."""

    operators: NDArray[np.int64]
    """Shape (matched,): their rows in the profile, ascending."""
    looked_at: int
    """How many operators have an entry on the side that was asked about."""
    not_recorded: int
    """How many have no entry there, but are of the type, name and dtype that are asked for."""
    undecided: int
    """How many passed everything else, but have an input whose dtype the profile does not say."""


def select(query: Query, rows: OperatorRows) -> Selection:
    """The operators that `query` is about.

    Raises `QueryError` if it asks for what the profile was loaded without.
    """
    passed, undecided = of_kind(query, rows.profile)
    recorded = rows.profile.timings(rows.side).recorded
    timed = recorded & _within_time(query, rows["time"])
    return Selection(
        operators=np.flatnonzero(passed & timed),
        looked_at=int(recorded.sum()),
        not_recorded=int((passed & ~recorded).sum()),
        undecided=int((undecided & timed).sum()),
    )


def of_kind(query: Query, profile: Profile) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Shape (operators,) each: what passes by type, name and dtype, and what cannot be judged.

    The latter has type and name as `query` wants them, but the profile does not say all dtypes.
    """
    passed = np.ones(len(profile), np.bool_)
    if query.types:
        passed &= profile.type.where(word in query.types for word in profile.type.vocabulary)
    if query.name:
        passed &= profile.name.where(matches(query.name, profile.name.vocabulary))
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
    if profile.input_dtypes is None:
        raise QueryError("input_dtype: the profile was loaded without its input dtypes")
    words: tuple[Dtypes, ...] = profile.input_dtypes.vocabulary
    return (
        profile.input_dtypes.where(dtype in dtypes for dtypes in words),
        profile.input_dtypes.where(None in dtypes for dtypes in words),
    )

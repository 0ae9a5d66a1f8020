"""Computes the stacks of a table: see `views.call_stacks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.level import level_of
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.measuring import side_of
from profile_analyze.views.call_stacks import stacks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.shown_rows import ShownRows
    from profile_analyze.query.table import Table
    from profile_analyze.views.call_stacks import Stack


def stacks_of_table(table: Table) -> dict[Stack, float]:
    """Return the seconds of each stack of the table's profile: see `views.call_stacks`.

    The measure of the table decides whether host or device time counts. If the question selects
    rows, only time that belongs to the rows of the table counts: see `model.levels`. Otherwise, all
    time counts, including the time of Python outside of operators.

    Raises `QueryError` for a table of other rows than operators, or of a comparison.
    """
    is_of_operators = table.asked is not None and not table.query.grouped
    if not is_of_operators or table.query.compared:
        kind = "a comparison" if is_of_operators else f"a table of {table.name}"
        raise QueryError(f"output_format: {kind} has no stacks; choose another format")
    return table.shown.once(_stacks)


def notes_on_stacks(table: Table) -> Iterator[Note]:
    """Yield the notes to show with the stacks of a table."""
    # The notes of the table say which time is not in its rows. Without a selection, the stacks
    # cover all time, so these notes would be false.
    if table.query.selects_rows:
        yield from table.notes
    if not stacks_of_table(table):
        side = MEASURES[table.query.measure].side
        yield Finding.of("no-stacks", Kind.ANSWER, side=side)


def _stacks(shown: ShownRows) -> dict[Stack, float]:
    profile = shown.profile
    nested = profile.nested or profile
    if shown.query.selects_rows:
        counts = _is_owned(profile, nested, shown.chosen)
    else:
        counts = np.ones(len(nested.executions), np.bool_)
    return stacks_of(nested, side_of(profile, shown.measure), counts)


def _is_owned(profile: Profile, nested: Profile, operators: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each execution of `nested` whether one of `operators` owns it.

    Shape (executions,). `operators` are rows of `profile`.
    """
    is_shown = np.zeros(len(profile), np.bool_)
    is_shown[operators] = True
    of_rows = is_shown[profile.executions.operator]
    if profile.nested is None:
        return of_rows
    assert profile.level is not None, "a nested profile is kept when a level is selected"
    # The extra entry is for -1: executions without an owner.
    return np.append(of_rows, False)[level_of(nested, profile.level).shown_owner]

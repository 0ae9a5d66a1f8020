"""Matches the operators of two profiles by name, or by the node of a model that they execute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.comparison.matching_limits import split_by_work, without_other_work
from profile_analyze.model.joining.identity import rows_by_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


def by_name(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], columns: Sequence[str]
) -> NDArray[np.int64]:
    """Match operators with equal values in the order of execution, except very different ones.

    See `split_by_work` and `without_other_work`.

    For each operator, return the row in `base`. It is -1 for operators without a match, and for
    operators that an earlier step has matched.
    """
    rest, base_rest = unmatched(base_row_of, len(base))
    return _similar(profile, rest, base, base_rest, columns)


def by_name_of_unknown_type(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], columns: Sequence[str]
) -> NDArray[np.int64]:
    """Match operators as `by_name` does, without their types, if one of two types is N/A.

    A format may have types only with a second file, which one side may lack.
    """
    others = [name for name in columns if name != "type"]
    if len(others) == len(columns):
        return np.full(len(profile), -1)
    rest, base_rest = unmatched(base_row_of, len(base))
    untyped, base_untyped = _untyped(profile, rest), _untyped(base, base_rest)
    found = _similar(profile, untyped, base, base_rest, others)
    typed, base_untyped = np.setdiff1d(rest, untyped), np.setdiff1d(base_untyped, found)
    return np.maximum(found, _similar(profile, typed, base, base_untyped, others))


def by_node(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], columns: Sequence[str]
) -> NDArray[np.int64]:
    """Match operators with the same node of the model in the order of execution.

    For each operator, return the row in `base`. It is -1 for operators without a match, and for
    operators that an earlier step has matched.
    """
    rest, base_rest = unmatched(base_row_of, len(base))
    base_rows = rows_by_identity(base, base_rest, columns)
    found = np.full(len(profile), -1)
    for identity, row in rows_by_identity(profile, rest, columns).items():
        if None not in identity:
            found[row] = base_rows.get(identity, -1)
    return found


def unmatched(
    base_row_of: NDArray[np.int64], base_operators: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of both sides that no step has matched yet."""
    matched = base_row_of[base_row_of >= 0]
    return np.flatnonzero(base_row_of < 0), np.setdiff1d(np.arange(base_operators), matched)


def _similar(
    profile: Profile,
    rows: NDArray[np.int64],
    base: Profile,
    base_rows: NDArray[np.int64],
    columns: Sequence[str],
) -> NDArray[np.int64]:
    """Match `rows` with `base_rows` if their values are equal and their work is similar.

    For each operator of `profile`, return the row in `base`, or -1.
    """
    found = np.full(len(profile), -1)
    if len(rows) and len(base_rows):
        identified, base_identified = split_by_work(
            profile,
            rows_by_identity(profile, rows, columns),
            base,
            rows_by_identity(base, base_rows, columns),
        )
        matched = without_other_work(profile, identified, base, base_identified)
        found[[*matched]] = [*matched.values()]
    return found


def _untyped(side: Profile, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of `rows` whose type is N/A."""
    return rows[side.operators.type.codes[rows] < 0]

"""Which operators of several profiles are the same one."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.measuring import on_side
from profile_analyze.model.terms import DEVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


def identities(
    profile: Profile,
    columns: Sequence[str],
    among: NDArray[np.int64] | None = None,
    part_of: NDArray[np.int64] | None = None,
) -> list[tuple[Any, ...]]:
    """For each operator what tells it from the others: its values in `columns`, and a number.

    Of all operators, or of the rows `among`. The number tells apart those with the same values: 0
    for the one that is executed first, and so on. Keys are not looked at, but for operators that
    start at the same time: they may differ between two builds of one graph. Where `part_of` (shape:
    operators) says that operators are of several parts, such as files, those of another part are
    not among the others.

    Raises `QueryError` if the profile was loaded without some of the columns.
    """
    rows = np.arange(len(profile)) if among is None else among
    values = list(zip(*(_values(profile, name, rows) for name in columns), repeat(0)))
    parts = repeat(0) if part_of is None else part_of[rows].tolist()
    in_parts = list(zip(parts, values))  # noqa: B905  # the parts may have no end
    if len(set(in_parts)) == len(values):
        return values
    value_of = dict(zip(rows.tolist(), in_parts, strict=True))
    seen: dict[tuple[Any, ...], int] = {}
    found = {}
    for row in in_order_of_execution(profile).tolist():
        if row in value_of:
            value = value_of[row]
            number = seen.get(value, 0)
            seen[value] = number + 1
            found[row] = (*value[1][:-1], number)
    return [found[row] for row in value_of]


def _values(profile: Profile, name: str, rows: NDArray[np.int64]) -> Iterator[Any]:
    operators = profile.operators
    is_own = name in ("name", "type", "level", "scope")
    column = getattr(operators, name) if is_own else operators.categorical(name)
    categories = (*column.categories, None)
    if column.codes.strides == (0,):  # the same value in each row
        return repeat(categories[column.codes[0]], len(rows)) if len(rows) else iter(())
    return map(categories.__getitem__, column.codes[rows].tolist())


def in_order_of_execution(profile: Profile) -> NDArray[np.int64]:
    """Shape (operators,): the rows, in the order in which they started on the device.

    In the first run that each is in; those that start together in the order of their keys, and
    those without a start last.
    """
    executions = profile.executions
    started = np.full(len(profile), np.inf)
    known = on_side(profile, DEVICE) & ~np.isnan(executions.start_s)
    known &= executions.run == _first_run(profile)[executions.operator]
    np.minimum.at(started, executions.operator[known], executions.start_s[known])
    return np.lexsort((profile.operators.key_ranks(), started))


def _first_run(profile: Profile) -> NDArray[np.int64]:
    """Shape (operators,): the first run in which each has an execution."""
    first = np.full(len(profile), len(profile.runs))
    np.minimum.at(first, profile.executions.operator, profile.executions.run)
    return first

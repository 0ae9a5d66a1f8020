"""The identity of operators, by which several profiles are matched."""

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
    """The identity of each operator, or of the rows `among`: its values in `columns`, and a number.

    The number distinguishes operators with the same values, in the order of execution: 0 is the
    first. Keys may differ between two builds of one graph, so they only order operators that start
    at the same time. `part_of` (shape: operators) divides operators into parts, such as files. Each
    part is numbered by itself.

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

    The start in the first run of each operator counts. Operators that start together are in the
    order of their keys. Those without a start come last.
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

"""Gives each operator an identity, by which operators are matched across profiles."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.frozen import is_constant
from profile_analyze.model.measuring import on_side
from profile_analyze.model.terms import DEVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


SINGLE_SHAPES: Final = {
    "in_shape": ("in_shapes", 0),
    "weight_shape": ("in_shapes", 1),
    "out_shape": ("out_shapes", 0),
}
"""Names for the shape of a single input or output: each with its column, and the index in a value
of the column. In most operators with weights, the second input is the weight."""


def identities(
    profile: Profile,
    columns: Sequence[str],
    among: NDArray[np.int64] | None = None,
    part_of: NDArray[np.int64] | None = None,
) -> list[tuple[Any, ...]]:
    """Return the identity of each operator: its values in `columns`, followed by a number.

    Each name in `columns` is the name of a column, or one of `SINGLE_SHAPES`.

    The number distinguishes operators with the same values. It counts these operators from 0 in the
    order of execution. Keys are not part of the identity, because two builds of one graph may have
    different keys.

    `among` selects some operators by their rows. `part_of` (shape: operators) divides the operators
    into parts, such as files. The numbers in each part start at 0.

    Raises `QueryError` if the profile was loaded without one of the columns.
    """
    rows = np.arange(len(profile)) if among is None else among
    # The last element is the number, for now 0. It is replaced below if values repeat.
    values = list(zip(*(_values(profile, name, rows) for name in columns), repeat(0)))
    parts = repeat(0) if part_of is None else part_of[rows].tolist()
    values_in_part = list(zip(parts, values, strict=False))  # `parts` may be endless
    if len(set(values_in_part)) == len(values):  # no values repeat, as in most profiles
        return values
    value_of = dict(zip(rows.tolist(), values_in_part, strict=True))
    next_number: dict[tuple[Any, ...], int] = {}
    identity_of = {}
    for row in in_order_of_execution(profile).tolist():
        if row in value_of:
            value = value_of[row]
            number = next_number.get(value, 0)
            next_number[value] = number + 1
            identity_of[row] = (*value[1][:-1], number)
    return [identity_of[row] for row in value_of]


def rows_by_identity(
    profile: Profile, rows: NDArray[np.int64], columns: Sequence[str]
) -> dict[tuple[Any, ...], int]:
    """Return a dictionary from identities to rows, for the operators in `rows`.

    The identity of an operator is its values in `columns`, followed by a number: see `identities`.
    """
    keys = identities(profile, columns, rows)
    return dict(zip(keys, rows.tolist(), strict=True))


def _values(profile: Profile, name: str, rows: NDArray[np.int64]) -> Iterator[Any]:
    operators = profile.operators
    if name in SINGLE_SHAPES:
        source, position = SINGLE_SHAPES[name]
        column = operators.categorical(source).mapped(
            lambda shapes: shapes[position] if position < len(shapes) else None
        )
    elif name in ("name", "type", "category", "level", "scope"):
        column = getattr(operators, name)
    else:
        column = operators.categorical(name)
    categories = (*column.categories, None)  # code -1 (N/A) gets the appended None
    if is_constant(column.codes):
        return repeat(categories[column.codes[0]], len(rows))
    return map(categories.__getitem__, column.codes[rows].tolist())


def in_order_of_execution(profile: Profile) -> NDArray[np.int64]:
    """Return the rows of the operators in the order of their first start on the device.

    The start of an operator is from the first run that executed it. Operators that start at the
    same time are in the order of their keys. Operators without a start come last.
    """
    executions = profile.executions
    first_start_s = np.full(len(profile), np.inf)
    is_counted = on_side(profile, DEVICE) & ~np.isnan(executions.start_s)
    # Clocks of different runs may differ, so the earliest start over all runs would mean nothing.
    is_counted &= executions.run == _first_run(profile)[executions.operator]
    np.minimum.at(first_start_s, executions.operator[is_counted], executions.start_s[is_counted])
    return np.lexsort((profile.operators.key_ranks(), first_start_s))


def _first_run(profile: Profile) -> NDArray[np.int64]:
    """Return the index of the first run that executed each operator, shape (operators,)."""
    first = np.full(len(profile), len(profile.runs))
    np.minimum.at(first, profile.executions.operator, profile.executions.run)
    return first

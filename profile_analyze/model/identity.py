"""Which operators of several profiles are the same one."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


def identities(
    profile: Profile, columns: Sequence[str], among: NDArray[np.int64] | None = None
) -> list[tuple[Any, ...]]:
    """For each operator what tells it from the others: its values in `columns`, and a number.

    Of all operators, or of the rows `among`. The number tells apart those with the same values: 0
    for the one that is executed first, and so on. Ids are not looked at, but for operators that
    start at the same time: they may differ between two builds of one graph. Where runs are kept
    apart, those of another run are not among the others.

    Raises `QueryError` if the profile was loaded without some of the columns.
    """
    rows = np.arange(len(profile)) if among is None else among
    values = list(zip(*(_values(profile, name, rows) for name in columns), repeat(0)))
    run_of = repeat(0) if profile.run_of is None else profile.run_of[rows].tolist()
    in_runs = list(zip(run_of, values))  # noqa: B905  # the runs may have no end
    if len(set(in_runs)) == len(values):
        return values
    value_of = dict(zip(rows.tolist(), in_runs, strict=True))
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
    column = getattr(profile, name) if name in ("name", "type") else profile.detail(name)
    words = (*column.categories, None)
    return map(words.__getitem__, column.codes[rows].tolist())


def in_order_of_execution(profile: Profile) -> NDArray[np.int64]:
    """Shape (operators,): the rows, in the order in which they started on the device.

    In the first run; those that start together in the order of their ids, and those without a
    start last.
    """
    lanes = profile.device.lanes
    started = np.full(len(profile), np.inf)
    known = (lanes.run == 0) & ~np.isnan(lanes.start_s)
    np.minimum.at(started, lanes.operator[known], lanes.start_s[known])
    return np.lexsort((profile.id, started))

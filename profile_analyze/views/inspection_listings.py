"""Lists what ran around, inside and beside the executions of one operator, for `--inspect`.

Work on a device is a kernel, a copy or a fill. A driver call is a call into the driver, such as
the launch of a kernel. Execution A is above execution B if A surrounds or launched B.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from profile_analyze.columns.column import Column
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import distinct_names
from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import difference, numbered, quantile_of_runs, total
from profile_analyze.model.terms import DEVICE
from profile_analyze.query.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_MOST_ROWS: Final = 10
"""The largest number of rows in a listing."""
_MOST_EXAMPLES: Final = 5
"""The largest number of rows for each of these: the longest executions, the neighbours before, and
the neighbours after."""


_text = partial(Column, unit="", kind="text")
_count = partial(Column, unit="1", has_whole_numbers=True, shown_as="count")
_time = partial(Column, unit="s", measured=True)

_NAMES: Final = (
    _text("name", meaning="the name of the other operator"),
    _text("key", meaning="the text that tells this operator from all others of its file"),
    _text("level", meaning="the level of this operator, such as kernel or module"),
)
_CALLS: Final = _count("calls", meaning="the number of executions")
_TIME: Final = _time("time", meaning="the time of these executions")
_SHARE: Final = Column("share", "1", "time / time of the operator that is shown")
_OF_KERNELS: Final = (
    _text("kernel", meaning="the name of the kernel"),
    _NAMES[1],
    _text(
        "launched_by",
        heading="launched by",
        meaning="the operator and the calls inside it that launched the kernel",
    ),
    _CALLS,
    _TIME,
    _time("queue", meaning="the median time from the launch to the start of the kernel"),
)
_OF_NEIGHBOURS: Final = (
    _text("side", meaning="whether these executions were before or after the operator"),
    *_NAMES,
    _CALLS,
    _time("gap", meaning="the median time between the two executions"),
)
_OF_EXECUTIONS: Final = (
    _count("number", meaning="the number of the execution in order of time"),
    _time("start", meaning="the start, in seconds after the start of the profile"),
    _TIME,
    _text("track", meaning="the track that the execution ran on"),
    _count("step", meaning="the number of the step that the execution belongs to"),
)


def listings_of(profile: Profile, rows: Indices) -> tuple[Table, ...]:
    """Return what ran around, inside and beside the executions `rows`, which are not empty."""
    longest = rows[np.argsort(-np.nan_to_num(profile.executions.duration_s[rows]), kind="stable")]
    listings = (
        _stack(profile, int(longest[0]), several=len(rows) > 1),
        _parents(profile, rows),
        _children(profile, rows),
        _kernels(profile, rows),
        _neighbours(profile, rows),
        *([_executions(profile, rows, longest[:_MOST_EXAMPLES])] if len(rows) > 1 else ()),
    )
    return tuple(one for one in listings if len(one))


def _stack(profile: Profile, row: int, *, several: bool) -> Table:
    """Return the executions above the execution `row`, outermost first."""
    executions, chain = profile.executions, []
    above = executions.above
    outer = int(above[row])
    while outer >= 0:
        chain.append(outer)
        outer = int(above[outer])
    rows = [
        (*_names(profile, int(executions.operator[one])), float(executions.duration_s[one]))
        for one in reversed(chain)
    ]
    of_which = " of the longest execution" if several else ""
    title = f"stack{of_which}, outermost first"
    # If there are too many rows, the innermost rows stay, because they are nearest to `row`.
    columns, shown = (*_NAMES, _TIME), rows[-_MOST_ROWS:]
    return Table.of("stack", columns, shown, title=title, available=len(rows))


def _parents(profile: Profile, rows: Indices) -> Table:
    executions = profile.executions
    above = executions.above[rows]
    inside = rows[above >= 0]
    groups = _grouped(executions.operator[above[above >= 0]], executions.duration_s[inside])
    found = [(*_names(profile, one), count, time_s) for one, count, time_s in groups]
    title = "parents: what contained or launched the operator"
    return _listing("parents", title, (*_NAMES, _CALLS, _TIME), found)


def _children(profile: Profile, rows: Indices) -> Table:
    executions = profile.executions
    is_inside = _flags(executions.parent, rows)
    inner = np.flatnonzero(is_inside)
    whole_s = total(executions.duration_s[rows])
    groups = _grouped(executions.operator[inner], executions.duration_s[inner])
    found = [
        (*_names(profile, one), count, time_s, time_s / whole_s if whole_s > 0 else np.nan)
        for one, count, time_s in groups
    ]
    columns = (*_NAMES, _CALLS, _TIME, _SHARE)
    return _listing("children", "children: what ran inside", columns, found)


def _kernels(profile: Profile, rows: Indices) -> Table:
    """Return the work on devices that `rows` launched, by operator and launching operator."""
    executions = profile.executions
    launched, owner = launched_work(profile, rows)
    queue_s = difference(executions.start_s, executions.submitted_s)
    found = []
    for members in _members(
        executions.operator[launched], executions.operator[executions.launched_by[launched]]
    ):
        group = launched[members]
        found.append(
            (
                *_names(profile, int(executions.operator[group[0]]))[:2],
                _chain(profile, int(group[0]), int(owner[members[0]])),
                len(group),
                total(executions.duration_s[group]),
                _median(queue_s[group]),
            )
        )
    found.sort(key=lambda row: -np.nan_to_num(row[4]))
    return _listing("kernels", "kernels that the operator launched", _OF_KERNELS, found)


def launched_work(profile: Profile, rows: Indices) -> tuple[Indices, NDArray[np.int32]]:
    """Return two arrays: the work on devices that `rows` launched, and which row launched it.

    Both have shape (launched,). Of several `rows` above the work, the innermost is returned.
    """
    executions = profile.executions
    is_target = np.zeros(len(executions), np.bool_)
    is_target[rows] = True
    owner = innermost_above(executions.above, is_target)
    is_launched = (executions.launched_by >= 0) & on_side(profile, DEVICE) & (owner >= 0)
    launched = np.flatnonzero(is_launched)
    return launched, owner[launched]


def _chain(profile: Profile, row: int, owner: int) -> str:
    """Return the names from `owner` to the call that launched the kernel `row`, outermost first."""
    above, names = profile.executions.above, []
    outer = int(above[row])
    while outer >= 0:
        names.append(_names(profile, int(profile.executions.operator[outer]))[0])
        outer = -1 if outer == owner else int(above[outer])
    return " > ".join(reversed(names))


def _neighbours(profile: Profile, rows: Indices) -> Table:
    """Return the operators that ran directly before and directly after `rows`.

    Neighbours ran on the same track and have the same parent. The gaps are medians.
    """
    executions = profile.executions
    known = np.flatnonzero(~np.isnan(executions.start_s) & (executions.calls > 0))
    line = Categorical.of([track.line for track in profile.tracks]).codes[executions.track]
    group = (executions.parent.astype(np.int64) + 1) * len(profile.tracks) + line
    order = known[np.lexsort((executions.start_s[known], group[known]))]
    position = np.full(len(executions), -1)  # in `order`
    position[order] = np.arange(len(order))
    ends_s = executions.start_s + np.nan_to_num(executions.duration_s)
    found, available = [], 0
    for side, step in (("before", -1), ("after", 1)):
        beside = position[rows] + step
        is_valid = (position[rows] >= 0) & (beside >= 0) & (beside < len(order))
        own = rows[is_valid]
        other = order[beside[is_valid]]
        is_sibling = group[own] == group[other]
        own, other = own[is_sibling], other[is_sibling]
        first, second = (other, own) if step < 0 else (own, other)
        gaps_s = executions.start_s[second] - ends_s[first]
        groups = sorted(_members(executions.operator[other]), key=len, reverse=True)
        available += len(groups)
        found += [
            (
                side,
                *_names(profile, int(executions.operator[other[members[0]]])),
                len(members),
                _median(gaps_s[members]),
            )
            for members in groups[:_MOST_EXAMPLES]
        ]
    title = "neighbours on the same track"
    return Table.of("neighbours", _OF_NEIGHBOURS, found, title=title, available=available)


def _executions(profile: Profile, rows: Indices, longest: Indices) -> Table:
    executions = profile.executions
    track_names = names_of_tracks(profile, rows)
    first_s = first_start_s(profile)
    found = [
        (
            int(np.flatnonzero(rows == row)[0]) + 1,
            float(executions.start_s[row] - first_s),
            float(executions.duration_s[row]),
            track_names[executions.track[row]],
            profile.runs[executions.run[row]].step,
        )
        for row in longest.tolist()
    ]
    title = "longest executions"
    return Table.of("executions", _OF_EXECUTIONS, found, title=title, available=len(rows))


def names_of_tracks(profile: Profile, rows: Indices) -> dict[int, str]:
    """Return the names of the tracks on which `rows` ran, by the index of the track."""
    used = [*dict.fromkeys(profile.executions.track[rows].tolist())]
    names = distinct_names([profile.tracks[index] for index in used])
    return dict(zip(used, names, strict=True))


def first_start_s(profile: Profile) -> float:
    """Return the earliest start in the profile; NaN if the format has no start times."""
    starts = profile.executions.start_s
    known = starts[~np.isnan(starts)]
    return float(known.min()) if len(known) else np.nan


def _names(profile: Profile, operator: int) -> tuple[Any, ...]:
    """Return the name, the key and the level of an operator."""
    one = profile.operators.take(np.array([operator]))
    (name,), (key,), (level,) = (
        column.values().tolist() for column in (one.name, one.key_texts(), one.level)
    )
    return name, key, level


def _listing(
    name: str, title: str, columns: tuple[Column, ...], rows: list[tuple[Any, ...]]
) -> Table:
    return Table.of(name, columns, rows[:_MOST_ROWS], title=title, available=len(rows))


def _flags(values: NDArray[np.int32], wanted: Indices) -> NDArray[np.bool_]:
    """Return for each of `values` whether `wanted` has it. Values are indices, or -1 for none."""
    is_wanted = np.zeros(len(values) + 1, np.bool_)  # the extra entry is for -1
    is_wanted[wanted] = True
    return is_wanted[values]


def _grouped(operator: NDArray[Any], times_s: Floats) -> Iterable[tuple[int, int, float]]:
    """Return each operator, its number of executions and their total seconds, longest first."""
    groups = [
        (int(operator[members[0]]), len(members), total(times_s[members]))
        for members in _members(operator)
    ]
    return sorted(groups, key=lambda group: -np.nan_to_num(group[2]))


def _members(*labels: NDArray[Any]) -> list[Indices]:
    """Return the rows of each distinct combination of `labels`, in order of first appearance."""
    combined = np.zeros(len(labels[0]), np.int64)
    for one in labels:
        combined = combined * (int(one.max(initial=0)) + 1) + one
    number, first = numbered(combined)
    order = np.argsort(number, kind="stable")
    return (
        np.split(order, np.searchsorted(number[order], np.arange(1, len(first))))
        if len(first)
        else []
    )


def _median(values: Floats) -> float:
    return float(quantile_of_runs(values[np.newaxis], 0.5)[0])

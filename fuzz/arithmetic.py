"""The invariants of the numbers in answers. They must hold for every readable profile."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import isclose, isnan, nan
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.measures import MEASURES
from profile_analyze.query.question import Query
from profile_analyze.query.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

_ADDITIVE: Final = (
    "time",
    "time_median",
    "host_time",
    "wait",
    "queue",
    "self",
    "thread_wait",
    "calls",
    "computation",
    "memory",
)
_KEYS: Final = (("type",), ("in_shapes", "name"), ("step", "category"), ("file", "scope", "run"))
_MEASURE_OF_SIDE: Final[Mapping[Side, str]] = {"device": "time", "host": "host_time"}
_TOLERANCE: Final = 1e-9


@cache
def _query(**asked: Any) -> Query:
    """Return a query. The cache avoids parsing and checking the same query again."""
    return Query(**asked)


def shares_add_up(profile: Profile) -> Iterator[str]:
    """The shares of all operators add up to 100 %, if any share is known."""
    for measure in MEASURES:
        shares = run(_query(measure=measure), profile)["share"]
        known = shares[~np.isnan(shares)]
        if len(known) and not isclose(known.sum(), 1, rel_tol=_TOLERANCE):
            yield f"shares of {measure} add up to {known.sum()!r}: {shares}"


def groups_add_up(profile: Profile) -> Iterator[str]:
    """Groups by any key add up to the total of all operators."""
    operators = run(_query(), profile)
    for keys in _KEYS:
        groups = run(_query(by=keys), profile)
        if groups["count"].sum() != len(operators):
            yield f"groups by {keys} have {groups['count'].sum()} of {len(operators)} operators"
        for column in _ADDITIVE:
            whole, parts = _sum(operators[column]), _sum(groups[column])
            # If the whole overflows and is N/A, smaller groups may still have a finite sum.
            overflows = isnan(whole) and not np.isnan(operators[column]).all()
            if not (overflows or _same(whole, parts)):
                yield f"{column} of groups by {keys} adds up to {parts!r}, not to {whole!r}"
    yield from _by_track(profile)


def _by_track(profile: Profile) -> Iterator[str]:
    """If rows are grouped by track, each group has the time of all tracks with its name."""
    for side, measure in _MEASURE_OF_SIDE.items():
        groups = run(_query(by="track", measure=measure), profile)
        times = dict(zip(groups["track"], groups["time"], strict=True))
        totals_s: dict[str, float] = {}  # several tracks may have the same name
        for track, total_s in at_level(profile).total_by_track(side).items():
            if not isnan(total_s):  # such a track adds nothing to its group
                totals_s[track.name] = totals_s.get(track.name, 0.0) + total_s
        for name, total_s in totals_s.items():
            if not _same(times.get(name, nan), total_s):
                yield f"{measure} on {name!r} is {times.get(name)!r}, not {total_s!r}"


def filter_then_group(profile: Profile) -> Iterator[str]:
    """The group of a type has the same values if a filter keeps only operators of this type."""
    types = run(_query(by="type"), profile)
    for row, type_ in enumerate(types["type"][:2]):
        if type_ is None:  # no pattern matches an unknown type
            continue
        alone = run(Query(by="type", types=(type_,)), profile)
        for column in (*_ADDITIVE, "flops", "bandwidth", "share", "count"):
            if len(alone) != 1 or not _same(alone[column][0], types[column][row], exactly=True):
                yield f"{column} of {type_!r} differs if only this type is kept: {alone.rows}"
    yield from _filter_by_time(profile)


def _filter_by_time(profile: Profile) -> Iterator[str]:
    """With a filter by time, each group's time is the sum over the remaining operators."""
    operators = run(_query(), profile)
    known = np.sort(operators["time"][~np.isnan(operators["time"])])
    if not len(known):
        return
    query = Query(min_time_s=float(known[len(known) // 2]))
    by_hand: dict[str, list[float]] = {}
    for row in run(query, profile).rows:
        by_hand.setdefault(row["type"], []).append(row["time"])
    groups = run(query.changed(by="type"), profile)
    times = dict(zip(groups["type"], groups["time"], strict=True))
    if times.keys() != by_hand.keys():
        yield f"filtered groups are {list(times)}, not {list(by_hand)}"
    for type_, values in by_hand.items():
        if not _same(times.get(type_, nan), _sum(np.array(values))):
            yield f"time of {type_!r} is {times.get(type_)!r}, not the sum of {values}"


def orders_hold(profile: Profile) -> Iterator[str]:
    """Rows have the order that the query asks for. Ties keep the file's order, and N/A is last."""
    operators = run(_query(), profile)
    for order in ("time", "+time", "+flops", "type"):
        yield from _out_of_order(profile, order)
    rows = at_level(profile)
    if sorted(operators["id"]) != sorted(_ids(rows)[rows.recorded("device")].tolist()):
        yield "ordering loses or repeats operators"


def _out_of_order(profile: Profile, order: str) -> Iterator[str]:
    ordered = run(_query(order=order), profile)
    column = order.removeprefix("+")
    position_of = {id_: position for position, id_ in enumerate(_ids(profile).tolist())}
    keys = [
        (value is None or value != value, value, position_of[id_])  # noqa: PLR0124  # NaN
        for value, id_ in zip(ordered[column].tolist(), ordered["id"].tolist(), strict=True)
    ]
    known = [key for key in keys if not key[0]]
    if keys[: len(known)] != known:
        yield f"N/A is not last by {order}: {keys}"
    for (_, before, position), (_, after, next_position) in pairwise(known):
        is_right = before < after if order[0] == "+" else before > after
        if not (is_right or (before == after and position < next_position)):
            yield f"not in order by {order}: {keys}"
            return


def _sum(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        total = float(np.sum(known)) if len(known) else nan
    return total if np.isfinite(total) else nan


def _same(one: float, other: float, *, exactly: bool = False) -> bool:
    if isnan(one) or isnan(other):
        return isnan(one) and isnan(other)
    return one == other if exactly else isclose(one, other, rel_tol=_TOLERANCE)


PROFILE_INVARIANTS: Final[tuple[Callable[[Profile], Iterator[str]], ...]] = (
    shares_add_up,
    groups_add_up,
    filter_then_group,
    orders_hold,
)
"""The invariants of the answers about one profile."""


def _ids(profile: Profile) -> NDArray[Any]:
    """Return the ids of the operators: integers or texts."""
    keys = profile.operators.key
    return keys if isinstance(keys, np.ndarray) else keys.values()

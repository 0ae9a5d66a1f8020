"""What holds of the numbers in every profile that can be read, whatever they are."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import isclose, isnan, nan
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.measures import MEASURES
from profile_analyze.query.question import Query
from profile_analyze.query.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

_ADDED: Final = ("time", "host_time", "wait", "queue", "self", "calls", "computation", "memory")
_KEYS: Final = (("type",), ("in_shapes", "name"), ("step", "category"), ("file", "scope", "run"))
_OF_SIDES: Final[Mapping[Side, str]] = {"device": "time", "host": "host_time"}
_TOLERANCE: Final = 1e-9


@cache
def _query(**asked: Any) -> Query:
    """A question, checked once."""
    return Query(**asked)


def shares_add_up(profile: Profile) -> Iterator[str]:
    """The shares of all operators add up to 100 %, if any is known."""
    for measure in MEASURES:
        shares = run(_query(measure=measure), profile)["share"]
        known = shares[~np.isnan(shares)]
        if len(known) and not isclose(known.sum(), 1, rel_tol=_TOLERANCE):
            yield f"shares of {measure} add up to {known.sum()!r}: {shares}"


def groups_add_up(profile: Profile) -> Iterator[str]:
    """Whatever operators are grouped by, the sums of the groups add up to that of the whole."""
    operators = run(_query(), profile)
    for keys in _KEYS:
        groups = run(_query(by=keys), profile)
        if groups["count"].sum() != len(operators):
            yield f"groups by {keys} have {groups['count'].sum()} of {len(operators)} operators"
        for column in _ADDED:
            whole, parts = _sum(operators[column]), _sum(groups[column])
            if not (_same(whole, parts) or isnan(whole)):
                yield f"{column} of groups by {keys} adds up to {parts!r}, not to {whole!r}"
    yield from _by_track(profile)


def _by_track(profile: Profile) -> Iterator[str]:
    """Of operators that are split by track, each track has the time of all that ran on it."""
    for side, measure in _OF_SIDES.items():
        groups = run(_query(by="track", measure=measure), profile)
        found = dict(zip(groups["track"], groups["time"], strict=True))
        for track, total_s in profile.total_by_track(side).items():
            if not _same(found.get(track.name, nan), total_s):
                yield f"{measure} on {track.name!r} is {found.get(track.name)!r}, not {total_s!r}"


def filter_then_group(profile: Profile) -> Iterator[str]:
    """Groups of the operators that a filter keeps are those that the filter keeps of the groups."""
    types = run(_query(by="type"), profile)
    for place, type_ in enumerate(types["type"][:2]):
        alone = run(Query(by="type", types=(type_,)), profile)
        for column in (*_ADDED, "flops", "bandwidth", "share", "count"):
            if len(alone) != 1 or not _same(alone[column][0], types[column][place], exactly=True):
                yield f"{column} of {type_!r} differs when only that is asked for: {alone.rows}"
    yield from _of_slow_ones(profile)


def _of_slow_ones(profile: Profile) -> Iterator[str]:
    """The same of a filter by time, against the operators one by one."""
    operators = run(_query(), profile)
    known = np.sort(operators["time"][~np.isnan(operators["time"])])
    if not len(known):
        return
    query = Query(min_time_s=float(known[len(known) // 2]))
    by_hand: dict[str, list[float]] = {}
    for row in run(query, profile).rows:
        by_hand.setdefault(row["type"], []).append(row["time"])
    found = run(query.changed(by="type"), profile)
    times = dict(zip(found["type"], found["time"], strict=True))
    if times.keys() != by_hand.keys():
        yield f"filtered groups are {list(times)}, not {list(by_hand)}"
    for type_, values in by_hand.items():
        if not _same(times.get(type_, nan), _sum(np.array(values))):
            yield f"time of {type_!r} is {times.get(type_)!r}, not the sum of {values}"


def orders_hold(profile: Profile) -> Iterator[str]:
    """Rows come largest first, with + smallest first, ties in the file's order, N/A last."""
    operators = run(_query(), profile)
    for order in ("time", "+time", "+flops", "type"):
        yield from _out_of_order(profile, order)
    if sorted(operators["id"]) != sorted(_keys(profile)[profile.recorded("device")].tolist()):
        yield "ordering loses or doubles operators"


def _out_of_order(profile: Profile, order: str) -> Iterator[str]:
    found = run(_query(order=order), profile)
    column = order.removeprefix("+")
    place_of = {id_: place for place, id_ in enumerate(_keys(profile).tolist())}
    keys = [
        (value is None or value != value, value, place_of[id_])  # noqa: PLR0124  # NaN
        for value, id_ in zip(found[column].tolist(), found["id"].tolist(), strict=True)
    ]
    known = [key for key in keys if not key[0]]
    if keys[: len(known)] != known:
        yield f"N/A is not last by {order}: {keys}"
    for (_, before, place), (_, after, next_place) in pairwise(known):
        is_right = before < after if order[0] == "+" else before > after
        if not (is_right or (before == after and place < next_place)):
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


OF_PROFILES: Final[tuple[Callable[[Profile], Iterator[str]], ...]] = (
    shares_add_up,
    groups_add_up,
    filter_then_group,
    orders_hold,
)
"""The invariants of the answers about one profile."""


def _keys(profile: Profile) -> NDArray[np.int64]:
    """The ids of the operators, which are numbers in this format."""
    keys = profile.operators.key
    assert isinstance(keys, np.ndarray)
    return keys

"""Decides which operators are too different to match, although their names or shapes are equal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.graph.names import ONE_KIND
from profile_analyze.model.terms import CONTROL, OTHER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    _Identity = tuple[Any, ...]
    """Values of an operator, followed by a number that counts operators with equal values."""

_SIMILAR_WORK: Final = 0.1
"""How much the computation of two matched operators may differ, as a fraction of the baseline's
computation. Small differences are common, because formats count biases and activations differently.
"""
NOT_BY_SHAPES: Final = (CONTROL, OTHER)
"""Operators of these categories are not matched by shapes: they may do different work on equal
shapes."""
_OTHER_OPERATOR: Final = 1000.0
"""If several operators share a name, two of them with different shapes do not match if their work
differs by more than this factor. Larger batches and images change the work by smaller factors: for
example, a batch of 512 instead of 1."""


def where_as_many(
    rows: Iterable[_Identity], base_rows: Mapping[_Identity, int]
) -> dict[_Identity, int]:
    """Keep only operators whose category and shapes occur equally often on both sides.

    Otherwise, it is unclear which operators belong together. Operators of unknown shapes or of
    unknown category are also left out, and so are the categories in `NOT_BY_SHAPES`.
    """
    # An identity is a category and shapes, followed by a number that counts equal operators.
    counts, base_counts = (Counter(one[:-1] for one in side) for side in (rows, base_rows))
    return {
        one: row
        for one, row in base_rows.items()
        if counts[one[:-1]] == base_counts[one[:-1]]
        and None not in one
        and one[0] not in NOT_BY_SHAPES
    }


def where_work_agrees(
    profile: Profile,
    rows: Mapping[_Identity, int],
    base: Profile,
    base_rows: Mapping[_Identity, int],
) -> dict[_Identity, int]:
    """Leave out operators of `ONE_KIND` whose computation differs too much between the sides.

    Runtimes may run the branches of a network in different orders, so the order of execution may
    match the wrong operators. If one match is wrong, all operators with the same category and
    shapes are left out.
    """
    computation, base_computation = (side.operators.computation for side in (profile, base))
    differing = {
        one[:-1]
        for one, base_row in base_rows.items()
        if one[0] in ONE_KIND
        and abs(computation[rows[one]] - base_computation[base_row])
        > _SIMILAR_WORK * base_computation[base_row]
    }
    return {one: row for one, row in base_rows.items() if one[:-1] not in differing}


def split_by_work(
    profile: Profile,
    rows: Mapping[_Identity, int],
    base: Profile,
    base_rows: Mapping[_Identity, int],
) -> tuple[dict[_Identity, int], dict[_Identity, int]]:
    """Separate operators with equal values into classes of similar work.

    The work in a class has no gap of more than a factor of `_OTHER_OPERATOR`. Return both
    dictionaries. If several operators of a side have equal values, they get new identities: the
    values, the class, and a number that counts the operators of this class from 0, in the order of
    the old numbers.
    """
    sides = (rows, base_rows)
    repeated = dict.fromkeys(one[:-1] for side in sides for one in side if one[-1] > 0)
    group_of = {values: group for group, values in enumerate(repeated)}
    own, of_base = (
        sorted((one for one in side if one[:-1] in group_of), key=lambda identity: identity[-1])
        for side in sides
    )
    group = np.array([group_of[one[:-1]] for one in (*own, *of_base)], np.int64)
    classes = _work_classes(
        group, profile, [rows[one] for one in own], base, [base_rows[one] for one in of_base]
    )
    split = tuple({one: side[one] for one in side if one[:-1] not in group_of} for side in sides)
    of_sides = (own, classes[: len(own)]), (of_base, classes[len(own) :])
    for new, side, (found, classes_of_side) in zip(split, sides, of_sides, strict=True):
        number: Counter[int] = Counter()
        for one, one_class in zip(found, classes_of_side, strict=True):
            new[(*one[:-1], one_class, number[one_class])] = side[one]
            number[one_class] += 1
    return split[0], split[1]


def without_other_work(
    profile: Profile,
    rows: Mapping[_Identity, int],
    base: Profile,
    base_rows: Mapping[_Identity, int],
) -> dict[int, int]:
    """Return the row in `base` for each row of `profile` with the same identity.

    Operators are left out if their name is shared, and their work differs by more than a factor of
    `_OTHER_OPERATOR`. If a name occurs only once on each side, it identifies the operator, whatever
    the operator does.
    """
    matched = [(row, base_rows[one]) for one, row in rows.items() if one in base_rows]
    own, of_base = np.array(matched, np.int64).reshape(-1, 2).T
    is_shared = _share_names(profile)[own] | _share_names(base)[of_base]
    work, base_work = _comparable_work(profile, own, base, of_base)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = np.maximum(work / base_work, base_work / work)
    keep = ~(is_shared & (factor > _OTHER_OPERATOR))  # unknown work is NaN
    return dict(zip(own[keep].tolist(), of_base[keep].tolist(), strict=True))


def _work_classes(
    group: NDArray[np.int64],
    profile: Profile,
    rows: Sequence[int],
    base: Profile,
    base_rows: Sequence[int],
) -> list[int]:
    """Return the class of each operator in `rows`, then in `base_rows`. No groups share a class.

    `group` has the group of each of these operators: operators with equal values. Operators that
    compute nothing are compared by memory. If neither the computation of all operators of a group
    is known nor the memory of all of them, the group is one class.
    """
    work = np.ones(len(group))
    for own, of_base in reversed(_amounts(profile, base)):
        amounts = np.append(own[[*rows]], of_base[[*base_rows]])
        is_known = (amounts > 0) & np.isfinite(amounts)
        lacking = np.bincount(group[~is_known], minlength=len(group)) > 0
        work = np.where(lacking[group], work, amounts)
    order = np.lexsort((work, group))  # a loop over the groups would take long
    is_next = np.diff(np.log(work[order])) > np.log(_OTHER_OPERATOR)
    is_next |= np.diff(group[order]) > 0
    classes = np.zeros(len(group), np.int64)
    classes[order[1:]] = np.cumsum(is_next)
    return classes.tolist()


def _comparable_work(
    profile: Profile, rows: NDArray[np.int64], base: Profile, base_rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the work of each pair of operators; NaN if it is unknown.

    The work is the computation, or the memory if an operator computes nothing.
    """
    work, base_work = (np.full(len(rows), np.nan) for _ in range(2))
    for own, of_base in reversed(_amounts(profile, base)):
        is_known = (own[rows] > 0) & (of_base[base_rows] > 0)
        work[is_known] = own[rows][is_known]
        base_work[is_known] = of_base[base_rows][is_known]
    return work, base_work


def _amounts(
    profile: Profile, base: Profile
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]:
    """Return the computation of both sides, and the memory of both sides."""
    own, of_base = profile.operators, base.operators
    return (own.computation, of_base.computation), (own.memory, of_base.memory)


def _share_names(side: Profile) -> NDArray[np.bool_]:
    """Return whether another operator of this side has the same name, shape (operators,)."""
    codes = side.operators.name.codes
    shared: NDArray[np.bool_] = np.bincount(codes + 1)[codes + 1] > 1
    return shared

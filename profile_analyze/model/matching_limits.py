"""Decides which operators are too different to match, although their names or shapes are equal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.model_names import ONE_KIND
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
    repeated = {one[:-1] for side in (rows, base_rows) for one in side if one[-1] > 0}
    members: dict[_Identity, tuple[list[int], list[int]]] = {one: ([], []) for one in repeated}
    split: tuple[dict[_Identity, int], dict[_Identity, int]] = ({}, {})
    for side, found in enumerate((rows, base_rows)):
        for one in sorted(found, key=lambda identity: identity[-1]):
            if one[:-1] in repeated:
                members[one[:-1]][side].append(found[one])
            else:
                split[side][one] = found[one]
    for values, (own, of_base) in members.items():
        classes = _work_classes(profile, own, base, of_base)
        for side, of_side in enumerate((own, of_base)):
            number: Counter[int] = Counter()
            for row, one_class in zip(of_side, classes[side], strict=True):
                split[side][(*values, one_class, number[one_class])] = row
                number[one_class] += 1
    return split


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
    profile: Profile, rows: Sequence[int], base: Profile, base_rows: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the class of each operator in `rows` and in `base_rows`, from the least work up.

    Operators that compute nothing are compared by memory. If neither the computation of all
    operators is known nor the memory of all operators, all are in one class.
    """
    for own, of_base in _amounts(profile, base):
        work = np.append(own[[*rows]], of_base[[*base_rows]])
        if (work > 0).all() and np.isfinite(work).all():
            order = np.argsort(work, kind="stable")
            steps = np.diff(np.log(work[order])) > np.log(_OTHER_OPERATOR)
            classes = np.zeros(len(work), np.int64)
            classes[order[1:]] = np.cumsum(steps)
            return classes[: len(rows)].tolist(), classes[len(rows) :].tolist()
    return [0] * len(rows), [0] * len(base_rows)


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

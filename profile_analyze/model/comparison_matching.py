"""Matches the operators of two profiles in steps.

Each step compares the values of some columns. Operators with the same values match in the order of
execution. Steps that compare shapes have further ways to match: see `_WAYS`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.common_subsequence import common_subsequence
from profile_analyze.model.identity import SINGLE_SHAPES, identities, in_order_of_execution
from profile_analyze.model.model_names import ONE_KIND
from profile_analyze.model.padded_channels import block_sizes, blocked_shapes
from profile_analyze.model.terms import (
    ADDED,
    CONTROL,
    FULL_NAME,
    OTHER,
    SHAPES,
    TELLING_APART,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.padded_channels import BlockedShapes
    from profile_analyze.model.profile import Profile

_BY_NAME: Final = ("name", "name", "type")
_BESIDE_NAMES: Final = (*TELLING_APART, FULL_NAME)
"""Extra columns for a stricter step, which runs before the step that compares name and type. A
column is used only if both profiles have it. A trace may have many rows with the same name. If only
the order of these rows decided, one added row would shift the matches of all later rows."""
_BY_NAME_AND_CATEGORY: Final = ("name", "name", "category")
_BY_STRUCTURE: Final = ("structure", "type", "in_shapes", "out_shapes", "parameters")
_BY_SHAPES: Final = (
    ("shapes", "category", "in_shape", "weight_shape", "out_shape"),
    ("shapes", "category", "in_shape", "out_shape"),
)
_SIMILAR_WORK: Final = 0.1
"""How much the computation of two matched operators may differ, as a fraction of the baseline's
computation. Small differences are common, because formats count biases and activations differently.
"""
_NOT_BY_SHAPES: Final = (CONTROL, OTHER)
"""Operators of these categories are not matched by shapes: they may do different work on equal
shapes."""

MATCHES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "auto": (_BY_NAME, _BY_NAME_AND_CATEGORY, _BY_STRUCTURE, *_BY_SHAPES),
    "name": (_BY_NAME,),
    "structure": (_BY_STRUCTURE,),
    "shapes": _BY_SHAPES,
}
"""The steps for each value of `match` in `compare`. A step is a tuple: its name, followed by the
columns that must be equal. `Comparison.match` has the name of the step that matched an operator. A
step skips operators that an earlier step has matched. In `auto`, the steps by category and by
shapes are only for profiles of different formats, which may name types differently."""


def steps_of(match: str, profile: Profile, base: Profile) -> Sequence[tuple[str, ...]]:
    """Return the steps of `match`, one of `MATCHES`, that apply to these two profiles."""
    steps = MATCHES[match]
    if match == "auto" and profile.origin.format == base.origin.format:
        return [step for step in steps if step not in (_BY_NAME_AND_CATEGORY, *_BY_SHAPES)]
    return steps


def matched_rows(
    profile: Profile, base: Profile, steps: Sequence[tuple[str, ...]]
) -> tuple[NDArray[np.int64], list[str]]:
    """Match each operator of `profile` with at most one row of `base`.

    For each operator, return the row in `base`, or -1. Also return the name of the step that
    matched the operator, or `ADDED`.
    """
    base_row_of = np.full(len(profile), -1)
    how = [ADDED] * len(profile)
    for step, *columns in _with_stricter_names(steps, profile, base):
        if not {"in_shapes", "in_shape"}.isdisjoint(columns) and not _have_shapes(profile, base):
            continue  # without shapes, all operators of one type would look the same
        for way in _WAYS.get(step, (_by_identity,)):
            found = way(profile, base, base_row_of, columns)
            for row in np.flatnonzero(found >= 0).tolist():
                how[row] = step
            base_row_of = np.maximum(base_row_of, found)
    return base_row_of, how


def _by_neighbours(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], columns: Sequence[str]
) -> NDArray[np.int64]:
    """Match operators with equal values that are in the same order in both networks.

    See `_aligned`.

    For each operator, return the row in `base`. It is -1 for operators without a match, and for
    operators that an earlier step has matched.
    """
    rest, base_rest = _unmatched(base_row_of, len(base))
    if not len(rest) or not len(base_rest):
        return np.full(len(profile), -1)
    values = _values(profile, rest, columns)
    return _aligned(profile, base, base_row_of, values, _values(base, base_rest, columns))


def _by_padding(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], columns: Sequence[str]
) -> NDArray[np.int64]:
    """Match operators whose shapes differ only by channels that pad a block.

    The operators must be in the same order in both networks: see `_aligned`. Apart from the shapes,
    their values in `columns` must be equal. If categories are compared instead of types, an
    operator must fit only one other operator.

    For each operator, return the row in `base`. It is -1 for operators without a match, and for
    operators that an earlier step has matched.
    """
    found = np.full(len(profile), -1)
    sizes = block_sizes(profile, base)
    if not sizes:
        return found
    others = [name for name in columns if name not in (*SHAPES, *SINGLE_SHAPES)]
    shapes, base_shapes = blocked_shapes(profile), blocked_shapes(base)
    # Either side may be the padded one. A padded operator only matches an operator that is not.
    for size, is_padded in product(sizes, (True, False)):
        matched = np.maximum(base_row_of, found)
        rest, base_rest = _unmatched(matched, len(base))
        values = _rounded_values(profile, rest, others, shapes, size, is_padded=is_padded)
        base_values = _rounded_values(
            base, base_rest, others, base_shapes, size, is_padded=not is_padded
        )
        if "category" in others:
            values, base_values = _single(values), _single(base_values)
        candidates = _aligned(profile, base, matched, values, base_values)
        for row in np.flatnonzero(candidates >= 0).tolist():
            one, other = shapes[row], base_shapes[candidates[row]]
            if one and other and (one.pads(other) or other.pads(one)):
                found[row] = candidates[row]
    return found


def _aligned(
    profile: Profile,
    base: Profile,
    base_row_of: NDArray[np.int64],
    values: Sequence[Hashable],
    base_values: Sequence[Hashable],
) -> NDArray[np.int64]:
    """Match operators with equal values that are in the same order in both networks.

    `values` and `base_values` are the values of the operators that no earlier step has matched. The
    operators of each side form a sequence, in the order of execution. Two operators are equal if an
    earlier step has matched the two, or if they have equal values. The matches are the longest
    common subsequence. For example, one network may have two equal layers, and the other network
    only one such layer. The layers around it then decide which of the two matches.

    For each operator, return the row in `base`. It is -1 for operators without a match, and for
    operators that an earlier step has matched.
    """
    found = np.full(len(profile), -1)
    rest, base_rest = _unmatched(base_row_of, len(base))
    order, base_order = (in_order_of_execution(side).tolist() for side in (profile, base))
    # The element for a matched operator is its row in `base`. For all other operators, the element
    # is replaced below by their values.
    elements: dict[int, Hashable] = dict(enumerate(base_row_of.tolist()))
    base_elements: dict[int, Hashable] = dict(enumerate(range(len(base))))
    elements.update(zip(rest.tolist(), values, strict=True))
    base_elements.update(zip(base_rest.tolist(), base_values, strict=True))
    is_rest = set(rest.tolist())
    for index, base_index in common_subsequence(
        [elements[row] for row in order], [base_elements[row] for row in base_order]
    ):
        if order[index] in is_rest:
            found[order[index]] = base_order[base_index]
    return found


def _rounded_values(
    side: Profile,
    rows: NDArray[np.int64],
    columns: Sequence[str],
    shapes: Sequence[BlockedShapes | None],
    size: int,
    *,
    is_padded: bool,
) -> list[Hashable]:
    """Return the values of `rows` in `columns`, and their `shapes` rounded to blocks of `size`.

    Some operators must not match. Each of them gets a value that equals no other value:

    - if `is_padded` is true, operators without blocks; otherwise, operators with blocks
    - operators of unknown shapes
    - if categories are compared: operators of unknown category, or of one in `_NOT_BY_SHAPES`
    """
    left_out = (None, *_NOT_BY_SHAPES) if columns[0] == "category" else ()
    return [
        (value, one.rounded(size))
        if one and bool(one.blocks) == is_padded and value[0] not in left_out
        else object()
        for value, one in zip(
            _values(side, rows, columns), (shapes[row] for row in rows), strict=True
        )
    ]


def _values(
    side: Profile, rows: NDArray[np.int64], columns: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return the values of `rows` in `columns`: their identities without the number at the end."""
    return [one[:-1] for one in identities(side, columns, rows)]


def _single(values: Sequence[Hashable]) -> list[Hashable]:
    """Return the values. A value that occurs several times becomes objects that equal nothing."""
    counts = Counter(values)
    return [one if counts[one] == 1 else object() for one in values]


def _by_identity(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], columns: Sequence[str]
) -> NDArray[np.int64]:
    """Match operators with equal values in the order of execution.

    For each operator, return the row in `base`. It is -1 for operators without a match, and for
    operators that an earlier step has matched.
    """
    rest, base_rest = _unmatched(base_row_of, len(base))
    base_rows = _rows_by_identity(base, base_rest, columns)
    rows = _rows_by_identity(profile, rest, columns)
    if "in_shape" in columns:  # a step of `_BY_SHAPES`
        base_rows = _where_as_many(rows, base_rows)
        base_rows = _where_work_agrees(profile, rows, base, base_rows)
    found = np.full(len(profile), -1)
    found[rest] = [base_rows.get(identity, -1) for identity in rows]  # in the order of `rest`
    return found


_WAYS: Final = {
    # By identity alone, one missing layer would shift the matches of all later equal layers.
    # Padding comes first: a layer with 24 channels may be a layer with 20 that was padded. If equal
    # shapes were matched first, it might match another layer, which had 24 channels from the start.
    _BY_STRUCTURE[0]: (_by_padding, _by_neighbours, _by_identity),
    _BY_SHAPES[0][0]: (_by_identity, _by_padding),
}
"""How operators are matched in a step. Other steps match by identity alone."""


def _unmatched(
    base_row_of: NDArray[np.int64], base_operators: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of both sides that no step has matched yet."""
    matched = base_row_of[base_row_of >= 0]
    return np.flatnonzero(base_row_of < 0), np.setdiff1d(np.arange(base_operators), matched)


def _with_stricter_names(
    steps: Sequence[tuple[str, ...]], profile: Profile, base: Profile
) -> Iterator[tuple[str, ...]]:
    """Yield the steps. Before the step that compares name and type, yield a stricter step."""
    loaded = [
        name
        for name in _BESIDE_NAMES
        if name == "scope" or all(name in side.operators.optional for side in (profile, base))
    ]
    for step in steps:
        if step == _BY_NAME:
            yield (*step, *loaded)
        yield step


def _where_as_many(
    rows: Iterable[tuple[Any, ...]], base_rows: Mapping[tuple[Any, ...], int]
) -> dict[tuple[Any, ...], int]:
    """Keep only operators whose category and shapes occur equally often on both sides.

    Otherwise, it is unclear which operators belong together. Operators of unknown shapes or of
    unknown category are also left out, and so are the categories in `_NOT_BY_SHAPES`.
    """
    # An identity is a category and shapes, followed by a number that counts equal operators.
    counts, base_counts = (Counter(one[:-1] for one in side) for side in (rows, base_rows))
    return {
        one: row
        for one, row in base_rows.items()
        if counts[one[:-1]] == base_counts[one[:-1]]
        and None not in one
        and one[0] not in _NOT_BY_SHAPES
    }


def _where_work_agrees(
    profile: Profile,
    rows: Mapping[tuple[Any, ...], int],
    base: Profile,
    base_rows: Mapping[tuple[Any, ...], int],
) -> dict[tuple[Any, ...], int]:
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


def _have_shapes(*profiles: Profile) -> bool:
    """Return whether the formats of all `profiles` have shapes.

    A format counts as having shapes even if they were not loaded. The matching then raises an
    error, instead of silently leaving out a step.
    """
    return all(profile.operators.state("in_shapes") != "absent" for profile in profiles)


def _rows_by_identity(
    profile: Profile, rows: NDArray[np.int64], columns: Sequence[str]
) -> dict[tuple[Any, ...], int]:
    """Return a dictionary from identities to rows, for the operators in `rows`.

    The identity of an operator is its values in `columns`, followed by a number: see `identities`.
    """
    keys = identities(profile, columns, rows)
    return dict(zip(keys, rows.tolist(), strict=True))

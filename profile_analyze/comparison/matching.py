"""Matches the operators of two profiles in steps.

Each step compares the values of some columns. Operators with the same values match in the order of
execution. Steps that compare shapes have further ways to match: see `_WAYS`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.comparison.common_subsequence import common_subsequence
from profile_analyze.comparison.matching_by_name import (
    by_name,
    by_name_of_unknown_type,
    by_node,
    unmatched,
)
from profile_analyze.comparison.matching_limits import (
    NOT_BY_SHAPES,
    where_as_many,
    where_work_agrees,
)
from profile_analyze.model.graph.before_model import MAIN_NODE, before_model
from profile_analyze.model.graph.padded_channels import block_sizes, blocked_shapes
from profile_analyze.model.joining.identity import (
    SINGLE_SHAPES,
    identities,
    in_order_of_execution,
    rows_by_identity,
)
from profile_analyze.model.terms import ADDED, FULL_NAME, SHAPES, TELLING_APART

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.graph.padded_channels import BlockedShapes
    from profile_analyze.model.profile import Profile

_BY_NAME: Final = ("name", "name", "type")
_BESIDE_NAMES: Final = (*TELLING_APART, FULL_NAME)
"""Extra columns for a stricter step, which runs before the step that compares name and type. A
column is used only if both profiles have it. A trace may have many rows with the same name. If only
the order of these rows decided, one added row would shift the matches of all later rows."""
_BY_NODE: Final = ("name", MAIN_NODE)
"""Two builds of one model may name an operator differently. If a model was added to both sides,
operators that execute the same node match, as if they had its name."""
_BY_NAME_AND_CATEGORY: Final = ("name", "name", "category")
_BY_STRUCTURE: Final = ("structure", "type", "in_shapes", "out_shapes", "parameters")
_BY_SHAPES: Final = (
    ("shapes", "category", "in_shape", "weight_shape", "out_shape"),
    ("shapes", "category", "in_shape", "out_shape"),
)
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
    recorded = before_model(profile), before_model(base)
    for step, *columns in _with_further_names(steps, profile, base):
        # Shapes of two formats are compared with those of the model, which one format may lack.
        sides = (profile, base) if step == _BY_SHAPES[0][0] else recorded
        if not {"in_shapes", "in_shape"}.isdisjoint(columns) and not _have_shapes(*sides):
            continue  # without shapes, all operators of one type would look the same
        for way in _WAYS[columns[0]]:
            found = way(*sides, base_row_of, columns)
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
    rest, base_rest = unmatched(base_row_of, len(base))
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
        rest, base_rest = unmatched(matched, len(base))
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
    rest, base_rest = unmatched(base_row_of, len(base))
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
    - if categories are compared: operators of unknown category, or of one in `NOT_BY_SHAPES`
    """
    left_out = (None, *NOT_BY_SHAPES) if columns[0] == "category" else ()
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
    rest, base_rest = unmatched(base_row_of, len(base))
    base_rows = rows_by_identity(base, base_rest, columns)
    rows = rows_by_identity(profile, rest, columns)
    if "in_shape" in columns:  # a step of `_BY_SHAPES`
        base_rows = where_as_many(rows, base_rows)
        base_rows = where_work_agrees(profile, rows, base, base_rows)
    found = np.full(len(profile), -1)
    found[rest] = [base_rows.get(identity, -1) for identity in rows]  # in the order of `rest`
    return found


_WAYS: Final = {
    # By identity alone, one missing layer would shift the matches of all later equal layers.
    # Padding comes first: a layer with 24 channels may be a layer with 20 that was padded. If equal
    # shapes were matched first, it might match another layer, which had 24 channels from the start.
    _BY_STRUCTURE[1]: (_by_padding, _by_neighbours, _by_identity),
    _BY_SHAPES[0][1]: (_by_identity, _by_padding),
    _BY_NAME[1]: (by_name, by_name_of_unknown_type),
    _BY_NODE[1]: (by_node,),
}
"""How operators are matched in a step, by the first column of the step."""


def _with_further_names(
    steps: Sequence[tuple[str, ...]], profile: Profile, base: Profile
) -> Iterator[tuple[str, ...]]:
    """Yield the steps, with further steps around the one that compares name and type.

    A stricter step comes before it. If a model was added to both sides, `_BY_NODE` comes after it.
    """
    both = profile.operators.optional.keys() & base.operators.optional.keys()
    loaded = [name for name in _BESIDE_NAMES if name == "scope" or name in both]
    for step in steps:
        if step == _BY_NAME:
            yield (*step, *loaded)
        yield step
        if step == _BY_NAME and MAIN_NODE in both:
            yield _BY_NODE


def _have_shapes(*profiles: Profile) -> bool:
    """Return whether the formats of all `profiles` have shapes.

    A format counts as having shapes even if they were not loaded. The matching then raises an
    error, instead of silently leaving out a step.
    """
    return all(profile.operators.state("in_shapes") != "absent" for profile in profiles)

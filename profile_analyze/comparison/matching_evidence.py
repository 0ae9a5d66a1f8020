"""Counts the matched operators that show that both sides of a comparison ran one model.

A match is no sign of one model if any two models have it: constants, operators that take no time,
and names that only say what kind an operator is, such as `aten::add_`.
"""

from __future__ import annotations

from collections import Counter
from itertools import compress
from math import nan, prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.columns.formulas import work_in_runs
from profile_analyze.model.numbers import median, totals
from profile_analyze.model.terms import CONTROL, DEVICE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.operators import Shapes
    from profile_analyze.model.profile import Profile

    Flags = NDArray[np.bool_]

_NAME: Final = "name"
"""The value of `Comparison.match` for operators that match by name."""
_ALMOST_ALL: Final = 0.9
"""If matched operators take at least this share of the time on both sides, names are enough: the
sides run the same kinds of operators, equally often. All shapes may then differ, for example
because one side was pruned."""
_MOST_UNKNOWN: Final = 0.05
"""The computation of a side is known if operators of unknown computation take at most this share of
its time."""


class Evidence(NamedTuple):
    """How many operators count, and how many of them match."""

    matched: int
    counted: int
    """How many operators the side with fewer operators has."""
    only_names: int
    """How many operators have only the name of their kind in common. `matched` excludes them."""
    have_times: bool
    """Whether operators without a device time were left out."""


def evidence_of(comparison: Comparison) -> Evidence:
    """Return how many operators show that both sides ran one model.

    Constants and other bookkeeping do not count, because constants of different models often match
    by their shapes. Operators that hold a graph do not count, because no operator is like them. If
    both sides have device times, operators without one do not count either.
    """
    sides = (comparison.profile, comparison.base)
    category = comparison.profile.operators.category
    does_work = ~category.where(one == CONTROL for one in category.categories)
    on_sides = [
        one & does_work & ~side.operators.hold_graphs
        for one, side in zip(comparison.on_sides(), sides, strict=True)
    ]
    counted, timed = on_sides, [side.recorded(DEVICE) for side in sides]
    if all(one.any() for one in timed):
        counted = [one & has_time for one, has_time in zip(on_sides, timed, strict=True)]
    both = counted[0] & counted[1]
    only_names = both & _have_only_names_in_common(comparison)
    return Evidence(
        int((both & ~only_names).sum()),
        min(int(one.sum()) for one in counted),
        int(only_names.sum()),
        any((one & ~left).any() for one, left in zip(on_sides, counted, strict=True)),
    )


def factor_of_computation(comparison: Comparison) -> float:
    """Return the computation of a run, divided by the computation of a run of the baseline.

    The result is NaN if the computation of a side is unknown or 0.
    """
    own, base = (_computation_of_run(side) for side in (comparison.profile, comparison.base))
    return own / base if own > 0 and base > 0 else nan


def _computation_of_run(side: Profile) -> float:
    """Return the computation of all operators in the median run; NaN if too much is unknown."""
    if not side.share_of(np.isnan(side.operators.computation)) <= _MOST_UNKNOWN:
        return nan
    in_runs = totals(work_in_runs(side, "computation"))
    return median(in_runs[np.newaxis])


def _have_only_names_in_common(comparison: Comparison) -> Flags:
    """Return which operators have the name of their kind in common, but no shape of an input.

    The result has shape (operators,). It is false for operators of unknown shapes, and everywhere
    if matched operators take almost all of the time.
    """
    sides = (comparison.profile, comparison.base)
    found = np.zeros(len(comparison.profile), np.bool_)
    in_profile, in_base = comparison.on_sides()
    if all(side.share_of(in_profile & in_base) >= _ALMOST_ALL for side in sides):
        return found
    if any(side.operators.state("in_shapes") != "loaded" for side in sides):
        return found
    by_name = comparison.match.where(how == _NAME for how in comparison.match.categories)
    rows = np.flatnonzero(by_name & _have_names_of_kinds(comparison))
    columns = (
        comparison.profile.operators.categorical("in_shapes"),
        comparison.base_shapes["in_shapes"],
    )
    shapes, base_shapes = (one.take(rows).values().tolist() for one in columns)
    found[rows] = [
        None not in pair and not _have_common_shape(*pair)
        for pair in zip(shapes, base_shapes, strict=True)
    ]
    return found


def _have_names_of_kinds(comparison: Comparison) -> Flags:
    """Return which names only say what kind an operator is, shape (operators,).

    Such a name is the type of the operator, or several operators of a side have it.
    """
    operators = comparison.profile.operators
    names = operators.name.values().tolist()
    other_names = comparison.base_name.values().tolist()
    base_names = [other or name for name, other in zip(names, other_names, strict=True)]
    in_profile, in_base = comparison.on_sides()
    count = Counter(compress(names, in_profile))
    base_count = Counter(compress(base_names, in_base))
    rows = zip(names, base_names, operators.type.values(), strict=True)
    return np.array(
        [
            kind in (name, base_name) or count[name] > 1 or base_count[base_name] > 1
            for name, base_name, kind in rows
        ],
        np.bool_,
    )


def _have_common_shape(shapes: Shapes, base_shapes: Shapes) -> bool:
    """Return whether an input has the same shape on both sides. Single numbers do not count."""
    return any(
        shape == other and prod(shape) > 1
        for shape, other in zip(shapes, base_shapes, strict=False)  # one may have more inputs
    )

"""Attributes computation and memory to the executions of one level: see `levels.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import finite
from profile_analyze.model.terms import DERIVED

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


def with_owned_work(
    profile: Profile, parent: Indices, owner: Indices, is_row: NDArray[np.bool_]
) -> Operators:
    """Return the operators with the computation and memory of the executions that they own.

    Work counts once. If an outer and a nested execution both have work, only the nested work
    counts.
    """
    operators, executions = profile.operators, profile.executions
    calls = np.bincount(
        executions.operator[is_row], executions.calls[is_row], minlength=len(operators)
    )
    changed: dict[str, Any] = {}
    for work in ("computation", "memory"):
        per_call: Floats = getattr(operators, work)
        is_known = ~np.isnan(per_call)[executions.operator]
        counts = is_known & ~_has_known_inside(is_known, parent) & (owner >= 0)
        inside = counts & ~is_row
        superseded = is_row & is_known & ~counts  # nested work counts instead
        if not (inside.any() or superseded.any()):
            continue
        rows = np.flatnonzero(counts)
        owning_operator = executions.operator[owner[rows]]
        with np.errstate(all="ignore"):
            amounts = per_call[executions.operator[rows]] * executions.calls[rows]
            sums = np.bincount(owning_operator, amounts, minlength=len(operators)) / calls
        sums[np.bincount(owning_operator, minlength=len(operators)) == 0] = np.nan
        # Other operators keep their exact values. Multiplying and dividing by calls could round.
        is_changed = np.zeros(len(operators), np.bool_)
        is_changed[executions.operator[owner[inside]]] = True
        is_changed[executions.operator[superseded]] = True
        changed[work] = np.where(is_changed, finite(sums), per_call)
        source = _source_with_inside(operators, work, np.flatnonzero(inside), owner, executions)
        changed[f"{work}_source"] = source
    return replace(operators, **changed) if changed else operators


def _has_known_inside(is_known: NDArray[np.bool_], parent: Indices) -> NDArray[np.bool_]:
    """Return whether each execution contains executions with known work, shape (executions,)."""
    result = np.zeros(len(parent), np.bool_)
    above = _distinct_parents(parent, is_known)
    while len(above):  # one level up in each pass, until all ancestors are marked
        new = above[~result[above]]
        result[new] = True
        above = _distinct_parents(parent, new)
    return result


def _distinct_parents(parent: Indices, rows: NDArray[Any]) -> Indices:
    """Return the distinct parents of the executions `rows`."""
    above = np.unique(parent[rows])
    return above[above >= 0]


def _source_with_inside(
    operators: Operators,
    work: str,
    inside: Indices,
    owner: Indices,
    executions: Executions,
) -> Categorical[str]:
    """Return the source of each operator's work: `derived` if any part of it is derived."""
    source: Categorical[str] = getattr(operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    derived = inside[is_derived[executions.operator[inside]]]
    categories = tuple(dict.fromkeys((*source.categories, DERIVED)))
    codes = source.codes.copy()
    codes[executions.operator[owner[derived]]] = categories.index(DERIVED)
    return Categorical(codes, categories)

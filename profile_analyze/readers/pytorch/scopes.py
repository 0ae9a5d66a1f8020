"""The paths of modules and regions around the events of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from profile_analyze.model.numbers import numbered
from profile_analyze.model.ownership import innermost_above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.operators import Scope

    Indices: TypeAlias = NDArray[np.int64]


def scopes_of(
    parent: Indices, is_region: NDArray[np.bool_], name: Indices, names: Sequence[str]
) -> tuple[Indices, Indices, list[Scope]]:
    """Return the scope of each event of the host, that of what runs inside it, and all scopes.

    A scope is an index of the third result, or -1 outside of all regions. `parent`, `is_region` and
    `name`, an index of `names`, have shape (events,).
    """
    above = innermost_above(parent, is_region)
    regions = np.flatnonzero(is_region)
    inside = np.full(len(parent) + 1, -1)  # the scope of what runs inside a region
    scopes: list[Scope] = []
    waiting = regions
    while len(waiting):  # in each pass, the regions one level further inside
        outer = inside[above[waiting]]  # -1 for outermost regions: the extra entry
        is_ready = (above[waiting] < 0) | (outer >= 0)
        ready = waiting[is_ready]
        pair = (outer[is_ready] + 1) * len(names) + name[ready]
        number, first = numbered(pair)
        inside[ready] = number + len(scopes)
        for row in ready[first].tolist():
            around = scopes[inside[above[row]]] if above[row] >= 0 else ()
            scopes.append((*around, names[name[row]]))
        waiting = waiting[~is_ready]
    scope = inside[above]
    return scope, np.where(is_region, inside[:-1], scope), scopes

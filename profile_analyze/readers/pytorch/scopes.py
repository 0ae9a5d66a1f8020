"""Finds the scopes of host events. A scope is the path of the modules and regions around an event.

The docstring of the package defines host events, driver calls and work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.numbers import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.operators import Scope

    Indices: TypeAlias = NDArray[np.int64]

_DEEPEST: Final = 100
"""The most names in a scope. Without a limit, deeply nested regions take quadratic memory."""


def scopes_of(
    parent: Indices, is_region: NDArray[np.bool_], name: Indices, names: Sequence[str]
) -> tuple[Indices, Indices, list[Scope]]:
    """Return the scope of each host event, the scope of events directly inside it, and all scopes.

    The first two results are indices in the third one, or -1 outside all regions, and have shape
    (events,). The paths inside regions that are nested deeper than `_DEEPEST` stop at that depth.

    `is_region` is true for modules, too. `name` has indices in `names`. `parent`, `is_region` and
    `name` have shape (events,).
    """
    above = innermost_above(parent, is_region)
    inside = np.full(len(parent) + 1, -1)  # the scope of events directly inside each region
    scopes: list[Scope] = []
    waiting = np.flatnonzero(is_region)
    for _ in range(_DEEPEST):  # each pass handles the regions of one depth
        outer = inside[above[waiting]]  # outermost regions look up the last entry: -1
        is_ready = (above[waiting] < 0) | (outer >= 0)
        ready = waiting[is_ready]
        pair = (outer[is_ready] + 1) * len(names) + name[ready]
        number, first = numbered(pair)
        inside[ready] = number + len(scopes)
        for row in ready[first].tolist():
            around = scopes[inside[above[row]]] if above[row] >= 0 else ()
            scopes.append((*around, names[name[row]]))
        waiting = waiting[~is_ready]
        if not len(waiting):
            break
    else:
        # Deeper regions get the scope of the nearest region above them that has one.
        inside[waiting] = inside[innermost_above(parent, inside[:-1] >= 0)[waiting]]
    scope = inside[above]
    return scope, np.where(is_region, inside[:-1], scope), scopes

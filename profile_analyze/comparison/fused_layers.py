"""Adds up the times of operators that the other side of a comparison runs as one fused layer.

For example, one runtime fuses a convolution with its activation, and the other runtime runs the two
one by one. The fused layer would match only the convolution. The activation would have no match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.findings import BASELINE, Finding, Kind
from profile_analyze.model.terms import FUSED_NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

    Indices = NDArray[np.int64]


def with_parts(
    profile: Profile, base: Profile, base_row_of: Indices
) -> tuple[Profile, Profile, tuple[Note, ...]] | None:
    """Add the times of parts of fused layers to the operators that match these layers.

    A part is an operator without a match that the other side runs in a fused layer. `base_row_of`
    has the row in `base` that matches each operator of `profile`, or -1. Return both sides and the
    notes; None if there is nothing to add.
    """
    row_of = np.full(len(base), -1)
    matched = np.flatnonzero(base_row_of >= 0)
    row_of[base_row_of[matched]] = matched
    of_base = _layer_rows(base, row_of, profile)
    of_profile = _layer_rows(profile, base_row_of, base)
    if not of_base and not of_profile:
        return None
    notes = (*_notes(profile, of_profile), *(n.about(BASELINE) for n in _notes(base, of_base)))
    return _added(profile, of_profile), _added(base, of_base), notes


def _layer_rows(side: Profile, match_of: Indices, other: Profile) -> dict[int, int]:
    """Return a dictionary from each row of `side` that loses its time to the row that gets it.

    The keys are operators without a match whose names are in the `FUSED_NAMES` of a layer of
    `other`. The values are the operators that match these layers.
    """
    fused = other.operators.categorical(FUSED_NAMES)
    if not fused.categories:
        return {}
    rows = np.flatnonzero(match_of >= 0).tolist()
    names_of = fused.values().tolist()
    row_of_name: dict[str, int] = {}
    for row in rows:
        for name in names_of[match_of[row]] or ():
            # If two layers name the operator, its time is not added to either layer.
            row_of_name[name] = -1 if name in row_of_name else row
    names = side.operators.name.values().tolist()
    return {
        row: row_of_name[names[row]]
        for row in np.flatnonzero(match_of < 0).tolist()
        if row_of_name.get(names[row], -1) >= 0
    }


def _added(side: Profile, layer_row_of: dict[int, int]) -> Profile:
    """Drop the rows in the keys of `layer_row_of`. Move their executions to the rows in the values.

    The keys and the values are rows of `side`.
    """
    if not layer_row_of:
        return side
    parts = np.array([*layer_row_of])
    keep = np.setdiff1d(np.arange(len(side)), parts)
    new_row = np.full(len(side), -1)
    new_row[keep] = np.arange(len(keep))
    new_row[parts] = new_row[[*layer_row_of.values()]]
    executions = side.executions
    is_part = np.isin(executions.operator, parts)
    return side.changed(
        operators=side.operators.take(keep),
        executions=executions.changed(
            operator=new_row[executions.operator].astype(np.int32),
            # A moved execution is not a call of the layer. Otherwise, the layer's work, which is
            # multiplied by its calls, would count several times.
            calls=np.where(is_part, 0, executions.calls),
        ),
        **side.without_tables(keep=["tensors"]),
    )


def _notes(side: Profile, layer_row_of: dict[int, int]) -> tuple[Note, ...]:
    if not layer_row_of:
        return ()
    is_part = np.zeros(len(side), np.bool_)
    is_part[[*layer_row_of]] = True
    operators, share = len(layer_row_of), side.share_of(is_part)
    return (Finding.of("parts-of-fused-layers", Kind.CONTEXT, share=share, operators=operators),)

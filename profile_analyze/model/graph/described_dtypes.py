"""Finds operators that were computed in other dtypes than the model describes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.findings import Kind, on_operators
from profile_analyze.model.terms import COMPUTE_DTYPE, DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.graph.graph import ModelGraph
    from profile_analyze.model.graph.matching import Match
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile


def notes_on_dtypes(
    profile: Profile,
    model: Profile,
    graph: ModelGraph,
    by_row: Mapping[int, Match],
    has_memory: NDArray[np.bool_],
) -> Iterator[Note]:
    """Yield a note for each pair of a dtype of the profile and another dtype of the model.

    Only values of different sizes matter, because only these change the memory. `has_memory` says
    which operators have the memory of their nodes, shape (operators,). No notes are yielded if one
    side was loaded without dtypes.
    """
    if any(COMPUTE_DTYPE in one.operators.not_loaded for one in (profile, model)):
        return
    computed = profile.operators.categorical(COMPUTE_DTYPE).values().tolist()
    described = model.operators.categorical(COMPUTE_DTYPE).values().tolist()
    found: dict[tuple[str, str], NDArray[np.bool_]] = {}
    for row, match in by_row.items():
        own, of_model = computed[row], described[match.main]
        bits = _bits_of(own)
        # A runtime may fuse a conversion with the operator after it. In the profile, the fused
        # operator may then have the dtype that the conversion reads.
        fitting = {_bits_of(of_model), _bits_of(graph.first_dtype(match.nodes))}
        if has_memory[row] and of_model is not None and bits is not None and bits not in fitting:
            found.setdefault((own, of_model), np.zeros(len(profile), np.bool_))[row] = True
    for (own, of_model), is_affected in found.items():
        yield from on_operators(
            *("other-dtype", Kind.WRONG, int(is_affected.sum()), profile.share_of(is_affected)),
            dtype=own, described=of_model, is_execution_graph=model.is_execution_graph,
        )  # fmt: skip


def _bits_of(dtype: str | None) -> int | None:
    """Return the bits of one value of a canonical dtype; None if they are unknown."""
    bits = re.search(r"\d+$", dtype or "") if dtype in DTYPES else None
    return None if bits is None else int(bits[0])

"""Finds operators whose shapes changed between runs.

The file has the work of the first run and the times of the last run. For these operators, work and
times therefore do not match.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.readers.megengine import sections
from profile_analyze.readers.megengine.graph import decode_shape, input_ids, last_shapes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


def has_stale_shapes(
    footprints: Sequence[sections.Footprint], graph: sections.Graph
) -> NDArray[np.bool_] | None:
    """Return, for each operator, whether its shapes differ between the first run and the last.

    Footprints have the shapes of the first run. The variables of the graph have the shapes of the
    last run, and the times are of the last run, too. The array has shape (operators,). The result
    is None if the file has null instead of an object with shapes.
    """
    operators = graph.operator.values()
    # Only the first output is compared. Workspaces may follow it, but footprints omit workspaces.
    outputs = [operator.output[0] if operator.output else "" for operator in operators]
    try:
        last = last_shapes(outputs, graph.var)
        first = sections.raw_column(footprints, "out_shapes")
        # Usually no shape changed. To find that out fast, compare each distinct pair once.
        if not any(_differ(*pair) for pair in set(zip(first, last, strict=True))):
            return np.zeros(len(operators), np.bool_)
        is_stale = np.array([_differ(*pair) for pair in zip(first, last, strict=True)])
        # Some operators, such as a sum, have the same output shape for any input. So inputs are
        # compared, too.
        return is_stale | _have_stale_inputs(footprints, operators, graph.var)
    except AttributeError:  # null instead of an object
        return None


@lru_cache(maxsize=sections.CACHE_SIZE)
def _differ(output_shapes: bytes, last_shape: bytes) -> bool:
    """Return whether the first of `output_shapes` differs from `last_shape`, if both are known."""
    first, last = sections.OUT_SHAPES.decode_cached(output_shapes), decode_shape(last_shape)
    return bool(first and last is not None and first[0] != last)


def _have_stale_inputs(
    footprints: Iterable[sections.Footprint],
    operators: Iterable[sections.Operator],
    variables: Mapping[str, sections.Variable],
) -> NDArray[np.bool_]:
    """Return, for each operator, whether the shape of an input differs between graph and footprint.

    The array has shape (operators,). If graph and footprint have different numbers of inputs, it is
    unknown which shapes belong together, and the value is False.
    """
    in_shapes = Categorical.of(sections.raw_column(footprints, "in_shapes")).mapped(
        sections.IN_SHAPES.decode_cached
    )
    comparable = [
        (row, id_, first)
        for row, (ids, shapes) in enumerate(
            zip(input_ids(operators), in_shapes.values(), strict=True)
        )
        if shapes and len(shapes) == len(ids)
        for id_, first in zip(ids, shapes, strict=True)
    ]
    last_of_inputs = map(decode_shape, last_shapes([id_ for _, id_, _ in comparable], variables))
    is_stale = np.zeros(len(in_shapes), np.bool_)
    for (row, _, first), last in zip(comparable, last_of_inputs, strict=True):
        is_stale[row] |= last is not None and first != last
    return is_stale

"""A note for runs with different input shapes, where a row covers only some of the runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.notes import Importance, Note
from profile_analyze.units import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.rows import GroupRows, OperatorRows

_MOST_SHARES: Final = 1.05
"""Shares add up to about 1 if all rows cover the same runs. A sum above this limit gets a note."""


def shape_set_notes(operators: OperatorRows, rows: OperatorRows | GroupRows) -> Iterator[Note]:
    """Yield a note if shares add up to more than 1, because rows cover different runs."""
    runs = operators.profile.runs
    if len(runs) < 2 or operators.comparison is not None:
        return
    ran = ~np.isnan(operators.per_run("time"))
    if ran.shape[1] < len(runs) or (ran.all(axis=1) == ran.any(axis=1)).all():
        return
    varies = _has_several_shapes(operators)
    sets_of_runs = [of_run.tobytes() for of_run in ran[varies].T]
    sets = len({*sets_of_runs})
    # If shapes differ only between processes, the files may be of different models. Another note
    # is about that.
    of_processes = {(run.process, one) for run, one in zip(runs, sets_of_runs, strict=True)}
    if len(of_processes) == len({process for process, _ in of_processes}):
        return
    shares = float(np.nansum(rows["share"]))
    if sets > 1 and shares > _MOST_SHARES:
        yield Note(
            f"the runs have {sets} sets of input shapes: a row covers only the runs of its shapes, "
            f"and its share is of their totals, so all shares add up to {percent(shares)}; "
            "--aggregate-by name joins the shapes, --aggregate-by run shows each run, and "
            "--skip-runs N leaves out the first runs",
            Importance.ANSWER,
        )


def _has_several_shapes(operators: OperatorRows) -> NDArray[np.bool_]:
    """Return a mask of the operators whose scope, name and type another row also has.

    The mask has shape (operators,). Such rows differ in their shapes.
    """
    of_profile = operators.profile.operators
    keys = (of_profile.scope, of_profile.name, of_profile.type)
    nodes = [*zip(*(key.codes.tolist() for key in keys), strict=True)]
    counts = Counter(nodes)
    return np.array([counts[node] > 1 for node in nodes], np.bool_)

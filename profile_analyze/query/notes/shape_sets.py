"""Notes on rows that cover only some of the runs, for example because input shapes differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.large_arrays import blocks_of_rows
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import numbered
from profile_analyze.model.terms import KERNEL, LABEL
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows

_MOST_SHARES: Final = 1.05
"""Shares add up to about 1 if all rows cover the same runs. A sum above this limit gets a note."""


def shape_set_notes(
    operators: OperatorRows, rows: OperatorRows | GroupRows, shown: ShownRows
) -> Iterator[Note]:
    """Yield a note if shares add up to more than 1, because rows cover different runs.

    If all rows of the table (`shown`) cover all runs, the note on partial rows is less important.
    """
    runs = operators.profile.runs
    if len(runs) < 2 or operators.comparison is not None:
        return
    if any(key.startswith(LABEL) for key in operators.profile.split_by):
        return  # rows with different labels are meant to cover different runs
    blocks = blocks_of_rows(operators.per_run("time"))
    ran = ~np.concatenate([np.isnan(times) for (times,) in blocks])
    is_partial = ran.any(axis=1) & ~ran.all(axis=1)
    if ran.shape[1] < len(runs) or not is_partial.any():
        return
    varies = _have_varying_shapes(operators, ran)
    sets = len({of_run.tobytes() for of_run in ran[varies].T})
    # If operators differ only between processes, the files may be of different models. Another note
    # says so.
    of_processes = {
        (run.process, one.tobytes()) for run, one in zip(runs, ran[is_partial].T, strict=True)
    }
    if len(of_processes) == len({process for process, _ in of_processes}):
        return
    shares = float(np.nansum(rows["share"]))
    if shares <= _MOST_SHARES:
        return
    if sets == 1:
        yield _note_on_partial_rows(int(is_partial.sum()), len(runs), shares, shown)
    else:
        yield TextNote(
            f"the runs have {sets} sets of input shapes: a row covers only the runs with its "
            "shapes, and its share is relative to the totals of these runs, so all shares add up "
            f"to {percent(shares)}; --aggregate-by name joins the shapes, --aggregate-by run shows "
            "each run, and --skip-runs N leaves out the first runs",
            Importance.ANSWER,
        )


def _note_on_partial_rows(partial: int, runs: int, shares: float, shown: ShownRows) -> Note:
    """Return the note on `partial` operators, which ran in only some of the runs."""
    is_visible = bool(np.isnan(shown.per_run("time")).any())
    return TextNote(
        f"{counted(partial, 'operator')} ran in only some of the {runs} runs: the times and the "
        "share of a row are of the runs in which it ran, so all shares add up to "
        f"{percent(shares)}; --aggregate-by run shows each run",
        Importance.WRONG if is_visible else Importance.CONTEXT,
    )


def _have_varying_shapes(operators: OperatorRows, ran: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the rows whose node had different shapes in different runs.

    The mask has shape (operators,), and `ran` has shape (operators, runs). A node has one row for
    each of its shapes. If the same number of these rows ran in every run, but never all of them,
    the shapes differed between runs. If the number differs, some rows just did not run. Kernels
    have no shapes.
    """
    of_profile = operators.profile.operators
    keys = (of_profile.scope, of_profile.name, of_profile.type)
    nodes = np.zeros(len(ran), np.int64)
    for key in keys:
        nodes, _ = numbered(nodes * (len(key.categories) + 1) + key.codes + 1)
    counts = np.zeros((int(nodes.max()) + 1, ran.shape[1]), np.int64)
    np.add.at(counts, nodes, ran)
    is_regular = (counts == counts[:, :1]).all(axis=1) & (np.bincount(nodes) > counts[:, 0])
    is_kernel = of_profile.are_at(KERNEL)
    return np.asarray(is_regular[nodes] & ~is_kernel)

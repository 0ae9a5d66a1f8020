"""A note on shares that differ from the quotient of the times shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.numbers import ratio
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.query.rows import OperatorRows, ShownRows

_NOTEWORTHY: Final = 0.01
"""A smaller difference between shares gets no note, because nobody would notice it."""


def share_notes(operators: OperatorRows, shown: ShownRows) -> Iterator[Note]:
    """Yield a note if shares, which are medians over the runs, differ much from time / total."""
    query = operators.query
    runs = len(operators.profile.runs)
    if runs < 2 or query.split_by or query.run_statistic != "median":
        return
    ran_always = ~np.isnan(shown.per_run("time")).any(axis=1)
    quotients = ratio(shown["time"], operators.total_s)
    differences = np.abs(shown["share"] - quotients)[ran_always]
    noteworthy = differences[differences > _NOTEWORTHY]  # without NaN, which is not above anything
    if len(noteworthy):
        yield Note(
            f"the shares of {counted(len(noteworthy), 'row')} differ from time / total by up to "
            f"{100 * noteworthy.max():.1f} points, because a share is the median of the shares of "
            f"{runs} runs; --aggregate-by run shows each run, --skip-runs N leaves out the first",
            Importance.CONTEXT,
        )

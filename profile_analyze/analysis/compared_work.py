"""The work behind a change: whether a row does other work than in the baseline, and its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.statistics import FASTER, SLOWER, VERDICTS, Interval
from profile_analyze.model.categorical import MISSING_CODE, Categorical
from profile_analyze.model.numbers import ratio
from profile_analyze.model.terms import LESS_WORK, MORE_WORK

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.rows import Rows

    Floats: TypeAlias = NDArray[np.float64]

WORK_VERDICTS: Final = (*VERDICTS, MORE_WORK, LESS_WORK)
"""The verdicts on rows that both sides have."""
_MORE: Final = WORK_VERDICTS.index(MORE_WORK)
_LESS: Final = WORK_VERDICTS.index(LESS_WORK)

WORK_TOLERANCE: Final = 0.01
"""The work of a row is the same if it differs by at most this share of the smaller side."""

_KINDS: Final = ("computation", "memory")
"""The columns that may say how much work a row does. The first one that is known decides. Copies
have no computation, so their memory decides."""


class ComparedWork(NamedTuple):
    """The work of each row on both sides, shape (rows,) each."""

    ours: Floats
    base: Floats
    kind: Categorical[str]
    """The column that both amounts are from: `computation` or `memory`. If the row has neither, all
    three fields are N/A."""


def compared_work(rows: Rows) -> ComparedWork:
    """Return the work that each row is compared by.

    It is the computation. If the computation is unknown on a side, or 0 on both sides, it is the
    memory.
    """
    codes = np.full(len(rows.on_sides[0]), MISSING_CODE)
    ours, base = np.full(len(codes), np.nan), np.full(len(codes), np.nan)
    for code, name in enumerate(_KINDS):
        one, other = rows.work_on_sides(name)
        decides = (codes == MISSING_CODE) & (np.fmax(one, other) > 0) & ~np.isnan(one + other)
        codes[decides], ours[decides], base[decides] = code, one[decides], other[decides]
    return ComparedWork(ours, base, Categorical(codes, _KINDS))


def work_ratio(rows: Rows) -> Floats:
    """Return the work of each row as a multiple of the work in the baseline."""
    work = rows.once(compared_work)
    return ratio(work.ours, work.base)


def with_work(
    codes: NDArray[np.int64],
    ratios: Floats,
    interval: Interval,
    work: ComparedWork,
    threshold: float,
) -> NDArray[np.int64]:
    """Return verdicts that tell more work from slower work, shape (rows,).

    `codes` has the verdicts on the times, as indices in `VERDICTS`. `ratios` and `interval` are
    those of the times. The result has indices in `WORK_VERDICTS`.

    - `slower` becomes `more work` if the row does more work, and is not slower per work.
    - `faster` becomes `less work` if the row does less work, and is not faster per work.

    A row is slower per work if the time per work is at least 1 + `threshold` times that of the
    baseline, and its confidence interval is above 1. `faster` mirrors this.
    """
    factor = ratio(work.ours, work.base)
    per_work = ratio(ratios, factor)
    low, high = ratio(interval.low, factor), ratio(interval.high, factor)
    is_slower = (per_work >= 1 + threshold) & (low > 1)
    is_faster = (per_work <= 1 / (1 + threshold)) & (high < 1)
    has_more = work.ours > work.base * (1 + WORK_TOLERANCE)
    has_less = work.base > work.ours * (1 + WORK_TOLERANCE)
    found = codes.copy()
    found[(codes == VERDICTS.index(SLOWER)) & has_more & ~is_slower] = _MORE
    found[(codes == VERDICTS.index(FASTER)) & has_less & ~is_faster] = _LESS
    return found

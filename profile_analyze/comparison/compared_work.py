"""Compares the work of rows on both sides, and adds the verdicts `more work` and `less work`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.statistics import FASTER, SLOWER, VERDICTS
from profile_analyze.model.categorical import MISSING_CODE, Categorical
from profile_analyze.model.numbers import ratio
from profile_analyze.model.terms import LESS_WORK, MORE_WORK

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.columns.rows import Rows
    from profile_analyze.comparison.intervals import Shift

    Floats: TypeAlias = NDArray[np.float64]

WORK_VERDICTS: Final = (*VERDICTS, MORE_WORK, LESS_WORK)
"""The verdicts on rows that both sides have."""
CHANGED: Final = (SLOWER, FASTER, MORE_WORK, LESS_WORK)
"""The verdicts on times that changed beyond noise."""
_MORE: Final = WORK_VERDICTS.index(MORE_WORK)
_LESS: Final = WORK_VERDICTS.index(LESS_WORK)

WORK_TOLERANCE: Final = 0.01
"""The work of both sides counts as equal if the difference is at most this fraction of the
smaller amount."""

_KINDS: Final = ("computation", "memory")
"""The columns that can measure the work of a row, in the order in which they are tried. A column
can be used if its value is known on both sides, and above 0 on at least one. Copies have no
computation, so their memory is used."""


class ComparedWork(NamedTuple):
    """The work of each row on both sides, shape (rows,) each."""

    ours: Floats
    base: Floats
    kind: Categorical[str]
    """The column that both amounts are from: `computation` or `memory`. If neither column can be
    used, all three fields are N/A."""


def compared_work(rows: Rows) -> ComparedWork:
    """Return the computation of each row on both sides, or else the memory.

    The memory is used if the computation is unknown on one side, or 0 on both sides.
    """
    codes = np.full(len(rows.on_sides[0]), MISSING_CODE)
    ours, base = np.full(len(codes), np.nan), np.full(len(codes), np.nan)
    for code, name in enumerate(_KINDS):
        one, other = rows.work_on_sides(name)
        are_known = ~(np.isnan(one) | np.isnan(other))
        decides = (codes == MISSING_CODE) & (np.fmax(one, other) > 0) & are_known
        codes[decides], ours[decides], base[decides] = code, one[decides], other[decides]
    return ComparedWork(ours, base, Categorical(codes, _KINDS))


def work_ratio(rows: Rows) -> Floats:
    """Return the work of each row as a multiple of the work in the baseline."""
    work = rows.once(compared_work)
    return ratio(work.ours, work.base)


def with_work(
    codes: NDArray[np.int64], shift: Shift, work: ComparedWork, threshold: float
) -> NDArray[np.int64]:
    """Return the verdicts, with `more work` or `less work` where the work explains the change.

    `codes` has the verdicts on the times, as indices in `VERDICTS`. `shift` says how far the
    logarithms of these times changed. The result has indices in `WORK_VERDICTS`.

    - `slower` becomes `more work` if the row does more work, and its time per unit of work did not
      rise clearly.
    - `faster` becomes `less work` if the row does less work, and its time per unit of work did not
      fall clearly.

    The time per unit of work rose clearly if two conditions hold:

    - Its ratio to the baseline is at least 1 + `threshold`.
    - The confidence interval of this ratio is above 1.

    It fell clearly if both conditions hold with the sides swapped.
    """
    limit = np.log1p(threshold)
    with np.errstate(all="ignore"):
        # If the sides are swapped, this difference has exactly the opposite sign. The logarithm of
        # the ratio could be rounded differently.
        factor = np.log(work.ours) - np.log(work.base)
        has_more = work.ours > work.base * (1 + WORK_TOLERANCE)
        has_less = work.base > work.ours * (1 + WORK_TOLERANCE)
    is_slower = (shift.estimate - factor >= limit) & (shift.low > factor)
    is_faster = (shift.estimate - factor <= -limit) & (shift.high < factor)
    found = codes.copy()
    found[(codes == VERDICTS.index(SLOWER)) & has_more & ~is_slower] = _MORE
    found[(codes == VERDICTS.index(FASTER)) & has_less & ~is_faster] = _LESS
    return found

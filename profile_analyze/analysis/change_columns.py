"""The columns that compare with another profile; their formulas are in `changes.py`."""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.model.columns import AGGREGATED, FORMULA, SAME, Column

_column = partial(Column, needs_base=True)

_same = partial(_column, of_groups=SAME)
"""A column that comes about in the same way for operators and for groups."""

_factor = partial(_same, shown_as="digits")

COLUMNS: Final = (
    _column("base", "s", "the time in the base", AGGREGATED, timed=True, measured=True),
    _same(
        "difference",
        "s",
        "time - base; what only one side has counts whole",
        signed=True,
    ),
    _same("absolute_difference", "s", "the size of the difference"),
    _same("change", "1", "(time - base) / base", signed=True),
    _factor("ratio", "1", "time / base: above 1 is slower"),
    _factor(
        "ratio_low",
        "1",
        "the lower end of the 95 % interval of the ratio of medians",
    ),
    _factor(
        "ratio_high",
        "1",
        "the upper end of the 95 % interval of the ratio of medians",
    ),
    _factor(
        "p_value",
        "1",
        "how often chance alone would set the runs of the two sides apart as far, corrected for "
        "the number of rows",
    ),
    _same(
        "verdict",
        "",
        "slower, faster, same, uncertain, added or removed; N/A with fewer than four runs a side, "
        "or a base of 0",
        kind="text",
    ),
    _column(
        "match",
        "",
        "how the operator was matched with one of the base: by name or structure, or added, "
        "removed; of groups, which side has them: both, or added, removed",
        FORMULA,
        kind="text",
        is_key=True,
    ),
)
"""The columns that need a base."""

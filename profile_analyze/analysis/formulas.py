"""The formulas of all columns that need peak rates or a baseline.

This module is imported only if a question needs such a column.
"""

from __future__ import annotations

from typing import Final

from profile_analyze.analysis import comparison_formulas, roofline
from profile_analyze.model.rows import Formulas

_ROOFLINE: Final = roofline.FORMULAS
_COMPARISON: Final = comparison_formulas.FORMULAS

FORMULAS: Final = Formulas(
    of_rows={**_ROOFLINE.of_rows, **_COMPARISON.of_rows},
    of_operators={**_ROOFLINE.of_operators, **_COMPARISON.of_operators},
    of_groups={**_ROOFLINE.of_groups, **_COMPARISON.of_groups},
)

"""Finds the formulas of a column, which are imported when they are first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from profile_analyze.model.columns import Column
    from profile_analyze.model.rows import Formulas


def formulas_of(column: Column) -> Formulas:
    """The formulas that include those of `column`."""
    if column.needs_peaks:
        from profile_analyze.analysis import roofline

        return roofline.FORMULAS
    if column.needs_base:
        from profile_analyze.analysis import changes

        return changes.FORMULAS
    from profile_analyze.model import column_formulas

    return column_formulas.FORMULAS

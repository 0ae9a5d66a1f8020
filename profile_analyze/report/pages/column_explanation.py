"""Explains a column in general, for `--explain COLUMN` without a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.columns.aggregates import DEFAULT_AGGREGATE
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import AGGREGATED, RatioOfSums
from profile_analyze.columns.formula_words import Formula, in_words, ingredients
from profile_analyze.report.pages.column_list import brackets, remark_on_groups

if TYPE_CHECKING:
    from profile_analyze.columns.column import Column


def general_explanation(name: str) -> str:
    """Return what a column means and how it is computed. Raises `UnknownColumnError`."""
    column = find_column(name)
    # With None, formulas are for operators. With a tuple, even an empty one, they are for groups.
    keys = () if column.of_operators is None else None
    formulas = (_formula(one, keys) for one in ingredients(column, keys))
    return "\n".join((definition(column), *(f"  {line}" for line in formulas)))


def definition(column: Column) -> str:
    """Return a column's name, unit, meaning and rule for groups, and the options that it needs."""
    rules = f"{_rule_for_groups(column)}{_needs(column)}"
    return f"{column.name}{brackets(column)}: {column.meaning}{rules}"


def _rule_for_groups(column: Column) -> str:
    if column.of_groups == AGGREGATED:
        return "; for a group: the sum, or as `--aggregate` says"
    if isinstance(column.of_groups, RatioOfSums):
        above, below = column.of_groups
        return (
            f"; for a group: sum of {above} / sum of {below} over the operators that have both; "
            "with an aggregate other than sum or mean, that aggregate of the operators' values"
        )
    return remark_on_groups(column)


def _needs(column: Column) -> str:
    options = ("--peaks",) * column.needs_peaks + ("--compare",) * column.needs_base
    return "".join(f"; needs {option}" for option in options)


def _formula(column: Column, keys: tuple[str, ...] | None) -> str:
    formula = Formula.of(column, keys, DEFAULT_AGGREGATE)
    sign = " =" if formula.names else ":"
    remarks = "".join(f"; {in_words(remark)}" for remark in formula.remarks)
    return f"{column.name}{sign} {in_words(formula.template)}{remarks}"

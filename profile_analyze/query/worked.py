"""The value of a column in the first row of an answer, worked through with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.columns import RatioOfSums
from profile_analyze.model.iterations import unit_noun
from profile_analyze.model.wording import quantity_text
from profile_analyze.query.catalog import find_column
from profile_analyze.query.figures import FIGURES
from profile_analyze.query.formula_words import Formula, filled, in_words, ingredients
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.model.columns import Column
    from profile_analyze.query.table import Table


def worked_through(table: Table, column: Column) -> Iterator[str]:
    """Yield a sentence for the column, and one for each column that its formula uses.

    The numbers are those of the first row, so the table must have one.
    """
    for one in ingredients(column, table.query.keys, table.query.aggregate):
        yield _sentence(table, one)


def _sentence(table: Table, column: Column) -> str:
    formula = Formula.of(column, table.query.keys, table.query.aggregate)
    value = _text(table, column.name)
    remark = filled(formula.remark, lambda name: _text(table, name))
    several = column.timed and table.shown.per_run(column.name).shape[1] > 1
    over_runs = _over_runs(table, column) if several else ""
    ending = "".join(f"; {part}" for part in (remark, over_runs) if part)
    if not formula.names:
        return f"{column.name} = {value}: {in_words(formula.template)}{ending}"
    run = _first_known_run(table, column) if several else None
    operands = {name: _operand(table, column, name, run) for name in formula.names}
    numbers = filled(formula.template, operands.__getitem__)
    equation = f"{column.name} = {in_words(formula.template)} = {numbers}"
    if run is not None:
        in_run = _text(table, column.name, run)
        return f"{equation} = {in_run} in run {run + 1}, {value} over all runs{ending}"
    unknown = [name for name, text in operands.items() if text == NOT_AVAILABLE]
    if value == NOT_AVAILABLE:
        if column.name == "spread" and table.shown.per_run("time").shape[1] == 1:
            return f"{column.name} = {in_words(formula.template)} = {value}: there is only one run"
        ending = f"; {_reason_for_missing(unknown)}{ending}"
    return f"{equation} = {value}{ending}"


def _reason_for_missing(unknown: Sequence[str]) -> str:
    """Return why a value is N/A; `unknown` has the names in its formula that are N/A."""
    if not unknown:
        return "the formula does not apply to this row"
    *most, last = unknown
    return f"because {', '.join(most)} and {last} are N/A" if most else f"because {last} is N/A"


def _operand(table: Table, column: Column, name: str, run: int | None) -> str:
    """Return the value of `name` in the formula of `column`, as text.

    If the column of a group is a `RatioOfSums`, use the group's sum.
    """
    rule = column.of_groups
    if table.query.grouped and isinstance(rule, RatioOfSums):
        sums = dict(zip(rule, table.shown.sums_of_ratio(rule), strict=True))
        return quantity_text(find_column(name), float(sums[name.removesuffix(".sum")][0]))
    return _text(table, name, run)


def _text(table: Table, name: str, run: int | None = None) -> str:
    """Return the text of a column or a figure in the first row: over all runs, or in one."""
    shown = table.shown
    if name in FIGURES:
        return FIGURES[name](shown, run)
    column = find_column(name)
    if run is not None and column.has_runs:
        return quantity_text(column, float(shown.per_run(name)[0, run]))
    return quantity_text(column, table[name][:1].tolist()[0])


def _first_known_run(table: Table, column: Column) -> int | None:
    known = np.flatnonzero(~np.isnan(table.shown.per_run(column.name)[0]))
    return int(known[0]) if len(known) else None


def _over_runs(table: Table, column: Column) -> str:
    """Return the text that says how the values of the runs were combined, with their range.

    It is empty if all values are equal, or N/A.
    """
    shown = table.shown
    values = shown.per_run(column.name) if shown.comparison is None else shown.per_unit(column.name)
    known = values[0][~np.isnan(values[0])]
    if not len(known) or known.min() == known.max():
        return ""
    low, high = (quantity_text(column, float(one)) for one in (known.min(), known.max()))
    noun = "runs" if shown.comparison is None else unit_noun(table.query.unit, shown.profile.runs)
    return f"the {table.query.run_statistic} of {len(known)} {noun}, {low} to {high}"

"""Explains the value of a column in the first row of an answer: the formula with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import RatioOfSums
from profile_analyze.columns.formula_words import (
    Formula,
    filled,
    in_words,
    ingredients,
    is_column,
    names_in,
)
from profile_analyze.columns.wording import quantity_text
from profile_analyze.model.joining.iterations import unit_noun
from profile_analyze.units import NOT_AVAILABLE
from profile_analyze.views.figures import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.table import Table
    from profile_analyze.views.figures import TimeText

_RATES: Final = ("flops", "bandwidth")


def worked_through(table: Table, column: Column, time_text: TimeText) -> Iterator[str]:
    """Yield a sentence on the column and on each column that its formula depends on.

    The numbers are from the first row, so the table must not be empty. `time_text` turns times into
    text.
    """
    row = _FirstRow(table, time_text)
    for one in ingredients(column, table.query.keys, table.query.aggregate):
        yield row.sentence(one)


class _FirstRow(NamedTuple):
    """The first row of a table, with a function that turns times into text."""

    table: Table
    time_text: TimeText

    def sentence(self, column: Column) -> str:
        """Return the formula of a column with the numbers of the row."""
        table = self.table
        formula = Formula.of(column, table.query.keys, table.query.aggregate)
        value = self._text(column.name)
        several = column.timed and _varies(table.shown.per_run(column.name)[0])
        over_runs = self._over_runs(column) if several else ""
        remarks = [*self._remarks(formula), *([over_runs] if over_runs else [])]
        ending = "".join(f"; {remark}" for remark in remarks)
        if not formula.names:
            return f"{column.name} = {value}: {in_words(formula.template)}{ending}"
        run = _first_known_run(table, column) if several else None
        operands = {name: self._operand(column, name, run) for name in formula.names}
        numbers = filled(formula.template, operands.__getitem__)
        equation = f"{column.name} = {in_words(formula.template)} = {numbers}"
        if run is not None:
            in_run = self._text(column.name, run)
            return f"{equation} = {in_run} in run {run + 1}, {value} over all runs{ending}"
        if value == NOT_AVAILABLE:
            if column.needs_two_runs and (reason := _lack_of_runs(table)):
                return f"{column.name} = {in_words(formula.template)} = {value}: {reason}"
            unknown = [
                name if is_column(name) else in_words(f"{{{name}}}")
                for name, text in operands.items()
                if text == NOT_AVAILABLE
            ]
            reason = _reason_for_missing(unknown) if unknown else self._reason_not_to_apply(column)
            ending = f"; {reason}{ending}"
        return f"{equation} = {value}{ending}"

    def _remarks(self, formula: Formula) -> Iterator[str]:
        """Yield the remarks on a formula. Remarks with an N/A value are left out."""
        for remark in formula.remarks:
            texts = {name: self._text(name) for name in names_in(remark)}
            if NOT_AVAILABLE not in texts.values():
                yield filled(remark, texts.__getitem__)

    def _reason_not_to_apply(self, column: Column) -> str:
        """Return why a value is N/A although all values in its formula are known."""
        if column.name in _RATES and not self.table.shown.of_all_rows(_has_rates):
            return f"the row does its work outside of the {self.table.shown.measure.title}"
        if not column.needs_peaks:
            return "the formula does not apply to this row"
        if all(self.table[name][0] == 0 for name in ("computation", "memory")):
            return "the row does no work, so it has no roof"
        return "the roofline does not judge this row"

    def _operand(self, column: Column, name: str, run: int | None) -> str:
        """Return the text of the value that stands for `name` in the formula of `column`.

        For a group with the rule `RatioOfSums`, this is the group's sum.
        """
        table, rule = self.table, column.of_groups
        if table.query.grouped and isinstance(rule, RatioOfSums):
            sums = dict(zip(rule, table.shown.sums_of_ratio(rule), strict=True))
            return self._quantity(find_column(name), float(sums[name.removesuffix(".sum")][0]))
        return self._text(name, run)

    def _text(self, name: str, run: int | None = None) -> str:
        """Return the text of a column or figure in one run, or over all runs if `run` is None."""
        shown = self.table.shown
        if name in FIGURES:
            return FIGURES[name](shown, run, self.time_text)
        column = find_column(name)
        if run is not None and column.timed:
            return self._quantity(column, float(shown.per_run(name)[0, run]))
        return self._quantity(column, self.table[name][:1].tolist()[0])

    def _over_runs(self, column: Column) -> str:
        """Return how the values of the runs were combined: `the median of 5 runs, 1 ms to 2 ms`.

        Empty if all values are equal or N/A.
        """
        shown, query = self.table.shown, self.table.query
        compared = shown.comparison is not None
        values = shown.per_unit(column.name) if compared else shown.per_run(column.name)
        known = values[0][~np.isnan(values[0])]
        if not len(known) or known.min() == known.max():
            return ""
        low, high = (self._quantity(column, float(one)) for one in (known.min(), known.max()))
        noun = unit_noun(query.unit, shown.profile.runs) if compared else "runs"
        return f"the {query.run_statistic} of {len(known)} {noun}, {low} to {high}"

    def _quantity(self, column: Column, value: Any) -> str:
        """Return the text of a value with its unit."""
        if column.unit != "s":
            return quantity_text(column, value)
        plus = "+" if column.signed and value > 0 else ""
        return plus + self.time_text(value)


def _has_rates(rows: OperatorRows | GroupRows) -> bool:
    return rows.operators.has_rates


def _varies(values: NDArray[np.float64]) -> bool:
    """Return whether the values of the runs differ, or are N/A in some of the runs."""
    return len(values) > 1 and not bool((values == values[0]).all())


def _reason_for_missing(unknown: Sequence[str]) -> str:
    """Return why a value is N/A. `unknown` has the names of the N/A values in its formula."""
    *most, last = unknown
    return f"because {', '.join(most)} and {last} are N/A" if most else f"because {last} is N/A"


def _lack_of_runs(table: Table) -> str:
    """Return the reason if there is one run, or if only one run has a time of the first row.

    Otherwise empty.
    """
    times_s = table.shown.per_run("time")[0]
    if len(times_s) == 1:
        return "there is only one run"
    if np.count_nonzero(~np.isnan(times_s)) == 1:
        return f"the time is known in only one of {len(times_s)} runs"
    return ""


def _first_known_run(table: Table, column: Column) -> int | None:
    known = np.flatnonzero(~np.isnan(table.shown.per_run(column.name)[0]))
    return int(known[0]) if len(known) else None

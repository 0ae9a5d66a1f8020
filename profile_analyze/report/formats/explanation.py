"""The answer to `--explain COLUMN`: how the column is computed, with numbers of the first row."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.formula_words import Formula, ingredients
from profile_analyze.findings.register import find_rule
from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding
from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.layout.labels import row_labels
from profile_analyze.report.layout.paragraphs import with_own_indent
from profile_analyze.report.layout.times import time_text
from profile_analyze.report.pages.column_explanation import definition, general_explanation
from profile_analyze.report.pages.finding_list import rule_page
from profile_analyze.units import NOT_AVAILABLE, counted
from profile_analyze.views.worked import worked_through

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.findings.rule import Rule
    from profile_analyze.model.findings import Value
    from profile_analyze.model.notes import Note
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Need, Report
    from profile_analyze.report.layout.times import TimeUnit


def explanation_renderer(name: str) -> _ExplanationRenderer:
    """Return the renderer that explains the finding with this code, or the column."""
    rule = find_rule(name)
    return ExplanationRenderer(name) if rule is None else FindingRenderer(rule)


class _ExplanationRenderer:
    """What the renderers of explanations have in common; see `Renderer`."""

    name = "explanation"
    for_programs = False
    suffixes: tuple[str, ...] = ()
    has_tables = True
    follows_original = False
    has_stacks = False
    has_summary_beside_tables = True
    needs: Need = ""

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # part of `Renderer`
        """Return the columns that the explanation reads; see `Renderer.columns`."""
        return ()

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on a table; see `Renderer.notes`."""
        return table.notes

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the explanation as text; see `Renderer.pieces`."""
        texts = (visible(line, display.encoding) for line in self.lines(report, display.time_unit))
        wrapped = (with_own_indent(text, display.width) for text in texts)
        return encoded((f"{text}\n" for text in wrapped), display.encoding)

    def lines(self, report: Report, time_unit: TimeUnit) -> Iterable[str]:
        """Return the lines of the explanation."""
        raise NotImplementedError


class FindingRenderer(_ExplanationRenderer):
    """Renderer of the explanation of a finding, with its values in this answer."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def lines(self, report: Report, time_unit: TimeUnit) -> Iterator[str]:
        """See the base class."""
        yield from rule_page(self.rule)
        code = self.rule.code
        found = [one for one in report.notes if isinstance(one, Finding) and one.code == code]
        yield "In this answer:" if found else "This answer has no such finding."
        for finding in found:
            yield f"  {sentence(finding, time_unit)}"
            yield f"    kind: {finding.kind.name.lower()}"
            yield from (f"    {name}: {_shown(value)}" for name, value in finding.values)


class ExplanationRenderer(_ExplanationRenderer):
    """Renderer of the explanation of one column; see `Renderer`."""

    def __init__(self, column: str) -> None:
        self.column = find_column(column)

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # part of `Renderer`
        """Return the columns that the explanation reads; see `Renderer.columns`."""
        read = ingredients(self.column, query.keys, query.aggregate)
        of_formulas = (Formula.of(one, query.keys, query.aggregate).columns for one in read)
        named = (one.name for columns in of_formulas for one in columns)
        return tuple(dict.fromkeys((self.column.name, *named)))

    def lines(self, report: Report, time_unit: TimeUnit) -> Iterable[str]:
        """See the base class."""
        (table, *_) = (section.table for section in report.tables)
        general = general_explanation(self.column.name).splitlines()
        return self._lines(table, time_unit) if len(table) else general

    def _lines(self, table: Table, time_unit: TimeUnit) -> Iterator[str]:
        yield definition(self.column)
        yield f"The first row of this answer is {_label(table)}:"
        for text in worked_through(table, self.column, partial(time_text, wanted=time_unit)):
            yield f"  {text}"


def _shown(value: Value) -> str:
    """Return a value of a finding, without brackets and quotes."""
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value))
    return NOT_AVAILABLE if value is None else str(value)


def _label(table: Table) -> str:
    """Return the name of the first row, such as `conv1 (Conv, id 3)`."""
    if table.query.grouped:
        operators = counted(int(table["count"][0]), "operator")
        return f"{table.labels[0]} ({operators})" if table.query.by else f"all {operators}"
    name, type_, id_ = row_labels(table)[0]
    return f"{name} ({type_}, id {id_})"

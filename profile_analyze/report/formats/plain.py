"""Aligned columns with one line per row, for narrow terminals, `grep` and `awk`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.report.formats.people import PeopleRenderer
from profile_analyze.report.layout.aligned_columns import (
    SHORT_WIDTH,
    chosen_columns,
    excess_width,
    gaps_width,
    needed_width,
    shortened_cells,
    shortened_columns,
    with_narrow_headers,
    without_blank_header_lines,
)
from profile_analyze.report.layout.cells import cells_of, draw_cells, with_intervals
from profile_analyze.report.layout.column_fitting import (
    Removal,
    fitting_columns,
    left_out_columns,
)
from profile_analyze.report.layout.default_columns import (
    columns_with_values,
    roofline_columns,
    variation_columns,
)
from profile_analyze.report.layout.drawing import draw
from profile_analyze.report.layout.paragraphs import labelled_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.cells import Cells, ColumnTexts
    from profile_analyze.report.sections import Line, TableSection


class PlainRenderer(PeopleRenderer):
    """Renderer of aligned columns; see `Renderer`."""

    name = "plain"

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns, with long texts last; see `Renderer.columns`."""
        beside = variation_columns(query, several_runs=several_runs)
        rates = ("flops", "bandwidth", *roofline_columns(query))
        if query.keys is None:
            base_name = ("base_name",) if query.compared else ()
            return ("time", *beside, "share", *rates, "type", "name", *base_name)
        return (*query.times, *beside, "share", "count", *rates, *query.by)

    def facts(self, lines: Sequence[Line], display: Display) -> str:
        """Return the facts in two columns."""
        return draw(labelled_lines(lines, display), style="plain", numeric=(1,))

    def rows(self, columns: Sequence[Cells], display: Display, chooser: str) -> Iterable[str]:
        """Yield a line per row. Texts are shortened, and the last columns left out, to fit."""
        widths = [needed_width(column, SHORT_WIDTH) for column in columns]
        shown, about_others = fitting_columns(columns, widths, gaps_width, display, chooser)
        width = display.width
        fitting = shown if width is None else shortened_cells(shown, width, display)
        yield draw_cells(fitting, style="plain")
        yield from about_others
        yield from shortened_columns(shown, fitting, display)

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Yield a line per row. Default columns without any value are left out."""
        table = section.table
        names = section.columns or columns_with_values(self.shown_columns(section), table)
        order = Removal.of_chosen if section.columns else Removal.of_default
        texts = self.column_texts(table, names, display)
        return _table(texts, names, order(names, table), display)


def _table(
    texts: ColumnTexts, names: Sequence[str], removal: Removal, display: Display
) -> Iterator[str]:
    columns = with_intervals(texts, names, cells_of(texts, names, display))
    indices = list(range(len(names)))
    # Measuring the columns of a long table takes time, so it is done only if there is a limit.
    if display.width is not None and excess_width(columns, display.width) > 0:
        bare = with_narrow_headers(cells_of(texts, names, display, bars=False))
        columns = with_intervals(texts, names, bare)
        indices = chosen_columns(columns, removal, display.width)
        # If a column that the user asked for does not fit, the intervals are left out.
        if not set(removal.asked_for).issubset(indices):
            columns, indices = bare, chosen_columns(bare, removal, display.width)
    shown = without_blank_header_lines([columns[index] for index in indices])
    fitting = shown if display.width is None else shortened_cells(shown, display.width, display)
    yield draw_cells(fitting, style="plain")
    yield from left_out_columns(names, indices, display)
    yield from shortened_columns(shown, fitting, display)

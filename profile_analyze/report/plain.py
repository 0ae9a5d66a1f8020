"""Aligned columns with one line per row, for narrow terminals, `grep` and `awk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.cells import Cells, cells_of, draw_cells
from profile_analyze.report.column_fitting import fit_columns, left_out_columns
from profile_analyze.report.default_columns import (
    columns_with_values,
    roofline_columns,
    variation_columns,
)
from profile_analyze.report.drawing import draw
from profile_analyze.report.people import PeopleRenderer
from profile_analyze.report.text_layout import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import Line, TableSection

_GAP: Final = 2  # between columns, in tabulate's style `plain`
_MIN_WIDTH: Final = 8


class PlainRenderer(PeopleRenderer):
    """Renderer of aligned columns; see `Renderer`."""

    name = "plain"

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns, the longest ones last; see `Renderer.columns`."""
        beside = variation_columns(query, several_runs=several_runs)
        rates = ("flops", "bandwidth", *roofline_columns(query))
        if query.keys is None:
            return ("time", *beside, "share", *rates, "type", "name")
        return (*query.times, *beside, "share", "count", *rates, *query.by)

    def facts(self, lines: Sequence[Line]) -> str:
        """Return the facts in two columns."""
        return draw(lines, style="plain", numeric=(1,))

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Yield a line per row. Default columns without any value are left out."""
        names = section.columns or columns_with_values(self.shown_columns(section), section.table)
        return _table(section.table, names, display)


def _table(table: Table, names: Sequence[str], display: Display) -> Iterator[str]:
    columns = cells_of(table, names, display)
    indices, excess = fit_columns(columns, display.width, lambda count: _GAP * (count - 1))
    shown = [columns[index] for index in indices]
    shortened_header = ""
    # Only texts are shortened. A number without its last digits would be another number.
    texts = [index for index, column in enumerate(shown) if not column.is_number]
    if excess > 0 and texts:
        widest = max(texts, key=lambda index: shown[index].width)
        shortened_header = shown[widest].header
        shown[widest] = _shortened(shown[widest], shown[widest].width - excess, display)
    yield draw_cells(shown, style="plain")
    yield from left_out_columns(names, indices, display)
    if shortened_header:
        yield f"\nshortened to fit the width: {shortened_header}; `| less -S` shows all of it"


def _shortened(column: Cells, width: int, display: Display) -> Cells:
    """Return the column with texts of at most `width` columns, or `_MIN_WIDTH` if that is more."""
    mark = "\N{HORIZONTAL ELLIPSIS}" if display.can_show("\N{HORIZONTAL ELLIPSIS}") else "..."
    width = max(width, _MIN_WIDTH)
    texts = [shortened(text, width, mark) for text in column.texts]
    return column._replace(header=shortened(column.header, width, mark), texts=texts)

"""Aligned columns with one line per row, for narrow terminals, `grep` and `awk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.cells import Cells, cells_of, draw_cells, with_intervals
from profile_analyze.report.column_fitting import Removal, fit_columns, left_out_columns
from profile_analyze.report.default_columns import (
    columns_with_values,
    roofline_columns,
    variation_columns,
)
from profile_analyze.report.drawing import draw
from profile_analyze.report.paragraphs import labelled_lines, paragraph, wrapped_headers
from profile_analyze.report.people import PeopleRenderer
from profile_analyze.report.relations import fitting_columns
from profile_analyze.report.text_layout import COLUMN_GAP, shortened, shortened_in_middle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Display
    from profile_analyze.report.cells import ColumnTexts
    from profile_analyze.report.sections import Line, TableSection

_HEADER_WIDTH: Final = 12  # if headers do not fit, they are wrapped to this width
_COMFORTABLE_WIDTH: Final = 32  # `Removal.extras` are left out until texts can have this width
_COMFORTABLE_EXTRA: Final = 24  # replaces `_COMFORTABLE_WIDTH` for texts in `Removal.extras`
_SHORT_WIDTH: Final = 14  # `Removal.asked_for` are left out until texts can have this width
_MIN_WIDTH: Final = 8  # no text is cut to less than this


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

    def titled(self, title: str, columns: Sequence[Cells], display: Display) -> str:
        """Return a short table with a title. Texts are shortened until the table fits."""
        if display.width is not None:
            columns = _shortened_cells(columns, display.width, display)
        return super().titled(title, columns, display)

    def relation(self, columns: Sequence[Cells], display: Display) -> Iterable[str]:
        """Yield a line per row. Texts are shortened, and the last columns left out, to fit."""
        widths = [_needed(column, _SHORT_WIDTH) for column in columns]
        shown, about_others = fitting_columns(columns, widths, _gaps_width, display)
        width = display.width
        fitting = shown if width is None else _shortened_cells(shown, width, display)
        yield draw_cells(fitting, style="plain")
        yield from about_others
        yield from _shortened_columns(shown, fitting, display)

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Yield a line per row. Default columns without any value are left out."""
        table = section.table
        names = section.columns or columns_with_values(self.shown_columns(section), table)
        order = Removal.of_chosen if section.columns else Removal.of_default
        texts = self.column_texts(table, names, display)
        return _table(texts, names, order(names, table.query), display)


def _table(
    texts: ColumnTexts, names: Sequence[str], removal: Removal, display: Display
) -> Iterator[str]:
    columns = with_intervals(texts, names, cells_of(texts, names, display))
    indices = list(range(len(names)))
    # Measuring the columns of a long table takes time, so it is done only if there is a limit.
    if display.width is not None and _excess(columns, display.width) > 0:
        bare = _with_narrow_headers(cells_of(texts, names, display, bars=False))
        columns = with_intervals(texts, names, bare)
        indices = _chosen(columns, removal, display.width)
        # If a column that the user asked for does not fit, the intervals are left out.
        if not set(removal.asked_for).issubset(indices):
            columns, indices = bare, _chosen(bare, removal, display.width)
    shown = [columns[index] for index in indices]
    fitting = shown if display.width is None else _shortened_cells(shown, display.width, display)
    yield draw_cells(fitting, style="plain")
    yield from left_out_columns(names, indices, display)
    yield from _shortened_columns(shown, fitting, display)


def _with_narrow_headers(columns: Sequence[Cells]) -> list[Cells]:
    headers = wrapped_headers([column.header for column in columns], _HEADER_WIDTH)
    return [column._replace(header=header) for column, header in zip(columns, headers, strict=True)]


def _chosen(columns: Sequence[Cells], removal: Removal, available: int) -> list[int]:
    """Return the indices of the columns to show.

    The columns in `removal.extras` are left out until texts can have a comfortable width. If the
    other columns are still too wide, the columns in `removal.asked_for` are left out until texts
    can have a short width.
    """
    most = min(_COMFORTABLE_WIDTH, available // 2)
    comfortable = [
        _needed(
            column, min(_COMFORTABLE_EXTRA, available // 4) if index in removal.extras else most
        )
        for index, column in enumerate(columns)
    ]
    short = [_needed(column, _SHORT_WIDTH) for column in columns]
    indices, excess = fit_columns(comfortable, available, _gaps_width, removal.extras)
    if excess > 0:
        indices, _ = fit_columns(short, available, _gaps_width, removal.asked_for, indices)
    return indices


def _needed(column: Cells, most: int) -> int:
    """Return the width of a column after its texts are shortened to at most `most` characters."""
    return column.width() if column.is_number else min(column.width(), most)


def _gaps_width(columns: int) -> int:
    return COLUMN_GAP * (columns - 1)


def _excess(columns: Sequence[Cells], available: int) -> int:
    """Return by how much the columns are too wide; 0 or less if they fit."""
    return sum(column.width() for column in columns) + _gaps_width(len(columns)) - available


def _shortened_cells(columns: Sequence[Cells], available: int, display: Display) -> list[Cells]:
    """Return the columns, shortened to fit `available` if possible, the widest column first."""
    widths = [column.width() for column in columns]
    # Numbers are not shortened: without its last digits, a number would be another number.
    texts = [index for index, column in enumerate(columns) if not column.is_number]
    while texts and sum(widths) + _gaps_width(len(widths)) > available:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _MIN_WIDTH:
            break
        widths[widest] -= 1
    return [
        column if width == column.width() else _shortened(column, width, display)
        for column, width in zip(columns, widths, strict=True)
    ]


def _shortened(column: Cells, width: int, display: Display) -> Cells:
    """Return the column with texts that are at most `width` characters wide."""
    mark = "\N{HORIZONTAL ELLIPSIS}" if display.can_show("\N{HORIZONTAL ELLIPSIS}") else "..."
    texts = [shortened(text, width, mark) for text in column.texts]
    if len({*texts}) < len({*column.texts}):  # some became equal
        texts = [shortened_in_middle(text, width, mark) for text in column.texts]
    return column._replace(header=shortened(column.header, width, mark), texts=texts)


def _shortened_columns(
    columns: Sequence[Cells], fitting: Sequence[Cells], display: Display
) -> Iterator[str]:
    """Yield a paragraph that names the columns with shortened texts, if there are such columns."""
    headers = [
        before.header.strip()
        for before, after in zip(columns, fitting, strict=True)
        if before != after
    ]
    if headers:
        text = f"shortened to fit the width: {', '.join(headers)}; `| less -S` shows the full texts"
        yield "\n" + paragraph(text, display.width)

"""Table columns as text, ready to be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.model.visible import visible
from profile_analyze.model.wording import heading
from profile_analyze.report.colors import bar, dim
from profile_analyze.report.drawing import draw
from profile_analyze.report.labels import time_title
from profile_analyze.report.text_layout import text_width
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display


class Cells(NamedTuple):
    """One column of a table as text."""

    header: str
    texts: Sequence[str]
    is_number: bool
    """Whether the column is aligned on the right."""

    def width(self, header_padding: int = 0) -> int:
        """Return the width of the column on a terminal."""
        header = text_width(self.header) + header_padding
        return max([header, *map(text_width, self.texts)])


def draw_cells(columns: Sequence[Cells], *, style: str) -> str:
    """Return a table of `columns`, numbers on the right, in one of tabulate's styles."""
    return draw(
        list(zip(*(column.texts for column in columns), strict=True)),
        headers=[column.header for column in columns],
        style=style,
        right=[index for index, column in enumerate(columns) if column.is_number],
    )


def cells_of(
    table: Table, names: Sequence[str], display: Display, *, bars: bool = True
) -> list[Cells]:
    """Return the columns `names` of `table` as text. With `bars`, coloured shares have a bar."""
    return [_cells(table, name, display, bars=bars) for name in names]


def _cells(table: Table, name: str, display: Display, *, bars: bool) -> Cells:
    column = table.column(name)
    texts = [_cell_text(text, display) for text in table.texts(name)]
    # The bars have the same width in all rows, so that the column stays aligned.
    if bars and display.color and column.name == "share":
        texts = [f"{text} {bar(share)}" for text, share in zip(texts, table[name], strict=True)]
    return Cells(
        header=visible(column_title(table, name), display.encoding),
        texts=texts,
        is_number=table.has_numbers(name),
    )


def column_title(table: Table, name: str) -> str:
    """Return the title of a column. The title of a time says which time it is."""
    column = table.shown_column(name)
    title = heading(column)
    # Of `time` and its aggregates, such as `time.p90`.
    if column.name.partition(".")[0] == "time":
        return title.replace("time", time_title(table), 1)
    return title


def _cell_text(text: str, display: Display) -> str:
    shown = visible(text, display.encoding)
    return dim(shown) if display.color and text == NOT_AVAILABLE else shown

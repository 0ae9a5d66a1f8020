"""Tables with a column for each column that is asked for, and a line for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.visible import visible
from profile_analyze.model.wording import heading
from profile_analyze.report.colors import bar, dim
from profile_analyze.report.drawing import draw
from profile_analyze.report.labels import time_title
from profile_analyze.report.text import text_width
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display


HEADER_PADDING: Final = 2
"""By how much tabulate makes a column wider than its header."""


class Cells(NamedTuple):
    """One column of a table, ready to be drawn."""

    header: str
    texts: Sequence[str]
    is_number: bool
    """Whether it stands on the right."""
    stays: bool = False
    """Whether it stays when there is no room for all."""

    @property
    def width(self) -> int:
        """How many columns of the terminal it takes."""
        header = text_width(self.header) + HEADER_PADDING
        return max([header, *map(text_width, self.texts)])


def draw_cells(columns: Sequence[Cells], *, style: str) -> str:
    """A table of finished columns, numbers on the right, in one of tabulate's styles."""
    return draw(
        list(zip(*(column.texts for column in columns), strict=True)),
        headers=[column.header for column in columns],
        style=style,
        right=[place for place, column in enumerate(columns) if column.is_number],
    )


def cells_of(table: Table, names: Sequence[str], display: Display) -> list[Cells]:
    """The columns `names` of `table`."""
    return [_cells(table, name, display) for name in names]


def _cells(table: Table, name: str, display: Display) -> Cells:
    column = table.column(name)
    texts = [_text(text, display) for text in table.texts(name)]
    if display.color and column.name == "share":
        texts = [f"{text} {bar(one)}" for text, one in zip(texts, table[name], strict=True)]
    return Cells(
        header=visible(heading_in(table, name), display.encoding),
        texts=texts,
        is_number=table.has_numbers(name),
        stays=column.name in ("time", "name", *table.query.by),
    )


def heading_in(table: Table, name: str) -> str:
    """What a column is called in a table of `table`, which knows whose times they are."""
    column = table.shown_column(name)
    title = heading(column)
    if column.name.partition(".")[0] == "time":
        return title.replace("time", time_title(table), 1)
    return title


def _text(text: str, display: Display) -> str:
    shown = visible(text, display.encoding)
    return dim(shown) if display.color and text == NOT_AVAILABLE else shown

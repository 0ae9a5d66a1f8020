"""Table columns as text, ready to be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.columns.wording import heading
from profile_analyze.model.visible import visible
from profile_analyze.query.distinct_names import variants_of
from profile_analyze.report.facts.sentence_parts import in_brackets
from profile_analyze.report.layout.colors import bar, colored_word, dim
from profile_analyze.report.layout.drawing import draw
from profile_analyze.report.layout.labels import time_title
from profile_analyze.report.layout.text_layout import text_width
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.columns.wording import Style
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.times import Times


_SECONDS: Final = "s"  # the unit of columns that are times
_VERDICT: Final = "verdict"  # the name of the column
_INTERVALS: Final = {
    "ratio": ("ratio_low", "ratio_high"),
    "relative_ratio": ("relative_low", "relative_high"),
}
"""For each column of ratios, the columns with the ends of the confidence interval."""


class ColumnTexts(NamedTuple):
    """The titles and texts of a table's columns, with all times in one unit."""

    table: Table
    times: Times

    def title(self, name: str) -> str:
        """Return the title of a column. It names the kind of a time: `device self time (ms)`."""
        column = self.table.shown_column(name)
        if self.table.asked is None:
            title = heading(column)
            return self.times.title(title) if column.unit == _SECONDS else title
        title = self.times.title(heading(column, compared=self.table.query.compared))
        # The name may end with an aggregate, as in `time.p90`.
        if column.name.partition(".")[0] == "time":
            return title.replace("time", time_title(self.table), 1)
        return title

    def texts(self, name: str, style: Style = "short") -> list[str]:
        """Return the values of a column as people read them.

        A short name that several kernels share is followed by what tells the kernels apart.
        """
        if name == "name" and self.table.asked is not None:
            pairs = zip(self.table.texts(name, style), variants_of(self.table), strict=True)
            return [f"{text}{in_brackets(variant)}" for text, variant in pairs]
        column = self.table.column(name)
        if self.times.as_original or column.unit != _SECONDS:
            return self.table.texts(name, style)
        return [
            NOT_AVAILABLE if value is None else self.times.number(value, signed=column.signed)
            for value in self.table[name].tolist()
        ]


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
    """Return a table in one of tabulate's styles, with numbers aligned on the right."""
    return draw(
        list(zip(*(column.texts for column in columns), strict=True)),
        headers=[column.header for column in columns],
        style=style,
        right=[index for index, column in enumerate(columns) if column.is_number],
    )


def cells_of(
    columns: ColumnTexts, names: Sequence[str], display: Display, *, bars: bool = True
) -> list[Cells]:
    """Return the columns `names` as cells. On a colour display, `bars` adds a bar to each share."""
    return [_cells(columns, name, display, bars=bars) for name in names]


def with_intervals(columns: ColumnTexts, names: Sequence[str], cells: list[Cells]) -> list[Cells]:
    """Return `cells` with the confidence interval after each ratio.

    `cells` has the columns `names`. A column of ratios stays unchanged if `names` also has an end
    of its interval, such as `ratio_low`.
    """
    for name, ends in _INTERVALS.items():
        if name in names and not set(ends) & set(names):
            index = names.index(name)
            texts = [
                f"{ratio}{in_brackets(interval)}"
                for ratio, interval in zip(
                    cells[index].texts, intervals(columns.table, name), strict=True
                )
            ]
            cells = [*cells[:index], cells[index]._replace(texts=texts), *cells[index + 1 :]]
    return cells


def intervals(table: Table, ratio: str = "ratio") -> list[str]:
    """Return the confidence interval of each row's ratio as text, such as `0.98 to 1.07`.

    `ratio` is the column with the ratios.
    """
    low, high = _INTERVALS[ratio]
    ends = zip(table.texts(low), table.texts(high), strict=True)
    return [NOT_AVAILABLE if NOT_AVAILABLE in both else " to ".join(both) for both in ends]


def _cells(columns: ColumnTexts, name: str, display: Display, *, bars: bool) -> Cells:
    table = columns.table
    column = table.column(name)
    # Words such as `slower` are coloured only as verdicts: an operator may have such a name.
    color = colored_word if column.name == _VERDICT else _dim_if_missing
    shown = [visible(text, display.encoding) for text in columns.texts(name)]
    texts = list(map(color, shown)) if display.color else shown
    # The bars have the same width in all rows, so that the column stays aligned.
    header = visible(columns.title(name), display.encoding)
    if bars and display.color and column.name == "share":
        texts = [f"{text} {bar(share)}" for text, share in zip(texts, table[name], strict=True)]
        header = f"{header} {bar(0)}"  # keeps the title above the numbers
    return Cells(
        header=header,
        texts=texts,
        is_number=table.has_numbers(name),
    )


def times_in(table: Table, names: Iterable[str]) -> Iterator[float]:
    """Yield the values of all columns among `names` that are times."""
    for name in names:
        if table.column(name).unit == _SECONDS:
            yield from (value for value in table[name].tolist() if value is not None)


def _dim_if_missing(text: str) -> str:
    return dim(text) if text == NOT_AVAILABLE else text

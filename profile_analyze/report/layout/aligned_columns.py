"""Fits aligned columns without lines between them to the width of the display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.layout.column_fitting import fit_columns
from profile_analyze.report.layout.paragraphs import paragraph, wrapped_headers
from profile_analyze.report.layout.text_layout import COLUMN_GAP, shortened, shortened_in_middle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.cells import Cells
    from profile_analyze.report.layout.column_fitting import Removal

_HEADER_WIDTH: Final = 12  # if headers do not fit, they are wrapped to this width
_COMFORTABLE_WIDTH: Final = 32  # `Removal.extras` are left out until texts can have this width
_COMFORTABLE_EXTRA: Final = 24  # replaces `_COMFORTABLE_WIDTH` for texts in `Removal.extras`
SHORT_WIDTH: Final = 14
"""`Removal.asked_for` are left out until texts can have this width."""
_MIN_WIDTH: Final = 8  # no text is cut to less than this


def with_narrow_headers(columns: Sequence[Cells]) -> list[Cells]:
    """Return the columns with wrapped headers."""
    headers = wrapped_headers([column.header for column in columns], _HEADER_WIDTH)
    return [column._replace(header=header) for column, header in zip(columns, headers, strict=True)]


def without_blank_header_lines(columns: Sequence[Cells]) -> list[Cells]:
    """Return the columns without the first lines of headers that are blank in all of them.

    Wrapped headers begin with blank lines if a column that was left out has a longer header.
    """
    blank = min(len(one.header) - len(one.header.lstrip("\n")) for one in columns)
    return [column._replace(header=column.header[blank:]) for column in columns]


def chosen_columns(columns: Sequence[Cells], removal: Removal, available: int) -> list[int]:
    """Return the indices of the columns to show.

    The columns in `removal.extras` are left out until texts can have a comfortable width. If the
    other columns are still too wide, the columns in `removal.asked_for` are left out until texts
    can have a short width.
    """
    most = min(_COMFORTABLE_WIDTH, available // 2)
    comfortable = [
        needed_width(
            column, min(_COMFORTABLE_EXTRA, available // 4) if index in removal.extras else most
        )
        for index, column in enumerate(columns)
    ]
    short = [needed_width(column, SHORT_WIDTH) for column in columns]
    indices, excess = fit_columns(comfortable, available, gaps_width, removal.extras)
    if excess > 0:
        indices, _ = fit_columns(short, available, gaps_width, removal.asked_for, indices)
    return indices


def needed_width(column: Cells, most: int) -> int:
    """Return the width of a column after its texts are shortened to at most `most` characters."""
    return column.width() if column.is_number else min(column.width(), most)


def gaps_width(columns: int) -> int:
    """Return the width of the gaps between a number of columns."""
    return COLUMN_GAP * (columns - 1)


def excess_width(columns: Sequence[Cells], available: int) -> int:
    """Return by how much the columns are too wide; 0 or less if they fit."""
    return sum(column.width() for column in columns) + gaps_width(len(columns)) - available


def shortened_cells(columns: Sequence[Cells], available: int, display: Display) -> list[Cells]:
    """Return the columns, shortened to fit `available` if possible, the widest column first."""
    return [
        column if width == column.width() else _shortened(column, width, display)
        for column, width in zip(columns, fitted_widths(columns, available), strict=True)
    ]


def fitted_widths(columns: Sequence[Cells], available: int) -> list[int]:
    """Return a width for each column, so that they fit `available` if possible.

    The widest column is narrowed first.
    """
    widths = [column.width() for column in columns]
    # Numbers are not shortened: without its last digits, a number would be another number.
    texts = [index for index, column in enumerate(columns) if not column.is_number]
    while texts and sum(widths) + gaps_width(len(widths)) > available:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _MIN_WIDTH:
            break
        widths[widest] -= 1
    return widths


def _shortened(column: Cells, width: int, display: Display) -> Cells:
    """Return the column with texts that are at most `width` characters wide."""
    mark = "\N{HORIZONTAL ELLIPSIS}" if display.can_show("\N{HORIZONTAL ELLIPSIS}") else "..."
    texts = [shortened(text, width, mark) for text in column.texts]
    if len({*texts}) < len({*column.texts}):  # some became equal
        texts = [shortened_in_middle(text, width, mark) for text in column.texts]
    return column._replace(header=shortened(column.header, width, mark), texts=texts)


def shortened_columns(
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

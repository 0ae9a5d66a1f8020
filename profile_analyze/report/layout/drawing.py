"""Draws text tables with tabulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import tabulate

from profile_analyze.report.layout.text_layout import has_wide_text, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ROWS_AT_ONCE: Final = 2000


def draw(
    rows: Sequence[Sequence[str]],
    *,
    style: str,
    headers: Sequence[str] = (),
    numeric: Sequence[int] = (),
    right: Sequence[int] = (),
) -> str:
    """Return a table in one of tabulate's styles, without a newline at its end.

    `numeric` and `right` are indices of columns. A numeric column is aligned at the decimal point
    and printed with six digits, provided that all its texts are numbers. All other columns keep
    their text, so that an operator called 007 is not shown as 7. These columns are aligned on
    the left, or on the right if they are in `right`.
    """
    count = max(map(len, [headers, *rows[:1]]))
    # With `WIDE_CHARS_MODE`, tabulate measures the width of each character, which takes up to a
    # fifth of the time of drawing. ASCII text does not need this mode.
    before = tabulate.WIDE_CHARS_MODE, tabulate.MIN_PADDING
    tabulate.WIDE_CHARS_MODE = has_wide_text(rows)
    if style == "plain":  # this style already has gaps between columns
        tabulate.MIN_PADDING = 0
    try:
        return tabulate.tabulate(
            rows,
            headers=headers,
            tablefmt=style,
            disable_numparse=[n for n in range(count) if n not in numeric] if rows else False,
            preserve_whitespace=True,  # otherwise, an empty name would lose its line
            # "global" is the alignment without `colalign`: a numeric column at the decimal point.
            colalign=["right" if n in right else "global" for n in range(count)]
            if right and rows
            else None,
        )
    finally:
        tabulate.WIDE_CHARS_MODE, tabulate.MIN_PADDING = before


def draw_boxes(
    rows: Sequence[Sequence[str]],
    *,
    style: str,
    headers: Sequence[str],
    right: Sequence[int] = (),
    rows_at_once: int = _ROWS_AT_ONCE,
) -> Iterator[str]:
    """Yield the text that `draw` returns, in pieces. The style must have a rule between rows.

    Drawing a long table at once would double the memory of a call.
    """
    if len(rows) <= rows_at_once:
        yield draw(rows, style=style, headers=headers, right=right)
        return
    # Each part begins with this row, so that all parts have the same column widths.
    widest = ["x" * text_width("\n".join(column)) for column in zip(*rows, strict=True)]
    # The lines of a part: top, headers, rule; then the widest row and its rule; last, the bottom.
    top = 3 + max(header.count("\n") for header in headers)
    for start in range(0, len(rows), rows_at_once):
        part = [widest, *rows[start : start + rows_at_once]]
        lines = draw(part, style=style, headers=headers, right=right).split("\n")
        if start == 0:
            yield "\n".join(lines[:top])
        is_last = start + rows_at_once >= len(rows)
        yield "\n" + "\n".join([*lines[top + 2 : -1], lines[-1] if is_last else lines[top + 1]])

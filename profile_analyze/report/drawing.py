"""The drawing of text tables, by tabulate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.report.text import has_wide_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def draw(
    rows: Sequence[Sequence[str]],
    *,
    style: str,
    headers: Sequence[str] = (),
    numeric: Sequence[int] = (),
) -> str:
    """A table of finished cells in one of tabulate's styles, without a newline at its end.

    A column whose place is in `numeric` is aligned at the decimal point and printed with six
    digits, as long as all its texts are numbers. The others stay as they are, on the left, so
    that an operator called 007 is not shown as 7.
    """
    import tabulate

    # For tabulate's users to set: measuring characters costs a third of the drawing, and plain
    # text does not need it.
    tabulate.WIDE_CHARS_MODE = has_wide_text(rows)
    columns = max(map(len, [headers, *rows[:1]]))
    return tabulate.tabulate(
        rows,
        headers=headers,
        tablefmt=style,
        disable_numparse=[n for n in range(columns) if n not in numeric] if rows else False,
        preserve_whitespace=True,  # stripping would lose the empty line of an empty name
    )

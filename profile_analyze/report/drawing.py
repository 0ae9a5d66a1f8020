"""The drawing of text tables, by tabulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.text import has_wide_text, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIBRARIES: Final[tuple[str, ...]] = ("tabulate",)
"""What drawing imports when it is first used."""

_ROWS_AT_ONCE: Final = 2000
_ABOVE_ROWS: Final = 3  # lines: the top, the headers, the rule under them


def draw(
    rows: Sequence[Sequence[str]],
    *,
    style: str,
    headers: Sequence[str] = (),
    numeric: Sequence[int] = (),
    right: Sequence[int] = (),
) -> str:
    """A table of finished cells in one of tabulate's styles, without a newline at its end.

    A column whose place is in `numeric` is aligned at the decimal point and printed with six
    digits, as long as all its texts are numbers. The others stay as they are, those in `right` on
    the right, the rest on the left, so that an operator called 007 is not shown as 7.
    """
    import tabulate

    columns = max(map(len, [headers, *rows[:1]]))
    # For tabulate's users to set: measuring characters costs an eighth of the drawing, and plain
    # text does not need it.
    before, tabulate.WIDE_CHARS_MODE = tabulate.WIDE_CHARS_MODE, has_wide_text(rows)
    try:
        return tabulate.tabulate(
            rows,
            headers=headers,
            tablefmt=style,
            disable_numparse=[n for n in range(columns) if n not in numeric] if rows else False,
            preserve_whitespace=True,  # stripping would lose the empty line of an empty name
            colalign=["right" if n in right else "left" for n in range(columns)]
            if right and rows
            else None,
        )
    finally:
        tabulate.WIDE_CHARS_MODE = before


def draw_boxes(
    rows: Sequence[Sequence[str]],
    *,
    style: str,
    headers: Sequence[str],
    right: Sequence[int] = (),
    rows_at_once: int = _ROWS_AT_ONCE,
) -> Iterator[str]:
    """The same table as of `draw`, in one of the styles with a rule between rows, in pieces.

    Drawing a long table at once doubles the memory of a call, so it is drawn in parts, each below
    a first row that is as wide as the widest of all and is cut off again.
    """
    if len(rows) <= rows_at_once:
        yield draw(rows, style=style, headers=headers, right=right)
        return
    widest = ["x" * text_width("\n".join(column)) for column in zip(*rows, strict=True)]
    for start in range(0, len(rows), rows_at_once):
        part = [widest, *rows[start : start + rows_at_once]]
        lines = draw(part, style=style, headers=headers, right=right).split("\n")
        above, rule, below, bottom = lines[:_ABOVE_ROWS], *lines[4:5], lines[5:-1], lines[-1]
        if start == 0:
            yield "\n".join(above)
        is_last = start + rows_at_once >= len(rows)
        yield "\n" + "\n".join([*below, bottom if is_last else rule])

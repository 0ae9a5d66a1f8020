"""Choosing the columns that fit the width of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.report.base import Display
    from profile_analyze.report.cells import Cells


def fit_columns(
    columns: Sequence[Cells],
    available: int | None,
    separators_width: Callable[[int], int],
    removal_order: Sequence[int] | None = None,
) -> tuple[list[int], int]:
    """Return the indices of the columns to show, and by how much they are still too wide.

    Columns are left out in `removal_order` until the others fit into `available`. By default these
    are all but the essential columns, starting with the last. One column always remains.
    `separators_width` returns the width of all separators for a number of columns.
    """
    shown = list(range(len(columns)))
    if available is None:  # measuring the columns of a long table would take time for nothing
        return shown, 0
    if removal_order is None:
        removal_order = [index for index in reversed(shown) if not columns[index].is_essential]
    widths = [column.width for column in columns]
    excess = sum(widths) + separators_width(len(shown)) - available
    for index in removal_order:
        if excess <= 0 or len(shown) == 1:
            break
        shown.remove(index)
        # Without the column, there is also a separator less.
        excess = sum(widths[one] for one in shown) + separators_width(len(shown)) - available
    return shown, excess


def left_out_columns(names: Sequence[str], shown: Sequence[int], display: Display) -> Iterator[str]:
    """Yield a line on the columns that are not shown, if there are any, and how to see them."""
    left_out = [
        visible(name, display.encoding) for index, name in enumerate(names) if index not in shown
    ]
    if left_out:
        yield (
            f"\nleft out to fit the width: {', '.join(left_out)}; --columns chooses others, a "
            "wider window or `| less -S` shows all"
        )

"""Chooses the columns that fit the width of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.visible import visible
from profile_analyze.report.layout.paragraphs import paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.cells import Cells

# Columns that are shown by default. On a narrow terminal, they are left out in this order.
_EXTRAS: Final = (
    *("out_shapes", "cumulative_time", "intensity", "spread", "memory", "computation"),
    *("bandwidth", "flops", "calls", "count", "ratio_per_work", "work_ratio"),
    # Shapes may tell rows of one name apart, but they are long, and most people need the share.
    *("in_shapes", "share"),
    # Without these, several rows may look the same.
    *("scope", "launched_by"),
)
# The columns in `_EXPLAINING` and then `_ASKED_FOR` are left out last. Most of them are shown
# because of options such as --compare and --peaks.
_EXPLAINING: Final = ("type", "bound", "efficiency")
_ASKED_FOR: Final = (
    *("test", "relative_ratio", "base", "base_name", "ratio", "gain", "lost"),
    *("difference", "change", "verdict"),
)
# The columns of short tables, in the order in which they are left out on a narrow terminal: first
# `_EXTRAS_OF_SHORT_TABLES`, as `Removal.extras`.
_EXTRAS_OF_SHORT_TABLES: Final = ("level", "step")
_LESS_IMPORTANT: Final = ("share", "calls", "queue", "start", "launched_by", "key")

_SHOWN_FOR: Final = {"absolute_difference": "difference"}
"""Columns that order rows but are not shown by default, each with the column that is shown."""


class Removal(NamedTuple):
    """Which columns may be left out: their indices, in the order of removal."""

    extras: Sequence[int] = ()
    """These are left out even if shorter texts would make all columns fit."""
    asked_for: Sequence[int] = ()
    """These are left out if the columns do not fit even with the shortest texts."""

    @classmethod
    def of_default(cls, names: Sequence[str], table: Table) -> Removal:
        """Return the order for default columns. The time, the name and group keys always stay."""
        query = table.query
        keys = query.by or ("name",)
        # With peaks, the share is left out after the columns that explain the lost time.
        kept_with_peaks = ("share",) if query.peaks else ()
        candidates = (one for one in _EXTRAS if one not in kept_with_peaks)
        asked_for = (*reversed(query.times[1:]), *_EXPLAINING, *kept_with_peaks, *_ASKED_FOR)
        extras, asked = (
            [names.index(name) for name in order if name in names and name not in keys]
            for order in (candidates, asked_for)
        )
        ordering = [names.index(name) for name in ordering_columns(query) if name in names]
        return cls(extras, asked).keeping(ordering)

    @classmethod
    def of_chosen(cls, names: Sequence[str], table: Table) -> Removal:
        """Return the order for columns that the user chose: from the last to the first.

        Columns without any value come before all others.
        """
        query = table.query
        keys = ("time", *(query.by or ("name",)))
        indices = [index for index, name in enumerate(names) if name not in keys]
        indices.sort(key=lambda index: (table.has_values(names[index]), -index))
        ordering = [names.index(name) for name in ordering_columns(query) if name in names]
        return cls(asked_for=indices).keeping(ordering)

    @classmethod
    def of_short_table(cls, names: Sequence[str]) -> Removal:
        """Return the order for a table with a title, such as the kernels of an operator.

        The names, the main time, and the columns that tell rows apart always stay.
        """
        extras, others = (
            [names.index(name) for name in order if name in names]
            for order in (_EXTRAS_OF_SHORT_TABLES, _LESS_IMPORTANT)
        )
        return cls(extras, others)

    def keeping(self, indices: Sequence[int]) -> Removal:
        """Return the order in which `indices` are left out last, and the first of them at the end.

        Indices that are not in the order are ignored.
        """
        extras, asked_for = (
            [index for index in order if index not in indices]
            for order in (self.extras, self.asked_for)
        )
        removable = {*self.extras, *self.asked_for}
        last = [index for index in reversed(indices) if index in removable]
        return Removal(extras, [*asked_for, *last])


def ordering_columns(query: Query) -> tuple[str, ...]:
    """Return the columns that show the order of the rows, the most important first."""
    names = [order.column.name for order in query.parsed_order]
    return tuple(dict.fromkeys(one for name in names for one in (name, _SHOWN_FOR.get(name, name))))


def fit_columns(
    widths: Sequence[int],
    available: int | None,
    separators_width: Callable[[int], int],
    order: Sequence[int],
    among: Sequence[int] | None = None,
) -> tuple[list[int], int]:
    """Return the indices of the columns to show, and how much wider than `available` they are.

    Columns are left out in `order` until the remaining columns fit into `available`. One column
    always remains. `among` has the indices to choose from; None means all columns.
    `separators_width` returns the width of all separators for a number of columns.

    The second number is negative if the columns are narrower, and 0 if `available` is None.
    """
    shown = list(range(len(widths)) if among is None else among)
    if available is None:
        return shown, 0

    def excess() -> int:
        return sum(widths[index] for index in shown) + separators_width(len(shown)) - available

    for index in order:
        if excess() <= 0 or len(shown) == 1:
            break
        if index in shown:
            shown.remove(index)
    return shown, excess()


def fitting_columns(
    columns: Sequence[Cells],
    widths: Sequence[int],
    separators_width: Callable[[int], int],
    display: Display,
    chooser: str,
) -> tuple[list[Cells], Iterator[str]]:
    """Return the columns that fit the display, and a paragraph about the other columns.

    The last columns are left out first. `widths` has the least width of each column. `chooser` is
    what chooses other columns.
    """
    shown = list(range(len(columns)))
    shown, _ = fit_columns(widths, display.width, separators_width, shown[::-1])
    headers = [column.header for column in columns]
    about_others = left_out_columns(headers, shown, display, chooser=chooser)
    return [columns[index] for index in shown], about_others


def left_out_columns(
    names: Sequence[str],
    shown: Sequence[int],
    display: Display,
    *,
    chooser: str = "--columns",
    narrower: str = "",
) -> Iterator[str]:
    """Yield a paragraph that names the columns that are not shown; nothing if all are shown.

    The paragraph says how to see them. `chooser` is what chooses other columns, such as
    `--columns`; empty if nothing does. `narrower` has the arguments that ask for a narrower table.
    """
    left_out = [
        visible(name, display.encoding) for index, name in enumerate(names) if index not in shown
    ]
    if left_out:
        may_show = f"{narrower} may show them, " if narrower else ""
        choose = f"{chooser} chooses others, " if chooser else ""
        text = (
            f"left out to fit the width: {', '.join(left_out)}; {may_show}{choose}a wider "
            "window or `| less -S` shows all"
        )
        yield "\n" + paragraph(text, display.width)

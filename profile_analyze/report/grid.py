"""Boxed tables for the terminal, several lines per row: the original's default format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.cells import Cells, cells_of, column_title
from profile_analyze.report.colors import bar, dim
from profile_analyze.report.column_fitting import fit_columns, left_out_columns
from profile_analyze.report.default_columns import (
    columns_beside_time,
    group_columns,
    roofline_columns,
)
from profile_analyze.report.drawing import draw, draw_boxes
from profile_analyze.report.labels import row_labels, time_title
from profile_analyze.report.people import PeopleRenderer
from profile_analyze.report.shapes import shape_columns
from profile_analyze.report.text_layout import wrapped
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import Line, TableSection

_INFO_WIDTH: Final = 30  # as in the original
_MIN_INFO_WIDTH: Final = 8
_CONTINUATION: Final = "\n-  "
_BOX_CHARACTER: Final = "\N{BOX DRAWINGS DOWN SINGLE AND HORIZONTAL DOUBLE}"

# Columns that are left out if the terminal is narrow, the least informative first.
_REMOVAL_ORDER: Final = (
    "in_shapes",
    "out_shapes",
    "cumulative",
    "spread",
    "memory",
    "computation",
    "bandwidth",
    "gain",
    "FLOPS",
    "bound",
    "lost (s)",
    "efficiency",
)


class GridRenderer(PeopleRenderer):
    """Renderer of boxed tables; see `Renderer`."""

    name = "table"
    suffixes: tuple[str, ...] = (".txt", ".log", ".out")
    counts_constants = True

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns, some of which share a box; see `Renderer.columns`."""
        if query.keys is None:
            return (
                "time",
                *columns_beside_time(query, several_runs=several_runs),
                "name",
                "type",
                "id",
                "in_shapes",
                "in_strides",
                "out_shapes",
            )
        return group_columns(query, several_runs=several_runs)

    def facts(self, lines: Sequence[Line]) -> str:
        """Return the facts between two rules."""
        return draw(lines, style="simple", numeric=(1,))

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Yield a box per row, drawn in ASCII if the encoding lacks box characters."""
        return _table(section.table, section.columns, display)


def _table(table: Table, names: Sequence[str], display: Display) -> Iterator[str]:
    columns = _columns(table, names, display, _INFO_WIDTH)
    order = None  # chosen columns are left out from the last
    if not names:
        titles = [column.header for column in columns]
        # Further aggregates of the time go last, and the last of them first.
        more_times = [column_title(table, name) for name in reversed(table.query.times[1:])]
        removable = (*_REMOVAL_ORDER, *more_times)
        order = [titles.index(title) for title in removable if title in titles]
    shown, excess = fit_columns(columns, display.width, _frame_width, order)
    if excess > 0:  # then wrap texts more narrowly; lines after the first have a prefix
        narrower = _INFO_WIDTH - excess - len(_CONTINUATION.strip("\n"))
        columns = _columns(table, names, display, max(narrower, _MIN_INFO_WIDTH))
    yield from draw_boxes(
        list(zip(*(columns[index].texts for index in shown), strict=True)),
        headers=[columns[index].header for index in shown],
        right=[position for position, index in enumerate(shown) if columns[index].is_number],
        style="fancy_grid" if display.can_show(_BOX_CHARACTER) else "grid",
    )
    yield from left_out_columns(names or [column.header for column in columns], shown, display)


def _frame_width(columns: int) -> int:
    """Return the width of the lines around and between columns, with their blanks."""
    # A line and two blanks for each column, and the line at the end.
    return 3 * columns + 1


def _columns(table: Table, names: Sequence[str], display: Display, text_width: int) -> list[Cells]:
    """Return the columns `names`, or else the original's, with texts wrapped to `text_width`."""
    if not names:
        return _original_columns(table, display, text_width)
    return [
        cells if cells.is_number else _wrapped(table, name, display, text_width)
        for name, cells in zip(names, cells_of(table, names, display), strict=True)
    ]


def _wrapped(table: Table, name: str, display: Display, text_width: int) -> Cells:
    """Return a column of wrapped texts. Wrapping would break colours, so they come last."""
    (cells,) = cells_of(table, [name], display._replace(color=False))
    return cells._replace(
        texts=[_colored(_wrap([text], text_width, display), display) for text in cells.texts]
    )


def _original_columns(table: Table, display: Display, text_width: int) -> list[Cells]:
    """Return the original's columns, with more times of groups after the cumulative time."""
    in_shapes, out_shapes = shape_columns(table)
    columns = {
        time_title(table): _times(table, display),
        "cumulative": _cumulative(table),
        **{column_title(table, name): table.texts(name) for name in table.query.times[1:]},
        **_comparison_boxes(table),
        **({column_title(table, "spread"): table.texts("spread")} if table.several_runs else {}),
        "operator info": [_wrap(label, text_width, display) for label in row_labels(table)],
        "computation": table.texts("computation", "stacked"),
        "FLOPS": table.texts("flops", "stacked"),
        "memory": table.texts("memory", "stacked"),
        "bandwidth": table.texts("bandwidth", "stacked"),
        **{column_title(table, name): table.texts(name) for name in roofline_columns(table.query)},
        "in_shapes": ["\n".join(lines) for lines in in_shapes],
        "out_shapes": ["\n".join(lines) for lines in out_shapes],
    }
    return [
        Cells(header, [_colored(text, display) for text in texts], is_number=False)
        for header, texts in columns.items()
    ]


def _comparison_boxes(table: Table) -> dict[str, list[str]]:
    """Return two columns on the difference to the baseline; none without a baseline."""
    if not table.query.compared:
        return {}
    base = zip(*(table.texts(name) for name in ("base", "difference", "change")), strict=True)
    verdict = zip(table.texts("ratio"), _intervals(table), table.texts("verdict"), strict=True)
    return {
        "baseline time": list(map("\n".join, base)),
        "ratio": list(map("\n".join, verdict)),
    }


def _intervals(table: Table) -> list[str]:
    """Return the confidence interval of each ratio."""
    ends = zip(table.texts("ratio_low"), table.texts("ratio_high"), strict=True)
    return [NOT_AVAILABLE if NOT_AVAILABLE in both else " to ".join(both) for both in ends]


def _times(table: Table, display: Display) -> list[str]:
    """Return the index, time and share of each row, with a bar if there are colours."""
    bars = [f" {bar(share)}" if display.color else "" for share in table["share"].tolist()]
    parts = zip(table.texts("time"), table.texts("share"), bars, strict=True)
    return [f"#{index}\n{time}\n{share}{bar}" for index, (time, share, bar) in enumerate(parts)]


def _cumulative(table: Table) -> list[str]:
    sums = (table.texts("cumulative_time"), table.texts("cumulative_share"))
    return list(map("\n".join, zip(*sums, strict=True)))


def _wrap(texts: Iterable[str], width: int, display: Display) -> str:
    return "\n".join(_CONTINUATION.join(wrapped(text, width, display.encoding)) for text in texts)


def _colored(text: str, display: Display) -> str:
    if not display.color:
        return text
    lines = text.split("\n")
    return "\n".join(dim(line) if line == NOT_AVAILABLE else line for line in lines)

"""Boxed tables for the terminal, several lines a row: the original's default form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.cells import Cells, cells_of, heading_in
from profile_analyze.report.colors import bar, dim
from profile_analyze.report.default_columns import columns_of_groups, judged_of, rates, varying
from profile_analyze.report.drawing import draw, draw_boxes
from profile_analyze.report.labels import row_labels, time_title
from profile_analyze.report.people import PeopleRenderer
from profile_analyze.report.room import fitting, what_gave_way
from profile_analyze.report.shapes import shape_columns
from profile_analyze.report.text import wrapped
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import Line, TableSection

_INFO_WIDTH: Final = 30
_LEAST_WIDTH: Final = 8
_CONTINUATION: Final = "\n-  "
_BOX: Final = "\N{BOX DRAWINGS DOWN SINGLE AND HORIZONTAL DOUBLE}"

# What says least about a row gives way first where there is no room for all.
_GIVE_WAY: Final = (
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
    """See `Renderer`."""

    name = "table"
    suffixes: tuple[str, ...] = (".txt", ".log", ".out")

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`: several stand in one box."""
        if query.keys is None:
            return (
                "time",
                *rates(query, several_runs=several_runs),
                "name",
                "type",
                "id",
                "in_shapes",
                "in_strides",
                "out_shapes",
            )
        return columns_of_groups(query, several_runs=several_runs)

    def facts(self, lines: Sequence[Line]) -> str:
        """The facts between two rules."""
        return draw(lines, style="simple", numeric=(1,))

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """A box for each row, drawn in ASCII where the encoding has no other lines."""
        return _table(section.table, section.columns, display)


def _table(table: Table, names: Sequence[str], display: Display) -> Iterator[str]:
    columns = _columns(table, names, display, _INFO_WIDTH)
    if names:
        order = [place for place in reversed(range(len(columns))) if not columns[place].stays]
    else:
        headers = [cells.header for cells in columns]
        further = [heading_in(table, name) for name in reversed(table.query.times[1:])]
        order = [headers.index(one) for one in (*_GIVE_WAY, *further) if one in headers]
    kept, missing = _kept(columns, order, display.width)
    if missing > 0:  # even without those that give way; further lines of a text are longer
        narrower = _INFO_WIDTH - missing - len(_CONTINUATION.strip("\n"))
        columns = _columns(table, names, display, max(narrower, _LEAST_WIDTH))
    yield from draw_boxes(
        list(zip(*(columns[place].texts for place in kept), strict=True)),
        headers=[columns[place].header for place in kept],
        right=[place for place, one in enumerate(kept) if columns[one].is_number],
        style="fancy_grid" if display.can_show(_BOX) else "grid",
    )
    yield from what_gave_way(names or [cells.header for cells in columns], kept, display)


def _columns(table: Table, names: Sequence[str], display: Display, text_width: int) -> list[Cells]:
    """The columns `names`, or else the original's, with long texts in lines of `text_width`."""
    if not names:
        return _original_columns(table, display, text_width)
    return [
        cells if cells.is_number else _wrapped(table, name, display, text_width)
        for name, cells in zip(names, cells_of(table, names, display), strict=True)
    ]


def _wrapped(table: Table, name: str, display: Display, text_width: int) -> Cells:
    """A column of texts in several lines. Colours come last: wrapping would break them."""
    (cells,) = cells_of(table, [name], display._replace(color=False))
    return cells._replace(
        texts=[_colored(_info([text], text_width, display), display) for text in cells.texts]
    )


def _kept(
    columns: Sequence[Cells], order: Sequence[int], room: int | None
) -> tuple[list[int], int]:
    """The places of the columns that stay when those in `order` give way, and what is missing.

    The latter is by how much they are still too wide; it is not positive where they fit.
    """
    if room is None:
        return list(range(len(columns))), 0
    widths = [cells.width for cells in columns]
    kept = fitting(widths, order, lambda those: sum(those) + _frame(those) <= room)
    shown = [widths[place] for place in kept]
    return kept, sum(shown) + _frame(shown) - room


def _frame(widths: Sequence[int]) -> int:
    """What the lines between columns take, and the blanks beside them."""
    return 3 * len(widths) + 1


def _original_columns(table: Table, display: Display, text_width: int) -> list[Cells]:
    """The original's columns; the further times of groups come after their cumulative one."""
    in_shapes, out_shapes = shape_columns(table)
    columns = {
        time_title(table): _times(table, display),
        "cumulative": _cumulative(table),
        **{heading_in(table, name): table.texts(name) for name in table.query.times[1:]},
        **_changes(table),
        **{
            heading_in(table, name): table.texts(name)
            for name in varying(several_runs=table.several_runs)
        },
        "operator info": [_info(label, text_width, display) for label in row_labels(table)],
        "computation": table.texts("computation", "stacked"),
        "FLOPS": table.texts("flops", "stacked"),
        "memory": table.texts("memory", "stacked"),
        "bandwidth": table.texts("bandwidth", "stacked"),
        **{heading_in(table, name): table.texts(name) for name in judged_of(table.query)},
        "in_shapes": ["\n".join(lines) for lines in in_shapes],
        "out_shapes": ["\n".join(lines) for lines in out_shapes],
    }
    return [
        Cells(header, [_colored(text, display) for text in texts], is_number=False)
        for header, texts in columns.items()
    ]


def _changes(table: Table) -> dict[str, list[str]]:
    """How each row differs from the base, in two boxes; nothing without a base."""
    if not table.query.compared:
        return {}
    base = zip(*(table.texts(name) for name in ("base", "difference", "change")), strict=True)
    verdict = zip(table.texts("ratio"), _intervals(table), table.texts("verdict"), strict=True)
    return {
        "base time": list(map("\n".join, base)),
        "ratio": list(map("\n".join, verdict)),
    }


def _intervals(table: Table) -> list[str]:
    ends = zip(table.texts("ratio_low"), table.texts("ratio_high"), strict=True)
    return [NOT_AVAILABLE if NOT_AVAILABLE in both else " to ".join(both) for both in ends]


def _times(table: Table, display: Display) -> list[str]:
    """Which row it is, its time, and its share, with a bar where there are colours."""
    bars = [f" {bar(share)}" if display.color else "" for share in table["share"].tolist()]
    parts = zip(table.texts("time"), table.texts("share"), bars, strict=True)
    return [f"#{place}\n{time}\n{share}{bar}" for place, (time, share, bar) in enumerate(parts)]


def _cumulative(table: Table) -> list[str]:
    both = (table.texts("cumulative_time"), table.texts("cumulative_share"))
    return list(map("\n".join, zip(*both, strict=True)))


def _info(texts: Iterable[str], width: int, display: Display) -> str:
    return "\n".join(_CONTINUATION.join(wrapped(text, width, display.encoding)) for text in texts)


def _colored(text: str, display: Display) -> str:
    if not display.color:
        return text
    lines = text.split("\n")
    return "\n".join(dim(line) if line == NOT_AVAILABLE else line for line in lines)

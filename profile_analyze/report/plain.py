"""One line a row, in aligned columns: for narrow terminals, `grep` and `awk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.cells import Cells, cells_of, draw_cells
from profile_analyze.report.default_columns import compared_of, judged_of, varying, with_values
from profile_analyze.report.drawing import draw
from profile_analyze.report.people import PeopleRenderer
from profile_analyze.report.room import fitting, what_gave_way
from profile_analyze.report.text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import Line, TableSection

_GAP: Final = 2
_SHORTEST: Final = 8


class PlainRenderer(PeopleRenderer):
    """See `Renderer`."""

    name = "plain"

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`. What tells rows apart comes last, as it may be long."""
        judged = judged_of(query)
        beside = (*compared_of(query), *varying(several_runs=several_runs))
        if query.keys is None:
            return ("time", *beside, "share", "flops", "bandwidth", *judged, "type", "name")
        return (*query.times, *beside, "share", "count", "flops", "bandwidth", *judged, *query.by)

    def facts(self, lines: Sequence[Line]) -> str:
        """The facts in two columns."""
        return draw(lines, style="plain", numeric=(1,))

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """A line for each row; of its own columns, those that have values."""
        names = section.columns or with_values(self.names_of(section), section.table)
        return _table(section.table, names, display)


def _table(table: Table, names: Sequence[str], display: Display) -> Iterator[str]:
    columns = cells_of(table, names, display)
    kept = _kept(columns, display)
    shown = [columns[place] for place in kept]
    room = display.width
    missing = 0 if room is None else _width(shown) - room
    texts = [place for place, cells in enumerate(shown) if not cells.is_number]
    shortened_header = ""
    if missing > 0 and texts:  # a number that is cut would be a wrong one
        widest = max(texts, key=lambda place: shown[place].width)
        shortened_header = shown[widest].header
        shown[widest] = _cut(shown[widest], shown[widest].width - missing, display)
    yield draw_cells(shown, style="plain")
    yield from what_gave_way(names, kept, display)
    if shortened_header:
        yield f"\nshortened for want of width: {shortened_header}; `| less -S` shows all of it"


def _width(columns: Sequence[Cells]) -> int:
    return sum(cells.width for cells in columns) + _GAP * (len(columns) - 1)


def _cut(cells: Cells, width: int, display: Display) -> Cells:
    """The column with texts of at most `width` columns, but of some in any case."""
    mark = "\N{HORIZONTAL ELLIPSIS}" if display.can_show("\N{HORIZONTAL ELLIPSIS}") else "..."
    room = max(width, _SHORTEST)
    texts = [shortened(text, room, mark) for text in cells.texts]
    return cells._replace(header=shortened(cells.header, room, mark), texts=texts)


def _kept(columns: Sequence[Cells], display: Display) -> list[int]:
    """The places of the columns for which there is room; the last give way first."""
    room = display.width
    if room is None:
        return list(range(len(columns)))
    return fitting(
        [column.width for column in columns],
        [place for place in reversed(range(len(columns))) if not columns[place].stays],
        lambda widths: sum(widths) + _GAP * (len(widths) - 1) <= room,
    )

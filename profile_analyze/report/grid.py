"""Boxed tables for the terminal, several lines a row: the original's default form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.base import columns_of_groups, judged_of, parts, rates, varying
from profile_analyze.report.cells import Cells, cells_of, heading_in
from profile_analyze.report.colors import bar, dim
from profile_analyze.report.drawing import LIBRARIES, draw, draw_boxes
from profile_analyze.report.labels import (
    gate_text,
    row_labels,
    summary_lines,
    summary_sentences,
    time_title,
)
from profile_analyze.report.room import fitting, what_gave_way
from profile_analyze.report.shapes import shape_columns
from profile_analyze.report.text import wrapped
from profile_analyze.units import NOT_AVAILABLE, percent, scaled, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Display, Report

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


class GridRenderer:
    """See `Renderer`."""

    name = "table"
    for_programs = False
    libraries = LIBRARIES

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
                "in_layouts",
                "out_shapes",
            )
        return columns_of_groups(query, several_runs=several_runs)

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """See `Renderer.pieces`. Boxes are drawn in ASCII where the encoding has no others."""
        return parts(
            report,
            display,
            gate=gate_text,
            summary=summary_text,
            table=lambda result: _table(result, report.shown_of(result.query), display),
        )


def summary_text(summary: Summary) -> str:
    """The totals between two rules."""
    table = draw(summary_lines(summary), style="simple", numeric=(1,))
    return "\n".join([table, *summary_sentences(summary)])


def _table(result: Result, names: Sequence[str], display: Display) -> Iterator[str]:
    columns = _columns(result, names, display, _INFO_WIDTH)
    if names:
        order = [place for place in reversed(range(len(columns))) if not columns[place].stays]
    else:
        headers = [cells.header for cells in columns]
        further = [heading_in(result, name) for name in reversed(result.query.times[1:])]
        order = [headers.index(one) for one in (*_GIVE_WAY, *further) if one in headers]
    kept, missing = _kept(columns, order, display.width)
    if missing > 0:  # even without those that give way; further lines of a text are longer
        narrower = _INFO_WIDTH - missing - len(_CONTINUATION.strip("\n"))
        columns = _columns(result, names, display, max(narrower, _LEAST_WIDTH))
    yield from draw_boxes(
        list(zip(*(columns[place].texts for place in kept), strict=True)),
        headers=[columns[place].header for place in kept],
        right=[place for place, one in enumerate(kept) if columns[one].is_number],
        style="fancy_grid" if display.can_show(_BOX) else "grid",
    )
    yield from what_gave_way(names or [cells.header for cells in columns], kept, display)


def _columns(
    result: Result, names: Sequence[str], display: Display, text_width: int
) -> list[Cells]:
    """The columns `names`, or else the original's, with long texts in lines of `text_width`."""
    if not names:
        return _original_columns(result, display, text_width)
    return [
        cells if cells.is_number else _wrapped(result, name, display, text_width)
        for name, cells in zip(names, cells_of(result, names, display), strict=True)
    ]


def _wrapped(result: Result, name: str, display: Display, text_width: int) -> Cells:
    """A column of texts in several lines. Colours come last: wrapping would break them."""
    (cells,) = cells_of(result, [name], display._replace(color=False))
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


def _original_columns(result: Result, display: Display, text_width: int) -> list[Cells]:
    """The original's columns; the further times of groups come after their cumulative one."""
    in_shapes, out_shapes = shape_columns(result)
    columns = {
        time_title(result): _times(result, display),
        "cumulative": _cumulative(result),
        **{heading_in(result, name): result.texts(name) for name in result.query.times[1:]},
        **_changes(result),
        **{
            heading_in(result, name): result.texts(name)
            for name in varying(several_runs=result.several_runs)
        },
        "operator info": [_info(label, text_width, display) for label in row_labels(result)],
        "computation": _quantities(result, "computation"),
        "FLOPS": _quantities(result, "flops"),
        "memory": _quantities(result, "memory"),
        "bandwidth": _quantities(result, "bandwidth"),
        **{heading_in(result, name): result.texts(name) for name in judged_of(result.query)},
        "in_shapes": ["\n".join(lines) for lines in in_shapes],
        "out_shapes": ["\n".join(lines) for lines in out_shapes],
    }
    return [
        Cells(header, [_colored(text, display) for text in texts], is_number=False)
        for header, texts in columns.items()
    ]


def _changes(result: Result) -> dict[str, list[str]]:
    """How each row differs from the base, in two boxes; nothing without a base."""
    if not result.query.compared:
        return {}
    base = zip(*(result.texts(name) for name in ("base", "difference", "change")), strict=True)
    verdict = zip(result.texts("ratio"), _intervals(result), result.texts("verdict"), strict=True)
    return {
        "base time": list(map("\n".join, base)),
        "ratio": list(map("\n".join, verdict)),
    }


def _intervals(result: Result) -> list[str]:
    ends = zip(result.texts("ratio_low"), result.texts("ratio_high"), strict=True)
    return [NOT_AVAILABLE if NOT_AVAILABLE in both else " to ".join(both) for both in ends]


def _times(result: Result, display: Display) -> list[str]:
    times, shares = result["time"].tolist(), result["share"].tolist()
    return [
        f"#{place}\n{seconds(time)}\n{percent(share)}" + (f" {bar(share)}" if display.color else "")
        for place, (time, share) in enumerate(zip(times, shares, strict=True))
    ]


def _cumulative(result: Result) -> list[str]:
    times, shares = result["cumulative_time"].tolist(), result["cumulative_share"].tolist()
    return [f"{seconds(time)}\n{percent(share)}" for time, share in zip(times, shares, strict=True)]


def _quantities(result: Result, name: str) -> list[str]:
    unit = result.column(name).unit
    return ["\n".join(scaled(value, unit)) for value in result[name].tolist()]


def _info(texts: Iterable[str], width: int, display: Display) -> str:
    return "\n".join(_CONTINUATION.join(wrapped(text, width, display.encoding)) for text in texts)


def _colored(text: str, display: Display) -> str:
    if not display.color:
        return text
    lines = text.split("\n")
    return "\n".join(dim(line) if line == NOT_AVAILABLE else line for line in lines)

"""Boxed tables for the terminal, several lines a row: the original's default form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.base import parts
from profile_analyze.report.drawing import draw, draw_boxes
from profile_analyze.report.labels import row_labels, summary_lines, time_title
from profile_analyze.report.shapes import shape_columns
from profile_analyze.report.text import wrapped
from profile_analyze.units import percent, scaled, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Display, Report

_INFO_WIDTH: Final = 30
_CONTINUATION: Final = "\n-  "
_BOX: Final = "\N{BOX DRAWINGS DOWN SINGLE AND HORIZONTAL DOUBLE}"


class GridRenderer:
    """See `Renderer`."""

    name = "table"

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """See `Renderer.pieces`. Boxes are drawn in ASCII where the encoding has no others."""
        return parts(report, summary=summary_text, table=lambda result: _table(result, display))


def summary_text(summary: Summary) -> str:
    """The totals between two rules."""
    return draw(summary_lines(summary), style="simple", numeric=(1,))


def _table(result: Result, display: Display) -> Iterator[str]:
    headers = (
        time_title(result),
        "cumulative",
        "operator info",
        "computation",
        "FLOPS",
        "memory",
        "bandwidth",
        "in_shapes",
        "out_shapes",
    )
    in_shapes, out_shapes = shape_columns(result)
    columns = (
        _times(result),
        _cumulative(result),
        [_info(label, display.encoding) for label in row_labels(result)],
        _quantities(result, "computation", "FLO"),
        _quantities(result, "flops", "FLO/s"),
        _quantities(result, "memory", "byte"),
        _quantities(result, "bandwidth", "byte/s"),
        map("\n".join, in_shapes),
        map("\n".join, out_shapes),
    )
    return draw_boxes(
        list(zip(*columns, strict=True)),
        headers=headers,
        style="fancy_grid" if display.can_show(_BOX) else "grid",
    )


def _times(result: Result) -> list[str]:
    times, shares = result["time"].tolist(), result["share"].tolist()
    return [
        f"#{place}\n{seconds(time)}\n{percent(share)}"
        for place, (time, share) in enumerate(zip(times, shares, strict=True))
    ]


def _cumulative(result: Result) -> list[str]:
    times, shares = result["cumulative_time"].tolist(), result["cumulative_share"].tolist()
    return [f"{seconds(time)}\n{percent(share)}" for time, share in zip(times, shares, strict=True)]


def _quantities(result: Result, column: str, unit: str) -> list[str]:
    return ["\n".join(scaled(value, unit)) for value in result[column].tolist()]


def _info(texts: Iterable[str], encoding: str) -> str:
    return "\n".join(_CONTINUATION.join(wrapped(text, _INFO_WIDTH, encoding)) for text in texts)

"""Draws charts with matplotlib: here the roofline; `bar_chart` and `work_chart` draw bars."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final
from warnings import catch_warnings, simplefilter

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

from profile_analyze.model.visible import visible
from profile_analyze.report.bar_chart import draw_times
from profile_analyze.report.chart_texts import (
    ELLIPSIS,
    first_rows,
    fitted,
    names_with_details,
    not_drawn_text,
    not_judged_text,
    partial_rows_text,
    rows_with_dots,
    sides,
    title,
)
from profile_analyze.report.roofs import draw_roofs, used_rates
from profile_analyze.report.text_layout import shortened
from profile_analyze.report.times import AUTO, times_for
from profile_analyze.report.work_chart import draw_work
from profile_analyze.units import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.query.table import Table
    from profile_analyze.report.sections import Chart
    from profile_analyze.report.times import TimeUnit

_MOST_NUMBERS: Final = 10
"""How many dots have a number. A list beside the picture explains the numbers."""
_MOST_WITHOUT_DOT: Final = 3
"""How many rows without a dot are in the list at most. See `_longer_without_dot`."""
_GAP: Final = 4
"""The least distance between a number and other text, in pixels, on each side."""
_MAX_VECTOR_DOTS: Final = 2000  # more dots become a bitmap, which keeps files small
_LARGEST_DOT: Final = 900.0  # points squared
_SMALLEST_DOT: Final = 8.0
_NAME_WIDTH: Final = 36
"""The most characters of a name in the list of numbers."""
_LEGEND_WIDTH: Final = 28
_TYPE_COLORS: Final = (
    *("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink"),
    *("tab:olive", "tab:cyan"),
)
"""The colours of the types that take most time. Grey is for all other types together."""
_OTHERS_COLOR: Final = "0.6"
_BASELINE_COLOR: Final = "0.35"
_HOLLOW: Final[dict[str, Any]] = {"facecolors": "none", "linewidths": 1.0, "linestyles": "dashed"}
"""How dots of rows that are not judged are drawn. Circles of the baseline are not dashed."""

_ARROW: Final[dict[str, Any]] = {
    "arrowstyle": "-|>,head_length=0.3,head_width=0.15",
    "color": "0.2",
    "linewidth": 0.7,
    "shrinkA": 0,
    "shrinkB": 0,
}
"""The arrow from a number to its dot."""

_SETTINGS: Final[dict[Any, Any]] = {
    "text.parse_math": False,  # a name with two $ is not a formula
    "svg.fonttype": "none",  # text stays text, which can be searched
    "svg.hashsalt": "profile_analyze",  # ids are not random: equal answers give equal files
}

# Offsets of a number from its dot, in points. They are tried in order: near first, right first.
# A number is at its dot, or so far away that the arrow to the dot is clearly visible. No arrow is
# horizontal, because a horizontal arrow would look like the hyphen of a range: `5-7`.
_OFFSETS: Final = [
    (0.0, 0.0),
    *(
        (distance * float(np.cos(angle)), distance * float(np.sin(angle)))
        for distance in range(30, 150, 6)
        for angle in np.deg2rad([30, -30, 60, -60, 150, -150, 90, -90, 120, -120])
    ),
]


def picture(chart: Chart, suffix: str, time_unit: TimeUnit = AUTO) -> bytes:
    """Return the chart as the content of a file with this suffix."""
    stream = io.BytesIO()
    with mpl.rc_context(), catch_warnings():
        simplefilter("ignore")  # PNG and PDF show a box for a character that the font lacks
        mpl.rcdefaults()  # a configuration file of the user must not change the picture
        mpl.rcParams.update(_SETTINGS)
        figure = Figure(figsize=(11, 7), layout="constrained")
        if chart.kind == "roofline":
            draw_roofline(figure, chart, time_unit)
        elif chart.kind == "work":
            draw_work(figure, chart, time_unit)
        else:
            draw_times(figure, chart, time_unit)
        figure.savefig(stream, format=suffix, metadata={"Date": None} if suffix == "svg" else None)
    return stream.getvalue()


def draw_roofline(figure: Figure, chart: Chart, time_unit: TimeUnit = AUTO) -> None:
    """Draw the roofs, and a dot for each row with FLOPS and intensity, on logarithmic axes.

    With `chart.most_rows`, only the longest of these rows have dots. The largest dots have numbers,
    and a list beside the picture has their names. The list also has long rows without a dot. In a
    comparison, a line connects each dot with the dot of the baseline.
    """
    table = chart.table
    peaks = table.query.peaks
    assert peaks is not None
    axes = figure.add_subplot()
    flops, intensity = table["flops"], table["intensity"]
    drawn = _longest(table, rows_with_dots(table), chart.most_rows)
    x, y, times = intensity[drawn], flops[drawn], table["time"][drawn]
    base_x, base_y = _baseline_dots(table, drawn)
    base_drawn = ~np.isnan(base_y)
    draw_roofs(axes, used_rates(table), peaks, [*x, *base_x[base_drawn]], [*y, *base_y[base_drawn]])
    longest = max(times.tolist(), default=0.0) or 1.0  # there may be no dots
    sizes = np.maximum(_SMALLEST_DOT, _LARGEST_DOT * times / longest)
    _draw_dots(axes, table, drawn, x, y, sizes)
    if base_drawn.any():
        axes.plot([base_x, x], [base_y, y], color=_BASELINE_COLOR, linewidth=0.5, zorder=0.9)
        axes.scatter(
            base_x, base_y, s=30, facecolors="none", edgecolors=_BASELINE_COLOR, label="baseline"
        )
    axes.set_xlabel("intensity (FLO/byte)")
    axes.set_ylabel("FLO/s")
    axes.set_title(_title(chart, peaks, drawn), fontsize=10, loc="left")
    if len(drawn):
        legend = axes.legend(loc="lower right", fontsize=8, framealpha=0.9)
        for handle in legend.legend_handles:
            handle.set_sizes([30.0])  # type: ignore[union-attr]  # all are of scatter plots
    longest_first = np.argsort(-times, kind="stable")[:_MOST_NUMBERS]
    _draw_list(axes, table, drawn[longest_first], time_unit)
    # The layout must be final before numbers are placed, because their positions are in pixels.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _draw_numbers(axes, x[longest_first], y[longest_first])


def _longest(table: Table, rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the `most` longest of `rows`, in the order of `rows`; all rows if `most` is 0."""
    if not most:
        return rows
    by_time = np.argsort(-table["time"][rows], kind="stable")
    return rows[np.sort(by_time[:most])]


def _baseline_dots(
    table: Table, drawn: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the baseline's intensity and FLOPS for the drawn rows; NaN for a row without a dot."""
    if not table.query.compared:
        nothing = np.full(len(drawn), np.nan)
        return nothing, nothing
    base = table.shown.of_base()
    intensity, flops = base["intensity"][drawn], base["flops"][drawn]
    with np.errstate(invalid="ignore"):
        has_dot = (flops > 0) & (intensity > 0)
    return np.where(has_dot, intensity, np.nan), np.where(has_dot, flops, np.nan)


def _title(chart: Chart, peaks: Peaks, drawn: NDArray[np.int64]) -> str:
    table, dots = chart.table, len(drawn)
    possible = len(rows_with_dots(table))
    further = [chart.caption, chart.note]
    if faster := int((table["efficiency"][drawn] > 1).sum()):
        are_above = "dot is above its" if faster == 1 else "dots are above their"
        why = "the data stayed in caches, or the peaks are too low (device, dtype)"
        further.append(f"{faster} {are_above} roof: {why}")
    further.append(not_judged_text(table, drawn))
    lacking = "FLOPS or no intensity"
    further.append(not_drawn_text(len(table) - possible, len(table), lacking, "dot"))
    if dots < possible:
        longest = first_rows(dots, "longest")
        further.append(f"{longest} of {possible} rows with FLOPS and intensity")
    further.append(partial_rows_text(table, drawn))
    parts = [f"Roofline: {visible(peaks.name, 'utf-8')}", *sides(table)]
    return title(parts, ", ", [*filter(None, further)])


def _draw_dots(
    axes: Axes, table: Table, drawn: NDArray[np.int64], x: Any, y: Any, sizes: Any
) -> None:
    """Draw the dots. Their areas show the times, and their colours show the operator types.

    The dots of rows that are not judged are hollow.
    """
    if table.query.keys is None or "type" in table.query.by:
        types = np.array(table.texts("type"), dtype=object)[drawn]
    else:
        types = np.array(["rows"] * len(x), object)
    # The types that take most time get a colour of their own.
    totals: dict[str, float] = {}
    for type_, time in zip(types.tolist(), table["time"][drawn].tolist(), strict=True):
        totals[type_] = totals.get(type_, 0.0) + time
    ranked = sorted(totals, key=lambda type_: -totals[type_])
    colored, others = ranked[: len(_TYPE_COLORS)], ranked[len(_TYPE_COLORS) :]
    series: list[tuple[Any, str, str]] = [
        (types == type_, visible(type_, "utf-8"), color)
        for type_, color in zip(colored, _TYPE_COLORS, strict=False)  # there may be fewer types
    ]
    if others:
        is_other = ~np.isin(types.astype(str), colored)
        series.append((is_other, f"{len(others)} more types", _OTHERS_COLOR))
    hollow = np.isnan(table["efficiency"][drawn])
    for rows, text, color in series:
        label = f" {text}" if text.startswith("_") else text  # a legend omits labels like `_x`
        label = shortened(label, _LEGEND_WIDTH, ELLIPSIS)
        for chosen, style in (
            (rows & ~hollow, {"color": color, "alpha": 0.65, "edgecolors": "white"}),
            (rows & hollow, {"edgecolors": color, **_HOLLOW}),
        ):
            if chosen.any():
                axes.scatter(
                    x[chosen], y[chosen], s=sizes[chosen], rasterized=len(x) > _MAX_VECTOR_DOTS,
                    label=label, **{"linewidths": 0.6, **style},
                )  # fmt: skip
                label = ""  # one entry in the legend for each type
    if hollow.any():
        axes.scatter([], [], edgecolors=_BASELINE_COLOR, label="not judged", **_HOLLOW)


def _draw_list(axes: Axes, table: Table, rows: NDArray[np.int64], time_unit: TimeUnit) -> None:
    """Write a list beside the axes: the number, name, time and share of each of `rows`.

    A row whose name is not unique has a further line that tells it apart.
    """
    labels = [
        "\n     ".join(fitted(text, _NAME_WIDTH) for text in texts if text)
        for texts in names_with_details(table)
    ]
    numbers = {row: str(number) for number, row in enumerate(rows.tolist(), 1)}
    listed = sorted(
        [*numbers, *_longer_without_dot(table, rows)], key=lambda row: -table["time"][row]
    )
    times = times_for(table["time"][listed].tolist(), time_unit)
    lines = []
    for row in listed:
        amounts = f"{times.text(table['time'][row])}, {percent(table['share'][row])}"
        lines.append(f"{numbers.get(row, '-')}  {labels[row]}\n     {amounts}")
        if row not in numbers:
            lines.append(f"     no dot: {_why_no_dot(table, row)}")
    axes.text(
        1.02, 1, "\n".join(lines), transform=axes.transAxes, fontsize=8, va="top", linespacing=1.3
    )


def _longer_without_dot(table: Table, rows: NDArray[np.int64]) -> list[int]:
    """Return the longest rows without a dot that take longer than the last of `rows`."""
    least_s = float(table["time"][rows].min()) if len(rows) else 0.0
    longer = np.setdiff1d(np.flatnonzero(table["time"] > least_s), rows_with_dots(table))
    by_time = np.argsort(-table["time"][longer], kind="stable")
    found: list[int] = longer[by_time[:_MOST_WITHOUT_DOT]].tolist()
    return found


def _why_no_dot(table: Table, row: int) -> str:
    """Return why a row has no FLOPS or no intensity above 0."""
    for column in ("computation", "memory"):
        if not table[column][row] > 0:
            return f"no {column}" if table[column][row] == 0 else f"{column} unknown"
    return "FLOPS unknown"


def _draw_numbers(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Draw a number at each dot, at the first offset inside the axes that overlaps no other text.

    Without such an offset, the dot gets no number. If the number is not at the centre of the dot,
    an arrow leads to the dot.
    """
    frame = axes.get_window_extent()
    renderer = axes.figure._get_renderer()  # type: ignore[union-attr]  # noqa: SLF001
    occupied: list[Any] = [Text.get_window_extent(label, renderer) for label in axes.texts]
    for number, position in enumerate(zip(x.tolist(), y.tolist(), strict=True), 1):
        for offset in _OFFSETS:
            text = axes.annotate(
                str(number), position, xytext=offset, textcoords="offset points", fontsize=9,
                ha="center", va="center",
                bbox={"boxstyle": "round,pad=0.1", "color": "white", "alpha": 0.8, "linewidth": 0},
                arrowprops=_ARROW, zorder=4 - number / 100,  # a number hides later arrows
            )  # fmt: skip
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer).padded(_GAP)  # without the arrow
            is_inside = frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1)
            if is_inside and not any(box.overlaps(other) for other in occupied):
                occupied.append(box)
                break
            text.remove()

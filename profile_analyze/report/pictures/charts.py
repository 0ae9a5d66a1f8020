"""Draws charts with matplotlib: here the roofline; `bar_chart` and `work_chart` draw bars."""

from __future__ import annotations

import io
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, Final, cast
from warnings import catch_warnings, simplefilter

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

from profile_analyze.model.visible import escaped, visible
from profile_analyze.report.layout.short_names import ELLIPSIS, alike_names, in_lines, short_names
from profile_analyze.report.layout.text_layout import shortened_in_middle
from profile_analyze.report.layout.times import AUTO, times_for
from profile_analyze.report.pictures.bar_chart import draw_times
from profile_analyze.report.pictures.chart_texts import (
    first_rows,
    names_with_details,
    not_drawn_text,
    not_judged_text,
    partial_rows_text,
    rows_with_dots,
    sides,
    title,
)
from profile_analyze.report.pictures.roofs import (
    SLOPE_COLOR,
    colors_of_rows,
    draw_roofs,
    used_rates,
)
from profile_analyze.report.pictures.work_chart import draw_work
from profile_analyze.units import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.text import Annotation
    from numpy.typing import NDArray

    from profile_analyze.query.table import Table
    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.report.sections import Chart
    from profile_analyze.roofline.peaks import Peaks

_MOST_NUMBERS: Final = 10
"""How many dots have a number. A list beside the picture explains the numbers."""
_MOST_WITHOUT_DOT: Final = 3
"""How many rows without a dot are in the list at most. See `_longer_without_dot`."""
_MAX_VECTOR_DOTS: Final = 2000  # more dots become a bitmap, which keeps files small
_NUMBER: Final[dict[str, Any]] = {
    "textcoords": "offset points",
    "fontsize": 9,
    "va": "center",
    "bbox": {"boxstyle": "square,pad=0", "color": "white", "alpha": 0.6, "linewidth": 0},
}
_LEAST_SIZE_WITH_NUMBER: Final = 150.0
"""A number would hide a smaller dot, so it is beside it."""
_NUMBER_GAP: Final = 3.0
"""The least space around a number at a dot, in pixels."""
_LARGEST_DOT: Final = 900.0  # points squared
_SMALLEST_DOT: Final = 16.0
_NAME_WIDTH: Final = 36
"""The most characters of a line of a name in the list of numbers."""
_NAME_LINES: Final = 2
"""The most lines of a name that would be equal to another name in one line."""
_LIST_FONT_SIZE: Final = 8.0
_LEAST_FONT_SIZE: Final = 3.0
_MARGIN: Final = 8.0
"""The least space below the list of numbers, in pixels."""
_LEGEND_WIDTH: Final = 28
_TYPE_COLORS: Final = (
    *("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink"),
    *("tab:olive", "tab:cyan"),
)
"""The colours of the types that take most time. Grey is for all other types together."""
_OTHERS_COLOR: Final = "0.6"
_BASELINE_COLOR: Final = "0.35"
_BASELINE_SIZE: Final = 30.0
_HOLLOW: Final[dict[str, Any]] = {"facecolors": "none", "linewidths": 1.0, "linestyles": "dashed"}
"""How dots of rows that are not judged are drawn. Circles of the baseline are not dashed."""

_SETTINGS: Final[dict[Any, Any]] = {
    "text.parse_math": False,  # a name with two $ is not a formula
    "svg.fonttype": "none",  # text stays text, which can be searched
    "svg.hashsalt": "profile_analyze",  # ids are not random: equal answers give equal files
}


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
        _escape_texts(figure)
        figure.savefig(stream, format=suffix, metadata={"Date": None} if suffix == "svg" else None)
    return stream.getvalue()


def _escape_texts(figure: Figure) -> None:
    """Escape control characters in all texts, whichever chart drew them."""
    for text in figure.findobj(Text):
        shown = escaped(text.get_text(), but="\n")
        if shown != text.get_text():
            text.set_text(shown)


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
    drawn = _longest(table, rows_with_dots(table), chart.most_rows)
    times = table["time"][drawn]
    dots = np.column_stack([table["intensity"][drawn], table["flops"][drawn]])
    base_dots = _baseline_dots(table, drawn)
    all_dots = np.concatenate([dots, base_dots[~np.isnan(base_dots[:, 1])]])
    draw_roofs(axes, used_rates(table), peaks, *all_dots.T.tolist())
    longest = max(times.tolist(), default=0.0) or 1.0  # there may be no dots
    sizes = np.maximum(_SMALLEST_DOT, _LARGEST_DOT * times / longest)
    _draw_dots(axes, table, drawn, dots, sizes)
    if len(all_dots) > len(dots):
        _draw_baseline(axes, dots, base_dots)
    axes.set_xlabel("intensity (FLO/byte)")
    axes.set_ylabel("FLO/s")
    axes.set_title(_title(chart, peaks, drawn), fontsize=10, loc="left")
    if len(drawn):
        _draw_legend(axes)
    longest_first = np.argsort(-times, kind="stable")[:_MOST_NUMBERS]
    names = _draw_list(axes, table, drawn[longest_first], time_unit)
    # The layout must be final before texts are compared, because their extents are in pixels.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _fit_list(names)
    _draw_numbers(axes, dots[longest_first], sizes[longest_first])


def _longest(table: Table, rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the `most` longest of `rows`, in the order of `rows`; all rows if `most` is 0."""
    if not most:
        return rows
    by_time = np.argsort(-table["time"][rows], kind="stable")
    return rows[np.sort(by_time[:most])]


def _baseline_dots(table: Table, drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the baseline's intensity and FLOPS for the drawn rows, shape (rows, 2).

    A row without a dot has NaN.
    """
    if not table.query.compared:
        return np.full((len(drawn), 2), np.nan)
    base = table.shown.of_base()
    dots = np.column_stack([base["intensity"][drawn], base["flops"][drawn]])
    with np.errstate(invalid="ignore"):
        has_dot = np.all(dots > 0, axis=1, keepdims=True)
    return np.where(has_dot, dots, np.nan)


def _draw_baseline(axes: Axes, dots: NDArray[np.float64], base_dots: NDArray[np.float64]) -> None:
    """Draw a circle for each dot of the baseline, and a line from it to the dot of the same row."""
    (x, y), (base_x, base_y) = dots.T, base_dots.T
    color = _BASELINE_COLOR
    axes.plot([base_x, x], [base_y, y], color=color, linewidth=0.5, zorder=0.9)
    axes.scatter(
        base_x, base_y, s=_BASELINE_SIZE, facecolors="none", edgecolors=color, label="baseline"
    )


def _title(chart: Chart, peaks: Peaks, drawn: NDArray[np.int64]) -> str:
    table, dots = chart.table, len(drawn)
    possible = len(rows_with_dots(table))
    further = [chart.caption, *chart.notes]
    if faster := int((table["efficiency"][drawn] > 1).sum()):
        are_above = "dot is above its" if faster == 1 else "dots are above their"
        why = "caches, inputs that are read in part, or peaks that are too low (device, dtype)"
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


def _types_with_colors(
    types: NDArray[np.object_], times: NDArray[np.float64]
) -> list[tuple[NDArray[np.bool_], str, str]]:
    """Return which rows a colour is for, and the text and the colour in the legend.

    The types that take most time have a colour of their own.
    """
    totals: dict[str, float] = {}
    for type_, time in zip(types.tolist(), times.tolist(), strict=True):
        totals[type_] = totals.get(type_, 0.0) + time
    ranked = sorted(totals, key=lambda type_: -totals[type_])
    colored, others = ranked[: len(_TYPE_COLORS)], ranked[len(_TYPE_COLORS) :]
    series = [
        (types == type_, visible(type_, "utf-8"), color)
        for type_, color in zip(colored, _TYPE_COLORS, strict=False)  # there may be fewer types
    ]
    if others:
        is_other = ~np.isin(types.astype(str), colored)
        series.append((is_other, f"{len(others)} more types", _OTHERS_COLOR))
    return series


def _draw_dots(axes: Axes, table: Table, drawn: NDArray[np.int64], dots: Any, sizes: Any) -> None:
    """Draw the dots. Their areas show the times, and their colours show the operator types.

    Their edges have the colours of their flat roofs. Rows that are not judged have hollow dots.
    """
    if table.query.keys is None or "type" in table.query.by:
        types = np.array(table.texts("type"), dtype=object)[drawn]
    else:
        types = np.array(["rows"] * len(dots), object)
    series = _types_with_colors(types, table["time"][drawn])
    hollow = np.isnan(table["efficiency"][drawn])
    colors = colors_of_rows(table, drawn)
    edges = np.array(["white" if color == SLOPE_COLOR else color for color in colors], object)
    largest_first = np.argsort(-sizes, kind="stable")  # large dots do not hide small ones
    names = short_names([text for _, text, _ in series], [_LEGEND_WIDTH] * len(series))
    for (rows, _, color), text in zip(series, names, strict=True):
        label = f" {text}" if text.startswith("_") else text  # a legend omits labels like `_x`
        for is_chosen, is_hollow in ((rows & ~hollow, False), (rows & hollow, True)):
            chosen = largest_first[is_chosen[largest_first]]
            filled = {"facecolors": [to_rgba(color, 0.65)], "edgecolors": edges[chosen]}
            style = {"edgecolors": color, **_HOLLOW} if is_hollow else filled
            if len(chosen):
                axes.scatter(
                    dots[chosen, 0], dots[chosen, 1], s=sizes[chosen], label=label,
                    rasterized=len(dots) > _MAX_VECTOR_DOTS, **{"linewidths": 0.7, **style},
                )  # fmt: skip
                label = ""  # one entry in the legend for each type
    if hollow.any():
        axes.scatter([], [], edgecolors=_BASELINE_COLOR, label="not judged", **_HOLLOW)


def _draw_legend(axes: Axes) -> None:
    """Draw the legend of the types. Its dots have the same size, and no colour of a roof."""
    legend = axes.legend(loc="lower right", fontsize=8, framealpha=0.9)
    # All series are scatter plots, so all handles are collections of dots.
    for handle in cast("list[PathCollection]", legend.legend_handles):
        handle.set_sizes([30.0])
        if len(handle.get_facecolor()):
            handle.set_edgecolor("white")


def _draw_numbers(axes: Axes, dots: NDArray[np.float64], sizes_pt2: NDArray[np.float64]) -> None:
    """Write the numbers from 1 on: in large dots, or to the right of small ones.

    Dots whose numbers would overlap share a text, such as `3, 5`, at the first of them.
    """
    labels = []
    for number, (dot, size) in enumerate(zip(dots.tolist(), sizes_pt2.tolist(), strict=True), 1):
        is_large = size >= _LEAST_SIZE_WITH_NUMBER
        offset, side = (0.0, "center") if is_large else (sqrt(size) / 2 + 2, "left")
        labels.append(axes.annotate(str(number), dot, (offset, 0), ha=side, **_NUMBER))
    while pair := _overlapping(labels):
        first, other = pair
        numbers = ", ".join(text.get_text() for text in pair).split(", ")
        first.set_text(", ".join(sorted(numbers, key=int)))
        other.remove()
        labels.remove(other)


def _overlapping(labels: Sequence[Annotation]) -> tuple[Annotation, Annotation] | None:
    """Return the first two labels that overlap or are so near that they look like one."""
    boxes = [label.get_window_extent().padded(_NUMBER_GAP) for label in labels]
    pairs = combinations(zip(labels, boxes, strict=True), 2)
    return next(((one, other) for (one, a), (other, b) in pairs if a.overlaps(b)), None)


def _draw_list(axes: Axes, table: Table, rows: NDArray[np.int64], time_unit: TimeUnit) -> Text:
    """Write a list beside the axes: the number, name, time and share of each of `rows`.

    A row whose name is not unique has a further line that tells it apart.
    """
    numbers = {row: str(number) for number, row in enumerate(rows.tolist(), 1)}
    listed = sorted(
        [*numbers, *_longer_without_dot(table, rows)], key=lambda row: -table["time"][row]
    )
    names_and_details = names_with_details(table)
    labels = _labels([names_and_details[row] for row in listed])
    times = times_for(table["time"][listed].tolist(), time_unit)
    lines = []
    for row, label in zip(listed, labels, strict=True):
        amounts = f"{times.text(table['time'][row])}, {percent(table['share'][row])}"
        lines.append(f"{numbers.get(row, '-')}  {label}\n     {amounts}")
        if row not in numbers:
            lines.append(f"     no dot: {_why_no_dot(table, row)}")
    return axes.text(
        1.03, 1, "\n".join(lines), transform=axes.transAxes, fontsize=_LIST_FONT_SIZE, va="top",
        linespacing=1.3,
    )  # fmt: skip


def _labels(names_and_details: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines of each name in the list, with its detail in further lines."""
    of_names = _in_lines([name for name, _ in names_and_details])
    of_details = _in_lines([detail for _, detail in names_and_details])
    return [
        "\n     ".join((*name, *detail)) for name, detail in zip(of_names, of_details, strict=True)
    ]


def _in_lines(texts: Sequence[str]) -> list[list[str]]:
    """Return the lines of each text: one line, or more if it would be equal to another text."""
    whole = [visible(text, "utf-8") for text in texts]
    widths = [_NAME_WIDTH] * len(whole)
    in_one_line = [shortened_in_middle(text, _NAME_WIDTH, ELLIPSIS) for text in whole]
    for alike in alike_names(whole, in_one_line):
        for index in alike:
            widths[index] *= _NAME_LINES
    while True:
        lines = [in_lines(text, _NAME_WIDTH) for text in short_names(whole, widths)]
        # Lines end after words, so a text may need more lines than its width says.
        too_long = [index for index, one in enumerate(lines) if len(one) > _NAME_LINES]
        if not too_long:
            return lines
        for index in too_long:
            widths[index] -= 1


def _fit_list(names: Text) -> None:
    """Make the letters of the list smaller if the list would not fit into the picture."""
    # The height is not proportional to the size: some versions of matplotlib round each line.
    for size in np.arange(_LIST_FONT_SIZE, _LEAST_FONT_SIZE, -0.25):
        names.set_fontsize(size)
        if names.get_window_extent().y0 >= _MARGIN:
            return


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

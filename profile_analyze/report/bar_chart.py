"""The picture of the longest times, or of the largest differences, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.report.cells import intervals
from profile_analyze.report.chart_texts import names, sides
from profile_analyze.report.labels import time_title
from profile_analyze.report.sentence_parts import in_brackets
from profile_analyze.report.times import AUTO, UNIT_EXPONENTS, times_for
from profile_analyze.units import NOT_AVAILABLE, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from profile_analyze.query.table import Table
    from profile_analyze.report.sections import Chart
    from profile_analyze.report.times import TimeUnit

_MAX_BARS: Final = 30
_FEWEST_BARS: Final = 8
"""Fewer bars leave space below them. Otherwise they would be very thick."""
_NAME_WIDTH: Final = 75
"""How many characters of a name, in the font of bars, fill half the width of the picture."""
_HEIGHT: Final = 0.8
"""The height of all bars of a row. The rows are 1 apart."""
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "profile": {"color": "tab:blue", "alpha": 0.75},
    "slower": {"color": "tab:red", "alpha": 0.75},
    "faster": {"color": "tab:green", "alpha": 0.75},
    "baseline": {"color": "0.7"},
}


def draw_times(figure: Figure, chart: Chart, time_unit: TimeUnit = AUTO) -> None:
    """Draw a bar for each of the first rows, with the share of the time that they add up to.

    In a comparison, each row has a second bar for the time of the baseline. Ratios with their
    confidence intervals and verdicts take the place of the shares.
    """
    table = chart.table
    axes = figure.add_subplot()
    count = min(len(table), chart.most_bars or _MAX_BARS, _MAX_BARS)
    positions = np.arange(count)
    if table.query.compared:
        unit = _draw_pairs(axes, table, positions, time_unit)
        figure.legend(loc="outside upper right", ncols=4, fontsize=8)
    else:
        unit = _draw_bars(axes, {"profile": table["time"][:count]}, positions, time_unit)
    axes.set_yticks(positions, names(table, _NAME_WIDTH)[:count], fontsize=8)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(f"{time_title(table)} ({unit})")
    _draw_texts(axes, table, positions)
    for one in figure.axes:
        one.set_ylim(max(count, _FEWEST_BARS) - 0.5, -0.5)  # the first row on top
    axes.set_title(_title(chart, count, time_unit), fontsize=10, loc="left")


def _draw_pairs(axes: Axes, table: Table, positions: Any, time_unit: TimeUnit) -> str:
    """Draw two bars for each row, the upper one in the colour of its verdict; return the unit."""
    count = len(positions)
    verdicts = table["verdict"][:count]
    known = [verdict if verdict in _STYLES else "profile" for verdict in verdicts]
    bars_s = {
        style: np.where([one == style for one in known], table["time"][:count], np.nan)
        for style in dict.fromkeys(("profile", *known))
    }
    return _draw_bars(axes, {**bars_s, "baseline": table["base"][:count]}, positions, time_unit)


def _draw_bars(axes: Axes, bars_s: dict[str, Any], positions: Any, time_unit: TimeUnit) -> str:
    """Draw the bars of each style, with the baseline in the lower half; return their unit."""
    unit = times_for(np.concatenate([*bars_s.values()]).tolist(), time_unit).unit
    is_pair = "baseline" in bars_s
    height = _HEIGHT / (1 + is_pair)
    for style, times_s in bars_s.items():
        offset = (height / 2 if style == "baseline" else -height / 2) if is_pair else 0.0
        axes.barh(
            positions + offset,
            times_s * 10.0 ** -UNIT_EXPONENTS[unit],
            height,
            label=style,
            **_STYLES[style],
        )
    return unit


def _draw_texts(axes: Axes, table: Table, positions: Any) -> None:
    """Write the ratio of each row, or the share of the first rows, to its right."""
    right = axes.twinx()
    count = len(positions)
    if table.query.compared:
        columns = table.texts("ratio"), intervals(table), table.texts("verdict")
        texts = [
            f"{ratio}{in_brackets(interval)}{'' if verdict == NOT_AVAILABLE else f' {verdict}'}"
            for ratio, interval, verdict in zip(*columns, strict=True)
        ][:count]
        right.set_ylabel("ratio to the baseline (95 % confidence interval), verdict", fontsize=8)
    else:
        texts = [percent(share) for share in table["cumulative_share"][:count]]
        right.set_ylabel("share of all operators' time, added up from the top", fontsize=8)
    right.set_yticks(positions, texts, fontsize=8)
    right.tick_params(length=0)


def _title(chart: Chart, count: int, time_unit: TimeUnit) -> str:
    """Return the name and the total of each side, the caption, and how many rows are drawn."""
    table = chart.table
    totals_s = [table.total_s]
    if table.query.compared:
        totals_s.append(table.shown.of_base().total_s)
    times = times_for(totals_s, time_unit)
    parts = [
        f"{side}: {times.text(total_s)}"
        for side, total_s in zip(sides(table), totals_s, strict=True)
    ]
    return "\n".join(filter(None, ["; ".join(parts), chart.caption, _drawn(table, count)]))


def _drawn(table: Table, count: int) -> str:
    """Return which rows are drawn; empty if all are."""
    if count == len(table):
        return ""
    first = "largest differences" if table.query.compared else "longest"
    at_most = f"; a picture has {_MAX_BARS} at most" if count == _MAX_BARS else ""
    return f"the {count} {first} of {len(table)} rows{at_most}"

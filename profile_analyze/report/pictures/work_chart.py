"""Bar charts of a model that has not run: the rows with the most work or largest differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.numbers import ratio
from profile_analyze.report.layout.times import AUTO
from profile_analyze.report.pictures.bar_chart import (
    bar_count,
    by_style,
    draw_bars,
    draw_times_as_bars,
    draw_title,
    drawn_text,
    fit_bars,
    label_rows,
    shares_with_sums,
)
from profile_analyze.report.pictures.chart_texts import names, not_drawn_text, sides, title
from profile_analyze.units import scaled_text, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.report.sections import Chart

_WORDS: Final = {"macs": "multiply-adds", "least_time": "least possible time"}
"""What bars show, in words, for each column that they can show."""
_FIRST: Final = {"macs": "largest", "least_time": "longest"}
"""Which rows come first, for each of these columns. In a comparison, the rows with the largest
differences in multiply-adds come first."""


def draw_work(figure: Figure, chart: Chart, time_unit: TimeUnit = AUTO) -> None:
    """Draw a bar for each row: its multiply-adds or, with peaks, its least possible time.

    In a comparison, each row has a second bar for the baseline, and a ratio in place of its share.
    Rows without work have no bar.
    """
    rows = rows_with_work(chart)
    drawn = rows[: bar_count(chart, len(rows))]
    _draw(figure.add_subplot(), chart, drawn, time_unit)
    labels, (texts, texts_title) = names(chart.table), _texts(chart)
    label_rows(
        figure,
        [labels[n] for n in drawn],
        [texts[n] for n in drawn],
        texts_title,
        # The colours say what bounds the times, so they need a legend even if all are the same.
        has_legend=chart.column == "least_time",
    )
    draw_title(figure, _title(chart, len(rows)))
    fit_bars(figure)


def rows_with_work(chart: Chart) -> NDArray[np.int64]:
    """Return the indices of the rows that have known work above 0 in the model or the baseline."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(np.any([amounts > 0 for amounts in _sides(chart)], axis=0))


def _sides(chart: Chart) -> list[NDArray[np.float64]]:
    """Return the values that bars show; in a comparison, also the values of the baseline."""
    table = chart.table
    base = [table.shown.of_base()[chart.column]] if table.query.compared else []
    return [table[chart.column], *base]


def _draw(axes: Axes, chart: Chart, drawn: NDArray[np.int64], time_unit: TimeUnit) -> None:
    """Draw the bars and name their axis. Colours say what bounds the least possible time."""
    amounts, *of_base = (side[drawn] for side in _sides(chart))
    base = of_base[0] if of_base else None
    words = _WORDS[chart.column]
    if chart.column == "macs":
        draw_bars(axes, {"model": amounts}, base, lambda value: scaled_text(value, "count"))
        axes.xaxis.set_major_formatter(lambda value, _: _count_text(value))
        axes.set_xlabel(words)
        return
    # The bound is N/A if only the baseline has work in the row. The model then has no bar.
    bounds = [f"{bound or 'memory'}-bound" for bound in chart.table["bound"][drawn]]
    unit = draw_times_as_bars(axes, by_style(amounts, bounds, bounds[0]), base, time_unit)
    axes.set_xlabel(f"{words} ({unit})")


def _count_text(value: float) -> str:
    return scaled_text(value, "count").replace(".00 ", " ")


def _texts(chart: Chart) -> tuple[list[str], str]:
    """Return the text beside each row, and a title for these texts.

    The text is the share of the total. In a comparison, it is the ratio to the baseline.
    """
    table = chart.table
    amounts, *of_base = _sides(chart)
    if not of_base:
        total = table.shown.total_of(chart.column)
        columns = ratio(amounts, total), ratio(np.nancumsum(amounts), total)
        return shares_with_sums(*columns, f"all {_WORDS[chart.column]}")
    ours, theirs = table.shown.on_sides
    texts = [
        "added" if not in_base else "removed" if not in_model else three_digits(one)
        for one, in_model, in_base in zip(ratio(amounts, *of_base), ours, theirs, strict=True)
    ]
    return texts, "ratio to the baseline"


def _title(chart: Chart, with_work: int) -> str:
    """Return the title: the names of the models, the caption, and which rows are drawn."""
    table = chart.table
    column = chart.column
    first = "largest differences in multiply-adds" if table.query.compared else _FIRST[column]
    without = len(table) - with_work
    lines = [
        chart.caption,
        drawn_text(chart, with_work, first),
        not_drawn_text(without, len(table), _WORDS[column], "bar"),
    ]
    return title(sides(table), "; ", [*filter(None, lines)])

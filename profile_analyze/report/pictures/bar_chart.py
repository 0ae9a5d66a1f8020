"""Bar charts of the rows with the longest times, or with the largest differences of times."""

from __future__ import annotations

from math import isnan
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final
from warnings import catch_warnings, simplefilter

import numpy as np

from profile_analyze.comparison.compared_work import CHANGED
from profile_analyze.comparison.statistics import SIGNIFICANT, UNCERTAIN
from profile_analyze.model.terms import RELATIVE
from profile_analyze.report.facts.sentence_parts import in_brackets
from profile_analyze.report.layout.cells import intervals
from profile_analyze.report.layout.labels import time_title
from profile_analyze.report.layout.short_names import short_names
from profile_analyze.report.layout.text_layout import text_width
from profile_analyze.report.layout.times import AUTO, UNIT_EXPONENTS, times_for
from profile_analyze.report.pictures.chart_texts import (
    first_rows,
    names,
    partial_rows_text,
    sides,
    title,
)
from profile_analyze.units import NOT_AVAILABLE, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from numpy.typing import NDArray

    from profile_analyze.query.table import Table
    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.report.sections import Chart

_MAX_BARS: Final = 30
_BARS_OF_FULL_HEIGHT: Final = 8
"""With fewer bars, the picture is lower. Otherwise, the bars would be very thick."""
_FEWEST_BARS: Final = 3
"""A picture of fewer bars still has space for this many, so that the title at the right fits."""
_BAR_INCHES: Final = 0.75
"""How much lower the picture gets for each bar below `_BARS_OF_FULL_HEIGHT`."""
_TITLE_CHARACTERS: Final = 12
"""How many characters of the title at the right, which is vertical, fit beside each bar."""
_NAME_WIDTH: Final = 75
"""A row name of this many characters fills half the width of the picture."""
_NAMES_SHARE: Final = 0.5
"""The most that names take of the picture's width. A name may have wide letters."""
_TEXT_GAP: Final = 3
"""The space before and after the text at the end of a bar, in points."""
_LEAST_BARS_SHARE: Final = 0.1
"""The least that bars take of the space for bars and the texts at their ends."""
_TITLE_LEFT: Final = 0.01
"""Where the title begins, as a share of the picture's width."""
_HEIGHT: Final = 0.8
"""The height of all bars of a row together. The distance between rows is 1."""
_LARGEST_SUM: Final = 1.0005
"""A larger sum of shares would be shown as more than 100.0%."""
_STYLES: Final[dict[str, dict[str, Any]]] = {
    "profile": {"color": "tab:blue", "alpha": 0.75},
    "slower": {"color": "tab:red", "alpha": 0.75},
    "faster": {"color": "tab:green", "alpha": 0.75},
    "more work": {"color": "tab:orange", "alpha": 0.75},
    "less work": {"color": "tab:orange", "alpha": 0.75},
    "baseline": {"color": "0.7"},
    # For models that have not run.
    "model": {"color": "tab:blue", "alpha": 0.75},
    "compute-bound": {"color": "tab:orange", "alpha": 0.75},
    "memory-bound": {"color": "tab:blue", "alpha": 0.75},
}


def draw_times(figure: Figure, chart: Chart, time_unit: TimeUnit = AUTO) -> None:
    """Draw the times of the first rows as bars, and write each row's share of all time beside them.

    In a comparison, each row has a second bar for the time of the baseline. The text beside the
    bars is then the ratio, with its confidence interval and the verdict.
    """
    table = chart.table
    axes = figure.add_subplot()
    count = bar_count(chart, len(table))
    base_s = table["base"][:count] if table.query.compared else None
    styles = table["verdict"][:count] if table.query.compared else ["profile"] * count
    known = [style if style in _STYLES else "profile" for style in styles]
    unit = draw_times_as_bars(
        axes, by_style(table["time"][:count], known, "profile"), base_s, time_unit
    )
    axes.set_xlabel(f"{time_title(table)} ({unit})")
    label_rows(figure, names(table)[:count], *_texts(table, count))
    draw_title(figure, _title(chart, time_unit))
    fit_bars(figure)


def bar_count(chart: Chart, rows: int) -> int:
    """Return how many of `rows` rows are drawn."""
    return min(rows, chart.most_rows or _MAX_BARS, _MAX_BARS)


def by_style(
    amounts: NDArray[np.float64], styles: Sequence[str], first: str
) -> dict[str, NDArray[np.float64]]:
    """Return an array for each style: the amounts of its rows, and NaN in all other rows.

    `styles` has the style of each row. The style `first` comes first if a row has it.
    """
    return {
        style: np.where([one == style for one in styles], amounts, np.nan)
        for style in sorted(dict.fromkeys(styles), key=lambda style: style != first)
    }


def draw_times_as_bars(
    axes: Axes,
    bars_s: dict[str, NDArray[np.float64]],
    base_s: NDArray[np.float64] | None,
    time_unit: TimeUnit,
) -> str:
    """Draw times as bars, as `draw_bars` does, and return their unit, such as `ms`."""
    all_s = [*bars_s.values(), *([] if base_s is None else [base_s])]
    times = times_for(np.concatenate(all_s).tolist(), time_unit)
    factor = 10.0 ** -UNIT_EXPONENTS[times.unit]
    scaled = {style: times_s * factor for style, times_s in bars_s.items()}
    base = None if base_s is None else base_s * factor
    draw_bars(axes, scaled, base, lambda value: times.number(value / factor))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return times.unit


def draw_bars(
    axes: Axes,
    bars: dict[str, NDArray[np.float64]],
    base: NDArray[np.float64] | None,
    text_of: Callable[[float], str],
) -> None:
    """Draw the bars of each style, with the text of each amount at the end of its bar.

    The bars of the baseline are in the lower half of each row.
    """
    all_bars = bars if base is None else {**bars, "baseline": base}
    height = _HEIGHT if base is None else _HEIGHT / 2
    for style, amounts in all_bars.items():
        offset = 0.0 if base is None else height / 2 if style == "baseline" else -height / 2
        positions = np.arange(len(amounts)) + offset
        drawn = axes.barh(positions, amounts, height, label=style, **_STYLES[style])
        texts = ["" if isnan(amount) else text_of(amount) for amount in amounts.tolist()]
        axes.bar_label(drawn, texts, padding=_TEXT_GAP, fontsize=8 if base is None else 6)


def label_rows(
    figure: Figure,
    labels: Sequence[str],
    texts: Sequence[str],
    texts_title: str,
    *,
    has_legend: bool = False,
) -> None:
    """Write the name of each row to its left, and its text to its right.

    If the bars have several styles, a legend explains them. With `has_legend`, there is a legend
    even for a single style.
    """
    (axes,) = figure.axes
    positions = np.arange(len(labels))
    axes.set_yticks(positions, labels, fontsize=8)
    axes.set_yticklabels(_narrow_names(axes.get_yticklabels(), figure))
    right = axes.twinx()
    right.set_yticks(positions, texts, fontsize=8)
    bars = max(len(labels), _FEWEST_BARS)
    right.set_ylabel("\n".join(wrap(texts_title, bars * _TITLE_CHARACTERS)), fontsize=8)
    right.tick_params(length=0)
    for one in figure.axes:
        one.set_ylim(bars - 0.5, -0.5)  # the first row on top
    lacking = max(0, _BARS_OF_FULL_HEIGHT - bars)
    figure.set_figheight(figure.get_figheight() - lacking * _BAR_INCHES)
    if has_legend or len(axes.containers) > 1:
        figure.legend(loc="outside upper right", ncols=4, fontsize=8)


def draw_title(figure: Figure, text: str) -> None:
    """Write the title at the left edge of the picture. The title may be wider than the bars."""
    figure.suptitle(text, fontsize=10, x=_TITLE_LEFT, horizontalalignment="left")


def fit_bars(figure: Figure) -> None:
    """Make the bars so short that the texts at their ends fit before the texts of the rows.

    This computes the layout of the picture, which is final then.
    """
    if engine := figure.get_layout_engine():
        engine.execute(figure)
        figure.set_layout_engine("none")
    axes = figure.axes[0]
    available = axes.get_window_extent().width
    gaps = 2 * _TEXT_GAP * figure.dpi / 72
    needed = [0.0]  # the end of the axis at which each text fits after its bar
    for text in axes.texts:
        if text.get_text():
            bar_share = 1 - (_width(text, figure) + gaps) / available
            needed.append(text.xy[0] / max(bar_share, _LEAST_BARS_SHARE))  # type: ignore[attr-defined]  # annotations
    if max(needed) > 0:
        axes.set_xlim(right=max(needed))


def _narrow_names(labels: Sequence[Text], figure: Figure) -> list[str]:
    """Return the names, cut so that each takes at most `_NAMES_SHARE` of the picture's width."""
    whole = [label.get_text() for label in labels]
    columns = [min(text_width(name), _NAME_WIDTH) for name in whole]
    while True:
        names_shown = short_names(whole, columns)
        is_fitting = True
        for index, label in enumerate(labels):
            label.set_text(names_shown[index])
            if columns[index] > 1 and _width(label, figure) > _NAMES_SHARE * figure.bbox.width:
                columns[index] -= 1
                is_fitting = False
        if is_fitting:
            return names_shown


def _width(text: Text, figure: Figure) -> float:
    """Return how wide a line of text is in the picture, in pixels."""
    words, font = text.get_text(), text.get_fontproperties()
    renderer = figure._get_renderer()  # type: ignore[attr-defined]  # noqa: SLF001  # no public way
    with catch_warnings():
        simplefilter("ignore")  # the font may lack a character
        width, _, _ = renderer.get_text_width_height_descent(words, font, ismath=False)
    return float(width)


def shares_with_sums(
    shares: NDArray[np.float64], sums: NDArray[np.float64], total: str
) -> tuple[list[str], str]:
    """Return a text for each share, such as `10.0% (55.0% in sum)`, and a title for the texts.

    Each sum adds up the shares from the first row on. There are no sums if one exceeds 100 %, which
    may happen if shares are medians over the runs. `total` says in words what the shares are
    relative to.
    """
    texts, of = list(map(percent, shares)), f"share of {total}"
    if (sums > _LARGEST_SUM).any():
        return texts, of
    pairs = zip(texts, map(percent, sums), strict=True)
    return [f"{one} ({so_far} in sum)" for one, so_far in pairs], f"{of} (and the sum from the top)"


def _texts(table: Table, count: int) -> tuple[list[str], str]:
    """Return the text beside each row, and a title for these texts.

    The text is the share of the time. In a comparison, it is the ratio and the verdict.
    """
    if not table.query.compared:
        shares, sums = table["share"][:count], table["cumulative_share"][:count]
        return shares_with_sums(shares, sums, "all operators' time")
    columns = table.texts("ratio"), intervals(table), table.texts("verdict")
    texts = [
        f"{ratio}{in_brackets(interval)}{'' if verdict == NOT_AVAILABLE else f' {verdict}'}"
        for ratio, interval, verdict in zip(*columns, strict=True)
    ]
    return texts[:count], "ratio to the baseline (95 % confidence interval), verdict"


def _title(chart: Chart, time_unit: TimeUnit) -> str:
    """Return the title: the name and total of each side, the caption, and which rows are drawn."""
    table = chart.table
    totals_s = [table.total_s]
    if table.query.compared:
        totals_s.append(table.shown.of_base().total_s)
    times = times_for(totals_s, time_unit)
    parts = [
        f"{side}: {times.text(total_s)}"
        for side, total_s in zip(sides(table), totals_s, strict=True)
    ]
    first = "largest differences" if table.query.compared else "longest"
    drawn = drawn_text(chart, len(table), first)
    count = bar_count(chart, len(table))
    partial = partial_rows_text(table, np.arange(count))
    basis = _basis_of_verdicts(table, count) if table.query.compared else ""
    return title(parts, "; ", [*filter(None, (chart.caption, *chart.notes, drawn, partial, basis))])


def _basis_of_verdicts(table: Table, count: int) -> str:
    """Return what verdicts are based on, if some differ from what their intervals suggest.

    An interval that excludes 1 suggests a change. The text is empty if all verdicts agree.
    """
    is_change = np.isin(table["verdict"][:count].astype(str), CHANGED)
    is_uncertain = table["verdict"][:count] == UNCERTAIN
    excludes_1 = (table["ratio_low"][:count] > 1) | (table["ratio_high"][:count] < 1)
    unexpected = (is_change & ~excludes_1) | (is_uncertain & excludes_1)
    is_relative = table["test"][:count] == RELATIVE
    is_significant = table["p_value"][:count] <= SIGNIFICANT
    reasons = (
        ("p corrected for the number of rows", ~is_significant),
        ("times relative to the other operators", is_relative),
        (f"a threshold of {percent(table.shown.threshold)}", is_significant & ~is_relative),
    )
    found = [text for text, applies in reasons if (unexpected & applies).any()]
    return f"verdicts are based on {' and '.join(found)}" if found else ""


def drawn_text(chart: Chart, rows: int, first: str) -> str:
    """Return which rows are drawn, such as `the 5 longest of 20 rows`; empty if all are drawn.

    `first` says which rows come first, in the plural.
    """
    count = bar_count(chart, rows)
    if count == rows:
        return ""
    at_most = f"; a picture has {_MAX_BARS} at most" if count == _MAX_BARS else ""
    return f"{first_rows(count, first)} of {rows} rows{at_most}"

"""Charts by matplotlib: the roofline, or ranked times if there are no peaks."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final
from warnings import catch_warnings, simplefilter

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from profile_analyze.analysis.peaks import ANY_DTYPE
from profile_analyze.model.visible import visible
from profile_analyze.report.labels import join_keys, row_labels, time_title
from profile_analyze.report.text_layout import shortened, text_width
from profile_analyze.report.times import AUTO, UNIT_EXPONENTS, times_for
from profile_analyze.units import decimal_rate, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.query.table import Table
    from profile_analyze.report.sections import Chart
    from profile_analyze.report.times import TimeUnit

_MAX_NAMES: Final = 10
_MAX_BARS: Final = 30
_FEWEST_BARS: Final = 8
"""If there are fewer bars, the space below them stays empty. Otherwise they would be very thick."""
_MAX_VECTOR_DOTS: Final = 2000  # more dots are drawn as an image, because files would be huge
_LARGEST_DOT: Final = 900.0  # points squared
_SMALLEST_DOT: Final = 8.0
_NAME_WIDTH: Final = 40
"""The most characters of a name beside a dot."""
_LEGEND_WIDTH: Final = 28
_BAR_NAME_WIDTH: Final = 75
"""How many characters of a name, in the font of bars, fill half the width of the picture."""
_TYPE_COLORS: Final = (
    *("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink"),
    *("tab:olive", "tab:cyan"),
)
"""The colours of the types that take most time. Grey is for all other types together."""
_OTHERS_COLOR: Final = "0.6"
_ELLIPSIS: Final = "\N{HORIZONTAL ELLIPSIS}"
_BASELINE_COLOR: Final = "0.35"
_BARS_HEIGHT: Final = 0.8
"""The height of all bars of a row. The rows are 1 apart."""
_BAR_STYLES: Final[dict[str, dict[str, Any]]] = {
    "profile": {"color": "tab:blue", "alpha": 0.75},
    "baseline": {"color": "0.7"},
}
_ROOF_STYLE: Final[dict[str, Any]] = {"color": "0.25", "linewidth": 1.4}

_SETTINGS: Final[dict[Any, Any]] = {
    "text.parse_math": False,  # a name with two $ is not a formula
    "svg.fonttype": "none",  # text stays text, which can be searched
    "svg.hashsalt": "profile_analyze",  # ids are not random: equal answers give equal files
}

# Offsets of a name from its dot, in points, in the order of trying: near first, right first.
_NAME_OFFSETS: Final = [
    (distance * float(np.cos(angle)), distance * float(np.sin(angle)))
    for distance in range(20, 260, 12)
    for angle in np.deg2rad([0, 30, -30, 60, -60, 180, 150, -150, 90, -90, 120, -120])
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
            draw_roofline(figure, chart)
        else:
            draw_times(figure, chart, time_unit)
        figure.savefig(stream, format=suffix, metadata={"Date": None} if suffix == "svg" else None)
    return stream.getvalue()


def draw_roofline(figure: Figure, chart: Chart) -> None:
    """Draw a dot for each row with FLOPS and intensity, below the roofs, on logarithmic axes.

    In a comparison, a line connects each dot with the dot of the baseline.
    """
    table = chart.table
    peaks = table.query.peaks
    assert peaks is not None
    axes = figure.add_subplot()
    flops, intensity = table["flops"], table["intensity"]
    with np.errstate(invalid="ignore"):
        drawn = np.flatnonzero((flops > 0) & (intensity > 0))
    x, y, times = intensity[drawn], flops[drawn], table["time"][drawn]
    base_x, base_y = _baseline_dots(table, drawn)
    base_drawn = ~np.isnan(base_y)
    _draw_roofs(axes, peaks, [*x, *base_x[base_drawn]], [*y, *base_y[base_drawn]])
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
    axes.set_title(_title(chart, peaks, len(drawn)), fontsize=10, loc="left")
    if len(drawn):
        legend = axes.legend(loc="lower right", fontsize=8, framealpha=0.9)
        for handle in legend.legend_handles:
            handle.set_sizes([30.0])  # type: ignore[union-attr]  # all are of scatter plots
    # Names are placed in pixels. The layout must be final by then, and names must not change it.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    longest_first = np.argsort(-times, kind="stable")[:_MAX_NAMES]
    names = _names(table, _NAME_WIDTH)
    dots = [(x[index], y[index], names[drawn[index]]) for index in longest_first]
    _draw_names(axes, dots, sizes[longest_first])


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


def _files(table: Table) -> list[str]:
    """Return the names of the profile and of its baseline, if there is one."""
    comparison = table.shown.comparison
    baseline = [f"baseline {comparison.base.file}"] if comparison else []
    return [visible(file, "utf-8") for file in (table.shown.profile.file, *baseline)]


def _title(chart: Chart, peaks: Peaks, dots: int) -> str:
    table = chart.table
    missing = len(table) - dots
    lines = [", ".join([f"Roofline: {visible(peaks.name, 'utf-8')}", *_files(table)])]
    if chart.caption:
        lines.append(chart.caption)
    if missing:
        lines.append(f"{missing} of {len(table)} rows have no FLOPS or no intensity, and so no dot")
    return "\n".join(lines)


def _names(table: Table, width: int) -> list[str]:
    labels = (join_keys(label)[0] for label in row_labels(table))
    return [_middle_cut(visible(label, "utf-8"), width) for label in labels]


def _middle_cut(text: str, width: int) -> str:
    """Return `text` cut in the middle to `width` columns, because names often differ at the end."""
    if text_width(text) <= width:
        return text
    tail_width = (width - 1) // 2
    head = shortened(text, width - tail_width, _ELLIPSIS)
    return head + shortened(text[::-1], tail_width, "")[::-1]


def _draw_roofs(axes: Axes, peaks: Peaks, x: list[float], y: list[float]) -> None:
    """Draw the slope of the bandwidth and the roof of each rate. `x` and `y` have all dots."""
    # Both axes show all dots and all ridges, with margins for the labels.
    ridges = [peaks.ridge(dtype) for dtype, _ in peaks.flops]
    top = max(rate for _, rate in peaks.flops)
    left, right = min([*x, *ridges]) / 4, max([*x, *ridges]) * 8
    lowest, highest = min([*y, left * peaks.bandwidth]), max([*y, top])
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(lowest / 3, highest * 4))
    axes.plot([left, max(ridges)], [left * peaks.bandwidth, top], **_ROOF_STYLE)
    axes.annotate(
        decimal_rate(peaks.bandwidth),
        (left * 1.3, left * 1.3 * peaks.bandwidth),
        xytext=(12, -14),
        textcoords="offset points",
        fontsize=9,
    )
    # Dtypes of the same rate share a roof and a label.
    for rate in dict.fromkeys(rate for _, rate in peaks.flops):
        axes.plot([rate / peaks.bandwidth, right], [rate, rate], **_ROOF_STYLE)
        dtypes = [dtype for dtype, one in peaks.flops if one == rate and dtype != ANY_DTYPE]
        axes.annotate(
            " ".join([", ".join(dtypes), *scaled(rate, "FLO/s")]).strip(),
            (right, rate),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            fontsize=9,
        )
    _format_ticks(axes)


def _format_ticks(axes: Axes) -> None:
    """Label major ticks with plain numbers. The labels of matplotlib would be formulas."""
    axes.set_axisbelow(True)
    axes.grid(visible=True, which="major", color="0.9")
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(
        lambda value, _: " ".join(scaled(value, "FLO/s")).replace(".00 ", " ")
    )


def _draw_dots(
    axes: Axes, table: Table, drawn: NDArray[np.int64], x: Any, y: Any, sizes: Any
) -> None:
    """Draw the dots: the area shows the time, the colour the type of the operators."""
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
        for type_, color in zip(colored, _TYPE_COLORS)  # noqa: B905  # there may be fewer types
    ]
    if others:
        is_other = ~np.isin(types.astype(str), colored)
        series.append((is_other, f"{len(others)} more types", _OTHERS_COLOR))
    for rows, text, color in series:
        label = f" {text}" if text.startswith("_") else text  # a legend omits labels like `_x`
        axes.scatter(
            x[rows], y[rows], s=sizes[rows], color=color, alpha=0.65, edgecolors="white",
            linewidths=0.6, rasterized=len(x) > _MAX_VECTOR_DOTS,
            label=shortened(label, _LEGEND_WIDTH, _ELLIPSIS),
        )  # fmt: skip


def _draw_names(axes: Axes, dots: list[tuple[float, float, str]], sizes: Any) -> None:
    """Draw each name at the first offset where it overlaps no other text and no named dot.

    A name that fits nowhere inside the frame is left out.
    """
    # A size is the square of the diameter in points, of which an inch has 72.
    radii = np.sqrt(sizes) / 2 * axes.figure.dpi / 72
    centres: Any = axes.transData.transform([(x, y) for x, y, _ in dots]) if dots else []
    occupied: list[Any] = [
        Bbox([centre - radius, centre + radius])
        for centre, radius in zip(centres, radii, strict=True)
    ]
    frame = axes.get_window_extent()
    renderer = axes.figure._get_renderer()  # type: ignore[union-attr]  # noqa: SLF001
    occupied += [Text.get_window_extent(label, renderer) for label in axes.texts]  # labels of roofs
    for x, y, name in dots:
        for dx, dy in _NAME_OFFSETS:
            text = axes.annotate(
                name, (x, y), xytext=(dx, dy), textcoords="offset points", fontsize=8,
                ha="left" if dx >= 0 else "right", va="center",
                arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.5},
            )  # fmt: skip
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer).expanded(1.02, 1.15)  # without its arrow
            inside = (
                frame.x0 <= box.x0
                and box.x1 <= frame.x1
                and frame.y0 <= box.y0
                and box.y1 <= frame.y1
            )
            if inside and not any(box.overlaps(other) for other in occupied):
                occupied.append(box)
                break
            text.remove()


def draw_times(figure: Figure, chart: Chart, time_unit: TimeUnit = AUTO) -> None:
    """Draw a bar for each of the first rows, and their cumulative share.

    In a comparison, each row has a second bar for the time of the baseline.
    """
    table = chart.table
    axes = figure.add_subplot()
    count = min(len(table), chart.most_bars or _MAX_BARS, _MAX_BARS)
    bars_s = {"profile": table["time"][:count]}
    if table.query.compared:
        bars_s["baseline"] = table["base"][:count]
    shares = table["cumulative_share"][:count]
    unit = times_for(np.concatenate([*bars_s.values()]).tolist(), time_unit).unit
    positions = np.arange(count)
    height = _BARS_HEIGHT / len(bars_s)
    for index, (label, times_s) in enumerate(bars_s.items()):
        axes.barh(
            positions + (index - (len(bars_s) - 1) / 2) * height,
            times_s * 10.0 ** -UNIT_EXPONENTS[unit],
            height,
            label=label,
            **_BAR_STYLES[label],
        )
    if len(bars_s) > 1:
        figure.legend(loc="outside upper right", ncols=len(bars_s), fontsize=8)
    axes.set_yticks(positions, _names(table, _BAR_NAME_WIDTH)[:count], fontsize=8)
    axes.set_ylim(max(count, _FEWEST_BARS) - 0.5, -0.5)  # the longest on top
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(f"{time_title(table)} ({unit})")
    _draw_cumulative_shares(axes, shares, positions)
    axes.set_title(_times_title(table, count, time_unit), fontsize=10, loc="left")


def _times_title(table: Table, count: int, time_unit: TimeUnit) -> str:
    """Return the name and the total of each side, and how many rows are not drawn."""
    totals_s = [table.total_s]
    if table.query.compared:
        totals_s.append(table.shown.of_base().total_s)
    times = times_for(totals_s, time_unit)
    parts = [
        f"{file}: {times.text(total_s)}"
        for file, total_s in zip(_files(table), totals_s, strict=True)
    ]
    missing = len(table) - count
    return "; ".join([*parts, *([f"{missing} more rows are not drawn"] if missing else [])])


def _draw_cumulative_shares(axes: Axes, shares: Any, positions: Any) -> None:
    curve = axes.twiny()
    curve.plot(shares * 100, positions, color="tab:red", marker=".", linewidth=1)
    curve.set_xlabel("share of all operators' time, added up (%)", color="tab:red")
    curve.set_xlim(0, 105)

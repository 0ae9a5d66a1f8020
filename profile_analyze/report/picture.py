"""Pictures of an answer, by matplotlib: the roofline, or ranked times without peaks."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final
from warnings import catch_warnings, simplefilter

import numpy as np

from profile_analyze.analysis.peaks import ANY_DTYPE
from profile_analyze.errors import OutputError
from profile_analyze.model.visible import visible
from profile_analyze.report.labels import label_in_one, row_labels, time_title
from profile_analyze.report.sections import Chart
from profile_analyze.report.text import shortened
from profile_analyze.units import decimal_rate, scaled, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Need, Report

_NAMED: Final = 10
_RANKED: Final = 30
_RASTERIZED: Final = 2000  # dots from which on they are drawn as points: files would be huge
_LARGEST_DOT: Final = 900.0  # points squared
_SMALLEST_DOT: Final = 8.0
_NAME_WIDTH: Final = 28
_TYPES: Final = 9  # that have a colour and a place in the legend; the rest is grey


# Names are text and stay so: nothing in them is a formula, nor markup. The same answer gives the
# same file.
_SETTINGS: Final[dict[Any, Any]] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "profile_analyze",
}


class PictureRenderer:
    """See `Renderer`. A report's charts, of which there is one, as a file of the kind `name`."""

    name = ""
    for_programs = True
    # matplotlib is not among them: where it is missing, that is told in words of our own
    libraries: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    has_tables = False
    has_summary_beside_tables = False
    needs: Need = ""

    def columns(
        self,
        query: Query,  # noqa: ARG002  # of the interface
        *,
        several_runs: bool = False,  # noqa: ARG002  # of the interface
    ) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return ()

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # of the interface
        """See `Renderer.pieces`. Raises `OutputError` without matplotlib."""
        for chart in report.all_of(Chart):
            yield _picture(chart, self.name)


class SvgRenderer(PictureRenderer):
    """See `Renderer`."""

    name = "svg"
    suffixes = (".svg",)


class PngRenderer(PictureRenderer):
    """See `Renderer`."""

    name = "png"
    suffixes = (".png",)


class PdfRenderer(PictureRenderer):
    """See `Renderer`."""

    name = "pdf"
    suffixes = (".pdf",)


def _picture(chart: Chart, kind: str) -> bytes:
    """The picture as a file of that kind. Raises `OutputError` without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise OutputError("--plot needs the package matplotlib: pip install matplotlib") from None
    stream = io.BytesIO()
    with mpl.rc_context(), catch_warnings():
        simplefilter("ignore")  # about what the font lacks: a box in PNG and PDF
        mpl.rcdefaults()  # whatever a configuration file says
        mpl.rcParams.update(_SETTINGS)
        figure = Figure(figsize=(11, 7), layout="constrained")
        _DRAWERS[chart.kind](figure, chart)
        figure.savefig(stream, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return stream.getvalue()


def _names(table: Table) -> list[str]:
    labels = (label_in_one(label)[0] for label in row_labels(table))
    return [
        shortened(visible(label, "utf-8"), _NAME_WIDTH, "\N{HORIZONTAL ELLIPSIS}")
        for label in labels
    ]


def draw_roofline(figure: Figure, chart: Chart) -> None:
    """A dot for each row that has FLOPS and an intensity, below the roofs, on logarithmic axes."""
    table = chart.table
    axes = figure.add_subplot()
    flops, intensity = table["flops"], table["intensity"]
    with np.errstate(invalid="ignore"):
        shown = np.flatnonzero((flops > 0) & (intensity > 0))
    x, y, times = intensity[shown], flops[shown], table["time"][shown]
    _draw_roofs(axes, table, x, y)
    longest = max(times.tolist(), default=0.0) or 1.0
    sizes = np.maximum(_SMALLEST_DOT, _LARGEST_DOT * times / longest)
    _draw_dots(axes, table, shown, x, y, sizes)
    axes.set_xlabel("intensity (FLO/byte)")
    axes.set_ylabel("FLO/s")
    axes.set_title(_title(chart, len(shown)), fontsize=10, loc="left")
    if len(shown):
        legend = axes.legend(loc="lower right", fontsize=8, framealpha=0.9)
        for handle in legend.legend_handles:
            handle.set_sizes([30.0])  # type: ignore[union-attr]  # they are of scattered dots
    figure.draw_without_rendering()  # so that the axes have their size,
    figure.set_layout_engine("none")  # and keep it when names are added
    order = np.argsort(-times, kind="stable")[:_NAMED]
    names = _names(table)
    _name_dots(axes, [(x[place], y[place], names[shown[place]]) for place in order], sizes[order])


def _title(chart: Chart, shown: int) -> str:
    table = chart.table
    peaks = table.query.peaks
    assert peaks is not None
    rest = len(table) - shown
    lines = [
        f"Roofline: {visible(peaks.name, 'utf-8')}, {visible(table.shown.profile.file, 'utf-8')}"
    ]
    if chart.caption:
        lines.append(chart.caption)
    if rest:
        lines.append(f"{rest} of {len(table)} rows have no FLOPS or no intensity, and so no dot")
    return "\n".join(lines)


def _draw_roofs(axes: Axes, table: Table, x: Any, y: Any) -> None:
    peaks = table.query.peaks
    assert peaks is not None
    ridges = [peaks.ridge(dtype) for dtype, _ in peaks.flops]
    left = min([*x.tolist(), *ridges]) / 4
    right = max([*x.tolist(), *ridges]) * 8
    lowest = min([*y.tolist(), left * peaks.bandwidth])
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    top = max(rate for _, rate in peaks.flops)
    axes.set_ylim(lowest / 3, max([top, *y.tolist()]) * 4)
    axes.plot([left, max(ridges)], [left * peaks.bandwidth, top], color="0.25", linewidth=1.4)
    axes.annotate(
        decimal_rate(peaks.bandwidth),
        (left * 1.3, left * 1.3 * peaks.bandwidth),
        xytext=(12, -14),
        textcoords="offset points",
        fontsize=9,
    )
    for rate in dict.fromkeys(rate for _, rate in peaks.flops):
        axes.plot([rate / peaks.bandwidth, right], [rate, rate], color="0.25", linewidth=1.4)
        dtypes = [dtype for dtype, one in peaks.flops if one == rate and dtype != ANY_DTYPE]
        axes.annotate(
            " ".join([", ".join(dtypes), *scaled(rate, "FLO/s")]).strip(),
            (right, rate),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            fontsize=9,
        )
    axes.set_axisbelow(True)
    axes.grid(visible=True, which="major", color="0.9")
    # Minor ticks have no text, and the others plain ones: those of matplotlib are formulae, which
    # names must not be taken for.
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(
        lambda value, _: (
            f"{scaled(value, 'FLO/s')[0].removesuffix('.00')} {scaled(value, 'FLO/s')[1]}"
        )
    )


def _draw_dots(
    axes: Axes, table: Table, shown: NDArray[np.int64], x: Any, y: Any, sizes: Any
) -> None:
    """The dots, with an area by time and a colour a type; the types with most time have one."""
    import matplotlib as mpl

    column = "type" if table.query.keys is None or "type" in table.query.by else ""
    kinds = (
        np.array(table.texts(column), dtype=object)[shown]
        if column
        else np.array(["rows"] * len(x), object)
    )
    totals: dict[str, float] = {}
    for kind, time in zip(kinds.tolist(), table["time"][shown].tolist(), strict=True):
        totals[kind] = totals.get(kind, 0.0) + time
    ranked = sorted(totals, key=lambda kind: -totals[kind])
    palette = mpl.colormaps["tab10"]
    for place, kind in enumerate([*ranked[:_TYPES], None] if len(ranked) > _TYPES else ranked):
        here = ~np.isin(kinds.astype(str), ranked[:_TYPES]) if kind is None else kinds == kind
        label = f"{len(ranked) - _TYPES} more types" if kind is None else visible(kind, "utf-8")
        label = f" {label}" if label.startswith("_") else label  # which a legend leaves out
        color = "0.6" if kind is None else palette(place)
        axes.scatter(
            x[here], y[here], s=sizes[here], color=color, alpha=0.65, edgecolors="white",
            linewidths=0.6, rasterized=len(x) > _RASTERIZED,
            label=shortened(label, _NAME_WIDTH, "\N{HORIZONTAL ELLIPSIS}"),
        )  # fmt: skip


def _name_dots(axes: Axes, dots: list[tuple[float, float, str]], sizes: Any) -> None:
    """Names beside the dots, each at the first place where it covers no other, nor one of the dots.

    A name without such a place inside the frame is left out.
    """
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    radii = np.sqrt(sizes) / 2 * axes.figure.dpi / 72
    centres: Any = axes.transData.transform([(x, y) for x, y, _ in dots]) if dots else []
    taken: list[Any] = [
        Bbox([centre - radius, centre + radius])
        for centre, radius in zip(centres, radii, strict=True)
    ]
    frame = axes.get_window_extent()
    renderer = axes.figure._get_renderer()  # type: ignore[union-attr]  # noqa: SLF001
    for x, y, name in dots:
        for distance, angle in _PLACES:
            dx, dy = distance * np.cos(angle), distance * np.sin(angle)
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
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()


_PLACES: Final = [
    (float(distance), float(angle))
    for distance in range(20, 260, 12)
    for angle in np.deg2rad([0, 30, -30, 60, -60, 180, 150, -150, 90, -90, 120, -120])
]


def draw_times(figure: Figure, chart: Chart) -> None:
    """A bar for each of the first rows, and the share that they add up to."""
    table = chart.table
    axes = figure.add_subplot()
    count = min(len(table), _RANKED)
    times, shares = table["time"][:count], table["cumulative_share"][:count]
    places = np.arange(count)
    axes.barh(places, times, color="tab:blue", alpha=0.75)
    axes.set_yticks(places, _names(table)[:count], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"{time_title(table)} (s)")
    curve = axes.twiny()
    curve.plot(shares * 100, places, color="tab:red", marker=".", linewidth=1)
    curve.set_xlabel("share of all operators' time, added up (%)", color="tab:red")
    curve.set_xlim(0, 105)
    rest = len(table) - count
    more = f"; {rest} more rows are not drawn" if rest else ""
    total = seconds(table.total_s)
    file = visible(table.shown.profile.file, "utf-8")
    axes.set_title(f"{file}: {total} s{more}", fontsize=10, loc="left")


_DRAWERS: Final[Mapping[str, Callable[[Figure, Chart], None]]] = {
    "roofline": draw_roofline,
    "times": draw_times,
}

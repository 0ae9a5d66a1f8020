"""Draws the roofs of a roofline: the peak bandwidth, and the peak rates that operators use."""

from __future__ import annotations

from itertools import cycle
from math import log
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.roofline.formulas import rate_dtypes
from profile_analyze.roofline.peaks import ANY_DTYPE
from profile_analyze.units import decimal_rate, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from profile_analyze.query.table import Table
    from profile_analyze.roofline.peaks import Peaks

SLOPE_COLOR: Final = "0.25"
_COLORS: Final = ("navy", "darkred", "darkgreen", "darkorange", "purple", "teal")
"""The colours of several flat roofs. The edges of dots have the colours of roofs."""
_LINE: Final[dict[str, Any]] = {"linewidth": 1.4, "zorder": 0.95}  # behind the dots
_TEXT: Final[dict[str, Any]] = {"textcoords": "offset points", "fontsize": 9}
_LEAST_GAP: Final = 0.05
"""Of the height of the axes: the texts of roofs that are less apart are beside each other."""
_TEXT_WIDTH: Final = 0.24
"""Of the width of the axes: the space for the text of a roof."""


def used_rates(table: Table) -> dict[str, float]:
    """Return the peak rate of each dtype that operators of the profile compute in.

    Operators of unknown dtype use the default dtype. If no operator computes in a dtype with a
    known rate, the result has all rates.
    """
    peaks = table.query.peaks
    assert peaks is not None
    profile = table.shown.profile
    dtypes = rate_dtypes(profile, peaks)
    used = set(np.unique(dtypes.codes[profile.operators.computation > 0]).tolist())
    names = {peaks.dtype if code == MISSING_CODE else dtypes.categories[code] for code in used}
    rates = dict(peaks.flops)
    if names - rates.keys():  # a dtype without a rate of its own uses the rate of any dtype
        names.add(ANY_DTYPE)
    return {name: rate for name, rate in rates.items() if name in names} or rates


def draw_roofs(
    axes: Axes, rates: Mapping[str, float], peaks: Peaks, x: list[float], y: list[float]
) -> None:
    """Draw the slope of the bandwidth and the roof of each rate. `x` and `y` locate all dots.

    Each has its text, such as `fp32 67.00 TFLOPS`. Dtypes of the same rate share a line.
    """
    # Both axes show all dots and all ridges, with margins for the texts.
    ridges = [peaks.ridge(dtype) for dtype in rates]
    top = max(rates.values())
    left, right = min([*x, *ridges]) / 4, max([*x, *ridges]) * 12
    lowest, highest = min([*y, left * peaks.bandwidth]), max([*y, top])
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(lowest / 3, highest * 4))
    start = (left, left * peaks.bandwidth)
    axes.plot([left, max(ridges)], [start[1], top], color=SLOPE_COLOR, **_LINE)
    axes.annotate(
        decimal_rate(peaks.bandwidth), start, (3, -3), color=SLOPE_COLOR, va="top", **_TEXT
    )
    for rate, color in roof_colors(rates).items():
        axes.plot([rate / peaks.bandwidth, right], [rate, rate], color=color, **_LINE)
    _write_rates(axes, rates)
    _format_ticks(axes)


def _write_rates(axes: Axes, rates: Mapping[str, float]) -> None:
    """Write the text of each flat roof above its right end, or farther left."""
    low, high = axes.get_ylim()
    before, end = 0.0, 1.0
    for rate, color in sorted(roof_colors(rates).items()):
        is_near = before and log(rate / before) < _LEAST_GAP * log(high / low)
        before, end = rate, end - _TEXT_WIDTH if is_near else 1.0
        dtypes = [dtype for dtype, one in rates.items() if one == rate and dtype != ANY_DTYPE]
        text = " ".join([", ".join(dtypes), *scaled(rate, "FLO/s")]).strip()
        axes.annotate(
            text, (end, rate), (-3, 3), axes.get_yaxis_transform(),
            color=color, ha="right", va="bottom", **_TEXT,
        )  # fmt: skip


def roof_colors(rates: Mapping[str, float]) -> dict[float, str]:
    """Return a colour for each different rate. If there is only one, it needs no colour."""
    different = [*dict.fromkeys(rates.values())]
    colors = cycle(_COLORS) if len(different) > 1 else [SLOPE_COLOR]
    return dict(zip(different, colors, strict=False))


def colors_of_rows(table: Table, rows: NDArray[np.int64]) -> list[str]:
    """Return the colour of the flat roof that limits each row.

    The colour is grey if the slope limits the row, or if operators of a group have several roofs.
    """
    attainable = table["attainable"][rows]
    colors = np.full(len(rows), SLOPE_COLOR, object)
    for rate, color in roof_colors(used_rates(table)).items():
        colors[np.isclose(attainable, rate, rtol=1e-9, atol=0)] = color
    return colors.tolist()


def _format_ticks(axes: Axes) -> None:
    """Label major ticks, as in `0.1` and `2 TFLOPS`. The labels of matplotlib would be formulas."""
    axes.set_axisbelow(True)
    axes.grid(visible=True, which="major", color="0.9")
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(
        lambda value, _: " ".join(scaled(value, "FLO/s")).replace(".00 ", " ")
    )

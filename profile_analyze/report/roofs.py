"""Draws the roofs of a roofline: the peak bandwidth, and the peak rates that operators use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.analysis.peaks import ANY_DTYPE
from profile_analyze.analysis.roofline import rate_dtypes
from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.units import decimal_rate, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.query.table import Table

_STYLE: Final[dict[str, Any]] = {"color": "0.25", "linewidth": 1.4}


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
    """Draw the slope of the bandwidth and the roof of each rate. `x` and `y` locate all dots."""
    # Both axes show all dots and all ridges, with margins for the labels.
    ridges = [peaks.ridge(dtype) for dtype in rates]
    top = max(rates.values())
    left, right = min([*x, *ridges]) / 4, max([*x, *ridges]) * 8
    lowest, highest = min([*y, left * peaks.bandwidth]), max([*y, top])
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(lowest / 3, highest * 4))
    axes.plot([left, max(ridges)], [left * peaks.bandwidth, top], **_STYLE)
    axes.annotate(
        decimal_rate(peaks.bandwidth),
        (left * 1.3, left * 1.3 * peaks.bandwidth),
        xytext=(12, -14),
        textcoords="offset points",
        fontsize=9,
    )
    # Dtypes of the same rate share a roof and a label.
    for rate in dict.fromkeys(rates.values()):
        axes.plot([rate / peaks.bandwidth, right], [rate, rate], **_STYLE)
        dtypes = [dtype for dtype, one in rates.items() if one == rate and dtype != ANY_DTYPE]
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
    """Label major ticks, as in `0.1` and `2 TFLOPS`. The labels of matplotlib would be formulas."""
    axes.set_axisbelow(True)
    axes.grid(visible=True, which="major", color="0.9")
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(
        lambda value, _: " ".join(scaled(value, "FLO/s")).replace(".00 ", " ")
    )

"""Advice on peak rates that are in no table, such as the rates of a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.analysis.roofline import is_below_clock_resolution
from profile_analyze.model.constants import CONSTANT_BYTES
from profile_analyze.model.stale_work import has_stale_work
from profile_analyze.units import parse_quantity, scaled

if TYPE_CHECKING:
    from profile_analyze.query.rows import OperatorRows


def highest_rates(rows: OperatorRows) -> str:
    """Return the highest reliable rates of operators as a value of `--peaks`.

    Return an empty text unless both rates are known.
    """
    # Tables in a format of the original tool count the size of a constant as its memory, although
    # nothing moves the constant.
    moves = np.isnan(rows.profile.operators.numbers(CONSTANT_BYTES))
    reliable = moves & ~is_below_clock_resolution(rows) & ~has_stale_work(rows.profile.operators)
    flops, bandwidth = (rows[name][reliable] for name in ("flops", "bandwidth"))
    if not ((flops > 0).any() and (bandwidth > 0).any()):
        return ""
    highest = ((flops, "FLO/s"), (bandwidth, "byte/s"))
    return ":".join(_rounded_up(float(np.nanmax(values)), unit) for values, unit in highest)


def _rounded_up(rate: float, unit: str) -> str:
    """Return `rate` rounded to two decimals, but never to less than `rate`: `493.43GFLOPS`.

    With a lower peak, the fastest operator would be faster than its roof.
    """
    number, prefixed = scaled(rate, unit)
    if parse_quantity(number + prefixed, unit) < rate:
        number = f"{float(number) + 0.01:.2f}"
    return number + prefixed


def highest_rates_advice(rows: OperatorRows) -> str:
    """Return which rates to give if the peaks do not fit; empty if no rate is known.

    The highest rates of the operators are a lower limit of the peaks, unless data was in caches,
    which are faster than memory.
    """
    highest = highest_rates(rows)
    return highest and (
        f"the highest rates in this profile are --peaks {highest}, a lower limit unless data was "
        "in caches"
    )


def cpu_peaks_advice(rows: OperatorRows) -> str:
    """Return how to find the peaks of the CPU that ran `rows`, which are a profile's operators."""
    advice = (
        "--peaks here measures that CPU, on the machine of the profile; elsewhere, give its two "
        "rates"
    )
    highest = highest_rates_advice(rows)
    return f"{advice}; {highest}" if highest else f"{advice}, as in --peaks 768G:51G"

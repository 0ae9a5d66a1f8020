"""Advice on which peak rates to give: for TF32, for a CPU, and if operators exceed the peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.constants import CONSTANT_BYTES
from profile_analyze.model.stale_work import has_stale_work
from profile_analyze.model.terms import CPU, DEVICE
from profile_analyze.roofline.formulas import is_below_clock_resolution, rate_dtypes
from profile_analyze.roofline.peaks import AS_GIVEN, DEFAULT_DTYPE, TF32, parse_peaks
from profile_analyze.units import parse_quantity, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.terms import DeviceKind
    from profile_analyze.query.rows import OperatorRows


def tf32_advice(rows: OperatorRows) -> str:
    """Return the advice for operators in FP32 that are faster than their roof.

    The peaks must have a rate of TF32.
    """
    assert rows.peaks is not None, "this advice is about peak rates"
    return (
        f"operators in {DEFAULT_DTYPE} probably ran in {TF32}, and "
        f"{rows.peaks.with_rate_of(TF32)} uses the rate of {TF32}"
    )


def highest_rates(rows: OperatorRows, kind: DeviceKind | None = None) -> str:
    """Return the highest reliable rates of operators as a value of `--peaks`.

    Return an empty text unless both rates are known. If operators ran on several kinds of device,
    only the operators on `kind` count, because two kinds have different rates. `kind` defaults
    to the kind that the peaks are for, or else to the kind that takes the most time.
    """
    # The formats `table` and `wiki` count the size of a constant as its memory, although nothing
    # moves the constant.
    moves_data = np.isnan(rows.profile.operators.numbers(CONSTANT_BYTES))
    reliable = (
        _ran_on(rows, kind)
        & moves_data
        & ~is_below_clock_resolution(rows)
        & ~has_stale_work(rows.profile.operators)
    )
    flops, bandwidth = (rows[name][reliable] for name in ("flops", "bandwidth"))
    if not ((flops > 0).any() and (bandwidth > 0).any()):
        return ""
    highest = ((flops, "FLO/s"), (bandwidth, "byte/s"))
    return ":".join(_rounded_up(float(np.nanmax(values)), unit) for values, unit in highest)


def _ran_on(rows: OperatorRows, kind: DeviceKind | None) -> NDArray[np.bool_]:
    """Return which operators count for `highest_rates`, shape (operators,)."""
    profile, executions = rows.profile, rows.profile.executions
    ran: dict[DeviceKind | None, NDArray[np.bool_]] = {}
    for one in {track.device_kind for track in profile.tracks if track.side == DEVICE}:
        of_kind = [track.side == DEVICE and track.device_kind == one for track in profile.tracks]
        ran[one] = np.zeros(len(profile), np.bool_)
        ran[one][executions.operator[np.array(of_kind, np.bool_)[executions.track]]] = True
    if len(ran) < 2:
        return np.ones(len(profile), np.bool_)
    kind = kind or (rows.peaks.device_kind if rows.peaks else None)
    if kind is not None and kind in ran:
        return ran[kind]
    return max(ran.values(), key=lambda mask: float(np.nansum(rows["time"][mask])))


def are_highest_rates(rows: OperatorRows) -> bool:
    """Return whether the peaks of `rows` are the two rates that `highest_rates` returns."""
    highest, peaks = highest_rates(rows), rows.peaks
    if peaks is None or peaks.source != AS_GIVEN or not highest:
        return False
    own = parse_peaks(highest)
    return (peaks.flops, peaks.bandwidth) == (own.flops, own.bandwidth)


def _rounded_up(rate: float, unit: str) -> str:
    """Return `rate` rounded to two decimals, but never to less than `rate`: `493.43GFLOPS`.

    With a lower peak, the fastest operator would be faster than its roof.
    """
    number, prefixed = scaled(rate, unit)
    if parse_quantity(number + prefixed, unit) < rate:
        number = f"{float(number) + 0.01:.2f}"
    return number + prefixed


def highest_rates_advice(rows: OperatorRows, kind: DeviceKind | None = None) -> str:
    """Return which rates to give if the peaks do not fit; empty unless both rates are known.

    The highest rates of the operators are a lower limit of the peaks, unless data was in caches,
    which are faster than memory.
    """
    highest = highest_rates(rows, kind)
    return highest and (
        f"the highest rates in this profile are --peaks {highest}, a lower limit unless data was "
        "in caches"
    )


def may_be_tf32(rows: OperatorRows, chosen: NDArray[np.bool_]) -> bool:
    """Return whether some of the chosen operators may have run in TF32 instead of FP32."""
    peaks = rows.peaks
    assert peaks is not None, "a roofline needs peak rates"
    dtypes = rate_dtypes(rows.profile, peaks)
    in_fp32 = dtypes.where(dtype == DEFAULT_DTYPE for dtype in dtypes.categories)
    return peaks.has_faster_tf32() and bool((in_fp32 & chosen).any())


def advice_on_low_peaks(rows: OperatorRows, faster: NDArray[np.bool_]) -> str:
    """Return which peaks to give instead if the operators `faster` are faster than their roof.

    The text is empty if the advice needs the highest rates and they are not both known.
    """
    if may_be_tf32(rows, faster):
        return tf32_advice(rows)
    return highest_rates_advice(rows)


def cpu_peaks_advice(rows: OperatorRows) -> str:
    """Return how to find the peaks of the CPU that ran `rows`, which are a profile's operators."""
    advice = (
        "on the machine of the profile, --peaks here measures that CPU; elsewhere, give its two "
        "rates"
    )
    highest = highest_rates_advice(rows, CPU)
    return f"{advice}; {highest}" if highest else f"{advice}, as in --peaks 768G:51G"

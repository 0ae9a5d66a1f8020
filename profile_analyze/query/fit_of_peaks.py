"""How far peak rates fit a profile: what ran on other devices, and what cannot be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np

from profile_analyze.model.constants import CONSTANT_BYTES
from profile_analyze.model.levels.owned_work import is_limited_by_link, leaves_work_inside
from profile_analyze.model.stale_work import has_stale_work
from profile_analyze.model.terms import DEVICE
from profile_analyze.query.time_shares import largest_types
from profile_analyze.roofline.formulas import (
    does_no_work,
    is_below_clock_resolution,
    is_judged,
    only_moves_data,
    rate_dtypes,
)
from profile_analyze.roofline.peaks import (
    AS_GIVEN,
    DEFAULT_DTYPE,
    TF32,
    parse_peaks,
    rates_for_every_dtype,
)
from profile_analyze.units import parse_quantity, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.findings import Value
    from profile_analyze.model.terms import DeviceKind
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.roofline.peaks import Peaks

    Chosen = NDArray[np.bool_]

T = TypeVar("T", str, int)

Reason: TypeAlias = "tuple[Value, ...]"
"""Why operators are not judged: a name, and values that depend on it. See `unjudged`."""


def peaks_of(rows: OperatorRows) -> Peaks:
    """Return the peaks of rows, which must have some."""
    assert rows.peaks is not None, "a roofline needs peak rates"
    return rows.peaks


def ran_on_other_kinds(rows: OperatorRows, peaks: Peaks) -> Iterator[tuple[str, Chosen]]:
    """Yield each kind of device that operators ran on, and a mask of these operators.

    The kind of device that the peaks are for is left out. Masks have shape (operators,).
    """
    for kind, ran in _ran_by(rows, lambda track: track.device_kind):
        if peaks.device_kind not in (None, kind):
            yield kind, ran


def ran_only_on(rows: OperatorRows, kind: DeviceKind) -> Chosen:
    """Return whether each operator ran on this kind of device and no other, shape (operators,)."""
    ran_on = dict(_ran_by(rows, lambda track: track.device_kind))
    none = np.zeros(len(rows.profile), np.bool_)
    on_others = [ran for one, ran in ran_on.items() if one != kind]
    only: Chosen = ran_on.get(kind, none) & ~np.logical_or.reduce([none, *on_others])
    return only


def on_other_threads(rows: OperatorRows) -> Iterator[tuple[int, Chosen]]:
    """Yield each other number of threads that operators ran on, and a mask of these operators.

    Yield nothing if the number of threads that reach the peaks is unknown.
    """
    for threads, ran in _ran_by(rows, lambda track: track.threads):
        if peaks_of(rows).threads not in (None, threads):
            yield threads, ran


def _ran_by(
    rows: OperatorRows, value_of: Callable[[Track], T | None]
) -> Iterator[tuple[T, Chosen]]:
    """Yield each known value that `value_of` returns for a device track, with a mask of operators.

    The mask, of shape (operators,), selects the operators that took time on tracks with the value.
    """
    profile = rows.profile
    values = [value_of(track) if track.side == DEVICE else None for track in profile.tracks]
    for value in sorted({value for value in values if value is not None}):
        of_track = np.array([one == value for one in values], np.bool_)
        ran = np.zeros(len(profile), np.bool_)
        ran[profile.executions.operator[of_track[profile.executions.track]]] = True
        ran &= rows["time"] > 0
        if ran.any():
            yield value, ran


class BetterRates(NamedTuple):
    """What to give after `--peaks` if the peaks do not fit; all fields are empty if unknown."""

    threads: tuple[int, ...] = ()
    """The numbers of threads whose rates to measure."""
    tf32: str = ""
    """The option that chooses the rate of TF32."""
    highest: str = ""
    """The value of `highest_rates`."""


def better_rates(rows: OperatorRows, faster: Chosen) -> BetterRates:
    """Return which rates may fit better if the operators `faster` are faster than their roof.

    `rows` are all operators of a profile. The first rule that applies decides: other threads ran
    the operators, they may have run in TF32, the profile has rates.
    """
    if threads := tuple(threads for threads, _ in on_other_threads(rows)):
        return BetterRates(threads)
    if may_be_tf32(rows, faster):
        return BetterRates(tf32=peaks_of(rows).with_rate_of(TF32))
    return BetterRates(highest=highest_rates(rows))


def may_be_tf32(rows: OperatorRows, chosen: Chosen) -> bool:
    """Return whether some of the chosen operators may have run in TF32 instead of FP32."""
    peaks = peaks_of(rows)
    dtypes = rate_dtypes(rows.profile, peaks)
    in_fp32 = dtypes.where(dtype == DEFAULT_DTYPE for dtype in dtypes.categories)
    return peaks.has_faster_tf32() and bool((in_fp32 & chosen).any())


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


def _ran_on(rows: OperatorRows, kind: DeviceKind | None) -> Chosen:
    """Return which operators count for `highest_rates`, shape (operators,)."""
    profile, executions = rows.profile, rows.profile.executions
    ran: dict[DeviceKind | None, Chosen] = {}
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


def unjudged(rows: OperatorRows) -> Iterator[tuple[Chosen, Reason]]:
    """Yield masks of operators that are not judged, each with the reason.

    Masks have shape (operators,). No operator is in two masks. Reasons are:

    - `clock`: the time is below the clock's resolution
    - `stale`: work and times are from different runs
    - `inside`: the operator leaves all work to operators inside it
    - `no work`: views, allocations and the like
    - `link`: copies between devices
    - `computation`: unknown computation; with the types that take the most time, and their shares
    - `rate`: the peaks have no rate for the dtype; with the dtype, the name of the peaks, and the
      value of `--peaks` that gives a rate for every dtype
    - `memory`: unknown memory
    """
    short: Chosen = is_below_clock_resolution(rows) & ~np.isnan(rows["time"])
    yield short, ("clock",)
    without_roof = np.isnan(rows["least_time"]) & (rows["time"] > 0) & ~short
    operators = rows.profile.operators
    for chosen, reason in (
        (has_stale_work(operators), "stale"),
        (leaves_work_inside(operators), "inside"),
        (does_no_work(rows), "no work"),
        (is_limited_by_link(rows.profile), "link"),
    ):
        yield without_roof & chosen, (reason,)
        without_roof &= ~chosen
    unknown: Chosen = without_roof & np.isnan(rows["computation"]) & ~only_moves_data(rows)
    yield unknown, ("computation", tuple(largest_types(rows, unknown)))
    without_roof &= ~unknown
    peaks = peaks_of(rows)
    dtypes = rate_dtypes(rows.profile, peaks)
    for code, dtype in enumerate(dtypes.categories):
        if np.isnan(peaks.rate(dtype)):
            chosen = computes(rows) & (dtypes.codes == code)
            yield chosen, ("rate", dtype, peaks.name, rates_for_every_dtype(peaks, dtype))
            without_roof &= ~chosen
    yield without_roof, ("memory",)


def computes(rows: OperatorRows) -> Chosen:
    """Return a mask of the operators whose roof depends on the peak rate of their dtype."""
    computes: Chosen = is_judged(rows) & ~only_moves_data(rows) & ~np.isnan(rows["computation"])
    return computes

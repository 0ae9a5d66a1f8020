"""The notes on peak rates: how certain they are, and whether they fit the profile."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from profile_analyze.advice.names import did_you_mean
from profile_analyze.errors import PeaksError
from profile_analyze.model.notes import Importance, Note, TextNote, operators_and_share
from profile_analyze.model.terms import CPU, DEVICE, GPU
from profile_analyze.query.notes.peaks_advice import cpu_peaks_advice
from profile_analyze.query.notes.time_shares import share_of
from profile_analyze.roofline.devices import DEVICES
from profile_analyze.roofline.peaks import AS_GIVEN, PLAUSIBLE_RIDGES, STABLE_DOUBT
from profile_analyze.roofline.reported_devices import peaks_of_reported
from profile_analyze.units import counted, decimal_rate, percent, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.terms import DeviceKind
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.roofline.peaks import Peaks

T = TypeVar("T", str, int)

_REMEDIES: Final[Mapping[str, Callable[[OperatorRows], str]]] = {
    CPU: cpu_peaks_advice,
    GPU: lambda _: "name that GPU; --peaks list shows the known ones",
}
"""What to do if operators ran on this kind of device, but the peaks are for another kind."""


def peaks_notes(rows: OperatorRows) -> Iterator[Note]:
    """Yield the notes on the peaks of `rows`, which are all operators of a profile."""
    assert rows.peaks is not None, "these notes are about peak rates"
    other_threads = tuple(_other_threads_notes(rows, rows.peaks.threads))
    # Measuring the rates of a wrong number of threads again does not help.
    if rows.peaks.doubt > STABLE_DOUBT and not other_threads:
        yield TextNote(
            f"the peaks may be up to {percent(rows.peaks.doubt)} too low, because the measurements "
            "differ or other programs ran meanwhile; efficiency is then too high, and lost and "
            "gain are too low; stop other programs; then "
            f"--peaks {rows.peaks.measured_by!r} measures again",
            Importance.WRONG,
            share=1.0,
        )
    yield from _swapped_rates_notes(rows.peaks)
    yield from _other_device_notes(rows.profile.origin.hardware, rows.peaks)
    yield from _other_kind_notes(rows, rows.peaks)
    yield from other_threads


def advice_on_threads(rows: OperatorRows) -> str:
    """Return how to measure the rates of the threads that ran `rows`; empty if they are measured.

    `rows` are all operators of a profile.
    """
    assert rows.peaks is not None, "this advice is about peak rates"
    others = _other_threads(rows, rows.peaks.threads)
    return "; ".join(_threads_advice(threads) for threads, _ in others)


def ran_on_other_kinds(rows: OperatorRows, peaks: Peaks) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each kind of device that operators ran on, and a mask of these operators.

    The kind of device that the peaks are for is left out. Masks have shape (operators,).
    """
    for kind, ran in _ran_by(rows, lambda track: track.device_kind):
        if peaks.device_kind not in (None, kind):
            yield kind, ran


def ran_only_on(rows: OperatorRows, kind: DeviceKind) -> NDArray[np.bool_]:
    """Return whether each operator ran on this kind of device and no other, shape (operators,)."""
    ran_on = dict(_ran_by(rows, lambda track: track.device_kind))
    none = np.zeros(len(rows.profile), np.bool_)
    on_others = [ran for one, ran in ran_on.items() if one != kind]
    only: NDArray[np.bool_] = ran_on.get(kind, none) & ~np.logical_or.reduce([none, *on_others])
    return only


def _swapped_rates_notes(peaks: Peaks) -> Iterator[Note]:
    """Yield a note if the two rates that the user gave are probably swapped."""
    least, _ = PLAUSIBLE_RIDGES
    is_unusual = peaks.source == AS_GIVEN and peaks.ridge() < least
    if is_unusual and (better := _swapped(peaks.name)):
        yield TextNote(
            f"{' '.join(scaled(peaks.rate(None), 'FLO/s'))} with {decimal_rate(peaks.bandwidth)} "
            f"is unusual: devices can compute at least {least} FLO in the time that a byte takes, "
            f"and FLO/s come first; {did_you_mean([better])}",
            Importance.WRONG,
            share=1.0,
        )


def _swapped(spec: str) -> str:
    """Return two rates in the opposite order, such as `1555G:19.5T`; empty if a rate has a unit."""
    match = re.fullmatch(r"\s*([\d.]+[kKMGTP]?)\s*:\s*([\d.]+[kKMGTP]?)\s*", spec)
    return f"{match[2]}:{match[1]}" if match else ""


def _other_device_notes(hardware: str | None, peaks: Peaks) -> Iterator[Note]:
    """Yield a note if the profile names one device of the table, and the user named another."""
    if peaks.name not in {device.name for device in DEVICES}:
        return
    with suppress(PeaksError):  # the profile names no device of the table
        reported = peaks_of_reported(hardware, None)
        if reported.name != peaks.name:
            is_known = peaks.dtype_is_named and reported.rate(peaks.dtype) > 0  # false for NaN
            dtype = f":{peaks.dtype}" if is_known else ""
            of_card = "all dies of " if reported.name.startswith(f"{peaks.name} (") else ""
            yield TextNote(
                f"the profile names {hardware!r}, but the peaks are of {of_card}{peaks.name}; "
                f"--peaks auto{dtype} takes those of {reported.name}",
                Importance.WRONG,
                share=1.0,
            )


def _other_kind_notes(rows: OperatorRows, peaks: Peaks) -> Iterator[Note]:
    for other, ran in ran_on_other_kinds(rows, peaks):
        yield TextNote(
            f"the peaks are of a {str(peaks.device_kind).upper()} ({peaks.name}), but "
            f"{operators_and_share(ran.sum())} ran on a {other.upper()}; "
            f"{_REMEDIES[other](rows)}",
            Importance.WRONG,
            share_of(rows, ran),
        )


def _other_threads_notes(rows: OperatorRows, threads: int | None) -> Iterator[Note]:
    for others, ran in _other_threads(rows, threads):
        yield TextNote(
            f"the peaks are of {counted(int(threads or 0), 'thread')}, but "
            f"{operators_and_share(ran.sum())} ran on {counted(others, 'thread')}; "
            f"{_threads_advice(others)}",
            Importance.WRONG,
            share_of(rows, ran),
        )


def _other_threads(
    rows: OperatorRows, threads: int | None
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield each other number of threads that operators ran on, and a mask of these operators.

    Yield nothing if `threads`, the number of threads that reach the peaks, is unknown.
    """
    for others, ran in _ran_by(rows, lambda track: track.threads):
        if threads not in (None, others):
            yield others, ran


def _threads_advice(threads: int) -> str:
    return (
        f"on the machine of the profile, --peaks here:{threads} measures the rates of "
        f"{counted(threads, 'thread')}"
    )


def _ran_by(
    rows: OperatorRows, value_of: Callable[[Track], T | None]
) -> Iterator[tuple[T, NDArray[np.bool_]]]:
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

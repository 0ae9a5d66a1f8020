"""Rules on rooflines: whether peak rates fit a profile, and what cannot be compared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import did_you_mean
from profile_analyze.advice.peaks import (
    cpu_peaks_advice,
    highest_rates_advice,
    missing_rate_advice,
    tf32_advice,
    threads_advice,
)
from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted, decimal_rate, percent, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from profile_analyze.findings.rule import Words

_REASONS: Final[Mapping[str, str]] = {
    "clock": "below the clock's resolution",
    "stale": "whose work and times are from different runs, with different shapes",
    "inside": "that leave all work to operators inside them",
    "no work": "that do no work, such as views and allocations",
    "link": "that copy between devices, limited by a link such as PCIe, not by the peaks",
    "computation": "of unknown computation",
    "memory": "of unknown memory",
}
_OF_LARGE: Final = "these operators take more than 0.5% of the time"


def unjudged_reason(reason: tuple[Any, ...]) -> str:
    """Return why operators are not judged, as a phrase: see `query.fit_of_peaks.unjudged`."""
    name, *values = reason
    if name == "rate":
        dtype, peaks, _ = values
        return f"of {dtype}, for which {peaks} has no known rate"
    shares = ", ".join(f"{kind} {percent(share)}" for kind, share in (values[0] if values else ()))
    return _REASONS[name] + (shares and f", most in {shares}")


def _advised_reason(reason: tuple[Any, ...]) -> str:
    """Return why operators are not judged, and what to do."""
    name, *values = reason
    if name == "rate" and values[-1]:
        return f"{unjudged_reason(reason)} ({missing_rate_advice(values[-1], values[0])})"
    return unjudged_reason(reason)


def _not_judged(words: Words, *, operators: int, reasons: Sequence[tuple[Any, ...]]) -> str:
    why = f" {_advised_reason(reasons[0][2])}"
    if len(reasons) > 1:
        why = ": " + "; ".join(
            f"{count} ({percent(share)}) {_advised_reason(reason)}"
            for count, share, reason in reasons
        )
    return (
        f"not judged: {counted(operators, 'operator')}{words.sized}{why}; efficiency, lost and "
        "gain leave them out"
    )


def _no_row_judged(words: Words, *, operators: int, reasons: Sequence[tuple[Any, ...]]) -> str:
    mainly = ", mainly operators" if len(reasons) > 1 else ""
    return (
        "no row of this table is judged, so bound, efficiency, lost and gain are N/A; not judged "
        f"in the whole profile: {counted(operators, 'operator')}{words.sized}{mainly} "
        f"{_advised_reason(reasons[0][2])}"
    )


def _swapped_rates(_: Words, *, flops: float, bandwidth: float, least: float, meant: str) -> str:
    return (
        f"{' '.join(scaled(flops, 'FLO/s'))} with {decimal_rate(bandwidth)} is unusual: devices "
        f"can compute at least {least} FLO in the time that a byte takes, and FLO/s come first; "
        f"{did_you_mean([meant])}"
    )


def _other_device(_: Words, *, hardware: str, peaks: str, reported: str, dtype: str | None) -> str:
    of_card = "all dies of " if reported.startswith(f"{peaks} (") else ""
    return (
        f"the profile names {hardware!r}, but the peaks are of {of_card}{peaks}; "
        f"--peaks auto{f':{dtype}' if dtype else ''} takes those of {reported}"
    )


def _other_kind(words: Words, *, peaks: str, of: str, on: str, operators: int, highest: str) -> str:
    advice = "name that GPU; --peaks list shows the known ones"
    return (
        f"the peaks are of a {of.upper()} ({peaks}), but "
        f"{counted(operators, 'operator')}{words.sized} ran on a {on.upper()}; "
        f"{cpu_peaks_advice(highest) if on == 'cpu' else advice}"
    )


def _other_threads(words: Words, *, of: int, on: int, operators: int) -> str:
    return (
        f"the peaks are of {counted(of, 'thread')}, but "
        f"{counted(operators, 'operator')}{words.sized} ran on {counted(on, 'thread')}; "
        f"{threads_advice(on)}"
    )


def _unknown_least_time(words: Words, *, operators: int, in_bodies: int) -> str:
    where = "a body" if in_bodies == 1 else "bodies"
    of_bodies = f", {in_bodies} of them in {where}" if in_bodies else ""
    return (
        f"least_time is N/A for {counted(operators, 'operator')}{words.sized}{of_bodies}: the "
        "computation, the memory or the peak rate is unknown"
    )


def _unused_dtype(
    words: Words, *, dtype: str, replaces_fp32: bool, operators: int, dtypes: Sequence[str]
) -> str:
    return (
        f"{dtype} after --peaks is only for operators of unknown dtype"
        f"{' or fp32' if replaces_fp32 else ''}: it has no effect on "
        f"{counted(operators, 'operator')}{words.sized} in {' or '.join(dtypes)}"
    )


def _faster_than_roof(
    words: Words, *, operators: int, efficiency: float, reason: str, option: str, highest: str
) -> str:
    why = (
        "the peaks are probably too low; check the device, the dtype and the number of threads"
        f"{highest and '; '}{highest_rates_advice(highest)}"
    )
    if reason == "caches":
        why = (
            "their data probably stayed in caches, or memory counts a whole input of which they "
            "read only a part; the column lost is negative for these operators, but the summary "
            "counts them as 0; --where 'efficiency <= 100%' leaves them out"
        )
    elif option:
        why = f"{tf32_advice(option)}; otherwise, check the device"
    return (
        f"faster than their roof: {counted(operators, 'operator')}{words.sized}, with an "
        f"efficiency of up to {percent(efficiency)}; {why}"
    )


RULES: Final = (
    Rule(
        "no-host-roof",
        "a table of host times has peak rates",
        "host times have no roof: bound, efficiency, lost and gain are N/A",
    ),
    Rule(
        "unstable-peaks",
        "measured peak rates may be too low",
        "the peaks may be up to {doubt:percent} too low, because the measurements differ or other "
        "programs ran meanwhile; efficiency is then too high, and lost and gain are too low; stop "
        "other programs; then --peaks '{measured_by}' measures again",
        threshold="the measurements differ by more than 3%",
    ),
    Rule(
        "swapped-rates",
        "the two rates after --peaks are probably swapped",
        _swapped_rates,
        threshold="under 0.5 FLO/byte, below all known devices",
    ),
    Rule(
        "peaks-of-other-device",
        "the profile names one known device, and --peaks names another",
        _other_device,
    ),
    Rule(
        "peaks-of-other-kind",
        "the peaks are of a GPU and operators ran on a CPU, or the other way around",
        _other_kind,
    ),
    Rule(
        "peaks-of-other-threads",
        "the peaks are of another number of threads than operators ran on",
        _other_threads,
    ),
    Rule(
        "unknown-least-time",
        "the least possible time of operators of a model is unknown",
        _unknown_least_time,
    ),
    Rule(
        "unused-dtype",
        "the dtype after --peaks has no effect",
        _unused_dtype,
        threshold="over half of the time has other dtypes, or no operator has that dtype",
    ),
    Rule(
        "groups-faster-than-roof",
        "groups of the table, but no operators, have an efficiency above 100%",
        "{groups:group} with an efficiency of up to {efficiency:percent}, although no operator is "
        "above 100%: the time of a group is a median over runs, which can be less than the sum of "
        "its operators' medians",
    ),
    Rule(
        "faster-than-roof",
        "operators have an efficiency above 100%",
        _faster_than_roof,
        threshold="1% of the time, or a row of the table",
    ),
    Rule(
        "not-judged",
        "operators have a time, but no least possible time",
        _not_judged,
        threshold=_OF_LARGE,
    ),
    Rule(
        "no-row-judged",
        "no row of the table has an efficiency",
        _no_row_judged,
        threshold=_OF_LARGE,
    ),
    Rule(
        "assumed-dtype",
        "operators of unknown dtype are judged by the dtype of the peaks",
        "dtype unknown, assumed to be {dtype}: {operators:operator}{size}; {option} chooses "
        "another",
        threshold=_OF_LARGE,
    ),
)

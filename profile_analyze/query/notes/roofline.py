"""The findings on a roofline: what a person should know before trusting efficiencies."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.errors import PeaksError
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.measures import TIME
from profile_analyze.model.terms import ABSENT, CPU, HOST
from profile_analyze.query.fit_of_peaks import (
    computes,
    highest_rates,
    may_be_tf32,
    on_other_threads,
    peaks_of,
    ran_on_other_kinds,
    unjudged,
)
from profile_analyze.query.time_shares import share_of
from profile_analyze.roofline.devices import DEVICES
from profile_analyze.roofline.formulas import rate_dtypes, replaces_fp32
from profile_analyze.roofline.peaks import (
    ANY_DTYPE,
    AS_GIVEN,
    PLAUSIBLE_RIDGES,
    STABLE_DOUBT,
    TF32,
)
from profile_analyze.roofline.reported_devices import peaks_of_reported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows
    from profile_analyze.roofline.peaks import Peaks

    Chosen = NDArray[np.bool_]

_NOTEWORTHY_SHARE: Final = 0.005
"""There is a finding on operators that cannot be judged only if they together take a larger share
of the time than this. The same rule applies to operators of unknown dtype."""
_FASTER_SHARE: Final = 0.01
"""There is a finding on operators that are faster than their roof if they take at least this share
of the time. With a smaller share, they hardly change the totals, and only count if the table shows
one of these operators."""
_HALF: Final = 0.5
_LARGE_SHARE: Final = 0.1
"""If operators that are faster than their roof take at least this share of the time, caches are an
unlikely reason."""


def roofline_findings(rows: OperatorRows, shown: ShownRows | None = None) -> Iterator[Finding]:
    """Yield the findings on the roofline of `rows`, which are all operators of a profile.

    `shown` are the rows of the table, if there is a table.
    """
    if rows.measure.side == HOST:
        yield Finding.of("no-host-roof", Kind.INCOMPLETE)
    if rows.measure != TIME:
        return
    yield from _peaks_findings(rows)
    yield from _least_times(rows)
    yield from _named_dtype(rows)
    yield from _faster(rows, shown)
    yield from _not_judged(rows, shown)
    yield from _assumed_dtype(rows)


def _peaks_findings(rows: OperatorRows) -> Iterator[Finding]:
    """Yield the findings on how certain the peaks are, and whether they fit the profile."""
    peaks = peaks_of(rows)
    on_threads = tuple(on_other_threads(rows))
    # Measuring the rates of a wrong number of threads again does not help.
    if peaks.doubt > STABLE_DOUBT and not on_threads:
        yield Finding.of(
            "unstable-peaks",
            Kind.WRONG,
            share=1.0,
            doubt=peaks.doubt,
            measured_by=peaks.measured_by,
        )
    yield from _swapped_rates(peaks)
    yield from _other_device(rows.profile.origin.hardware, peaks)
    for kind, ran in ran_on_other_kinds(rows, peaks):
        yield from on_operators(
            "peaks-of-other-kind",
            Kind.WRONG,
            int(ran.sum()),
            share_of(rows, ran),
            peaks=peaks.name,
            of=peaks.device_kind,
            on=kind,
            highest=highest_rates(rows, CPU) if kind == CPU else "",
        )
    for threads, ran in on_threads:
        yield from on_operators(
            "peaks-of-other-threads",
            Kind.WRONG,
            int(ran.sum()),
            share_of(rows, ran),
            of=peaks.threads,
            on=threads,
        )


def _swapped_rates(peaks: Peaks) -> Iterator[Finding]:
    """Yield a finding if the two rates that the user gave are probably swapped."""
    least, _ = PLAUSIBLE_RIDGES
    rate = r"([\d.]+[kKMGTP]?)"  # rates with units are not swapped by mistake
    given = re.fullmatch(rf"\s*{rate}\s*:\s*{rate}\s*", peaks.name)
    if given and peaks.source == AS_GIVEN and peaks.ridge() < least:
        yield Finding.of(
            "swapped-rates",
            Kind.WRONG,
            share=1.0,
            flops=peaks.rate(None),
            bandwidth=peaks.bandwidth,
            least=least,
            meant=f"{given[2]}:{given[1]}",
        )


def _other_device(hardware: str | None, peaks: Peaks) -> Iterator[Finding]:
    """Yield a finding if the profile names one device of the table, and the user another."""
    if peaks.name not in {device.name for device in DEVICES}:
        return
    with suppress(PeaksError):  # the profile names no device of the table
        reported = peaks_of_reported(hardware, None)
        if reported.name != peaks.name:
            is_known = peaks.dtype_is_named and reported.rate(peaks.dtype) > 0  # false for NaN
            yield Finding.of(
                "peaks-of-other-device",
                Kind.WRONG,
                share=1.0,
                hardware=hardware,
                peaks=peaks.name,
                reported=reported.name,
                dtype=peaks.dtype if is_known else None,
            )


def _least_times(rows: OperatorRows) -> Iterator[Finding]:
    """Yield a finding on operators without a least possible time, of a model without a run."""
    left_out = np.isnan(rows["least_time"])
    if rows.profile.origin.times == ABSENT:
        # The totals of the summary leave bodies out, so they count fewer operators.
        in_bodies = int((left_out & rows.profile.in_bodies()).sum())
        yield from on_operators(
            "unknown-least-time",
            Kind.INCOMPLETE,
            int(left_out.sum()),
            np.nan,
            in_bodies=in_bodies,
        )


def _named_dtype(rows: OperatorRows) -> Iterator[Finding]:
    """Yield a finding if the dtype that the user named has no effect on most of the time.

    That dtype is only for operators of unknown dtype, and may replace FP32: see `replaces_fp32`.
    """
    peaks = peaks_of(rows)
    dtypes = rate_dtypes(rows.profile, peaks)
    others = dtypes.where(one != peaks.dtype for one in dtypes.categories) & computes(rows)
    share = share_of(rows, others)
    has_no_effect = peaks.dtype not in dtypes.categories
    if peaks.dtype_is_named and (has_no_effect or share > _HALF):
        yield from on_operators(
            "unused-dtype",
            Kind.ANSWER if share > _HALF else Kind.CONTEXT,
            int(others.sum()),
            share,
            dtype=peaks.dtype,
            replaces_fp32=replaces_fp32(rows.profile, peaks),
            dtypes=sorted(set(dtypes.values()[others].tolist())),
        )


def _faster(rows: OperatorRows, shown: ShownRows | None) -> Iterator[Finding]:
    """Yield a finding on the operators or groups whose efficiency is above 100 %.

    There is none if these operators take almost no time and the table shows none of them.
    """
    efficiency = rows["efficiency"]
    faster: Chosen = efficiency > 1
    shown_efficiency = np.empty(0) if shown is None else shown["efficiency"]
    shown_faster = shown_efficiency[shown_efficiency > 1]
    share = share_of(rows, faster)
    if not (shown_faster.size or share >= _FASTER_SHARE):
        return
    if not faster.any():
        yield Finding.of(
            "groups-faster-than-roof",
            Kind.WRONG,
            groups=shown_faster.size,
            efficiency=shown_faster.max(),
        )
        return
    reason, option, highest = "low peaks", "", ""
    if share < _LARGE_SHARE:
        reason = "caches"
    elif may_be_tf32(rows, faster):
        reason, option = TF32, peaks_of(rows).with_rate_of(TF32)
    else:
        highest = highest_rates(rows)
    yield from on_operators(
        "faster-than-roof",
        Kind.WRONG,
        int(faster.sum()),
        share,
        efficiency=np.max(efficiency[faster]),
        reason=reason,
        option=option,
        highest=highest,
    )


def _not_judged(rows: OperatorRows, shown: ShownRows | None) -> Iterator[Finding]:
    """Yield one finding on all operators that have no least possible time, with the reasons.

    If no row of the table is judged, yield a further finding, which is more important.
    """
    chosen = [(mask, reason) for mask, reason in unjudged(rows) if mask.any()]
    no_operators = np.zeros(len(rows.profile), np.bool_)
    of_any = np.logical_or.reduce([no_operators, *(mask for mask, _ in chosen)])
    share = share_of(rows, of_any)
    if not share > _NOTEWORTHY_SHARE:
        return
    reasons = sorted(
        ((int(mask.sum()), share_of(rows, mask), reason) for mask, reason in chosen),
        key=lambda one: -one[1],
    )
    count = int(of_any.sum())
    yield from on_operators("not-judged", Kind.INCOMPLETE, count, share, reasons=reasons)
    if _has_no_judged_row(shown):
        yield from on_operators("no-row-judged", Kind.ANSWER, count, share, reasons=reasons)


def _has_no_judged_row(shown: ShownRows | None) -> bool:
    """Return whether there is a table, but no row of it has an efficiency."""
    return shown is not None and shown.chosen.size > 0 and bool(np.isnan(shown["efficiency"]).all())


def _assumed_dtype(rows: OperatorRows) -> Iterator[Finding]:
    peaks = peaks_of(rows)
    unknown = computes(rows) & (rate_dtypes(rows.profile, peaks).codes < 0)
    share = share_of(rows, unknown)
    if peaks.dtype != ANY_DTYPE and share > _NOTEWORTHY_SHARE:
        yield from on_operators(
            "assumed-dtype",
            Kind.WRONG,
            int(unknown.sum()),
            share,
            dtype=peaks.dtype,
            option=peaks.with_rate_of("DTYPE"),
        )

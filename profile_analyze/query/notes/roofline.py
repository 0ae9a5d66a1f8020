"""The notes on a roofline: what a person should know before trusting efficiencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.levels.owned_work import is_limited_by_link, leaves_work_inside
from profile_analyze.model.measures import TIME
from profile_analyze.model.notes import Importance, Note, TextNote, operators_and_share
from profile_analyze.model.stale_work import has_stale_work
from profile_analyze.model.terms import ABSENT, HOST
from profile_analyze.query.notes.peaks import peaks_notes
from profile_analyze.query.notes.peaks_advice import highest_rates_advice, may_be_tf32, tf32_advice
from profile_analyze.query.notes.time_shares import largest_types, share_of
from profile_analyze.roofline.formulas import (
    does_no_work,
    is_below_clock_resolution,
    is_judged,
    only_moves_data,
    rate_dtypes,
    replaces_fp32,
)
from profile_analyze.roofline.peaks import ANY_DTYPE, DEFAULT_DTYPE, missing_rate_advice
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows

    Chosen = NDArray[np.bool_]

_NOTEWORTHY_SHARE: Final = 0.005
"""Operators that cannot be judged get a note only if they together take a larger share of the time
than this. The same rule applies to operators of unknown dtype."""
_FASTER_SHARE: Final = 0.01
"""Operators that are faster than their roof get a note if they take at least this share of the
time. With a smaller share, they hardly change the totals, and get a note only if the table shows
one of these operators."""
_HALF: Final = 0.5
_LARGE_SHARE: Final = 0.1
"""If operators that are faster than their roof take at least this share of the time, caches are an
unlikely reason."""

_TOO_LOW: Final = (
    "the peaks are probably too low; check the device, the dtype and the number of threads"
)

_FASTER: Final = "faster than their roof"
_NONE_JUDGED: Final = "no row of this table is judged"
SHOWN_BY_DOTS: Final = (_FASTER, _NONE_JUDGED)
"""The first words of notes that a picture does not need: dots above the roof and hollow dots show
the same, and the title explains them."""


def roofline_notes(rows: OperatorRows, shown: ShownRows | None = None) -> Iterator[Note]:
    """Yield the notes on the roofline of `rows`, which are all operators of a profile.

    `shown` are the rows of the table, if there is a table.
    """
    if rows.measure.side == HOST:
        yield TextNote(
            "host times have no roof: bound, efficiency, lost and gain are N/A",
            Importance.INCOMPLETE,
        )
    if rows.measure != TIME:
        return
    yield from peaks_notes(rows)
    yield from _model_notes(rows)
    yield from _named_dtype_notes(rows)
    yield from _faster_notes(rows, shown)
    yield from _unjudged_notes(rows, shown)
    yield from _unknown_dtype_notes(rows)


def _model_notes(rows: OperatorRows) -> Iterator[Note]:
    """Yield a note on operators without a least possible time, for a model that has not run."""
    left_out = np.isnan(rows["least_time"])
    if left_out.any() and rows.profile.origin.times == ABSENT:
        # The totals of the summary leave bodies out, so they count fewer operators.
        of_bodies = int((left_out & rows.profile.in_bodies()).sum())
        where = "a body" if of_bodies == 1 else "bodies"
        in_bodies = f", {of_bodies} of them in {where}" if of_bodies else ""
        yield TextNote(
            f"least_time is N/A for {operators_and_share(left_out.sum())}{in_bodies}: the "
            "computation, the memory or the peak rate is unknown",
            Importance.INCOMPLETE,
        )


def _named_dtype_notes(rows: OperatorRows) -> Iterator[Note]:
    """Yield a note if the dtype that the user named has no effect, or not on most of the time.

    That dtype is only for operators of unknown dtype, and may replace FP32: see `replaces_fp32`.
    """
    peaks = rows.peaks
    assert peaks is not None, "a roofline needs peak rates"
    dtypes = rate_dtypes(rows.profile, peaks)
    others = dtypes.where(one != peaks.dtype for one in dtypes.categories) & _computes(rows)
    share = share_of(rows, others)
    has_no_effect = peaks.dtype not in dtypes.categories
    if peaks.dtype_is_named and others.any() and (has_no_effect or share > _HALF):
        names = " or ".join(sorted(set(dtypes.values()[others].tolist())))
        replaced = f" or {DEFAULT_DTYPE}" if replaces_fp32(rows.profile, peaks) else ""
        yield TextNote(
            f"{peaks.dtype} after --peaks is only for operators of unknown dtype{replaced}: it has "
            f"no effect on {operators_and_share(others.sum())} in {names}",
            Importance.ANSWER if share > _HALF else Importance.CONTEXT,
            share,
        )


def _faster_notes(rows: OperatorRows, shown: ShownRows | None) -> Iterator[Note]:
    """Yield a note on the operators or groups whose efficiency is above 100 %.

    There is no note if these operators take almost no time and the table shows none of them.
    """
    efficiency = rows["efficiency"]
    faster: Chosen = efficiency > 1
    shown_efficiency = np.empty(0) if shown is None else shown["efficiency"]
    shown_faster = shown_efficiency[shown_efficiency > 1]
    share = share_of(rows, faster)
    if not (shown_faster.size or share >= _FASTER_SHARE):
        return
    if not faster.any():
        yield TextNote(
            f"{counted(shown_faster.size, 'group')} with an efficiency of up to "
            f"{percent(float(shown_faster.max()))}, although no operator is above 100%: the time "
            "of a group is a median over runs, which can be less than the sum of its operators' "
            "medians",
            Importance.WRONG,
        )
        return
    if share < _LARGE_SHARE:
        reason = (
            "their data probably stayed in caches, or memory counts a whole input of which they "
            "read only a part; the column lost is negative for these operators, but the summary "
            "counts them as 0; --where 'efficiency <= 100%' leaves them out"
        )
    elif may_be_tf32(rows, faster):
        reason = f"{tf32_advice(rows)}; otherwise, check the device"
    else:
        reason = "; ".join(filter(None, (_TOO_LOW, highest_rates_advice(rows))))
    yield TextNote(
        f"{_FASTER}: {operators_and_share(faster.sum())}, with an efficiency of up to "
        f"{percent(float(np.max(efficiency[faster])))}; {reason}",
        Importance.WRONG,
        share,
    )


def _unjudged_notes(rows: OperatorRows, shown: ShownRows | None) -> Iterator[Note]:
    """Yield one note on all operators that have no least possible time, with the reasons.

    If no row of the table is judged, yield a further note, which is more important.
    """
    reasons = [
        (chosen, f"{reason} ({advice})" if advice else reason)
        for chosen, reason, advice in unjudged(rows)
        if chosen.any()
    ]
    no_operators = np.zeros(len(rows.profile), np.bool_)
    of_any = np.logical_or.reduce([no_operators, *(chosen for chosen, _ in reasons)])
    if not share_of(rows, of_any) > _NOTEWORTHY_SHARE:
        return
    reasons.sort(key=lambda one: -share_of(rows, one[0]))
    why = in_total = f" {reasons[0][1]}"
    if len(reasons) > 1:
        why = ": " + "; ".join(
            f"{chosen.sum()} ({percent(share_of(rows, chosen))}) {reason}"
            for chosen, reason in reasons
        )
        in_total = f", mainly operators {reasons[0][1]}"
    share = share_of(rows, of_any)
    subject = operators_and_share(of_any.sum())
    yield TextNote(
        f"not judged: {subject}{why}; efficiency, lost and gain leave them out",
        Importance.INCOMPLETE,
        share,
    )
    if _has_no_judged_row(shown):
        yield TextNote(
            f"{_NONE_JUDGED}, so bound, efficiency, lost and gain are N/A; not "
            f"judged in the whole profile: {subject}{in_total}",
            Importance.ANSWER,
            share,
        )


def _has_no_judged_row(shown: ShownRows | None) -> bool:
    """Return whether there is a table, but no row of it has an efficiency."""
    return shown is not None and shown.chosen.size > 0 and bool(np.isnan(shown["efficiency"]).all())


def unjudged(rows: OperatorRows) -> Iterator[tuple[Chosen, str, str]]:
    """Yield masks of operators that are not judged, each with the reason and with advice.

    Masks have shape (operators,). No operator is in two masks. The advice may be empty.
    """
    short: Chosen = is_below_clock_resolution(rows) & ~np.isnan(rows["time"])
    yield short, "below the clock's resolution", ""
    without_roof = np.isnan(rows["least_time"]) & (rows["time"] > 0) & ~short
    operators = rows.profile.operators
    for chosen, reason in (
        (
            has_stale_work(operators),
            "whose work and times are from different runs, with different shapes",
        ),
        (leaves_work_inside(operators), "that leave all work to operators inside them"),
        (does_no_work(rows), "that do no work, such as views and allocations"),
        (
            is_limited_by_link(rows.profile),
            "that copy between devices, limited by a link such as PCIe, not by the peaks",
        ),
    ):
        yield without_roof & chosen, reason, ""
        without_roof &= ~chosen
    unknown: Chosen = without_roof & np.isnan(rows["computation"]) & ~only_moves_data(rows)
    types = ", ".join(f"{name} {percent(share)}" for name, share in largest_types(rows, unknown))
    yield unknown, "of unknown computation" + (types and f", most in {types}"), ""
    without_roof &= ~unknown
    peaks = rows.peaks
    assert peaks is not None, "a roofline needs peak rates"
    dtypes = rate_dtypes(rows.profile, peaks)
    for code, dtype in enumerate(dtypes.categories):
        if np.isnan(peaks.rate(dtype)):
            chosen = _computes(rows) & (dtypes.codes == code)
            advice = missing_rate_advice(peaks, dtype).removeprefix("; ")
            yield chosen, f"of {dtype}, for which {peaks.name} has no known rate", advice
            without_roof &= ~chosen
    yield without_roof, "of unknown memory", ""


def _unknown_dtype_notes(rows: OperatorRows) -> Iterator[Note]:
    peaks = rows.peaks
    assert peaks is not None, "a roofline needs peak rates"
    unknown = _computes(rows) & (rate_dtypes(rows.profile, peaks).codes < 0)
    if peaks.dtype != ANY_DTYPE and share_of(rows, unknown) > _NOTEWORTHY_SHARE:
        yield TextNote(
            f"dtype unknown, assumed to be {peaks.dtype}: {operators_and_share(unknown.sum())}; "
            f"{peaks.with_rate_of('DTYPE')} chooses another",
            Importance.WRONG,
            share_of(rows, unknown),
        )


def _computes(rows: OperatorRows) -> Chosen:
    """Return a mask of the operators whose roof depends on the peak rate of their dtype."""
    computes: Chosen = is_judged(rows) & ~only_moves_data(rows) & ~np.isnan(rows["computation"])
    return computes

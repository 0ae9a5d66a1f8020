"""Compares a whole profile with peak rates, and finds the groups with the most time to save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.model.levels.owned_work import leaves_work_inside
from profile_analyze.model.numbers import exact_total, ratio, totals
from profile_analyze.model.terms import ATTENTION, CONVOLUTION, GPU, MATMUL
from profile_analyze.query.fit_of_peaks import (
    are_highest_rates,
    better_rates,
    may_be_tf32,
    ran_on_other_kinds,
    ran_only_on,
)
from profile_analyze.query.notes.roofline import roofline_findings
from profile_analyze.query.question import Query
from profile_analyze.query.rows import OperatorRows
from profile_analyze.query.run import run
from profile_analyze.query.time_shares import largest_types, share_of
from profile_analyze.roofline.formulas import COMPUTE, rate_dtypes, replaces_fp32
from profile_analyze.roofline.peaks import ANY_DTYPE
from profile_analyze.views.model_summary import are_of_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.findings import Finding
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.fit_of_peaks import BetterRates
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.roofline.peaks import Peaks

_MOST_WINNERS: Final = 3
_LEAST_GAIN: Final = 1.005
"""The smallest gain that is worth a sentence: half a percent."""


class Winner(NamedTuple):
    """A group that would save much time if it ran at its roof."""

    label: str
    """The values of the group's keys."""
    operators: int
    """How many operators the group has."""
    judged: int
    """How many operators of the group have a least possible time."""
    share: float
    efficiency: float
    in_all_runs: bool
    """Whether judged operators of this group ran in all runs."""
    runs_s: float
    """The total time of the runs in which judged operators of this group ran."""
    total_s: float
    """`runs_s` if the group ran at its roof."""
    gain: float
    keys: tuple[str, ...]
    """The value of each key in `Judgement.by`."""
    gpu_call_s: float
    """The mean time of a call of the judged operator whose calls take longest; infinite
    unless all judged operators ran only on GPUs."""


class Judgement(NamedTuple):
    """The device time of all operators, compared with the peak rates. NaN is N/A."""

    peaks: Peaks
    rates: tuple[tuple[str, float, float], ...]
    """For each dtype that judged operators compute in: its name, its peak rate, and the share of
    the device time that these operators take."""
    memory_known: float
    """The share of the device time that operators with known memory take. If an operator leaves
    all work to operators inside it, its memory counts as known."""
    memory_unknown: tuple[tuple[str, float], ...]
    """The types whose operators with unknown memory take the most device time, with their shares of
    the device time."""
    judged: float
    """The share of the device time that judged operators take. An operator is judged if its least
    possible time is known."""
    least_s: float
    """The sum of the least possible times of all operators that are not in the body of a loop or
    the like. N/A for a model if operators that may have multiply-adds would be missing."""
    without_least: int
    """How many operators outside of bodies have no least possible time; 0 for a profile of a
    run."""
    replaces_fp32: bool
    """Whether operators in FP32 are judged as if they ran in the dtype of the peaks."""
    may_be_tf32: bool
    """Whether operators in FP32 multiply matrices, are bound by computation, and may have run in
    TF32, in which the device is faster."""
    efficiency: float
    """The time that judged operators would take at their roofs, as a fraction of their time."""
    lost_s: float
    """The time that judged operators would save at their roofs. An operator that is faster than its
    roof saves 0 s. This also applies to `efficiency`, `total_s` and `gain`."""
    total_s: float
    """The time of all operators without `lost_s`."""
    gain: float
    """How many times as fast all operators together would be if they took only `total_s`."""
    winners: tuple[Winner, ...]
    by: tuple[str, ...]
    """The keys that `winners` are grouped by: the keys of the question, or else `type`."""
    other_kinds: tuple[tuple[str, float], ...]
    """The kinds of device that operators ran on, with their shares of the device time. The kind
    that the peaks are for is left out."""
    faster: float
    """The share of the device time that operators faster than their roof take."""
    better_rates: BetterRates
    """Which rates to give if the peaks do not fit."""
    are_highest_rates: bool
    """Whether the peaks are the highest rates of the operators themselves."""
    notes: tuple[Finding, ...]


def judge(query: Query, profile: Profile) -> Judgement:
    """Compare `profile` with `query.peaks`. The keys of `query` decide the groups of `winners`."""
    assert query.peaks is not None, "a judgement needs peak rates"
    rows = OperatorRows(profile, Query(peaks=query.peaks, run_statistic=query.run_statistic))
    judged, faster = ~np.isnan(rows["least_time"]), rows["efficiency"] > 1
    memory_known = ~np.isnan(rows["memory"]) | leaves_work_inside(profile.operators)
    least_s, without_least = _least_s(rows)
    # Operators that are faster than their roof have a negative `lost`, which counts as 0 here.
    # Otherwise, a group could gain more than the whole profile.
    lost_s = rows.over_runs(totals(np.maximum(rows.per_run("lost"), 0)))
    judged_s = rows.over_runs(totals(np.where(judged[:, None], rows.per_run("time"), np.nan)))
    total_s = rows.total_s - lost_s
    return Judgement(
        peaks=query.peaks,
        rates=tuple(_rates(rows, query.peaks, judged)),
        memory_known=share_of(rows, memory_known),
        memory_unknown=tuple(largest_types(rows, ~memory_known)),
        judged=share_of(rows, judged),
        least_s=least_s,
        without_least=without_least,
        replaces_fp32=replaces_fp32(profile, query.peaks),
        may_be_tf32=may_be_tf32(
            rows, _is_bound_by_computation(rows) & _multiplies_matrices(profile)
        ),
        efficiency=float(ratio(np.array([judged_s - lost_s]), judged_s)[0]),
        lost_s=lost_s,
        total_s=total_s,
        gain=float(ratio(np.array([rows.total_s]), total_s)[0]) if total_s > 0 else np.nan,
        winners=tuple(_winners(query, profile)),
        by=_keys(query),
        other_kinds=tuple(
            (kind, share_of(rows, ran)) for kind, ran in ran_on_other_kinds(rows, query.peaks)
        ),
        faster=share_of(rows, faster),
        better_rates=better_rates(rows, faster),
        are_highest_rates=are_highest_rates(rows),
        notes=tuple(roofline_findings(rows)),
    )


def _is_bound_by_computation(rows: OperatorRows) -> NDArray[np.bool_]:
    """Return whether the peak rate of computation limits each operator, shape (operators,)."""
    bound: Categorical[str] = rows["bound"]
    return bound.where(one == COMPUTE for one in bound.categories)


def _multiplies_matrices(profile: Profile) -> NDArray[np.bool_]:
    """Return whether the tensor cores of a GPU may run each operator, shape (operators,)."""
    category = profile.operators.category
    wanted = (CONVOLUTION, MATMUL, ATTENTION)
    return category.where(one in wanted for one in category.categories)


def _least_s(rows: OperatorRows) -> tuple[float, int]:
    """Return `Judgement.least_s` and `Judgement.without_least`.

    For a model, the sum is N/A if it would leave out an operator that has multiply-adds, or may
    have some. People would mistake an incomplete sum for the time of the whole model.
    """
    profile = rows.profile
    if profile.model is None or profile.tensors is None:
        return exact_total(rows["least_time"]), 0
    chosen = are_of_model(profile) & ~profile.in_bodies()
    least, macs = rows["least_time"][chosen], profile.operators.numbers("macs")[chosen]
    left_out = np.isnan(least)
    least_s = exact_total(least)
    # If operators are left out, a sum of 0 would look as if the model took no time.
    is_partial = bool((left_out & (macs != 0)).any()) or (left_out.any() and least_s == 0)
    return np.nan if is_partial else least_s, int(left_out.sum())


def _rates(
    rows: OperatorRows, peaks: Peaks, judged: NDArray[np.bool_]
) -> Iterator[tuple[str, float, float]]:
    """Yield the entries of `Judgement.rates`, in descending order of their share of the time."""
    dtypes = rate_dtypes(rows.profile, peaks)
    shares: dict[str, float] = {}
    # Operators of unknown dtype are assumed to compute in the default dtype of the peaks.
    for code, dtype in [*enumerate(dtypes.categories), (MISSING_CODE, peaks.dtype)]:
        of_dtype = judged & (dtypes.codes == code)
        if of_dtype.any():
            name = dtype if dtype in dict(peaks.flops) else ANY_DTYPE
            shares[name] = shares.get(name, 0.0) + share_of(rows, of_dtype)
    for dtype in sorted(shares, key=lambda dtype: -shares[dtype]):
        yield dtype, peaks.rate(dtype), shares[dtype]


def _keys(query: Query) -> tuple[str, ...]:
    return query.plain_keys or ("type",)


def _winners(query: Query, profile: Profile) -> Iterator[Winner]:
    groups = Query(
        by=_keys(query),
        having=f"gain > {_LEAST_GAIN}",
        order="lost",
        top=_MOST_WINNERS,
        peaks=query.peaks,
        run_statistic=query.run_statistic,
    )
    table = run(groups, profile)
    keys = list(zip(*map(table.texts, table.query.by), strict=True))
    runs_of_groups_s = table.shown.own_totals_s("lost.sum")
    gpu_calls_s = table.shown.of_all_rows(_gpu_calls_s)[table.shown.chosen]
    for index, label in enumerate(table.labels):
        runs_s = float(runs_of_groups_s[index])
        yield Winner(
            label=label,
            operators=int(table["count"][index]),
            judged=int(table["least_time.count"][index]),
            share=float(table["share"][index]),
            efficiency=float(table["efficiency"][index]),
            in_all_runs=runs_s == table.total_s,
            runs_s=runs_s,
            total_s=runs_s - float(table["lost"][index]),
            gain=float(table["gain"][index]),
            keys=keys[index],
            gpu_call_s=float(gpu_calls_s[index]),
        )


def _gpu_calls_s(groups: GroupRows) -> NDArray[np.float64]:
    """Return `Winner.gpu_call_s` of each group, shape (groups,)."""
    rows = groups.operators
    calls_s = ratio(rows["time"], rows["calls"])
    calls_s[np.isnan(calls_s) | ~ran_only_on(rows, GPU)] = np.inf
    row_of_operator = groups.row_of_operator
    counted = (row_of_operator >= 0) & ~np.isnan(rows["least_time"])
    longest_s = np.zeros(len(groups.sizes))
    np.maximum.at(longest_s, row_of_operator[counted], calls_s[counted])
    return longest_s

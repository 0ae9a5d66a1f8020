"""The findings on an answer: what a person should know to read its numbers correctly."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.wording import heading
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.measures import HOST_TIME, MEASURES, TIME
from profile_analyze.model.terms import ABSENT, HOST, LABEL, is_run_key
from profile_analyze.query.notes.filters import empty_findings, filter_findings
from profile_analyze.query.notes.group_keys import group_key_findings
from profile_analyze.query.notes.sums import row_sum_findings
from profile_analyze.query.time_shares import share_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows

_OBVIOUS_MEASURES: Final = (TIME.name, HOST_TIME.name)
"""Measures whose shares need no explanation."""

_MOST: Final = 0.5
"""If operators with an unknown value take a larger share of the time, ordering by this value
misleads."""


def findings_on(
    operators: OperatorRows,
    rows: OperatorRows | GroupRows,
    shown: ShownRows,
    selection: Selection,
) -> Iterator[Finding]:
    """Yield the findings on the answer to a question."""
    query, profile = operators.query, operators.profile
    yield from _split_rows(query, profile)
    yield from row_sum_findings(operators, rows, shown, selection)
    yield from filter_findings(operators, selection)
    yield from group_key_findings(query, operators, selection)
    yield from empty_findings(operators, selection)
    yield from _measure(query, operators, selection)
    if query.peaks:
        # Imported here because few questions have peak rates.
        from profile_analyze.query.notes.roofline import roofline_findings

        yield from roofline_findings(operators, shown)
    yield from _order(query, operators, rows, selection)


def _split_rows(query: Query, profile: Profile) -> Iterator[Finding]:
    """Yield a finding if rows are split by labels or runs, which shares are then relative to."""
    keys = [key for key in query.split_by if is_run_key(key)]
    if not keys:
        return
    parts = len(set(zip(*(profile.split_by[key].codes.tolist() for key in keys), strict=True)))
    labels = [heading(find_column(key)) for key in keys if key.startswith(LABEL)]
    if parts > 1 and labels:
        yield Finding.of("split-by-labels", Kind.CONTEXT, labels=labels)
    elif parts > 1:
        # `Query` adds `file` and `step` to `run`. The finding does not name them: each run has one
        # file and one step, so they split rows no further.
        named = ["run"] if "run" in keys else keys
        yield Finding.of("split-by-runs", Kind.CONTEXT, keys=named, parts=parts)


def _measure(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Finding]:
    if query.measure in _OBVIOUS_MEASURES or not len(selection.operators):
        return
    measure = MEASURES[query.measure]
    if not isnan(operators.total_s):
        yield Finding.of(
            "total-of-measure", Kind.CONTEXT, measure=measure.title, total_s=operators.total_s
        )
    elif measure.field == "first_kernel":
        yield Finding.of("no-first-kernels", Kind.ANSWER, measure=measure.title)


def _order(
    query: Query,
    operators: OperatorRows,
    rows: OperatorRows | GroupRows,
    selection: Selection,
) -> Iterator[Finding]:
    """Yield findings on orders by columns that are N/A in all rows, or in most of the time."""
    # One row needs no order. If the profile has no times, the function `run` replaces the default
    # order, so no finding is needed.
    is_static = rows.profile.origin.times == ABSENT
    if len(selection.operators) < 2 or (query.has_default_order and is_static):
        return
    if isnan(operators.total_s) and MEASURES[query.measure].field == "first_kernel":
        return  # another finding says that there are no times to order by
    for order in query.parsed_order:
        values = rows[order.column.name]
        unknown = values.codes < 0 if isinstance(values, Categorical) else np.isnan(values)
        if unknown.all() and query.has_default_order and query.compared:
            return  # another finding says which side has no times to compare
        if unknown.all():
            yield Finding.of(
                "idle-order",
                _kind_of_order(order.column),
                column=order.column.name,
                of_host=MEASURES[query.measure].side == HOST,
                has_times=None if is_static else not np.isnan(rows["time"]).all(),
            )
        elif not query.grouped:
            yield from _unranked(order.column, operators, selection, unknown)


def _kind_of_order(column: Column) -> Kind:
    """Return how important it is that `column`, which orders rows, is N/A.

    For a column of the roofline, another finding says why it is N/A, and what to do.
    """
    return Kind.CONTEXT if column.needs_peaks else Kind.ANSWER


def _unranked(
    column: Column, operators: OperatorRows, selection: Selection, unknown: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Yield a finding if most of the time is in rows that an order by `column` puts last."""
    left_out = np.zeros_like(unknown)
    left_out[selection.operators] = unknown[selection.operators]
    share = share_of(operators, left_out)
    if share > _MOST:
        count = int(left_out.sum())
        kind = _kind_of_order(column)
        yield from on_operators("unranked-rows", kind, count, share, column=column.name)

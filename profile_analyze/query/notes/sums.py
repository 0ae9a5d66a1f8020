"""The findings on rows that do not add up to the total, or leave out times of the other side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.columns.aggregates import DEFAULT_AGGREGATE
from profile_analyze.columns.registry import COLUMNS
from profile_analyze.large_arrays import blocks_of_rows, run_by_run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.measures import HOST_TIME, MEASURES, TIME
from profile_analyze.model.numbers import numbered, totals, totals_of_chosen
from profile_analyze.model.terms import KERNEL, LABEL, is_run_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows
    from profile_analyze.query.table import Table

_TOLERATED: Final = 0.05
"""Rows that add up to the total except for this share need no finding."""
_ROUNDING: Final = 1e-9
_STATISTICS: Final = ("median", "min", "max")
"""The run statistics whose results do not add up."""
_COLUMNS_WITHOUT_SIDE: Final = tuple(column.name for column in COLUMNS if not column.has_side)
_COLUMNS: Final = {"host_time": HOST_TIME, "device_time": TIME}
"""The columns that show the times of one side, whatever the side of the table."""


def row_sum_findings(
    operators: OperatorRows,
    rows: OperatorRows | GroupRows,
    shown: ShownRows,
    selection: Selection,
) -> Iterator[Finding]:
    """Yield a finding if shares or times of all rows do not add up to the total.

    Rows with different labels are meant to cover different runs.
    """
    of_labels = any(key.startswith(LABEL) for key in operators.profile.split_by)
    if len(operators.profile.runs) < 2 or operators.comparison is not None or of_labels:
        return
    of_shares = tuple(_shares(operators, rows, shown))
    yield from of_shares or _times(operators, rows, selection)


def _times(
    operators: OperatorRows, rows: OperatorRows | GroupRows, selection: Selection
) -> Iterator[Finding]:
    """Yield a finding if the times of all rows do not add up to the total.

    The total is the run statistic, such as the median, of the totals of the runs. The time of each
    row is the same statistic of its own times, so the sum may be smaller or larger. There is no
    finding if filters leave out operators.
    """
    query = operators.query
    adds_up = not query.grouped or query.aggregate == DEFAULT_AGGREGATE
    if query.run_statistic not in _STATISTICS or not adds_up:
        return
    if len(selection.operators) < selection.recorded:
        return
    times_s = operators.per_run("time")
    # Not `total_s`: rows of modules overlap, so even in one run, their sum is not the total.
    sums_s = run_by_run(lambda block_s: totals(block_s)[np.newaxis], times_s)[0]
    whole_s = operators.over_runs(sums_s)
    part = float(np.nansum(rows["time"])) / whole_s if whole_s > 0 else np.nan
    if abs(part - 1) > _TOLERATED:
        yield Finding.of(
            "row-sum",
            Kind.CONTEXT,
            part=part,
            statistic=query.run_statistic,
            runs=len(operators.profile.runs),
            in_some_runs=_has_partial_row(times_s),
        )


def _has_partial_row(times_s: NDArray[np.float64]) -> bool:
    """Return whether a row has times in some, but not all runs. Shape (rows, runs)."""
    for (block_s,) in blocks_of_rows(times_s):
        known = ~np.isnan(block_s)
        if (known.any(axis=1) & ~known.all(axis=1)).any():
            return True
    return False


def split_sum_findings(whole: Profile, operators: OperatorRows) -> Iterator[Finding]:
    """Yield a finding if splitting the rows of `whole` makes their times add up to more.

    An operator that ran on several tracks at once counts as long as on the slowest track. Split by
    track or device, it has a row for each of them.
    """
    measure = operators.query.measure
    keys = [key for key in operators.profile.split_by if not is_run_key(key)]
    takes_longest = any(one.together == "max" for one in whole.tracks)
    if not keys or not takes_longest or len(whole.tracks) < 2:
        return
    # Splitting by run or file changes the runs, so the sums are over all runs.
    split_s, whole_s = (
        float(np.nansum(one.totals_s(measure))) for one in (operators.profile, whole)
    )
    if whole_s > 0 and split_s > whole_s * (1 + _ROUNDING):
        yield Finding.of("split-sum", Kind.ANSWER, keys=keys, part=split_s / whole_s)


def _shares(
    operators: OperatorRows, rows: OperatorRows | GroupRows, shown: ShownRows
) -> Iterator[Finding]:
    """Yield a finding if shares add up to more than 1, because rows cover different runs.

    If all rows of the table (`shown`) cover all runs, the finding on partial rows is less
    important.
    """
    runs = operators.profile.runs
    blocks = blocks_of_rows(operators.per_run("time"))
    ran = ~np.concatenate([np.isnan(times) for (times,) in blocks])
    is_partial = ran.any(axis=1) & ~ran.all(axis=1)
    if ran.shape[1] < len(runs) or not is_partial.any():
        return
    varies = _have_varying_shapes(operators, ran)
    sets = len({of_run.tobytes() for of_run in ran[varies].T})
    # If operators differ only between processes, the files may be of different models. Another
    # finding says so.
    of_processes = {
        (run.process, one.tobytes()) for run, one in zip(runs, ran[is_partial].T, strict=True)
    }
    if len(of_processes) == len({process for process, _ in of_processes}):
        return
    part = float(np.nansum(rows["share"]))
    if part <= 1 + _TOLERATED:
        return
    if sets > 1:
        yield Finding.of("shape-sets", Kind.ANSWER, sets=sets, part=part)
        return
    is_visible = bool(np.isnan(shown.per_run("time")).any())
    yield Finding.of(
        "partial-rows",
        Kind.WRONG if is_visible else Kind.CONTEXT,
        operators=int(is_partial.sum()),
        runs=len(runs),
        part=part,
    )


def _have_varying_shapes(operators: OperatorRows, ran: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the rows whose node had different shapes in different runs.

    The mask has shape (operators,), and `ran` has shape (operators, runs). A node has one row for
    each of its shapes. If the same number of these rows ran in every run, but never all of them,
    the shapes differed between runs. If the number differs, some rows just did not run. Kernels
    have no shapes.
    """
    of_profile = operators.profile.operators
    keys = (of_profile.scope, of_profile.name, of_profile.type)
    nodes = np.zeros(len(ran), np.int64)
    for key in keys:
        nodes, _ = numbered(nodes * (len(key.categories) + 1) + key.codes + 1)
    counts = np.zeros((int(nodes.max()) + 1, ran.shape[1]), np.int64)
    np.add.at(counts, nodes, ran)
    is_regular = (counts == counts[:, :1]).all(axis=1) & (np.bincount(nodes) > counts[:, 0])
    is_kernel = of_profile.level.where(one == KERNEL for one in of_profile.level.categories)
    return np.asarray(is_regular[nodes] & ~is_kernel)


def other_side_findings(table: Table, columns: Collection[str]) -> Iterator[Finding]:
    """Yield a finding on each of `columns` whose rows leave out values of the other side.

    Rows and groups have the operators with a time on the side of the table. In the device table,
    sums of host times therefore leave out operators that only ran on the host.
    """
    if not len(table.without_times):
        return
    if table.query.grouped:
        yield from _times_of_other_side(table, columns)
    side = MEASURES[table.query.measure].side
    for name in _COLUMNS_WITHOUT_SIDE:
        if name not in columns:
            continue
        amounts = np.nan_to_num(table.shown.of_all_operators(name))
        left_out, total = (
            float(np.maximum(values, 0).sum()) for values in (amounts[table.without_times], amounts)
        )
        if left_out > 0:
            yield Finding.of(
                *("other-side-amount", Kind.INCOMPLETE),
                column=name, side=side, part=left_out / total,
            )  # fmt: skip


def _times_of_other_side(table: Table, columns: Collection[str]) -> Iterator[Finding]:
    """Yield a finding on each column of times whose groups leave out times of the other side."""
    side, profile = MEASURES[table.query.measure].side, table.shown.profile
    for name, measure in _COLUMNS.items():
        if name not in columns or measure.side == side:
            continue
        times_s = profile.measured(measure.name)
        left_out = np.zeros(len(times_s), np.bool_)
        left_out[table.without_times] = ~np.isnan(times_s[table.without_times]).all(axis=1)
        left_out_s = totals_of_chosen(times_s, left_out, profile.totals_s(measure.name))
        total_s = np.nansum(profile.totals_s(measure.name))
        share = float(np.nansum(left_out_s) / total_s) if total_s > 0 else np.nan
        if share > 0:
            yield Finding.of(
                *("other-side-times", Kind.INCOMPLETE),
                share=share, column=name, side=side, other_side=measure.side, part=share,
            )  # fmt: skip

"""The columns that need a baseline; their formulas are in `comparison/formulas.py`."""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.columns.column import AGGREGATED, FORMULA, SAME, Column
from profile_analyze.columns.wording import shapes_text

_column = partial(Column, needs_base=True)

_same = partial(_column, of_groups=SAME)
"""Declares a column that groups compute in the same way as operators."""

_digits = partial(_same, shown_as="digits")
"""Declares a column as `_same` does, but its values are shown as 1.07 instead of 107%."""

_of_runs = partial(_digits, unit="1", needs_times=True)
"""Declares a column that a test computes from the times of the runs."""

_base_work = partial(_column, of_groups=AGGREGATED)
"""Declares a column with an amount of work in the baseline, such as its MACs."""

_work_difference = partial(_same, signed=True)
"""Declares a column with a difference between the work of both sides. If only one side has an
operator, its whole work counts as difference."""

OUTCOMES: Final = frozenset(
    {
        *("difference", "absolute_difference", "change", "ratio", "ratio_low", "ratio_high"),
        *("relative_ratio", "relative_low", "relative_high", "p_value", "test", "verdict"),
        *("runs_needed", "ratio_per_work", "ratio_per_work_low", "ratio_per_work_high"),
    }
)
"""The columns that say how the time of an operator changed."""

_per_work = partial(_digits, unit="1")
"""Declares a column on the time per work."""

_base_shapes = partial(
    _column, unit="", kind="text", as_text=shapes_text, has_order=False, worked="from the baseline"
)

_WORK: Final = (
    _base_work(
        "base_computation",
        "FLO",
        "computation in the baseline",
        timed=True,
        worked="as computation, in the baseline",
    ),
    _work_difference(
        "computation_difference",
        "FLO",
        "computation - base_computation; if only one side has an operator, all its computation "
        "counts as difference",
        worked="{computation} - {base_computation}",
    ),
    _base_work(
        "base_macs", "count", "macs in the baseline", timed=True, worked="as macs, in the baseline"
    ),
    _work_difference(
        "macs_difference",
        "count",
        "macs - base_macs; if only one side has an operator, all its macs count as difference",
        worked="{macs} - {base_macs}",
    ),
    _same(
        "absolute_macs_difference",
        "count",
        "macs_difference without its sign",
        worked="{macs_difference} without its sign",
    ),
    _base_work(
        "base_params", "count", "params in the baseline", worked="as params, in the baseline"
    ),
    _work_difference(
        "params_difference",
        "count",
        "params - base_params; if only one side has an operator, all its params count as "
        "difference",
        worked="{params} - {base_params}",
    ),
    _base_work(
        "base_memory",
        "byte",
        "memory in the baseline",
        timed=True,
        worked="as memory, in the baseline",
    ),
    _work_difference(
        "memory_difference",
        "byte",
        "memory - base_memory; if only one side has an operator, all its memory counts as "
        "difference",
        worked="{memory} - {base_memory}",
    ),
)

COLUMNS: Final = (
    _column(
        "base",
        "s",
        "the time in the baseline; each process counts once, with the median of its runs, unless "
        "`--unit` says otherwise",
        AGGREGATED,
        timed=True,
        measured=True,
        worked="as measured in the baseline",
    ),
    _same(
        "difference",
        "s",
        "time - base; if only one side has an operator, its whole time counts as difference",
        signed=True,
        worked="{time} - {base}",
    ),
    _same(
        "absolute_difference",
        "s",
        "the difference without its sign",
        worked="{difference} without its sign",
    ),
    _same(
        "change",
        "1",
        "(time - base) / base",
        signed=True,
        worked="({time} - {base}) / {base}",
    ),
    _digits(
        "ratio",
        "1",
        "time / base: above 1 is slower",
        worked="{time} / {base}; 95 % confidence interval {ratio_low} to {ratio_high}",
    ),
    _of_runs(
        "ratio_low",
        meaning="the lower end of the 95 % confidence interval of the ratio; N/A if "
        "`--correct-drift` changed the ratio",
        worked="by a rank-sum test; from {candidate_runs} and {baseline_runs}",
    ),
    _of_runs(
        "ratio_high",
        meaning="the upper end of the 95 % confidence interval of the ratio; N/A if "
        "`--correct-drift` changed the ratio",
        worked="by a rank-sum test; from {candidate_runs} and {baseline_runs}",
    ),
    _of_runs(
        "relative_ratio",
        meaning="how the time changed relative to all other operators: 1.1 means that the ratio is "
        "10 % above theirs; N/A if fewer than eight others have a time in each run",
        worked="the median ratio of {candidate_runs} to {baseline_runs}, with the time in each "
        "run divided by how slow the other operators were; 95 % confidence interval "
        "{relative_low} to {relative_high}",
    ),
    _of_runs(
        "relative_low",
        meaning="the lower end of the 95 % confidence interval of relative_ratio",
        worked="by a rank-sum test; from {candidate_runs} and {baseline_runs}",
    ),
    _of_runs(
        "relative_high",
        meaning="the upper end of the 95 % confidence interval of relative_ratio",
        worked="by a rank-sum test; from {candidate_runs} and {baseline_runs}",
    ),
    _of_runs(
        "p_value",
        meaning="how often a difference at least this large between the runs of the two sides "
        "occurs by chance, corrected for the number of rows",
        worked="by a permutation test of {candidate_runs} and {baseline_runs}, corrected for the "
        "number of rows; tested times: {test}",
    ),
    _same(
        "test",
        "",
        "the times that the verdict is based on: own (the row's own times), or relative (its times "
        "divided by how slow all other operators were in the same run, which removes the noise of "
        "whole runs)",
        kind="text",
        needs_times=True,
        worked="relative if the relative times have less than twice the noise of the own times, "
        "and if the row itself changed, not the others",
    ),
    _same(
        "verdict",
        "",
        "slower, faster, same, uncertain, more work, less work, added or removed; more work: "
        "slower and with more work, but the time per unit of work did not rise beyond noise and "
        "threshold; less work: faster and with less work, but the time per unit of work did not "
        "fall beyond noise and threshold; N/A with fewer than four runs on a side, unless the row "
        "was added or removed",
        kind="text",
        worked="from {test} times: ratio {ratio} ({ratio_low} to {ratio_high}), relative ratio "
        "{relative_ratio} ({relative_low} to {relative_high}), {p_value}, {threshold} and "
        "{ratio_per_work}; slower or faster if p_value is at most 0.05, the interval excludes 1, "
        "and the estimate (the median ratio over all pairs of runs, which may differ from the "
        "ratio) is at least 1 + threshold or at most 1 / (1 + threshold); same if the intervals "
        "are between these limits; more work or less work instead of slower or faster if the work "
        "changed in this direction, but the time per unit of work did not change "
        "beyond noise and threshold",
    ),
    _same(
        "runs_needed",
        "count",
        "the number of runs of each side that would settle an uncertain verdict in four of five "
        "comparisons, if the estimated change is right; N/A for other verdicts, and if the "
        "number is over 1,000",
        needs_times=True,
        worked="from the confidence interval, whose length shrinks with the square root of the "
        "number of runs",
    ),
    _column(
        "match",
        "",
        "what the operator has in common with its counterpart in the baseline: name, structure or "
        "shapes (see `--match`); added if only the profile has the operator, removed if only the "
        "baseline has it; for a group: both (operators on both sides), added or removed",
        FORMULA,
        kind="text",
        is_key=True,
        worked="by name and type, or else by structure, or else by shapes (--match)",
        worked_of_groups="by which sides have an operator of the group",
    ),
    _column(
        "base_name",
        "",
        "the name of the operator in the baseline, if that name is different; N/A otherwise",
        kind="text",
        worked="from the baseline",
    ),
    *_WORK,
    _base_shapes(
        "base_in_shapes", meaning="the shape of each input in the baseline", optional="in_shapes"
    ),
    _base_shapes(
        "base_out_shapes", meaning="the shape of each output in the baseline", optional="out_shapes"
    ),
    _digits(
        "work_ratio",
        "1",
        "the work divided by the work in the baseline: computation / base_computation, or "
        "memory / base_memory if compared_work is memory",
        worked="by {compared_work}: {computation} / {base_computation}, or {memory} / "
        "{base_memory}",
    ),
    _same(
        "compared_work",
        "",
        "the work that work_ratio compares: computation, or memory if the computation is unknown "
        "on either side or 0 on both sides; N/A if the memory is unknown, too; in a group, "
        "operators of unknown work are left out if they take at most 5 % of the time",
        kind="text",
        worked="computation if {computation} and {base_computation} are known and not both 0, or "
        "else memory if {memory} and {base_memory} are known",
    ),
    _per_work(
        "ratio_per_work",
        meaning="ratio / work_ratio: above 1, the same work takes longer than in the baseline",
        worked="{ratio} / {work_ratio}; 95 % confidence interval {ratio_per_work_low} to "
        "{ratio_per_work_high}",
    ),
    _per_work(
        "ratio_per_work_low",
        meaning="the lower end of the 95 % confidence interval of ratio_per_work",
        worked="{ratio_low} / {work_ratio}",
    ),
    _per_work(
        "ratio_per_work_high",
        meaning="the upper end of the 95 % confidence interval of ratio_per_work",
        worked="{ratio_high} / {work_ratio}",
    ),
)

"""Rules on an answer: groups, orders, and sums that are not what they seem to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.findings.rules.filters import groups_by
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words


def _split_by_labels(_: Words, *, labels: Sequence[str]) -> str:
    names = " and ".join(labels)
    return f"rows are split by {names}: medians and shares are over the runs with the same {names}"


def _split_by_runs(_: Words, *, keys: Sequence[str], parts: int) -> str:
    noun = keys[0] if len(keys) == 1 else "combination"
    return (
        f"rows are split by {' and '.join(keys)}: shares are relative to the total of all {parts} "
        f"{noun}s"
    )


def _idle_order(_: Words, *, column: str, of_host: bool, has_times: bool | None) -> str:
    advice = "; --order-by time ranks them" if has_times else ""
    if has_times is None:
        advice = "; the file has no times, so leave out --order-by to rank by work"
    return (
        f"{column} is N/A in all rows{' with host times' if of_host else ''}, so ordering by it "
        f"has no effect{advice}"
    )


def _no_scopes(_: Words, *, key: str, better: str) -> str:
    return (
        f"{key}: the profile has no scopes, so all operators are in one group; "
        f"{groups_by(better or 'type')}"
    )


def _group_of_unknown(words: Words, *, operators: int, key: str, condition: str) -> str:
    has, does, its = ("has", "does", "its") if operators == 1 else ("have", "do", "their")
    lacks = f"{has} no scope"
    advice = f"; --aggregate-by {key},type groups operators without a scope by type"
    if condition:
        lacks, advice = f"{does} not match {key}", f"; --where '{condition}' shows them"
    if "'" in condition:  # a quote inside would end the quotes around the condition
        advice = ""
    return f"{counted(operators, 'operator')}{words.sized} {lacks}: {its} group is N/A{advice}"


def _dominant_group(_: Words, *, key: str, group: str, part: float, better: str) -> str:
    return (
        f"{key}: '{group}' alone has {percent(part)} of the time: perhaps the names do not show "
        f"the layer; -t 0 without groups shows each operator{better and ', '}{groups_by(better)}"
    )


def _row_sum(_: Words, *, part: float, statistic: str, runs: int, in_some_runs: bool) -> str:
    noun = {"median": "median", "min": "minimum", "max": "maximum"}[statistic]
    over = f"the {runs} runs; with --run-stat mean, they add up to it"
    if in_some_runs:
        over = f"those of the {runs} runs in which the row ran"
    return f"all rows add up to {percent(part)} of the total: each time is the {noun} over {over}"


def _split_sum(_: Words, *, keys: Sequence[str], part: float) -> str:
    return (
        f"rows are split by {' and '.join(keys)}: operators that ran on several tracks at once "
        f"count on each, so all rows add up to {percent(part)} of the total; shares are relative "
        "to this sum"
    )


RULES: Final = (
    Rule("split-by-labels", "rows are split by labels", _split_by_labels),
    Rule("split-by-runs", "rows are split by run, file, step or rank", _split_by_runs),
    Rule(
        "total-of-measure",
        "shares are relative to the total of a measure other than the time",
        "shares are relative to the total {measure}, {total_s:time}",
    ),
    Rule(
        "no-first-kernels",
        "a table of times to the first kernel has none",
        "no operator has a {measure}: the profile does not say when the first kernel of an "
        "operator started; --top-end-key end shows the time to the end of each operator",
    ),
    Rule("idle-order", "the column that orders the rows is N/A in all of them", _idle_order),
    Rule(
        "unranked-rows",
        "the column that orders the rows is N/A for most of the time",
        "{column} is N/A for {operators:operator}{size}; rows with N/A come last; --order-by time "
        "ranks them, too",
        threshold="half of the time",
    ),
    Rule("no-scopes", "the rows are grouped by scopes, but the profile has none", _no_scopes),
    Rule("group-of-unknown", "a group key is N/A for operators", _group_of_unknown),
    Rule(
        "dominant-group",
        "a pattern puts nearly all of the time into one group",
        _dominant_group,
        threshold="95% of the time",
    ),
    Rule(
        "row-sum",
        "the times of all rows do not add up to the total",
        _row_sum,
        threshold="5% of the total",
    ),
    Rule("split-sum", "splitting rows makes their times add up to more", _split_sum),
    Rule(
        "shape-sets",
        "runs have different input shapes, so rows cover only some of the runs",
        "the runs have {sets} sets of input shapes: a row covers only the runs with its shapes, "
        "and its share is relative to the totals of these runs, so all shares add up to "
        "{part:percent}; --aggregate-by name joins the shapes, --aggregate-by run shows each run, "
        "and --skip-runs N leaves out the first runs",
        threshold="shares add up to 105%",
    ),
    Rule(
        "partial-rows",
        "operators ran in only some of the runs",
        "{operators:operator} ran in only some of the {runs} runs: the times and the share of a "
        "row are of the runs in which it ran, so all shares add up to {part:percent}; "
        "--aggregate-by run shows each run",
        threshold="shares add up to 105%",
    ),
    Rule(
        "other-side-amount",
        "rows leave out an amount, such as memory, of operators on the other side",
        "{column}: left out operators without a {side} time, {part:percent} of the sum; --order-by "
        "{column} shows them, too",
    ),
    Rule(
        "other-side-times",
        "groups leave out times of operators on the other side",
        "{column}: the groups of the {side} table leave out operators without a {side} time, "
        "{part:percent} of the {other_side} time; --print-only {other_side} shows all",
    ),
)

"""Rules on runs, levels and parts of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words

_BY_NAME: Final = "--aggregate-by name"
_DIFFERENT_KINDS: Final = "different kinds of file"
_LEVEL_WITH: Final = {
    "kernel": ("kernel", "--level kernel has them"),
    "runtime": ("call into the driver", "no level has them"),
    "operator": ("operator", "--level operator has them"),
}
"""For each kind of execution: a noun, and which level has these executions."""


def per_run(words: Words, total_s: float, runs: int, kind: str = "") -> str:
    """Return the mean time of a run: `63.3 ms per run on average`; for one run, `63.3 ms`.

    `total_s` is the time of all `runs`. The summary usually has medians instead. `kind`, such as
    ` of host time`, follows the number.
    """
    return f"{words.time(total_s / runs)}{kind}{' per run on average' if runs > 1 else ''}"


def some_have_scopes(which: str, others: str, *, several: bool = False) -> str:
    """Return that `which` has scopes and `others` lack them, and what this means.

    `several` says whether `which` names several things.
    """
    return (
        f"only {which} {'have' if several else 'has'} scopes, so an operator of {others} may be "
        f"several operators of {which}"
    )


def _first_and_more(files: Sequence[str]) -> str:
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else files[0]


def _few_shared_operators(
    _: Words,
    *,
    shared: int,
    operators: int,
    runs: int,
    kinds: str,
    scoped: Sequence[str],
    others: Sequence[str],
    describes_model: bool,
) -> str:
    """Return that few operators are in all runs.

    `scoped` and `others` are the files whose operators have scopes, and the files whose operators
    lack them; empty if scopes are not the reason.
    """
    how_many = f"only {shared}" if shared else "none"
    found = f"{how_many} of {operators} operators are in all {runs} runs"
    if scoped:
        which, without = _first_and_more(scoped), _first_and_more(others)
        reason = some_have_scopes(which, without, several=len(scoped) > 1)
        return f"{found}: {reason}; {_BY_NAME} counts each name once"
    advice = "--aggregate-by file shows each file on its own"
    if kinds == _DIFFERENT_KINDS and describes_model:
        advice = f"if one of them describes the model that ran, name it after --model; {advice}"
    return f"{found}: these look like {kinds}, so the totals make no sense; {advice}"


def _operators_in_some_runs(
    _: Words, *, missing: int, rows: int, level: str, runs: int, is_default: bool
) -> str:
    option = "" if is_default else f" (--level {level})"
    return f"{missing} of {rows} {level}s{option} are in only some of the {runs} runs"


def _waiting_ranks(
    words: Words,
    *,
    collective: str,
    waited_s: float,
    runs: int,
    part: float,
    calls: int,
    slowest: int,
    last: int,
) -> str:
    return (
        f"{collective}: ranks waited {per_run(words, waited_s, runs)} for the slowest rank "
        f"({percent(part)} of the time of {counted(calls, 'call')}), which was rank {slowest} in "
        f"{last} of them"
    )


def _graph_launches(words: Words, *, launches: int, kernels: int) -> str:
    return (
        f"{counted(launches, 'graph launch', 'graph launches')} "
        f"{'holds' if launches == 1 else 'hold'} {counted(kernels, 'kernel')}{words.sized}; "
        "--level kernel shows them"
    )


def _time_between(words: Words, *, between_s: float, runs: int, has_operators: bool) -> str:
    advice = (
        "--level operator leaves this time out"
        if has_operators
        else "the profile has no operators; record them, too"
    )
    return (
        f"modules and regions took {per_run(words, between_s, runs)}{words.sized} outside of all "
        f"operators, for example in Python code; {advice}"
    )


def _without_owner(
    words: Words,
    *,
    what: Literal["kernel", "runtime", "operator"],
    executions: int,
    total_s: float,
    runs: int,
    on_host: bool,
    owner: str,
    is_launched: bool,
) -> str:
    noun, advice = _LEVEL_WITH[what]
    in_runs = f" in {runs} runs" if runs > 1 else ""
    time = per_run(words, total_s, runs, " of host time" if on_host else "")
    if what != "kernel":
        why = f"that ran outside of all {owner}s"
    else:
        why = f"that no {owner} launched" if is_launched else "whose launch is not in the file"
    return f"left out {counted(executions, noun)}{in_runs}, {time}{words.sized}, {why}; {advice}"


def _only_steps(_: Words, *, steps: str, is_one: bool, left_out: int) -> str:
    return f"only {'step' if is_one else 'steps'} {steps}; left out {counted(left_out, 'run')}"


def _window(
    words: Words, *, from_s: float, to_s: float | None, inside: int, executions: int
) -> str:
    to = " on" if to_s is None else f" to {words.time(to_s)}"
    window = f"from {words.time(from_s)}{to}"
    return f"only what happened {window}: {inside} of {counted(executions, 'execution')}"


def _scopes_on_one_side(_: Words, *, side: str) -> str:
    other = "baseline" if side == "profile" else "profile"
    return (
        f"{some_have_scopes(f'the {side}', f'the {other}')}, of which at most one is matched; "
        f"{_BY_NAME} compares them by name"
    )


RULES: Final = (
    Rule("scopes-on-one-side", "only one side of a comparison has scopes", _scopes_on_one_side),
    Rule(
        "skipped-runs",
        "--skip-runs leaves out runs",
        "left out {runs:run}, the first {first} of each process",
    ),
    Rule(
        "conflicting-work",
        "runs disagree on the computation or memory of operators",
        "the runs disagree on computation or memory of {operators:operator}, and the first known "
        "value is used; if the runs differ in dtype, batch size or model, name those of one kind "
        "after --compare",
    ),
    Rule(
        "files-named-again",
        "files are named several times",
        "files named again: {files}; totals count a run each time that it is named, verdicts count "
        "it once; name each run once",
    ),
    Rule(
        "probable-copies",
        "files have exactly the times of another file",
        "probably copies: {files:file} with exactly the times of another; totals count copies, "
        "verdicts do not; name each run once",
    ),
    Rule(
        "few-shared-operators",
        "few operators are in all runs",
        _few_shared_operators,
        threshold="half of the operators; two builds of one graph share more",
    ),
    Rule("operators-in-some-runs", "operators are in some runs only", _operators_in_some_runs),
    Rule(
        "incomplete-ranks",
        "runs lack executions of some ranks",
        "{incomplete} of {runs:run} lack executions of some of the {ranks} ranks, so their times "
        "are too short; record the same steps on each rank",
    ),
    Rule("waiting-ranks", "ranks wait for the slowest rank of a collective", _waiting_ranks),
    Rule("graph-launches", "one launch starts a whole graph of kernels", _graph_launches),
    Rule(
        "no-modules",
        "most of the time is in operators without a scope, so no module has it",
        "{operators:operator}{size} {operators:has/have} no scope: the profile has hardly any "
        "modules, only steps or regions; record modules, too (for PyTorch, with with_stack=True); "
        "until then, group operators by type and shapes instead: --level operator --aggregate-by "
        "type,in_shapes",
    ),
    Rule("time-between-operators", "modules take time outside of all operators", _time_between),
    Rule("without-owner", "executions belong to no row of the level", _without_owner),
    Rule(
        "outside-regions",
        "operators ran outside of all regions that --step-region names",
        "{executions:execution}{size} of operators outside of all regions {region}: each counts in "
        "the iteration before it, or else in the first iteration",
    ),
    Rule("only-steps", "--step chooses steps", _only_steps),
    Rule("window", "--from or --to chooses a window of time", _window),
    Rule(
        "clipped-executions",
        "executions reach over the edge of the window",
        "clipped {executions:execution}{size} at the edges of the window",
    ),
    Rule(
        "unknown-starts",
        "executions have no start time, so a window cannot have them",
        "left out {executions:execution} without a start time",
    ),
    Rule(
        "runs-partly-inside",
        "runs are only partly inside the window",
        "left out {runs:run} {runs:that is/that are} only partly inside the window: times are of "
        "whole runs",
    ),
    Rule(
        "window-without-whole-run",
        "the window has no whole run",
        "the window has parts of {runs} runs, but no whole run: times combine these parts; choose "
        "a window with a whole run, or inside of one run",
    ),
)

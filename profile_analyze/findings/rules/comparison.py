"""Rules on the two sides of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted, p_text, percent, small_percent, three_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from profile_analyze.findings.rule import Says, Words
    from profile_analyze.model.findings import Finding

_SAME_RUNS: Final = "the same runs are compared with themselves"
_MEASURED: Final = "the summary and all verdicts are as measured"


class Reason(NamedTuple):
    """Why a change between the two sides means nothing, in words."""

    found: str
    """What shows this, with numbers, such as `only 3 of 90 operators matched`."""
    meaning: str
    """What this probably means, such as `these look like different models`."""
    advice: str

    def __str__(self) -> str:
        return f"{self.found}: {self.meaning}"


def reason_of(finding: Finding) -> Reason:
    """Return the words for the finding of a `comparison.notes.Mismatch`."""
    return _REASONS[finding.code](**dict(finding.values))


def _same_runs(
    *, named: Sequence[str], copies: Sequence[tuple[str, str]], processes: int
) -> Reason:
    parts = []
    if named:
        parts.append(f"{counted(len(named), 'file')} on both sides, such as {named[0]}")
    if processes == len(copies) == 1:
        parts.append(f"{copies[0][0]} has exactly the times of {copies[0][1]} of the baseline")
    elif copies:
        others = "a file" if len(copies) == 1 else "files"
        parts.append(
            f"{len(copies)} of {processes} files with exactly the times of {others} of the "
            f"baseline, such as {' and '.join(copies[0])}"
        )
    meaning = f"probably copies, so {_SAME_RUNS}" if copies else _SAME_RUNS
    return Reason(", and ".join(parts), meaning, "name other files for one side")


def _unlike_runs(*, side: str, kinds: str) -> Reason:
    return Reason(
        f"the runs of the {side} have few operators in common",
        f"these look like {kinds}",
        "name runs of one model on each side",
    )


def _other_iterations(*, part: float, factor: float) -> Reason:
    times = f"{factor:.0f}" if float(factor).is_integer() else three_digits(factor)
    return Reason(
        f"operators with {percent(part)} of the time were called "
        f"{times} times as often in a run as in the baseline",
        "the sides probably have different numbers of iterations in a run",
        "record equally many iterations on both sides; if both sides have a module or region for "
        "each iteration, --step-region NAME makes each execution of it a run",
    )


def _few_matches(
    *,
    matched: int | None,
    counted_operators: int,
    only_names: int,
    timed: bool,
    parts: Sequence[float],
    factor: float | None,
    several_formats: bool,
) -> Reason:
    """Return how few operators match. `matched` is None if no operator does, of any kind."""
    if matched is not None:
        found = _matches(matched, counted_operators, only_names, parts, timed=timed)
    elif several_formats:
        found = "no operator matches between the two formats"
    else:
        found = "no operator of the baseline was matched, so all are added or removed"
    if not several_formats:
        meaning = f"these {'are' if matched is None else 'look like'} different models"
        return Reason(found, meaning, "name profiles of the same model on both sides")
    if factor is None:
        advice = "check that both sides are of one model"
        return Reason(found, "these may be different models", advice)
    larger, smaller = ("profile", "baseline") if factor > 1 else ("baseline", "profile")
    return Reason(
        f"{found}, and a run of the {larger} computes {three_digits(max(factor, 1 / factor))} "
        f"times as much as a run of the {smaller}",
        "these are different models, or their inputs or iterations differ",
        "name profiles of one model, with equal inputs and equally many iterations in a run",
    )


def _matches(
    matched: int, operators: int, only_names: int, parts: Sequence[float], *, timed: bool
) -> str:
    """Return how few operators match, what share of the time they take, and what does not count."""
    few = f"only {matched}" if matched else "none"
    with_time = " with a device time" if timed else ""
    takes = ""
    if parts:
        ours, base = map(percent, parts)
        takes = f", with {ours} of the time and {base} of the time of the baseline"
    names = counted(only_names, "operator")
    nor = f", nor {names} with the same name but other shapes" if only_names else ""
    return (
        f"{few} of {counted(operators, 'operator')}{with_time} matched with the baseline{takes}, "
        f"not counting constants and other bookkeeping{nor}"
    )


_REASONS: Final[Mapping[str, Callable[..., Reason]]] = {
    "same-runs": _same_runs,
    "unlike-runs": _unlike_runs,
    "other-iterations": _other_iterations,
    "few-matches": _few_matches,
}


def _rule_on_mismatch(
    code: str, tests: str, says: Says | None = None, threshold: str = "", limits: str = ""
) -> Rule:
    """Return a rule in `_REASONS`. Without `says`, the sentence has no advice."""

    def brief(_: Words, **values: Any) -> str:
        return str(_REASONS[code](**values))

    def advice(_: Words, **values: Any) -> str:
        return _REASONS[code](**values).advice

    return Rule(code, tests, says or brief, threshold, limits, brief, advice)


def _other_iterations_note(_: Words, **values: Any) -> str:
    reason = _other_iterations(**values)
    return f"{reason}; {reason.advice}"


def _few_matches_note(_: Words, **values: Any) -> str:
    reason = _few_matches(**values)
    if values["several_formats"]:  # types of different formats are hardly ever equal
        return f"{reason}; {reason.advice}; --aggregate-by category compares them by kind"
    return f"{reason}; --aggregate-by type compares them by kind"


def _formats(names: Sequence[str]) -> str:
    """Return the formats of the files of a side: `A`, `A and B`, or `A, B and C`."""
    *others, last = names
    return " and ".join(filter(None, (", ".join(others), last)))


def _different_formats(_: Words, *, ours: Sequence[str], base: Sequence[str]) -> str:
    return (
        f"the two sides are of different formats: {_formats(ours)} in the profile, "
        f"{_formats(base)} in the baseline; their times may differ in kind"
    )


def _unmatched(
    _: Words,
    *,
    matched: int,
    added: tuple[int, float | None, int],
    removed: tuple[int, float | None, int],
    holds_graphs: bool,
) -> str:
    """Return how many operators match, and how many are on one side only.

    `added` and `removed` have the number of operators, their share of the time of their side, and
    how many of them have no time.
    """
    advice = "the column match says how"
    if holds_graphs:
        advice = "operators inside of a graph that runs as one node cannot match"
    return (
        f"{counted(matched, 'operator')} matched with the baseline, "
        f"{added[0]} added{_details(*added[1:], 'the time')}, "
        f"{removed[0]} removed{_details(*removed[1:], 'the time of the baseline')}"
        f"; {advice}"
    )


def _details(part: float | None, untimed: int, whole: str) -> str:
    """Return the share of `whole` that operators take, and how many have no time, in brackets."""
    of_time = f"{small_percent(part)} of {whole}" if part else ""
    without_time = f"{untimed} without a device time" if untimed else ""
    details = ", ".join(filter(None, (of_time, without_time)))
    return f" ({details})" if details else ""


def _corrected_drift(
    _: Words, *, least: float, most: float, change: tuple[float, ...] | None
) -> str:
    """Return how drift was corrected.

    `change` compares the levels of the two sides of a comparison: operators, operators that changed
    alike, ratio, its interval, p-value, and whether the difference is significant. Without
    statistics, it is empty.
    """
    text = (
        "times are corrected for drift: the times of each run are divided by its drift factor, "
        f"{least:.3g} to {most:.3g} (1 is the median run)"
    )
    return text if change is None else f"{text}; {_level_of_sides(change)}"


def _level_of_sides(change: tuple[float, ...]) -> str:
    if not change:
        return f"a change that all operators share is removed; {_MEASURED}"
    operators, agreeing, ratio, low, high, p_value, is_change = change
    hidden = "; the corrected times hide this difference" if is_change else ""
    return (
        f"by the level of {counted(int(operators), 'operator')}, the runs of the profile "
        f"took {three_digits(ratio)} times as long as the runs of the baseline (95 %: "
        f"{three_digits(low)} to {three_digits(high)}, {p_text(p_value)}; "
        f"{int(agreeing)} of these operators changed alike){hidden}; {_MEASURED}"
    )


def _no_drift_factors(_: Words, *, one_run: bool) -> str:
    many = "no operator has a long enough time in every run"
    return f"drift was not corrected: {'there is only one run' if one_run else many}"


RULES: Final = (
    _rule_on_mismatch("same-runs", "runs are on both sides of a comparison"),
    _rule_on_mismatch("unlike-runs", "the runs of a side have few operators in common"),
    _rule_on_mismatch(
        "other-iterations",
        "operators were called a whole number of times as often as in the baseline",
        _other_iterations_note,
    ),
    _rule_on_mismatch(
        "few-matches",
        "few operators of the two sides match",
        _few_matches_note,
        threshold="a quarter of the operators of the side with fewer of them; of operators whose "
        "names the runtime makes, half of the time, too",
        limits="whether two formats describe one model, if they name operators differently",
    ),
    Rule("different-formats", "the two sides are of different formats", _different_formats),
    Rule("unmatched-operators", "operators are on one side only", _unmatched),
    Rule(
        "parts-of-fused-layers",
        "the other side runs operators in fused layers",
        "the times of {operators:operator}{size} are added to other operators, because the other "
        "side runs them in fused layers",
    ),
    Rule("corrected-drift", "times are divided by the drift factor of their run", _corrected_drift),
    Rule("no-drift-factors", "drift cannot be corrected", _no_drift_factors),
    Rule(
        "unlike-drift",
        "operators did not change alike between the two sides, so drift is not corrected",
        "drift was not corrected: only {agreeing} of {operators:operator} changed alike between "
        "the two sides, so the times do not show how slow each run was",
        threshold="half of the operators",
    ),
)

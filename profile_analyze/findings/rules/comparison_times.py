"""Rules on the times of a comparison: few runs, a slower machine, odd runs, wall times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted, percent, three_digits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from profile_analyze.findings.rule import Words


def _few_runs_for_one_row(
    _: Words,
    *,
    runs: int,
    base_runs: int,
    units: str,
    rows: int,
    noun: str,
    are_all: bool,
    enough: int,
) -> str:
    which = f"just one of the {rows} {noun}s{'' if are_all else ' that take the least time'}"
    if rows == 1:
        which = f"the {noun} that takes the least time"
    return (
        f"{runs} {units} and {base_runs} of the baseline are too few to show a change of {which}, "
        f"however large; {enough} on each side are enough"
    )


def _rows_without_verdict(words: Words, *, rows: int, noun: str, least: int, units: str) -> str:
    return (
        f"{counted(rows, noun)}{words.sized} without a verdict: a side has fewer than {least} "
        f"{units} with a time"
    )


def _shared_change(words: Words, *, operators: int, ratio: float, dtypes: tuple[Any, ...]) -> str:
    word = "slower" if ratio > 1 else "faster"
    cause = (
        f"either the machine was {word}, or all operators changed; profile both sides in turns to "
        "find out; --correct-drift removes the change that all operators share"
    )
    if dtypes:
        change, count, is_only = dtypes
        whose = "their dtype" if count == operators else f"the dtype of {count} of them"
        cause = f"probably because {whose} changed ({'' if is_only else 'mostly '}{change})"
    return (
        f"{counted(operators, 'operator')}{words.sized} are {word} by similar ratios, with a "
        f"median of {three_digits(ratio)}: {cause}"
    )


def _drifting_runs(
    words: Words, *, sum_s: float, difference_s: float, least: float, most: float, by_dtype: bool
) -> str:
    advice = (
        "; --correct-drift removes such differences between runs from the rows of tables, but not "
        "from the summary"
    )
    return (
        f"the differences of the operators add up to {_signed(words, sum_s)}, but the total "
        f"differs by {_signed(words, difference_s)}: some runs were slower or faster as a whole "
        f"({three_digits(least)} to {three_digits(most)} times as long as the median run), so "
        f"differences of medians do not add up{'' if by_dtype else advice}"
    )


def _signed(words: Words, time_s: float) -> str:
    return f"{'+' if time_s > 0 else ''}{words.time(time_s)}"


def _odd_runs(_: Words, *, first: Sequence[tuple[str, float]], runs: int) -> str:
    named = ", ".join(f"{name} took {three_digits(factor)}" for name, factor in first)
    side, them = ("its side", "it") if runs == 1 else ("their sides", "them")
    others = runs - len(first)
    more = f", and {others} more {'is' if others == 1 else 'are'} odd" if others else ""
    return f"{named} times the median of {side}{more}: find out why, or leave {them} out"


_DOUBTS: Final = {
    "": "",
    "few runs": " (there are few runs, so noise may be the reason)",
    "noise": " (wall times vary more than that, so noise may be the reason)",
}


def _only_runs_changed(
    words: Words, *, operators: float, runs: float, doubt: str, **look: Any
) -> str:
    sign = "+" if operators > 0 else ""
    return (
        f"operators take about as long as in the baseline ({sign}{percent(operators)}), but a "
        f"whole run takes {percent(abs(runs))} {'less' if runs < 0 else 'more'}{_DOUBTS[doubt]}: "
        f"{_where_to_look(words, **look)}; verdicts are on operators only"
    )


def _runs_unlike_operators(
    words: Words,
    *,
    operators: float,
    operators_s: float,
    runs: float,
    runs_s: float,
    opposite: bool,
    doubt: str,
    **look: Any,
) -> str:
    """Return how the times changed: in percent if they changed in opposite directions."""
    less, more = ("less", "more") if operators < 0 else ("more", "less")
    if opposite:
        text = (
            f"operators take {percent(abs(operators))} {less} time than in the baseline, but a "
            f"whole run takes {percent(abs(runs))} {more}"
        )
    else:
        only = f"only {words.time(abs(runs_s))} {less}"
        if operators * runs <= 0:
            only = f"{words.time(abs(runs_s))} {more}" if runs_s else "as long"
        text = (
            f"operators take {words.time(abs(operators_s))} {less} than in the baseline, but a "
            f"whole run takes {only}"
        )
    return (
        f"{text}{_DOUBTS[doubt]}: {_where_to_look(words, **look)}; verdicts are on operators only"
    )


def _where_to_look(
    words: Words,
    *,
    look: str,
    explained_on: str | None,
    times_s: Sequence[float],
    parts: Sequence[float],
    **_: float,
) -> str:
    """Return where the reason may be."""
    ours, base = map(words.time, times_s) if times_s else ("", "")
    if look == "host":
        return (
            f"operators take {ours} of a run on the host, instead of {base}; --show-host shows "
            "host times"
        )
    if look == "outside":
        is_idle = explained_on == "device"
        where = "without work of the device" if is_idle else "outside of operators"
        return f"{ours} of a run is {where}, instead of {base}; find out what happens there"
    if look == "rest":
        where = "" if explained_on is None else " on the device"
        return (
            f"operators take only {percent(parts[0])} of a run{where} ({percent(parts[1])} in the "
            "baseline); find out what takes the rest"
        )
    return "find out how far operators overlap, and what happens between them"


RULES: Final = (
    Rule(
        "few-runs",
        "a side has too few runs for verdicts",
        "verdicts are N/A: they need {least} {units} or more on each side; the profile has {runs}, "
        "the baseline {base_runs}; with so few, large differences often occur by chance",
        threshold="4 runs; three against three never give p < 0.1",
    ),
    Rule(
        "few-runs-for-one-row",
        "the runs are too few to show a change of a single row",
        _few_runs_for_one_row,
        threshold="the smallest p that is possible, corrected for all rows",
    ),
    Rule("rows-without-verdict", "rows have times in too few runs", _rows_without_verdict),
    Rule(
        "shared-change",
        "nearly all operators changed in one direction by a similar ratio",
        _shared_change,
        threshold="3% of the baseline",
        limits="whether the machine was slower, or all operators changed",
    ),
    Rule(
        "drifting-runs",
        "whole runs were slow or fast, so that differences of medians do not add up",
        _drifting_runs,
        threshold="3% of the baseline",
    ),
    Rule(
        "odd-runs",
        "runs took far longer or shorter than the other runs of their side",
        _odd_runs,
        threshold="1.25 times the median, and 5 robust standard deviations",
    ),
    Rule(
        "only-runs-changed",
        "the wall time changed, but the times of the operators did not",
        _only_runs_changed,
        threshold="1%, the threshold of verdicts, and noise; with few runs, 10%",
    ),
    Rule(
        "runs-unlike-operators",
        "the wall time changed in the opposite direction as the operators, or hardly",
        _runs_unlike_operators,
        threshold="half of the change of the operators, beyond noise",
    ),
)

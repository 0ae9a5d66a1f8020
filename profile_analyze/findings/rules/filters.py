"""Rules on filters: what they leave out, and what to write if they keep nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profile_analyze.advice.conditions import advice_on_missing
from profile_analyze.advice.names import did_you_mean
from profile_analyze.findings.rule import Rule
from profile_analyze.units import SCALED, base_unit_name, counted, percent, scaled_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words

_LONGEST_EXAMPLE: Final = 40  # characters
_REASONS: Final = {
    "wildcards": "* repeats the character before it",
    "literal": "special characters need a backslash",
    "anywhere": "it must match from the start of a name",
    "case": "case matters",
}


def _meant(
    reasons: Sequence[str],
    meant: Sequence[str],
    examples: Sequence[str],
    known: int,
    renaming: str = "",
    operator: str = "",
) -> str:
    """Return what to write instead of a text that matches nothing: see `query.meant.Meant`."""
    why = ", ".join(
        f"{operator} compares the whole text" if one == "whole" else _REASONS[one]
        for one in reasons
    )
    advice = did_you_mean(meant) or _examples(examples, known)
    return "; ".join(filter(None, (why, advice, renaming)))


def _examples(examples: Sequence[str], known: int) -> str:
    """Return the first texts and the number of others, as in `there are a, b, c and 4 more`."""
    more = known - len(examples)
    first = ", ".join(
        one if len(one) <= _LONGEST_EXAMPLE else f"{one[:_LONGEST_EXAMPLE]}..." for one in examples
    )
    if known < 2:
        return f"there is only {first}" if examples else "there is none"
    return f"there are {first}{f' and {more} more' if more > 0 else ''}"


def _value_advice(_: Words, *, column: str, operator: str, value: str, **meant: Any) -> str:
    """Return what to write instead. `meant` has the condition, too, which is not needed."""
    meant.pop("condition", None)
    if missing := advice_on_missing(column, value, is_text=True):
        return "; ".join(filter(None, (missing, meant["renaming"])))
    return _meant(**meant, operator=operator)


def _unmatched_value(words: Words, *, condition: str, operator: str, **values: Any) -> str:
    advice = _value_advice(words, operator=operator, **values)
    # `!=` and `!~` select all operators with a known value.
    if operator.startswith("!"):
        return f"{condition}: excludes only N/A, because no operator has this value; {advice}"
    return f"{condition}: no operator has this value; {advice}"


def _unmatched_name(_: Words, *, pattern: str, **meant: Any) -> str:
    return f"the pattern '{pattern}' matches no name; {_meant(**meant)}"


def _unmatched_key(_: Words, *, key: str, column: str, better: str, **meant: Any) -> str:
    other_key = better and f"; {groups_by(better)}"
    return f"{key}: the pattern matches no {column}; {_meant(**meant)}{other_key}"


def groups_by(key: str) -> str:
    """Return how to group layers by a key; empty for no key."""
    what = {"scope": "module", "out_shapes": "stage", "type": "type"}
    return key and f"--aggregate-by {key} groups by {what[key]}"


def _wildcards(_: Words, *, pattern: str, meant: str) -> str:
    return (
        f"{pattern}: in a regular expression, * repeats the character before it; "
        f"{did_you_mean([repr(meant)])}"
    )


def _unknown_type(
    _: Words,
    *,
    type: str,  # noqa: A002  # the name of the column
    rows_level: str | None,
    level: str,
    other: str,
    pattern: str,
    meant: Sequence[str],
    common: Sequence[str],
) -> str:
    if level and not other:
        text = f"no row of level {rows_level} has it; it is a type at --level {level}"
        return f"type {type}: {text}"
    advice = "no operator has a type"
    if "," in type:
        advice = "repeat --type for each type"
    elif pattern:
        condition = f"--where 'type ~ {pattern}'"
        advice = f"--type takes a whole name; {did_you_mean([condition])}"
    elif meant:
        advice = did_you_mean(meant)
    elif other:
        advice = f"{other} is a type at --level {level}"
    elif common:
        advice = f"the most frequent are {', '.join(common)}"
    return f"type {type}: the profile has no such operator; {advice}"


def _unmatched_dtype(
    _: Words, *, dtype: str, meant: Sequence[str], known: Sequence[str], option: str
) -> str:
    advice = did_you_mean(meant) or f"the known dtypes are {', '.join(known)}"
    rate = option and f"; {option} chooses the peak rate of {dtype.lower()}"
    return f"input dtype {dtype}: no input is known to have it; {advice}{rate}"


def _unjudged_rows(words: Words, *, rows: int, noun: str, texts: bool, **_: Any) -> str:
    unknown = "N/A or a text" if texts else "N/A"
    return f"left out {counted(rows, noun)}{words.sized} where the value is {unknown}"


def _unjudged_condition(words: Words, *, condition: str, **values: Any) -> str:
    return f"{condition}: {_unjudged_rows(words, **values)}"


def _nothing_matches(
    words: Words, *, rows: int, noun: str, side: str, untimed: int, inside: bool
) -> str:
    timed = side and f" with a {side} time"
    text = f"none of {counted(rows, noun)}{timed} matches"
    if rows == 1:
        text = f"the only {noun}{timed} does not match"
    others = _untimed(words, untimed=untimed, inside=inside, side="")
    return f"{text}; {others}" if untimed else text


def _untimed(_: Words, *, untimed: int, inside: bool, side: str, **_others: Any) -> str:
    """Return that operators without a time would match."""
    time = f"a {side} time" if side else "such a time"
    clause = f"{counted(untimed, 'operator')} without {time} would match"
    return f"{clause}; --level top adds the times of the operators inside" if inside else clause


def _no_times(words: Words, **values: Any) -> str:
    return f"{_without_times(words, **values)}; {_advice_on_times(**values)}"


def _without_times(_: Words, *, side: str, whose: str, **_others: Any) -> str:
    """Return that no operator, or no operator of a side of a comparison, has a time."""
    return f"no operator{f' of the {whose}' if whose else ''} has a {side} time"


def _advice_on_times(*, side: str, others: int, on_cpu: bool, **_: Any) -> str:
    """Return what to do if no operator has a time on `side`, but `others` have on the other."""
    other = "host" if side == "device" else "device"
    if on_cpu:
        return f"the profile is of a CPU, so all times are {other} times; use --print-only {other}"
    have = "has" if others == 1 else "have"
    shown = (
        f"{counted(others, 'operator')} {have} a {other} time; --print-only {other} shows these "
        "times, or "
    )
    return f"{shown if others else ''}profile again with {side} times"


def _one_side_without_times(words: Words, **values: Any) -> str:
    return f"differences and verdicts of device times are N/A: {_no_times(words, **values)}"


def _closest(words: Words, *, largest: bool, closest: float | None, unit: str) -> str:
    """Return which value comes closest to meeting a condition; empty if it is None."""
    if closest is None:
        return ""
    text = scaled_text(closest, unit) if unit in SCALED else f"{closest:.6g}"
    if unit == "s":
        text = words.time(closest)
    elif unit == "%":
        text = percent(closest)
    return f"the {'largest' if largest else 'smallest'} value is {text}"


def _number_advice(
    words: Words,
    *,
    value: str,
    bound: float,
    assumed_unit: str,
    meets_all: bool,
    meant: str,
    noun: str,
    for_groups: bool,
    largest: bool,
    closest: float | None,
    unit: str,
    **_: Any,
) -> str:
    nearest = _closest(words, largest=largest, closest=closest, unit=unit)
    if not assumed_unit:
        of_groups = "; --having selects groups" if for_groups else ""
        return f"no {noun} meets this; {nearest}{of_groups}"
    read_as = f"{value} {base_unit_name(assumed_unit)}"
    if assumed_unit == "1":
        read_as = percent(bound)
    means = f"{value} means {read_as}, which {'every' if meets_all else 'no'} {noun} meets"
    return "; ".join(filter(None, (means, did_you_mean([meant]) if meant else nearest)))


def _unmatched_number(words: Words, *, condition: str, limit_s: float | None, **values: Any) -> str:
    limit = "" if limit_s is None else f" {words.time(limit_s)}"
    return f"{condition}{limit}: {_number_advice(words, **values)}"


def _unknown_parameter(_: Words, *, name: str, known: Sequence[str]) -> str:
    if not known:
        return f"{name}: the profile has no parameters of operators"
    return f"{name}: no operator has it; the parameters are {', '.join(known)}"


RULES: Final = (
    Rule(
        "unmatched-value",
        "no value of a column meets a condition on texts",
        _unmatched_value,
        brief=_value_advice,
    ),
    Rule("unmatched-name", "the pattern of --opr-name matches no name", _unmatched_name),
    Rule("unmatched-key", "the pattern of a group key matches nothing", _unmatched_key),
    Rule(
        "wildcards",
        "a pattern looks like a name with the wildcards of a shell",
        _wildcards,
    ),
    Rule("unknown-type", "no operator has a type that --type names", _unknown_type),
    Rule("unmatched-dtype", "no input has the dtype of --input-dtype", _unmatched_dtype),
    Rule(
        "unjudged-dtype",
        "--input-dtype leaves out operators with an input of unknown dtype",
        "input dtype {dtype}: left out {operators:operator}{size} with an input of unknown dtype",
    ),
    Rule(
        "unjudged-condition",
        "a condition leaves out rows whose value is N/A",
        _unjudged_condition,
        brief=_unjudged_rows,
    ),
    Rule("nothing-matches", "no row passes all filters", _nothing_matches, brief=_untimed),
    Rule(
        "no-times",
        "no operator has a time on a side (device or host)",
        _no_times,
        brief=_without_times,
    ),
    Rule(
        "one-side-without-times",
        "only one side of a comparison has device times",
        _one_side_without_times,
    ),
    Rule(
        "unmatched-number",
        "a condition on numbers keeps no row, or keeps all because its number lacks a unit",
        _unmatched_number,
        brief=_number_advice,
    ),
    Rule("unknown-parameter", "no operator has a parameter of the question", _unknown_parameter),
)

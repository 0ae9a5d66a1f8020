"""Notes on filters that keep nothing or everything, with what the user probably meant."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import PatternError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.columns import PartOf
from profile_analyze.model.notes import Importance, Note
from profile_analyze.query.condition_advice import PATTERN_OF
from profile_analyze.query.patterns import SUGGESTION_LIMIT_S, finds, matches, meant_by_wildcards
from profile_analyze.suggestions import (
    LONGEST_ADVISED,
    MOST_SIMILAR_TEXTS,
    did_you_mean,
    similar_texts,
)
from profile_analyze.units import (
    SCALED,
    base_unit_name,
    counted,
    parse_quantity,
    percent,
    scaled_text,
    short_time,
    suitable_unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.table import Table

_NO_SUCH_VALUE: Final = "no operator has this value; "
_MOST_EXAMPLES: Final = 3
_LONGEST_EXAMPLE: Final = 40  # characters
_POSITIVE: Final = {"==": "==", "!=": "==", "~": "~", "!~": "~"}
"""For each operator on texts, the same operator without negation."""
_WHOLE_TEXT: Final = {pattern: whole for whole, pattern in PATTERN_OF.items()}
_ANY_CASE: Final = "(?i)"
_SPECIAL: Final = "brackets are special in a pattern"


def unmatched_value_notes(query: Query, operators: OperatorRows) -> Iterator[Note]:
    """Yield a note on each condition whose text or pattern matches no value of its column."""
    for condition in query.conditions:
        if condition.column.kind == "number" or condition.compares_numbers:
            continue
        values = distinct(operators[condition.column.name])
        if values and matches_none(condition, values):
            texts = list(map(condition.column.as_text, values))
            if "~" in condition.operator:
                advice = _advice_on_brackets(condition, texts) or advice_on_pattern(
                    condition.value, texts
                )
            elif shape := _meant_shape(condition.value, texts):
                advice = did_you_mean([shape])
            elif pattern := meant_pattern(condition.value, texts):
                operator = PATTERN_OF[condition.operator]
                better = f"'{condition.column.name} {operator} {pattern}'"
                advice = f"{condition.operator} compares the whole text; {did_you_mean([better])}"
            else:
                advice = _advice_on_text(condition.value, texts)
            advice += renaming_advice(operators.profile, condition.column.name)
            yield Note(f"{condition.text}: {_NO_SUCH_VALUE}{advice}", Importance.ANSWER)


def advice_on_last_condition(table: Table) -> str:
    """Return the advice in the note on the last condition, which no operator meets; often empty."""
    start = f"{table.query.conditions[-1].text}: {_NO_SUCH_VALUE}"
    return next(
        (f"; {one.removeprefix(start)}" for one in table.notes if one.startswith(start)), ""
    )


def wildcard_notes(query: Query) -> Iterator[Note]:
    """Yield a note on each pattern that looks like a name with wildcards of a shell: `conv*`."""
    keys = (key.of_operators for key in query.by_columns)
    conditions = (*query.conditions, *query.group_conditions)
    for before, pattern in (
        ("", query.name or ""),
        *((f"{key.column}~", key.pattern) for key in keys if isinstance(key, PartOf)),
        *(
            (f"{one.column.name} {one.operator} ", one.value)
            for one in conditions
            if "~" in one.operator
        ),
    ):
        if meant := meant_by_wildcards(pattern):
            yield Note(
                f"{before}{pattern}: in a regular expression, * repeats the character before it; "
                f"{did_you_mean([repr(before + meant)])}",
                Importance.ANSWER,
            )


def renaming_advice(profile: Profile, column: str) -> str:
    """Return what to append to a message on unknown values of `column`; often empty.

    If the runtime renames operators, users look for names that they know from the program.
    """
    renaming = profile.origin.renaming if column == "name" else ""
    return renaming and f"; {renaming}"


def _advice_on_brackets(condition: Condition, texts: Sequence[str]) -> str:
    """Return advice if a pattern has brackets that are meant as characters; otherwise empty.

    Names such as `conv[2241]` are often pasted as patterns.
    """
    pattern, name = condition.value, condition.column.name
    if len(pattern) > LONGEST_ADVISED:
        return ""
    if pattern in texts:
        better = f"'{name} {_WHOLE_TEXT[condition.operator]} {pattern}'"
        return f"{_SPECIAL}; {did_you_mean([better])}"
    escaped = re.sub(r"(?<!\\)([()\[\]])", r"\\\1", pattern)
    with suppress(PatternError):
        if any(finds(escaped, texts, limit_s=SUGGESTION_LIMIT_S)):
            better = f"'{name} {condition.operator} {escaped}'"
            return f"{_SPECIAL}; {did_you_mean([better])}"
    return ""


def _meant_shape(text: str, known: Sequence[str]) -> str:
    """Return the known shape with the sizes in `text`, such as `[1, 64]`; empty if none has them.

    Such a text is useless as a pattern, where brackets enclose a set of characters.
    """
    if len(text) > LONGEST_ADVISED or not re.fullmatch(r"[\[(]\d+(?:[\s,x]+\d+)*[\])]", text):
        return ""
    sizes = re.findall(r"\d+", text)
    return next(
        (one for one in known if "}, {" not in one and re.findall(r"\d+", one) == sizes), ""
    )


def meant_pattern(text: str, known: Sequence[str]) -> str:
    """Return the pattern that the user probably meant by `text`; empty if no pattern is likely.

    If `text` has wildcards or is a list, the pattern must find at least one known text. Otherwise,
    it must find more than `MOST_SIMILAR_TEXTS` texts: fewer texts can be suggested by name.
    """
    if not text or len(text) > LONGEST_ADVISED or "'" in text:
        return ""
    is_list = bool(re.fullmatch(r"[A-Za-z]\w*(?:\s*,\s*[A-Za-z]\w*)+", text))
    has_wildcards = bool(re.search(r"[*?+|^$]", text))
    least = 1 if is_list or has_wildcards else MOST_SIMILAR_TEXTS + 1
    if is_list:  # a list of texts, as in `conv,pool`
        text = re.sub(r"\s*,\s*", "|", text)
    for pattern in _wildcard_patterns(text) if has_wildcards else _part_patterns(text):
        with suppress(PatternError):
            if sum(finds(pattern, known, limit_s=SUGGESTION_LIMIT_S)) >= least:
                return pattern
    return ""


def _wildcard_patterns(text: str) -> Sequence[str]:
    """Return the patterns that a text with wildcards may mean. The most likely comes first."""
    parts = (re.escape(part).replace(r"\?", ".") for part in text.split("*"))
    glob = f"^{'.*'.join(parts)}$".removeprefix("^.*").removesuffix(".*$")
    return (glob, text, _ANY_CASE + glob) if glob else ()


def _part_patterns(text: str) -> Sequence[str]:
    """Return four patterns to try: `text`, `text` escaped, and both again with case ignored."""
    return text, re.escape(text), _ANY_CASE + text, _ANY_CASE + re.escape(text)


def matches_none(condition: Condition, values: Iterable[Any]) -> bool:
    """Return whether no value matches the text or pattern of a condition, ignoring negation."""
    positive = condition._replace(operator=_POSITIVE[condition.operator])
    with suppress(PatternError):  # the pattern may be too slow, and then there is no message
        return not any(positive.holds_for(values))
    return False


def number_notes(
    conditions: Iterable[Condition], rows: OperatorRows | GroupRows, candidates: NDArray[np.bool_]
) -> Iterator[Note]:
    """Yield a note on each condition on numbers that keeps no candidate.

    Conditions whose number has no unit also get a note if they keep all candidates.
    """
    noun = rows.query.kind.noun.removesuffix("s") if rows.query.grouped else "operator"
    for condition in conditions:
        if condition.column.kind != "number":
            continue
        values = rows[condition.column.name][candidates]
        known = values[~np.isnan(values)]
        holds = condition.holds_for_numbers(known)
        if not len(known) or _divides(holds):
            continue
        furthest = "" if holds.all() else _furthest(condition, known)
        if condition.assumed_unit and condition.bound != 0:
            unit = condition.assumed_unit
            in_base_units = f"{condition.value} {base_unit_name(unit)}"
            read_as = percent(condition.bound) if unit == "1" else in_base_units
            whether = "every" if holds.all() else "no"
            means = (
                f"{condition.text}: {condition.value} means {read_as}, which {whether} {noun} meets"
            )
            other = did_you_mean(_with_suitable_unit(condition, known)) or furthest
            yield Note(f"{means}; {other}" if other else means, Importance.ANSWER)
        elif furthest:
            yield Note(f"{condition.text}: no {noun} meets this; {furthest}", Importance.ANSWER)


def _furthest(condition: Condition, known: NDArray[np.float64]) -> str:
    """Return the value that is closest to meeting a condition, which no value meets."""
    if condition.operator in ("==", "!="):
        return ""
    if condition.operator in (">", ">="):
        return f"the largest value is {_value_text(condition, float(known.max()))}"
    return f"the smallest value is {_value_text(condition, float(known.min()))}"


def _value_text(condition: Condition, value: float) -> str:
    unit = condition.column.unit
    if unit == "s":
        return short_time(value)
    if unit in SCALED:
        return scaled_text(value, unit)
    is_share = unit == "1" and condition.column.shown_as == "percent"
    return percent(value) if is_share else f"{value:.6g}"


def _with_suitable_unit(condition: Condition, known: NDArray[np.float64]) -> list[str]:
    """Return the condition with a suitable unit; empty if it also keeps all values or no value."""
    assumed = condition.assumed_unit
    unit = "%" if assumed == "1" else suitable_unit(float(known.max()), assumed)
    bound = parse_quantity(condition.value + unit, assumed)
    better = condition._replace(bound=bound)
    if not _divides(better.holds_for_numbers(known)):
        return []
    return [f"{condition.column.name} {condition.operator} {condition.value}{unit}"]


def _divides(holds: NDArray[np.bool_]) -> bool:
    """Whether a condition keeps some values, but not all."""
    return bool(holds.any() and not holds.all())


def time_range_notes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Note]:
    """Yield a note if all operators are faster than `min_time_s` or slower than `max_time_s`."""
    times = operators["time"][operators.recorded]
    known = times[~np.isnan(times)]
    if len(selection.operators) or not len(known):
        return
    if query.min_time_s is not None and known.max() < query.min_time_s:
        longest = short_time(float(known.max()))
        yield Note(
            f"no operator took {short_time(query.min_time_s)}; the longest took {longest}"
            f"{_advice_on_minimum(query.min_time_s, known)}",
            Importance.ANSWER,
        )
    if query.max_time_s is not None and known.min() > query.max_time_s:
        shortest = short_time(float(known.min()))
        limit = short_time(query.max_time_s)
        yield Note(
            f"every operator took over {limit}; the shortest took {shortest}", Importance.ANSWER
        )


def _advice_on_minimum(minimum_s: float, times_s: NDArray[np.float64]) -> str:
    """Return the minimum with the unit that the user probably forgot, such as 1ms instead of 1.

    Empty if this minimum would also keep all times or none. It is also empty for a fraction of a
    second, which the user may have written with a unit, such as 10ms.
    """
    if minimum_s < 1:
        return ""
    meant = f"{minimum_s:g}{suitable_unit(float(times_s.max()), 's')}"
    if not _divides(times_s >= parse_quantity(meant, "s")):
        return ""
    return f"; {did_you_mean([f'--min-time {meant}'])}"


def name_pattern_notes(pattern: str, profile: Profile) -> Iterator[Note]:
    """Yield a note if `pattern`, which selects operators by name, matches no name.

    The note suggests a wider pattern, which matches anywhere in a name and, if necessary, ignores
    upper and lower case. If no wider pattern matches a name either, the note has examples of names.
    """
    body = pattern.removeprefix(_ANY_CASE)
    ignored = pattern.removesuffix(body)
    # `.*a|b` would match b only at the start of a name, so `a|b` is put into a group.
    has_choices = "|" in body
    is_anywhere = body.startswith(".*") and not has_choices
    anywhere = pattern if is_anywhere else f"{ignored}.*{f'(?:{body})' if has_choices else body}"
    where = "matches no name" if is_anywhere else "must match from the start of a name"
    rule = f"the pattern '{pattern}' {where}{'' if ignored else ', and case matters'}"
    either = "" if is_anywhere else f"; {anywhere} matches no name either"
    names = profile.operators.name.categories
    # A wider pattern may be slow, or the prefix may make it invalid. Then there is no note.
    with suppress(PatternError):
        if any(matches(pattern, names, limit_s=SUGGESTION_LIMIT_S)):
            return
        for wider in (anywhere, _ANY_CASE + anywhere):
            count = sum(matches(wider, names, limit_s=SUGGESTION_LIMIT_S))
            if count:
                yield Note(f"{rule}; {wider} matches {counted(count, 'name')}", Importance.ANSWER)
                return
        yield Note(
            f"{rule}{either}; {examples_of(names)}{renaming_advice(profile, 'name')}",
            Importance.ANSWER,
        )


def examples_of(texts: Sequence[str]) -> str:
    """Return the first texts and the number of others, as in `there are a, b, c and 4 more`."""
    more = len(texts) - _MOST_EXAMPLES
    first = ", ".join(
        one if len(one) <= _LONGEST_EXAMPLE else f"{one[:_LONGEST_EXAMPLE]}..."
        for one in texts[:_MOST_EXAMPLES]
    )
    return (
        f"there are {first}{f' and {more} more' if more > 0 else ''}" if texts else "there is none"
    )


def _advice_on_text(text: str, texts: Sequence[str]) -> str:
    # A text that contains commas, such as a list of shapes, needs quotes in a list.
    similar = (f"'{one}'" if ", " in one else one for one in similar_texts(text, texts))
    return did_you_mean([*similar]) or examples_of(texts)


def advice_on_pattern(pattern: str, texts: Sequence[str], *, before: str = "") -> str:
    """Return what to write instead of a pattern that is found in none of `texts`.

    `before` comes before the pattern in a suggestion.
    """
    # The pattern may be slow, or the prefix may make it invalid. Then it is not suggested.
    with suppress(PatternError):
        if any(finds(_ANY_CASE + pattern, texts, limit_s=SUGGESTION_LIMIT_S)):
            return f"case matters; {did_you_mean([before + _ANY_CASE + pattern])}"
        meant = meant_by_wildcards(pattern)
        if meant and any(finds(meant, texts, limit_s=SUGGESTION_LIMIT_S)):
            return did_you_mean([before + meant])
    return _advice_on_text(pattern, texts)


def distinct(values: Any) -> list[Any]:
    """Return the distinct known values of a column."""
    if isinstance(values, Categorical):
        return [
            values.categories[code] for code in dict.fromkeys(values.codes.tolist()) if code >= 0
        ]
    return list(dict.fromkeys(values.tolist()))

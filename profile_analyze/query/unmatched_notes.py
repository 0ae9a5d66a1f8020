"""Notes on filters that keep nothing or everything, with what the user probably meant."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.advice.conditions import PATTERN_OF, advice_on_missing
from profile_analyze.advice.names import (
    LONGEST_ADVISED,
    MOST_SIMILAR_TEXTS,
    did_you_mean,
    similar_texts,
)
from profile_analyze.errors import PatternError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.columns import PartOf
from profile_analyze.model.notes import Importance, Note
from profile_analyze.query.patterns import (
    ANY_CASE,
    SUGGESTION_LIMIT_S,
    finds,
    matches,
    meant_by_wildcards,
)
from profile_analyze.query.special_characters import (
    advice_on_special,
    as_pattern,
    meant_literally,
)
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.table import Table

_NO_SUCH_VALUE: Final = "no operator has this value; "
_EXCLUDES_NOTHING: Final = "excludes only N/A, because no operator has this value; "
"""The same about `!=` and `!~`, which then select all operators with a known value."""
_MOST_EXAMPLES: Final = 3
_LONGEST_EXAMPLE: Final = 40  # characters
_POSITIVE: Final = {"==": "==", "!=": "==", "~": "~", "!~": "~"}
"""For each operator on texts, the same operator without negation."""
_WHOLE_TEXT: Final = {pattern: whole for whole, pattern in PATTERN_OF.items()}


def unmatched_value_notes(query: Query, operators: OperatorRows) -> Iterator[Note]:
    """Yield a note on each condition whose text or pattern matches no value of its column."""
    for condition in query.conditions:
        if condition.column.kind == "number" or condition.compares_numbers:
            continue
        values = distinct(operators[condition.column.name])
        if values and matches_none(condition, values):
            texts = list(map(condition.column.as_text, values))
            advice = advice_on_missing(condition.column.name, condition.value) or (
                _advice_on_condition_with_pattern(condition, texts)
                if "~" in condition.operator
                else _advice_on_whole_text(condition, texts)
            )
            # If the shape occurs only inside lists of shapes, `==` cannot find it: use a pattern.
            sizes = _pattern_of_shape(condition.value, texts)
            if sizes and ("~" in condition.operator or f"{{{sizes}}}" not in texts):
                operator = PATTERN_OF.get(condition.operator, condition.operator)
                advice = did_you_mean([f"'{condition.column.name} {operator} {sizes}'"])
            advice += renaming_advice(operators.profile, condition.column.name)
            is_negated = condition.operator.startswith("!")
            found = _EXCLUDES_NOTHING if is_negated else _NO_SUCH_VALUE
            yield Note(f"{condition.text}: {found}{advice}", Importance.ANSWER)


def _advice_on_condition_with_pattern(condition: Condition, texts: Sequence[str]) -> str:
    """Return what to write instead of `~` or `!~` with a pattern that finds none of `texts`."""
    name, operator = condition.column.name, condition.operator
    before, whole = f"{name} {operator} ", f"{name} {_WHOLE_TEXT[operator]} "
    return (
        advice_on_special(condition.value, texts, before, whole)
        or advice_on_escaped_pipe(condition, texts)
        or advice_on_pattern(condition.value, texts)
    )


def _advice_on_whole_text(condition: Condition, texts: Sequence[str]) -> str:
    """Return what to write instead of `==` or `!=` with a value that is not in `texts`."""
    if shape := _meant_shape(condition.value, texts):
        return did_you_mean([shape])
    if pattern := meant_pattern(condition.value, texts):
        better = f"'{condition.column.name} {PATTERN_OF[condition.operator]} {pattern}'"
        return f"{condition.operator} compares the whole text; {did_you_mean([better])}"
    return _advice_on_text(condition.value, texts)


def advice_on_last_condition(table: Table) -> str:
    """Return why no operator meets the last condition, or advice, from the notes; often empty."""
    text = f"{table.query.conditions[-1].text}: "
    about = [one.removeprefix(text) for one in table.notes if one.startswith(text)]
    # Prefer a note with `_NO_SUCH_VALUE` to a note on operators whose value is N/A.
    reasons = sorted(about, key=lambda one: not one.startswith(_NO_SUCH_VALUE))
    return f"; {reasons[0].removeprefix(_NO_SUCH_VALUE)}" if reasons else ""


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


def advice_on_escaped_pipe(condition: Condition, texts: Sequence[str]) -> str:
    r"""Return advice if a pattern has `\|` instead of `|`; otherwise empty.

    Tables in Markdown write a pipe with a backslash, and people copy it from there.
    """
    meant = condition.value.replace(r"\|", "|")
    if meant == condition.value or len(meant) > LONGEST_ADVISED:
        return ""
    with suppress(PatternError):
        if any(finds(meant, texts, limit_s=SUGGESTION_LIMIT_S)):
            return did_you_mean([f"'{condition.column.name} {condition.operator} {meant}'"])
    return ""


def _meant_shape(text: str, known: Sequence[str]) -> str:
    """Return the known shape with the sizes in `text`, such as `[1, 64]`; otherwise empty.

    Such a text is useless as a pattern, where brackets enclose a set of characters.
    """
    if len(text) > LONGEST_ADVISED or not re.fullmatch(r"[\[(]\d+(?:[\s,x]+\d+)*[\])]", text):
        return ""
    sizes = re.findall(r"\d+", text)
    return next(
        (one for one in known if "}, {" not in one and re.findall(r"\d+", one) == sizes), ""
    )


def _pattern_of_shape(text: str, known: Sequence[str]) -> str:
    """Return the pattern for a shape such as `1x3x9x9`; empty if no known text has this shape.

    Known texts may be lists of shapes, such as `{1,3,9,9}, {8,3,3,3}`.
    """
    if len(text) > LONGEST_ADVISED or not re.fullmatch(r"\D?\d+(?:\s*[,x]\s*\d+)+\D?", text):
        return ""
    sizes = ",".join(re.findall(r"\d+", text))
    return sizes if any(f"{{{sizes}}}" in one for one in known) else ""


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
    return (glob, text, ANY_CASE + glob) if glob else ()


def _part_patterns(text: str) -> Sequence[str]:
    """Return four patterns to try: `text`, `text` escaped, and both again with case ignored."""
    return text, re.escape(text), ANY_CASE + text, ANY_CASE + re.escape(text)


def matches_none(condition: Condition, values: Iterable[Any]) -> bool:
    """Return whether no value matches the text or pattern of a condition, ignoring negation."""
    positive = condition._replace(operator=_POSITIVE[condition.operator])
    with suppress(PatternError):  # the pattern may be too slow, and then there is no message
        return not any(positive.holds_for(values))
    return False


def name_pattern_notes(pattern: str, profile: Profile) -> Iterator[Note]:
    """Yield a note if `pattern`, which selects operators by name, matches no name.

    The note suggests a wider pattern, which matches anywhere in a name and, if necessary, ignores
    upper and lower case. If no wider pattern matches a name either, the note has examples of names.
    """
    body = pattern.removeprefix(ANY_CASE)
    flag = pattern.removesuffix(body)  # `(?i)` or empty
    # `.*a|b` would match b only at the start of a name, so `a|b` is put into a group.
    has_choices = "|" in body
    is_anywhere = body.startswith(".*") and not has_choices
    anywhere = pattern if is_anywhere else f"{flag}.*{f'(?:{body})' if has_choices else body}"
    where = "matches no name" if is_anywhere else "must match from the start of a name"
    rule = f"the pattern '{pattern}' {where}{'' if flag else ', and case matters'}"
    either = "" if is_anywhere else f"; {anywhere} matches no name either"
    names = profile.operators.name.categories
    # A wider pattern may be slow, or the prefix may make it invalid. Then there is no note.
    with suppress(PatternError):
        if any(matches(pattern, names, limit_s=SUGGESTION_LIMIT_S)):
            return
        if meant := meant_literally(pattern, names):
            yield Note(
                f"the pattern '{pattern}' matches no name; {meant.reason}; "
                f"{_meant_from_start(meant.pattern, names)}",
                Importance.ANSWER,
            )
            return
        for wider in (anywhere, ANY_CASE + anywhere):
            count = sum(matches(wider, names, limit_s=SUGGESTION_LIMIT_S))
            if count:
                yield Note(f"{rule}; {wider} matches {counted(count, 'name')}", Importance.ANSWER)
                return
        yield Note(
            f"{rule}{either}; {examples_of(names)}{renaming_advice(profile, 'name')}",
            Importance.ANSWER,
        )


def _meant_from_start(pattern: str, names: Sequence[str]) -> str:
    """Return a suggestion of `pattern`, with `.*` in front if it matches no name from the start."""
    flag = ANY_CASE if pattern.startswith(ANY_CASE) else ""
    if not any(matches(pattern, names, limit_s=SUGGESTION_LIMIT_S)):
        pattern = f"{flag}.*{pattern.removeprefix(flag)}"
    return did_you_mean([f"'{pattern}'"])


def examples_of(texts: Sequence[str]) -> str:
    """Return the first texts and the number of others, as in `there are a, b, c and 4 more`."""
    more = len(texts) - _MOST_EXAMPLES
    first = ", ".join(
        one if len(one) <= _LONGEST_EXAMPLE else f"{one[:_LONGEST_EXAMPLE]}..."
        for one in texts[:_MOST_EXAMPLES]
    )
    if len(texts) < 2:
        return f"there is only {first}" if texts else "there is none"
    return f"there are {first}{f' and {more} more' if more > 0 else ''}"


def _advice_on_text(text: str, texts: Sequence[str], as_written: Callable[[str], str] = str) -> str:
    """Return the known texts that are similar to `text`, each as the user should write it."""
    similar = map(as_written, similar_texts(text, texts))
    # A list of shapes has commas, and an escaped name has backslashes. Both need quotes.
    quoted = (f"'{one}'" if re.search(r", |\\", one) else one for one in similar)
    return did_you_mean([*quoted]) or examples_of(texts)


def advice_on_pattern(pattern: str, texts: Sequence[str], *, before: str = "") -> str:
    """Return what to write instead of a pattern that matches none of `texts`.

    `before` comes before the pattern in a suggestion.
    """
    # The pattern may be slow, or the prefix may make it invalid. Then it is not suggested.
    with suppress(PatternError):
        if any(finds(ANY_CASE + pattern, texts, limit_s=SUGGESTION_LIMIT_S)):
            return f"case matters; {did_you_mean([before + ANY_CASE + pattern])}"
        meant = meant_by_wildcards(pattern)
        if meant and any(finds(meant, texts, limit_s=SUGGESTION_LIMIT_S)):
            return did_you_mean([before + meant])
    return _advice_on_text(pattern, texts, as_pattern)


def distinct(values: Any) -> list[Any]:
    """Return the distinct known values of a column."""
    if isinstance(values, Categorical):
        return [
            values.categories[code] for code in dict.fromkeys(values.codes.tolist()) if code >= 0
        ]
    return list(dict.fromkeys(values.tolist()))

"""Notes on filters that keep nothing, with what the user probably meant."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.advice.conditions import PATTERN_OF, advice_on_missing, as_pattern
from profile_analyze.advice.names import (
    LONGEST_ADVISED,
    MOST_SIMILAR_TEXTS,
    did_you_mean,
    similar_texts,
)
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import PartOf
from profile_analyze.columns.patterns import (
    ANY_CASE,
    SUGGESTION_LIMIT_S,
    finds,
    matches,
    meant_by_wildcards,
)
from profile_analyze.errors import PatternError
from profile_analyze.model.categorical import distinct
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.query.conditions import Condition
from profile_analyze.units import (
    SCALED,
    base_unit_name,
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
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.table import Table

_NO_SUCH_VALUE: Final = "no operator has this value; "
_EXCLUDES_NOTHING: Final = "excludes only N/A, because no operator has this value; "
"""The same about `!=` and `!~`, which then select all operators with a known value."""
_POSITIVE: Final = {"!=": "==", "!~": "~"}
"""For each operator with a negation, the operator without it."""
_MOST_EXAMPLES: Final = 3
_LONGEST_EXAMPLE: Final = 40  # characters


def unmatched_value_notes(query: Query, operators: OperatorRows) -> Iterator[Note]:
    """Yield a note on each condition whose text or pattern matches no value of its column."""
    for condition in query.conditions:
        name, operator, text = condition.column.name, condition.operator, condition.value
        if condition.column.kind == "number" or condition.compares_numbers:
            continue
        values = distinct(operators[name])
        if not values or not matches_none(condition, values):
            continue
        texts = list(map(condition.column.as_text, values))
        if not (advice := advice_on_missing(name, text, is_text=True)):
            before = f"{name} {PATTERN_OF.get(operator, operator)} "
            if "~" in operator:
                advice = advice_on_pattern(text, texts, before)
            elif pattern := meant_pattern(text, texts):
                better = f"'{before}{pattern}'"
                advice = f"{operator} compares the whole text; {did_you_mean([better])}"
            else:
                similar = [f"'{one}'" if ", " in one else one for one in similar_texts(text, texts)]
                advice = did_you_mean(similar) or examples_of(texts)
        found = _EXCLUDES_NOTHING if operator.startswith("!") else _NO_SUCH_VALUE
        renaming = renaming_advice(operators.profile, name)
        yield TextNote(f"{condition.text}: {found}{advice}{renaming}", Importance.ANSWER)


def name_pattern_notes(pattern: str, profile: Profile) -> Iterator[Note]:
    """Yield a note if `pattern`, which selects operators by name, matches no name."""
    names = profile.operators.name.categories
    with suppress(PatternError):
        if not any(matches(pattern, names, limit_s=SUGGESTION_LIMIT_S)):
            advice = advice_on_pattern(pattern, names, from_start=True)
            advice += renaming_advice(profile, "name")
            yield TextNote(f"the pattern '{pattern}' matches no name; {advice}", Importance.ANSWER)


def wildcard_notes(query: Query) -> Iterator[Note]:
    """Yield a note on each pattern that looks like a name with wildcards of a shell: `conv*`."""
    keys = (key.of_operators for key in query.by_columns)
    conditions = (*query.conditions, *query.group_conditions)
    for before, pattern in (
        ("", query.name or ""),
        *((f"{key.column}~", key.pattern) for key in keys if isinstance(key, PartOf)),
        *((f"{c.column.name} {c.operator} ", c.value) for c in conditions if "~" in c.operator),
    ):
        if meant := meant_by_wildcards(pattern):
            yield TextNote(
                f"{before}{pattern}: in a regular expression, * repeats the character before it; "
                f"{did_you_mean([repr(before + meant)])}",
                Importance.ANSWER,
            )


def advice_on_pattern(
    pattern: str, texts: Sequence[str], before: str = "", *, from_start: bool = False
) -> str:
    """Return what to write instead of a pattern that matches none of `texts`.

    `before` comes before the pattern in a suggestion: a column and an operator, or a column and ~
    for a group key. `from_start` says that the pattern must match from the start of a text.
    """
    search = matches if from_start else finds
    for meant, reason in _meanings(pattern, from_start=from_start):
        # It may be slow, or the change may make it invalid. Then it is not suggested.
        with suppress(PatternError):
            if any(search(meant, texts, limit_s=SUGGESTION_LIMIT_S)):
                better = f"'{before}{meant}'"  # not `repr`, which doubles backslashes
                return f"{reason}; {did_you_mean([better])}"
    similar = [f"'{before}{as_pattern(one)}'" for one in similar_texts(pattern, texts)]
    return did_you_mean(similar) or examples_of(texts)


def _meanings(pattern: str, *, from_start: bool) -> Iterator[tuple[str, str]]:
    """Yield what a pattern may mean, and the reason why it does not: the fewest changes first."""
    if len(pattern) > LONGEST_ADVISED:
        return
    if wildcards := meant_by_wildcards(pattern):
        yield wildcards, "* repeats the character before it"
    body = pattern.removeprefix(ANY_CASE)
    for any_case, anywhere, literal in sorted(product((False, True), repeat=3), key=sum):
        text, reasons = body, []
        if literal:
            text = as_pattern(body)
            reasons += ["special characters need a backslash"]
        if anywhere:
            # `.*a|b` would match b only at the start of a name.
            text = f".*(?:{text})" if "|" in body else f".*{text}"
            reasons += ["it must match from the start of a name"]
        if any_case:
            reasons += ["case matters"]
        flag = ANY_CASE if any_case else pattern.removesuffix(body)
        if reasons and (from_start or not anywhere) and not (literal and as_pattern(body) == body):
            yield flag + text, ", ".join(reasons)


def meant_pattern(text: str, known: Sequence[str]) -> str:
    """Return the pattern that is meant by `text`, which is no known text; empty if none is likely.

    If `text` looks like a pattern, it must find a known text. Otherwise, it must find more than
    `MOST_SIMILAR_TEXTS`: fewer texts can be suggested by name.
    """
    if not text or len(text) > LONGEST_ADVISED or "'" in text:
        return ""
    is_pattern = re.search(r"[*?+|^$]", text)
    least = 1 if is_pattern else MOST_SIMILAR_TEXTS + 1
    literal = as_pattern(text)
    of_shell = "^" + literal.replace(r"\*", ".*") + "$"
    of_shell = of_shell.removeprefix("^.*").removesuffix(".*$")
    patterns = (of_shell, text, literal) if is_pattern else (literal,)
    for flag, pattern in product(("", ANY_CASE), patterns):
        with suppress(PatternError):
            if pattern and sum(finds(flag + pattern, known, limit_s=SUGGESTION_LIMIT_S)) >= least:
                return flag + pattern
    return ""


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


def advice_on_last_condition(table: Table) -> str:
    """Return why no operator meets the last condition, or advice, from the notes; often empty."""
    text = f"{table.query.conditions[-1].text}: "
    about = [
        one.removeprefix(text)
        for one in table.notes
        if isinstance(one, TextNote) and one.startswith(text)
    ]
    # Prefer a note with `_NO_SUCH_VALUE` to a note on operators whose value is N/A.
    reasons = sorted(about, key=lambda one: not one.startswith(_NO_SUCH_VALUE))
    return f"; {reasons[0].removeprefix(_NO_SUCH_VALUE)}" if reasons else ""


def renaming_advice(profile: Profile, column: str) -> str:
    """Return what to append to a message on unknown values of `column`; often empty.

    If the runtime renames operators, users look for names that they know from the program.
    """
    renaming = profile.origin.renaming if column == "name" else ""
    return renaming and f"; {renaming}"


def matches_none(condition: Condition, values: Iterable[Any]) -> bool:
    """Return whether no value matches the text or pattern of a condition, ignoring negation."""
    operator = condition.operator
    positive = condition._replace(operator=_POSITIVE.get(operator, operator))
    with suppress(PatternError):  # the pattern may be too slow, and then there is no message
        return not any(positive.holds_for(values))
    return False


def number_notes(
    conditions: Iterable[Condition], rows: OperatorRows | GroupRows, candidates: NDArray[np.bool_]
) -> Iterator[Note]:
    """Yield notes on numeric conditions that keep no row of `candidates`.

    Rows whose value is N/A do not count. A condition whose number lacks its unit, such as
    `time < 5`, also gets a note if it keeps all rows.
    """
    of_operators = rows.operators is rows
    noun = "operator" if of_operators else rows.query.kind.noun.removesuffix("s")
    of_groups = "; --having selects groups" if rows.query.grouped and of_operators else ""
    for condition in conditions:
        if condition.column.kind == "number":
            values = rows[condition.column.name][candidates]
            known = values[~np.isnan(values)]
            if advice := _advice_on_number(condition, known, noun, of_groups):
                yield TextNote(f"{condition.text}: {advice}", Importance.ANSWER)


def time_limits(query: Query) -> Iterator[Condition]:
    """Yield the limits of the time, `--min-time` and `--max-time`, as conditions."""
    for side, operator, limit in (("min", ">=", query.min_time_s), ("max", "<=", query.max_time_s)):
        if limit is not None:
            text = f"--{side}-time {short_time(limit)}"
            yield Condition(text, find_column("time"), operator, f"{limit}s", limit)


def _advice_on_number(
    condition: Condition, known: NDArray[np.float64], noun: str, of_groups: str
) -> str:
    """Return what is wrong with a condition on `known`; empty if it keeps some, but not all."""
    holds = condition.holds_for_numbers(known)
    if not len(known) or holds.any() != holds.all():
        return ""
    closest = "" if holds.all() else _closest_value(condition, known)
    unit = condition.assumed_unit
    if not unit or condition.bound == 0:
        return closest and f"no {noun} meets this; {closest}{of_groups}"
    in_base_units = f"{condition.value} {base_unit_name(unit)}"
    read_as = percent(condition.bound) if unit == "1" else in_base_units
    which = "every" if holds.all() else "no"
    means = f"{condition.value} means {read_as}, which {which} {noun} meets"
    with_unit = condition.value + ("%" if unit == "1" else suitable_unit(float(known.max()), unit))
    better = condition._replace(bound=parse_quantity(with_unit, unit))
    kept = better.holds_for_numbers(known)
    if kept.any() and not kept.all():
        return f"{means}; {did_you_mean([with_unit])}"
    return f"{means}; {closest}" if closest else means


def _closest_value(condition: Condition, known: NDArray[np.float64]) -> str:
    """Return which value comes closest to meeting the condition; empty for `==` and `!=`."""
    if condition.operator in ("==", "!="):
        return ""
    is_above = condition.operator in (">", ">=")
    value, unit = float(known.max() if is_above else known.min()), condition.column.unit
    text = scaled_text(value, unit) if unit in SCALED else f"{value:.6g}"
    if unit == "s":
        text = short_time(value)
    elif unit == "1" and condition.column.shown_as == "percent":
        text = percent(value)
    return f"the {'largest' if is_above else 'smallest'} value is {text}"

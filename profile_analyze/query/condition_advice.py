"""Advice on conditions that are written as in another language, such as SQL or Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.query.catalog import column_of_heading, is_number
from profile_analyze.suggestions import (
    LONGEST_ADVISED,
    OPERATOR_WORDS,
    did_you_mean,
    likely_names,
)
from profile_analyze.units import EXAMPLES, likely_quantities

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.model.columns import Column

_EXAMPLE: Final = "write COLUMN OPERATOR VALUE, such as 'time > 1ms'"
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "==", "==": "==", "!=": "!="}
_NEGATED: Final = {"==": "!=", "~": "!~"}
_OPPOSITE: Final = {
    **_NEGATED,
    "=": "!=",
    "!=": "==",
    "!~": "~",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}
_NOT: Final = r"(?:not\s+|!\s*)(?P<name>[\w.]+)\s*(?P<operator>[<>=!~]+)\s*(?P<value>[^'\s].*)"
_QUANTITY: Final = r"[\d.]+(?:[eE][+-]?\d+)?\s*(?:%|[A-Za-z]\w*(?:/\w+)?)?"
_VALUE_FIRST: Final = (
    rf"(?P<low>{_QUANTITY})\s*(?P<first>[<>=!]+)\s*(?P<name>[a-z]\w*)"
    rf"(?:\s*(?P<second>[<>=!]+)\s*(?P<high>{_QUANTITY}))?"
)
_HALF_RANGE: Final = (
    rf"(?P<one>{_QUANTITY})\s+(?:and|&&?)\s+(?P<second>[<>]=?)\s*(?P<other>{_QUANTITY})"
)
_BETWEEN: Final = rf"(?P<name>[a-z]\w*) between (?P<low>{_QUANTITY}) and (?P<high>{_QUANTITY})"
_WORD_AS_OPERATOR: Final = r"(?P<name>[\w.]+)\s+(?P<words>is\s+not|not\s+\w+|\w+)\s+(?P<value>.+)"
# An `and` in quotes is part of the value. An apostrophe after a letter does not start a quote.
_UNQUOTED_OR_WHOLE_QUOTE: Final = r"""(?:(?<!\w)(?:'[^']*'|"[^"]*")|[^'"]|(?<=\w)['"])+?"""
_WITH_ANOTHER: Final = (
    rf"(?P<value>{_UNQUOTED_OR_WHOLE_QUOTE})\s+(?:and|&&?)\s+"
    r"(?P<another>[a-z][\w.]*\s*[=<>!~].*)"
)
_HEADING_AS_NAME: Final = r"(?P<heading>\w+(?: \w+)+(?: \(\S+\))?)(?P<condition>\s*[<>=!~]+.+)"
_MISSING: Final = ("null", "none", "nan", "n/a", "na")
_MISSING_TEXTS: Final = ("null", "n/a")
"""The words in `_MISSING` that hardly any text column has as a value."""
PATTERN_OF: Final = {"==": "~", "!=": "!~"}
"""For each operator on whole texts, the corresponding operator on patterns."""


_COLUMN_OF_UNIT: Final = {
    "s": "time",
    "1": "share",
    "FLO": "computation",
    "FLO/s": "flops",
    "byte": "memory",
    "byte/s": "bandwidth",
    "FLO/byte": "intensity",
}
"""For each unit, the column that a value with this unit probably belongs to."""

_FRACTION_OF: Final = {name: {"1": "change"} for name in ("difference", "absolute_difference")}
"""For some columns, replacements for entries of `_COLUMN_OF_UNIT`. In a condition on a difference,
the user probably meant a fraction for the column `change`, not for `share`."""
REPEAT: Final = "repeat the option for each"
"""The end of messages on two conditions in one text. For the selection of a `--fail-if`, the module
`gate_conditions` replaces it."""
_SMALL: Final = 0.5
"""A user who writes a percentage below this for a factor, as in `ratio > 5%`, means a change."""


def advice_on_missing_text(name: str, value: str) -> str:
    """Return the message about a text condition if `value` means N/A; empty for other texts."""
    return _on_missing(name) if value.lower() in _MISSING_TEXTS else ""


def _on_missing(name: str) -> str:
    advice = "" if name == "name" else f"; --columns name,{name} -t 0 shows which rows have N/A"
    return f"no condition selects N/A{advice}"


def advice_on_value(name: str, operator: str, value: str, *, is_number: bool) -> str:
    """Return a message if `value` is probably a mistake; empty if it looks right."""
    if is_number and value.strip("'\"").lower() in _MISSING:
        return _on_missing(name)
    if value.startswith("~") and operator in PATTERN_OF and len(value) <= LONGEST_ADVISED:
        better = f"'{name} {PATTERN_OF[operator]} {value.lstrip('~ ')}'"
        return f"{operator} compares the whole text; {did_you_mean([better])}"
    return ""


def advice_on_unit(column: Column, operator: str, value: str) -> str:
    """Return advice if `value` has the unit of another column; otherwise empty.

    For `flops > 1ms`, the advice is `time > 1ms`.
    """
    if value[-1:].isdecimal() or likely_quantities(value, column.unit):
        return ""
    return did_you_mean(
        [
            f"'{name} {operator} {quantity}'"
            for unit, name in (_COLUMN_OF_UNIT | _FRACTION_OF.get(column.name, {})).items()
            for quantity in likely_quantities(value, unit)
        ]
    )


def advice_on_half_range(name: str, operator: str, value: str) -> str:
    """Return advice on `time >= 1ms and <= 2ms`, which lacks the second name; otherwise empty."""
    match = re.fullmatch(_HALF_RANGE, value, re.IGNORECASE)
    if match is None:
        return ""
    first = f"{name} {operator} {match['one']}"
    return _two_conditions(first, name, match["other"], match["second"])


def advice_on_factor(name: str, operator: str, fraction: float) -> str:
    """Return the message about a factor in per cent, such as `ratio > 5%`."""
    # A small percentage is meant as a change, a large one, such as 95 %, as the factor itself.
    change = -abs(fraction) if operator.startswith("<") else fraction
    factor = 1 + change if fraction < _SMALL else fraction
    better = did_you_mean([f"'{name} {operator} {factor:.6g}'"])
    return f"{name} is a factor, without %; {better}"


def advice_on_operator(name: str, operator: str, value: str, known: Collection[str]) -> str:
    """Return advice on a wrong operator, such as `=` for `==`; empty if no operator is likely."""
    meant = likely_names(operator, known, OPERATOR_WORDS)
    if match := re.fullmatch(r"""(['"])(\S[^'"]*)\1""", value):
        value = match[2].rstrip()  # the advice quotes the whole condition
    if not value or "'" in value or len(value) > LONGEST_ADVISED:
        return did_you_mean(meant)
    return did_you_mean([f"'{name} {one} {value}'" for one in meant])


def advice_on_or(first: tuple[str, str, str], second: tuple[str, str, str]) -> str:
    """Return what to write instead of two conditions that are joined by OR.

    `first` and `second` each have the name of a column, an operator and a value.
    """
    name, column, pattern = first[0], "type", "^(A|B)$"
    texts = [value.strip(" '\"") for _, _, value in (first, second)]
    are_equalities = all(operator in ("=", "==") for _, operator, _ in (first, second))
    if name == second[0] and are_equalities and all(re.fullmatch(r"\w+", one) for one in texts):
        column, pattern = name, f"^({'|'.join(texts)})$"
    return (
        f"there is no OR: make one call for each condition, or write '{column} ~ {pattern}' to "
        "match one of several texts"
    )


def missing_value(column: Column, operator: str) -> str:
    """Return the message about a condition that ends after its operator."""
    name, example = column.name, "conv"
    if column.is_label:
        name, example = column.export_name, "v2"
    elif column.kind == "number":
        example = EXAMPLES[column.unit]
    is_whole_text = column.kind != "number" and operator in PATTERN_OF
    empty = '; "" is an empty text' if is_whole_text else ""
    return f"a value is missing after {operator}, such as '{name} {operator} {example}'{empty}"


def advice_on_condition(text: str) -> str:
    """Return what to write instead of `text`, which is not of the form COLUMN OPERATOR VALUE."""
    if re.fullmatch(r"[\w.]+", text.strip()) and len(text) <= LONGEST_ADVISED:
        return f"{_EXAMPLE}, in quotes, because a shell takes < and > for itself"
    return advice_on_other_grammar(text) or _heading_as_name(text) or _EXAMPLE


def _heading_as_name(text: str) -> str:
    """Return advice on a condition such as `macs share > 50%`; empty for other texts."""
    match = re.fullmatch(_HEADING_AS_NAME, text.strip())
    column = column_of_heading(match["heading"]) if match else ""
    return did_you_mean([f"'{column}{match['condition']}'"]) if match and column else ""


def advice_on_other_grammar(text: str) -> str:
    """Return what to write instead of a condition in another language; empty for other texts."""
    stripped = re.sub(r"\b(start|end)s?\s+with\b", r"\1swith", text.strip())
    if len(stripped) > LONGEST_ADVISED:
        return ""
    return next(filter(None, (way(stripped) for way in _WAYS)), "")


def _value_first(text: str) -> str:
    match = re.fullmatch(_VALUE_FIRST, text)
    return _with_value_first(**match.groupdict()) if match else ""


def _negated(text: str) -> str:
    """Return advice on `not time > 1ms`; empty for other texts."""
    match = re.fullmatch(_NOT, text, re.IGNORECASE)
    if match is None or match["operator"] not in _OPPOSITE:
        return ""
    return did_you_mean([f"'{match['name']} {_OPPOSITE[match['operator']]} {match['value']}'"])


def _between(text: str) -> str:
    match = re.fullmatch(_BETWEEN, text, re.IGNORECASE)
    if match is None:
        return ""
    return _two_conditions(f"{match['name']} >= {match['low']}", match["name"], match["high"])


def _word_as_operator(text: str) -> str:
    match = re.fullmatch(_WORD_AS_OPERATOR, text, re.IGNORECASE)
    return _with_operator(**match.groupdict()) if match else ""


_WAYS: Final = (_value_first, _negated, _between, _word_as_operator)
"""Functions that each return advice on one way to write conditions; empty for other ways."""


def _with_value_first(low: str, first: str, name: str, second: str | None, high: str | None) -> str:
    """Return what to write instead of `low < name` or `low < name < high`.

    Empty if an operator is unknown.
    """
    if first not in _MIRRORED:
        return ""
    condition = f"{name} {_MIRRORED[first]} {low.strip()}"
    if not second or not high:
        return f"write '{condition}'"
    operator = OPERATOR_WORDS.get(second, second)
    return _two_conditions(condition, name, high, operator) if operator in _MIRRORED else ""


def _two_conditions(first: str, name: str, high: str, operator: str = "<=") -> str:
    return _both(first, f"{name} {operator} {high.strip()}")


def _both(first: str, second: str) -> str:
    return f"write '{first}' and '{second}', two conditions: {REPEAT}"


def _with_operator(name: str, words: str, value: str) -> str:
    """Return advice with an operator for `words`, such as `!=` for `is not`.

    Empty if no operator has the meaning of `words`.
    """
    *before, word = words.lower().split()
    if before == ["is"]:  # is not
        operator: str | None = "!="
    else:
        operator = OPERATOR_WORDS.get(word)
        operator = _NEGATED.get(operator or "") if before else operator
    if operator is None:
        return ""
    both = re.fullmatch(_WITH_ANOTHER, value, re.IGNORECASE)
    first = both["value"] if both else value
    if first.lower() in _MISSING:
        return _on_missing(name)
    text = first.strip("'\"")
    if operator in ("~", "!~") and is_number(name):
        return f"{name} is a number: compare it with ==, !=, <, <=, > or >="
    if operator in ("~", "!~") and not text.strip("%"):
        which = "every row that has a value" if operator == "~" else "no row"
        return f"{which} meets '{name} {words} {text}'; leave this condition out"
    condition = f"{name} {operator} {_value_for(word, first)}"
    return _both(condition, both["another"]) if both else did_you_mean([f"'{condition}'"])


def _value_for(word: str, value: str) -> str:
    """Return what to compare with instead of `value`, which follows a word such as `in`."""
    if word == "in" and re.search(r"[,()\[\]{}]", value):  # a list
        choices = (one.strip(" '\"") for one in value.strip("()[]{}").split(","))
        return f"^({'|'.join(map(re.escape, choices))})$"
    return _pattern_for(word, value.strip("'\""))


def _pattern_for(word: str, text: str) -> str:
    """Return a pattern for a word such as `startswith`, or for LIKE of SQL, and a text.

    In SQL, `%` stands for any characters.
    """
    if word in ("startswith", "endswith", "contains", "has"):
        start, end = {"startswith": ("^", ""), "endswith": ("", "$")}.get(word, ("", ""))
        return f"{start}{_escaped(text)}{end}"
    if word != "like":
        return text
    start, end = "" if text.startswith("%") else "^", "" if text.endswith("%") else "$"
    return f"{start}{'.*'.join(map(_escaped, text.strip('%').split('%')))}{end}"


def _escaped(text: str) -> str:
    """Return a pattern that matches `text`.

    Unlike `re.escape`, this leaves blanks and hyphens as they are, so that people can read them.
    """
    return re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", text)

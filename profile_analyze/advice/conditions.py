"""What to write instead of a condition in another language, such as SQL or Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean, likely_names
from profile_analyze.advice.words import OPERATOR_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection

_EXAMPLE: Final = "write COLUMN OPERATOR VALUE, such as 'time > 1ms'"
REPEAT: Final = "repeat the option for each"
"""The end of messages on two conditions in one text."""
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "==", "==": "==", "!=": "!="}
_QUANTITY: Final = r"[\d.]+(?:[eE][+-]?\d+)?\s*(?:%|[A-Za-z]\w*(?:/\w+)?)?"
_VALUE_FIRST: Final = (
    rf"(?P<low>{_QUANTITY})\s*(?P<first>[<>=!]+)\s*(?P<name>[a-z]\w*)"
    rf"(?:\s*(?P<second>[<>]=?)\s*(?P<high>{_QUANTITY}))?"
)
_BETWEEN: Final = rf"(?P<name>[a-z]\w*) between (?P<low>{_QUANTITY}) and (?P<high>{_QUANTITY})"
_WORD_AS_OPERATOR: Final = r"(?P<name>[\w.]+)\s+(?P<words>is\s+not|not\s+\w+|\w+)\s+(?P<value>.+)"
_MISSING: Final = ("null", "n/a")
_MISSING_NUMBERS: Final = (*_MISSING, "none", "nan")
"""Texts may be `None`: the name of a type, or the value of a parameter."""
_LIKE: Final = {"contains": "%{}%", "startswith": "{}%", "endswith": "%{}"}
"""Words before a part of a text, with the pattern of SQL that means the same."""
PATTERN_OF: Final = {"==": "~", "!=": "!~"}
"""For each operator on whole texts, the corresponding operator on patterns."""


def advice_on_missing(name: str, value: str, *, is_text: bool = False) -> str:
    """Return the message about a condition if `value` means N/A; empty for other values."""
    if value.strip("'\"").lower() not in (_MISSING if is_text else _MISSING_NUMBERS):
        return ""
    columns = ",".join(dict.fromkeys(("name", name)))
    return f"no condition selects N/A; --columns {columns} -t 0 shows which rows have N/A"


def advice_on_factor(name: str, operator: str, fraction: float) -> str:
    """Return the message about a factor in per cent, such as `ratio > 5%`."""
    factor = 1 - fraction if operator.startswith("<") else 1 + fraction
    better = did_you_mean([f"'{name} {operator} {factor:.6g}'"])
    return f"{name} is a factor, without %; {better}"


def advice_on_operator(name: str, operator: str, value: str, known: Collection[str]) -> str:
    """Return advice on a wrong operator, such as `=` for `==`; empty if no operator is likely."""
    meant = likely_names(operator, known, OPERATOR_WORDS)
    value = value.strip("'\"")
    if not value or "'" in value or len(value) > LONGEST_ADVISED:
        return did_you_mean(meant)
    return did_you_mean([f"'{name} {one} {value}'" for one in meant])


def advice_on_or(name: str, *, is_text: bool) -> str:
    """Return what to write instead of conditions on the column `name` that are joined by OR."""
    several = f", or write '{name} ~ ^(A|B)$' to match one of several texts" if is_text else ""
    return f"there is no OR: make one call for each condition{several}"


def advice_on_condition(text: str, numbers: Collection[str] = ()) -> str:
    """Return what to write instead of `text`, which is not of the form COLUMN OPERATOR VALUE.

    `numbers` are the names of the columns that are numbers.
    """
    stripped = text.strip()
    if len(stripped) > LONGEST_ADVISED:
        return _EXAMPLE
    if re.fullmatch(r"[\w.]+", stripped):
        return f"{_EXAMPLE}, in quotes, because a shell takes < and > for itself"
    return advice_on_other_grammar(stripped, numbers) or _EXAMPLE


def advice_on_other_grammar(text: str, numbers: Collection[str] = ()) -> str:
    """Return what to write instead of `1ms < time` or `name like a%`; empty for other texts."""
    if match := re.fullmatch(_VALUE_FIRST, text):
        return _with_value_first(**match.groupdict())
    if match := re.fullmatch(_BETWEEN, text, re.IGNORECASE):
        return _both(f"{match['name']} >= {match['low']}", f"{match['name']} <= {match['high']}")
    if match := re.fullmatch(_WORD_AS_OPERATOR, text, re.IGNORECASE):
        return _with_operator(**match.groupdict(), numbers=numbers)
    return ""


def _with_value_first(low: str, first: str, name: str, second: str | None, high: str | None) -> str:
    """Return what to write instead of `low < name` or `low < name < high`."""
    if first not in _MIRRORED:
        return ""
    condition = f"{name} {_MIRRORED[first]} {low.strip()}"
    return (
        _both(condition, f"{name} {second} {high}") if second else did_you_mean([f"'{condition}'"])
    )


def _both(first: str, second: str) -> str:
    return f"write '{first}' and '{second}', two conditions: {REPEAT}"


def _with_operator(name: str, words: str, value: str, numbers: Collection[str]) -> str:
    """Return advice with an operator for `words`, such as `!=` for `is not`; empty if unknown."""
    words = "_".join(words.lower().split())
    operator = OPERATOR_WORDS.get(words, "")
    if not operator:
        return ""
    is_quoted = re.fullmatch("""(['"]).*\\1""", value)
    if not is_quoted and re.search(r"\s(and|or)\s|&&|\|\|", value, re.IGNORECASE):
        return f"there is another condition; {REPEAT}"
    text = value.strip("'\"")
    if name in numbers and "~" in operator:
        return ""
    if words in _LIKE or words.endswith("like"):
        text = _LIKE.get(words, "{}").format(text)
        pattern = f"^{as_pattern(text).replace('%', '.*')}$"
        text = pattern.removeprefix("^.*").removesuffix(".*$")
    elif words.endswith("in"):
        texts = (one.strip(" '\"") for one in text.strip("()[]{}").split(","))
        text = f"^({'|'.join(map(as_pattern, texts))})$"
    if missing := advice_on_missing(name, value):
        return missing
    return "" if "'" in text else did_you_mean([f"'{name} {operator} {text}'"])


def as_pattern(text: str) -> str:
    """Return a pattern that finds `text`. Blanks and dots stay, so that people can read it.

    Commas are escaped, because they separate group keys.
    """
    return re.sub(r"[\\()\[\]{}+*?|^$,]", r"\\\g<0>", text)

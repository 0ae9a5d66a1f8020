"""Advice on texts that are meant as conditions, but written as in another language."""

from __future__ import annotations

import re
from typing import Final

from profile_analyze.suggestions import LONGEST_ADVISED, OPERATOR_WORDS, did_you_mean

_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "==", "==": "==", "!=": "!="}
_VALUE_FIRST: Final = (
    r"(?P<low>[\d.]+\s*\w*%?)\s*(?P<first>[<>=!]+)\s*(?P<name>[a-z]\w*)"
    r"(?:\s*(?P<second>[<>=!]+)\s*(?P<high>[\d.]+\s*\w*%?))?"
)
_WORD_AS_OPERATOR: Final = r"(?P<name>[\w.]+)\s+(?P<word>[A-Za-z]+)\s+(?P<value>.+)"
_LIST: Final = r"[(\[{](.*)[)\]}]"


def advice_on_condition(text: str) -> str:
    """Return what to write instead of `text`, which has not the form of a condition."""
    example = "write COLUMN OPERATOR VALUE, such as 'time > 1ms'"
    stripped = text.strip()
    if len(stripped) > LONGEST_ADVISED:
        return example
    if re.fullmatch(r"[\w.]+", stripped):
        return f"{example}, in quotes, because a shell takes < and > for itself"
    if match := re.fullmatch(_VALUE_FIRST, stripped):
        return _with_value_first(**match.groupdict()) or example
    match = re.fullmatch(_WORD_AS_OPERATOR, stripped)
    operator = OPERATOR_WORDS.get(match["word"].lower()) if match else None
    if match is None or operator is None:
        return example
    value = match["value"].strip("%") if operator == "~" else match["value"]
    if match["word"].lower() == "in" and (choices := re.fullmatch(_LIST, value)):
        names = "|".join(re.escape(one.strip(" '\"")) for one in choices[1].split(","))
        value = f"^({names})$"
    return did_you_mean([f"'{match['name']} {operator} {value}'"])


def _with_value_first(low: str, first: str, name: str, second: str | None, high: str | None) -> str:
    """Return the conditions that `low < name < high` means; empty without a known operator."""
    if first not in _MIRRORED:
        return ""
    conditions = [f"'{name} {_MIRRORED[first]} {low.strip()}'"]
    if second and high:
        conditions.append(f"'{name} {second} {high.strip()}'")
    both = ", two conditions" if len(conditions) > 1 else ""
    return f"write {' and '.join(conditions)}{both}"

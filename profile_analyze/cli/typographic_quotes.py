"""Advice on arguments in typographic quotes, which a shell leaves in place."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUOTES: Final = "\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb"
"""Word processors and web pages put these in place of plain quotes."""
_CONDITIONS: Final = ("argument --where:", "argument --having:")
"""How errors about conditions begin. In a condition, `=` is corrected to `==` as well."""


def advice_on_quotes(arguments: Iterable[str], error: str) -> str:
    """Return what to write instead of an argument in typographic quotes.

    A correct name or pattern may begin with such a quote, too. So this function ignores arguments
    that the message `error` does not contain. If no argument is left, the result is empty.
    """
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if not (equals and option.startswith("--")):
            value = argument
        if value.startswith(tuple(_QUOTES)) and value in error:
            is_closed = value[1:].endswith(tuple(_QUOTES))
            inner = value[1:-1]
            if error.startswith(_CONDITIONS):
                inner = re.sub(r"^([\w.]+)\s*=(?![=~])\s*", r"\1 == ", inner)
            plain = shlex.quote(inner) if is_closed else "plain ones, ' or \""
            return f"{value} has typographic quotes, which a shell does not remove; write {plain}"
    return ""

"""Advice on limits of `--fail-if` that are written in another way, such as `1.05x`."""

from __future__ import annotations

import re
from typing import Final

from profile_analyze.suggestions import did_you_mean

NUMBER: Final = r"\d+(?:\.\d*)?|\.\d+"
"""A pattern for a number without a sign."""
_AS_CHANGE: Final = "write +5% for 5% more than the baseline, -5% for 5% less"


def advice_on_limit(sign: str, limit: str) -> str:
    """Return advice on a limit with the word `baseline` or `percent`; empty for other limits."""
    if match := re.fullmatch(rf"({NUMBER})\s*(?:percent|per cent|pct)", limit):
        return did_you_mean([f"{sign or '+'}{match[1]}%"])
    base = r"base(?:line)?"
    times = rf"{base}\s*\*\s*(?P<after>{NUMBER})|(?P<before>{NUMBER})\s*\*\s*{base}"
    if match := re.fullmatch(times, limit):
        return advice_on_ratio(float(match["after"] or match["before"])) or _AS_CHANGE
    if match := re.fullmatch(rf"{base}\s*([+-])\s*(.+)", limit):
        return did_you_mean([f"{match[1]}{match[2]}"])
    return _AS_CHANGE if re.fullmatch(base, limit) else ""


def advice_on_ratio(ratio: float) -> str:
    """Return how to write a ratio between 1 and 10 as a change in percent; otherwise empty."""
    if not 1 < ratio < 10:
        return ""
    more = f"{100 * (ratio - 1):.6g}%"
    return f"for {more} more than the baseline write +{more}"


def with_signs(advice: str) -> str:
    """Return the advice with a `+` before each limit in per cent that has no sign.

    Advice repeats limits of the user, and a limit such as `5%` needs a sign.
    """
    return re.sub(r"([<>]\s*)(?=[\d.]+\s*%)", r"\1+", advice)

"""Numbers within sentences: signs, intervals, brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.units import NOT_AVAILABLE, seconds

if TYPE_CHECKING:
    from collections.abc import Callable


def signed(value: float, writer: Callable[[float], str]) -> str:
    """The number with a plus if it is above 0."""
    return f"+{writer(value)}" if value > 0 else writer(value)


def with_unit(text: str) -> str:
    """Seconds with their unit; N/A has none."""
    return text if text == NOT_AVAILABLE else f"{text} s"


def signed_seconds(value: float) -> str:
    """A difference of times: `+0.002 s`."""
    return with_unit(signed(value, seconds))


def between(low: str, high: str) -> str:
    """A confidence interval; empty where it is N/A."""
    return "" if NOT_AVAILABLE in (low, high) else f"95 %: {low} to {high}"


def in_brackets(text: str) -> str:
    """`text` in brackets, to follow another; empty if `text` is empty or N/A."""
    return f" ({text})" if text and text != NOT_AVAILABLE else ""


def counting(unit: str) -> str:
    """What is said beside a verdict that counts iterations, which are not independent."""
    return " (counting iterations, which are not independent)" if unit == "iterations" else ""

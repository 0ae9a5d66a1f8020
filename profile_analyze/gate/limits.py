"""The limits in conditions of `--fail-if`: `0.12s`, `+2ms`, `+5%`, `10M`."""

from __future__ import annotations

import re
from math import isinf
from typing import Final, Literal, TypeAlias

from profile_analyze.advice.gates import ANOTHER_CONDITION, advice_on_limit, advice_on_ratio
from profile_analyze.errors import QuantityError, QueryError
from profile_analyze.units import parse_quantity

_LARGEST_FACTOR: Final = 2
"""With a baseline, a bare number between 1 and this is meant as a factor: `total > 1.05`."""

_UNITS: Final = {"s": ("s", "ms"), "byte": ("MiB", "B"), "FLO": ("GFLO", "FLO")}
"""Two units for the examples in messages, for each unit of a metric that limits must name."""

LimitUnit: TypeAlias = Literal["s", "s more", "of baseline", "amount", "amount more"]


def parse_limit(
    text: str, sign: str, limit: str, unit: str, *, compared: bool
) -> tuple[float, LimitUnit]:
    """Return the number in `limit`, and what it means: see `FailCondition.limit_unit`.

    `sign` is the sign before the limit in the condition `text`. `unit` is the unit of the metric.
    `compared` says whether there is a baseline, which decides what a bare number probably means.
    Raises `QueryError` for a wrong limit.
    """
    if re.search(r"\s(and|or)\s|[&|]|[,;]\s*\w[^,;]*[<>]", limit, re.IGNORECASE):
        raise QueryError(f"fail-if: {text!r}: {ANOTHER_CONDITION}")
    if advice := advice_on_limit(limit.strip()):
        raise QueryError(f"fail-if: {text!r}: {sign}{limit} of what? {advice}")
    try:
        if limit.endswith("%"):
            return _parse_share(text, sign, limit), "of baseline"
        amount = _parse_amount(text, sign, limit, unit, compared=compared)
    except QuantityError as error:
        raise QueryError(f"fail-if: {text!r}: {error}, or +5%") from None
    if unit == "s":
        return amount, "s more" if sign else "s"
    return amount, "amount more" if sign else "amount"


def _parse_share(text: str, sign: str, limit: str) -> float:
    if not sign:
        advice = advice_on_ratio(parse_quantity(limit, "1")) or (
            f"write +{limit} for {limit} more than the baseline"
        )
        raise QueryError(f"fail-if: {text!r}: {limit} of what? {advice}")
    share = parse_quantity(sign + limit, "1")
    if share <= -1:  # no time is below 0, so the condition would always or never be met
        raise QueryError(f"fail-if: {text!r}: nothing takes {-share:.0%} less than the baseline")
    return share


def _parse_amount(text: str, sign: str, limit: str, unit: str, *, compared: bool) -> float:
    """Return the time in seconds, or the amount of work in `unit`."""
    amount = parse_quantity(sign + limit, unit)
    if isinf(amount):
        raise QueryError(f"fail-if: {text!r}: {limit} is never reached")
    if unit == "s" or (unit in _UNITS and amount):  # the work 0 is clear without a unit
        _check_unit(text, sign, limit, amount, _UNITS[unit], compared=compared)
    return amount


def _check_unit(
    text: str, sign: str, limit: str, value: float, units: tuple[str, str], *, compared: bool
) -> None:
    """Raise `QueryError` if `limit` has no unit: it could mean percent, or any of the units."""
    if limit[-1].isalpha():
        return
    may_be_factor = compared and not sign and value < _LARGEST_FACTOR
    if may_be_factor and (advice := advice_on_ratio(value)):
        raise QueryError(f"fail-if: {text!r}: {limit} of what? {advice}")
    large, small = units
    examples = f"{limit}{large}, {limit}{small}"
    if sign:
        examples = f"{sign}{limit}%, {sign}{limit}{small}"
    # With a baseline, a small number is more likely a fraction than a percentage or an amount.
    if (sign or compared) and abs(value) < 1:
        share = f"{sign or '+'}{100 * abs(value):.6g}%"
        examples = f"{share}, {sign}{abs(value):.6g}{large}"
    raise QueryError(f"fail-if: {text!r}: {sign}{limit} of what? write {examples}")

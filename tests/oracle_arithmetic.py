"""Aggregates and statistics in plain loops, for the oracle. None is N/A."""

from __future__ import annotations

import math
from typing import Any

Number = float | None


def over_runs(values: list[Number], statistic: str) -> Number:
    known = [value for value in values if value is not None]
    if statistic == "mean":
        return _added_up(known) / len(known) if known else None
    return aggregated(statistic, values)


def _spread(values: list[Number]) -> Number:
    if sum(value is not None for value in values) < 2:
        return None
    high, low = aggregated("p75", values), aggregated("p25", values)
    assert high is not None
    assert low is not None
    return divided((high - low) / 2, aggregated("median", values))


def varying(values: list[Number]) -> dict[str, Any]:
    """Return the columns that describe how times vary over the runs."""
    return {
        "runs": sum(value is not None for value in values),
        "spread": _spread(values),
        "time_min": aggregated("min", values),
        "time_max": aggregated("max", values),
    }


def _added_up(values: list[float]) -> float:
    """Return the sum, rounded at each step; since Python 3.12, `sum` rounds only once."""
    total = 0.0
    for value in values:
        total += value
    return total


def _deviation(known: list[float]) -> Number:
    """Return the sample standard deviation by the textbook formula."""
    if len(known) < 2:
        return None
    shifted = [value - min(known) for value in known]  # equal values give exactly 0
    mean = math.fsum(shifted) / len(known)
    squares = math.fsum((value - mean) * (value - mean) for value in shifted)
    return math.sqrt(squares / (len(known) - 1))


def aggregated(aggregate: str, values: list[Number]) -> Number:
    known = sorted(value for value in values if value is not None)
    if aggregate == "count":
        return len(known)
    if not known:
        return None
    if aggregate == "std":
        return _deviation([value for value in values if value is not None])
    if aggregate == "mean":
        return math.fsum(known) / len(known)
    if aggregate == "sum":
        return math.fsum(known)
    shares = {"max": 1.0, "min": 0.0, "median": 0.5}
    share = shares[aggregate] if aggregate in shares else float(aggregate[1:]) / 100
    position = (len(known) - 1) * share
    below = math.floor(position)
    if position == below:
        return known[below]
    return known[below] + (known[below + 1] - known[below]) * (position - below)


def divided(numerator: Number, denominator: Number) -> Number:
    if numerator is None or not denominator:
        return None
    return numerator / denominator

"""Conditions of `--fail-if` on work, which is exact: no statistics are needed to judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.query.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query

WORK_METRICS: Final[Mapping[str, str]] = {"macs": "count", "params": "count", "memory": "byte"}
"""The unit of each metric. A metric is the sum of the column of the same name."""


class Amounts(NamedTuple):
    """The sum of a column over chosen operators; NaN if one of the values is unknown."""

    value: float
    base: float
    """The sum in the baseline; NaN without one."""
    operators: int
    """How many operators were chosen."""


def amounts_of(metric: str, query: Query, source: Profile | Comparison) -> Amounts:
    """Return the sum of a metric over the operators that `query` selects, on each side."""
    table = run(query, source)
    values = table[metric]
    if table.shown.comparison is None:
        return Amounts(_sum(values), np.nan, len(table))
    in_profile, in_base = table.shown.on_sides
    base = table[f"base_{metric}"]
    return Amounts(_sum(values[in_profile]), _sum(base[in_base]), len(table))


def _sum(values: NDArray[np.float64]) -> float:
    return float(values.sum())


def is_beyond(amounts: Amounts, limit: float, limit_unit: str, *, above: bool) -> bool:
    """Return whether the amount is above the limit, or below it."""
    bound = {
        "amount": limit,
        "amount more": amounts.base + limit,
        "of baseline": amounts.base * (1 + limit),
    }[limit_unit]
    return amounts.value > bound if above else amounts.value < bound


def reason_unjudged(amounts: Amounts, metric: str, *, relative: bool) -> str:
    """Return why a condition cannot be judged; empty if it can be."""
    if not amounts.operators:
        return "no operator matches"
    if np.isnan(amounts.value):
        return f"{metric}: an operator has N/A"
    if relative and np.isnan(amounts.base):
        return f"{metric}: an operator of the baseline has N/A"
    return ""

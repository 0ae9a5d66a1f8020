"""Conditions of `--fail-if` on work, which is exact: no statistics are needed to judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.query.run import run
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """How many operators count: the chosen ones outside of bodies of a model."""
    unknown: int
    """How many of them have an unknown value. `base_unknown` is the same in the baseline."""
    base_unknown: int
    in_bodies: int
    """How many chosen operators are in bodies. Totals leave them out, except for weights."""


def amounts_of(metric: str, query: Query, source: Profile | Comparison) -> Amounts:
    """Return the sum of a metric over the operators that `query` selects, on each side."""
    table = run(query, source)
    chosen = np.ones(len(table), np.bool_)
    if metric != "params":  # a model stores the weights of its bodies, too
        chosen = (
            table.shown.of_operators(lambda rows: rows.profile.in_bodies().astype(np.float64)) == 0
        )
    values, base = table[metric][chosen], np.empty(0)
    if table.shown.comparison is not None:
        in_profile, in_base = (side[chosen] for side in table.shown.on_sides)
        values, base = values[in_profile], table[f"base_{metric}"][chosen][in_base]
    return Amounts(
        value=float(values.sum()),
        base=np.nan if table.shown.comparison is None else float(base.sum()),
        operators=int(chosen.sum()),
        unknown=int(np.isnan(values).sum()),
        base_unknown=int(np.isnan(base).sum()),
        in_bodies=int((~chosen).sum()),
    )


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
        bodies = ": totals leave out the operators in bodies" if amounts.in_bodies else ""
        return f"no operator matches{bodies}"
    if amounts.unknown:
        reason = f"{metric}: {counted(amounts.unknown, 'operator')} with N/A"
        # The filter would also leave out operators that only the baseline has.
        if relative or amounts.unknown == amounts.operators:
            return reason
        return f"{reason}; --where '{metric} >= 0' leaves them out"
    if relative and amounts.base_unknown:
        return f"{metric}: {counted(amounts.base_unknown, 'operator')} of the baseline with N/A"
    return ""

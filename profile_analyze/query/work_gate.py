"""Judges conditions of `--fail-if` on work. Work is exact, so no statistics are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.query.run import run
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table

WORK_METRICS: Final[Mapping[str, str]] = {"macs": "count", "params": "count", "memory": "byte"}
"""The unit of each metric. A metric is the sum of the column of the same name."""


class Amount(NamedTuple):
    """The sum of a column over chosen operators of one side."""

    value: float = np.nan
    """NaN if one of the values is unknown, or if there is no baseline."""
    unknown: int = 0
    """How many operators have an unknown value."""
    unmatched: int = 0
    """How many operators have an unknown value because they match no node of the `--model`."""


class Amounts(NamedTuple):
    """The sums of a column over chosen operators of both sides."""

    ours: Amount
    base: Amount
    operators: int
    """How many operators count. Operators in bodies count only for `params`."""
    in_bodies: int
    """How many operators do not count, because they are in bodies."""


def amounts_of(metric: str, query: Query, source: Profile | Comparison) -> Amounts:
    """Return the sum of a metric over the operators that `query` selects, on each side."""
    table = run(query, source)
    chosen = np.ones(len(table), np.bool_)
    if metric != "params":  # the model also stores the weights of operators in bodies
        chosen = (
            table.shown.of_operators(lambda rows: rows.profile.in_bodies().astype(np.float64)) == 0
        )
    comparison = table.shown.comparison
    ours, base = chosen, chosen
    if comparison is not None:
        ours, base = (side & chosen for side in table.shown.on_sides)
    return Amounts(
        ours=_amount(table.shown.profile, metric, table, ours),
        base=Amount()
        if comparison is None
        else _amount(comparison.base, metric, table, base, "base_"),
        operators=int(chosen.sum()),
        in_bodies=int((~chosen).sum()),
    )


def _amount(
    profile: Profile, metric: str, table: Table, rows: NDArray[np.bool_], prefix: str = ""
) -> Amount:
    values = table[f"{prefix}{metric}"][rows]
    unknown = np.isnan(values)
    # Every node of a model has a number of parameters, so N/A means that no node matches.
    has_model = profile.model is None and "params" in profile.operators.optional
    unmatched = unknown & np.isnan(table[f"{prefix}params"][rows]) & has_model
    return Amount(float(values.sum()), int(unknown.sum()), int(unmatched.sum()))


def is_beyond(amounts: Amounts, limit: float, limit_unit: str, *, above: bool) -> bool:
    """Return whether the amount is above the limit, or below the limit if `above` is false."""
    bound = {
        "amount": limit,
        "amount more": amounts.base.value + limit,
        "of baseline": amounts.base.value * (1 + limit),
    }[limit_unit]
    return amounts.ours.value > bound if above else amounts.ours.value < bound


def reason_unjudged(amounts: Amounts, metric: str, *, relative: bool) -> str:
    """Return why a condition cannot be judged; empty if it can be."""
    if not amounts.operators:
        bodies = ": totals leave out the operators in bodies" if amounts.in_bodies else ""
        return f"no operator matches{bodies}"
    ours, base = amounts.ours, amounts.base
    if ours.unknown:
        reason = f"{metric}: {_unknown_text(ours)}"
        # In a comparison, the filter below would also leave out operators of the baseline.
        if relative or ours.unknown == amounts.operators:
            return reason
        return f"{reason}; --where '{metric} >= 0' leaves them out"
    if relative and base.unknown:
        return f"{metric}: {_unknown_text(base, ' of the baseline')}"
    return ""


def _unknown_text(amount: Amount, side: str = "") -> str:
    """Return a text such as `2 operators with N/A, which match no node of the model`."""
    text = f"{counted(amount.unknown, 'operator')}{side} with N/A"
    if not amount.unmatched:
        return text
    which = "which" if amount.unmatched == amount.unknown else f"{amount.unmatched} of them"
    return f"{text}, {which} match no node of the model"

"""Judges conditions of `--fail-if` on work. Work is exact, so no statistics are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.query.rows import MOST_UNKNOWN
from profile_analyze.query.run import run
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table

WORK_METRICS: Final[Mapping[str, str]] = {
    "computation": "FLO",
    "memory": "byte",
    "macs": "count",
    "params": "count",
}
"""The unit of each metric. A metric is the sum of the column of the same name."""

_MAY_BE_PARTIAL: Final = ("computation", "memory")
"""Metrics that leave out operators of unknown work if these operators take little time. `params`
is not such a metric, because an operator that takes no time may have many parameters."""
_OF_MODELS: Final = ("macs", "params")
"""Metrics that a profile of a run has only with `--model`."""


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
    """How many operators the condition selects. Operators in bodies count only for `params`."""
    in_bodies: int
    """How many selected operators do not count, because they are in bodies."""
    left_out: int
    """How many of `operators` do not count, because their work is unknown and they take little
    time."""
    unknown_share: float
    """The time of operators of unknown work, as a share of the time of all chosen operators. NaN if
    the share does not matter."""
    needs_model: bool
    """Whether only `--model` adds this kind of work to the profile."""


def amounts_of(
    metric: str, query: Query, source: Profile | Comparison, *, relative: bool
) -> Amounts:
    """Return the sum of a metric over the operators that `query` selects, on each side.

    `relative` says whether the sum of the baseline matters, too. An operator is unknown if its work
    is unknown on a side that matters. If all unknown operators together take little time, the sums
    of both sides leave them out: see `Amounts.left_out`.
    """
    table = run(query, source)
    in_bodies = np.zeros(len(table), np.bool_)
    if metric != "params":  # the model also stores the weights of operators in bodies
        in_bodies = (
            table.shown.of_operators(lambda rows: rows.profile.in_bodies().astype(np.float64)) > 0
        )
    profile, comparison = table.shown.profile, table.shown.comparison
    ours, base = ~in_bodies, ~in_bodies
    if comparison is not None:
        ours, base = (side & ~in_bodies for side in table.shown.on_sides)
    unknown = ours & np.isnan(table[metric])
    if relative:
        unknown |= base & np.isnan(table[f"base_{metric}"])
    share = share_of_time(table, unknown) if metric in _MAY_BE_PARTIAL else np.nan
    left_out = unknown if share <= MOST_UNKNOWN else np.zeros(len(table), np.bool_)
    return Amounts(
        ours=_amount(profile, metric, table, ours & ~left_out),
        base=Amount()
        if comparison is None
        else _amount(comparison.base, metric, table, base & ~left_out, "base_"),
        operators=int((~in_bodies).sum()),
        in_bodies=int(in_bodies.sum()),
        left_out=int(left_out.sum()),
        unknown_share=share,
        needs_model=metric in _OF_MODELS and not _has_model(profile),
    )


def share_of_time(table: Table, chosen: NDArray[np.bool_]) -> float:
    """Return the share of the time of `table` that chosen operators take on both sides together."""
    names = ("time", "base") if table.query.compared else ("time",)
    times_s = np.concatenate([table[name] for name in names])
    whole_s = np.nansum(times_s)
    return float(np.nansum(times_s[np.tile(chosen, len(names))]) / whole_s) if whole_s else np.nan


def _has_model(profile: Profile) -> bool:
    return profile.model is not None or "params" in profile.operators.optional


def _amount(
    profile: Profile, metric: str, table: Table, rows: NDArray[np.bool_], prefix: str = ""
) -> Amount:
    values = table[f"{prefix}{metric}"][rows]
    unknown = np.isnan(values)
    # Every node of a model has a number of parameters, so N/A means that no node matches.
    has_model_option = profile.model is None and _has_model(profile)
    unmatched = unknown & np.isnan(table[f"{prefix}params"][rows]) & has_model_option
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
    share = _share_text(amounts)
    if ours.unknown:
        reason = f"{metric} is N/A for {_unknown_text(ours)}{share}"
        if amounts.needs_model:
            return f"{reason}; --model FILE adds {metric} from the model that ran"
        # In a limit on the change, the filter below would also leave out removed operators.
        if relative or ours.unknown == amounts.operators:
            return reason
        return f"{reason}; --where '{metric} >= 0' leaves them out"
    if relative and base.unknown:
        return f"{metric} is N/A for {_unknown_text(base, ' of the baseline')}{share}"
    return ""


def left_out_text(amounts: Amounts) -> str:
    """Return the remark on operators that are not counted; empty if all are counted."""
    if not amounts.left_out:
        return ""
    operators = counted(amounts.left_out, "operator")
    return f"; not counted: {operators} of unknown work{_share_text(amounts)}"


def _share_text(amounts: Amounts) -> str:
    share = amounts.unknown_share
    return "" if np.isnan(share) else f" ({percent(share)} of the time)"


def _unknown_text(amount: Amount, side: str = "") -> str:
    """Return a text such as `2 operators, which match no node of the model`."""
    text = f"{counted(amount.unknown, 'operator')}{side}"
    if not amount.unmatched:
        return text
    which = "which" if amount.unmatched == amount.unknown else f"{amount.unmatched} of them"
    return f"{text}, {which} match no node of the model"

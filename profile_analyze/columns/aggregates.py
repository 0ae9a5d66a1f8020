"""The aggregates, such as `sum` and `p90`, which turn the values of a group into one value.

Their formulas are in `group_values.py`. This module does not import NumPy, so that `--help` can
list the aggregates quickly.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from profile_analyze.columns.column import AggregateOf, Column

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    How: TypeAlias = Literal["sum", "mean", "deviation", "count", "percentile"]


class Aggregate(NamedTuple):
    """How the values of a group become one value. N/A values are left out."""

    how: How
    share: float = nan
    """The percentile as a fraction: 0.9 for p90, 1 for the maximum. NaN for other aggregates."""

    @property
    def adds_up(self) -> bool:
        """Whether a ratio of a group, such as FLOPS, is the ratio of two sums.

        If false, the group's ratio is an aggregate of the operators' own ratios: the maximum of
        FLOPS is the FLOPS of the fastest operator.
        """
        return self.how in ("sum", "mean")


COUNT: Final = "count"
DEFAULT_AGGREGATE: Final = "sum"

AGGREGATES: Final[Mapping[str, Aggregate]] = {
    "sum": Aggregate("sum"),
    "mean": Aggregate("mean"),
    "max": Aggregate("percentile", 1.0),
    "min": Aggregate("percentile", 0.0),
    "median": Aggregate("percentile", 0.5),
    "std": Aggregate("deviation"),
    COUNT: Aggregate("count"),
}
"""The aggregates with a fixed name. `find_aggregate` also finds percentiles, such as `p90`."""


def find_aggregate(name: str) -> Aggregate | None:
    """Return the aggregate for a name such as `max`, `p90` or `p99.9`; None for a wrong name."""
    if name in AGGREGATES:
        return AGGREGATES[name]
    number = name.removeprefix("p")
    if number == name or not number.replace(".", "", 1).isdecimal() or not number.isascii():
        return None
    share = float(number) / 100
    return Aggregate("percentile", share) if share <= 1 else None


def canonical_name(name: str) -> str:
    """Return the canonical spelling of an aggregate: `p50` for `p50.0`."""
    return name if name in AGGREGATES else f"p{float(name[1:]):.15g}"


def known_aggregate(name: str) -> Aggregate:
    """Return the aggregate for a name that `find_aggregate` has found before."""
    aggregate = find_aggregate(name)
    assert aggregate is not None, f"there is no aggregate {name}"
    return aggregate


def aggregate_column(column: Column, aggregate: str) -> Column:
    """Return the column of an aggregate, such as `time.p90`."""
    is_count = aggregate == COUNT
    name = column.name
    return Column(
        f"{name}.{aggregate}",
        "1" if is_count else column.unit,
        f"how many operators have a {name}" if is_count else f"{aggregate} of {name}",
        AggregateOf(name, aggregate),
        of_operators=None,
        has_side=column.has_side,
        timed=column.timed and not is_count,
        measured=column.measured and not is_count,
        optional=column.optional,
        shown_as=column.shown_as,
        needs_peaks=column.needs_peaks,
        needs_base=column.needs_base,
    )

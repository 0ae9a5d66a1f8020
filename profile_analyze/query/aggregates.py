"""The aggregates: how the values of a group's operators become one value.

This module only names them, so that `--help` can list them without NumPy. `group_values.py`
computes them.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    How: TypeAlias = Literal["sum", "mean", "deviation", "count", "percentile"]


class Aggregate(NamedTuple):
    """One way to turn a group's values into one value. Values that are N/A are left out."""

    how: How
    share: float = nan
    """Of a percentile: the share of the values that lie below it."""

    @property
    def adds_up(self) -> bool:
        """Whether a group's ratio divides aggregates: numerators by denominators.

        A sum does so. A maximum is taken of the operators' own ratios.
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
"""Every aggregate by the name that users give it, and `pN` besides: see `find_aggregate`."""


def find_aggregate(name: str) -> Aggregate | None:
    """The aggregate of that name, or None. `p90`, `p99.9` and the like are percentiles."""
    if name in AGGREGATES:
        return AGGREGATES[name]
    number = name.removeprefix("p")
    if number == name or not number.replace(".", "", 1).isdecimal() or not number.isascii():
        return None
    share = float(number) / 100
    return Aggregate("percentile", share) if share <= 1 else None


def canonical_name(name: str) -> str:
    """The one name of an aggregate that has several: `p50.0` is `p50`."""
    return name if name in AGGREGATES else f"p{float(name[1:]):g}"

"""Writes times for people. All times of one part of a report have the same unit and decimals."""

from __future__ import annotations

from math import ceil, isfinite, log10
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from profile_analyze.columns.wording import without_residue
from profile_analyze.units import (
    NOT_AVAILABLE,
    seconds,
    seconds_fixed,
    short_time,
    six_digits,
    time_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

TimeUnit: TypeAlias = Literal["auto", "s", "ms", "us", "ns"]
"""What a user can ask for. `auto` chooses by the largest time."""

TIME_UNITS: Final[tuple[TimeUnit, ...]] = get_args(TimeUnit)

AUTO: Final = "auto"
UNIT_EXPONENTS: Final = {"s": 0, "ms": -3, "us": -6, "ns": -9}
_SECONDS_IN_TITLE: Final = "(s)"
_FINEST_EXPONENT: Final = -10
"""The last decimal of seconds that may be shown: 0.1 ns. No clock is finer."""
_TOO_LONG_S: Final = 1e9
"""Longer times are written with a power of ten. Only a damaged profile has times this long."""
_MOST_DIGITS: Final = 6
"""The most digits before the point of a time with its unit."""


class Times(NamedTuple):
    """How the times of one part of a report are written."""

    unit: str = ""
    """Empty for seconds as the original writes them: three digits, or six for totals."""
    decimals: int = 0
    is_fixed: bool = False
    """Whether the user chose the unit."""

    @property
    def as_original(self) -> bool:
        """Whether times are written as the original writes them."""
        return not self.unit

    def number(self, time_s: float, *, signed: bool = False) -> str:
        """Return a time without its unit, for a column whose title has the unit.

        A time that would be rounded to 0 is shown as `<0.001`. A difference gets more decimals
        instead, such as `-0.0003`. Differences below the finest resolution are 0.
        """
        if not isfinite(time_s):
            return NOT_AVAILABLE
        if signed:
            time_s = without_residue(time_s, "s")
        plus = "+" if signed and time_s > 0 else ""
        if self.as_original:
            return plus + seconds(time_s)
        if time_s == 0:
            return "0"
        if abs(time_s) >= _TOO_LONG_S:
            return plus + _with_power_of_ten(time_s, -UNIT_EXPONENTS[self.unit])
        value = time_in(time_s, self.unit)
        text = f"{value:.{self.decimals}f}"
        if float(text) == 0:
            return self._small_number(value, plus, signed=signed)
        return plus + text

    def _small_number(self, value: float, plus: str, *, signed: bool) -> str:
        """Return a number in this unit that would be rounded to 0: see `number`."""
        if signed:
            finest = UNIT_EXPONENTS[self.unit] - _FINEST_EXPONENT
            text = f"{value:.{min(ceil(-log10(abs(value))), finest)}f}"
            return plus + text if float(text) else "0"
        least = f"{10.0**-self.decimals:.{self.decimals}f}"
        return f"<{least}" if value > 0 else f">-{least}"

    def text(self, time_s: float, *, signed: bool = False) -> str:
        """Return a time with its unit: `33.877 ms`.

        Two kinds of time get the unit that suits them, unless the user chose one: a difference of
        fewer than three digits, such as `+19.0 us`, and a time of more than six digits before the
        point, such as `13.336 s` instead of `13336315.805 us`.
        """
        if self._is_unreadable(time_s):
            own = times_for([time_s], AUTO)
            return f"{own.number(time_s, signed=signed)} {own.unit}"
        is_small = signed and 0 < abs(without_residue(time_s, "s")) < 100 * self._resolution_s
        if is_small and not (self.as_original or self.is_fixed):
            return f"{'+' if time_s > 0 else ''}{short_time(time_s)}"
        number = self.number(time_s, signed=signed)
        return number if number == NOT_AVAILABLE else f"{number} {self.unit or 's'}"

    def _is_unreadable(self, time_s: float) -> bool:
        """Return whether the time has too many digits before the point in this unit."""
        if self.as_original or self.is_fixed or not abs(time_s) < _TOO_LONG_S:
            return False
        value = round(abs(time_s) * 10.0 ** -UNIT_EXPONENTS[self.unit], self.decimals)
        return self.unit != "s" and value >= 10.0**_MOST_DIGITS

    @property
    def _resolution_s(self) -> float:
        """The time that the last decimal stands for."""
        return 10.0 ** (UNIT_EXPONENTS.get(self.unit, 0) - self.decimals)

    def total(self, time_s: float) -> str:
        """Return a total: `103.739 ms`. The original writes six digits without a unit."""
        return six_digits(time_s) if self.as_original else self.text(time_s)

    def copy_time(self, time_s: float) -> str:
        """Return the time of copies. The original writes four decimals without a unit."""
        return seconds_fixed(time_s) if self.as_original else self.text(time_s)

    def title(self, title: str) -> str:
        """Return the title with this unit in place of seconds: `lost (s)` becomes `lost (ms)`."""
        return title if self.as_original else title.replace(_SECONDS_IN_TITLE, f"({self.unit})")

    def original_title(self, title: str) -> str:
        """Return a title with this unit after it. The titles of the original have no unit."""
        return title if self.as_original else f"{title} ({self.unit})"


def _with_power_of_ten(number: float, exponent: int) -> str:
    """Return `number * 10**exponent`, which may be too large for a float."""
    digits, _, own = f"{number:.3e}".partition("e")
    return f"{digits}e{int(own) + exponent:+03d}" if own else digits


ORIGINAL: Final = Times()


def times_for(times_s: Iterable[float], wanted: TimeUnit) -> Times:
    """Return how to write `times_s`: in the wanted unit, or in the unit of the largest time.

    The unit that suits the largest time also decides the number of decimals. For example, if that
    unit is ms, times are shown to the microsecond: `1.234` in ms, `0.001234` in s. In ns, these
    times have no decimals.
    """
    largest_s = max((abs(time_s) for time_s in times_s if isfinite(time_s)), default=0.0)
    suitable = next(
        (unit for unit, exponent in UNIT_EXPONENTS.items() if largest_s >= 10.0**exponent),
        "ns" if largest_s else "s",
    )
    unit = suitable if wanted == AUTO else wanted
    resolution = max(UNIT_EXPONENTS[suitable] - 3, _FINEST_EXPONENT)
    decimals = max(0, UNIT_EXPONENTS[unit] - resolution)
    return Times(unit, decimals, is_fixed=wanted != AUTO)


def time_text(time_s: float, wanted: TimeUnit = AUTO) -> str:
    """Return one time in the wanted unit, or in the unit that suits it: `8.782 ms`."""
    return times_for([time_s], wanted).text(time_s)

"""Reads and writes quantities with units.

The numbers are in base units: seconds, bytes, floating-point operations (FLO).
"""

from __future__ import annotations

import re
from math import inf, isfinite, isinf, isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean
from profile_analyze.advice.words import UNIT_WORDS
from profile_analyze.errors import QuantityError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

NOT_AVAILABLE: Final = "N/A"

MS_PER_S: Final = 1e3
US_PER_S: Final = 1e6

_PREFIXES: Final = ("", "K", "M", "G", "T", "P", "E", "Z", "Y")
# prefix -> power of 1000; if an `i` follows (`Ki`), power of 1024. SI writes kilo as `k`, but many
# tools write `K`.
_DECIMAL: Final = {"k": 1} | {prefix: power for power, prefix in enumerate(_PREFIXES) if prefix}

# unit -> (factor between prefixes, the unit without a prefix, the unit after a prefix)
# MegEngine's own profile_analyze writes units in this way: `12.00 byte`, `1.50 KiB`, `2.00 GFLOPS`.
SCALED: Final = {
    "FLO": (1000.0, "FLO", "FLO"),
    "FLO/s": (1000.0, "FLOPS", "FLOPS"),
    "byte": (1024.0, "byte", "iB"),
    "byte/s": (1024.0, "byte/s", "iB/s"),
    "count": (1000.0, "", ""),
}

# unit -> its accepted spellings without a prefix; messages use the first spelling
_SPELLINGS: Final = {
    "FLO": ("FLO", "FLOP", ""),
    # Data sheets count the operations of integers in OPS.
    "FLO/s": ("FLOPS", "FLO/s", "FLOP/s", "OPS", "OP/s", ""),
    "byte": ("B", "byte", "bytes", ""),
    "byte/s": ("B/s", "byte/s", "bytes/s", ""),
    "FLO/byte": ("FLO/byte", "FLO/B", "FLOP/byte", "FLOP/B", ""),
    "count": ("",),
    "1": ("",),
    "": ("",),
}
EXAMPLES: Final = {
    "s": "1ms",
    "FLO": "2GFLO",
    "FLO/s": "2GFLOPS",
    "byte": "10MiB",
    "byte/s": "10GiB/s",
    "FLO/byte": "4.5",
    "count": "2M",
    "1": "5%",
    "": "12",
}
"""An example of a quantity in each unit, for messages."""

# unit -> its length in seconds, written as a decimal text if a float would not be exact
_SECONDS: Final[Mapping[str, int | str]] = {
    "s": 1,
    "ms": "1e-3",
    "us": "1e-6",
    # These two characters look the same. Some keyboards have the first, others the second.
    "\N{MICRO SIGN}s": "1e-6",
    "\N{GREEK SMALL LETTER MU}s": "1e-6",
    "ns": "1e-9",
    "min": 60,
    "h": 3600,
}
_PERCENT: Final = "1e-2"

_MAX_FACTOR_DIGITS: Final = 25
"""The number of digits of the largest factor, 1024 ** 8."""

_MAX_FIXED_FRACTION: Final = 1e15
"""`percent` writes larger fractions with a power of ten: a float has at most 17 exact digits."""


def parse_time(text: str) -> float:
    """Return the seconds in a text such as `0.001`, `1ms`, `20 us` or `inf`.

    A number without a unit is in seconds. The result is rounded once: `3us` is the float nearest to
    0.000003.

    Raises `QuantityError` if the text is not a time.
    """
    number, unit = _split_unit(text)
    try:
        # An unknown unit is reported below, with the same message as a wrong number.
        seconds = _product(number, _SECONDS.get(unit, 1))
    except ValueError:
        seconds = float("nan")
    if unit not in _SECONDS or isnan(seconds):
        known = ", ".join(unit for unit in _SECONDS if unit.isascii())
        advice = did_you_mean(likely_quantities(text, "s")) or (
            f"write seconds, or a number with one of {known}: 0.001, 1ms"
        )
        raise QuantityError(f"{text!r} is not a time; {advice}")
    return seconds


def _split_unit(text: str) -> tuple[str, str]:
    """Return the number and the unit in `text`, both unchecked. The default unit is `s`."""
    stripped = text.strip()
    digits = stripped.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\u00b5\u03bc")
    unit = stripped[len(digits) :]
    # The letters of `inf` are not a unit.
    if unit.lower() in ("inf", "infinity", ""):
        return stripped, "s"
    return digits.strip(), unit


def parse_quantity(text: str, unit: str) -> float:
    """Return the quantity in `text` as a number in the base unit `unit`: `10MiB` is 10485760.0.

    `unit` is the unit of a column: s, FLO, FLO/s, byte, byte/s, FLO/byte, count, 1, or empty.
    Prefixes are decimal (`k` or `K`, M, G, T, P, E, Z, Y), and for bytes also binary (`Ki`, `Mi`
    ...). With the unit 1, `5%` is 0.05. A number without a unit is in the base unit. The product of
    number and prefix is rounded once: `2054.048kB` is 2054048.0 bytes.

    Raises `QuantityError` if the text is not a quantity in this unit.
    """
    if unit == "s":
        return parse_time(text)
    # `float` would also accept `inf`, `nan` and `1_000`.
    match = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", text)
    factor = _factor(match[2], unit) if match else None
    if match and unit == "1" and match[2] == "%":
        value = _product(match[1], _PERCENT)
    elif match and factor is not None:
        value = _product(match[1], factor)
    else:
        value = inf
    if isinf(value):  # not a number, or too large for a float
        spelling = _SPELLINGS[unit][0]
        with_unit = f" with the unit {spelling}" if spelling else ""
        advice = did_you_mean(likely_quantities(text, unit))
        end = f"; {advice}" if advice else f", such as {EXAMPLES[unit]}"
        raise QuantityError(f"{text!r} is not a number{with_unit}{end}")
    return value


def likely_quantities(text: str, unit: str) -> list[str]:
    """Return `text` with corrected commas and unit: `1,5 sec` gives `1.5s`.

    The list is empty if `text` does not become a quantity in `unit`.
    """
    if len(text) > LONGEST_ADVISED:
        return []
    match = re.fullmatch(r"\s*([+-]?\d[\d,]*\.?\d*)\s*(.*?)\s*", text)
    if match is None:
        return []
    # The comma in 1,000 separates thousands. The comma in 1,5 is a decimal comma.
    number = re.sub(r",(?=\d{3}(?!\d))", "", match[1]).replace(",", ".")
    written = UNIT_WORDS.get(match[2].lower(), match[2]).lower()
    if unit == "1" and written in ("x", "times", "\N{MULTIPLICATION SIGN}"):
        written = ""
    spellings = [one for one in _all_spellings(unit) if one.lower() == written]
    return [number + spellings[0]] if spellings and number.count(".") < 2 else []


def _all_spellings(unit: str) -> list[str]:
    """Return all ways to write a unit, with every prefix."""
    if unit == "s":
        return [*_SECONDS]
    prefixes = ["", *_DECIMAL] if unit in SCALED else [""]
    if unit in SCALED and SCALED[unit][0] == 1024:
        prefixes += [f"{prefix}i" for prefix in _DECIMAL]
    percent_sign = ["%"] if unit == "1" else []
    return [prefix + base for base in _SPELLINGS[unit] for prefix in prefixes] + percent_sign


def _product(number: str, factor: int | str) -> float:
    """Return the float that is nearest to the exact product of two decimal numbers.

    Raises `ValueError` if `number` is not a number.
    """
    nearest = float(number)
    # 1e999999999 is infinite as a float. As an exact decimal, its product would raise `Overflow`.
    if factor == 1 or nearest == 0 or not isfinite(nearest):
        return nearest
    return float(_exact_product(number, factor))


def _exact_product(number: str | float, factor: int | str) -> Decimal:
    """Return the exact product for a text; for a float, the product with over 25 digits."""
    # Imported here, because few calls need it and the import takes a millisecond.
    from decimal import Context, Decimal

    # A product with a text never has more digits than this.
    context = Context(prec=len(str(number)) + _MAX_FACTOR_DIGITS)
    return context.multiply(Decimal(number), Decimal(factor))


def _factor(written: str, unit: str) -> int | None:
    """Return the factor of the prefix: 1000 if `written` is `kB` and `unit` is `byte`.

    Return None if `written` is not a spelling of `unit`.
    """
    # The last spelling is empty and matches any text, so that the M in `10M` counts as a prefix.
    for spelling in _SPELLINGS[unit]:
        if not written.endswith(spelling):
            continue
        prefix = written[: len(written) - len(spelling)]
        if not prefix:
            return 1
        if unit not in SCALED:  # units such as FLO/byte have no prefixes
            continue
        if prefix in _DECIMAL:
            return int(1000 ** _DECIMAL[prefix])
        if prefix.endswith("i") and prefix[:-1] in _DECIMAL and SCALED[unit][0] == 1024:
            return int(1024 ** _DECIMAL[prefix[:-1]])
    return None


def scaled(value: float, unit: str, *, as_original: bool = False) -> tuple[str, str]:
    """Return `value` with two decimals, and its unit with a suitable prefix.

    `unit` is FLO, FLO/s or count (prefixes of 1000), byte or byte/s (prefixes of 1024). 231211008
    FLO gives `("231.21", "MFLO")`, a value that is not finite gives `("N/A", "FLO")`. A value too
    large for all prefixes is written with a power of ten.

    The prefix is chosen after rounding: 999999 FLO is `1.00 MFLO`. With `as_original`, the prefix
    is chosen before rounding, as in MegEngine's own tool: `1000.00 KFLO`.
    """
    factor, plain, prefixed = SCALED[unit]
    if not isfinite(value):
        return NOT_AVAILABLE, plain
    rest = value
    for prefix in _PREFIXES:
        # A small count is exact: 64, not 64.00.
        is_count = not (prefix or plain) and float(rest).is_integer()
        rounded = rest if as_original else round(rest, 2)
        if abs(rounded) < factor:
            return f"{rest:.{0 if is_count else 2}f}", prefix + prefixed if prefix else plain
        rest /= factor
    return f"{value:.2e}", plain


def scaled_text(value: float, unit: str) -> str:
    """Return the number and the unit of `scaled` as one text: `231.21 MFLO`, `25.56 M`, `64`."""
    return " ".join(scaled(value, unit)).rstrip()


def base_unit_name(unit: str) -> str:
    """Return the name of a base unit for people: `FLOPS` for FLO/s."""
    return SCALED[unit][1] if unit in SCALED else unit


def suitable_unit(value: float, unit: str) -> str:
    """Return the unit with the prefix that suits `value`: `ms` for 0.002 s, `GFLOPS`, `MiB`."""
    if unit != "s":
        return scaled(value, unit)[1]
    fitting = (one for one, least in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)) if value >= least)
    return next(fitting, "ns")


def time_in(time_s: float, unit: str) -> float:
    """Return a time in `unit`, such as ms, rounded to 12 significant digits.

    Further digits depend on how a time was computed, such as the order of additions. Because of
    them, equal times near 2.4565 could be written as 2.456 and as 2.457.
    """
    return float(f"{time_s / float(_SECONDS[unit]):.12g}")


def seconds(value: float) -> str:
    """Return seconds with three significant digits: `0.00878`, `9e-05`; N/A if not finite."""
    return f"{value:.3}" if isfinite(value) else NOT_AVAILABLE


def short_time(time_s: float, digits: int = 3) -> str:
    """Return a time with a few significant digits in the unit that suits it: `12.2 ms`, `1.39 us`.

    N/A if the time is not finite. The text is for sentences, where each time has its own unit.
    """
    if not time_s:
        return "0 s"
    if not isfinite(time_s):
        return NOT_AVAILABLE
    # The unit is chosen after rounding: 0.9999 s is 1.00 s, not 1000 ms.
    unit = suitable_unit(abs(float(f"{time_s:.{digits}g}")), "s")
    return f"{significant(time_in(time_s, unit), digits)} {unit}"


def decimal_rate(value: float) -> str:
    """Return bytes per second as text in GB/s (1e9 bytes), as in data sheets: `1555 GB/s`."""
    if not isfinite(value):
        return NOT_AVAILABLE
    # The inner format rounds to four digits. The outer format avoids a power of ten.
    return f"{float(f'{value / 1e9:.4g}'):g} GB/s"


def three_digits(value: float) -> str:
    """Return a number with three significant digits: `57.3`, `1.10`, `2050`; N/A if not finite."""
    return significant(value, 3)


def significant(value: float, digits: int) -> str:
    """Return a number with this many significant digits, at most six; N/A if it is not finite."""
    if not isfinite(value):
        return NOT_AVAILABLE
    rounded = float(f"{value:.{digits}g}")
    if 10**digits <= abs(rounded) < 1e6 or not value:
        return f"{rounded:.0f}"  # without a power of ten
    # The # keeps zeros at the end: `1.10`. It also keeps the point of `100.`, which is removed.
    return f"{value:#.{digits}g}".removesuffix(".")


def p_text(p_value: float) -> str:
    """Return p as text: `p 0.0571`, or `p < 0.001` for all values below 0.001."""
    return "p < 0.001" if p_value < 1e-3 else f"p {three_digits(p_value)}"


def six_digits(value: float) -> str:
    """Return a number with six significant digits: `0.103739`, `0`; N/A if not finite."""
    return f"{value:g}" if isfinite(value) else NOT_AVAILABLE


def seconds_fixed(value: float) -> str:
    """Return seconds with four decimals: `0.0138`; N/A if not finite."""
    return f"{value:.4f}" if isfinite(value) else NOT_AVAILABLE


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal: 0.0846 gives `8.5%`; N/A if not finite.

    Huge fractions are written with a power of ten: 1e308 gives `1.0e+310%`.
    """
    if not isfinite(fraction):
        return NOT_AVAILABLE
    if abs(fraction) < _MAX_FIXED_FRACTION:
        return f"{fraction * 100:.1f}%"
    return f"{_exact_product(fraction, 100):.1e}%"  # as a float, the product may be infinite


def small_percent(fraction: float) -> str:
    """Return a fraction as `percent` does, but `<0.1%` if it would be rounded to 0."""
    text = percent(fraction)
    return "<0.1%" if fraction > 0 and text == percent(0) else text


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 operator`, `6 operators`."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"

"""Quantities as people write and read them. Nothing else in the package scales a number.

Everywhere else numbers are in base units: seconds, bytes, floating-point operations (FLO).
"""

from __future__ import annotations

import re
from math import inf, isfinite, isinf, isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QuantityError

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_AVAILABLE: Final = "N/A"

_EXACT: Final = 1e15
_PREFIXES: Final = ("", "K", "M", "G", "T", "P", "E", "Z", "Y")
_DECIMAL: Final = {"k": 1} | {prefix: power for power, prefix in enumerate(_PREFIXES) if prefix}

# unit -> factor from one prefix to the next, the unit without a prefix, the unit behind a prefix
SCALED: Final = {
    "FLO": (1000.0, "FLO", "FLO"),
    "FLO/s": (1000.0, "FLOPS", "FLOPS"),
    "byte": (1024.0, "byte", "iB"),
    "byte/s": (1024.0, "byte/s", "iB/s"),
}

# unit -> the ways to write it without a prefix, the first being the one to show
_UNIT_WORDS: Final = {
    "FLO": ("FLO", "FLOP", ""),
    "FLO/s": ("FLOPS", "FLO/s", "FLOP/s", ""),
    "byte": ("B", "byte", "bytes", ""),
    "byte/s": ("B/s", "byte/s", "bytes/s", ""),
    "FLO/byte": ("FLO/byte", "FLO/B", "FLOP/byte", "FLOP/B", ""),
    "1": ("",),
    "": ("",),
}
_EXAMPLES: Final = {
    "s": "1ms",
    "FLO": "2GFLO",
    "FLO/s": "2GFLOPS",
    "byte": "10MiB",
    "byte/s": "10GiB/s",
    "FLO/byte": "4.5",
    "1": "5%",
    "": "12",
}

# unit -> how many seconds it is; a text where a float could not hold it exactly
_SECONDS: Final[Mapping[str, int | str]] = {
    "s": 1,
    "ms": "1e-3",
    "us": "1e-6",
    "\N{MICRO SIGN}s": "1e-6",
    "\N{GREEK SMALL LETTER MU}s": "1e-6",
    "ns": "1e-9",
    "min": 60,
    "h": 3600,
}
_PER_CENT: Final = "1e-2"

_MOST_DIGITS_OF_A_FACTOR: Final = 25
"""1024 ** 8 has so many."""


def parse_time(text: str) -> float:
    """Seconds of a text such as `0.001`, `1ms`, `20 us`, `inf`; a bare number is in seconds.

    They are rounded once: `3us` is the float nearest to 0.000003. Raises `QuantityError`.
    """
    number, unit = _split_unit(text)
    try:
        seconds = _product(number, _SECONDS.get(unit, 1))
    except ValueError:
        seconds = float("nan")
    if unit not in _SECONDS or isnan(seconds):
        known = ", ".join(unit for unit in _SECONDS if unit.isascii())
        raise QuantityError(
            f"{text!r} is not a time; write seconds, or a number with one of {known}: 0.001, 1ms"
        )
    return seconds


def _split_unit(text: str) -> tuple[str, str]:
    """The number and the unit (`s` where there is none) in `text`; neither is checked."""
    stripped = text.strip()
    digits = stripped.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\u00b5\u03bc")
    unit = stripped[len(digits) :]
    if unit.lower() in ("inf", "infinity", ""):
        return stripped, "s"
    return digits.strip(), unit


def parse_quantity(text: str, unit: str) -> float:
    """The number that `text` is, in `unit`: `10MiB` is 10485760.0 bytes, `5%` is 0.05 of 1.

    `unit` is that of a column: s, FLO, FLO/s, byte, byte/s, FLO/byte, 1, or empty. Prefixes are
    decimal (`k` or `K`, M, G, T, P, E, Z, Y), for bytes binary too (`Ki`, `Mi` ...); a bare number
    is in the base unit. The product of number and prefix is rounded once, so that `2054.048kB` is
    2054048.0 bytes. Raises `QuantityError`.
    """
    if unit == "s":
        return parse_time(text)
    match = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", text)
    factor = _factor(match[2], unit) if match else None
    if match and unit == "1" and match[2] == "%":
        value = _product(match[1], _PER_CENT)
    elif match and factor is not None:
        value = _product(match[1], factor)
    else:
        value = inf
    if isinf(value):
        of = f" with the unit {_UNIT_WORDS[unit][0]}" if _UNIT_WORDS[unit][0] else ""
        raise QuantityError(f"{text!r} is not a number{of}, such as {_EXAMPLES[unit]}")
    return value


def _product(number: str, factor: int | str) -> float:
    """The float nearest to `number` times `factor`, both of them decimal numbers.

    What is infinite, NaN or 0 as a float stays so, which also keeps exponents such as 1e999999999
    from being written out. Raises `ValueError` if `number` is not a number.
    """
    nearest = float(number)
    if factor == 1 or nearest == 0 or not isfinite(nearest):
        return nearest
    from decimal import Context, Decimal  # a millisecond, which few calls need

    exact = Context(prec=len(number) + _MOST_DIGITS_OF_A_FACTOR)
    return float(exact.multiply(Decimal(number), Decimal(factor)))


def _factor(word: str, unit: str) -> int | None:
    """How many of `unit` the unit `word` is; None if it is not one of the kind."""
    for base in _UNIT_WORDS[unit]:
        if not word.endswith(base):
            continue
        prefix = word[: len(word) - len(base)]
        if not prefix:
            return 1
        if unit not in SCALED:
            continue
        if prefix in _DECIMAL:
            return int(1000 ** _DECIMAL[prefix])
        if prefix.endswith("i") and prefix[:-1] in _DECIMAL and SCALED[unit][0] == 1024:
            return int(1024 ** _DECIMAL[prefix[:-1]])
    return None


def scaled(value: float, unit: str) -> tuple[str, str]:
    """`value` with two decimals and its unit with the prefix that keeps it below a thousand.

    `unit` is one of FLO, FLO/s (base 1000), byte, byte/s (base 1024). 231211008 FLO gives
    `("231.21", "MFLO")`; what no prefix reaches is written as a power of ten; NaN gives
    `("N/A", "FLO")`. The scale is chosen before rounding: 999999 FLO gives `1000.00 KFLO`.
    """
    factor, plain, prefixed = SCALED[unit]
    if isnan(value):
        return NOT_AVAILABLE, plain
    rest = value
    for prefix in _PREFIXES:
        if rest < factor:
            return f"{rest:.2f}", prefix + prefixed if prefix else plain
        rest /= factor
    return f"{value:.2e}", plain


def seconds(value: float) -> str:
    """Seconds with three significant digits: `0.00878`, `9e-05`; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value:.3}"


def decimal_rate(value: float) -> str:
    """Bytes per second as makers of hardware write them: `1555 GB/s`, of 1e9 bytes."""
    return f"{float(f'{value / 1e9:.4g}'):g} GB/s"  # four digits, and no power of ten


def three_digits(value: float) -> str:
    """A number with three significant digits: `57.3`, `0.111`; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value:.3g}"


def six_digits(value: float) -> str:
    """A number, such as seconds, with six significant digits: `0.103739`, `0`; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value:g}"


def seconds_fixed(value: float) -> str:
    """Seconds with four decimals: `0.0138`; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value:.4f}"


def percent(fraction: float) -> str:
    """A fraction as a percentage with one decimal: 0.0846 gives `8.5%`; N/A for NaN.

    What has more digits than a number does is written as a power of ten: 1e308 gives `1.0e+310%`.
    """
    if isnan(fraction):
        return NOT_AVAILABLE
    if abs(fraction) < _EXACT:
        return f"{fraction * 100:.1f}%"
    from decimal import Decimal  # a hundred times such a number may be none

    return f"{Decimal(fraction) * 100:.1e}%"


def mega(value: float) -> str:
    """`value` in millions with one decimal: 231211008 gives `231.2`; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value / 1e6:.1f}"


def mebi(value: float) -> str:
    """`value` in units of 1024 squared with one decimal; N/A for NaN."""
    return NOT_AVAILABLE if isnan(value) else f"{value / 1024**2:.1f}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """A number and what it counts: `1 operator`, `6 operators`."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"

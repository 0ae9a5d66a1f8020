"""Advice for users who do not write two rates in the form `FLOPS:BANDWIDTH`."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

from profile_analyze.analysis.devices import DTYPES
from profile_analyze.errors import QuantityError
from profile_analyze.suggestions import LONGEST_ADVISED, did_you_mean
from profile_analyze.units import parse_quantity

_FLOPS_UNIT: Final = r"(?:f(?:lo(?:ps?)?)?|ops?)(?:/s)?"
_BANDWIDTH_UNIT: Final = r"i?(?:b|bytes?)(?:/s|ps)?"
_NUMBER: Final = r"\d+(?:\.\d+)?(?:e\d+)?"
_RATE: Final = rf"\d+(?:\.\d+)?\s*(?:[kmgtp](?:{_FLOPS_UNIT}|{_BANDWIDTH_UNIT})?|{_FLOPS_UNIT})"
_ANY_RATE: Final = rf"(?:{_RATE}|{_NUMBER})"
_SEPARATOR: Final = r"(?:\s*[-,;:/x|]\s*|\s+)"
_RATES: Final = (
    rf"(?P<first>{_RATE})"
    rf"(?:{_SEPARATOR}(?P<second>{_RATE})(?:{_SEPARATOR}(?P<dtype>{'|'.join(DTYPES)}))?)?"
)
"""Matches one rate, or two rates with a separator between them. A dtype may follow two rates."""
_NUMBERS: Final = rf"{_NUMBER}(?:{_SEPARATOR}{_NUMBER})*"
_WITH_DTYPE: Final = (
    rf"(?:(?P<name>[^:=]*?)\s*:\s*)?(?P<dtype>{'|'.join(DTYPES)})\s*[:=]\s*"
    rf"(?P<first>{_RATE})(?:{_SEPARATOR}(?P<second>{_RATE}))?"
)
"""Matches rates after a dtype, perhaps with the name of a device before it: `rtx3090:int8:936G`."""
_AS_IN: Final = (
    "write FLO/s and bytes per second, with a colon between them, as in 19.5T:1555G, "
    "or a device that --peaks list shows"
)
_FASTEST_MEMORY: Final = 10e12
"""In bytes per second. A larger rate without a unit, such as `284T`, is in FLO/s."""
_PARTS: Final = r"([\d.]+)\s*([kmgtp]?)(.*)"


def advice_on_rates(spec: str) -> str:
    """Return what to write instead of `spec`; empty if it has no rates, or two correct rates."""
    short = spec.strip() if len(spec) <= LONGEST_ADVISED else ""
    if re.fullmatch(rf"{_ANY_RATE}(?:{_SEPARATOR}{_ANY_RATE}){{2,}}", short, re.IGNORECASE):
        first, second, *further = re.findall(_ANY_RATE, short, re.IGNORECASE)
        count = 2 + len(further)
        better = did_you_mean([f"{first}:{second}"])
        return (
            f"{spec!r} is {count} rates, and two are needed: FLO/s and bytes per second; {better}"
        )
    match = re.fullmatch(_RATES, short, re.IGNORECASE)
    if match is None:
        with_dtype = re.fullmatch(_WITH_DTYPE, short, re.IGNORECASE)
        return _advice_on_dtype(spec, **with_dtype.groupdict()) if with_dtype else ""
    first, second = match["first"], match["second"]
    if second is None:
        return f"{spec!r} is one rate; {_AS_IN}"
    if _are_two_rates(*spec.split(":")):
        return ""
    is_swapped = _is_bandwidth(first) and not _is_bandwidth(second)
    rates = (second, first) if is_swapped else (first, second)
    better = did_you_mean([":".join(map(_with_usual_case, rates))])
    if match["dtype"]:
        return f"{spec!r}: two rates apply to every dtype, so leave out the dtype; {better}"
    mistake = " is not two rates with a colon between them"
    if is_swapped:
        mistake = ": the rate in FLO/s comes first"
    elif ":" in spec:
        mistake = ": these are not units of rates"
    return f"{spec!r}{mistake}; {better}"


def _advice_on_dtype(
    spec: str, name: str | None, dtype: str, first: str, second: str | None
) -> str:
    """Return what to write instead of rates with a dtype before them."""
    if second:
        better = did_you_mean([":".join(map(_with_usual_case, (first, second)))])
        return f"{spec!r}: two rates apply to every dtype, so leave out the dtype; {better}"
    number, prefix, unit = re.findall(_PARTS, first, re.IGNORECASE)[0]
    is_flops = (
        not _is_bandwidth(first)
        if unit
        else parse_quantity(number + prefix.upper(), "FLO/s") > _FASTEST_MEMORY
    )
    of_device = f" of {name}" if name else ""
    rates, missing = (
        (f"{first}:BANDWIDTH", f"the bytes per second{of_device}")
        if is_flops
        else (f"FLOPS:{first}", f"the FLO/s{of_device} in {dtype.lower()}")
    )
    return f"{spec!r}: a rate cannot follow a dtype; {two_rates_advice(rates, missing)}"


def two_rates_advice(rates: str, missing: str) -> str:
    """Return how to give the two rates of a device. `missing` is what the user must fill in."""
    return f"two rates apply to every dtype: --peaks {rates} with {missing}"


def advice_on_numbers(spec: str) -> str:
    """Return what to write instead of numbers without units; empty if `spec` is something else."""
    is_short = len(spec) <= LONGEST_ADVISED
    if not is_short or re.fullmatch(_NUMBERS, spec.strip(), re.IGNORECASE) is None:
        return ""
    return f"{spec!r} is neither a device nor two rates; {_AS_IN}"


def swapped(spec: str) -> str:
    """Return two rates in the opposite order, such as `1555G:19.5T`; empty if a rate has a unit.

    Rates with units need no such advice: the parser rejects them if they are in the wrong order.
    """
    match = re.fullmatch(r"\s*([\d.]+[kKMGTP]?)\s*:\s*([\d.]+[kKMGTP]?)\s*", spec)
    return f"{match[2]}:{match[1]}" if match else ""


def _are_two_rates(*parts: str) -> bool:
    if len(parts) == 2:
        with suppress(QuantityError):
            parse_quantity(parts[0], "FLO/s")
            parse_quantity(parts[1], "byte/s")
            return True
    return False


def _is_bandwidth(rate: str) -> bool:
    return re.search(rf"{_BANDWIDTH_UNIT}$", rate, re.IGNORECASE) is not None


def _with_usual_case(rate: str) -> str:
    """Return `60gflops` as `60GFLOPS`, and `15gbps` as `15GB/s`."""
    number, prefix, unit = re.findall(_PARTS, rate, re.IGNORECASE)[0]
    usual = "FLOPS"
    if _is_bandwidth(rate):
        usual = "iB/s" if unit.lower().startswith("i") else "B/s"
    return f"{number}{prefix.upper()}{usual if unit else ''}"

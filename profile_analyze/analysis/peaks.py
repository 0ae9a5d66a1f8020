"""The peak rates that operators are compared with, and the ways to name them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.analysis.devices import DEVICES, DTYPES, Device
from profile_analyze.errors import PeaksError, QuantityError
from profile_analyze.suggestions import did_you_mean, similar_names
from profile_analyze.units import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LEAST_RATE: Final = 1e-30
_LARGEST_RATE: Final = 1e30
DEFAULT_DTYPE: Final = "fp32"
ANY_DTYPE: Final = "any"
"""Stands for every dtype if only one rate is known, as in `19.5T:1555G`."""


class Peaks(NamedTuple):
    """The peak rates of a device."""

    name: str
    flops: tuple[tuple[str, float], ...]
    """FLO/s by dtype; `any` for a rate of every dtype."""
    bandwidth: float
    """Bytes per second."""
    source: str
    """Where the rates are from."""
    dtype: str = DEFAULT_DTYPE
    """The dtype assumed for operators whose dtype the profile does not say."""

    def rate(self, dtype: str | None) -> float:
        """Return the FLO/s in `dtype`, or in `self.dtype` for None; NaN if unknown."""
        rates = dict(self.flops)
        return rates.get(dtype or self.dtype, rates.get(ANY_DTYPE, float("nan")))

    def ridge(self, dtype: str | None = None) -> float:
        """Return the intensity, in FLO/byte, from which on the rate in `dtype` is the limit."""
        return self.rate(dtype) / self.bandwidth


def parse_peaks(spec: str) -> Peaks:
    """Return the peak rates of a device, or two rates that the text itself gives.

    A device is written `a100-80gb-sxm` or, with a dtype, `h100-sxm:fp16`. Two rates are written
    `19.5T:1555G`, in FLO/s and bytes per second. Files and `here` are read by the command line
    only. Raises `PeaksError`.
    """
    if not isinstance(spec, str):
        raise PeaksError(f"{spec!r} is not a text that names peaks, such as 19.5T:1555G")
    first, colon, second = (part.strip() for part in spec.partition(":"))
    if colon and second.lower() not in DTYPES:
        return _two_rates(spec, first, second)
    return peaks_of(DEVICES, first, second or None)


def peaks_of(devices: Iterable[Device], name: str, dtype: str | None) -> Peaks:
    """Return the peak rates of the device that `name` means, for operators of `dtype` by default.

    Raises `PeaksError`.
    """
    device = find_device(name, devices)
    flops = tuple((name, rate * 1e12) for name, rate in device.rates.items())
    source = "; ".join(filter(None, (device.source, device.confidence, device.remark)))
    peaks = _checked(Peaks(device.name, flops, device.bandwidth_gb_s * 1e9, source))
    return _with_dtype(peaks, dtype)


def _two_rates(spec: str, flops: str, bandwidth: str) -> Peaks:
    try:
        rate, bytes_per_s = parse_quantity(flops, "FLO/s"), parse_quantity(bandwidth, "byte/s")
    except QuantityError as error:
        raise PeaksError(
            f"{spec!r}: {error}; write FLO/s and bytes per second, as 19.5T:1555G, or a device and "
            f"one of {', '.join(DTYPES)}, as h100-sxm:fp16"
        ) from None
    return _checked(Peaks(spec, ((ANY_DTYPE, rate),), bytes_per_s, "as given", ANY_DTYPE))


def is_plausible_rate(rate: float) -> bool:
    """Whether a device can have this rate. Other rates would overflow in ratios."""
    return _LEAST_RATE < rate < _LARGEST_RATE


def _checked(peaks: Peaks) -> Peaks:
    if not all(map(is_plausible_rate, (peaks.bandwidth, *dict(peaks.flops).values()))):
        raise PeaksError(f"{peaks.name!r}: a rate must be between 1e-30 and 1e30")
    return peaks


def _with_dtype(peaks: Peaks, dtype: str | None) -> Peaks:
    """Return `peaks` with `dtype` as the default. Raises `PeaksError` if it has no rate for it."""
    rates = dict(peaks.flops)
    chosen = dtype.lower() if dtype else ANY_DTYPE if ANY_DTYPE in rates else DEFAULT_DTYPE
    if chosen not in rates and ANY_DTYPE not in rates:
        known = ", ".join(rates)
        raise PeaksError(
            f"{peaks.name} has no known rate for {chosen}; it has {known}: write which, as "
            f"{peaks.name}:{peaks.flops[0][0]}"
        )
    return peaks._replace(dtype=chosen)


def find_device(name: str, devices: Iterable[Device]) -> Device:
    """Return the one device with this name or alias, or with a name that starts with these words.

    Case and punctuation do not matter. Raises `PeaksError`, which suggests similar names.
    """
    named = [(one, device) for device in devices for one in (device.name, *device.aliases)]
    # An exact match wins, so that a file may have both `my-card` and `my card`.
    for normalized in (str.strip, _without_punctuation):
        found = {id(device): device for one, device in named if normalized(one) == normalized(name)}
        if found:
            break
    else:
        words = _words(name)
        found = {
            id(device): device
            for one, device in named
            if words and _words(one)[: len(words)] == words
        }
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        names = ", ".join(device.name for device in found.values())
        raise PeaksError(f"{name!r} may be {names}; write which")
    by_name = {_without_punctuation(one): device for one, device in named}
    suggestion = _suggestion(_without_punctuation(name), by_name)
    raise PeaksError(f"there is no device {name!r}; {suggestion}")


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.casefold())


def _without_punctuation(name: str) -> str:
    return "".join(_words(name))


def _suggestion(name: str, by_name: Mapping[str, Device]) -> str:
    near = similar_names(name, by_name, limit=4)
    names = tuple(dict.fromkeys(by_name[one].name for one in near))
    start = f"{did_you_mean(names)} " if names else ""
    return f"{start}--peaks list shows all, and 19.5T:1555G is FLO/s and bytes per second"

"""The peak rates that operators are compared with, and the ways to name them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.analysis.devices import DEVICES, DTYPES, Device
from profile_analyze.errors import PeaksError, QuantityError
from profile_analyze.units import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LEAST_RATE: Final = 1e-30
_LARGEST_RATE: Final = 1e30
"""What lies outside is no rate of a device, and would make ratios that are no numbers."""
DEFAULT_DTYPE: Final = "fp32"
ANY_DTYPE: Final = "any"
"""Stands for every dtype where only one rate is known, as of two rates that somebody typed."""


class Peaks(NamedTuple):
    """What a device can do at most."""

    name: str
    flops: tuple[tuple[str, float], ...]
    """FLO/s by dtype; `any` for a rate of every dtype."""
    bandwidth: float
    """Bytes per second."""
    source: str
    """Where the rates are from."""
    dtype: str = DEFAULT_DTYPE
    """What operators are taken to compute in where the profile does not say."""

    def rate(self, dtype: str | None) -> float:
        """FLO/s in `dtype`, that of `self.dtype` for None; NaN if the device has no such rate."""
        rates = dict(self.flops)
        return rates.get(dtype or self.dtype, rates.get(ANY_DTYPE, float("nan")))

    def ridge(self, dtype: str | None = None) -> float:
        """FLO/byte from which on the rate in `dtype`, and no longer the bandwidth, is the limit."""
        return self.rate(dtype) / self.bandwidth


def parse_peaks(spec: str) -> Peaks:
    """The peaks that `spec` names: a device (`a100-80gb-sxm`, `h100-sxm:fp16`), or two rates.

    Two rates are `19.5T:1555G`, FLO/s and bytes per second. (Files and `here` are the command
    line's.) Raises `PeaksError`.
    """
    if not isinstance(spec, str):
        raise PeaksError(f"{spec!r} is not a text that names peaks, such as 19.5T:1555G")
    first, colon, second = (part.strip() for part in spec.partition(":"))
    if colon and second.lower() not in DTYPES:
        return _typed(spec, first, second)
    return peaks_of(DEVICES, first, second or None)


def peaks_of(devices: Iterable[Device], name: str, dtype: str | None) -> Peaks:
    """The peaks of the device of that name. Raises `PeaksError`."""
    return with_dtype(device_peaks(find_device(name, devices)), dtype)


def _typed(spec: str, flops: str, bandwidth: str) -> Peaks:
    try:
        rate, bytes_per_s = parse_quantity(flops, "FLO/s"), parse_quantity(bandwidth, "byte/s")
    except QuantityError as error:
        raise PeaksError(
            f"{spec!r}: {error}; write FLO/s and bytes per second, as 19.5T:1555G, or a device and "
            f"one of {', '.join(DTYPES)}, as h100-sxm:fp16"
        ) from None
    return checked(Peaks(spec, ((ANY_DTYPE, rate),), bytes_per_s, "as given", ANY_DTYPE))


def checked(peaks: Peaks) -> Peaks:
    """`peaks`, whose rates are all positive. Raises `PeaksError`."""
    for rate in (peaks.bandwidth, *(flops for _, flops in peaks.flops)):
        if not _LEAST_RATE < rate < _LARGEST_RATE:
            raise PeaksError(f"{peaks.name!r}: a rate must be more than 0, and one of a device")
    return peaks


def with_dtype(peaks: Peaks, dtype: str | None) -> Peaks:
    """`peaks` with what operators compute in where the profile does not say.

    Raises `PeaksError` if the device has no rate for it.
    """
    rates = dict(peaks.flops)
    chosen = dtype.lower() if dtype else ANY_DTYPE if ANY_DTYPE in rates else DEFAULT_DTYPE
    if chosen not in rates and ANY_DTYPE not in rates:
        known = ", ".join(rates)
        raise PeaksError(
            f"{peaks.name} has no known rate for {chosen}; it has {known}: write which, as "
            f"{peaks.name}:{peaks.flops[0][0]}"
        )
    return peaks._replace(dtype=chosen)


def device_peaks(device: Device) -> Peaks:
    """The peaks of a device of the table, or of a file."""
    flops = tuple((name, rate * 1e12) for name, rate in device.rates.items())
    parts = (device.source, device.confidence, device.remark)
    source = "; ".join(part for part in parts if part)
    return checked(Peaks(device.name, flops, device.bandwidth_gb_s * 1e9, source))


def find_device(name: str, devices: Iterable[Device]) -> Device:
    """The one device that `name` means: its name, an alias, or the first words of only one's.

    Case and punctuation do not matter. Raises `PeaksError`, which lists the near ones.
    """
    named = [(one, device) for device in devices for one in (device.name, *device.aliases)]
    for same in (str.strip, _plain):
        meant = {id(device): device for one, device in named if same(one) == same(name)}
        if meant:
            break
    else:
        words = _words(name)
        begins = [
            (one, device) for one, device in named if words and _words(one)[: len(words)] == words
        ]
        meant = {id(device): device for _, device in begins}
    if len(meant) == 1:
        return next(iter(meant.values()))
    if meant:
        names = ", ".join(device.name for device in meant.values())
        raise PeaksError(f"{name!r} may be {names}; write which")
    by_name = {_plain(one): device for one, device in named}
    raise PeaksError(f"there is no device {name!r}; {_near(_plain(name), by_name)}")


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.casefold())


def _plain(name: str) -> str:
    return "".join(_words(name))


def _near(wanted: str, by_name: Mapping[str, Device]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, by_name, n=4)
    names = ", ".join(dict.fromkeys(by_name[one].name for one in near))
    found = f"near: {names}; " if names else ""
    return f"{found}--peaks list shows all, and 19.5T:1555G is FLO/s and bytes per second"


def read_devices(file: str, text: str) -> list[Device]:
    """The devices in the TOML text of `file`: see `docs/roofline.md`. Raises `PeaksError`."""
    tables = _decoded(file, text)
    if not tables:
        raise PeaksError(f"{file}: no device is in it; a device is a table such as [my-card]")
    devices = []
    for name, table in tables.items():
        where = f"{file}: {name}"
        if not isinstance(table, dict):
            raise PeaksError(f"{where}: a device is a table such as [my-card], not {table!r}")
        unknown = table.keys() - {*DTYPES, ANY_DTYPE, "bandwidth", "source", "aliases", "remark"}
        if unknown:
            raise PeaksError(
                f"{where}: unknown key {min(unknown)!r}; there are {', '.join(DTYPES)}, "
                f"{ANY_DTYPE}, bandwidth, source, aliases, remark"
            )
        rates = {
            dtype: _quantity(f"{where}.{dtype}", table[dtype], "FLO/s") / 1e12
            for dtype in (*DTYPES, ANY_DTYPE)
            if dtype in table
        }
        if not rates or "bandwidth" not in table:
            raise PeaksError(f"{where}: a device needs a bandwidth and the rate of some dtype")
        bandwidth = _quantity(f"{where}.bandwidth", table["bandwidth"], "byte/s") / 1e9
        devices.append(
            Device(
                name,
                rates,
                bandwidth,
                "",
                _text(f"{where}.source", table.get("source", file)),
                tuple(_text(f"{where}.aliases", one) for one in _aliases(where, table)),
                _text(f"{where}.remark", table.get("remark", "")),
            )
        )
    return devices


def _aliases(where: str, table: Mapping[str, Any]) -> list[Any]:
    aliases = table.get("aliases", [])
    if not isinstance(aliases, list):
        raise PeaksError(f"{where}.aliases: a list of texts is wanted, not {aliases!r}")
    return aliases


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise PeaksError(f"{where}: a text is wanted, not {value!r}")
    return value


def _decoded(file: str, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # some numbers raise others than its own
        raise PeaksError(f"{file}: is not valid TOML: {error}") from None


def _quantity(where: str, value: object, unit: str) -> float:
    """A rate, written as a text with a unit or as a number in the base unit."""
    try:
        rate = parse_quantity(str(value), unit)
    except QuantityError as error:
        raise PeaksError(f"{where}: {error}") from None
    if not _LEAST_RATE < rate < _LARGEST_RATE:
        raise PeaksError(f"{where}: a rate must be more than 0, and one of a device")
    return rate

"""Reads the TOML files in which users describe devices; see `docs/roofline.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from profile_analyze.errors import PeaksError, QuantityError
from profile_analyze.model.terms import DEVICE_KINDS
from profile_analyze.roofline.devices import DTYPES, Device
from profile_analyze.roofline.peaks import ANY_DTYPE, is_plausible_rate, lacking_prefix
from profile_analyze.units import parse_quantity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.terms import DeviceKind


def read_devices(file: str, text: str) -> list[Device]:
    """Return the devices in the TOML `text` of `file`. Raises `PeaksError` if a part is invalid."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # invalid numbers raise a plain ValueError
        raise PeaksError(f"{file}: is not valid TOML: {error}") from None
    if not tables:
        raise PeaksError(f"{file}: has no device; a device is a table such as [my-card]")
    return [_device(file, name, table) for name, table in tables.items()]


def _device(file: str, name: str, table: object) -> Device:
    where = f"{file}: {name}"
    if not isinstance(table, dict):
        raise PeaksError(f"{where}: a device is a table such as [my-card], not {table!r}")
    known = (*DTYPES, ANY_DTYPE, "bandwidth", "kind", "source", "aliases", "remark")
    unknown = table.keys() - {*known}
    if unknown:
        raise PeaksError(f"{where}: unknown key {min(unknown)!r}; the keys are {', '.join(known)}")
    rates = {
        dtype: _quantity(f"{where}.{dtype}", table[dtype], "FLO/s") / 1e12
        for dtype in (*DTYPES, ANY_DTYPE)
        if dtype in table
    }
    if not rates or "bandwidth" not in table:
        raise PeaksError(f"{where}: a device needs a bandwidth and the rate of some dtype")
    return Device(
        name,
        rates,
        _quantity(f"{where}.bandwidth", table["bandwidth"], "byte/s") / 1e9,
        confidence="",
        source=_text(f"{where}.source", table.get("source", file)),
        aliases=tuple(_text(f"{where}.aliases", one) for one in _aliases(where, table)),
        remark=_text(f"{where}.remark", table.get("remark", "")),
        kind=_kind(f"{where}.kind", table.get("kind")),
    )


def _kind(where: str, value: object) -> DeviceKind | None:
    for kind in DEVICE_KINDS:
        if value == kind:
            return kind
    if value is None:
        return None
    raise PeaksError(f"{where}: {value!r} is not one of {', '.join(DEVICE_KINDS)}")


def _aliases(where: str, table: Mapping[str, Any]) -> list[Any]:
    aliases = table.get("aliases", [])
    if not isinstance(aliases, list):
        raise PeaksError(f"{where}.aliases: must be a list of texts, not {aliases!r}")
    return aliases


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise PeaksError(f"{where}: must be a text, not {value!r}")
    return value


def _quantity(where: str, value: object, unit: str) -> float:
    """Return a rate in the base unit. `value` is a text with a unit, or a number without a unit."""
    try:
        rate = parse_quantity(str(value), unit)
    except QuantityError as error:
        raise PeaksError(f"{where}: {error}") from None
    if not is_plausible_rate(rate):
        raise PeaksError(f"{where}: a rate must be between 1e-30 and 1e30")
    if prefix := lacking_prefix(str(value), unit):
        raise PeaksError(
            f"{where}: {value} has no unit, so it counts as {value} {unit}; no device is that "
            f'slow; did you mean "{value}{prefix}"?'
        )
    return rate

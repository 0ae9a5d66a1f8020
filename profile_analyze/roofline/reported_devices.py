"""Finds the peak rates of the device that a profile names, for `--peaks auto`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import PeaksError
from profile_analyze.roofline.devices import DEVICES
from profile_analyze.roofline.peaks import VENDORS, as_typed, peaks_of, words_of

if TYPE_CHECKING:
    from profile_analyze.roofline.devices import Device
    from profile_analyze.roofline.peaks import Peaks

_REPORTED: Final = {
    "H100 SXM": ("H100 80GB HBM3",),
    "H200 SXM": ("H200",),
    "V100S": ("V100S PCIe",),
    "MI300X": ("MI300X OAM",),
}
"""The names that drivers report for some devices, if they differ from the names in the table."""
_MEMORY_SIZE: Final = re.compile(r"\d+gb")


def peaks_of_reported(hardware: str | None, dtype: str | None) -> Peaks:
    """Return the peak rates of the device that a profile names as `hardware`.

    Only a device of the same name matches: a similar device, such as the laptop variant of a card,
    has other rates. `dtype` is the default dtype: see `peaks_of`.

    Raises `PeaksError` if the profile names no device or several, or if the table lacks the device.
    """
    if not hardware:
        raise PeaksError(
            "--peaks auto: the profile does not name its device; name it, as in "
            "--peaks a100-40gb (--peaks list shows all devices)"
        )
    found = [device for device in DEVICES if _is_called(device, hardware)]
    if len(found) != 1:
        raise PeaksError(f"--peaks auto: {_advice(hardware)}")
    peaks = peaks_of(DEVICES, found[0].name, dtype)
    if found[0].dies == 1:
        return peaks
    return peaks._replace(
        name=f"{peaks.name} (one of {found[0].dies} dies)",
        flops=tuple((name, rate / found[0].dies) for name, rate in peaks.flops),
        bandwidth=peaks.bandwidth / found[0].dies,
    )


def _is_called(device: Device, hardware: str) -> bool:
    """Return whether `hardware` is a name of the device, apart from the vendor and a memory size.

    If the name in the table has a memory size, `hardware` must have the same size.
    """
    reported = {*words_of(hardware)} - VENDORS
    for name in (device.name, *device.aliases, *_REPORTED.get(device.name, ())):
        words = {*words_of(name)}
        if words <= reported and all(map(_MEMORY_SIZE.fullmatch, reported - words)):
            return True
    return False


def _model_of(name: str) -> str:
    """Return the word of a name that says the model: 4090 in `RTX 4090`."""
    words = words_of(name)
    return next((word for word in words if any(map(str.isdigit, word))), words[0])


def _advice(hardware: str) -> str:
    """Return why no device was chosen, with the devices that the profile may mean."""
    reported = {*words_of(hardware)}
    similar = [device.name for device in DEVICES if _model_of(device.name) in reported]
    if not similar:
        return (
            f"the profile names {hardware!r}, which is not in the table; give its rates, as in "
            "--peaks 19.5T:1555G (--peaks list shows all devices)"
        )
    return (
        f"the profile names {hardware!r}, which matches no single device in the table; give the "
        f"rates of the device, or name one of these devices: {', '.join(as_typed(similar))}"
    )

"""The table of devices for `--peaks list` and `docs/roofline.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.analysis.devices import DEVICES, DTYPES
from profile_analyze.report.drawing import draw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.analysis.devices import Device


def device_list() -> str:
    """Return the table of all known devices."""
    return device_table(DEVICES)


def device_table(devices: Iterable[Device]) -> str:
    """Return a pipe table of the devices' rates in TFLO/s and GB/s, with their sources."""
    headers = ("device", *DTYPES, "GB/s", "confidence", "source")
    rows = [
        (
            device.name,
            *(_rate_text(device.rates.get(dtype)) for dtype in DTYPES),
            f"{device.bandwidth_gb_s:g}",
            device.confidence,
            f"{device.source}; {device.remark}" if device.remark else device.source,
        )
        for device in devices
    ]
    rates = range(1, len(DTYPES) + 2)
    return draw(rows, style="pipe", headers=headers, right=list(rates)) + "\n"


def _rate_text(rate: float | None) -> str:
    return "" if rate is None else f"{rate:g}"

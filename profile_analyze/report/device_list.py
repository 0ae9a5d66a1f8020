"""The table of devices for `--peaks list` and `docs/roofline.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.analysis.devices import DEVICES, DTYPES
from profile_analyze.report.base import Display
from profile_analyze.report.cells import Cells, draw_cells
from profile_analyze.report.column_fitting import fit_columns, left_out_columns
from profile_analyze.report.drawing import draw
from profile_analyze.report.text_layout import COLUMN_GAP, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.analysis.devices import Device

_RATES: Final = (*DTYPES, "GB/s")
_HEADERS: Final = ("device", *_RATES, "confidence", "source")
_REMOVAL_ORDER: Final = ("source", "confidence", "fp64", "tf32", "int8", "fp8", "bf16", "fp16")
"""The columns that narrow terminals lack, the rarest questions first."""


def device_list(width: int | None = None) -> str:
    """Return the table of all known devices, without some columns if it is wider than `width`."""
    table = device_table(DEVICES)
    if width is None or text_width(table) <= width:
        return table
    columns = [
        Cells(header, texts, is_number=header in _RATES)
        for header, *texts in zip(_HEADERS, *_rows(DEVICES), strict=True)
    ]
    order = [_HEADERS.index(header) for header in _REMOVAL_ORDER]
    widths = [column.width() for column in columns]
    shown, _ = fit_columns(widths, width, lambda count: COLUMN_GAP * (count - 1), order)
    table = draw_cells([columns[index] for index in shown], style="plain")
    return (
        "".join([table, *left_out_columns(_HEADERS, shown, Display(width=width), chooser="")])
        + "\n"
    )


def device_table(devices: Iterable[Device]) -> str:
    """Return a pipe table of the devices' rates in TFLO/s and GB/s, with their sources."""
    right = [_HEADERS.index(header) for header in _RATES]
    return draw(_rows(devices), style="pipe", headers=_HEADERS, right=right) + "\n"


def _rows(devices: Iterable[Device]) -> list[tuple[str, ...]]:
    return [
        (
            device.name,
            *(_rate_text(device.rates.get(dtype)) for dtype in DTYPES),
            f"{device.bandwidth_gb_s:g}",
            device.confidence,
            f"{device.source}; {device.remark}" if device.remark else device.source,
        )
        for device in devices
    ]


def _rate_text(rate: float | None) -> str:
    return "" if rate is None else f"{rate:g}"

"""The table of devices for `--peaks list` and `docs/roofline.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.base import Display
from profile_analyze.report.layout.cells import Cells, draw_cells
from profile_analyze.report.layout.column_fitting import fit_columns, left_out_columns
from profile_analyze.report.layout.drawing import draw
from profile_analyze.report.layout.paragraphs import paragraph
from profile_analyze.report.layout.text_layout import COLUMN_GAP, text_width
from profile_analyze.roofline.devices import DEVICES, DTYPES
from profile_analyze.roofline.peaks import DEFAULT_DTYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.roofline.devices import Device

_RATES: Final = (*DTYPES, "GB/s")
_HEADERS: Final = ("--peaks", *_RATES, "confidence", "source")
_LEGEND: Final = (
    "Rates by dtype in TFLO/s (int8: tera-operations per second); bandwidth in GB/s. Write a name "
    "of the first column after --peaks. A dtype, as in h100-sxm:fp16, is for operators whose dtype "
    "the profile does not say. The table has no CPUs: --peaks here measures this machine, and "
    "--peaks auto shows the highest rates in the profile of a CPU."
)
_LEGEND_WIDTH: Final = 100
"""The largest width of the lines above the table."""
_REMOVAL_ORDER: Final = ("source", "confidence", "fp64", "tf32", "int8", "fp8", "bf16", "fp16")
"""The columns that are left out on narrow terminals, the least needed column first."""


def device_list(width: int | None = None) -> str:
    """Return a table of all known devices, below a paragraph that says what it shows.

    If the table is wider than `width`, some columns are left out.
    """
    legend = paragraph(_LEGEND, min(width or _LEGEND_WIDTH, _LEGEND_WIDTH), indent="") + "\n\n"
    rows = _rows(DEVICES)
    right = [_HEADERS.index(header) for header in _RATES]
    table = draw(rows, style="pipe", headers=_HEADERS, right=right) + "\n"
    if width is None or text_width(table) <= width:
        return legend + table
    columns = [
        Cells(header, texts, is_number=header in _RATES)
        for header, *texts in zip(_HEADERS, *rows, strict=True)
    ]
    order = [_HEADERS.index(header) for header in _REMOVAL_ORDER]
    widths = [column.width() for column in columns]
    shown, _ = fit_columns(widths, width, lambda count: COLUMN_GAP * (count - 1), order)
    table = draw_cells([columns[index] for index in shown], style="plain")
    left_out = left_out_columns(_HEADERS, shown, Display(width=width), chooser="")
    return "".join([legend, table, *left_out]) + "\n"


def typed_name(device: Device) -> str:
    """Return the name as users type it, with a dtype if the default dtype has no rate."""
    dtype = "" if DEFAULT_DTYPE in device.rates else f":{next(iter(device.rates))}"
    return device.name.lower().replace(" ", "-") + dtype


def _rows(devices: Iterable[Device]) -> list[tuple[str, ...]]:
    """Return the cells of each device: the name to type, the rates, and their sources."""
    return [
        (
            typed_name(device),
            *(_rate_text(device.rates.get(dtype)) for dtype in DTYPES),
            f"{device.bandwidth_gb_s:g}",
            device.confidence,
            f"{device.source}; {device.remark}" if device.remark else device.source,
        )
        for device in devices
    ]


def _rate_text(rate: float | None) -> str:
    return "" if rate is None else f"{rate:g}"

"""The fact on the cost of matrix products in tiles, and its lines."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.report.facts.model_texts import bytes_text, count_text, model_of
from profile_analyze.units import NOT_AVAILABLE, counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line
    from profile_analyze.views.summary import Summary

TILING_MEANING: Final = (
    "The cost of all matrix products outside of bodies if --split-matmul splits them into tiles, "
    "as far as the cost is known; null without --split-matmul."
)


def tiling_record(summary: Summary) -> dict[str, Any] | None:
    """Return the cost in tiles for programs; None without `--split-matmul`."""
    tiling = model_of(summary).tiling
    if tiling is None:
        return None
    numbers = {
        "macs": tiling.macs,
        "tiled_macs": tiling.tiled_macs,
        "tile_efficiency": tiling.efficiency,
        "untiled_memory_bytes": tiling.untiled_memory,
        "tiled_memory_bytes": tiling.tiled_memory,
        "padded_memory_bytes": tiling.padded_memory,
        "tile_peak_bytes": tiling.tile_peak,
        "untiled_peak_bytes": tiling.untiled_peak,
    }
    return {
        "tile": list(tiling.tile),
        "products": tiling.products,
        "split_products": tiling.split,
        "tiles": tiling.tiles,
        **{name: None if isnan(value) else value for name, value in numbers.items()},
        "tile_peak_operator": tiling.peak_operator,
    }


def tiling_lines(summary: Summary, _: Times) -> Iterator[Line]:
    """Yield the lines on the cost in tiles."""
    model = model_of(summary)
    tiling = model.tiling
    if tiling is None:
        return
    label = f"tiles of {'x'.join(map(str, tiling.tile))}"
    if not tiling.products:
        yield label, f"{NOT_AVAILABLE}, because no matrix product has a known size"
        return
    yield (
        label,
        f"{tiling.tiles}; {tiling.split} of {counted(tiling.products, 'matrix product')} split",
    )
    share = percent(tiling.macs / model.macs) if model.macs else NOT_AVAILABLE
    efficiency = NOT_AVAILABLE if isnan(tiling.efficiency) else percent(tiling.efficiency)
    yield (
        "tile efficiency",
        f"{efficiency}: {count_text(tiling.macs)} MACs ({share} of the model), "
        f"{count_text(tiling.tiled_macs)} in full tiles",
    )
    yield (
        "memory of products",
        f"{bytes_text(tiling.untiled_memory)} unsplit, {bytes_text(tiling.tiled_memory)} in tiles, "
        f"{bytes_text(tiling.padded_memory)} in full tiles",
    )
    at = "" if tiling.peak_operator is None else f" at {tiling.peak_operator}"
    yield (
        "largest tile",
        f"{bytes_text(tiling.tile_peak)}{at}; largest product {bytes_text(tiling.untiled_peak)}",
    )

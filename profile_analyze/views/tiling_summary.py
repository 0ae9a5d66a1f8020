"""The part of the summary on `--split-matmul`: what the matrix products cost in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.numbers import total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


class TilingSummary(NamedTuple):
    """The cost of all matrix products of known sizes that are outside of bodies."""

    tile: tuple[int, int, int]
    """The largest M, N and K of a matrix product that the hardware computes at once."""
    products: int
    """How many operators are matrix products."""
    split: int
    """How many of these operators need more than one tile for a product."""
    tiles: int
    macs: float
    tiled_macs: float
    """The multiply-adds of full tiles."""
    untiled_memory: float
    """In bytes, as are `tiled_memory` and `padded_memory`. The columns with the same names explain
    what these three fields count."""
    tiled_memory: float
    padded_memory: float
    tile_peak: float
    """The bytes of the largest tile."""
    untiled_peak: float
    """The bytes of A, B and the result of the largest product if no product is split."""
    peak_operator: str | None
    """The first operator that has the largest tile."""

    @property
    def efficiency(self) -> float:
        """The share of the multiply-adds that are not padding; NaN without multiply-adds."""
        return self.macs / self.tiled_macs if self.tiled_macs else np.nan


def tiling_summary(profile: Profile, outside: NDArray[np.bool_]) -> TilingSummary | None:
    """Return the cost of the products in tiles; None if the caller gave no size of tiles.

    `outside` is a mask of the operators that are outside of bodies.
    """
    operators = profile.operators
    if profile.model is None or profile.model.tile is None:
        return None
    rows = outside & ~np.isnan(operators.numbers("tiles"))

    def of_products(name: str) -> NDArray[np.float64]:
        return operators.numbers(name)[rows]

    along = [of_products(f"tiles_{axis}") for axis in "mnk"]
    peaks = of_products("tile_peak")
    has_peak = bool((~np.isnan(peaks)).any())
    whole = of_products("untiled_memory")
    names = operators.name.values()[rows]
    return TilingSummary(
        profile.model.tile,
        products=int(rows.sum()),
        split=int((np.prod(along, axis=0) > 1).sum()),
        tiles=int(of_products("tiles").sum()),
        **{
            name: total(of_products(name))
            for name in ("macs", "tiled_macs", "untiled_memory", "tiled_memory", "padded_memory")
        },
        tile_peak=float(np.nanmax(peaks)) if has_peak else np.nan,
        untiled_peak=float(np.nanmax(whole)) if has_peak else np.nan,
        peak_operator=names[np.nanargmax(peaks)] if has_peak else None,
    )

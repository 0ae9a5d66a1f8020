"""Which columns of a table fit into a narrow terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from profile_analyze.report.base import Display


def fitting(
    widths: Sequence[int], order: Iterable[int], fits: Callable[[Sequence[int]], bool]
) -> list[int]:
    """The places of the columns that stay, when those in `order` give way one by one.

    One always stays. `widths` are the columns' own; `fits` tells whether a table of such columns
    fits.
    """
    kept = list(range(len(widths)))
    for place in order:
        if len(kept) == 1 or fits([widths[one] for one in kept]):
            break
        kept.remove(place)
    return kept


def what_gave_way(names: Sequence[str], kept: Sequence[int], display: Display) -> Iterator[str]:
    """A line that says which columns were left out, and how to get them; none for none."""
    left_out = [
        visible(name, display.encoding) for place, name in enumerate(names) if place not in kept
    ]
    if left_out:
        yield (
            f"\nleft out for want of width: {', '.join(left_out)}; --columns chooses others, a "
            "wider window or `| less -S` has room for all"
        )

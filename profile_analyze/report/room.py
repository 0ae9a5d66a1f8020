"""Which columns of a table fit into a narrow terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def fitting(
    widths: Sequence[int], order: Iterable[int], fits: Callable[[Sequence[int]], bool]
) -> list[int]:
    """The places of the columns that stay, when those in `order` give way one by one.

    `widths` are the columns' own; `fits` tells whether a table of such columns fits.
    """
    kept = list(range(len(widths)))
    for place in order:
        if fits([widths[one] for one in kept]):
            break
        kept.remove(place)
    return kept


def what_gave_way(headers: Sequence[str], kept: Sequence[int]) -> Iterator[str]:
    """A line that says which columns were left out, and how to get them; none for none."""
    left_out = [header for place, header in enumerate(headers) if place not in kept]
    if left_out:
        yield (
            f"\nleft out for want of width: {', '.join(left_out)}; --columns chooses others, a "
            "wider window or `| less -S` has room for all"
        )

"""Writes collapsed stacks, from which tools such as speedscope draw flame graphs.

Each line has the names in one stack, joined by semicolons, and the time of the stack in
microseconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QueryError
from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.formats.programs import TablelessRenderer
from profile_analyze.views.stacks import notes_on_stacks, stacks_of_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from profile_analyze.model.notes import Note
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Need, Report
    from profile_analyze.views.call_stacks import Stack

_US_PER_S: Final = 1e6
_SEPARATOR: Final = ";"
_IN_NAMES: Final = ":"
"""Replaces the separator inside names, as the scripts of FlameGraph do."""
_UNNAMED: Final = "unnamed"


class CollapsedRenderer(TablelessRenderer):
    """The renderer of collapsed stacks; see `Renderer`."""

    name = "collapsed"
    suffixes = (".collapsed", ".folded")
    has_stacks = True
    has_summary_beside_tables = False
    needs: Need = ""

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on the stacks of a table; see `Renderer.notes`."""
        return notes_on_stacks(table)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # part of `Renderer`
        """Yield the lines; see `Renderer.pieces`."""
        for section in report.tables:
            yield from encoded(_lines(stacks_of_table(section.table)), "utf-8")


def _lines(stacks: Mapping[Stack, float]) -> Iterator[str]:
    """Yield a line for each stack whose rounded time is not 0, sorted by text.

    Raises `QueryError` if the times are too large for a number of microseconds.
    """
    times_us: dict[str, float] = {}
    for stack, seconds in stacks.items():
        text = _SEPARATOR.join(map(_frame, stack))
        times_us[text] = times_us.get(text, 0.0) + seconds * _US_PER_S
    if not math.isfinite(sum(times_us.values())):
        raise QueryError("collapsed: the times are too large for microseconds; use another format")
    for text, time_us in sorted(_rounded(times_us).items()):
        if time_us:
            yield f"{text} {time_us}\n"


def _frame(name: str) -> str:
    return visible(name, "utf-8").replace(_SEPARATOR, _IN_NAMES) or _UNNAMED


def _rounded(times: Mapping[str, float]) -> dict[str, int]:
    """Return the times as whole numbers that add up to the rounded sum of `times`.

    First, all times are rounded down. Then the times with the largest fractions are rounded up,
    until the sum is right. If fractions are equal, the text that sorts first is rounded up.
    """
    whole = {text: math.floor(time) for text, time in times.items()}
    missing = round(math.fsum(times.values())) - sum(whole.values())
    by_fraction = sorted(times, key=lambda text: (whole[text] - times[text], text))
    for text in by_fraction[:missing]:
        whole[text] += 1
    return whole

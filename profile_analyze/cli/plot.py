"""The picture that `--plot` asks for."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from profile_analyze.errors import OutputError
from profile_analyze.model.notes import Importance
from profile_analyze.query.run import run
from profile_analyze.query.summary import summarise
from profile_analyze.report.base import Report
from profile_analyze.report.comparison_facts import comparison_caption
from profile_analyze.report.roofline_facts import roofline_caption
from profile_analyze.report.sections import Chart
from profile_analyze.report.times import ORIGINAL

if TYPE_CHECKING:
    from profile_analyze.cli.request import Request
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table


def picture_of(source: Profile | Comparison, request: Request) -> Report:
    """Return the picture as a report: a chart of all rows, not only of those in the table.

    Raises `OutputError` if there is nothing to draw.
    """
    # matplotlib reads this variable when it is imported. `agg` draws without a window.
    os.environ["MPLBACKEND"] = "agg"
    # Otherwise, matplotlib logs that it searches for fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    # The roofline exists only for device times.
    if request.queries["device"].peaks is not None:
        query = request.queries["device"]
        table = run(query.changed(top=0), source)
        caption = roofline_caption(summarise(source, judged_by=query))
        chart = Chart("roofline", table, caption)
    else:
        # Bars show the longest operators, or those with the largest differences, whatever the order
        # of the table is.
        query = request.query.changed(top=0, order=None)
        caption = _caption(source, request)
        chart = Chart("times", run(query, source), caption, most_bars=request.most_bars)
    if not len(chart.table):
        raise OutputError(f"{request.plot}: not drawn: {_why_empty(chart.table)}")
    return Report((chart,))


def _caption(source: Profile | Comparison, request: Request) -> str:
    """Return the verdict on the whole; empty if the picture does not compare device times."""
    query = request.queries["device"]
    if not query.compared or request.asked_side != "device":
        return ""
    return comparison_caption(summarise(source, judged_by=query), ORIGINAL)


def _why_empty(table: Table) -> str:
    """Return the notes that say why a table has no rows, with what to do."""
    reasons = [note for note in table.notes if note.importance == Importance.ANSWER]
    return "; ".join(dict.fromkeys(reasons)) or "no row is left; change the filters"

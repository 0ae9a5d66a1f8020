"""The picture that `--plot` asks for."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from profile_analyze.model.columns import DEFAULT_ORDER
from profile_analyze.query.run import run
from profile_analyze.query.summary import summarise
from profile_analyze.report.base import Report
from profile_analyze.report.roofline_facts import roofline_caption
from profile_analyze.report.sections import Chart

if TYPE_CHECKING:
    from profile_analyze.cli.request import Request


def picture_of(report: Report, request: Request) -> Report:
    """Return the picture as a report: a chart of all rows, not only of those in the table."""
    assert report.source is not None
    # matplotlib reads this variable when it is imported. `agg` draws without a window.
    os.environ["MPLBACKEND"] = "agg"
    # Otherwise, matplotlib logs that it searches for fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    # The roofline exists only for device times.
    if request.queries["device"].peaks is not None:
        query = request.queries["device"]
        table = run(query.changed(top=0), report.source)
        caption = roofline_caption(summarise(report.source, judged_by=query))
        return Report((Chart("roofline", table, caption),))
    # Bars show the longest operators, whatever the order of the table is.
    query = request.query.changed(top=0, order=DEFAULT_ORDER)
    return Report((Chart("times", run(query, report.source), most_bars=request.most_bars),))

"""The picture that `--plot` asks for."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from profile_analyze.errors import OutputError
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.findings import Kind
from profile_analyze.model.profile import Profile
from profile_analyze.query.run import run
from profile_analyze.report.base import Report
from profile_analyze.report.facts.comparison import comparison_caption
from profile_analyze.report.facts.model_texts import macs_text
from profile_analyze.report.facts.roofline import least_text, roofline_caption
from profile_analyze.report.layout.times import AUTO, ORIGINAL, times_for
from profile_analyze.report.pictures.chart_texts import notes_of_picture, rows_with_dots
from profile_analyze.report.pictures.work_chart import rows_with_work
from profile_analyze.report.sections import Chart
from profile_analyze.views.summary import summarise

if TYPE_CHECKING:
    from profile_analyze.cli.options.asking import Asking
    from profile_analyze.cli.options.showing import Showing
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.terms import Side
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.views.summary import Summary


def picture_of(source: Profile | Comparison, asking: Asking, showing: Showing, file: str) -> Report:
    """Return the picture as a report. The picture does not depend on the order of the table.

    It has at most `showing.most_rows` rows; 0 sets no limit. `file` is its name, for messages.

    Raises `OutputError` if there is nothing to draw.
    """
    # matplotlib reads this variable when it is imported. `agg` draws without a window.
    os.environ["MPLBACKEND"] = "agg"
    # Without this, matplotlib prints that it searches for fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    chart, time_unit = _chart_of(source, asking, showing), showing.appearance.time_unit
    if why_empty := _why_empty(chart, time_unit):
        raise OutputError(f"{file}: not drawn: {why_empty}")
    return Report((chart,))


def _chart_of(source: Profile | Comparison, asking: Asking, showing: Showing) -> Chart:
    """Return bars of work for a model, the roofline with `--peaks`, or bars of times."""
    most_rows, unit = showing.most_rows, showing.appearance.time_unit
    profile = source if isinstance(source, Profile) else source.profile
    if profile.model is not None:
        return _work_chart(source, asking.query, most_rows)
    # The roofline exists only for device times.
    device = asking.queries["device"]
    if device.peaks is not None:
        table = run(device.changed(top=0, order=None), source)
        summary = summarise(source, judged_by=device)
        caption, notes = roofline_caption(summary), _notes(source, summary, table, unit)
        return Chart("roofline", table, caption, notes, most_rows=most_rows)
    # The bars do not follow the order of the table. The longest operators come first. In a
    # comparison, the largest differences come first.
    query = asking.query.changed(top=0, order=None)
    table, summary = run(query, source), summarise(source, judged_by=device)
    caption, notes = _caption(summary, asking.asked_side), _notes(source, summary, table, unit)
    return Chart("times", table, caption, notes, most_rows=most_rows)


def _work_chart(source: Profile | Comparison, query: Query, most_rows: int) -> Chart:
    """Return the bars for a model that has not run.

    They show multiply-adds, or with `--peaks` the least possible times. A roofline would be empty,
    because no rate was measured.
    """
    summary = summarise(source, judged_by=query)
    if summary.judgement is None:
        column, caption = "macs", f"multiply-adds: {macs_text(summary, ORIGINAL)}"
    else:
        times = times_for([summary.judgement.least_s], AUTO)
        column, caption = "least_time", f"least possible time: {least_text(summary, times)}"
    # Bars of a comparison are in its default order: the largest differences come first.
    order = None if query.compared else column
    table = run(query.changed(top=0, order=order), source)
    return Chart("work", table, caption, most_rows=most_rows, column=column)


def _notes(
    source: Profile | Comparison, summary: Summary, table: Table, unit: TimeUnit
) -> tuple[str, ...]:
    """Return the notes above the picture, in the order in which they are printed."""
    profile = source if isinstance(source, Profile) else source.profile
    of_comparison = () if isinstance(source, Profile) else source.notes
    of_source = (*profile.notes, *profile.notes_on_runs, *of_comparison)
    return notes_of_picture(summary, (*of_source, *summary.notes, *table.notes), unit)


def _caption(summary: Summary, asked_side: Side) -> str:
    """Return the verdict on the device time; empty if the picture does not compare device times."""
    if summary.change is None or asked_side != "device":
        return ""
    return comparison_caption(summary, ORIGINAL)


def _why_empty(chart: Chart, unit: TimeUnit) -> str:
    """Return why the chart would be empty, and what to do; an empty text if it has data."""
    table = chart.table
    if len(table):
        if chart.kind == "roofline" and not len(rows_with_dots(table)):
            return "no operator has known work and a time; without --peaks, --plot draws times"
        if chart.kind != "work" or len(rows_with_work(chart)):
            return ""
        return f"{chart.column} is 0 or N/A in all rows; without --plot, notes say why"
    reasons = [as_text(one, unit) for one in table.notes if one.importance == Kind.ANSWER]
    return "; ".join(dict.fromkeys(reasons)) or "no row is left; change the filters"

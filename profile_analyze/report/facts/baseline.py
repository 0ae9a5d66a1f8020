"""Facts on the totals of a baseline."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.report.facts.facts import COUNT, Fact
from profile_analyze.report.facts.recorded import NUMBERS_BY_NAME, lines_of
from profile_analyze.report.facts.sentence_parts import runs_and_spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line
    from profile_analyze.views.baseline import Baseline
    from profile_analyze.views.summary import Summary


def _base(summary: Summary) -> Baseline:
    assert summary.change is not None, "nothing was compared"
    return summary.change.base


def _wall_text(summary: Summary, times: Times) -> str:
    wall_s = _base(summary).wall_s
    return "" if isnan(wall_s) else times.total(wall_s)


def _recorded_lines(summary: Summary, times: Times) -> Iterator[Line]:
    for label, text in lines_of(_base(summary).recorded, times):
        yield f"baseline {label}", text


def _runs_text(summary: Summary, _: Times) -> str:
    return runs_and_spread(_base(summary), summary.change)


FACTS: Final = (
    Fact(
        "base_device_time_s",
        "The device time of all operators of the baseline.",
        lambda summary: _base(summary).time_s,
        label="baseline device time",
        text=lambda summary, times: times.total(_base(summary).time_s),
    ),
    Fact(
        "base_wall_time_s",
        "The time from the start of a run of the baseline to its end; null if the file does not "
        "say.",
        lambda summary: _base(summary).wall_s,
        label="baseline wall time",
        text=_wall_text,
    ),
    Fact(
        "base_numbers",
        "The baseline's numbers about the whole program, such as its latencies, by name. Times "
        "are in seconds. The names depend on the format.",
        lambda summary: {fact.name: fact.value for fact in _base(summary).recorded},
        NUMBERS_BY_NAME,
        lines=_recorded_lines,
    ),
    Fact(
        "base_runs",
        "The number of runs of the baseline.",
        lambda summary: _base(summary).runs,
        COUNT,
        label="baseline runs",
        text=_runs_text,
    ),
    Fact(
        "base_spread",
        "The spread of the baseline's device time: half its interquartile range divided by its "
        "median.",
        lambda summary: _base(summary).spread.value,
        shown_with="base_runs",
    ),
)
"""The facts on the baseline. They are entries of the group `comparison`."""

"""The totals of a baseline, for the summary of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.model.joining.iterations import copies_in
from profile_analyze.query.run_times import typical_run, with_device_times

if TYPE_CHECKING:
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.numbers import Spread
    from profile_analyze.model.origin import RecordedFact
    from profile_analyze.query.question import Query


class Baseline(NamedTuple):
    """The totals of a baseline. NaN is N/A."""

    file: str
    runs: int
    runs_without_time: int
    """How many further runs have no device time, so that the totals leave them out."""
    processes: int
    copies: int
    """How many of the processes are copies of other processes. Verdicts leave out copies."""
    time_s: float
    """The device time of all operators."""
    spread: Spread
    """The spread of the device time over the runs."""
    wall_s: float
    """Seconds from the start of a run to its end; NaN if the file does not say."""
    recorded: tuple[RecordedFact, ...]
    """Numbers about the whole program, such as its latencies."""


def baseline_of(comparison: Comparison, time_s: float, query: Query) -> Baseline:
    """Return the totals of the baseline of `comparison`, as measured.

    `time_s` is the device time of all its operators.
    """
    measured = comparison.as_measured.base
    base = with_device_times(measured)  # like `summarise` for the profile
    return Baseline(
        file=base.file,
        runs=len(base.runs),
        runs_without_time=len(measured.runs) - len(base.runs),
        processes=len({run.process for run in base.runs}),
        copies=copies_in(base.runs),
        time_s=time_s,
        spread=base.spread(),
        wall_s=typical_run(base, query.run_statistic, query.unit).wall_s,
        recorded=base.origin.recorded,
    )

"""The columns of times, and of what follows from the times alone: spread, shares, running sums."""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.columns.column import AGGREGATED, SAME, Column, RunningSum

_measured_time = partial(Column, unit="s", of_groups=AGGREGATED, timed=True, measured=True)

COLUMNS: Final = (
    _measured_time(
        "time",
        meaning="the device time, or the kind of time that the options select (host time, wait "
        "time), added up over the calls in a run; with several runs, the median over the runs, or "
        "the statistic that `--run-stat` selects; in a comparison, each process counts once, with "
        "the median of its runs, unless `--unit` says otherwise",
        worked="as measured; the {selected_kind_of_time}, with the calls in a run added up",
    ),
    Column(
        "runs",
        "1",
        "the number of runs in which the time is known",
        SAME,
        shown_as="count",
        worked="counted; {all_runs} in all",
    ),
    Column(
        "spread",
        "1",
        "how much the time varies from run to run: half the interquartile range / the median",
        SAME,
        needs_times=True,
        needs_two_runs=True,
        worked="({third_quartile} - {first_quartile}) / 2 / {median_time}",
    ),
    # In formats for programs, the next two columns have other names, because `time_min_s` already
    # means the minimum over a group.
    Column(
        "time_min",
        "s",
        "the time in the fastest run",
        SAME,
        export_name="time_of_fastest_run",
        measured=True,
        worked="the shortest time of a run; {all_runs} in all",
    ),
    Column(
        "time_max",
        "s",
        "the time in the slowest run",
        SAME,
        export_name="time_of_slowest_run",
        measured=True,
        worked="the longest time of a run; {all_runs} in all",
    ),
    Column(
        "share",
        "1",
        "time / total time of all operators of the profile; if the row has no time in some runs, "
        "the total leaves out these runs; if rows are grouped by run, file, step, phase, track or "
        "device, the total is the sum of all these rows",
        SAME,
        worked="{time} / {total_time}",
    ),
    Column(
        "cumulative_time",
        "s",
        "running sum of time over the rows shown; N/A before the first row with a known time; with "
        "labels, a sum for each combination of labels",
        SAME,
        of_operators=RunningSum("time"),
        worked="the sum of time from the first row to this one, among rows with the same labels",
    ),
    Column(
        "cumulative_share",
        "1",
        "running sum of share over the rows shown, in the same way as cumulative_time",
        SAME,
        of_operators=RunningSum("share"),
        worked="the sum of share from the first row to this one, among rows with the same labels",
    ),
    _measured_time(
        "device_time",
        meaning="the time on the device, even if `time` shows another kind; a group of the host "
        "table leaves out operators without a host time",
        worked="as measured on the device",
    ),
    _measured_time(
        "time_median",
        meaning="the median device time of all inferences, if the file has it; `time` is then "
        "the mean",
        # In formats for programs, `time_median_s` already means the median of `time` over a group.
        export_name="median_time",
        worked="as measured on the device",
    ),
    _measured_time(
        "host_time",
        meaning="the time on the host, even if `time` shows another kind; a group of the device "
        "table leaves out operators without a device time",
        worked="as measured on the host",
    ),
    _measured_time(
        "wait",
        meaning="time to first kernel on the device: from the operator's start to its first "
        "kernel; a kernel that started after the operator's end does not count",
        worked="as measured, up to the first kernel",
    ),
    _measured_time(
        "queue",
        meaning="queue delay: from the end of the host call that launched the operator to its "
        "start on the device",
        worked="the start on the device - the end of the host call that launched the operator",
    ),
    _measured_time(
        "self",
        meaning="the host time, or the device time if the profile has no host times, without the "
        "executions nested inside",
        worked="the duration - the durations of the executions nested inside",
    ),
    _measured_time(
        "thread_wait",
        meaning="how long the thread that ran the operator only waited: for other threads that ran "
        "parts of the operator, or for the device, in driver calls such as cudaDeviceSynchronize",
        has_side=False,
        worked="as measured",
    ),
)

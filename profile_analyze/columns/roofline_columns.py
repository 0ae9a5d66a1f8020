"""The columns that need peak rates; their formulas are in `roofline/formulas.py`."""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.columns.column import AGGREGATED, FORMULA, Column, RatioOfSums

_column = partial(Column, optional="compute_dtype", needs_peaks=True)

COLUMNS: Final = (
    _column(
        "bound",
        "",
        "what limits the operator: compute if compute_time is at least memory_time, otherwise "
        "memory; always memory if it only moves data; N/A if it is not judged or does no work",
        FORMULA,
        kind="text",
        is_key=True,
        worked="the larger of {compute_time} and {memory_time}",
        worked_of_groups="the larger of {compute_time.sum} and {memory_time.sum}",
    ),
    _column(
        "attainable",
        "FLO/s",
        "the highest FLO/s that the device allows at this intensity: the smaller of peak rate and "
        "intensity * peak bandwidth; N/A if the operator is not judged or does no work",
        RatioOfSums("computation", "least_time"),
        worked="the smaller of {peak_rate} and {intensity} * {peak_bandwidth}",
    ),
    _column(
        "compute_time",
        "s",
        "computation / peak rate of the operator's dtype",
        AGGREGATED,
        worked="{computation} / {peak_rate}",
    ),
    _column(
        "memory_time",
        "s",
        "memory / peak bandwidth",
        AGGREGATED,
        worked="{memory} / {peak_bandwidth}",
    ),
    _column(
        "least_time",
        "s",
        "the least possible time: the larger of compute_time and memory_time; N/A for operators "
        "that are not judged",
        AGGREGATED,
        worked="the larger of {compute_time} and {memory_time}; {bound} is the limit",
    ),
    _column(
        "efficiency",
        "1",
        "least_time / time: 100 % is as fast as the device allows; N/A for operators that are not "
        "judged",
        RatioOfSums("least_time", "time"),
        worked="{least_time} / {time}",
    ),
    _column(
        "lost",
        "s",
        "time - least_time: the most time that could be saved",
        AGGREGATED,
        timed=True,
        worked="{time} - {least_time}",
    ),
    _column(
        "gain",
        "1",
        "total time / (total time - lost): the speed-up of all operators together if the row took "
        "only its least_time; the total time is the denominator of share",
        FORMULA,
        shown_as="decimals",
        worked="{total_time} / ({total_time} - {lost})",
        worked_of_groups="{total_time_of_judged_runs} / ({total_time_of_judged_runs} - {lost.sum})",
    ),
)

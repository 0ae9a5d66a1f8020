"""The options on a part of a profile. `options.py` adds their group to its table."""

from __future__ import annotations

from typing import Final

from profile_analyze.cli.options.types import Option, OptionGroup
from profile_analyze.cli.options.values import seconds, start_time, step_range

WINDOW: Final = OptionGroup(
    "window: a part of the profile, or one operator",
    (
        Option.of(
            "--from",
            dest="from_s",
            type=start_time,
            metavar="TIME",
            example="10ms",
            help="only the executions from this time on, such as 10ms, or a number of seconds. "
            "Times count from the first execution. Executions at the edge are clipped",
        ),
        Option.of(
            "--to",
            dest="to_s",
            type=seconds,
            metavar="TIME",
            example="12.5ms",
            help="only the executions up to this time, counted and clipped as for --from",
        ),
        Option.of(
            "--step",
            dest="steps",
            type=step_range,
            metavar="N[-M]",
            example="3",
            help="only this step of the profile, or the steps from N to M; --from and --to then "
            "count from the first execution in these steps",
        ),
        Option.of(
            "--step-region",
            metavar="NAME",
            example="forward",
            help="make each execution of this module or region a step, numbered from 1, instead of "
            "the steps that the file marks, such as ProfilerStep#3",
        ),
        Option.of(
            "--inspect",
            metavar="KEY",
            example="aten::addmm",
            help="instead of a table, show all that the profile says about one operator: facts, "
            "times, launched kernels, and the operators around, inside and next to it. KEY is its "
            "key, its id or its name; KEY@N is its N-th execution",
        ),
    ),
)

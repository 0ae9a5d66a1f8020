"""The rows of a report, each with its time, shapes and cost."""

from __future__ import annotations

import re
from math import isnan, nan
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from profile_analyze.model.constants import UNKNOWN_SIZE
from profile_analyze.model.terms import OTHER
from profile_analyze.readers.migraphx.shapes import detailed_shapes
from profile_analyze.readers.migraphx.tensors import Listing, Value, gives_constant, writes_buffer
from profile_analyze.readers.migraphx.work import InstructionWork, work_of_instruction
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.model.operators import Parameters
    from profile_analyze.readers.migraphx.lines import Group, Report, Timed
    from profile_analyze.readers.migraphx.shapes import Shape

_DETAILED: Final = re.compile(r"(?P<type>.*)<(?P<shapes>\w+\([^()]*\))>")
"""The name of a group in the summary of `migraphx-driver perf --detailed`."""
_ALL: Final = "all instructions"
_COMPLETE: Final = 0.99
"""If the instructions take less than this share of the summary's time, some of their lines are
missing. Rounding alone makes a smaller difference."""


class Row(NamedTuple):
    """A row of the table, with its time."""

    name: str
    type: str | None
    time_ms: float
    """The time of all calls; NaN if it is not known."""
    calls: int | None = 1
    """None if the file does not have the number of calls. 0 counts as one call."""
    module: str = ""
    modules: tuple[str, ...] = ()
    """The modules that the instruction runs."""
    parameters: Parameters | None = None
    inputs: tuple[Value, ...] | None = None
    outputs: tuple[Shape, ...] = ()
    cost: InstructionWork = InstructionWork(OTHER)

    @property
    def time_s(self) -> float:
        """The time in seconds; NaN if it is unknown or negative."""
        return self.time_ms / MS_PER_S if self.time_ms >= 0 else nan

    @property
    def constant_bytes(self) -> float:
        """The size in bytes of the instruction's result; NaN if the result is not a constant."""
        if self.type is None or not gives_constant(self.type):
            return nan
        size = sum(one.stored.bytes for one in self.outputs)
        return UNKNOWN_SIZE if isnan(size) else size


class Rows(NamedTuple):
    """The rows of a report."""

    part: Literal["instructions", "summary", "totals"]
    """The part of the report that the rows are from."""
    rows: list[Row]

    @property
    def time_s(self) -> float:
        """The sum of the known times."""
        return known_time_s(self.rows)


def known_time_s(rows: Iterable[Row]) -> float:
    """Return the sum of the known times of `rows`."""
    return sum((row.time_s for row in rows if not isnan(row.time_s)), 0.0)


def rows_of(report: Report) -> Rows:
    """Return the instructions of a report as rows.

    If some or all instructions are missing, the rows are the groups of the summary. If the report
    has neither instructions nor a summary, one row has the total time of all instructions.
    """
    instructions = Rows("instructions", _rows_of_instructions(report.instructions))
    summary = Rows("summary", [_row_of_group(group) for group in report.groups])
    if report.groups and instructions.time_s < _COMPLETE * summary.time_s:
        return summary
    if report.instructions:
        return instructions
    if report.groups:
        return summary
    return Rows("totals", [Row(_ALL, None, report.totals["instructions"], None)])


def _rows_of_instructions(timed: Sequence[Timed]) -> list[Row]:
    listing = Listing(one.instruction for one in timed)
    rows = []
    for instruction, time_ms in timed:
        inputs, outputs = listing.tensors(instruction)
        parameters = instruction.attributes
        cost = work_of_instruction(instruction.type, inputs, outputs, dict(parameters))
        rows.append(
            Row(
                instruction.name,
                instruction.type,
                time_ms,
                1,
                instruction.module,
                instruction.modules,
                parameters,
                inputs,
                outputs,
                cost,
            )
        )
    return rows


def _row_of_group(group: Group) -> Row:
    detailed = _DETAILED.fullmatch(group.name)
    if detailed is None:
        cost = work_of_instruction(group.name, None, (), {})
        return Row(group.name, group.name, group.time_ms, group.calls, cost=cost)
    type_ = detailed["type"]
    shapes = detailed_shapes(detailed["shapes"])
    # The last argument is the buffer for the result.
    results = shapes[-1:] if writes_buffer(type_) else ()
    inputs = tuple(map(Value, shapes[: len(shapes) - len(results)]))
    cost = work_of_instruction(type_, inputs, results, {})
    return Row(
        group.name, type_, group.time_ms, group.calls, inputs=inputs, outputs=results, cost=cost
    )

"""What a profile says: operators in columns, and when each of them ran."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import freeze_arrays, frozen
from profile_analyze.model.numbers import (
    difference,
    finite,
    over_runs,
    spread_of_runs,
    totals,
)
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


Side: TypeAlias = Literal["device", "host"]
EndKey: TypeAlias = Literal["end", "kern"]

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = tuple[Shape, ...]
Strides: TypeAlias = tuple[Shape | None, ...]
Dtypes: TypeAlias = tuple[str | None, ...]
Parameters: TypeAlias = tuple[tuple[str, int | float | str], ...]

DETAILS: Final = ("in_shapes", "in_layouts", "out_shapes", "input_dtypes", "parameters")
"""What of a profile few questions need, so that it is worked out only when asked for."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LaneTimes:
    """Every interval that was recorded: one operator on one lane in one run. Seconds, NaN is N/A.

    All arrays have shape (intervals,). Each lane may have a zero of its own, so that only
    differences within one interval mean anything.
    """

    operator: NDArray[np.int64]
    """The operator's row in the profile."""
    run: NDArray[np.int64]
    """The run, counted from 0."""
    lane: Categorical[str]
    """Where it ran: a comp node of the device, a thread of the host."""
    start_s: NDArray[np.float64]
    kern_s: NDArray[np.float64]
    """When its first kernel started; NaN also where no kernel was started on this lane."""
    end_s: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __repr__(self) -> str:
        return f"LaneTimes({counted(len(self.end_s), 'interval')}, lanes={self.lane.categories})"

    def total_by_lane(self) -> Mapping[str, float]:
        """Seconds of `end - start` summed over each lane's intervals.

        Of several runs the median. NaN if none is known, or they add up to more than any number.
        """
        times = difference(self.end_s, self.start_s)
        known = ~np.isnan(times)
        runs = int(self.run.max(initial=0)) + 1
        places = (self.lane.codes * runs + self.run)[known]
        size = len(self.lane.categories) * runs
        sums = np.bincount(places, times[known], minlength=size).astype(np.float64)
        sums[np.bincount(places, minlength=size) == 0] = np.nan
        medians = over_runs(finite(sums).reshape(len(self.lane.categories), runs), "median")
        return dict(zip(self.lane.categories, medians.tolist(), strict=True))

    @classmethod
    def concatenated(cls, parts: Sequence[LaneTimes]) -> LaneTimes:
        """The intervals of all `parts`, one after the other."""
        return cls(
            lane=Categorical.concatenated([part.lane for part in parts]),
            **{
                name: np.concatenate([getattr(part, name) for part in parts])
                for name in ("operator", "run", "start_s", "kern_s", "end_s")
            },
        )

    def placed(self, row_of: NDArray[np.int64], first_run: int = 0) -> LaneTimes:
        """The same intervals, where the operators have other rows and the runs other numbers.

        `row_of` has the new row of each operator.
        """
        return replace(self, operator=row_of[self.operator], run=self.run + first_run)


@dataclass(frozen=True, eq=False, repr=False)
class Timings:
    """The times of all operators on one side, device or host. Seconds, NaN is N/A.

    They are worked out from the intervals when they are first asked for.
    """

    lanes: LaneTimes
    operators: int
    runs: int = 1

    def __repr__(self) -> str:
        of = f"{self.recorded.sum()} of {counted(self.operators, 'operator')}"
        return f"Timings({of}, {counted(self.runs, 'run')})"

    @cached_property
    def recorded(self) -> NDArray[np.bool_]:
        """Shape (operators,): whether the profile has an entry for the operator, times or not."""
        recorded = np.zeros(self.operators, np.bool_)
        recorded[self.lanes.operator] = True
        return frozen(recorded)

    @cached_property
    def time_s(self) -> NDArray[np.float64]:
        """Shape (operators, runs): `end - start`, the largest over the lanes.

        N/A where that of any lane is.
        """
        lanes = self.lanes
        time_s = np.full((self.operators, self.runs), -np.inf)
        times = difference(lanes.end_s, lanes.start_s)
        np.maximum.at(time_s, (lanes.operator, lanes.run), times)
        time_s[np.isneginf(time_s)] = np.nan
        return frozen(time_s)

    @cached_property
    def wait_s(self) -> NDArray[np.float64]:
        """Shape (operators, runs): `kern - start`, the largest over the lanes that have one."""
        lanes = self.lanes
        wait_s = np.full((self.operators, self.runs), np.nan)
        times = difference(lanes.kern_s, lanes.start_s)
        np.fmax.at(wait_s, (lanes.operator, lanes.run), times)
        return frozen(wait_s)

    def lanes_of_operators(self) -> Categorical[str]:
        """Shape (operators,): the lanes of each, joined by commas; N/A for one without any."""
        names: dict[int, list[str]] = {}
        lane_of = self.lanes.lane.values()
        for operator, lane in zip(self.lanes.operator.tolist(), lane_of, strict=True):
            names.setdefault(operator, []).append(lane)
        texts = {row: ", ".join(dict.fromkeys(lanes)) for row, lanes in names.items()}
        return Categorical.of([texts.get(row) for row in range(self.operators)])

    def chosen_s(self, end_key: EndKey) -> NDArray[np.float64]:
        """Shape (operators, runs): the time up to the end, or up to the first kernel."""
        return self.time_s if end_key == "end" else self.wait_s

    def totals_s(self, end_key: EndKey) -> NDArray[np.float64]:
        """Shape (runs,): the times of all operators together; NaN if none has a time."""
        return totals(self.chosen_s(end_key))

    def spread(self, end_key: EndKey) -> float:
        """How much the total varies from run to run; see `numbers.spread_of_runs`."""
        return float(spread_of_runs(self.totals_s(end_key)[np.newaxis])[0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile:
    """The facts of one profile: a row for each operator of the graph, in the file's order.

    Numbers are in base units (seconds, bytes, floating-point operations). What the profile does
    not say is NaN in a column of numbers and code -1 in a categorical column.
    """

    file: str
    """The name it was read under, `-` for standard input."""
    source: str
    """What wrote it."""
    id: NDArray[np.int64]
    """Shape (operators,)."""
    name: Categorical[str]
    type: Categorical[str]
    computation: NDArray[np.float64]
    """Shape (operators,): floating-point operations, two for a multiply-add."""
    memory: NDArray[np.float64]
    """Shape (operators,): bytes of all inputs and outputs, each counted once."""
    device: Timings
    host: Timings
    in_shapes: Categorical[Shapes] | None = None
    """The shape of each input; this and the other details are None if not asked for: `detail`."""
    in_layouts: Categorical[Strides] | None = None
    """Strides in elements of each input, None for a contiguous one; empty if all are."""
    out_shapes: Categorical[Shapes] | None = None
    input_dtypes: Categorical[Dtypes] | None = None
    """The dtype of each input, None for an unknown one."""
    parameters: Categorical[Parameters] | None = None
    """Names and values, in the order of the names, such as `("stride_h", 2)`."""
    notes: tuple[str, ...] = ()
    """What a person should know before trusting the numbers, a sentence each."""
    notes_on_runs: tuple[str, ...] = ()
    """The same, where its runs are taken together."""
    files: tuple[str, ...] = ()
    """The file of each run, where there are several; see `run_files`."""
    run_of: NDArray[np.int64] | None = None
    """Shape (operators,): of which run each row is, where runs are kept apart."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        return f"Profile({self.file!r}, {counted(len(self), 'operator')}, {self.source!r})"

    def check(self) -> tuple[str, ...]:
        """Return what is inconsistent, a sentence each; nothing if all is well."""
        return ()

    def detail(self, name: str) -> Categorical[Any]:
        """One of `DETAILS`. Raises `QueryError` if the profile was loaded without it."""
        column: Categorical[Any] | None = getattr(self, name)
        if column is None:
            raise QueryError(f"{name}: the profile was loaded without this detail")
        return column

    def timings(self, side: Side) -> Timings:
        """The times of one side."""
        return self.device if side == "device" else self.host

    @property
    def runs(self) -> int:
        """How many runs it is of."""
        return self.device.runs

    @property
    def run_files(self) -> tuple[str, ...]:
        """The file that each run was read from."""
        return self.files or (self.file,) * self.runs

    def total_s(self, side: Side, end_key: EndKey = "end", run_statistic: str = "median") -> float:
        """Seconds of all operators of one side together; NaN if none has a time.

        Of several runs it is one of `columns.RUN_STATISTICS` of their totals.
        """
        totals = self.timings(side).totals_s(end_key)
        return float(over_runs(totals[np.newaxis], run_statistic)[0])

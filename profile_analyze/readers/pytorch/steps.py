"""Finds the steps of a trace, which are its recorded iterations, and turns the steps into runs."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.busy import busiest, steps_with_work
from profile_analyze.model.executions import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.pytorch.timeline import Spans

    Indices: TypeAlias = NDArray[np.int64]

_STEP: Final = re.compile(r"ProfilerStep#(\d{1,18})")
STEPS: Final = "ProfilerStep*"
"""The name of all steps in the table of operators. The tables of torch use it, too."""
_NS_PER_S: Final = 1e9


class Work(NamedTuple):
    """The work on devices. All columns have shape (events,)."""

    device: Indices
    """The number of the device."""
    start_ns: Indices
    end_ns: Indices
    launched_ns: Indices
    """When the operator or the driver call that launched the work started."""
    process: Indices
    """The number of the process that launched the work; -1 if the launch is not in the file."""


class Steps(NamedTuple):
    """The steps of a trace, in the order of their starts. The arrays have shape (steps,)."""

    start_ns: Indices
    end_ns: Indices
    process: Indices
    """The number of the process of each step, as in `processes_of`."""
    run: Indices
    """The index of the run of each step. A run has at most one step of each process."""
    numbers: tuple[int | None, ...]
    """The number in the name of the steps of each run, such as 3 for `ProfilerStep#3`."""

    def runs_with(self, work: Work, lost_ns: Indices, lost_process: Indices) -> tuple[Run, ...]:
        """Return the runs with their times. A trace without steps is one run without a wall time.

        `work` is all work on devices. In a trace without work, it is unknown how long devices
        worked. `lost_ns` and `lost_process` have the time and the process of each launch whose
        kernel is not in the file. It is unknown when a step with such a launch ends, and so when
        the next step begins: both have no times.
        """
        device, start_ns, end_ns, launched_ns, process = work
        if not self.numbers:
            if not len(device):
                return (Run(),)
            whole = np.array([start_ns.min()]), np.array([end_ns.max()])
            return (Run(busy_s=int(busiest(*whole, device, start_ns, end_ns)[0]) / _NS_PER_S),)
        is_inside = (process >= 0) & ~self.are_outside(launched_ns, process)
        step = self._steps_at(launched_ns, process)
        is_unknown = self._lack_work(lost_ns, lost_process)
        first, last = self._with_work(step[is_inside], end_ns[is_inside])
        starts = np.full(len(self.numbers), first.max())
        ends = np.full(len(self.numbers), last.min())
        np.minimum.at(starts, self.run, first)
        np.maximum.at(ends, self.run, last)
        walls = np.where(is_unknown, np.nan, (ends - starts) / _NS_PER_S).tolist()
        busy = np.full(len(walls), np.nan)
        if len(device):
            busy_ns = busiest(starts, ends, device, start_ns, end_ns)
            busy = np.where(is_unknown, np.nan, busy_ns / _NS_PER_S)
        return tuple(
            Run(0, number, wall_s=wall, busy_s=one)
            for number, wall, one in zip(self.numbers, walls, busy.tolist(), strict=True)
        )

    def _lack_work(self, lost_ns: Indices, lost_process: Indices) -> NDArray[np.bool_]:
        """Return whether each run has a step that lacks work, or the step after it, shape (runs,).

        `lost_ns` and `lost_process` are the launches whose work is not in the file.
        """
        result = np.zeros(len(self.numbers), np.bool_)
        is_inside = ~self.are_outside(lost_ns, lost_process)
        lacking = self._steps_at(lost_ns, lost_process)[is_inside]
        for one in {*self.process[lacking].tolist()}:
            steps = np.flatnonzero(self.process == one)
            position = np.searchsorted(steps, lacking[self.process[lacking] == one])
            after = np.minimum(position + 1, len(steps) - 1)
            result[self.run[steps[np.append(position, after)]]] = True
        return result

    def _with_work(self, step: Indices, end_ns: Indices) -> tuple[Indices, Indices]:
        """Return when each step begins and ends, with the work that it launched.

        `step` has the step that launched each piece of work, and `end_ns` has its end.
        """
        first, last = self.start_ns.copy(), self.end_ns.copy()
        for one in {*self.process.tolist()}:
            steps = np.flatnonzero(self.process == one)
            chosen = self.process[step] == one
            position = np.searchsorted(steps, step[chosen])
            first[steps], last[steps] = steps_with_work(
                first[steps], last[steps], position, end_ns[chosen]
            )
        return first, last

    def runs_at(self, times_ns: Indices, process: Indices) -> Indices:
        """Return the run of each time, shape (times,); 0 in a trace without steps.

        This is the run of the last step that started before or at the time. A time before all steps
        is in the run of the first step. `process` has the process of each time. Only steps
        of this process are considered, or the steps of all processes if this process has none.
        """
        if not self.numbers:
            return np.zeros(len(times_ns), np.int64)
        return self.run[self._steps_at(times_ns, process)]

    def are_outside(self, times_ns: Indices, process: Indices) -> NDArray[np.bool_]:
        """Return whether each time is outside all steps, shape (times,); false without steps."""
        if not self.numbers:
            return np.zeros(len(times_ns), np.bool_)
        step = self._steps_at(times_ns, process)
        return (times_ns < self.start_ns[step]) | (times_ns >= self.end_ns[step])

    def _steps_at(self, times_ns: Indices, process: Indices) -> Indices:
        result = _last_started(self.start_ns, times_ns)
        processes = {*self.process.tolist()}
        if len(processes) > 1:
            for one in processes:
                steps, inside = np.flatnonzero(self.process == one), process == one
                result[inside] = steps[_last_started(self.start_ns[steps], times_ns[inside])]
        return result


def _last_started(starts_ns: Indices, times_ns: Indices) -> Indices:
    """Return, for each time, the index of the last start that is not later; 0 if all are later.

    `starts_ns` are ascending.
    """
    return np.maximum(np.searchsorted(starts_ns, times_ns, side="right") - 1, 0)


def step_number(name: str) -> int | None:
    """Return the number in the name of a step: 3 for `ProfilerStep#3`; None for other names."""
    found = _STEP.fullmatch(name)
    return None if found is None else int(found[1])


def steps_of(host: Spans, process: Indices, name: Indices, names: Sequence[str]) -> Steps:
    """Return the steps among the host events.

    `process` and `name` have shape (events,). `name` has indices in `names`.
    """
    numbers = [step_number(one) for one in names]
    is_step = np.array([number is not None for number in numbers], np.bool_)
    rows = np.flatnonzero(is_step[name])
    rows = rows[np.argsort(host.start_ns[rows], kind="stable")]
    # If several processes have a step of the same number, these steps belong to one run. If one
    # process has two steps of the same number, these steps belong to two runs.
    runs: dict[tuple[int | None, int], int] = {}
    occurrences: Counter[tuple[int, int | None]] = Counter()
    run = []
    for process_, code in zip(process[rows].tolist(), name[rows].tolist(), strict=True):
        number = numbers[code]
        occurrences[process_, number] += 1
        run.append(runs.setdefault((number, occurrences[process_, number]), len(runs)))
    return Steps(
        host.start_ns[rows],
        host.end_ns[rows],
        process[rows],
        np.array(run, np.int64),
        tuple(number for number, _ in runs),
    )

"""The steps of a trace: the iterations that it recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.executions import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.pytorch.timeline import Spans

    Indices: TypeAlias = NDArray[np.int64]

_STEP: Final = re.compile(r"ProfilerStep#(\d{1,18})")
STEPS: Final = "ProfilerStep*"
"""The name that all steps share, as in the tables of torch."""
_NS_PER_S: Final = 1e9


class Steps(NamedTuple):
    """The steps of a trace, in the order of time."""

    rows: Indices
    """The event of the host that each step is, shape (steps,); empty if there are no steps."""
    start_ns: Indices
    end_ns: Indices
    numbers: tuple[int | None, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """A run for each step; one run for a trace without steps."""
        if not len(self.rows):
            return (Run(),)
        walls = ((self.end_ns - self.start_ns) / _NS_PER_S).tolist()
        return tuple(
            Run(0, number, wall_s=wall) for number, wall in zip(self.numbers, walls, strict=True)
        )

    def runs_at(self, times_ns: Indices) -> Indices:
        """Return the run at each time: the last step that started before, or else the first."""
        if not len(self.rows):
            return np.zeros(len(times_ns), np.int64)
        return np.maximum(np.searchsorted(self.start_ns, times_ns, side="right") - 1, 0)

    def are_outside(self, times_ns: Indices) -> NDArray[np.bool_]:
        """Return whether each time is in no step; false for a trace without steps."""
        if not len(self.rows):
            return np.zeros(len(times_ns), np.bool_)
        run = self.runs_at(times_ns)
        return (times_ns < self.start_ns[run]) | (times_ns >= self.end_ns[run])


def step_number(name: str) -> int | None:
    """Return the number of a step from the name of its region; None for another region."""
    found = _STEP.fullmatch(name)
    return None if found is None else int(found[1])


def steps_of(host: Spans, name: Indices, names: Sequence[str]) -> Steps:
    """Return the steps among the regions: `name` is an index of `names`, shape (events,)."""
    numbers = [step_number(one) for one in names]
    is_step = np.array([number is not None for number in numbers], np.bool_)
    rows = np.flatnonzero(is_step[name])
    rows = rows[np.argsort(host.start_ns[rows], kind="stable")]
    return Steps(
        rows,
        host.start_ns[rows],
        host.end_ns[rows],
        tuple(numbers[code] for code in name[rows].tolist()),
    )

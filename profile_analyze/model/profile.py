"""`Profile`: the facts of a profile in tables, with the same columns for every runtime."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.checks import problems
from profile_analyze.model.frozen import frozen
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.measuring import (
    calls,
    executed_on,
    have_untimed_calls,
    measured,
    timed_calls,
    total_by_track,
)
from profile_analyze.model.numbers import Spread, over_runs, ratio, totals, totals_of_chosen
from profile_analyze.model.origin import Origin  # noqa: F401  # readers of other packages use it
from profile_analyze.model.tables import Tables
from profile_analyze.model.terms import ABSENT, DEVICE, HOST
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.notes import Note
    from profile_analyze.model.static import StaticModel
    from profile_analyze.model.terms import Side

T = TypeVar("T")

_FIELDS_OF_DIGESTS: Final = frozenset({"executions", "runs", "processes"})
"""The fields that digests are computed from."""
_MEASURED_FIELDS: Final = frozenset({"executions", "tracks", "runs"})
"""The fields that measures are computed from. Of the operators, only their number matters."""


# `eq=False`: comparing two arrays gives an array, so a generated `__eq__` would fail.
@dataclass(frozen=True, eq=False, repr=False)
class Profile(Tables):
    """The facts of one profile, or of several runs of one graph: its tables, and what they mean."""

    notes: tuple[Note, ...] = ()
    """Sentences that a person should read before trusting the numbers."""
    notes_on_runs: tuple[Note, ...] = ()
    """Notes about all runs together. Splitting rows by run, file, step or label drops the notes."""
    unlike: str = ""
    """What the runs look like if they share few operators, such as `different models`. Empty if
    they fit together, and wherever `notes_on_runs` are dropped."""
    level: str | None = None
    """The level of the rows, once one is selected (`model.levels`)."""
    nested: Profile | None = None
    """The profile of all levels, from which the level was selected; None if it was not kept. Only
    stacks (`views.call_stacks`) and notes on unknown types need it."""
    skipped_runs: int = 0
    """How many first runs of each process were left out (`model.joining.iterations`)."""
    left_out: tuple[tuple[str, str], ...] = ()
    """The files that were left out because they cannot be read, each with the reason."""
    model: StaticModel | None = None
    """The facts of a model, if this is a model that has not run; None for a profile of a run."""
    is_execution_graph: bool = False
    """Whether the profile describes the graph that a runtime executes, with all its operators. A
    profile of a run can take shapes and work from this graph (`model.graph.with_model`), even if
    the graph has times of its own."""
    digests: tuple[bytes | None, ...] = ()
    """The digest of the times of each process, as `run_copies.digests_of` yields it; empty if none
    was computed. Joining computes digests. `changed` drops them if it replaces executions, runs or
    processes."""
    # Caches are safe, because nothing in a profile changes.
    _measured: dict[str, Any] = field(default_factory=dict, init=False)
    """Results that depend on `_MEASURED_FIELDS` only. Copies with the same fields share them."""
    _results: dict[str, Any] = field(default_factory=dict, init=False)
    """Results of `once`, which may depend on every field."""

    def __repr__(self) -> str:
        operators = counted(len(self), "operator")
        return f"Profile({self.file!r}, {operators}, {self.origin.format!r})"

    def check(self) -> tuple[str, ...]:
        """Return a sentence for each inconsistency between the tables."""
        return tuple(problems(self))

    def changed(self, **changes: Any) -> Profile:
        """Return a copy with some fields replaced.

        Stored times are dropped if the executions, tracks or runs are replaced, or the number of
        operators changes, unless `stored_times` is also replaced.
        """
        if self.digests and changes.keys() & _FIELDS_OF_DIGESTS:
            changes = {"digests": (), **changes}
        copy = replace(self, **changes)
        if not changes.keys() & _MEASURED_FIELDS and len(copy) == len(self):
            object.__setattr__(copy, "_measured", self._measured)  # the class is frozen
            return copy
        if self.stored_times is None or "stored_times" in changes:
            return copy
        return replace(copy, stored_times=None)

    def measured(self, name: str) -> NDArray[np.float64]:
        """Return one of `MEASURES` in seconds, shape (operators, runs); NaN for N/A.

        The array is computed on first use. Raises `QueryError` for any other name.
        """
        if name not in MEASURES:
            raise QueryError(f"measure: {name!r} is not one of {', '.join(MEASURES)}")
        return self._once(name, lambda: frozen(measured(self, MEASURES[name])))

    def calls(self, side: Side = DEVICE) -> NDArray[np.float64]:
        """Return how often each operator was called, shape (operators, runs); NaN if never.

        Calls without a device time count on the host, but not on the device: see `timed_calls`.
        """
        all_calls = self._once("calls", lambda: frozen(calls(self)))
        if side == HOST or not have_untimed_calls(self):
            return all_calls
        return self._once("timed calls", lambda: frozen(timed_calls(self, all_calls)))

    def recorded(self, side: Side) -> NDArray[np.bool_]:
        """Return whether each operator has executions on `side`, shape (operators,).

        In a profile without times, all operators count as recorded.
        """
        if self.origin.times == ABSENT:  # a static model shows all operators
            return np.ones(len(self), np.bool_)
        return self._executed(side)[0]

    def _executed(self, side: Side) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return self._once(f"executed on {side}", lambda: executed_on(self, side))

    def once(self, key: str, compute: Callable[[], T]) -> T:
        """Return the result of `compute`, which is called only the first time.

        The result stays in memory as long as the profile, so it must not refer to the profile.
        """
        return _kept(self._results, key, compute)

    def _once(self, key: str, compute: Callable[[], T]) -> T:
        """Like `once`, for a result that depends on `_MEASURED_FIELDS` only."""
        return _kept(self._measured, key, compute)

    def in_bodies(self) -> NDArray[np.bool_]:
        """Return whether each operator is in the body of a loop or the like, shape (operators,).

        Totals of work leave bodies out, because it may be unknown how often a run executes a body.
        For a profile of a run, all results are false.
        """
        if self.model is None:
            return np.zeros(len(self), np.bool_)
        return np.asarray(self.operators.scope.codes >= 0)

    def never_run(self) -> NDArray[np.bool_]:
        """Return whether a run never executes each operator of a model, shape (operators,)."""
        scopes = frozenset(() if self.model is None else self.model.never_run)
        return self.operators.scope.where(one in scopes for one in self.operators.scope.categories)

    def totals_s(self, measure: str) -> NDArray[np.float64]:
        """Return the total of a measure in each run, shape (runs,); NaN if no time is known."""
        return self._once(
            f"total {measure}",
            lambda: frozen(totals(self.measured(measure), is_joined=len(self.processes) > 1)),
        )

    def total_s(self, measure: str = "time", run_statistic: str = "median") -> float:
        """Return the total seconds of all operators; NaN if no time is known.

        With several runs, the result is a statistic of the totals of all runs. `run_statistic` is
        one of `columns.column.RUN_STATISTICS`. Nested executions count twice until a level is
        selected: see `at_level`.
        """
        return float(over_runs(self.totals_s(measure)[np.newaxis], run_statistic)[0])

    def share_of(self, chosen: NDArray[np.bool_]) -> float:
        """Return the share of the total time that the chosen operators take.

        With several runs, the result is the ratio of two medians. It is NaN if no time is known.
        """
        chosen_s = totals_of_chosen(self.measured("time"), chosen, self.totals_s("time"))
        return float(ratio(over_runs(chosen_s[np.newaxis], "median"), self.total_s())[0])

    def spread(self, measure: str = "time") -> Spread:
        """Return how much the total varies from run to run."""
        return Spread.of(self.totals_s(measure))

    def total_by_track(self, side: Side = "device") -> dict[Track, float]:
        """Return the total seconds of each track of `side` that has executions.

        With several runs, each total is the median over the runs. It is NaN if no time is known.
        Tracks that are equal in all that the file says of them count as one.
        """
        by_track = total_by_track(self, side)
        rows_of: dict[Track, list[int]] = {}
        for index in self.executed_tracks(side):
            rows_of.setdefault(self.tracks[index], []).append(index)
        return {
            track: float(over_runs(totals(by_track[rows])[np.newaxis], "median")[0])
            for track, rows in rows_of.items()
        }

    def executed_tracks(self, side: Side) -> list[int]:
        """Return the indices of the tracks of `side` that have executions."""
        indices: list[int] = np.flatnonzero(self._executed(side)[1]).tolist()
        return indices


def _kept(results: dict[str, Any], key: str, compute: Callable[[], T]) -> T:
    if key not in results:
        results[key] = compute()
    return cast("T", results[key])

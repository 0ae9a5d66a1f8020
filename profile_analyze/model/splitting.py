"""Splits operators by keys that only executions have: the run, the step, the track, ...

Before a question is grouped by such a key, each operator gets a row for each value of the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.iterations import indices_in_process
from profile_analyze.model.numbers import numbered
from profile_analyze.model.terms import ABSENT, RUN_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

_OF_TRACKS: Final[Mapping[str, Callable[[Track], Any]]] = {
    "track": lambda track: track.name,
    "stream": lambda track: track.name if track.kind == "stream" else None,
    "device": lambda track: track.device,
    "rank": lambda track: track.rank,
}


def split(profile: Profile, keys: Iterable[str]) -> Profile:
    """A row for each operator and each value of `keys` (of `SPLIT_KEYS`) with an execution.

    Rows are in the order of the operators and then of the keys' values, N/A last.
    `Profile.split_by` has the values. With `run`, all rows belong to a single run. With `file`, the
    runs of a process stay separate runs. With `step`, each process becomes one run.
    """
    (found,), _ = split_alike([profile], keys)
    return found


def split_alike(
    profiles: Sequence[Profile], keys: Iterable[str]
) -> tuple[list[Profile], NDArray[np.int64]]:
    """Split several profiles with the same operators, so that they have the same rows again.

    Also return the former row of each new row, shape (rows,).
    """
    wanted = tuple(dict.fromkeys(keys))
    if not wanted:
        return list(profiles), np.arange(len(profiles[0]))
    if all(profile.origin.times == ABSENT for profile in profiles):
        return [_with_nothing_to_split(profile, wanted) for profile in profiles], np.arange(
            len(profiles[0])
        )
    sizes = [len(profile.executions) for profile in profiles]
    operator = np.concatenate([profile.executions.operator for profile in profiles])
    values = {
        key: Categorical.concatenated([_of_executions(profile, key) for profile in profiles])
        for key in wanted
    }
    cells = operator.astype(np.int64)
    for column in values.values():
        cells = _combined(cells, column)
    row, first = numbered(cells)
    order = np.argsort(cells[first], kind="stable")
    new_row = np.empty(len(order), np.int32)
    new_row[order] = np.arange(len(order))
    an_execution = first[order]
    former_row = operator[an_execution].astype(np.int64)
    operators = profiles[0].operators.take(former_row)
    split_by = {key: column.take(an_execution) for key, column in values.items()}
    rows = np.split(new_row[row], np.cumsum(sizes)[:-1])
    found = [
        _with_rows(profile, operators, rows_of_one, split_by)
        for profile, rows_of_one in zip(profiles, rows, strict=True)
    ]
    return found, former_row


def _with_nothing_to_split(profile: Profile, keys: tuple[str, ...]) -> Profile:
    """Keep the rows of a profile without times: operators that never ran have no keys."""
    missing: Categorical[Any] = Categorical.missing(len(profile))
    return profile.changed(split_by=dict.fromkeys(keys, missing))


def _with_rows(
    profile: Profile,
    operators: Operators,
    rows: NDArray[np.int32],
    split_by: Mapping[str, Categorical[Any]],
) -> Profile:
    """The profile with new operators; `rows` (shape: executions) has the new operator of each."""
    executions = profile.executions
    new_run, runs = _runs_left(profile, tuple(split_by))
    return profile.changed(
        operators=operators,
        executions=executions.changed(operator=rows, run=new_run[executions.run].astype(np.int32)),
        runs=runs,
        **profile.without_tables(),
        split_by=split_by,
        notes_on_runs=profile.notes_on_runs if runs is profile.runs else (),
    )


def _combined(cells: NDArray[np.int64], key: Categorical[Any]) -> NDArray[np.int64]:
    """One number for each pair, in the order of the cells and then of the key, N/A last."""
    last = len(key.categories)
    return cells * (last + 1) + np.where(key.codes < 0, last, key.codes)


def _of_executions(profile: Profile, key: str) -> Categorical[Any]:
    """Shape (executions,): the value of one key."""
    if key == "phase":
        return profile.executions.phase
    if key in _OF_TRACKS:
        of_each_track = Categorical.of(list(map(_OF_TRACKS[key], profile.tracks)))
        return _inherited(profile, of_each_track.take(profile.executions.track))
    return run_key(profile, key).take(profile.executions.run)


def _inherited(profile: Profile, values: Categorical[Any]) -> Categorical[Any]:
    """The values; a missing one is inherited if all other executions of the operator share one.

    For example, the host's work for an operator belongs to the device that the operator ran on.
    """
    unknown = values.codes < 0
    if not unknown.any() or unknown.all():
        return values
    operator, known = profile.executions.operator, ~unknown
    least = np.full(len(profile), len(values.categories))
    largest = np.full(len(profile), -1)
    np.minimum.at(least, operator[known], values.codes[known])
    np.maximum.at(largest, operator[known], values.codes[known])
    own = np.where(least == largest, largest, -1)
    return Categorical(np.where(unknown, own[operator], values.codes), values.categories)


def run_key(profile: Profile, key: str) -> Categorical[Any]:
    """Shape (runs,): the number of each run from 1 on, the name of its process, or its step."""
    if key == "run":
        return Categorical(np.arange(len(profile.runs)), tuple(range(1, len(profile.runs) + 1)))
    if key == "file":
        return Categorical.of(profile.run_files)
    return Categorical.of([run.step for run in profile.runs])


def of_tracks(profile: Profile, key: str, side: str) -> Categorical[Any]:
    """Shape (operators,): the values of a key of tracks where each ran, joined by commas.

    Only tracks of that side count, in the order of the executions.
    """
    executions = profile.executions
    tracks = len(profile.tracks)
    _, first = numbered(executions.operator.astype(np.int64) * tracks + executions.track)
    names = [_OF_TRACKS[key](track) if track.side == side else None for track in profile.tracks]
    found: dict[int, dict[str, None]] = {}
    pairs = zip(executions.operator[first].tolist(), executions.track[first].tolist(), strict=True)
    for operator, track in pairs:
        if names[track] is not None:
            found.setdefault(operator, {})[str(names[track])] = None
    texts = {operator: ", ".join(values) for operator, values in found.items()}
    return Categorical.of([texts.get(operator) for operator in range(len(profile))])


def _runs_left(profile: Profile, keys: Sequence[str]) -> tuple[NDArray[np.int64], tuple[Run, ...]]:
    """Shape (runs,): the new run of each run, if rows are split by `keys`; and the new runs."""
    runs = profile.runs
    told_apart = [key for key in RUN_KEYS if key in keys]
    if not told_apart:
        return np.arange(len(runs)), runs
    if "run" in keys or len(told_apart) > 1:
        return np.zeros(len(runs), np.int64), (Run(),)
    (key,) = told_apart
    if key == "step":
        of_processes = [run.process for run in runs]
        used = sorted(set(of_processes))
        return np.array([used.index(one) for one in of_processes]), tuple(Run(one) for one in used)
    index = indices_in_process(runs)
    return index, tuple(Run() for _ in range(int(index.max()) + 1))

"""Splits operators by keys that only executions have, such as the run, the step or the track.

Before a question groups by such a key, each operator gets one row for each value of the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.joining.iterations import indices_in_groups, indices_in_process
from profile_analyze.model.joining.labels import labels_of_runs
from profile_analyze.model.numbers import numbered
from profile_analyze.model.terms import ABSENT, LABEL, is_run_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

_TRACK_KEYS: Final[Mapping[str, Callable[[Track], Any]]] = {
    "track": lambda track: track.name,
    "stream": lambda track: track.name if track.kind == "stream" else None,
    "device": lambda track: track.device,
    "rank": lambda track: track.rank,
}


def split(profile: Profile, keys: Iterable[str]) -> Profile:
    """Return the profile with a row for each operator and each value of `keys` in its executions.

    `keys` are some of `SPLIT_KEYS`, or labels such as `label.date`. Rows are ordered by operator,
    then by the values of the keys, with N/A last. `Profile.split_by` has these values. The keys
    decide which runs the new profile has:

    - `run`: a single run.
    - `file`: the n-th runs of all files become run n of the new profile. Each row belongs to one
      file, so it has one value for each run of that file.
    - `step`: the runs of each process become one run.
    - several of these keys: a single run.
    - labels, without `run`: as for `file`, but runs with the same labels (and the same file and
      step, if these are keys, too) count as one file.
    - only other keys: the same runs as before.
    """
    wanted = tuple(dict.fromkeys(keys))
    if not wanted:
        return profile
    return profile.once(f"split by {wanted}", lambda: split_alike([profile], wanted)[0][0])


def split_alike(
    profiles: Sequence[Profile], keys: Iterable[str]
) -> tuple[list[Profile], NDArray[np.int64]]:
    """Split several profiles with the same operators. The split profiles also have the same rows.

    Return the split profiles and, for each new row, the row from which it was split, shape (rows,).
    """
    wanted = tuple(dict.fromkeys(keys))
    same_rows = np.arange(len(profiles[0]))
    if not wanted:
        return list(profiles), same_rows
    if all(profile.origin.times == ABSENT for profile in profiles):  # no executions
        return [_without_values(profile, wanted) for profile in profiles], same_rows
    sizes = [len(profile.executions) for profile in profiles]
    operator = np.concatenate([profile.executions.operator for profile in profiles])
    values = {
        key: Categorical.concatenated([_execution_values(profile, key) for profile in profiles])
        for key in wanted
    }
    # A cell is a number that stands for one operator and one value of each key. The new rows are
    # the cells that occur, in ascending order.
    cells = operator.astype(np.int64)
    for column in values.values():
        cells = _divided(cells, column)
    number, first = numbered(cells)
    order = np.argsort(cells[first], kind="stable")
    new_row = np.empty(len(order), np.int32)
    new_row[order] = np.arange(len(order))
    example = first[order]  # the first execution of each new row
    former_row = operator[example].astype(np.int64)
    operators = profiles[0].operators.take(former_row)
    split_by = {key: column.take(example) for key, column in values.items()}
    rows_of_profiles = np.split(new_row[number], np.cumsum(sizes)[:-1])
    split_profiles = [
        _with_rows(profile, operators, rows, split_by)
        for profile, rows in zip(profiles, rows_of_profiles, strict=True)
    ]
    return split_profiles, former_row


def _without_values(profile: Profile, keys: tuple[str, ...]) -> Profile:
    """Return the profile with N/A for all keys, because it has no executions."""
    missing: Categorical[Any] = Categorical.missing(len(profile))
    return profile.changed(split_by=dict.fromkeys(keys, missing))


def _with_rows(
    profile: Profile,
    operators: Operators,
    rows: NDArray[np.int32],
    split_by: Mapping[str, Categorical[Any]],
) -> Profile:
    """Return the profile with `operators`.

    `rows` has the new operator index of each execution, shape (executions,).
    """
    executions = profile.executions
    new_run, runs = _runs_after_split(profile, tuple(split_by))
    has_same_runs = runs is profile.runs
    return profile.changed(
        operators=operators,
        executions=executions.changed(operator=rows, run=new_run[executions.run].astype(np.int32)),
        runs=runs,
        **profile.without_tables(),
        split_by=split_by,
        notes_on_runs=profile.notes_on_runs if has_same_runs else (),
        unlike=profile.unlike if has_same_runs else "",
    )


def _divided(cells: NDArray[np.int64], key: Categorical[Any]) -> NDArray[np.int64]:
    """Split each cell by the values of `key`, and return the new cells. N/A is last in a cell."""
    last = len(key.categories)
    return cells * (last + 1) + np.where(key.codes < 0, last, key.codes)


def _execution_values(profile: Profile, key: str) -> Categorical[Any]:
    """Return the value of a key for each execution, shape (executions,)."""
    if key == "phase":
        return profile.executions.phase
    if key == "kernel":
        return _filled_in(profile, profile.executions.kernel)
    if key in _TRACK_KEYS:
        values = Categorical.of(list(map(_TRACK_KEYS[key], profile.tracks)))
        return _filled_in(profile, values.take(profile.executions.track))
    return _run_values(profile, key).take(profile.executions.run)


def _filled_in(profile: Profile, values: Categorical[Any]) -> Categorical[Any]:
    """Replace N/A by the value of the operator's other executions, if all known values are equal.

    For example, the host's work for an operator belongs to the device that the operator ran on, and
    to the kernel that the operator launched.
    """
    unknown = values.codes < 0
    if not unknown.any() or unknown.all():
        return values
    operator, known = profile.executions.operator, ~unknown
    lowest = np.full(len(profile), len(values.categories))
    highest = np.full(len(profile), -1)
    np.minimum.at(lowest, operator[known], values.codes[known])
    np.maximum.at(highest, operator[known], values.codes[known])
    # Equal bounds mean one common value. An operator without any known value has unequal bounds.
    common = np.where(lowest == highest, highest, -1)
    return Categorical(np.where(unknown, common[operator], values.codes), values.categories)


def _run_values(profile: Profile, key: str) -> Categorical[Any]:
    """Return the number, file, step or label of each run, as `key` says, shape (runs,)."""
    if key.startswith(LABEL):
        return labels_of_runs(profile, key.removeprefix(LABEL))
    if key == "run":
        return Categorical(np.arange(len(profile.runs)), tuple(range(1, len(profile.runs) + 1)))
    if key == "file":
        return Categorical.of(profile.run_files)
    return Categorical.of([run.step for run in profile.runs])


def joined_values(profile: Profile, key: str, side: str) -> Categorical[Any]:
    """Return the values of a key for each operator, joined by commas, shape (operators,).

    The key is `kernel` or a key of tracks, for which only tracks on `side` count. The values are in
    the order of the operator's executions.
    """
    executions = profile.executions
    if key == "kernel":
        values = executions.kernel
    else:
        of_tracks = [
            _TRACK_KEYS[key](track) if track.side == side else None for track in profile.tracks
        ]
        values = Categorical.of(of_tracks).take(executions.track)
    known = np.flatnonzero(values.codes >= 0)
    operator, code = executions.operator[known].astype(np.int64), values.codes[known]
    _, first = numbered(operator * len(values.categories) + code)
    values_of: dict[int, list[str]] = {}
    for row, one in zip(operator[first].tolist(), code[first].tolist(), strict=True):
        values_of.setdefault(row, []).append(str(values.categories[one]))
    texts = {row: ", ".join(found) for row, found in values_of.items()}
    return Categorical.of([texts.get(row) for row in range(len(profile))])


def _runs_after_split(
    profile: Profile, keys: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[Run, ...]]:
    """Return the index of the new run for each old run, and the new runs: see `split`."""
    runs = profile.runs
    run_keys = list(filter(is_run_key, keys))
    if not run_keys:
        return np.arange(len(runs)), runs
    if "run" not in keys and any(key.startswith(LABEL) for key in keys):
        values = [_run_values(profile, key).codes.tolist() for key in run_keys]
        index = indices_in_groups(list(zip(*values, strict=True)))
        return index, tuple(Run() for _ in range(int(index.max()) + 1))
    if "run" in keys or len(run_keys) > 1:
        return np.zeros(len(runs), np.int64), (Run(),)
    if run_keys == ["step"]:
        process_of = [run.process for run in runs]
        used = sorted(set(process_of))
        return np.array([used.index(one) for one in process_of]), tuple(map(Run, used))
    # By file: the n-th runs of all files become one run.
    index = indices_in_process(runs)
    return index, tuple(Run() for _ in range(int(index.max()) + 1))

"""Labels, which divide the runs of many files: the date, the host and the like.

Each process has at most one value of each label. Questions use labels as group keys and columns:
see `model.levels.splitting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import numbered, totals
from profile_analyze.model.terms import LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


def with_labels(profile: Profile, labels: Mapping[str, Sequence[str | None]]) -> Profile:
    """Return the profile with labels: for each name, the value of each process; None for N/A.

    Raises `QueryError` if a label does not have one value for each of `profile.processes`.
    """
    processes = len(profile.processes)
    for name, values in labels.items():
        if len(values) != processes:
            raise QueryError(
                f"labels: {name} has {len(values)} values; pass one for each of the {processes} "
                "entries of profile.processes"
            )
    new = {name: Categorical.of(values) for name, values in labels.items()}
    return profile.changed(labels={**profile.labels, **new})


def labels_of_processes(profile: Profile) -> tuple[dict[str, str], ...]:
    """Return the labels of each process, without N/A; empty if the profile has no labels."""
    if not profile.labels:
        return ()
    columns = {name: column.values().tolist() for name, column in profile.labels.items()}
    return tuple(
        {name: values[index] for name, values in columns.items() if values[index] is not None}
        for index in range(len(profile.processes))
    )


def label_columns(labels: Sequence[Mapping[str, str]]) -> dict[str, Categorical[str]]:
    """Return the columns for the labels of each process. A label that is missing is N/A."""
    names = dict.fromkeys(name for of_process in labels for name in of_process)
    return {name: Categorical.of([of_process.get(name) for of_process in labels]) for name in names}


def shared_labels(labels: Sequence[Mapping[str, str | None]]) -> dict[str, str]:
    """Return the labels that are equal in all of `labels`, without N/A."""
    first, *others = labels
    return {
        name: value
        for name, value in first.items()
        if value is not None and all(one.get(name) == value for one in others)
    }


def label_of(profile: Profile, name: str) -> Categorical[str]:
    """Return the label of each process, shape (processes,).

    Raises `QueryError` if the profile has no label `name`.
    """
    if name not in profile.labels:
        known = f"it has {', '.join(profile.labels)}" if profile.labels else "with_labels adds one"
        raise QueryError(f"the profile has no label {name!r}; {known}")
    return profile.labels[name]


def labels_of_runs(profile: Profile, name: str) -> Categorical[str]:
    """Return the label of each run, shape (runs,).

    Raises `QueryError` if the profile has no label `name`.
    """
    process = np.array([run.process for run in profile.runs], np.int64)
    return label_of(profile, name).take(process)


class Totals(NamedTuple):
    """The totals of a measure, over all operators and over the operators with the same labels."""

    seconds: NDArray[np.float64]
    """Shape (runs,): the totals over all operators."""

    part: NDArray[np.int64]
    """Shape (operators,): the part of the profile that an operator belongs to. Operators with the
    same labels form a part. Without labels, all operators form one part."""
    seconds_of_parts: NDArray[np.float64]
    """Shape (parts, runs): the totals over the operators of each part."""

    @classmethod
    def of(cls, profile: Profile, measure: str) -> Totals:
        """Return the totals of `measure` for each combination of the labels that split rows."""
        return profile.once(f"totals of {measure}", lambda: cls._of(profile, measure))

    @classmethod
    def _of(cls, profile: Profile, measure: str) -> Totals:
        keys = [column for key, column in profile.split_by.items() if key.startswith(LABEL)]
        of_all = profile.totals_s(measure)
        part = np.zeros(len(profile), np.int64)
        if not keys or not len(profile):
            return cls(of_all, part, of_all[np.newaxis])
        for column in keys:
            part, _ = numbered(part * (len(column.categories) + 1) + column.codes)
        measured = profile.measured(measure)[np.argsort(part, kind="stable")]
        ends = np.cumsum(np.bincount(part))[:-1]
        return cls(of_all, part, np.stack(list(map(totals, np.split(measured, ends)))))

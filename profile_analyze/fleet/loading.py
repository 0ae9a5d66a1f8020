"""Loads data sets, alone or beside files, as one profile with all their runs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.fleet.frames import without_frames
from profile_analyze.fleet.parts import partial_of, parts_of
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.runs import RunJoiner
from profile_analyze.model.terms import FRAMES
from profile_analyze.readers.many import add_runs, without_bad
from profile_analyze.readers.paths import is_data_set

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from profile_analyze.fleet.parts import Part
    from profile_analyze.model.profile import Profile


class LabelledFiles(NamedTuple):
    """The files in a part of a data set, which have the same labels."""

    files: Sequence[str]
    labels: Mapping[str, str]


def load_with_data_sets(
    names: Sequence[str],
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    keeps: Callable[[LabelledFiles], bool] = lambda _: True,
    **options: Any,
) -> Profile:
    """Return one profile with the runs of data sets and of files, in the order of `names`.

    The profile is the same as if the files in the data sets had been named instead. `wanted` and
    `options` are the arguments of `readers.many.load_runs`. Data sets have all columns. `keeps`
    says which parts of data sets are read.

    Raises the errors of `load_runs` and of `parts_of`.
    """
    joiner = RunJoiner()
    files = 0
    bad: list[InputError] = []
    for are_data_sets, group in groupby(names, is_data_set):
        if are_data_sets:
            for name in group:
                files += _add_data_set(joiner, name, keeps, with_frames=FRAMES in wanted)
        else:
            others = [*group]
            files += len(others)
            bad += add_runs(joiner, others, wanted=wanted, **options)
    joined = without_bad(joiner, bad)
    findings = joined.check()
    if findings:
        raise MalformedProfileError(names[0], f"inconsistent: {findings[0]}")
    if files > 1:
        return joined
    partial = joiner.partial()
    assert partial is not None, "the joined profile has a file"
    # `load` neither sorts the tracks of a single file nor makes notes on its runs, as joining does.
    return joined.changed(executions=partial.executions, tracks=partial.tracks, notes_on_runs=())


def labelled_files(data_set: str) -> list[LabelledFiles]:
    """Return the files in each part of a data set, with their labels.

    Raises the errors of `parts_of`.
    """
    return [_labelled_files(part) for part in parts_of(data_set)]


def _labelled_files(part: Part) -> LabelledFiles:
    facts = part.manifest.facts
    return LabelledFiles([process.name for process in facts.processes], facts.labels)


def _add_data_set(
    joiner: RunJoiner,
    name: str,
    keeps: Callable[[LabelledFiles], bool],
    *,
    with_frames: bool,
) -> int:
    """Add the profiles in a data set to `joiner`, and return their number."""
    parts = parts_of(name)
    if not parts:
        raise InputError(
            name,
            "is a data set without profiles, because no export to it ended; --export adds some",
        )
    kept = [part for part in parts if keeps(_labelled_files(part))]
    for part in kept:
        partial = partial_of(part)
        joiner.merge(partial if with_frames else without_frames(partial))
    return sum(part.manifest.facts.files for part in kept)

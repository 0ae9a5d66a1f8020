"""Loads data sets, alone or beside files, as one profile with all their runs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.fleet.frames import without_frames
from profile_analyze.fleet.parts import damaged_part, partial_of, parts_of
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.runs import RunJoiner
from profile_analyze.model.terms import FRAMES
from profile_analyze.readers.content import MAX_SIZE
from profile_analyze.readers.many import add_runs, without_bad
from profile_analyze.readers.paths import is_data_set

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from profile_analyze.fleet.parts import Part
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.runs import Partial


class LabelledFiles(NamedTuple):
    """The files in a part of a data set, which have the same labels."""

    files: Sequence[str]
    labels: Mapping[str, str]


def load_with_data_sets(
    names: Sequence[str],
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    keeps: Callable[[LabelledFiles], bool] = lambda _: True,
    progress: Callable[[int], None] = lambda _: None,
    found: Callable[[int], None] = lambda _: None,
    max_size: int = MAX_SIZE,
    **options: Any,
) -> Profile:
    """Return one profile with the runs of data sets and of files, in the order of `names`.

    The profile is the same as if the files in the data sets had been named instead. Data sets have
    all columns. `keeps` says which parts of data sets are read, and `found` is called with the
    number of files in each data set. The other arguments are as in `readers.many.load_runs`.

    Raises the errors of `load_runs` and of `parts_of`.
    """
    joiner = RunJoiner()
    bad: list[InputError] = []
    kept = {name: _kept_parts(name, keeps) for name in names if is_data_set(name)}
    for name in filter(kept.__contains__, names):
        found(sum(map(_files_in, kept[name])))
    files = 0
    for is_stored, group in groupby(names, kept.__contains__):
        members, counter = [*group], _after(files, progress)
        if is_stored:
            parts = [part for name in members for part in kept[name]]
            contents = (partial_of(part, max_size) for part in parts)
            files += _add_contents(joiner, contents, counter, with_frames=FRAMES in wanted)
        else:
            bad += add_runs(
                joiner, members, wanted=wanted, progress=counter, max_size=max_size, **options
            )
            files += len(members)
    joined = without_bad(joiner, bad)
    findings = joined.check()
    if findings:
        _check_each((part for parts in kept.values() for part in parts), max_size)
        raise MalformedProfileError(names[0], f"inconsistent: {findings[0]}")
    return joined if files > 1 else _as_single_file(joined, joiner)


def _check_each(parts: Iterable[Part], max_size: int) -> None:
    """Raise `MalformedProfileError` about the first part whose content is inconsistent.

    Checking only the joined profile is faster. Files have been checked when they were read.
    """
    for part in parts:
        joiner = RunJoiner()
        joiner.merge(partial_of(part, max_size))
        findings = joiner.joined().check()
        if findings:
            raise damaged_part(part.data_set, part.folder.name, findings[0])


def _as_single_file(joined: Profile, joiner: RunJoiner) -> Profile:
    """Return the joined profile of one file as `load` returns the file."""
    partial = joiner.partial()
    assert partial is not None, "the joined profile has a file"
    # `load` neither sorts the tracks of a single file nor makes notes on its runs, as joining does.
    return joined.changed(executions=partial.executions, tracks=partial.tracks, notes_on_runs=())


def _after(files: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that takes the number of files read after the first `files`."""
    return lambda read: progress(files + read)


def labelled_files(data_set: str) -> list[LabelledFiles]:
    """Return the files in each part of a data set, with their labels.

    Raises the errors of `parts_of`.
    """
    return [_labelled_files(part) for part in parts_of(data_set)]


def _labelled_files(part: Part) -> LabelledFiles:
    facts = part.manifest.facts
    return LabelledFiles([process.name for process in facts.processes], facts.labels)


def _kept_parts(name: str, keeps: Callable[[LabelledFiles], bool]) -> list[Part]:
    """Return the parts of a data set that are read."""
    parts = parts_of(name)
    if not parts:
        raise InputError(
            name,
            "is a data set without profiles, because no export to it ended; --export adds some",
        )
    return [part for part in parts if keeps(_labelled_files(part))]


def _add_contents(
    joiner: RunJoiner,
    contents: Iterable[Partial],
    progress: Callable[[int], None],
    *,
    with_frames: bool,
) -> int:
    """Add the contents of parts of data sets to `joiner`, and return the number of their files."""
    files = 0
    for content in contents:
        joiner.merge(content if with_frames else without_frames(content))
        files += content.files
        progress(files)
    return files


def _files_in(part: Part) -> int:
    return part.manifest.facts.files

"""Loads data sets, alone or beside files, as one profile with all their runs."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.fleet.frames import without_frames
from profile_analyze.fleet.parts import damaged_part, partial_of, parts_of
from profile_analyze.model.joining.runs import RunJoiner
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.terms import FRAMES
from profile_analyze.readers.input.content import MAX_SIZE
from profile_analyze.readers.input.many import add_runs, without_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from profile_analyze.fleet.parts import Part
    from profile_analyze.model.joining.runs import Partial
    from profile_analyze.model.profile import Profile


class LabelledFiles(NamedTuple):
    """The files in a part of a data set, which have the same labels."""

    files: Sequence[str]
    labels: Mapping[str, str]


def load_with_data_sets(
    names: Sequence[str],
    *,
    data_sets: Collection[str],
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    keeps: Callable[[LabelledFiles], bool] = lambda _: True,
    progress: Callable[[int], None] = lambda _: None,
    found: Callable[[int], None] = lambda _: None,
    max_size: int = MAX_SIZE,
    **options: Any,
) -> Profile:
    """Return one profile with the runs of data sets and of files, in the order of `names`.

    The profile is the same as if the files in the `data_sets` had been named instead. From data
    sets, all columns are read, even if they are not in `wanted`. `keeps` decides which parts of
    data sets are read. `found` is called with the number of files in each data set. The other
    arguments are as in `readers.input.many.load_runs`.

    Raises the errors of `load_runs` and of `parts_of`.
    """
    joiner = RunJoiner()
    bad: list[InputError] = []
    kept = {name: _kept_parts(name, keeps, max_size) for name in names if name in data_sets}
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
    _check(joined, chain.from_iterable(kept.values()), max_size)
    return joined if files > 1 else _as_single_file(joined, joiner)


def _check(joined: Profile, parts: Iterable[Part], max_size: int) -> None:
    """Raise `MalformedProfileError` about the first inconsistent part if `joined` is inconsistent.

    To save time, parts are checked one by one only in this case. Files outside of data sets were
    checked when they were read.
    """
    findings = joined.check()
    for part in parts if findings else ():
        joiner = RunJoiner()
        joiner.merge(partial_of(part, max_size))
        if of_part := joiner.joined().check():
            raise damaged_part(part.data_set, part.folder.name, of_part[0])
    if findings:
        raise MalformedProfileError(joined.file, f"inconsistent: {findings[0]}")


def _as_single_file(joined: Profile, joiner: RunJoiner) -> Profile:
    """Return the joined profile of one file, changed to what `load` returns for the file."""
    partial = joiner.partial()
    assert partial is not None, "the joined profile has a file"
    # Joining sorts the tracks and makes notes on the runs. `load` does neither.
    return joined.changed(
        executions=partial.executions,
        tracks=partial.tracks,
        stored_times=partial.times,
        notes_on_runs=(),
        unlike="",
    )


def _after(files: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that adds `files` to the number that it reports to `progress`."""
    return lambda read: progress(files + read)


def labelled_files(data_set: str, max_size: int) -> list[LabelledFiles]:
    """Return the files in each part of a data set, with their labels.

    Raises the errors of `parts_of`.
    """
    return [_labelled_files(part) for part in parts_of(data_set, max_size=max_size)]


def _labelled_files(part: Part) -> LabelledFiles:
    facts = part.manifest.facts
    return LabelledFiles([process.name for process in facts.processes], facts.labels)


def _kept_parts(name: str, keeps: Callable[[LabelledFiles], bool], max_size: int) -> list[Part]:
    """Return the parts of a data set that are read."""
    parts = parts_of(name, max_size=max_size)
    if not parts:
        raise InputError(
            name,
            "is a data set without profiles, because no export to it finished; --export adds some",
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

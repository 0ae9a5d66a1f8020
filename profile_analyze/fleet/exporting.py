"""Adds the profiles in files to a data set."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.columns.catalog import all_optional_columns
from profile_analyze.errors import InputError, OutputError, QueryError
from profile_analyze.fleet.new_parts import NewParts, start_data_set
from profile_analyze.fleet.parts import SourceFile
from profile_analyze.fleet.stored_profiles import stored
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.runs import RunJoiner
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.terms import DERIVED_WORK, FRAMES
from profile_analyze.readers.input.content import display_name
from profile_analyze.readers.input.many import add_runs, note_on_bad
from profile_analyze.readers.input.paths import is_pipe
from profile_analyze.readers.input.source import Source
from profile_analyze.termination import CleanEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from profile_analyze.model.joining.runs import Partial
    from profile_analyze.model.notes import Note

_MOST_GROUPS: Final = 1000
"""The most combinations of labels in an export. Each needs a part of its own, and reading a part
takes a few ms."""
FILES_PER_PART: Final = 1000
"""The most files in a part. An export has the profiles of one part in memory at a time."""

_WANTED: Final = frozenset({*OPTIONAL_COLUMNS, *DERIVED_WORK, FRAMES, *all_optional_columns()})
"""Everything that a reader can read, because later questions may need any of it."""


class Exported(NamedTuple):
    """The outcome of an export."""

    added: int
    """The number of files that were added."""
    files: int
    """The number of files in the data set now."""
    notes: tuple[Note, ...]


class _NewFile(NamedTuple):
    """A file to add to a data set."""

    path: str
    """The name as the user gave it. A URL may have a password."""
    source: SourceFile


def export(
    data_set: str,
    files: Sequence[str],
    *,
    max_size: int,
    progress: Callable[[int], None] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    files_per_part: int = FILES_PER_PART,
    **options: Any,
) -> Exported:
    """Add the profiles in `files` to a data set, which is made if it does not exist.

    After an error, no profile is added. A file is left out if the data set has its content already.
    `labels` maps names of files to their labels. `options` are further options of `load_runs`.

    Raises these errors:

    - `InputError`: a file cannot be read or stored.
    - `QueryError`: a file is a model that has not run, or the files have too many different labels.
    - `OutputError`: the data set cannot be written, or a file is a pipe or standard input.
    """
    start_data_set(data_set)
    groups = _with_same_labels(files, labels or {})
    with CleanEnd() as end, NewParts(data_set, max_size, end) as parts:
        adding = _Export(parts, max_size, progress, options)
        for labels_of_group, names in groups:
            new = adding.new_files(names)
            while files_of_part := [*islice(new, files_per_part)]:
                adding.add(files_of_part, labels_of_group)
        adding.publish()
    if adding.bad and not (adding.added or adding.repeated):
        raise adding.bad[0]
    return Exported(
        adding.added,
        len(parts.known) + adding.added,
        (
            *([note_on_bad(adding.bad)] if adding.bad else ()),
            *_notes_on_repeated(data_set, adding.repeated),
        ),
    )


class _StagedPart(NamedTuple):
    """A part that is written, but not yet published."""

    folder: Path
    files: Sequence[_NewFile]
    labels: Mapping[str, str]


class _Export:
    """The files of one call: added, left out because they are repeated, or bad."""

    def __init__(
        self,
        parts: NewParts,
        max_size: int,
        progress: Callable[[int], None] | None,
        options: Mapping[str, Any],
    ) -> None:
        self._parts, self._max_size, self._progress = parts, max_size, progress
        self._options = options
        self._known = {source.digest for source in parts.known if source.digest}
        self._staged: list[_StagedPart] = []
        self.repeated: list[str] = []
        """The names of the files that are left out because the data set, or an earlier file, has
        their content."""
        self.bad: list[InputError] = []

    @property
    def added(self) -> int:
        """The number of files that are added."""
        return sum(len(part.files) for part in self._staged)

    def new_files(self, files: Iterable[str]) -> Iterator[_NewFile]:
        """Yield the files whose content is new. The other files count as repeated."""
        for file in files:
            if file == "-":
                raise OutputError(
                    "--export needs the names of files; save standard input to a file"
                )
            if is_pipe(file):  # a second reading would wait for ever
                raise OutputError(
                    f"{file}: is a pipe, and --export reads files twice; save it to a file"
                )
            digest = _digest_of(file, self._max_size)
            if digest in self._known:
                self.repeated.append(display_name(file))
                continue
            if digest:
                self._known.add(digest)
            yield _NewFile(file, SourceFile(display_name(file), digest))

    def add(self, files: Sequence[_NewFile], labels: Mapping[str, str]) -> None:
        """Read some files, and write their profiles as a part.

        Raises `InputError` and `OutputError`.
        """
        self._staged += self._written(files, labels)

    def publish(self) -> None:
        """Publish all parts. Leave out files that another export has added meanwhile."""
        while repeated := self._parts.publish(
            [part.folder for part in self._staged],
            {file.source.digest for part in self._staged for file in part.files},
        ):
            self._progress = None  # files that are read again were counted before
            staged, self._staged = self._staged, []
            for part in staged:
                remaining = [one for one in part.files if one.source.digest not in repeated]
                self.repeated += [
                    one.source.name for one in part.files if one.source.digest in repeated
                ]
                is_same = len(remaining) == len(part.files)
                self._staged += [part] if is_same else self._written(remaining, part.labels)

    def _written(
        self, files: Sequence[_NewFile], labels: Mapping[str, str]
    ) -> Iterator[_StagedPart]:
        """Write a part with the files, and yield it. Yield nothing if no file can be read."""
        joiner = RunJoiner()
        self.bad += add_runs(
            joiner,
            [file.path for file in files],
            wanted=_WANTED,
            max_size=self._max_size,
            progress=partial(_tell, self._progress, self.added + len(self.bad + self.repeated)),
            **self._options,
        )
        content = joiner.partial()
        if content is None:  # `skip_bad` left out all files
            return
        content = content._replace(labels=(labels,) * len(content.processes))
        read = _files_of(content, files)
        try:
            folder = self._parts.write(stored(content), [file.source for file in read])
            yield _StagedPart(folder, read, labels)
        except UnicodeEncodeError as error:
            raise InputError(
                files[0].source.name,
                "a data set cannot hold this file, or one of the files after it, because of a name "
                f"that is not valid Unicode: {error.object!r}",
            ) from None


def _with_same_labels(
    files: Iterable[str], labels: Mapping[str, Mapping[str, str]]
) -> list[tuple[dict[str, str], list[str]]]:
    """Return the files in groups with the same labels, and the labels of each group.

    A part has files of one group. A question about some labels can therefore skip whole parts.
    """
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for file in files:
        groups.setdefault(tuple(labels.get(file, {}).items()), []).append(file)
    if len(groups) > _MOST_GROUPS:
        raise QueryError(
            f"argument --label: the files have {len(groups):,} different combinations of labels, "
            f"and an export may have at most {_MOST_GROUPS:,}; leave out labels that few files "
            "share"
        )
    return [(dict(key), names) for key, names in groups.items()]


def _tell(progress: Callable[[int], None] | None, before: int, files: int) -> None:
    """Report how many files have been read, including the files of earlier parts."""
    if progress is not None:
        progress(before + files)


def _files_of(content: Partial, files: Sequence[_NewFile]) -> list[_NewFile]:
    """Return the files that were read, without those that `skip_bad` left out."""
    # A file with several processes adds `, process 7` to its name.
    names = {*content.processes, *(one.rpartition(", process ")[0] for one in content.processes)}
    return [file for file in files if file.source.name in names]


def _digest_of(file: str, max_size: int) -> str:
    """Return a digest of the decompressed bytes of a file; empty if the file cannot be read."""
    digest = blake2b(digest_size=16)
    try:
        with Source(file, max_size=max_size) as source:
            for chunk in source.chunks():
                digest.update(chunk)
    except InputError:  # reported when the profile is read
        return ""
    return digest.hexdigest()


def _notes_on_repeated(data_set: str, repeated: Sequence[str]) -> Iterator[Note]:
    if repeated:
        first, files = repeated[0], len(repeated)
        yield Finding.of(
            "repeated-content", Kind.ANSWER, data_set=data_set, first=first, files=files
        )

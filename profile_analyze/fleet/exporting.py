"""Adds the profiles in files to a data set."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.errors import InputError, OutputError, QueryError
from profile_analyze.fleet.parts import NewParts, SourceFile, parts_of, start_data_set
from profile_analyze.fleet.stored_profiles import stored
from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.runs import RunJoiner
from profile_analyze.model.terms import DERIVED_WORK, FRAMES
from profile_analyze.query.catalog import all_optional_columns
from profile_analyze.readers.content import display_name
from profile_analyze.readers.many import add_runs, note_on_bad
from profile_analyze.readers.paths import is_data_set
from profile_analyze.readers.source import Source
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
    """Add the profiles in `files` to a data set, all together or none. Make the data set if needed.

    A file is left out if the data set has its content already. `labels` has the labels of each
    file by its name. `options` are further options of `readers.many.load_runs`.

    Raises `InputError` for a file that cannot be read or stored, `QueryError` for a model that has
    not run or for too many different labels, and `OutputError` if the data set cannot be written.
    """
    start_data_set(data_set)
    known = {source.digest for part in parts_of(data_set) for source in part.manifest.sources}
    known_before = len(known)
    repeated: list[str] = []
    bad: list[InputError] = []
    added = 0
    groups = _with_same_labels(files, labels or {})
    with NewParts(data_set) as parts:
        for of_part, names in groups:
            new = _new_sources(names, known, repeated, max_size)
            while new_files := [*islice(new, files_per_part)]:
                joiner = RunJoiner()
                files_of_part = [one.path for one in new_files]
                options["progress"] = partial(_tell, progress, added + len(bad) + len(repeated))
                bad += add_runs(joiner, files_of_part, wanted=_WANTED, max_size=max_size, **options)
                added += _write(parts, joiner, [one.source for one in new_files], of_part)
        if bad and not (added or repeated):
            raise bad[0]
    notes = [*([note_on_bad(bad)] if bad else ()), *_notes_on_repeated(data_set, repeated)]
    return Exported(added, known_before + added, tuple(notes))


def _with_same_labels(
    files: Iterable[str], labels: Mapping[str, Mapping[str, str]]
) -> list[tuple[dict[str, str], list[str]]]:
    """Return the files in groups with the same labels, and the labels of each group.

    A part has files of one group. A question about some labels can therefore skip whole parts. Its
    answer is the same as if only the remaining files had been exported.
    """
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for file in files:
        groups.setdefault(tuple(labels.get(file, {}).items()), []).append(file)
    if len(groups) > _MOST_GROUPS:
        raise QueryError(
            f"argument --label: the files have {len(groups):,} different combinations of labels, "
            f"and an export may have {_MOST_GROUPS:,}; leave out labels that few files share"
        )
    return [(dict(key), names) for key, names in groups.items()]


def _tell(progress: Callable[[int], None] | None, before: int, files: int) -> None:
    """Report how many files have been read, including the files of earlier parts."""
    if progress is not None:
        progress(before + files)


def _new_sources(
    files: Iterable[str], known: set[str], repeated: list[str], max_size: int
) -> Iterator[_NewFile]:
    """Yield the files whose content is not known, and add their digests to `known`.

    The other files are added to `repeated`.
    """
    for file in files:
        if file == "-":
            raise OutputError("--export needs the names of files; save standard input to a file")
        if is_data_set(file):
            raise OutputError(f"{file}: is a data set already; --export takes the files themselves")
        digest = _digest_of(file, max_size)
        if digest in known:
            repeated.append(display_name(file))
            continue
        if digest:
            known.add(digest)
        yield _NewFile(file, SourceFile(display_name(file), digest))


def _digest_of(file: str, max_size: int) -> str:
    """Return a digest of the decompressed bytes of a file; empty if the file cannot be read."""
    digest = blake2b(digest_size=16)
    try:
        with Source(file, max_size=max_size) as source:
            for chunk in source.chunks():
                digest.update(chunk)
    except InputError:  # reading the profile reports the error
        return ""
    return digest.hexdigest()


def _write(
    parts: NewParts,
    joiner: RunJoiner,
    sources: Sequence[SourceFile],
    labels: Mapping[str, str],
) -> int:
    """Write the profiles in `joiner` as a part, and return their number.

    Raises `InputError` and `OutputError`.
    """
    content = joiner.partial()
    if content is None:  # `skip_bad` left out all files
        return 0
    content = content._replace(labels=(labels,) * len(content.processes))
    read = set(content.processes)  # without the files that `skip_bad` left out
    try:
        parts.write(stored(content), [one for one in sources if one.name in read])
    except UnicodeEncodeError as error:
        raise InputError(
            sources[0].name,
            "a data set cannot hold this file or one of the next files, because of a name that is "
            f"no valid Unicode: {error.object!r}",
        ) from None
    return content.files


def _notes_on_repeated(data_set: str, repeated: Sequence[str]) -> Iterator[Note]:
    if repeated:
        more = f" and {len(repeated) - 1} more" if len(repeated) > 1 else ""
        yield Note(
            f"left out {counted(len(repeated), 'file')} whose content {data_set} has already: "
            f"{repeated[0]}{more}",
            Importance.ANSWER,
        )

"""Loads many files as one profile with the runs of all files. Small files are read together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import InputError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.runs import IDENTITY_COLUMNS, RunJoiner
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.input.content import MAX_SIZE
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.input.urls import survives_fork
from profile_analyze.readers.loading import cache_of, read_profile, read_together
from profile_analyze.readers.model_inputs import NO_INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine, Paths, Pool, ReadFiles, Step
    from profile_analyze.readers.loading import CacheFolder
    from profile_analyze.readers.model_inputs import ModelInputs


_MANY_FILES: Final = 100
"""A pool of processes reads the files only if there are at least this many, because starting the
pool takes 0.05 s."""
_GROUP_SIZE: Final = 1 << 20
"""Small files are decoded together, up to this many bytes. The limit is large enough to spread the
cost of NumPy's calls over several files. It is small enough for the decoded values to fit into the
processor's caches."""


def load_runs(  # noqa: PLR0913  # options, each by its name
    paths: Paths,
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
    processes: int = 1,
    engine: Engine | None = None,
    max_size: int = MAX_SIZE,
    inputs: ModelInputs = NO_INPUTS,
    beside: bool = True,
    cache: CacheFolder | None = None,
) -> Profile:
    """Return one profile with the runs of all files in `paths`, joined by the rules of `join_runs`.

    The files are read a few at a time, and only the joined profile stays in memory. If `processes`
    is above 1 and there are at least 100 files, up to that many processes read them. With an
    `engine`, such as a `DaskEngine`, the engine's processes read them, however few files there are.
    `progress` is called now and then with the number of files that have been read. With `skip_bad`,
    files that cannot be read are left out: a note names the first of them, and `Profile.left_out`
    has all. `max_size`, `inputs`, `beside` and `cache` apply to each file: see `load`.

    Raises the errors of `load`. Raises `InputError` also if all files were left out, and
    `QueryError` if one of the files is a model that has not run.
    """
    joiner = RunJoiner()
    bad = add_runs(
        joiner,
        paths,
        wanted=wanted,
        skip_bad=skip_bad,
        progress=progress,
        processes=processes,
        engine=engine,
        max_size=max_size,
        inputs=inputs,
        beside=beside,
        cache=cache,
    )
    return without_bad(joiner, bad)


def without_bad(joiner: RunJoiner, bad: Sequence[InputError]) -> Profile:
    """Return the joined profile, with a note on the files that were left out.

    `Profile.left_out` has the name of each such file, and the reason.

    Raises the first error if all files were left out, and the errors of `RunJoiner.joined`.
    """
    if not bad:
        return joiner.joined()
    if joiner.is_empty:
        raise bad[0]
    joined = joiner.joined((note_on_bad(bad),))
    return joined.changed(left_out=tuple((error.file, error.reason) for error in bad))


def note_on_bad(bad: Sequence[InputError]) -> Finding:
    """Return the finding on files that were left out because they cannot be read."""
    first, files = bad[0], len(bad)
    return Finding.of(
        "unread-files", Kind.INCOMPLETE, files=files, first=first.file, reason=first.reason
    )


def add_runs(  # noqa: PLR0913  # options, each by its name
    joiner: RunJoiner,
    paths: Paths,
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
    processes: int = 1,
    engine: Engine | None = None,
    max_size: int = MAX_SIZE,
    inputs: ModelInputs = NO_INPUTS,
    beside: bool = True,
    cache: CacheFolder | None = None,
) -> tuple[InputError, ...]:
    """Add the runs of all files in `paths` to `joiner`.

    With `skip_bad`, return the errors of the files that were left out, even if no file remains. The
    options, and the errors raised, are the same as for `load_runs`.
    """
    # Joining needs shapes, even if the question does not show them.
    needed = frozenset({*wanted, *IDENTITY_COLUMNS})
    opened = partial(Source, max_size=max_size, inputs=inputs, beside=beside, cache=cache_of(cache))
    read_files: ReadFiles = partial(_read_files, wanted=needed, source_of=opened)
    join = partial(_join, joiner, skip_bad=skip_bad, progress=progress)
    pool = (engine or partial(_start_pool, processes=processes))(paths, read_files)
    if pool is None:
        return join(lambda into: read_files(into, paths))
    try:
        return join(pool.merge_into)
    finally:
        pool.shut_down()


def _start_pool(paths: Paths, read_files: ReadFiles, processes: int) -> Pool | None:
    """Return a pool that reads the files, or None if this process should read them."""
    if processes < 2 or len(paths) < _MANY_FILES or not all(map(survives_fork, paths)):
        return None
    # Imported here, because most calls read few files, and `multiprocessing` takes 0.01 s.
    from profile_analyze.readers.input.pool import ReaderPool

    try:
        return ReaderPool(paths, read_files, processes)
    except OSError:  # the system cannot start these processes
        return None


def _join(
    joiner: RunJoiner,
    read: Callable[[RunJoiner], Iterator[Step]],
    *,
    skip_bad: bool,
    progress: Callable[[int], None] | None,
) -> tuple[InputError, ...]:
    """Let `read` add files to `joiner`, step by step. Return the errors of the files left out.

    Raises the first error if `skip_bad` is not set.
    """
    bad: list[InputError] = []
    done = 0
    for files_of_step, errors in read(joiner):
        if errors and not skip_bad:
            raise errors[0]
        bad += errors
        done += files_of_step
        if progress is not None:
            progress(done)
    return tuple(bad)


def _read_files(
    joiner: RunJoiner,
    paths: Paths,
    *,
    within: str = "",
    wanted: Collection[str],
    source_of: Callable[..., Source],
) -> Iterator[Step]:
    """Read files in order and add them to `joiner`, one group of files in each step."""
    for group in _groups(_open(source_of(path, within=within)) for path in paths):
        files, errors = len(group), _add_group(joiner, group, wanted)
        del group  # frees the contents before the next group is read
        yield files, errors


def _add_group(
    joiner: RunJoiner, group: Sequence[Source | InputError], wanted: Collection[str]
) -> tuple[InputError, ...]:
    """Add the profiles in a group to `joiner`. Return the errors of files that cannot be read."""
    sources = [source for source in group if isinstance(source, Source)]
    errors: list[InputError] = []
    with gc_paused():
        together = read_together(sources, wanted) if len(sources) > 1 else None
        if together is not None:
            joiner.add(together.profile, together.file_of, together.notes)
        else:
            for source in sources:
                try:
                    joiner.add(read_profile(source, wanted))
                except InputError as error:  # noqa: PERF203  # later files are still read
                    errors.append(error)
    # A file that cannot be opened ends its group, so errors stay in the order of the files.
    return (*errors, *(error for error in group if isinstance(error, InputError)))


def _open(source: Source) -> Source | InputError:
    """Read the start of a file. Return the source of the file, or the error if this failed."""
    try:
        # Reading one byte more than the limit shows whether the file is larger.
        source.size_up_to(_GROUP_SIZE + 1)
    except InputError as error:
        return error
    return source


def _groups(sources: Iterable[Source | InputError]) -> Iterator[list[Source | InputError]]:
    """Yield groups of small files, and each large file alone. A group ends after an error."""
    group: list[Source | InputError] = []
    size = 0
    for source in sources:
        more = source.size_up_to(_GROUP_SIZE + 1) if isinstance(source, Source) else 0
        if group and size + more > _GROUP_SIZE:
            yield group
            group, size = [], 0
        group.append(source)
        size += more
        # A group with an error is yielded at once: opening the next file may block if it is a pipe.
        is_last = isinstance(source, InputError) or size >= _GROUP_SIZE
        del source  # frees the content before the next file is read
        if is_last:
            yield group
            group, size = [], 0
    if group:
        yield group

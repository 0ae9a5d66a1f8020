"""Makes the notes on joined runs, such as a warning that the files are of different models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.findings import Finding, Kind, Subject, mean_size
from profile_analyze.model.levels.scope_notes import MixedScopes, mixed_scopes
from profile_analyze.model.measuring import run_counts_of
from profile_analyze.model.notes import Note, size_of
from profile_analyze.model.origin import FORMAT_SEPARATOR
from profile_analyze.model.terms import FUSED_NAMES, KERNEL, LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.findings import Size
    from profile_analyze.model.joining.runs import Partial
    from profile_analyze.model.profile import Profile

    Counts = NDArray[np.int64]

NotesOfFiles: TypeAlias = "dict[Note, list[tuple[str, Size]]]"
"""The files of each note. A key is a note without its size. A list has a pair for each file with
this note: the name of the file, and the size in this file."""

_DIFFERENT_KINDS: Final = "different kinds of file"
_FEWER_RUNS: Final = "fewer runs"
"""What replaces notes on operators that some runs lack: see `Note.dropped_beside`."""


def collected_notes(notes_of_files: Iterable[tuple[str, Iterable[Note]]]) -> NotesOfFiles:
    """Collect the notes of several files, from pairs of a file and its notes."""
    collected: NotesOfFiles = {}
    for file, notes in notes_of_files:
        for note in notes:
            collected.setdefault(note.without_size, []).append((file, size_of(note)))
    return collected


def notes_from_files(partial: Partial) -> Iterator[Note]:
    """Yield each note of the joined files once.

    The text says that all files have the note, or it names the first file with the note and counts
    the other files.
    """
    for one, of_files in partial.notes.items():
        files = [file for file, _ in of_files]
        # The size of the note differs from file to file. The joined note has the mean.
        note = one.with_size(mean_size([size for _, size in of_files]))
        if len(files) == partial.files:
            yield note if len(files) == 1 else note.about(Subject("each file", "", len(files)))
        else:
            yield note.about(Subject("files", files[0], len(files)))


class _Shared(NamedTuple):
    """How many operators the joined files have, and how many of them are in all runs.

    An operator is a node of the model: see `_nodes`. Files of different formats describe the same
    operator with different facts, so each row counts. Rows that no run has do not count.
    """

    found: int
    in_all_runs: int
    unlike: str = ""
    """See `Profile.unlike`."""
    scopes: MixedScopes | None = None
    """The files with and without scopes, if this is why few operators are in all runs."""


def facts_on_runs(joined: Profile, partial: Partial) -> dict[str, Any]:
    """Return the fields `notes_on_runs` and `unlike` of the joined profile."""
    shared = _shared(joined, partial.run_counts)
    notes = (
        *_copy_notes(partial),
        *_missing_operator_notes(joined, partial.run_counts, shared),
        *_conflict_notes(partial),
    )
    return {"notes_on_runs": notes, "unlike": shared.unlike}


def facts_on_fewer_runs(remaining: Profile) -> dict[str, Any]:
    """Return the changes of `notes_on_runs` and `unlike` for a profile that lost some of its runs.

    Operators that all runs had are still in all runs that remain. Only notes on other operators are
    made again.
    """
    kept = [note for note in remaining.notes_on_runs if note.dropped_beside != _FEWER_RUNS]
    if len(kept) == len(remaining.notes_on_runs):
        return {}
    run_counts = run_counts_of(remaining)
    shared = _shared(remaining, run_counts)
    notes = (*kept, *_missing_operator_notes(remaining, run_counts, shared))
    return {"notes_on_runs": notes, "unlike": shared.unlike}


def _shared(profile: Profile, run_counts: Counts) -> _Shared:
    several_formats = FORMAT_SEPARATOR in profile.origin.format
    if several_formats:
        found = int((run_counts > 0).sum())
        in_all_runs = int((run_counts >= len(profile.runs)).sum())
    else:
        found, in_all_runs = _nodes(profile, run_counts)
    # Two builds of one graph share most operators. Two different graphs share few.
    if in_all_runs * 2 >= found:
        return _Shared(found, in_all_runs)
    if not several_formats and (scopes := mixed_scopes(profile)):
        return _Shared(found, in_all_runs, scopes=scopes)
    what = _DIFFERENT_KINDS if several_formats else "different models"
    return _Shared(found, in_all_runs, what)


def _conflict_notes(partial: Partial) -> Iterator[Note]:
    conflicts = int(partial.conflicting.sum())
    if conflicts:
        yield Finding.of("conflicting-work", Kind.WRONG, operators=conflicts)


def _copy_notes(partial: Partial) -> Iterator[Note]:
    # Files with the same name but different measured times are different files: URLs are shown
    # without their queries, and a file may change between two readings.
    files = [*zip(partial.processes, partial.digests, strict=True)]
    repeated = len(files) - len(set(files))
    if repeated:
        yield Finding.of("files-named-again", Kind.ANSWER, files=repeated)
    # A file that is named again has an equal digest, too, but the note above already reports it.
    # Files without executions have no digest, so they are no copies.
    digests = [digest for _, digest in set(files) if digest is not None]
    copies = len(digests) - len(set(digests))
    if copies:
        yield Finding.of("probable-copies", Kind.ANSWER, files=copies)


def _missing_operator_notes(
    profile: Profile, run_counts: Counts, shared: _Shared
) -> Iterator[Note]:
    """Yield a note if some runs lack operators. `run_counts` has the runs of each operator."""
    scopes = shared.scopes
    if scopes is None and not shared.unlike:
        yield from _operators_in_some_runs(profile, run_counts)
        return
    yield Finding.of(
        *("few-shared-operators", Kind.ANSWER),
        dropped_beside=_FEWER_RUNS,
        shared=shared.in_all_runs,
        operators=shared.found,
        runs=len(profile.runs),
        kinds=shared.unlike,
        scoped=() if scopes is None else scopes.scoped,
        others=() if scopes is None else scopes.others,
        # Only graphs that a runtime wrote name the operators in fused layers.
        describes_model=FUSED_NAMES in profile.operators.optional,
    )


def _operators_in_some_runs(profile: Profile, run_counts: Counts) -> Iterator[Finding]:
    """Yield a finding on the first level with rows that some runs lack; usually none.

    Rows of other levels depend on these rows, so they get no finding of their own. It matters less
    if the default table does not show the level. Driver calls are in no table. Rows that no run has
    do not count.
    """
    runs, kind = len(profile.runs), Kind.INCOMPLETE
    for name in LEVELS:
        of_level = run_counts[profile.operators.are_at(name)]
        of_level = of_level[of_level > 0]
        missing = int((of_level < runs).sum())
        if missing:
            yield Finding.of(
                *("operators-in-some-runs", kind), dropped_beside=_FEWER_RUNS,
                missing=missing, rows=len(of_level), level=name, runs=runs,
                is_default=kind == Kind.INCOMPLETE,
            )  # fmt: skip
            return
        if len(of_level):  # the first level with rows is the default
            kind = Kind.CONTEXT


def _nodes(profile: Profile, run_counts: Counts) -> tuple[int, int]:
    """Return the number of nodes of the model, and how many of them are in all runs.

    Operators that differ only in their shapes are one node: runs of one model may have inputs of
    different sizes. Kernels do not count, because their names depend on the sizes, too. A node with
    several operators is taken to be in as many runs as these have together.
    """
    operators = profile.operators
    counts_as_node = ~operators.are_at(KERNEL)
    counts_as_node &= run_counts > 0
    columns = (operators.level, operators.scope, operators.name, operators.type)
    codes = np.transpose([column.codes[counts_as_node] for column in columns]).tolist()
    of_nodes: Counter[tuple[int, ...]] = Counter()
    for node, count in zip(codes, run_counts[counts_as_node].tolist(), strict=True):
        of_nodes[tuple(node)] += count
    runs = len(profile.runs)
    return len(of_nodes), sum(count >= runs for count in of_nodes.values())

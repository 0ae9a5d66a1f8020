"""Makes the notes on joined runs, such as a warning that the files are of different models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.fused_layers import FUSED_NAMES
from profile_analyze.model.notes import Beside, Importance, Note
from profile_analyze.model.scope_notes import BY_NAME, mixed_scopes
from profile_analyze.model.terms import KERNEL, LEVELS
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.model.runs import Partial

NotesOfFiles: TypeAlias = "dict[tuple[str, Importance, Beside], list[tuple[str, float]]]"
"""The files of each note. A key is a note without its share of the time. A list has a pair for each
file with this note: the name of the file, and the share in this file."""

_DIFFERENT_KINDS: Final = "different kinds of file"


def collected_notes(notes_of_files: Iterable[tuple[str, Iterable[Note]]]) -> NotesOfFiles:
    """Collect the notes of several files, from pairs of a file and its notes."""
    collected: NotesOfFiles = {}
    for file, notes in notes_of_files:
        for note in notes:
            key = (note.pattern, note.importance, note.dropped_beside)
            collected.setdefault(key, []).append((file, note.share))
    return collected


def notes_from_files(partial: Partial) -> Iterator[Note]:
    """Yield each note of the joined files once.

    The text says that all files have the note, or it names the first file with the note and counts
    the other files.
    """
    for (pattern, importance, dropped_beside), of_files in partial.notes.items():
        files = [file for file, _ in of_files]
        # The share of the time differs from file to file. The joined note has the mean.
        share = sum(share for _, share in of_files) / len(files)
        note = Note(pattern, importance, share, dropped_beside=dropped_beside)
        if len(files) == partial.files:
            yield note if len(files) == 1 else note.about(f"in each of {len(files)} files")
        else:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            yield note.about(f"{files[0]}{more}")


class _Shared(NamedTuple):
    """How many operators the joined files have, and how many of them are in all runs.

    An operator is a node of the model: see `_nodes`. Files of different formats describe the same
    operator with different facts, so each row counts.
    """

    found: int
    in_all_runs: int
    unlike: str = ""
    """See `Profile.unlike`."""
    scopes: str = ""
    """Why few operators are in all runs, if the reason is that only some runs have scopes."""


def facts_on_runs(partial: Partial) -> dict[str, Any]:
    """Return the fields `notes_on_runs` and `unlike` of the joined profile."""
    shared = _shared(partial)
    return {"notes_on_runs": (*_notes_on_runs(partial, shared),), "unlike": shared.unlike}


def _shared(partial: Partial) -> _Shared:
    several_formats = len({origin.format for origin in partial.origins}) > 1
    if several_formats:
        found = len(partial.run_counts)
        in_all_runs = int((partial.run_counts >= len(partial.runs)).sum())
    else:
        found, in_all_runs = _nodes(partial)
    # Two builds of one graph share most operators. Two different graphs share few.
    if in_all_runs * 2 >= found:
        return _Shared(found, in_all_runs)
    if not several_formats:
        runs = partial.as_profile().changed(stored_times=partial.times)
        if scopes := mixed_scopes(runs):
            return _Shared(found, in_all_runs, scopes=scopes)
    what = _DIFFERENT_KINDS if several_formats else "different models"
    return _Shared(found, in_all_runs, what)


def _notes_on_runs(partial: Partial, shared: _Shared) -> Iterator[Note]:
    yield from _copy_notes(partial)
    yield from _missing_operator_notes(partial, shared)
    conflicts = int(partial.conflicting.sum())
    if conflicts:
        yield Note(
            f"the runs disagree on computation or memory of {counted(conflicts, 'operator')}, and "
            "the first known value is used; if the runs differ in dtype, batch size or model, name "
            "those of one kind after --compare",
            Importance.WRONG,
        )


def _copy_notes(partial: Partial) -> Iterator[Note]:
    # Files with the same name but different measured times are different files: URLs are shown
    # without their queries, and a file may change between two readings.
    files = [*zip(partial.processes, partial.digests, strict=True)]
    repeated = len(files) - len(set(files))
    if repeated:
        yield Note(
            f"files named again: {repeated}; totals count a run each time that it is named, "
            "verdicts count it once; name each run once",
            Importance.ANSWER,
        )
    # A file that is named again has an equal digest, too, but the note above already reports it.
    # Files without executions have no digest, so they are no copies.
    digests = [digest for _, digest in set(files) if digest is not None]
    copies = len(digests) - len(set(digests))
    if copies:
        yield Note(
            f"probably copies: {counted(copies, 'file')} with exactly the times of another; "
            "totals count copies, verdicts do not; name each run once",
            Importance.ANSWER,
        )


def _missing_operator_notes(partial: Partial, shared: _Shared) -> Iterator[Note]:
    runs = len(partial.runs)
    how_many = f"only {shared.in_all_runs}" if shared.in_all_runs else "none"
    found = f"{how_many} of {shared.found} operators are in all {runs} runs"
    if shared.scopes:
        yield Note(f"{found}: {shared.scopes}; {BY_NAME} counts each name once", Importance.ANSWER)
    elif shared.unlike:
        advice = "--aggregate-by file shows each file on its own"
        # Only graphs that a runtime wrote name the operators in fused layers.
        if shared.unlike == _DIFFERENT_KINDS and FUSED_NAMES in partial.operators.optional:
            advice = f"if one of them describes the model that ran, name it after --model; {advice}"
        yield Note(
            f"{found}: these look like {shared.unlike}, so the totals make no sense; {advice}",
            Importance.ANSWER,
        )
    else:
        yield from _missing_row_notes(partial)


def _missing_row_notes(partial: Partial) -> Iterator[Note]:
    """Yield a note on the first level with rows that some runs lack.

    Rows of other levels depend on these rows, so they get no note of their own. The note matters
    less if the default table does not show the level. Driver calls are in no table.
    """
    level, runs = partial.operators.level, len(partial.runs)
    importance = Importance.INCOMPLETE
    for name in LEVELS:
        of_level = partial.run_counts[level.where(one == name for one in level.categories)]
        missing = int((of_level < runs).sum())
        if missing:
            option = "" if importance == Importance.INCOMPLETE else f" (--level {name})"
            some = f"only some of the {runs} runs"
            yield Note(f"{missing} of {len(of_level)} {name}s{option} are in {some}", importance)
            return
        if len(of_level):  # the first level with rows is the default
            importance = Importance.CONTEXT


def _nodes(partial: Partial) -> tuple[int, int]:
    """Return the number of nodes of the model, and how many of them are in all runs.

    Operators that differ only in their shapes are one node: runs of one model may have inputs of
    different sizes. Kernels do not count, because their names depend on the sizes, too. A node with
    several operators is taken to be in as many runs as these have together.
    """
    operators = partial.operators
    counts_as_node = ~operators.level.where(one == KERNEL for one in operators.level.categories)
    columns = (operators.level, operators.scope, operators.name, operators.type)
    codes = np.transpose([column.codes[counts_as_node] for column in columns]).tolist()
    run_counts: Counter[tuple[int, ...]] = Counter()
    for node, count in zip(codes, partial.run_counts[counts_as_node].tolist(), strict=True):
        run_counts[tuple(node)] += count
    runs = len(partial.runs)
    return len(run_counts), sum(count >= runs for count in run_counts.values())

"""Notes on joined runs, which a person should read before trusting the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.runs import Partial


def notes_from_files(partial: Partial) -> Iterator[str]:
    """Yield each note of the joined profiles once, with the names of its files."""
    for note, files in partial.notes.items():
        if len(files) == partial.files:
            yield note if len(files) == 1 else f"in each of {len(files)} files: {note}"
        else:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            yield f"{files[0]}{more}: {note}"


def notes_on_runs(partial: Partial) -> Iterator[str]:
    """Yield the notes that hold only while all runs are taken together."""
    yield from _copy_notes(partial)
    yield from _missing_operator_notes(partial)
    conflicts = int(partial.conflicting.sum())
    if conflicts:
        yield (
            f"the runs disagree on computation or memory of {counted(conflicts, 'operator')}"
            "; the first known value is used"
        )


def _copy_notes(partial: Partial) -> Iterator[str]:
    repeated = len(partial.processes) - len(set(partial.processes))
    if repeated:
        yield f"{counted(repeated, 'file')} named again: the same run counts twice"
    digests = [digest for digest in partial.digests if digest is not None]
    # A file that is named again has an equal digest, but already its own note.
    copies = len(digests) - len(set(digests)) - repeated
    if copies > 0:
        yield (
            f"{counted(copies, 'file')} with exactly the times of another: copies of one file "
            "under several names? The same run counts twice"
        )


def _missing_operator_notes(partial: Partial) -> Iterator[str]:
    operators, runs = len(partial.run_counts), len(partial.runs)
    in_all_runs = int((partial.run_counts == runs).sum())
    # Two builds of one graph share most operators. Two different graphs share few.
    if in_all_runs * 2 < operators:
        yield (
            f"only {in_all_runs} of {operators} operators are in all {runs} runs: these look like "
            "different models; --aggregate-by file treats them so"
        )
    elif in_all_runs < operators:
        missing = operators - in_all_runs
        yield f"{missing} of {operators} operators are in some of {runs} runs only"

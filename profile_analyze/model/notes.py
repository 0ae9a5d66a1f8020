"""Notes: sentences that a person should read before trusting the numbers, by importance."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from profile_analyze.units import counted, percent, short_time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

_MOST_IMPORTANT: Final = 3
_NOTEWORTHY_SHARE: Final = 0.001
"""Notes about a smaller share of the time are never among the most important notes."""
_SHARE: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""The placeholder for the share of the time in `Note.pattern`."""
_TIME: Final = "\N{INTERLINEAR ANNOTATION SEPARATOR}"
"""The placeholder for a time in `Note.pattern`."""

BASELINE: Final = "baseline"
"""The subject of notes on the baseline: see `Note.about`."""
_BOTH: Final = "on both sides"
"""The subject of a note that stands for two notes: one on the profile, and one on the baseline."""

NO_SCOPE: Final = ("has no scope", "have no scope")
"""The words for one operator without a scope, and for several of them."""

NoteChoice: TypeAlias = Literal["few", "all", "none"]
"""Which notes to show: the most important ones, all, or none."""

Beside: TypeAlias = Literal["", "model", "profile", "fewer runs"]


class Importance(IntEnum):
    """The kinds of notes, the most important kind first."""

    VERDICT = 0
    """The verdict on a condition, in output formats that do not show verdicts elsewhere. It is
    printed in addition to the three most important notes."""
    DAMAGED = 1
    """The file is truncated, or lacks some of its rows. Times may be too short, so conditions of
    `--fail-if` cannot be judged."""
    ANSWER = 2
    """The answer may mislead: it is empty, or it may not answer the question that was meant. For
    example, a model matches only some operators."""
    WRONG = 3
    """Some numbers are wrong, or are not what they seem to be."""
    INCOMPLETE = 4
    """Some numbers are missing: they are N/A or were left out."""
    CONTEXT = 5
    """How to read numbers that are right and complete."""


class Note(str):
    """The text of a note, with its importance.

    A note is a `str`, so code that only prints notes can treat them as texts.
    """

    __slots__ = ("dropped_beside", "importance", "pattern", "share", "size")

    importance: Importance
    share: float
    """The share of the time that the note is about, from 0 to 1; NaN if it is not known."""
    size: float
    """The value of the placeholder in `pattern`: the share, or a time in seconds."""
    pattern: str
    """The text without its size. The size differs between runs of one model."""
    dropped_beside: Beside
    """What makes the note untrue; empty for nothing. `model`: a note on a profile is dropped once a
    model fills in the missing facts. `profile`: a note on a model is dropped once the model is
    added to a profile. `fewer runs`: a note that counts runs is replaced once runs are left out."""

    def __new__(
        cls,
        pattern: str,
        importance: Importance,
        share: float = nan,
        *,
        dropped_beside: Beside = "",
    ) -> Note:
        """Make a note. `share` replaces the placeholder in `pattern`.

        If `counted_and_time` made the pattern, `share` is a time in seconds instead.
        """
        size = share
        is_time = _TIME in pattern
        text = short_time(size) if is_time else f"{percent(size)} of the time"
        shown = "" if isnan(size) else f" ({text})"
        note = super().__new__(cls, pattern.replace(_SHARE, shown).replace(_TIME, shown))
        note.importance, note.pattern, note.dropped_beside = importance, pattern, dropped_beside
        note.size, note.share = size, nan if is_time else size
        return note

    def __reduce__(self) -> tuple[Callable[..., Note], tuple[str, Importance, float]]:
        # Worker processes send the notes on their files to the main process by pickle.
        make = partial(Note, dropped_beside=self.dropped_beside)
        return make, (self.pattern, self.importance, self.size)

    def with_share(self, share: float) -> Note:
        """Return the same note with another share of the time."""
        return self._changed(self.pattern, share)

    def about(self, subject: str) -> Note:
        """Return the note with its subject before the text: `old.json: ...`."""
        return self._changed(f"{subject}: {self.pattern}", self.size)

    def on_both_sides(self, of_base: Note) -> Note:
        """Return one note in place of this note and the same note on the baseline, `of_base`."""
        here, there = self._shown_size(), of_base._shown_size()
        pattern = self.pattern
        if here != there:
            unit = "" if _TIME in pattern else " of the time"
            sizes = f" ({here}{unit}, {there} in the baseline)"
            pattern = pattern.replace(_SHARE, sizes).replace(_TIME, sizes)
        return self._changed(f"{_BOTH}: {pattern}", max(self.size, of_base.size))

    def _shown_size(self) -> str:
        return short_time(self.size) if _TIME in self.pattern else percent(self.size)

    def _changed(self, pattern: str, size: float) -> Note:
        return Note(pattern, self.importance, size, dropped_beside=self.dropped_beside)


def operators_and_share(count: int) -> str:
    """Return `26 operators` and a placeholder, which `Note` replaces by the share of the time."""
    return counted_and_share(count, "operator")


def unknown_work(facts: str = "type and shapes") -> str:
    """Return a text for `notes_with_share`: work that cannot be derived from `facts`."""
    return f"the computation of {{}} cannot be derived from {facts}"


def notes_with_share(
    text: str,
    importance: Importance,
    count: int,
    share: float,
    *,
    dropped_beside: Beside = "",
) -> Iterator[Note]:
    """Yield a note on `count` operators and their share of the time; no note for 0 operators.

    `text` has `{}` where the number of operators and their share of the time belong.
    """
    if count:
        pattern = text.format(operators_and_share(count))
        yield Note(pattern, importance, share, dropped_beside=dropped_beside)


def counted_and_share(count: int, noun: str) -> str:
    """Return the count with its noun, and the placeholder of `operators_and_share`."""
    return f"{counted(count, noun)}{_SHARE}"


def counted_and_time(count: int, noun: str) -> str:
    """Return the count with its noun, and a placeholder, which `Note` replaces by a time."""
    return f"{counted(count, noun)}{_TIME}"


def time_per_run(total_s: float, runs: int, kind: str = "") -> str:
    """Return the mean time of a run: `63.3 ms per run on average`; for one run, `63.3 ms`.

    `total_s` is the time of all `runs`. The summary usually has medians instead. `kind`, such as
    ` of host time`, follows the number.
    """
    return f"{short_time(total_s / runs)}{kind}{' per run on average' if runs > 1 else ''}"


def time_and_share(total_s: float, runs: int) -> str:
    """Return the text of `time_per_run`, and the placeholder of `operators_and_share`."""
    return f"{time_per_run(total_s, runs)}{_SHARE}"


def by_importance(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return the notes without repetitions, the most important first.

    If the profile and the baseline have the same note, one note stands for both. Equally important
    notes are ordered by their share of the time, the largest first. Notes without a known share
    come last.
    """
    return tuple(
        sorted(
            _once_for_both_sides(dict.fromkeys(notes)),
            key=lambda note: (note.importance, isnan(note.share), -note.share),
        )
    )


def _once_for_both_sides(notes: Collection[Note]) -> Iterator[Note]:
    """Yield the notes. Instead of equal notes on the profile and the baseline, yield one note.

    Their shares of the time may differ: the note then has both shares.
    """
    by_text = {(note.pattern, isnan(note.share)): note for note in notes}
    of_base = {
        note: by_text[text]
        for note in notes
        if (text := (note.about(BASELINE).pattern, isnan(note.share))) in by_text
    }
    merged = {*of_base.values()}
    for note in notes:
        if note not in merged:
            yield note.on_both_sides(of_base[note]) if note in of_base else note


def chosen_notes(notes: Iterable[Note], which: NoteChoice) -> tuple[Note, ...]:
    """Return the notes to show.

    With `few`, these are the notes that `most_important` returns. With `none`, only verdicts are
    left.
    """
    if which == "few":
        return most_important(notes)
    return tuple(note for note in notes if which == "all" or note.importance == Importance.VERDICT)


def most_important(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return all verdicts, and the three most important other notes.

    Notes about less than 0.1 % of the time are left out.
    """
    ordered = by_importance(notes)
    verdicts = [note for note in ordered if note.importance == Importance.VERDICT]
    others = [note for note in ordered[len(verdicts) :] if not note.share < _NOTEWORTHY_SHARE]
    return (*verdicts, *others[:_MOST_IMPORTANT])

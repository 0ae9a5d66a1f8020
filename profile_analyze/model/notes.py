"""Notes: sentences that a person should read before trusting the numbers, by importance."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Final

from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MOST_IMPORTANT: Final = 3
_NOTEWORTHY_SHARE: Final = 0.001
"""A note about a smaller share of the time is never among the most important ones."""
_SHARE: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for the share of the time in `Note.pattern`."""


class Importance(IntEnum):
    """What a note is about, the most important first."""

    VERDICT = 0
    """The verdict on a condition, in formats that have no other place for it. It is printed
    beside the three most important notes."""
    ANSWER = 1
    """The answer is empty, or answers another question than the one that was meant. Or it is
    uncertain whether it does: a model matches only some of the operators."""
    WRONG = 2
    """Some numbers are wrong, or are not what they seem to be."""
    INCOMPLETE = 3
    """Something is missing: it is N/A or was left out."""
    CONTEXT = 4
    """How to read numbers that are right and complete."""


class Note(str):
    """The text of a note, with its importance.

    It is a `str`, so that code that only prints notes need not know more.
    """

    __slots__ = ("importance", "is_without_model", "pattern", "share")

    importance: Importance
    share: float
    """The share of the time that the note is about, from 0 to 1; NaN if it is not known."""
    pattern: str
    """The text without the share, which differs between runs of one model."""
    is_without_model: bool
    """Whether the note is no longer true with a model beside the profile, which adds what the note
    says is missing, or replaces what it says is wrong."""

    def __new__(
        cls,
        pattern: str,
        importance: Importance,
        share: float = nan,
        *,
        is_without_model: bool = False,
    ) -> Note:
        """Make a note. `share` replaces the placeholder of `operators_and_share` in `pattern`."""
        size = "" if isnan(share) else f" ({percent(share)} of the time)"
        note = super().__new__(cls, pattern.replace(_SHARE, size))
        note.importance, note.share, note.pattern = importance, share, pattern
        note.is_without_model = is_without_model
        return note

    def __reduce__(self) -> tuple[Callable[..., Note], tuple[str, Importance, float]]:
        # Worker processes send the notes on their files to the main process by pickle.
        make = partial(Note, is_without_model=self.is_without_model)
        return make, (self.pattern, self.importance, self.share)

    def with_share(self, share: float) -> Note:
        """Return the same note with another share of the time."""
        return self._changed(self.pattern, share)

    def about(self, subject: str) -> Note:
        """Return the note with its subject before the text: `old.json: ...`."""
        return self._changed(f"{subject}: {self.pattern}", self.share)

    def _changed(self, pattern: str, share: float) -> Note:
        return Note(pattern, self.importance, share, is_without_model=self.is_without_model)


def operators_and_share(count: int) -> str:
    """Return `26 operators` and a placeholder, which `Note` replaces by the share of the time."""
    return counted_and_share(count, "operator")


def counted_and_share(count: int, noun: str) -> str:
    """Return the count with its noun, and the placeholder of `operators_and_share`."""
    return f"{counted(count, noun)}{_SHARE}"


def by_importance(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return the notes without repetitions, the most important first.

    Of equally important notes, those about more of the time come first, and those without a known
    share last.
    """
    return tuple(
        sorted(
            dict.fromkeys(notes),
            key=lambda note: (note.importance, isnan(note.share), -note.share),
        )
    )


def most_important(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return all verdicts, and the first three other notes by importance.

    Notes about less than 0.1 % of the time are left out.
    """
    ordered = by_importance(notes)
    verdicts = [note for note in ordered if note.importance == Importance.VERDICT]
    others = [note for note in ordered[len(verdicts) :] if not note.share < _NOTEWORTHY_SHARE]
    return (*verdicts, *others[:_MOST_IMPORTANT])

"""Notes that still are sentences, and the order of notes and findings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from profile_analyze.model.findings import BASELINE, Beside, Finding, Kind, Size, Subject, as_shown
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

NO_SCOPE: Final = ("has no scope", "have no scope")
"""The words for one operator without a scope, and for several of them."""

NoteChoice: TypeAlias = Literal["few", "all", "none"]
"""Which notes to show: the most important ones, all, or none."""

Importance: TypeAlias = Kind


class TextNote(str):
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
    ) -> TextNote:
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

    def __reduce__(self) -> tuple[Callable[..., TextNote], tuple[str, Importance, float]]:
        # Worker processes send the notes on their files to the main process by pickle.
        make = partial(TextNote, dropped_beside=self.dropped_beside)
        return make, (self.pattern, self.importance, self.size)

    @property
    def without_size(self) -> TextNote:
        """The note without its size."""
        return self._changed(self.pattern, nan)

    def with_share(self, share: float) -> TextNote:
        """Return the same note with another share of the time."""
        return self._changed(self.pattern, share)

    def with_size(self, size: Size) -> TextNote:
        """Return the same note with another size."""
        return self._changed(self.pattern, size.time_s if _TIME in self.pattern else size.share)

    def about(self, subject: Subject) -> TextNote:
        """Return the note with its subject before the text: `old.json: ...`."""
        return self._changed(f"{_subject(subject)}: {self.pattern}", self.size)

    def on_both_sides(self, of_base: TextNote) -> TextNote:
        """Return one note in place of this note and the same note on the baseline, `of_base`."""
        here, there = self._shown_size(), of_base._shown_size()
        pattern = self.pattern
        if here != there:
            unit = "" if _TIME in pattern else " of the time"
            sizes = f" ({here}{unit}, {there} in the baseline)"
            pattern = pattern.replace(_SHARE, sizes).replace(_TIME, sizes)
        return self._changed(f"on both sides: {pattern}", max(self.size, of_base.size))

    def _shown_size(self) -> str:
        return short_time(self.size) if _TIME in self.pattern else percent(self.size)

    def _changed(self, pattern: str, size: float) -> TextNote:
        return TextNote(pattern, self.importance, size, dropped_beside=self.dropped_beside)


Note: TypeAlias = TextNote | Finding


def _subject(subject: Subject) -> str:
    if subject.kind == "each file":
        return f"in each of {subject.files} files"
    more = subject.files - 1
    return f"{subject.name} and {more} more" if more else subject.name


def size_of(note: Note) -> Size:
    """Return the size of a note or finding."""
    if isinstance(note, Finding):
        return note.size
    return Size(time_s=note.size) if _TIME in note.pattern else Size(note.size)


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
) -> Iterator[TextNote]:
    """Yield a note on `count` operators and their share of the time; no note for 0 operators.

    `text` has `{}` where the number of operators and their share of the time belong.
    """
    if count:
        pattern = text.format(operators_and_share(count))
        yield TextNote(pattern, importance, share, dropped_beside=dropped_beside)


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
    distinct: dict[tuple[Any, ...], Note] = {}
    for note in notes:
        distinct.setdefault(_key(note), note)
    return tuple(
        sorted(
            _once_for_both_sides(distinct.values()),
            key=lambda note: (note.importance, isnan(note.share), -note.share),
        )
    )


def _key(note: Note) -> tuple[Any, ...]:
    """Return what equal notes have in common."""
    return (str(note),) if isinstance(note, TextNote) else (as_shown(note),)


def _alike(note: Note) -> tuple[Any, ...]:
    """Return what a note on the profile and the same note on the baseline have in common."""
    if isinstance(note, TextNote):
        return (note.pattern, isnan(note.share))
    return (as_shown(replace(note.without_size, kind=Kind.CONTEXT)), isnan(note.share))


def _once_for_both_sides(notes: Collection[Note]) -> Iterator[Note]:
    """Yield the notes. Instead of equal notes on the profile and the baseline, yield one note.

    Their shares of the time may differ: the note then has both shares.
    """
    by_text = {_alike(note): note for note in notes}
    of_base = {
        _key(note): by_text[text]
        for note in notes
        if (text := _alike(note.about(BASELINE))) in by_text
    }
    merged = {*map(_key, of_base.values())}
    for note in notes:
        if _key(note) in merged:
            continue
        base = of_base.get(_key(note))
        if isinstance(note, Finding):
            yield note.on_both_sides(base) if isinstance(base, Finding) else note
        else:
            yield note.on_both_sides(base) if isinstance(base, TextNote) else note


def chosen_notes(notes: Iterable[Note], which: NoteChoice) -> tuple[Note, ...]:
    """Return the notes to show: with `few`, the notes that `most_important` returns."""
    if which == "few":
        return most_important(notes)
    return tuple(notes) if which == "all" else ()


def most_important(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return the three most important notes.

    Notes about less than 0.1 % of the time are left out.
    """
    others = [note for note in by_importance(notes) if not note.share < _NOTEWORTHY_SHARE]
    return tuple(others[:_MOST_IMPORTANT])

"""The renderer of sentences: turns findings into text, with times in the unit that is asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.findings.register import rule_of
from profile_analyze.model.findings import Finding
from profile_analyze.units import counted, percent, short_time, significant, time_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.findings.rule import Says
    from profile_analyze.model.findings import Size, Subject
    from profile_analyze.model.notes import Note

_DIGITS: Final = 3
_FIELD: Final = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


class _Words(NamedTuple):
    """See `findings.rule.Words`."""

    size: Size
    of_base: Size | None
    unit: str

    @property
    def sized(self) -> str:
        here = self._text(self.size)
        if not here:
            return ""
        there = here if self.of_base is None else self._text(self.of_base)
        of_the_time = " of the time" if self.size.share == self.size.share else ""  # NaN
        if here == there:
            return f" ({here}{of_the_time})"
        return f" ({here}{of_the_time}, {there} in the baseline)"

    def _text(self, size: Size) -> str:
        if size.share == size.share:  # NaN
            return percent(size.share)
        return self.time(size.time_s) if size.time_s == size.time_s else ""  # NaN

    def time(self, time_s: float | None) -> str:
        if time_s is None or self.unit == "auto":
            return short_time(float("nan") if time_s is None else time_s)
        return f"{significant(time_in(time_s, self.unit), _DIGITS)} {self.unit}"


def as_text(note: Note, time_unit: str = "auto") -> str:
    """Return a note or finding as one sentence."""
    return sentence(note, time_unit) if isinstance(note, Finding) else note


def sentence(finding: Finding, time_unit: str = "auto") -> str:
    """Return a finding as one sentence, without a full stop.

    `time_unit` is a unit for all times, such as `ms`. With `auto`, each time has the unit that
    suits it.
    """
    text = _said(rule_of(finding.code).says, finding, time_unit)
    return "".join(f"{subject_text(one)}: " for one in finding.subjects) + text


def brief(finding: Finding, time_unit: str = "auto") -> str:
    """Return what a finding says after a subject that the reader knows, such as a condition."""
    rule = rule_of(finding.code)
    return _said(rule.brief or rule.says, finding, time_unit)


def advice(finding: Finding) -> str:
    """Return what to do about a finding, which `brief` does not say; empty if there is nothing."""
    says = rule_of(finding.code).advice
    return _said(says, finding, "auto") if says else ""


def _said(says: str | Says, finding: Finding, time_unit: str) -> str:
    words, values = _Words(finding.size, finding.of_base, time_unit), dict(finding.values)
    return _filled(says, words, values) if isinstance(says, str) else says(words, **values)


def subject_text(subject: Subject) -> str:
    """Return what a finding is about, as it stands before the sentence."""
    if subject.kind == "both sides":
        return "on both sides"
    if subject.kind == "each file":
        return f"in each of {subject.files} files"
    more = subject.files - 1
    return f"{subject.name} and {more} more" if more else subject.name


def _filled(template: str, words: _Words, values: Mapping[str, Any]) -> str:
    """Return the template with the values in place of its fields: see `Rule.says`."""

    def text_of(field: re.Match[str]) -> str:
        name, form = field[1], field[2]
        return words.sized if name == "size" else _formatted(values[name], form, words)

    return _FIELD.sub(text_of, template)


def _formatted(value: Any, form: str | None, words: _Words) -> str:
    if form is None:
        return str(value)
    if form == "time":
        return words.time(value)
    if form == "percent":
        return percent(float("nan") if value is None else value)
    if form == "list":
        return ", ".join(map(str, value))
    if "/" in form:
        one, other = form.split("/")
        return one if value == 1 else other
    singular, _, plural = form.partition("|")
    return counted(value, singular, plural or None)

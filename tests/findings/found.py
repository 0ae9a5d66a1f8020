"""Findings as tests compare them: chosen by code, with rounded numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from profile_analyze.findings.rules.comparison import reason_of
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.findings import Finding, Size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.comparison.notes import Mismatch
    from profile_analyze.model.notes import Note


def rounded(notes: Iterable[Note], decimals: int = 9) -> list[Note]:
    """Return the notes, with rounded numbers in findings."""
    return [_rounded(note, decimals) if isinstance(note, Finding) else note for note in notes]


def with_code(notes: Iterable[Note], *codes: str, decimals: int = 9) -> list[Finding]:
    """Return the findings with one of these codes, with rounded numbers."""
    found = (one for one in notes if isinstance(one, Finding) and one.code in codes)
    return [_rounded(one, decimals) for one in found]


def codes_in(notes: Iterable[Note]) -> list[str]:
    """Return the codes of the findings."""
    return [one.code for one in notes if isinstance(one, Finding)]


def said(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the notes as sentences."""
    return tuple(map(as_text, notes))


def why(mismatch: Mismatch | None) -> str:
    """Return in words why a comparison means nothing."""
    return "None" if mismatch is None else str(reason_of(mismatch.finding))


def _rounded(finding: Finding, decimals: int) -> Finding:
    def number(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(number, value))
        return round(value, decimals) if isinstance(value, float) else value

    values = tuple((name, number(value)) for name, value in finding.values)
    return replace(finding, values=values, size=Size(*map(number, finding.size)))

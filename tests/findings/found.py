"""Findings as tests compare them: chosen by code, with rounded numbers."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.findings import Finding, Size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.model.notes import Note

_DECIMALS: Final = 9


def rounded(notes: Iterable[Note]) -> list[Note]:
    """Return the notes, with nine decimals in the numbers of findings."""
    return [_rounded(note) if isinstance(note, Finding) else note for note in notes]


def with_code(notes: Iterable[Note], *codes: str) -> list[Note]:
    """Return the findings with one of these codes, with nine decimals in their numbers."""
    return rounded(one for one in notes if isinstance(one, Finding) and one.code in codes)


def codes_in(notes: Iterable[Note]) -> list[str]:
    """Return the codes of the findings."""
    return [one.code for one in notes if isinstance(one, Finding)]


def _rounded(finding: Finding) -> Finding:
    values = tuple((name, _number(value)) for name, value in finding.values)
    return replace(finding, values=values, size=Size(*map(_number, finding.size)))


def _number(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return nan if isnan(value) else round(value, _DECIMALS)

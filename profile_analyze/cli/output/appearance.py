"""The options that decide how the answer looks: colours, unit of times, notes, pager."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.advice.names import did_you_mean, similar_texts
from profile_analyze.cli.output.standard import encoding_of_standard_output
from profile_analyze.cli.output.terminal import terminal_width, wants_color
from profile_analyze.errors import QueryError
from profile_analyze.findings.register import all_rules
from profile_analyze.model.findings import Finding
from profile_analyze.report.base import Display

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from profile_analyze.model.notes import Note, NoteChoice
    from profile_analyze.report.layout.times import TimeUnit


def _codes(option: str, arguments: argparse.Namespace) -> frozenset[str]:
    """Return the codes after an option. Raises `QueryError` if there is no such finding."""
    text = getattr(arguments, option[2:])
    if text is None:
        return frozenset()
    codes = [code.strip() for code in text.split(",")]
    known = [rule.code for rule in all_rules()]
    for code in codes:
        if code not in known:
            advice = did_you_mean(similar_texts(code, known)) or "--findings help lists all"
            raise QueryError(f"argument {option}: no finding has the code {code!r}; {advice}")
    return frozenset(codes)


class Appearance(NamedTuple):
    """The options that decide how the answer looks."""

    color: str
    time_unit: TimeUnit
    notes: NoteChoice
    """Which notes to print, and to write into formats for people that have notes."""
    paged: bool
    """Whether a long answer may be shown in a pager."""
    codes: frozenset[str]
    """The codes of the findings to show; empty for all findings."""
    ignored: frozenset[str]
    """The codes of the findings to leave out."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Appearance:
        """Take these options from the parsed arguments. Raises `QueryError` for unknown codes."""
        codes, ignored = _codes("--findings", arguments), _codes("--ignore", arguments)
        notes: NoteChoice = "all" if codes else arguments.notes
        paged = not arguments.no_pager
        return cls(arguments.color, arguments.time_unit, notes, paged, codes, ignored)

    def chosen(self, notes: Iterable[Note]) -> tuple[Note, ...]:
        """Return the notes and findings that the options do not leave out."""
        if not (self.codes or self.ignored):
            return tuple(notes)
        return tuple(note for note in notes if self._keeps(note))

    def _keeps(self, note: Note) -> bool:
        code = note.code if isinstance(note, Finding) else ""
        return code not in self.ignored and (not self.codes or code in self.codes)

    def display(self, output: str | None) -> Display:
        """Return the settings for the file `output`, or for standard output if it is None."""
        always = self.color == "always"
        if output is not None or sys.stdout is None:
            return Display(color=always, time_unit=self.time_unit, notes=self.notes)
        return Display(
            encoding=encoding_of_standard_output(),
            width=terminal_width(sys.stdout),
            color=always or wants_color(sys.stdout, self.color),
            time_unit=self.time_unit,
            notes=self.notes,
        )

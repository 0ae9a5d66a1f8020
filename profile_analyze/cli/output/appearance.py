"""The options that decide how the answer looks: colours, unit of times, notes, pager."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.output.standard import encoding_of_standard_output
from profile_analyze.cli.output.terminal import terminal_width, wants_color
from profile_analyze.report.base import Display

if TYPE_CHECKING:
    import argparse

    from profile_analyze.model.notes import NoteChoice
    from profile_analyze.report.layout.times import TimeUnit


class Appearance(NamedTuple):
    """The options that decide how the answer looks."""

    color: str
    time_unit: TimeUnit
    notes: NoteChoice
    """Which notes to print, and to write into formats for people that have notes."""
    paged: bool
    """Whether a long answer may be shown in a pager."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Appearance:
        """Take these options from the parsed arguments."""
        return cls(arguments.color, arguments.time_unit, arguments.notes, not arguments.no_pager)

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

"""The sections of a report: plain values, in the order of printing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.query.table import Table
    from profile_analyze.report.layout.times import Times

ALL_COLUMNS: Final = ("all",)
"""Stands for all columns of a table. Formats for people leave out columns without any value."""

INSPECTION: Final = "inspection"
"""The name of the facts about one operator. All other facts are about a whole profile."""

Line: TypeAlias = tuple[str, str]
"""A fact for people: its label and its text."""


class FactValue(NamedTuple):
    """One fact of the summary: its value for programs, and its lines for people."""

    name: str
    """The name in formats for programs; see `Fact.name`."""
    value: Any
    """A number in base units, a text, None for N/A, or a list or dictionary of these."""
    lines: Callable[[Times], tuple[Line, ...]]
    """Returns the lines, with times in the given unit. There are no lines if a sentence or the line
    of another fact shows the value."""


class Facts(NamedTuple):
    """The facts of one group, such as the roofline."""

    name: str
    """The name of the group in formats for programs."""
    facts: tuple[FactValue, ...]
    tables: tuple[Table, ...] = ()
    """Short tables that belong to the facts, such as the kernels of an operator. Formats for
    programs without nesting leave them out."""

    @property
    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {fact.name: fact.value for fact in self.facts}

    @property
    def flat_values(self) -> dict[str, Any]:
        """The values by name, for formats without nesting: no lists and no dictionaries."""
        return {
            name: value for name, value in self.values.items() if not isinstance(value, list | dict)
        }

    @property
    def times_s(self) -> list[float]:
        """The times among the values, without N/A and 0."""
        return [value for name, value in self.flat_values.items() if name.endswith("_s") and value]

    def lines(self, times: Times) -> list[Line]:
        """Return the lines of all facts."""
        return [line for fact in self.facts for line in fact.lines(times)]


class Sentences(NamedTuple):
    """Conclusions from the facts, in words."""

    texts: Callable[[Times], tuple[str, ...]]
    """Returns the sentences, with times in the given unit."""


class TableSection(NamedTuple):
    """A table, and which of its columns to show."""

    table: Table
    columns: tuple[str, ...] = ()
    """The columns in this order, or `ALL_COLUMNS`; empty for the format's default columns."""
    chooser: str = "--columns"
    """What a user changes to see other columns."""


class Verdicts(NamedTuple):
    """The verdicts on the conditions of `--fail-if`."""

    verdicts: tuple[FailVerdict, ...]


class Chart(NamedTuple):
    """What a picture shows."""

    kind: Literal["roofline", "times", "work"]
    table: Table
    caption: str = ""
    """Text to add to the title."""
    notes: tuple[str, ...] = ()
    """What a person should know before trusting the picture; see `notes_of_picture`."""
    most_rows: int = 0
    """How many rows to draw at most; 0 for no limit. Bar charts also have a limit of their own."""
    column: str = "time"
    """The column that bars show."""


Section: TypeAlias = Facts | Sentences | TableSection | Verdicts | Chart

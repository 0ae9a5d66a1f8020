"""What a report consists of: its sections, each a plain value, in the order of printing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.table import Table

Line: TypeAlias = tuple[str, str]
"""A fact as people read it: its label and its value."""


class FactValue(NamedTuple):
    """One fact of the summary: what programs get, and what people read."""

    name: str
    """What programs call it, with its unit."""
    value: Any
    """A number in base units, a text, None for N/A, or a list or dictionary of these."""
    lines: tuple[Line, ...] = ()
    """Empty if the line of another fact, or a sentence, says it."""


class Facts(NamedTuple):
    """The facts of one group, such as all about the roofline."""

    name: str
    """What programs call the group."""
    facts: tuple[FactValue, ...]

    @property
    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {fact.name: fact.value for fact in self.facts}

    @property
    def flat_values(self) -> dict[str, Any]:
        """The same without lists and dictionaries, for formats that have no nesting."""
        return {
            name: value for name, value in self.values.items() if not isinstance(value, list | dict)
        }

    @property
    def lines(self) -> list[Line]:
        """What people read of all of them."""
        return [line for fact in self.facts for line in fact.lines]


class Sentences(NamedTuple):
    """Conclusions from the facts, in words."""

    texts: tuple[str, ...]


class TableSection(NamedTuple):
    """A table, and the columns to show of it."""

    table: Table
    columns: tuple[str, ...] = ()
    """In this order; empty for the format's default columns."""


class Verdicts(NamedTuple):
    """The verdicts on the conditions under which a pipeline fails."""

    verdicts: tuple[FailVerdict, ...]


class Chart(NamedTuple):
    """What a picture draws."""

    kind: Literal["roofline", "times"]
    table: Table
    caption: str = ""
    """The text above the picture."""


Section: TypeAlias = Facts | Sentences | TableSection | Verdicts | Chart

"""What is handed to a renderer, and what a renderer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary


@dataclass(frozen=True, slots=True)
class Report:
    """An answer as it is to be shown: raw numbers, in the order of printing."""

    summary: Summary | None
    """The totals; None to leave them out."""
    results: tuple[Result, ...]
    """The tables, device before host."""


@dataclass(frozen=True, slots=True)
class Display:
    """What the text is for: renderers are told, and never ask."""

    encoding: str = "utf-8"
    """What the text will be encoded in; what it cannot express is written as escapes."""

    def can_show(self, text: str) -> bool:
        """Whether the encoding has all characters of `text`."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True


class Renderer(Protocol):
    """One output format."""

    name: str
    """What it is called on the command line."""

    def render(self, report: Report, display: Display) -> str:
        """The report as text that ends with a newline."""

"""The register of the summary's facts. All output formats and the JSON schema use its entries.

The entries of the group `NAME` are in the module `NAME`.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from profile_analyze.report.layout.times import ORIGINAL
from profile_analyze.report.sections import Facts, FactValue, Sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line, Section
    from profile_analyze.views.summary import Summary

# Parts of JSON schemas. The definitions that `$ref` names are in `schema.py`.
NUMBER: Final = {"$ref": "#/$defs/number"}
INTEGER: Final = {"type": "integer"}
COUNT: Final = {"type": "integer", "minimum": 1}
TEXT: Final = {"type": "string"}
DETAIL: Final = {
    "description": "What tells the operator apart from others with this name; empty for a unique "
    "name, and for groups.",
    "type": "string",
}
VERDICT: Final = {"$ref": "#/$defs/verdict"}


class Fact(NamedTuple):
    """One fact of the summary: how programs get it, and how people read it."""

    name: str
    """The name in formats for programs.

    If the value is in seconds, FLO or bytes, the name ends with `_s`, `_flo` or `_bytes`.
    """
    meaning: str
    value: Callable[[Summary], Any]
    """Returns a number in base units, a text, or a list or dictionary of these.

    NaN and None stand for N/A.
    """
    schema: Mapping[str, Any] = NUMBER
    """The JSON schema of the value."""
    label: str = ""
    """The label of the fact's line; empty if the fact has no line."""
    text: Callable[[Summary, Times], str] | None = None
    """Returns the text after the label. If the text is empty, the line is left out."""
    lines: Callable[[Summary, Times], Iterator[Line]] | None = None
    """Replaces `label` and `text` for a fact with one line per record."""
    sentences: Callable[[Summary, Times], Iterator[str]] | None = None
    """Returns conclusions from the fact, in words."""
    shown_with: str = ""
    """The name of another fact in the group, whose line or sentences also show this fact."""

    @property
    def type(self) -> Literal["number", "integer", "text", "nested"]:
        """The type of the value, even if it is N/A; `nested` for a list or a dictionary."""
        if self.schema == NUMBER:
            return "number"
        types = self.schema.get("type", "text")
        if "array" in types or "object" in types:
            return "nested"
        return "integer" if "integer" in types else "text"

    def evaluate(self, summary: Summary) -> FactValue:
        """Return the fact's value and lines for `summary`."""
        value = self.value(summary)
        if value is None or value != value:  # noqa: PLR0124  # NaN; `isnan` rejects lists
            value = None
        elif isinstance(value, float):
            value = float(value)  # orjson does not write NumPy's floats
        return FactValue(self.name, value, lambda times: tuple(self._lines(summary, times)))

    def _lines(self, summary: Summary, times: Times) -> Iterator[Line]:
        if self.lines is not None:
            yield from self.lines(summary, times)
        elif self.text is not None and (text := self.text(summary, times)):
            yield self.label, text


class FactGroup(NamedTuple):
    """Facts that belong together. In JSON, each group except the totals is an object."""

    name: str
    meaning: str
    facts: tuple[Fact, ...]
    page: str = "docs/reading.md"
    """The page that explains the labels."""
    pages: Mapping[str, str] = MappingProxyType({})
    """Further words that the lines and sentences may have, each with the page that explains it."""


GROUP_NAMES: Final = ("totals", "recorded", "model", "comparison", "roofline")
"""The groups in the order of printing."""


def fact_group(name: str) -> FactGroup:
    """Return the group called `name`, one of `GROUP_NAMES`.

    The module of the group is imported when it is needed. A plain call, which has no peaks and no
    baseline, needs only the totals.
    """
    group: FactGroup = import_module(f"{__package__}.{name}").GROUP
    return group


def sections_of(summary: Summary) -> tuple[Section, ...]:
    """Return the facts of `summary`, group by group, followed by the conclusions in words."""
    applies = {
        "totals": True,
        "recorded": bool(summary.recorded),
        "model": summary.model is not None,
        "comparison": summary.change is not None,
        "roofline": summary.judgement is not None,
    }
    groups = [fact_group(name) for name in GROUP_NAMES if applies[name]]
    facts = [
        Facts(group.name, tuple(fact.evaluate(summary) for fact in group.facts)) for group in groups
    ]

    def sentences(times: Times) -> tuple[str, ...]:
        return tuple(
            sentence
            for group in groups
            for fact in group.facts
            if fact.sentences is not None
            for sentence in fact.sentences(summary, times)
        )

    # Without sentences, the section is left out, because formats would write a separator for it.
    return (*facts, *((Sentences(sentences),) if sentences(ORIGINAL) else ()))


def object_schema(properties: Mapping[str, Any], meaning: str = "") -> dict[str, Any]:
    """Return the schema of an object that has all of `properties` and nothing else."""
    description = {"description": meaning} if meaning else {}
    return {
        **description,
        "type": "object",
        "additionalProperties": False,  # so that tests notice a property without a schema
        "required": list(properties),
        "properties": dict(properties),
    }


def list_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of objects that all have `properties`."""
    return {"type": "array", "items": object_schema(properties)}

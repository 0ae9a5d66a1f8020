"""The numbers of a file about the whole program, such as its latencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.report.facts.facts import Fact, FactGroup
from profile_analyze.units import six_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.model.origin import RecordedFact
    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line

NUMBERS_BY_NAME: Final = {"type": "object", "additionalProperties": {"type": "number"}}
"""The JSON schema of a dictionary of numbers."""


def lines_of(recorded: Iterable[RecordedFact], times: Times) -> Iterator[Line]:
    """Yield a line for each label, with all of its numbers."""
    parts: dict[str, list[str]] = {}
    for fact in recorded:
        parts.setdefault(fact.label, []).append(_text(fact, times))
    for label, texts in parts.items():
        yield label, ", ".join(texts)


def _text(fact: RecordedFact, times: Times) -> str:
    if fact.unit == "s":
        value = times.total(fact.value)
    else:
        value = f"{six_digits(fact.value)} {fact.unit}".rstrip()
    return f"{fact.part} {value}".lstrip()


GROUP: Final = FactGroup(
    "recorded",
    "Numbers about the whole program, such as its latencies; null if the file has none.",
    (
        Fact(
            "numbers",
            "The numbers by name. Times are in seconds. The names depend on the format.",
            lambda summary: {fact.name: fact.value for fact in summary.recorded},
            NUMBERS_BY_NAME,
            lines=lambda summary, times: lines_of(summary.recorded, times),
        ),
    ),
)

"""What rows and tables are called, and how verdicts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import TOP
from profile_analyze.model.visible import visible
from profile_analyze.report.shown_numbers import between, counting, in_brackets, signed
from profile_analyze.units import NOT_AVAILABLE, percent, seconds

if TYPE_CHECKING:
    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.table import Table

ALL = "all"
"""The label of the one group that everything is in."""


def time_title(table: Table) -> str:
    """What kind of time a table is about: `device self time`, `host wait time`."""
    title = MEASURES[table.query.measure].title
    # with all that ran inside, where rows are outermost operators
    return title.replace("self ", "") if table.level == TOP else title


def row_labels(table: Table) -> list[tuple[str, ...]]:
    """For each row what tells it from others: name, type and id, or its keys, count and N/A."""
    if not table.query.grouped:
        return list(zip(*(table.texts(name) for name in ("name", "type", "id")), strict=True))
    keys = [table.key_texts(key) for key in table.query.by] or [[ALL] * len(table)]
    counts = map(str, table["count"].tolist())
    return list(zip(*keys, counts, [NOT_AVAILABLE] * len(table), strict=True))


def label_in_one(label: tuple[str, ...]) -> tuple[str, str, str]:
    """A label of `row_labels` with all keys in one text."""
    *keys, second, third = label
    return ", ".join(keys), second, third


def gate_sentence(verdict: FailVerdict) -> str:
    """What became of one condition: what was measured, and why."""
    what = {"met": "FAILED", "passed": "not met", "unjudged": "not judged"}[verdict.outcome]
    return f"{what}: {visible(verdict.condition.text, 'utf-8')}: {gate_reason(verdict)}"


def gate_reason(verdict: FailVerdict) -> str:
    """What was measured of one condition, and why it is judged so."""
    if verdict.outcome == "unjudged":
        return verdict.reason
    measured = f"{seconds(verdict.time_s)} s{counting(verdict.unit)}"
    if not verdict.condition.relative:
        interval = between(seconds(verdict.low), seconds(verdict.high))
        return f"{measured}{in_brackets(interval)}, {verdict.reason}"
    change = verdict.time_s / verdict.base_s - 1
    interval = between(*(signed(end - 1, percent) for end in (verdict.low, verdict.high)))
    against = f"{measured} against {seconds(verdict.base_s)} s of the base"
    return f"{signed(change, percent)}{in_brackets(interval)}, {against}: {verdict.reason}"

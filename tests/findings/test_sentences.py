"""The renderer of sentences: fields of rules, sizes, subjects and units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profile_analyze.findings import register
from profile_analyze.findings.register import all_rules, rule_of
from profile_analyze.findings.rule import Rule
from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import BASELINE, Finding, Kind, Size, Subject

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words


def _slow(words: Words, *, calls: tuple[tuple[str, float], ...]) -> str:
    return "slow: " + "; ".join(f"{name} {words.time(time_s)}" for name, time_s in calls)


RULES = (
    Rule(
        "lost",
        "events are lost",
        "{events:event}{size} of {rows:entry|entries} {events:has/have} {part:percent} in "
        "{names:list}, {time_s:time}, {what}",
    ),
    Rule("slow", "calls are slow", _slow),
)


@pytest.fixture(autouse=True)
def made_up_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "FAMILIES", (__name__,))


def found(events: int = 2, *, share: float = float("nan"), time_s: float = float("nan")) -> Finding:
    values = {"events": events, "rows": 1, "part": 0.5, "names": ("a", "b"), "what": "{x}"}
    finding = Finding.of("lost", Kind.WRONG, share=share, **values)
    return Finding(
        finding.code, finding.kind, (*finding.values, ("time_s", 0.00115)), Size(share, time_s)
    )


END = "of 1 entry have 50.0% in a, b, 1.15 ms, {x}"


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (found(), f"2 events {END}"),
        (found(1), f"1 event {END.replace('have', 'has')}"),
        (found(share=0.25), f"2 events (25.0% of the time) {END}"),
        (found(time_s=0.5), f"2 events (500 ms) {END}"),
        (found().about(BASELINE), f"baseline: 2 events {END}"),
        (found().about(Subject("file", "a.json")), f"a.json: 2 events {END}"),
        (found().about(Subject("files", "a.json", 3)), f"a.json and 2 more: 2 events {END}"),
        (
            found().about(Subject("each file", "", 3)).about(BASELINE),
            f"baseline: in each of 3 files: 2 events {END}",
        ),
        (
            found(share=0.25).on_both_sides(found(share=0.25)),
            f"on both sides: 2 events (25.0% of the time) {END}",
        ),
        (
            found(share=0.25).on_both_sides(found(share=0.5)),
            f"on both sides: 2 events (25.0% of the time, 50.0% in the baseline) {END}",
        ),
        (
            found(time_s=0.5).on_both_sides(found(time_s=0.25)),
            f"on both sides: 2 events (500 ms, 250 ms in the baseline) {END}",
        ),
        (
            Finding.of("slow", Kind.CONTEXT, calls=[["cudaFree", 1.5], ["x", float("nan")]]),
            "slow: cudaFree 1.50 s; x N/A",
        ),
    ],
)
def test_a_finding_becomes_a_sentence(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


@pytest.mark.parametrize(
    ("unit", "text"),
    [("auto", "1.15 ms"), ("s", "0.00115 s"), ("ms", "1.15 ms"), ("us", "1150 us")],
)
def test_times_have_the_unit_that_the_user_chose(unit: str, text: str) -> None:
    assert sentence(found(), unit) == f"2 events {END}".replace("1.15 ms", text)


def test_an_unknown_code_has_no_rule() -> None:
    assert rule_of("slow").tests == "calls are slow"
    with pytest.raises(KeyError, match="fast"):
        rule_of("fast")


def test_codes_are_unique_and_in_kebab_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    codes = [rule.code for rule in all_rules()]
    assert len(codes) == len(set(codes))
    assert [
        code for code in codes if code != code.lower().replace("_", "-").replace(" ", "-")
    ] == []

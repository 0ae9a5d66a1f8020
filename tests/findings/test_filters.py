"""The sentences of the rules on filters."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.findings.sentences import brief, sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

NOTHING = {"reasons": (), "meant": (), "examples": (), "known": 0, "renaming": ""}
LONG = "x" * 41


def value(operator: str, text: str, **meant: Any) -> Finding:
    condition = {"condition": f"name {operator} {text}", "column": "name", "operator": operator}
    values = {**condition, "value": text, **NOTHING, **meant}
    return Finding.of("unmatched-value", Kind.ANSWER, **values)


def name(**meant: Any) -> Finding:
    return Finding.of("unmatched-name", Kind.ANSWER, pattern="zz", **{**NOTHING, **meant})


def key(better: str = "", **meant: Any) -> Finding:
    names = {"key": "name~zz", "column": "name", "better": better}
    return Finding.of("unmatched-key", Kind.ANSWER, **names, **{**NOTHING, **meant})


def type_(name: str = "conv", **found: Any) -> Finding:
    nothing = {"level": "", "other": "", "pattern": "", "meant": (), "common": ()}
    values = {"type": name, "rows_level": "operator", **nothing, **found}
    return Finding.of("unknown-type", Kind.ANSWER, **values)


def dtype(**found: Any) -> Finding:
    values = {"dtype": "FP16", "meant": (), "known": ("Float16", "Int8"), "option": "", **found}
    return Finding.of("unmatched-dtype", Kind.ANSWER, **values)


def unjudged(*, texts: bool, share: float = 0.5) -> Finding:
    values = {"condition": "n > 1", "rows": 2, "noun": "operator", "texts": texts}
    return Finding.of("unjudged-condition", Kind.INCOMPLETE, share=share, **values)


def no_match(rows: int, **found: Any) -> Finding:
    values = {"rows": rows, "noun": "operator", "side": "", "untimed": 0, "inside": False, **found}
    return Finding.of("nothing-matches", Kind.ANSWER, **values)


def no_times(code: str = "no-times", **found: Any) -> Finding:
    values = {"side": "device", "whose": "", "others": 0, "on_cpu": False, **found}
    return Finding.of(code, Kind.ANSWER, **values)


def number(**found: Any) -> Finding:
    values = {
        "condition": "time > 5",
        "limit_s": None,
        "value": "5",
        "bound": 5.0,
        "assumed_unit": "",
        "meets_all": False,
        "meant": "",
        "largest": True,
        "closest": None,
        "unit": "s",
        "noun": "operator",
        "for_groups": False,
        **found,
    }
    return Finding.of("unmatched-number", Kind.ANSWER, **values)


NO_VALUE = "no operator has this value"
NO_TYPE = "type conv: the profile has no such operator"
LARGEST = "no operator meets this; the largest value is"
SENTENCES = (
    (value("==", "a", meant=("b",)), f"name == a: {NO_VALUE}; did you mean b?"),
    (
        value("==", "a", meant=("b", "c", "d"), renaming="the runtime renames"),
        f"name == a: {NO_VALUE}; did you mean b, c or d?; the runtime renames",
    ),
    (
        value("==", "a*", reasons=("whole",), meant=("'name ~ ^a'",)),
        f"name == a*: {NO_VALUE}; == compares the whole text; did you mean 'name ~ ^a'?",
    ),
    (
        value("!~", "a", reasons=("case",), meant=("'name !~ (?i)a'",)),
        f"name !~ a: excludes only N/A, because {NO_VALUE}; case matters; did you mean "
        "'name !~ (?i)a'?",
    ),
    (
        value("~", "N/A"),
        f"name ~ N/A: {NO_VALUE}; no condition selects N/A; --columns name -t 0 shows which rows "
        "have N/A",
    ),
    (
        value("~", "zz", examples=("a", LONG, "c"), known=7),
        f"name ~ zz: {NO_VALUE}; there are a, {LONG[:40]}..., c and 4 more",
    ),
    (
        name(reasons=("wildcards",), meant=("'z.*z'",)),
        "the pattern 'zz' matches no name; * repeats the character before it; did you mean 'z.*z'?",
    ),
    (
        name(reasons=("literal", "anywhere", "case"), meant=("'x'",)),
        "the pattern 'zz' matches no name; special characters need a backslash, it must match from "
        "the start of a name, case matters; did you mean 'x'?",
    ),
    (name(), "the pattern 'zz' matches no name; there is none"),
    (
        key(examples=("f1",), known=1, better="scope"),
        "name~zz: the pattern matches no name; there is only f1; --aggregate-by scope groups by "
        "module",
    ),
    (
        key(examples=("f1", "f2"), known=2, better="out_shapes"),
        "name~zz: the pattern matches no name; there are f1, f2; --aggregate-by out_shapes groups "
        "by stage",
    ),
    (key(meant=("'name~z'",)), "name~zz: the pattern matches no name; did you mean 'name~z'?"),
    (
        Finding.of("wildcards", Kind.ANSWER, pattern="name ~ conv*", meant="name ~ conv"),
        "name ~ conv*: in a regular expression, * repeats the character before it; did you mean "
        "'name ~ conv'?",
    ),
    (
        type_(level="module"),
        "type conv: no row of level operator has it; it is a type at --level module",
    ),
    (type_("a,b"), "type a,b: the profile has no such operator; repeat --type for each type"),
    (
        type_(pattern="^Conv"),
        f"{NO_TYPE}; --type takes a whole name; did you mean --where 'type ~ ^Conv'?",
    ),
    (type_(meant=("Conv", "Conv2")), f"{NO_TYPE}; did you mean Conv or Conv2?"),
    (type_(level="module", other="Conv2d"), f"{NO_TYPE}; Conv2d is a type at --level module"),
    (type_(common=("A", "B")), f"{NO_TYPE}; the most frequent are A, B"),
    (type_(), f"{NO_TYPE}; no operator has a type"),
    (
        dtype(meant=("Float16",), option="--peaks h100-sxm:fp16"),
        "input dtype FP16: no input is known to have it; did you mean Float16?; --peaks "
        "h100-sxm:fp16 chooses the peak rate of fp16",
    ),
    (
        dtype(),
        "input dtype FP16: no input is known to have it; the known dtypes are Float16, Int8",
    ),
    (
        Finding.of("unjudged-dtype", Kind.INCOMPLETE, share=0.25, operators=1, dtype="FP16"),
        "input dtype FP16: left out 1 operator (25.0% of the time) with an input of unknown dtype",
    ),
    (
        unjudged(texts=False),
        "n > 1: left out 2 operators (50.0% of the time) where the value is N/A",
    ),
    (
        unjudged(texts=True, share=float("nan")),
        "n > 1: left out 2 operators where the value is N/A or a text",
    ),
    (no_match(1), "the only operator does not match"),
    (no_match(1, side="device"), "the only operator with a device time does not match"),
    (no_match(8, noun="group"), "none of 8 groups matches"),
    (
        no_match(8, side="host", untimed=1),
        "none of 8 operators with a host time matches; 1 operator without such a time would match",
    ),
    (
        no_match(8, side="host", untimed=2, inside=True),
        "none of 8 operators with a host time matches; 2 operators without such a time would "
        "match; --level top adds the times of the operators inside",
    ),
    (no_times(), "no operator has a device time; profile again with device times"),
    (
        no_times(whose="baseline", others=1),
        "no operator of the baseline has a device time; 1 operator has a host time; --print-only "
        "host shows these times, or profile again with device times",
    ),
    (
        no_times(side="host", others=2),
        "no operator has a host time; 2 operators have a device time; --print-only device shows "
        "these times, or profile again with host times",
    ),
    (
        no_times(side="host", others=2, on_cpu=True),
        "no operator has a host time; the profile is of a CPU, so all times are device times; use "
        "--print-only device",
    ),
    (
        no_times("one-side-without-times", whose="profile"),
        "differences and verdicts of device times are N/A: no operator of the profile has a device "
        "time; profile again with device times",
    ),
    (number(closest=0.00878), f"time > 5: {LARGEST} 8.78 ms"),
    (
        number(closest=1.0, for_groups=True),
        f"time > 5: {LARGEST} 1.00 s; --having selects groups",
    ),
    (
        number(largest=False, closest=0.991, unit="%", noun="group"),
        "time > 5: no group meets this; the smallest value is 99.1%",
    ),
    (number(closest=3.63e9, unit="FLO"), f"time > 5: {LARGEST} 3.63 GFLO"),
    (number(closest=57.27061, unit="FLO/byte"), f"time > 5: {LARGEST} 57.2706"),
    (
        number(assumed_unit="s", meant="5ms", closest=0.01),
        "time > 5: 5 means 5 s, which no operator meets; did you mean 5ms?",
    ),
    (
        number(assumed_unit="FLO/s", meets_all=True),
        "time > 5: 5 means 5 FLOPS, which every operator meets",
    ),
    (
        number(assumed_unit="1", value="0.5", bound=0.5, closest=0.25, unit="%"),
        "time > 5: 0.5 means 50.0%, which no operator meets; the largest value is 25.0%",
    ),
    (
        number(condition="--min-time", limit_s=3.0, closest=0.004),
        f"--min-time 3.00 s: {LARGEST} 4.00 ms",
    ),
    (
        Finding.of("unknown-parameter", Kind.ANSWER, name="param.x", known=()),
        "param.x: the profile has no parameters of operators",
    ),
    (
        Finding.of("unknown-parameter", Kind.ANSWER, name="param.x", known=("a", "b")),
        "param.x: no operator has it; the parameters are a, b",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("filters"), SENTENCES) == []


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (value("!=", "a", meant=("b",)), "did you mean b?"),
        (unjudged(texts=False), "left out 2 operators (50.0% of the time) where the value is N/A"),
        (number(closest=0.00878), f"{LARGEST} 8.78 ms"),
        (
            no_match(8, side="host", untimed=1),
            "1 operator without a host time would match",
        ),
        (no_times(whose="profile"), "no operator of the profile has a device time"),
        (name(), "the pattern 'zz' matches no name; there is none"),
    ],
)
def test_sentences_after_a_known_subject(finding: Finding, text: str) -> None:
    assert brief(finding) == text

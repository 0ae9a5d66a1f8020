"""Conditions under which a pipeline fails: what they may say, when they are met, how it is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

import profile_analyze as pa
from tests.conftest import run_command
from tests.small import Operator, profile_of, runs_of, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BASE = [100, 101, 102, 103, 104, 105, 106, 107]
SLOW = [time + 10 for time in BASE]
QUIET = [70, 72, 78, 92, 98, 104, 120, 125]
NOISY = [80, 85, 90, 108, 112, 115, 130, 140]


@pytest.mark.parametrize(
    ("text", "subject", "metric", "above", "limit", "unit"),
    [
        ("total > +5%", "", "total", True, 0.05, "of base"),
        ("time < -3%", "", "time", False, -0.03, "of base"),
        ("time>0.120s", "", "time", True, 0.12, "s"),
        ("wait > 2 ms", "", "wait", True, 0.002, "s"),
        ("host_time > +2ms", "", "host_time", True, 0.002, "s more"),
        ("type=Conv: time > + 3 %", "type== Conv", "time", True, 0.03, "of base"),
        ("type == Conv : time > 3s", "type == Conv", "time", True, 3.0, "s"),
        ("name ~ a:b=c: time > 1us", "name ~ a:b=c", "time", True, 1e-6, "s"),
        ("name != x: time > 1us", "name != x", "time", True, 1e-6, "s"),
        ("memory>=1KiB: time > 1us", "memory>=1KiB", "time", True, 1e-6, "s"),
    ],
)
def test_what_a_condition_says(
    text: str, subject: str, metric: str, above: object, limit: float, unit: str
) -> None:
    found = pa.FailCondition.parse(text, pa.Query(compared=True))
    assert (found.text, found.subject, found.metric) == (text, subject, metric)
    assert (found.above, found.unit) == (above, unit)
    assert found.limit == pytest.approx(limit)
    assert found.relative == (unit != "s")


FORM = (
    "is no condition; write [CONDITION:] METRIC > LIMIT, such as 'total > +5%', "
    "'type=ConvolutionForward: time > +3%' or 'time > 0.120s'; METRIC is one of total, "
    "device_time, host_time, wait, time"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"fail-if: '' {FORM}"),
        ("total", f"fail-if: 'total' {FORM}"),
        (
            "memory > 5",
            "fail-if: 'memory > 5': there is no metric 'memory'; METRIC is one of total, device_time, "
            "host_time, wait, time; a condition on operators stands before a colon",
        ),
        (
            "total >= +5%",
            "fail-if: 'total >= +5%': >= is not judged beyond noise; write > or <",
        ),
        ("total == 5", "fail-if: 'total == 5': == is not judged beyond noise; write > or <"),
        ("total > 5", "fail-if: 'total > 5': 5 of what? write 5s, 5ms"),
        ("total > inf", "fail-if: 'total > inf': inf is never reached"),
        ("total > 1e999s", "fail-if: 'total > 1e999s': 1e999s is never reached"),
        ("total > +5", "fail-if: 'total > +5': +5 of what? write +5%, +5ms"),
        ("total > -100%", "fail-if: 'total > -100%': nothing takes 100% less than the base"),
        ("total > ++5%", f"fail-if: 'total > ++5%' {FORM}"),
        ("total > 5%", "fail-if: 'total > 5%': 5% of what? write +5% of the base"),
        (
            "total > +5apples",
            "fail-if: 'total > +5apples': '+5apples' is not a time; write seconds, or a number with "
            "one of s, ms, us, ns, min, h: 0.001, 1ms, or +5%",
        ),
        (
            "total > nan",
            "fail-if: 'total > nan': 'nan' is not a time; write seconds, or a number with one of "
            "s, ms, us, ns, min, h: 0.001, 1ms, or +5%",
        ),
        (
            "bogus=1: time > 1s",
            "fail-if: 'bogus=1: time > 1s': where: 'bogus== 1', at character 1: there is no column "
            "'bogus'; near: bound",
        ),
    ],
)
def test_what_is_no_condition(text: str, message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, pa.Query(compared=True))
    assert str(caught.value).startswith(message)


def test_what_is_relative_needs_a_base() -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse("total > +5%", pa.Query())
    assert str(caught.value) == (
        "fail-if: 'total > +5%' is relative to a base, and there is none: --compare names it"
    )


def verdict(text: str, new: Sequence[float], base: Sequence[float] | None) -> pa.FailVerdict:
    source: Any = runs_of("conv", new)
    if base is not None:
        source = pa.compare(source, runs_of("conv", base))
    query = pa.Query(compared=base is not None)
    (found,) = pa.judge_conditions([pa.FailCondition.parse(text, query)], query, source)
    return found


NOT_BEYOND = "not beyond the limit"
NOISE = "beyond the limit, but not beyond noise"
ROOM = "not beyond the limit, though noise leaves room for that"
CLEAR = "beyond the limit, and beyond noise"


@pytest.mark.parametrize(
    ("text", "new", "base", "outcome", "reason"),
    [
        ("total > +5%", SLOW, BASE, "met", CLEAR),
        ("total > +15%", SLOW, BASE, "passed", NOT_BEYOND),
        ("total > +5%", BASE, BASE, "passed", NOT_BEYOND),
        ("total > +5%", NOISY, BASE, "passed", NOISE),
        ("total > +12%", NOISY, BASE, "passed", ROOM),
        ("total < +1%", SLOW, BASE, "passed", NOT_BEYOND),
        ("total < -5%", BASE, SLOW, "met", CLEAR),
        ("total < -5%", SLOW, BASE, "passed", NOT_BEYOND),
        ("total > +5us", SLOW, BASE, "met", CLEAR),
        ("total > +15us", SLOW, BASE, "passed", NOT_BEYOND),
        ("total > -3%", BASE, BASE, "met", CLEAR),  # it was to become faster, and did not
        ("total > -3%", BASE, SLOW, "passed", NOT_BEYOND),
        ("total > -9%", NOISY, BASE, "passed", NOISE),
        ("total < +10%", BASE, BASE, "met", CLEAR),  # it was to become slower, and did not
        ("total < -5%", QUIET, BASE, "passed", NOISE),
        ("total > 105us", SLOW, None, "met", CLEAR),
        ("total > 105us", NOISY, None, "passed", NOISE),
        ("total > 0.2s", SLOW, None, "passed", NOT_BEYOND),
        ("total < 200us", SLOW, None, "met", CLEAR),
        ("total > 105us", SLOW, BASE, "met", CLEAR),
        ("total > +5%", SLOW[:3], BASE, "unjudged", "only 3 of the 4 runs that are needed"),
        (
            "total > +5%",
            SLOW,
            BASE[:1],
            "unjudged",
            "only 1 of the 4 runs of the base that are needed",
        ),
        ("total > 1us", SLOW[:2], None, "unjudged", "only 2 of the 4 runs that are needed"),
        ("type=Pool: time > 1us", SLOW, None, "unjudged", "no operator matches"),
        ("type=Pool: time > +1%", SLOW, BASE, "unjudged", "no operator matches"),
        ("total > +1%", SLOW, [0] * 8, "unjudged", "the time of the base is 0"),
        ("host_time > 1us", SLOW, None, "unjudged", "no operator matches"),
        ("wait > 1us", SLOW, None, "unjudged", "the time is N/A"),
    ],
)
def test_when_a_condition_is_met(
    text: str, new: list[float], base: list[float] | None, outcome: str, reason: str
) -> None:
    found = verdict(text, new, base)
    assert (found.outcome, found.reason) == (outcome, reason)


def test_what_was_measured() -> None:
    found = verdict("total > +5%", SLOW, BASE)
    assert found.time_s == pytest.approx(113.5e-6)
    assert found.base_s == pytest.approx(103.5e-6)
    assert 1.05 < found.low < 113.5 / 103.5 < found.high < 1.15
    assert found.p_value == pytest.approx(2 / 12870)
    absolute = verdict("total > 105us", SLOW, None)
    assert 110e-6 <= absolute.low < 113.5e-6 < absolute.high <= 117e-6


def test_p_is_corrected_for_the_number_of_conditions() -> None:
    new, base = [104, 105, 106, 107, 108], [100, 101, 102, 103, 104]
    source = pa.compare(runs_of("conv", new), runs_of("conv", base))
    query = pa.Query(compared=True)
    one = pa.FailCondition.parse("total > +1%", query)
    none = pa.FailCondition.parse("type=Pool: time > +1%", query)
    (alone,) = pa.judge_conditions([one], query, source)
    several = pa.judge_conditions([one, one._replace(text="again"), none], query, source)
    assert several[0].p_value == alone.p_value  # both are as unlikely, and the third is not asked


def test_total_is_of_all_operators_and_time_of_those_that_are_asked_for() -> None:
    def of_run(place: int) -> pa.Profile:
        both = [Operator("conv", "Conv", 10 + place), Operator("relu", "Relu", 2)]
        return profile_of(both, f"{place}.json")

    profile = pa.join_runs(of_run(place) for place in range(4))
    query = pa.Query(types="Relu", min_time_s=1e-6, by="type", top=1)
    texts = ("total > 1s", "time > 1s", "name=conv: total > 1s", "name=conv: time > 1s")
    conditions = [pa.FailCondition.parse(text, query) for text in texts]
    times = [found.time_s for found in pa.judge_conditions(conditions, query, profile)]
    assert times[:3] == [pytest.approx(13.5e-6), pytest.approx(2e-6), pytest.approx(11.5e-6)]
    assert times[3] != times[3]  # no operator is both


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[str]]:
    def folder(name: str, times: Sequence[float]) -> list[str]:
        (tmp_path / name).mkdir()
        return [
            written(tmp_path / name / f"{place}.json", [Operator("conv", "Conv", time)])
            for place, time in enumerate(times)
        ]

    return {"slow": folder("slow", SLOW), "base": folder("base", BASE)}


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        (["total > +5%"], 3),
        (["total > +50%"], 0),
        (["total > +50%", "time > 1us"], 3),
        (["type=Pool: time > +1%"], 4),
        (["type=Pool: time > +1%", "total > +5%"], 3),
        (["type=Pool: time > +1%", "total > +50%"], 4),
    ],
)
def test_what_the_command_ends_with(
    files: dict[str, list[str]], conditions: list[str], code: int
) -> None:
    options = [part for text in conditions for part in ("--fail-if", text)]
    call = [*files["slow"], "--compare", *files["base"], *options]
    assert run_command(*call).code == code
    assert run_command(*call, "--fail-uncertain", "no").code == (0 if code == 4 else code)


def test_every_form_says_what_became_of_a_condition(files: dict[str, list[str]]) -> None:
    sentence = (
        "FAILED: total > +5%: +9.7% (95 %: +6.5% to +13.2%), 0.000113 s against 0.000103 s of the "
        "base: beyond the limit, and beyond noise"
    )
    call = [*files["slow"], "--compare", *files["base"], "--fail-if", "total > +5%"]
    for form in pa.OUTPUT_FORMATS:
        options = ["--dump-only-opr"] if form == "operators" else ["--format", form]
        outcome = run_command(*call, *options)
        assert outcome.code == 3
        if form in ("csv", "jsonl"):
            assert f"note: {sentence}\n" in outcome.err
        elif form == "github":
            escaped = sentence.replace("%", "%25")
            assert f"::error title=profile_analyze::{escaped}\n" in outcome.out
        elif form == "json":
            (found,) = json.loads(outcome.out)["gate"]
            assert (found["condition"], found["outcome"]) == ("total > +5%", "met")
            assert found["reason"] == sentence.removeprefix("FAILED: total > +5%: ")
            assert found["ratio"] == pytest.approx(113.5 / 103.5)
        elif form == "junit":
            case = ET.fromstring(outcome.out).find("testcase")
            assert case is not None
            assert case.attrib["name"] == "total > +5%"
            failure = case.find("failure")
            assert failure is not None
            assert failure.text == sentence.removeprefix("FAILED: total > +5%: ")
        else:
            assert sentence in outcome.out


def test_junit_whole(files: dict[str, list[str]]) -> None:
    options = ["total > +50%", "type=<b>&\x01\ufffe\uffff: time > +1%"]
    call = [*files["slow"], "--compare", *files["base"], "--print-only", "device"]
    conditions = [part for text in options for part in ("--fail-if", text)]
    assert (
        run_command(*call, *conditions, "--format", "junit").out
        == """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="profile_analyze" tests="2" failures="0" errors="0" skipped="1">
  <testcase classname="profile_analyze" name="total &gt; +50%">
    <system-out>+9.7% (95 %: +6.5% to +13.2%), 0.000113 s against 0.000103 s of the base: not beyond the limit</system-out>
  </testcase>
  <testcase classname="profile_analyze" name="type=&lt;b&gt;&amp;\\x01\\ufffe\\uffff: time &gt; +1%">
    <skipped message="no operator matches"/>
  </testcase>
</testsuite>
"""
    )


def test_github_whole(files: dict[str, list[str]]) -> None:
    options = ["total > +50%", "type=a\n::error::b: time > +1%"]
    call = [*files["slow"], "--compare", *files["base"], "--print-only", "device"]
    conditions = [part for text in options for part in ("--fail-if", text)]
    assert run_command(*call, *conditions, "--format", "github").out == (
        "::notice title=profile_analyze::not met: total > +50%25: +9.7%25 (95 %25: +6.5%25 to "
        "+13.2%25), 0.000113 s against 0.000103 s of the base: not beyond the limit\n"
        "::warning title=profile_analyze::not judged: type=a\\n::error::b: time > +1%25: no operator "
        "matches\n"
    )


def test_json_of_a_gate_is_as_the_schema_says(files: dict[str, list[str]]) -> None:
    from tests.report.test_program_formats import SCHEMA

    options = ["total > +5%", "total > 1s", "type=Pool: time > +1%", "type=Pool: time > 1s"]
    conditions = [part for text in options for part in ("--fail-if", text)]
    for few in (1, 8):
        call = [*files["slow"][:few], "--compare", *files["base"], *conditions]
        outcome = run_command(*call, "--format", "json", "--peaks", "1T:1G")
        jsonschema.validate(json.loads(outcome.out), SCHEMA)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-if", "total > +5%"], "argument --fail-if: 'total > +5%' is relative to a base, and there is none: --compare names it"),
        (["--format", "junit"], "--format junit has a test case for each --fail-if, and there is none"),
        (["--format", "github"], "--format github annotates what --fail-if and --compare find; add one"),
        (["--format", "junit", "--columns", "name"], "junit has no tables and no totals, so that --columns means nothing"),
        (["--format", "github", "--copy-time"], "github has no tables and no totals, so that --copy-time means nothing"),
        (["--threshold", "5%"], "--threshold needs --compare, which names what to compare with"),
        (["--unit", "iteration"], "--unit needs --compare or --fail-if, which count runs"),
        (["--fail-uncertain", "no"], "--fail-uncertain needs --fail-if, which states the conditions"),
        (["--compare", "a", "b", "--format", "github", "--print-only", "device"], "--format github annotates what --fail-if and --compare find; add one"),
        (["--compare", "a", "--run-stat", "max"], "argument --run-stat: max: a comparison is of medians, as its verdicts are"),
        (["--compare", "a", "--correct-drift", "--fail-if", "total > +5%"], "argument --fail-if: 'total > +5%': --correct-drift hides what changed in all operators at once; name some of them and a change: 'type=Copy: time > +5%'"),
        (["--compare", "a", "--correct-drift", "--fail-if", "type=Copy: time > 5s"], "argument --fail-if: 'type=Copy: time > 5s': --correct-drift hides what changed in all operators at once; name some of them and a change: 'type=Copy: time > +5%'"),
        (["--match", "name"], "--match needs --compare, which names what to compare with"),
        (["--threshold=-1%"], "argument --threshold: '-1%' is not from 0% to 100%; write 3% or 0.03; see profile-analyze --help"),
        (["--threshold", "much"], "argument --threshold: 'much' is not a number, such as 5%; see profile-analyze --help"),
        (["--columns", "verdict"], "verdict needs a profile to compare with: --compare (see --help)"),
        (["--aggregate-by", "match"], "match needs a profile to compare with: --compare (see --help)"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly(options: list[str], message: str) -> None:
    outcome = run_command("no such file", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"


def test_a_profile_must_be_named() -> None:
    assert run_command("--compare", "a", "b").err == (
        "profile_analyze: error: --compare took all files that are named; name the profile before it\n"
    )
    assert run_command().err == (
        "profile_analyze: error: the following arguments are required: FILE; see "
        "profile-analyze --help\n"
    )

"""`--fail-if` on the command line: exit statuses, output formats, usage errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.conftest import FIXTURES, FORMATS_WITH_UNITS, TABLE_FORMATS, run_command, some_of
from tests.gate.test_gate import BASE, NOISY, SLOW
from tests.report.json_schema import check_report
from tests.small import Operator, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the files of each side, which no test changes."""
    tmp_path = tmp_path_factory.mktemp("sides")

    def folder(name: str, times: Sequence[float]) -> list[str]:
        (tmp_path / name).mkdir()
        return [
            written(tmp_path / name / f"{index}.json", [Operator("conv", "Conv", time)])
            for index, time in enumerate(times)
        ]

    sides = {"slow": SLOW, "noisy": NOISY, "base": BASE}
    return {name: folder(name, times) for name, times in sides.items()}


UNCERTAIN = (
    "total > +5%: +6.3% (95 %: -16.7% to +23.8%, p 0.431), 110.0 us against 103.5 us of the "
    "baseline: beyond the limit, but p is over 0.05, so noise may explain that; take more runs; "
    "--fail-uncertain yes makes the exit status 4"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "conditions", "code", "code_of_choice"),
    some_of(
        [
            ("slow", ["total > +5%"], 3, {}),
            ("slow", ["total > +50%"], 0, {}),
            ("slow", ["total > +50%", "time > 1us"], 3, {}),
            ("slow", ["type=Pool: time > +1%"], 4, {"no": 0}),
            ("slow", ["type=Pool: time > +1%", "total > +5%"], 3, {}),
            ("slow", ["type=Pool: time > +1%", "total > +50%"], 4, {"no": 0}),
            ("noisy", ["total > +5%"], 0, {"yes": 4, "not-ruled-out": 4}),
            ("noisy", ["total > +12%"], 0, {"not-ruled-out": 4}),  # within the limit
            ("noisy", ["total > +30%"], 0, {}),  # ruled out
            ("noisy", ["total > +5%", "type=Pool: time > +1%"], 4, {"no": 0}),
            ("noisy", ["total > +5%", "time > 1us"], 3, {}),
        ],
        2,
    ),
)
def test_conditions_decide_the_exit_status(
    files: dict[str, list[str]],
    side: str,
    conditions: list[str],
    code: int,
    code_of_choice: dict[str, int],
) -> None:
    options = [part for text in conditions for part in ("--fail-if", text)]
    call = [*files[side], "--compare", *files["base"], *options]
    assert run_command(*call).code == code
    for choice in some_of(("not-ruled-out", "yes", "unjudged", "no"), 3):
        found = run_command(*call, "--fail-uncertain", choice).code
        assert (choice, found) == (choice, code_of_choice.get(choice, code))


def test_fail_uncertain_makes_a_condition_uncertain_if_a_change_is_not_ruled_out(
    files: dict[str, list[str]],
) -> None:
    call = (*files["noisy"], "--compare", *files["base"], "--fail-if", "total > +12%")
    call = (*call, "--print-only", "device", "--format", "github")
    reason = (
        "total > +12%: +6.3% (95 %: -16.7% to +23.8%), 110.0 us against 103.5 us of the "
        "baseline: within the limit, but changes up to +23.8% are not ruled out; take more runs"
    ).replace("%", "%25")
    loose, strict = run_command(*call), run_command(*call, "--fail-uncertain", "not-ruled-out")
    assert (loose.code, strict.code) == (0, 4)
    assert loose.out == f"::notice title=profile_analyze::passed: {reason}\n"
    assert strict.out == f"::warning title=profile_analyze::uncertain: {reason}\n"


def test_an_uncertain_condition_is_not_reported_as_passed(
    files: dict[str, list[str]], tmp_path: Path
) -> None:
    call = (*files["noisy"], "--compare", *files["base"], "--fail-if", "total > +5%")
    report = ("--print-only", "device")

    def printed(output_format: str) -> str:
        return run_command(*call, *report, "--format", output_format).out

    assert run_command(*call, *report).out.endswith(f"\n\nuncertain: {UNCERTAIN}\n")
    assert printed("github") == (
        f"::warning title=profile_analyze::uncertain: {UNCERTAIN}\n".replace("%", "%25")
    )
    assert (
        printed("junit")
        == f"""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="profile_analyze" tests="1" failures="0" errors="0" skipped="1">
  <testcase classname="profile_analyze" name="total &gt; +5%">
    <skipped message="{UNCERTAIN.removeprefix("total > +5%: ")}"/>
  </testcase>
</testsuite>
"""
    )
    (found,) = json.loads(printed("json"))["gate"]
    assert found["outcome"] == "uncertain"
    to_file = run_command(*call, *report, "-o", str(tmp_path / "answer.txt"), "--format", "plain")
    assert f"note: uncertain: {UNCERTAIN}\n" in to_file.err


@pytest.mark.parametrize("output_format", ["plain", "json", "csv", "junit"])
def test_failed_conditions_are_also_printed_as_notes_if_the_answer_is_in_a_file(
    files: dict[str, list[str]], tmp_path: Path, output_format: str
) -> None:
    def messages(condition: str, *options: str) -> list[str]:
        call = (*files["slow"], "--compare", *files["base"], "--fail-if", condition)
        outcome = run_command(*call, "--format", output_format, *options)
        return outcome.err.splitlines()

    def written_to_file(condition: str) -> list[str]:
        return messages(condition, "-o", str(tmp_path / "answer"), "--force")

    (failed,) = (line for line in written_to_file("total > +5%") if "FAILED" in line)
    assert failed.startswith("note: FAILED: total > +5%: ")
    assert any(
        "note: cannot be judged: " in line for line in written_to_file("type=Pool: time > +1%")
    )
    if output_format != "csv":  # csv always has verdicts as notes
        assert written_to_file("total > +50%") == []
        assert messages("total > +5%") == []


def test_every_output_format_shows_the_verdict(files: dict[str, list[str]]) -> None:
    sentence = (
        "FAILED: total > +5%: +9.7% (95 %: +6.7% to +12.6%, p < 0.001), 113.5 us against "
        "103.5 us of the baseline: beyond the limit, and beyond noise"
    )
    call = [*files["slow"], "--compare", *files["base"], "--fail-if", "total > +5%"]
    for output_format in TABLE_FORMATS:
        options = (
            ["--dump-only-opr"] if output_format == "operators" else ["--format", output_format]
        )
        outcome = run_command(*call, *options)
        assert outcome.code == 3
        if output_format in ("csv", "jsonl"):
            assert f"note: {sentence}\n" in outcome.err
        elif output_format == "github":
            escaped = sentence.replace("%", "%25")
            assert f"::error title=profile_analyze::{escaped}\n" in outcome.out
        elif output_format == "json":
            (found,) = json.loads(outcome.out)["gate"]
            assert (found["condition"], found["outcome"]) == ("total > +5%", "met")
            assert found["reason"] == sentence.removeprefix("FAILED: total > +5%: ")
            assert found["ratio"] == pytest.approx(113.5 / 103.5)
        elif output_format == "junit":
            case = ET.fromstring(outcome.out).find("testcase")
            assert case is not None
            assert case.attrib["name"] == "total > +5%"
            failure = case.find("failure")
            assert failure is not None
            assert failure.text == sentence.removeprefix("FAILED: total > +5%: ")
        elif output_format in FORMATS_WITH_UNITS:
            in_us = sentence.replace("113.5 us", "113.500 us").replace("103.5 us", "103.500 us")
            assert in_us in outcome.out
        else:
            assert sentence in outcome.out


def test_junit_has_a_test_case_for_each_condition(files: dict[str, list[str]]) -> None:
    conditions = ["total > +50%", "type=<b>&\x01\ufffe\uffff: time > +1%"]
    call = [*files["slow"], "--compare", *files["base"], "--print-only", "device"]
    options = [part for text in conditions for part in ("--fail-if", text)]
    assert (
        run_command(*call, *options, "--format", "junit").out
        == """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="profile_analyze" tests="2" failures="0" errors="0" skipped="1">
  <testcase classname="profile_analyze" name="total &gt; +50%">
    <system-out>+9.7% (95 %: +6.7% to +12.6%), 113.5 us against 103.5 us of the baseline: within the limit, and so is the confidence interval</system-out>
  </testcase>
  <testcase classname="profile_analyze" name="type=&lt;b&gt;&amp;\\x01\\ufffe\\uffff: time &gt; +1%">
    <skipped message="no operator matches; there is only Conv"/>
  </testcase>
</testsuite>
"""
    )


def test_github_has_an_annotation_for_each_condition(files: dict[str, list[str]]) -> None:
    conditions = ["total > +50%", "type=a\n::error::b: time > +1%"]
    call = [*files["slow"], "--compare", *files["base"], "--print-only", "device"]
    options = [part for text in conditions for part in ("--fail-if", text)]
    assert run_command(*call, *options, "--format", "github").out == (
        "::notice title=profile_analyze::passed: total > +50%25: +9.7%25 (95 %25: +6.7%25 to "
        "+12.6%25), 113.5 us against 103.5 us of the baseline: within the limit, and so is the confidence "
        "interval\n"
        "::warning title=profile_analyze::cannot be judged: type=a\\n::error::b: time > +1%25: no operator "
        "matches; there is only Conv\n"
    )


def test_json_of_a_gate_matches_the_schema(files: dict[str, list[str]]) -> None:
    conditions = ["total > +5%", "total > 1s", "type=Pool: time > +1%", "type=Pool: time > 1s"]
    options = [part for text in conditions for part in ("--fail-if", text)]
    for runs in (1, 8):
        call = [*files["slow"][:runs], "--compare", *files["base"], *options]
        outcome = run_command(*call, "--format", "json", "--peaks", "1T:1G")
        check_report(json.loads(outcome.out))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-if", "total > +5%"], "argument --fail-if: 'total > +5%' is relative to a baseline; name one with --compare"),
        (
            ["--format", "junit"],
            "--format junit has a test case for each --fail-if, but no --fail-if is given; add one",
        ),
        (["--format", "github"], "--format github annotates what --fail-if and --compare find; add one"),
        (["--format", "junit", "--columns", "name"], "junit has no tables and no totals, so --columns has no effect"),
        (["--format", "github", "--copy-time"], "github has no tables and no totals, so --copy-time has no effect"),
        (["--threshold", "5%"], "--threshold needs --compare, which names what to compare with"),
        (["--unit", "iteration"], "--unit needs --compare or --fail-if, which count runs"),
        (["--fail-uncertain", "no"], "--fail-uncertain needs --fail-if, which states the conditions"),
        (["--compare", "a", "b", "--format", "github", "--print-only", "device"], "--format github annotates what --fail-if and --compare find; add one"),
        (["--compare", "a", "--run-stat", "max"], "argument --run-stat: max: a comparison uses medians, as its verdicts do"),
        (["--compare", "a", "--fail-if", "ratio > 1.1: time > +3%"], "argument --fail-if: 'ratio > 1.1: time > +3%': ratio selects operators by how they changed, so noise alone could meet the condition; select them by name, type or base, or write 'verdict ~ slower|more: time > 0s' for any operator"),
        (["--compare", "a", "--where", "verdict == slower", "--fail-if", "time > +3%"], "argument --fail-if: 'time > +3%': --where 'verdict == slower' already judges how operators changed, so a limit on the change would judge it twice; write 'time > 0s', and --threshold 3% to ignore changes below 3%"),
        (["--compare", "a", "--where", "ratio > 1.1", "--fail-if", "time > 5ms"], "argument --fail-if: 'time > 5ms': --where 'ratio > 1.1' selects operators by how they changed, so noise alone could meet the condition; select them by name, type or base in --where, or leave out this --where and write 'verdict ~ slower|more: time > 0s' for any operator"),
        (["--compare", "a", "--where", "verdict == slowr", "--fail-if", "type=Conv: time > 5ms"], "argument --fail-if: 'type=Conv: time > 5ms': --where 'verdict == slowr': there is no verdict 'slowr'; the verdicts are faster, slower, same, uncertain, more work, less work, added, removed"),
        (["--match", "name"], "--match needs --compare, which names what to compare with"),
        (["--threshold=-1%"], "argument --threshold: '-1%' is out of range: it must be at least 0% and less than 100%; write 3% or 0.03"),
        (["--threshold", "0.5"], "argument --threshold: '0.5' could be 0.5% or 50%; write one of these"),
        (["--threshold", "0.1"], "argument --threshold: '0.1' could be 0.1% or 10%; write one of these"),
        (["--threshold", "much"], "argument --threshold: 'much' is not a number, such as 5%; see profile-analyze --help"),
        (["--columns", "verdict"], "verdict needs a profile to compare with; add --compare FILE"),
        (["--aggregate-by", "match"], "match needs a profile to compare with; add --compare FILE"),
    ],
)  # fmt: skip
def test_wrong_options_are_usage_errors(options: list[str], message: str) -> None:
    outcome = run_command("no such file", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"


def test_a_profile_must_be_named() -> None:
    error = (
        "profile_analyze: error: --compare took all files that are named; name the profile before "
        "it; write {}\n"
    )
    for files, meant in (
        (("a", "b"), "b --compare a"),
        (("a",), "FILE --compare a, with another profile as FILE"),
        (("a", "./a"), "FILE --compare ./a, with another profile as FILE"),
        (("a", "b", "a"), "a --compare b"),
        (("a b", "c"), "c --compare 'a b'"),
        (("a", "b", "c"), "NEW --compare OLD, each with all files of its side"),
    ):
        assert run_command("--compare", *files).err == error.format(meant)
    assert run_command().err == (
        "profile_analyze: error: the following arguments are required: FILE; see "
        "profile-analyze --help\n"
    )


def test_copies_of_a_file_count_once(tmp_path: Path) -> None:
    def copies(side: str, time: float) -> list[str]:
        (tmp_path / side).mkdir()
        files = [tmp_path / side / f"{number}.json" for number in range(5)]
        return [written(file, [Operator("conv", "Conv", time)]) for file in files]

    call = (*copies("new", 150), "--compare", *copies("base", 100), "--fail-if", "total > +5%")
    outcome = run_command(*call, "--print-only", "summary", "--format", "plain", "--notes", "few")
    assert (
        outcome.out
        == """\
total device time     150.000 us
total host time       N/A
runs                  5, 4 of them copies (spread: half within 0.0% to 0.0%)
baseline device time  100.000 us
baseline runs         5, 4 of them copies (spread: half within 0.0% to 0.0%)
difference            +50.000 us (+50.0%)
ratio                 1.50
verdict               N/A (only 1 of the 4 required different runs on each side)
no verdict: 150.000 us instead of 100.000 us, +50.0%
largest differences by type: Conv +50.000 us, 100.0% of the difference

cannot be judged: total > +5%: +50.0%, 150.000 us against 100.000 us of the baseline: only 1 of the \
4 required different runs on each side; record at least 4 profiles on each side, better 8, each by \
its own process, and name them all
"""
    )
    assert outcome.err.startswith(
        "note: on both sides: probably copies: 4 files with exactly the times of another; totals "
        "count copies, verdicts do not; name each run once\n"
    )
    assert outcome.code == 4


@pytest.mark.slowest
def test_conditions_of_a_comparison_use_times_as_measured_if_drift_is_corrected() -> None:
    runs = FIXTURES / "runs"
    call = (str(runs / "changed"), "--compare", str(runs / "base"), "--print-only", "summary")
    conditions = ("--fail-if", "total > -4%", "--fail-if", "name ~ .: time > +5%")
    outcomes = [run_command(*call, *conditions, *more) for more in ((), ("--correct-drift",))]
    lines = [one.out.splitlines()[-2:] for one in outcomes]
    assert lines[0] == lines[1]
    assert [line.partition(":")[0] for line in lines[0]] == ["FAILED", "passed"]
    assert outcomes[0].code == outcomes[1].code == 3


def test_totals_spreads_and_conditions_without_a_comparison_use_corrected_times() -> None:
    call = (str(FIXTURES / "runs" / "changed"), "--print-only", "summary", "--format", "plain")
    outcomes = [
        run_command(*call, "--fail-if", "total > 183ms", "--fail-uncertain", "yes", *more)
        for more in ((), ("--correct-drift",))
    ]
    lines = [one.out.splitlines() for one in outcomes]
    assert [one[0] for one in lines] == [
        "total device time  182.470 ms",
        "total device time  183.784 ms",
    ]
    assert [one[2] for one in lines] == [
        "runs               24 (spread: half within -3.1% to +13.0%)",
        "runs               24 (spread: half within -5.7% to +5.5%)",
    ]
    passed, uncertain = (one[-1] for one in lines)
    assert passed.startswith("passed: total > 183ms: 182.470 ms (95 %: 176.974 ms to 205.097 ms)")
    assert uncertain.startswith(
        "uncertain: total > 183ms: 183.784 ms (95 %: 173.508 ms to 193.806 ms)"
    )

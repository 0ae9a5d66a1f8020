"""Wrong, odd and hostile questions: each is answered, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profile_analyze.cli.options.parser import parser
from tests.conftest import PROFILES, run_command, some_of

TINY = str(PROFILES / "tiny.json")
RESNET = str(PROFILES / "resnet18.json")


WRONG = {
    "--opr-name": "(",
    "--min-time": "5x",
    "--max-time": "-1s",
    "--max-size": "16",
    "--engine": "spark",
    "--where": "tme > 1",
    "--having": "count > 1",
    "--aggregate-by": "bogus",
    "--aggregate": "most",
    "--order-by": "bogus",
    "--top": "-1",
    "--top-end-key": "start",
    "--label": "nightly/*.json",
    "--run-stat": "sum",
    "--skip-runs": "-1",
    "--from": "5x",
    "--to": "0",
    "--step": "5-3",
    "--level": "layer",
    "--unit": "run",
    "--compare-label": "date",
    "--match": "id",
    "--input-shape": "data",
    "--dim": "batch",
    "--split-matmul": "64,64",
    "--write-model": "a.pb",
    "--work": "guessed",
    "--threshold": "300%",
    "--fail-if": "total",
    "--fail-uncertain": "maybe",
    "--print-only": "all",
    "--peaks": "bogus",
    "--columns": "bogus",
    "--explain": "bogus",
    "--format": "xls",
    "--output": "a.xls",
    "--plot": "a.gif",
    "--export": "a.csv",
    "--sql-timeout": "0",
    "--color": "red",
    "--notes": "some",
    "--findings": "bogus",
    "--ignore": "bogus",
    "--time-unit": "min",
    "--print-completion": "csh",
}
FREE = {
    "--type",
    "--input-dtype",
    "--compare",
    "--model",
    "--step-region",
    "--inspect",
    "--cache",
    "--sql",
}
"""Options that accept any text."""


def test_every_option_is_tried_with_a_wrong_value() -> None:
    valued = {
        option
        for action in parser()._actions
        for option in action.option_strings
        if action.nargs != 0 and option.startswith("--")
    }
    assert valued == {*WRONG, *FREE}


@pytest.mark.parametrize("file", ["absent.json", "@absent"])
@pytest.mark.parametrize("option", WRONG)
def test_options_are_checked_before_any_file_is_opened(option: str, file: str) -> None:
    outcome = run_command(file, f"{option}={WRONG[option]}", "--compare", "absent.json")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert "absent" not in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--min-time", "5ms", "--max-time", "1ms"],
            "argument --min-time: 0.005 s is more than the maximum, 0.001 s; "
            "nothing is between them",
        ),
        (["--min-time", "inf"], "argument --min-time: nothing takes infinitely long"),
        (
            ["--from", "inf"],
            "argument --from: 'inf' is not a time in a profile; write one such as 10ms",
        ),
        *(
            (
                [name.partition("/")[0], "9" * 5000],
                f"argument {name}: '{'9' * 5000}' is not a {noun}; see profile-analyze --help",
            )
            for name, noun in (
                ("--skip-runs", "number of runs, such as 1"),
                ("-t/--top", "number of rows; 0 shows all"),
                ("--threshold", "number, such as 5%"),
            )
        ),
        (
            ["--step", "9" * 5000],
            f"argument --step: '{'9' * 5000}' is not a step; write 3, or 3-5 for several",
        ),
        (["--max-time=-1ms"], "argument --max-time: -0.001 s: no time is negative"),
        (
            ["--where", "time > 5ms", "--where", "time < 1ms"],
            "argument --where: 'time > 5ms' and 'time < 1ms' contradict each other, but all "
            "conditions must hold",
        ),
        (
            ["--where", "id == 3", "--where", "name ~ conv", "--where", "id > 3"],
            "argument --where: 'id == 3' and 'id > 3' contradict each other, but all conditions "
            "must hold",
        ),
        (
            ["--where", "type == Copy", "--where", "type == Reduce"],
            "argument --where: 'type == Copy' and 'type == Reduce' contradict each other, but "
            "all conditions must hold",
        ),
        (
            ["--aggregate", "sum", "--having", "count >= 3", "--having", "count < 3"],
            "argument --having: 'count >= 3' and 'count < 3' contradict each other, but all "
            "conditions must hold",
        ),
        (
            ["--where", "name == 'x"],
            "argument --where: 'name == 'x', at character 9: the quote ' has no end; write a "
            "literal quote in quotes of the other kind",
        ),
        (
            ["--where", "share > 1e400%"],
            "argument --where: 'share > 1e400%', at character 9: '1e400%' is not a number, such "
            "as 5%",
        ),
        (
            ["--where", "time\x1b > 5"],
            "argument --where: 'time\\x1b > 5' is not a condition; write COLUMN OPERATOR VALUE, such "
            "as 'time > 1ms'",
        ),
        (
            ["--where", "name ~ a\n("],
            "argument --where: 'name ~ a\\n(', at character 8: pattern 'a\\n(', at character 4: "
            "missing ); write \\( for the character (",
        ),
        (
            ["--agregate-by=type"],
            "there is no option --agregate-by; did you mean --aggregate-by type?",
        ),
        (
            ["--maxsize", "1KiB"],
            "there is no option --maxsize; did you mean --max-size 1KiB?",
        ),
        (
            ["--verson"],
            "there is no option --verson; did you mean --version?",
        ),
        (["-x", "--zzz"], "unrecognized arguments: -x --zzz; see profile-analyze --help"),
    ],
)
def test_wrong_questions_are_refused_in_one_line(arguments: list[str], message: str) -> None:
    outcome = run_command("none.json", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"


@pytest.mark.parametrize(
    "conditions",
    [
        ["time >= 5us", "time <= 5us"],
        ["time == 5us", "time >= 5us"],
        ["id != 3", "id == 4"],
        ["type == Copy", "type != Reduce"],
        ["type == Copy", "name == Copy"],
        ["time > 1us", "time > 2us"],
    ],
)
def test_conditions_that_can_hold_together_are_accepted(conditions: list[str]) -> None:
    where = [part for condition in conditions for part in ("--where", condition)]
    assert run_command(TINY, *where).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", some_of(["(" * 30_000, "[" * 30_000, "x" + " " * 30_000 + "x", ":" * 30_000], 2)
)
def test_long_texts_are_answered_at_once(text: str) -> None:
    for option in (
        "--aggregate-by",
        "--aggregate",
        "--columns",
        "--order-by",
        "--fail-if",
        "--where",
    ):
        outcome = run_command("none.json", option, text)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert run_command("none.json", "--where", f"name == {text}").code == 1


SLOW = "(a|aa|b)+$"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--opr-name", SLOW],
        ["--where", f"name ~ {SLOW}"],
        ["--where", f"name !~ {SLOW}"],
        ["--aggregate-by", f"name~{SLOW}"],
        ["--aggregate-by", "name", "--having", f"name ~ {SLOW}"],
        ["--order-by", f"name~{SLOW}"],
        ["--columns", f"name~{SLOW}"],
        ["--fail-if", f"name ~ {SLOW}: time > 5s"],
    ],
)
def test_slow_patterns_stop_in_every_option(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profile_analyze.columns.patterns.TIME_LIMIT_S", 0.05)
    monkeypatch.setattr(
        "profile_analyze.columns.patterns.matches.__kwdefaults__", {"limit_s": 0.05}
    )
    profile = tmp_path / "run.json"
    document = json.loads(Path(TINY).read_bytes())
    for operator in document["graph_exec"]["operator"].values():
        operator["name"] = "a" * 60 + "c"
    profile.write_text(json.dumps(document))
    outcome = run_command(str(profile), *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: pattern '{SLOW}' took more than 0.05 s; repetitions inside "
        "repetitions, as in (a+)+, make it slow\n"
    )


@pytest.mark.parametrize(
    ("options", "times"),
    [
        (["--where", "time > 1ms"], 1),
        (["--min-time", "1ms"], 1),
        (["--type", "ConvolutionForward"], 1),
        (["--type", "ConvolutionForward", "--copy-time"], 0),
        ([], 0),
    ],
)
def test_a_summary_alone_says_that_filters_do_not_apply(options: list[str], times: int) -> None:
    note = "note: the totals cover all operators, whatever the filters"
    assert run_command(RESNET, "--print-only", "summary", *options).err.count(note) == times
    assert note not in run_command(RESNET, *options).err

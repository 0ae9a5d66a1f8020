"""Calls as people write them by mistake: each gets one plain sentence that says what to write.

python -m tests.cli.test_wrong_calls    records the answers anew; review the difference
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.advice import words
from profile_analyze.cli.options.table import OPTION_GROUPS, OPTIONS
from profile_analyze.columns.catalog import CATALOG, find_column
from tests.conftest import PROFILES, run_command, some_of
from tests.findings.found import codes_in
from tests.recorded_calls import answer, record, recorded
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.cli.options.types import Option

FILE = "profiles/resnet18.json"
NOTES = f"{FILE} --print-only device --format csv --columns type,time -t 1"
"""A call with a short answer, for mistakes that only get a note."""

TRACE = "pytorch/cnn-train.json.gz"
"""A trace of a CPU."""
MODEL = "classifiers/classifier.onnx"
SMALL = "classifiers/smallcnn.onnx"
DYNAMIC = "models/cnn_script.onnx"
"""A model with symbols in the shape of its input."""

CALLS = (
    # names of columns
    *(f"{FILE} --order-by {name}" for name in ("flop", "Time", "cuda_time", "-time")),
    *(f"{FILE} --order-by {name}" for name in ("time,desc", "lost", "ratio")),
    *(f"{FILE} --aggregate-by {name}" for name in ("typ", "time", "name~")),
    *(f"{FILE} --columns {name}" for name in ("nme", "count", "'Avg (ns)'", "start")),
    *(f"{FILE} --columns {name}" for name in ("name;time", "name,")),
    f"{FILE} --aggregate-by type --aggregate avg",
    f"{FILE} --aggregate type",
    f"{FILE} --having 'count > 3'",
    f"{FILE} --explain flop",
    # options of other tools
    *(f"{FILE} {option}" for option in ("--sort time", "--sort-by=time", "--limit 5")),
    *(f"{FILE} {option}" for option in ("--group-by type", "--group-by-module", "--json")),
    *(f"{FILE} {option}" for option in ("--filter type=Conv", "--sort -")),
    *(f"{FILE} {option}" for option in ("--baseline old.json", "--gpu")),
    *(f"{FILE} {option}" for option in ("--flops 60G", "--alpha 0.05")),
    *(f"{FILE} {option}" for option in ("--exportProfile x.json", "-x", "-top 5")),
    *(f"{FILE} {option}" for option in ("--columms name", "--Top 5", "--quiet")),
    f"--input {FILE}",
    # values of options
    *(f"{FILE} --format {name}" for name in ("jso", "JSON", "md", "html")),
    *(f"{FILE} --level {name}" for name in ("kernels", "kernel")),
    *(f"{FILE} {option}" for option in ("--print-only hots", "--run-stat p50", "--unit runs")),
    *(f"{FILE} {option}" for option in ("-t five", "-t -1", "-t", "-t 5 10", "-5")),
    *(f"{FILE} {option}" for option in ("--where", "--format", "--min-time 1MS", "-o")),
    *(f"{FILE} --min-time {text}" for text in ("'1 sec'", "1,5ms")),
    *(f"{FILE} --peaks {spec}" for spec in ("60G", "100GB:20GF", "4090")),
    *(f"{FILE} --peaks {spec}" for spec in ("a10080", "epyc", "rtx4090:half", "auto")),
    f"{FILE} -o result.xlsx",
    # conditions
    *(
        f'{FILE} --where "{text}"'
        for text in (
            *("time", "time >", "time > 1MS", "time > 5%", "share > 5", "tme > 1ms", ""),
            *("type = ConvolutionForward", "name contains conv", "type in (A, B)", "name is null"),
            *("name like %conv%", "type is not Copy", "time between 1ms and 2ms", "1ms < time"),
            *("1ms < time < 2ms", "time > 1ms and share > 5%", "type == A or type == B"),
            *("time > 1ms or time > 2ms", "name startswith conv"),
            *("name == 'conv", "count > 1", "flops == null", "flops ~ 3"),
        )
    ),
    f"{FILE} --compare {FILE} --where 'ratio > 5%'",
    # filters that keep nothing
    *(
        f'{NOTES} --where "{text}"'
        for text in (
            *("flops < 40", "time > 1", "type == conv", "name ~ zzz", "type ~ conv"),
            *("type == Conv*", "name ~ conv*", "out_shapes == (1,64)", "param.mode == x"),
        )
    ),
    *(f"{NOTES} --type {text}" for text in ("conv", "'Conv*'", "ConvolutionForward,Pooling")),
    *(f"{NOTES} --opr-name '{text}'" for text in ("zzz", "CONV", "conv*", "relu[1]")),
    f"{NOTES} --min-time 1",
    f"{NOTES} --aggregate-by type,'name~LAYER(\\d)'",
    # conditions of --fail-if
    *(
        f"{FILE} --compare {FILE} --fail-if '{text}'"
        for text in (
            *("total > 5%", "total +5%", "5%", "total", "total > 1.05x", "total > 105%"),
            *("total < +5%", "+5% < total", "total > +5% and time > 1ms", "slower"),
            *("Conv > +5%", "Conv: time > +5%", "type=ConvolutionForward > +5%"),
            *("any layer > +5%", "colour > +5%", "efficiency < 50%", "totl > +5%"),
            *("total > 0.05", "total > baseline", "verdict == slower: time > +5%"),
        )
    ),
    f"{FILE} --fail-if 'total > +5%'",
    f"{FILE} --fail-if total>5",
    # files
    *("", "nosuch.json", "profiles/resnt18.json", "profiles/resnet18", "README.md"),
    *("'runs/bse/*.json.gz'", "reports", "file:///tmp/run.json"),
    *(f"{FILE} {words}" for words in ("vs profiles/tiny.json", "\u2013t 5")),
    *(f"{word} {FILE}" for word in ("roofline",)),
    f"profiles/tiny.json,{FILE}",
    f"{FILE} --columns name time",
    f"{FILE} --where \u2018time\u2019",
    f"{TRACE} --level kernel",
    f"{TRACE} pytorch/gpu.json",
    f"{MODEL} --model {FILE}",
    # right calls that look wrong
    f"{NOTES} --order-by time --order-by=time",
)
"""Each call shows a rule. There are at most 150: a rule that needs many calls is too clever."""


def test_all_calls_are_recorded() -> None:
    assert list(recorded("wrong")) == list(CALLS)
    assert len(CALLS) <= 150


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(CALLS, 3))
def test_the_answer_is_the_recorded_one(call: str) -> None:
    assert answer(call) == recorded("wrong")[call]


def test_an_error_is_one_line() -> None:
    lines = {call: text.splitlines() for call, text in recorded("wrong").items()}
    errors = {call: found for call, found in lines.items() if found[-1] != "[exit status 0]"}
    wrong = [
        call
        for call, found in errors.items()
        if not found[0].startswith("profile_analyze: error: ") or len(found) != 2
    ]
    assert not wrong, "\n".join(wrong)


def test_words_of_other_tools_stand_for_columns_and_options_that_exist() -> None:
    columns = {column.name for column in CATALOG}
    assert set(words.COLUMN_WORDS.values()) <= columns
    assert not set(words.COLUMN_WORDS) & columns
    flags = {flag for group in OPTION_GROUPS for option in group.options for flag in option.flags}
    for word, meant in words.OPTION_WORDS.items():
        assert f"--{word.replace('_', '-')}" not in flags
        flag, *value = shlex.split(meant)
        assert flag in flags | {"--help", "--version"}
        if value and value[0].islower():  # a value, not a placeholder
            outcome = run_command("profiles/none.json", flag, value[0])
            assert "invalid choice" not in outcome.err
            assert "there is no option" not in outcome.err


VALUED = [option for option in OPTIONS if option.takes_values]


@pytest.mark.parametrize("option", VALUED, ids=lambda option: str(option.flags[-1]))
def test_a_missing_value_gets_an_example_that_is_valid(option: Option) -> None:
    choices = ", ".join(option.settings.get("choices", ()))
    value = f": {choices}" if choices else f", such as {option.example_call}"
    message = f"argument {'/'.join(option.flags)}: needs a value{value}\n"
    assert run_command("none.json", option.flags[0]).err == f"profile_analyze: error: {message}"
    assert bool(choices) != bool(option.example)
    if option.example:
        needs = {
            "--having": "--aggregate-by=type",
            "--threshold": "--compare=none.json",
            "--fail-if": "--compare=none.json",
            "--sql-timeout": "--sql=from runs",
            "--write-model": "--split-matmul=64,64,64",
            "--compare-label": "--label={date}/*",
        }
        further = [value for flag, value in needs.items() if flag in option.flags]
        outcome = run_command("none.json", *further, *shlex.split(option.example_call))
        assert outcome.code == 0 or outcome.err.startswith(
            "profile_analyze: error: none.json: no such file"
        )


def test_long_texts_are_not_compared_with_known_words() -> None:
    with pytest.raises(pa.UnknownColumnError, match="the columns are"):
        find_column("Time" + " " * 200)
    where = f"name == {'a' * 200} and time > 1"
    assert len(pa.Query(where=where).conditions) == 1
    with pytest.raises(pa.QueryError, match="write COLUMN OPERATOR VALUE"):
        pa.Query(where=f"name contains {'a' * 200}")
    with pytest.raises(pa.QuantityError, match="write seconds"):
        pa.parse_time("1" + "0" * 200 + "MS")
    unknown = run_command("--sort", "a" * 201)
    assert unknown.err.endswith("did you mean --order-by, such as --order-by memory?\n")
    missing = run_command("C:" + "a" * 200)
    assert missing.err.endswith(("no such file\n", "file name too long\n"))


def test_a_file_whose_name_differs_in_case_is_suggested(tmp_path: Path) -> None:
    for name in ("o.json", "o2.json"):
        (tmp_path / name).write_bytes(b"{}")
    assert run_command(f"{tmp_path}/O.JSON").err == (
        f"profile_analyze: error: {tmp_path}/O.JSON: no such file; did you mean {tmp_path}/o.json?\n"
    )


def test_a_link_to_nothing_says_where_it_leads(tmp_path: Path) -> None:
    link = tmp_path / "run.json"
    link.symlink_to(tmp_path / "none.json")
    message = f"{link}: is a link to {tmp_path}/none.json, which does not exist\n"
    assert run_command(str(link)).err == f"profile_analyze: error: {message}"


def test_a_name_with_blanks_needs_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my new run.json").touch()
    monkeypatch.chdir(tmp_path)
    message = "my: no such file; a name with blanks needs quotes: 'my new run.json'\n"
    assert run_command("my", "new", "run.json").err == f"profile_analyze: error: {message}"
    assert run_command("my", "old", "run.json").err == "profile_analyze: error: my: no such file\n"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("runs/nightly/a.json", ""),
        ("run/nightly/a.json", "; there is no folder run; did you mean runs?"),
        ("runs/nightli/x/a.json", "; there is no folder runs/nightli; did you mean runs/nightly?"),
        ("./runs/daily/a.json", "; there is no folder ./runs/daily"),
        ("/no-such-folder/run.json", "; there is no folder /no-such-folder"),
        ("../no-such-file", ""),
        ("noted/a.json", "; there is no folder noted"),  # `notes` is no folder
        ("memory://a/[x].json", ""),
        ("note --format plain", ""),
    ],
)
def test_a_missing_file_gets_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, advice: str
) -> None:
    (tmp_path / "runs" / "nightly").mkdir(parents=True)
    (tmp_path / "notes").touch()
    monkeypatch.chdir(tmp_path)
    message = f"profile_analyze: error: {name}: no such file{advice}\n"
    assert run_command(name).err == message


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ("--aggregate-by type name", ["--aggregate-by type,name"]),
        ("--aggregate-by type, name", ["--aggregate-by type,name"]),
        ("--columns name , time , share", ["--columns name,time,share"]),
        ("--order-by time +calls", ["--order-by time,+calls"]),
        ("--aggregate sum p90", ["--aggregate sum,p90"]),
        ("--aggregate-by type --columns time name",
         ["--aggregate-by type,name", "--columns time,name"]),
    ],
)  # fmt: skip
def test_a_list_that_is_split_by_blanks_is_suggested_as_a_whole(
    options: str, meant: list[str]
) -> None:
    name = str(PROFILES / "tiny.json")
    option = meant[0].partition(" ")[0]
    assert run_command(name, *options.split()).err == (
        f"profile_analyze: error: argument {option}: takes one value; did you mean "
        f"{' or '.join(meant)}?\n"
    )
    for one in meant:
        assert run_command(name, *one.split()).code == 0


def test_the_name_of_a_column_may_be_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "time").write_bytes((PROFILES / "tiny.json").read_bytes())
    assert run_command("time", "--columns", "name").code == 0


def test_a_call_without_a_file_tells_how_to_read_a_pipe() -> None:
    command = [sys.executable, "-m", "profile_analyze", "-t", "5"]
    piped = subprocess.run(command, input="{}", capture_output=True, text=True, check=False)
    assert "FILE; - reads standard input; see" in piped.stderr
    closed = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert "required: FILE; see" in closed.stderr


def test_only_names_that_nearly_fit_are_suggested() -> None:
    assert "did you mean" not in run_command("none.json", "--confidence", "3").err
    assert run_command("none.json", "--ordr-by", "name").err.endswith("mean --order-by name?\n")


def test_a_name_with_a_hyphen_after_two_hyphens_is_an_unknown_option() -> None:
    assert run_command("--", "-none.json").err.startswith(
        "profile_analyze: error: unrecognized arguments: -none.json; "
    )


def test_a_baseline_in_the_time_range_is_enough() -> None:
    fast, slow = (profile_of([Operator("a", "A", time)]) for time in (100, 300))
    query = pa.Query(compared=True, min_time_s=2e-4)
    assert "unmatched-number" not in codes_in(pa.run(query, pa.compare(fast, slow)).notes)


if __name__ == "__main__":
    record("wrong", CALLS)

"""The command line: options, help, errors and streams."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

import profile_analyze
from profile_analyze.cli.main import main
from profile_analyze.cli.options.parser import parse, parser
from profile_analyze.readers.loading import READERS, default_output_format
from profile_analyze.readers.megengine import MegEngineReader
from tests.conftest import PROFILES, run_command
from tests.in_memory import profile_of
from tests.readers.test_new_reader import MadeUpReader

TINY = str(PROFILES / "tiny.json")
RESNET = str(PROFILES / "resnet18.json")
DEFAULTS = ("plain", "table")


def run_process(
    *arguments: str, stdout: int | IO[str] = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        check=False,
    )


@pytest.mark.parametrize(
    "program",
    [
        [sys.executable, "-m", "profile_analyze"],
        [str(Path(sys.executable).parent / "profile-analyze")],
    ],
    ids=["module", "script"],
)
def test_the_module_and_the_command_print_the_same(program: list[str]) -> None:
    done = run_process(*program, TINY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run_command(TINY).out
    failed = run_process(*program, "nothing.json")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "profile_analyze: error: nothing.json: no such file\n"


def test_help_is_grouped_and_has_eight_examples() -> None:
    outcome = run_command("--help")
    assert (outcome.code, outcome.err) == (0, "")
    positions = [outcome.out.index(f"\n{group}: ") for group in ("rows", "groups", "order", "view")]
    assert positions == sorted(positions)
    examples = outcome.out[outcome.out.index("\nexamples:") :]
    assert examples.count("\n  profile-analyze ") + examples.count("| profile-analyze ") == 8
    assert "(default: 3)" in outcome.out
    assert "a number of seconds, or 1ms, 20us" in " ".join(outcome.out.split())


def test_every_option_has_a_help_text() -> None:
    for action in parser()._actions:
        assert action.help


def test_help_and_version_import_little() -> None:
    code = (
        "import sys\n"
        "from profile_analyze.cli.main import main\n"
        "for option in sys.argv[1:]:\n"
        "    try: main([option])\n"
        "    except SystemExit: pass\n"
        "heavy = {'numpy', 'msgspec', 'tabulate', 'regex', 'orjson', 'wcwidth'}\n"
        "sys.exit(' '.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    done = run_process(sys.executable, "-c", code, "--help", "--version", "--explain=efficiency")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
    assert "efficiency" in done.stdout


def test_contradicting_options_are_reported_without_numpy() -> None:
    code = (
        "import sys\n"
        "from profile_analyze.cli.main import main\n"
        "code = main(['run.json', '--sql', 'select 1', '--show-host'])\n"
        "assert (code, 'numpy' in sys.modules) == (2, False), (code, sys.modules.keys())"
    )
    assert run_process(sys.executable, "-c", code).returncode == 0


ORIGINAL_OPTIONS = {
    "--top": ["1"],
    "--type": ["A"],
    "--aggregate-by": ["type"],
    "--aggregate": ["max"],
    "--opr-name": ["a"],
    "--input-dtype": ["Float32"],
    "--order-by": ["memory"],
    "--copy-time": [],
    "--min-time": ["1"],
    "--max-time": ["1"],
    "--top-end-key": ["kern"],
    "--show-host": [],
    "--dump-only-opr": [],
    "--confluence": [],
    "--wiki": [],
    "--print-only": ["host"],
    "--help": [],
}
ABBREVIATIONS = [
    (option[:length], option)
    for option in ORIGINAL_OPTIONS
    for length in range(3, len(option))
    if sum(other.startswith(option[:length]) for other in ORIGINAL_OPTIONS) == 1
]


@pytest.mark.parametrize(("short", "full"), ABBREVIATIONS)
def test_abbreviations_of_the_original_keep_their_meaning(short: str, full: str) -> None:
    values = ORIGINAL_OPTIONS[full]
    if full == "--help":
        assert run_command(short) == run_command(full)
        return
    assert parse(["x.json", short, *values]) == parse(["x.json", full, *values])
    if values:
        assert parse(["x.json", f"{short}={values[0]}"]) == parse(["x.json", full, *values])


def test_the_original_has_many_abbreviations() -> None:
    assert len(ABBREVIATIONS) > 90


@pytest.mark.parametrize(
    ("short", "full"),
    [
        (["--conf"], ["--confluence"]),
        (["--wi"], ["--confluence"]),
        (["--opr", ".*A"], ["--opr-name", ".*A"]),
        (["--order", "memory"], ["--order-by", "memory"]),
        (["--show"], ["--show-host"]),
        (["--dump"], ["--dump-only-opr"]),
        (["--print", "host"], ["--print-only", "host"]),
        (["--top-", "end"], ["--top-end-key", "end"]),
        (["--aggregate-", "type"], ["--aggregate-by", "type"]),
        (["--min", "1us", "--max=1"], ["--min-time", "1e-6", "--max-time", "1"]),
        (["--ty", "Elemwise", "--type=Reduce"], ["--type", "Elemwise", "--type", "Reduce"]),
        (["-t2"], ["--top", "2"]),
        (["--copy"], ["--copy-time"]),
        (["--w"], ["--confluence"]),
        (["--p", "host"], ["--print-only", "host"]),
        (["--whe", "id > 5"], ["--where", "id > 5"]),
        (["--form", "csv"], ["--format", "csv"]),
        (["--input", "Int32"], ["--input-dtype", "Int32"]),
    ],
)
def test_options_can_be_abbreviated(short: list[str], full: list[str]) -> None:
    outcome = run_command(RESNET, *short)
    assert outcome.code == 0
    assert outcome == run_command(RESNET, *full)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: FILE"),
        ([TINY, "--no-such-option"], "unrecognized arguments: --no-such-option"),
        (
            [TINY, "--threshold", "much"],
            "argument --threshold: 'much' is not a number, such as 5%",
        ),
        (
            [TINY, "--aggr", "sum"],
            "ambiguous option: --aggr could match --aggregate-by, --aggregate",
        ),
    ],
)
def test_a_usage_error_is_reported_in_one_line(arguments: list[str], message: str) -> None:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}; see profile-analyze --help\n"


def test_a_message_that_says_what_to_write_does_not_refer_to_the_help() -> None:
    assert run_command(TINY, "--min-time", "abc").err == (
        "profile_analyze: error: argument --min-time: 'abc' is not a time; write seconds, or a "
        "number with one of s, ms, us, ns, min, h: 0.001, 1ms\n"
    )


@pytest.mark.parametrize("option", ["--print-only", "--top-end-key", "--format", "--color"])
def test_a_wrong_choice_is_reported_in_one_line(option: str) -> None:
    outcome = run_command(TINY, option, "bogus")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith(f"profile_analyze: error: argument {option}: invalid choice: 'bo")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--aggregate-by", "xyz"],
            "argument --aggregate-by: 'xyz' is not one of name, type, categor",
        ),
        (
            ["--aggregate-by", "name~("],
            "argument --aggregate-by: pattern '(', at character 2: missing ); write \\( for the ",
        ),
        (  # the pattern is shown as typed, so that character 12 can be counted
            ["--aggregate-by", r"name~^conv\((\w+"],
            r"argument --aggregate-by: pattern '^conv\((\w+', at character 12: missing ); write",
        ),
        (
            ["--aggregate", "sum,most"],
            "argument --aggregate: 'most' is not one of sum, mean, max, m",
        ),
        (
            ["--where", "time > x"],
            "argument --where: 'time > x', at character 8: 'x' is not a time; ",
        ),
        (
            ["--having", "count > 1"],
            "argument --having: there are no groups; group by something (--aggregate-by)",
        ),
        (
            ["--columns", "time,count"],
            "operators have no column 'count'; they have id, name, type, c",
        ),
        (["--columns", "tme"], "there is no column 'tme'; did you mean time?\n"),
        (
            ["--order-by", "time,tme"],
            "there is no column 'tme' to order by; did you mean time?\n",
        ),
        (["--format", "csv", "--wiki"], "--confluence (or --wiki) and --format csv ask for two fo"),
        (
            ["--dump-only-opr", "--format", "csv"],
            "--dump-only-opr prints no table, so --format csv",
        ),
        (
            ["--dump-only-opr", "--columns", "id"],
            "--dump-only-opr prints no table, so --columns ha",
        ),
    ],
)
def test_a_wrong_question_is_reported_in_one_line(arguments: list[str], message: str) -> None:
    outcome = run_command("no such file", *arguments)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith(f"profile_analyze: error: {message}")


def test_the_question_is_checked_before_the_file_is_read() -> None:
    # Status 1 would mean that the file was read.
    outcome = run_command("nothing.json", "--opr-name", "[")
    assert outcome.code == 2
    outcome = run_command("-", "--order-by", "bogus", stdin=b"not read")
    assert outcome.code == 2


def test_a_closed_pipe_ends_quietly() -> None:
    mobilenet = str(PROFILES / "mobilenet.json")
    command = f"'{sys.executable}' -m profile_analyze '{mobilenet}' -t 0"
    done = run_process("bash", "-c", f"{command} | head -n 1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.splitlines()[1] == "0"
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device to write to")
def test_a_full_disk_is_reported_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = run_process(sys.executable, "-m", "profile_analyze", TINY, stdout=full)
    assert done.returncode == 1
    assert done.stderr == (
        "profile_analyze: error: standard output: no space left on device; free some space, or "
        "write to another disk\n"
    )


@pytest.mark.parametrize(
    ("failure", "code", "err"),
    [
        (KeyboardInterrupt(), 130, ""),
        (
            MemoryError(),
            1,
            "profile_analyze: error: out of memory; the profile is too large for this machine\n",
        ),
    ],
)
def test_the_exit_status_after_an_interrupt_or_without_memory(
    monkeypatch: pytest.MonkeyPatch, failure: BaseException, code: int, err: str
) -> None:
    def fail(_arguments: object) -> None:
        raise failure

    monkeypatch.setattr("profile_analyze.cli.answer.answer", fail)
    outcome = run_command(TINY)
    assert (outcome.code, outcome.out, outcome.err) == (code, "", err)


@pytest.mark.parametrize(
    ("redirection", "message"),
    [(">&-", "standard output: is closed"), ("<&-", "standard input: is closed")],
)
def test_closed_streams_are_reported_in_one_line(redirection: str, message: str) -> None:
    file = "-" if redirection.startswith("<") else TINY
    done = run_process(
        "bash", "-c", f"'{sys.executable}' -m profile_analyze '{file}' {redirection}"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"profile_analyze: error: {message}\n"


def test_notes_are_dropped_if_standard_error_is_closed() -> None:
    twocn = str(PROFILES / "twocn.json")
    call = f"'{sys.executable}' -m profile_analyze '{twocn}' --print-only summary 2>&-"
    done = run_process("bash", "-c", call)
    assert (done.returncode, done.stdout) == (0, run_command(twocn, "--print-only", "summary").out)


def test_an_empty_filter_filters_nothing() -> None:
    for option in ("--opr-name", "--input-dtype"):
        assert run_command(RESNET, option, "") == run_command(RESNET)


def test_messages_name_standard_input() -> None:
    outcome = run_command("-", stdin=b"")
    assert outcome.err.startswith("profile_analyze: error: standard input: is empty; ")


def test_an_empty_file_name_is_an_error() -> None:
    assert run_command("").err == (
        "profile_analyze: error: '': the file name is empty; is a variable of the shell unset?\n"
    )


def test_a_note_says_if_few_operators_have_times() -> None:
    outcome = run_command(
        str(PROFILES / "twocn-onlywait.json"), "--copy-time", "--opr-name", "Copy.0"
    )
    assert outcome.err == (
        "note: the device time is the sum of 2 comp nodes, which may have run at the same time: "
        '6.01 ms on CompNode("cpu0:0" from "xpux:0"), 1.00 us on CompNode("cpu1:0" from "xpu1:0")\n'
        "note: only 3 of 26 operators have a device time; totals and shares leave out the other "
        "operators\n"
        "note: the copy time is 1.00 us, too short for four decimals; --format plain shows it\n"
    )


def test_file_names_cannot_act_on_the_terminal() -> None:
    outcome = run_command("\x1b[31mred\nnote: false")
    assert outcome.err == "profile_analyze: error: \\x1b[31mred\\nnote: false: no such file\n"


def test_a_call_causes_no_warnings() -> None:
    done = run_process(
        sys.executable, "-W", "error", "-m", "profile_analyze", RESNET, "-t", "0",
        "--opr-name", "[[a-z]", "--print-only", "device", "--aggregate", "max",
    )  # fmt: skip
    assert "Warning" not in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("default", DEFAULTS)
def test_the_profile_chooses_the_output_format_unless_an_option_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, default: str
) -> None:
    class Reader(MadeUpReader):
        default_output_format = default

    monkeypatch.setattr("profile_analyze.readers.loading.READERS", (Reader(), *READERS))
    made_up = str(tmp_path / "run.made")
    Path(made_up).write_text("made-up\nconv Conv 3000000\nrelu Relu 500000\n", encoding="utf-8")
    formats = {one: run_command(made_up, "--format", one).out for one in DEFAULTS}
    assert len(set(formats.values())) == len(DEFAULTS)
    assert run_command(made_up).out == formats[default]
    for arguments in (["--columns", "all"], ["--compare", made_up], ["--show-host"]):
        outcome = run_command(made_up, *arguments)
        assert outcome.code == 0
        assert outcome == run_command(made_up, *arguments, "--format", default)
    assert run_command(made_up, "-o", str(tmp_path / "a.txt")).out == ""
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == formats["table"]
    assert run_command(RESNET) == run_command(RESNET, "--format", "table")
    both = [made_up, RESNET]
    assert run_command(*both) == run_command(*both, "--format", "plain")


def test_profile_formats_without_a_default_are_shown_as_plain() -> None:
    def made_in(format_: str) -> profile_analyze.Profile:
        return profile_of([{"name": "a"}], origin=profile_analyze.Origin(format_))

    assert default_output_format(made_in("a runtime without a reader")) == "plain"
    assert default_output_format(made_in("MegEngine GraphProfiler JSON")) == "table"


def test_columns_of_every_default_format_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns to load are chosen before the profile's output format is known."""
    from profile_analyze.report.formats.plain import PlainRenderer

    monkeypatch.setattr(PlainRenderer, "columns", lambda *_, **__: ("name", "parameters", "share"))

    class Reader(MegEngineReader):
        default_output_format = "plain"

    monkeypatch.setattr("profile_analyze.readers.loading.READERS", (Reader(),))
    outcome = run_command(RESNET, "-t", "1", "--print-only", "device")
    assert (outcome.code, outcome.out.split()[:3]) == (0, ["name", "parameters", "share"])
    assert "stride_h=1" in outcome.out


def test_standard_output_may_lack_a_binary_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook has such a standard output."""
    for arguments in ((RESNET,), (RESNET, "--format", "csv"), ("--version",)):
        wanted = run_command(*arguments).out
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        with contextlib.suppress(SystemExit):
            main(arguments)
        monkeypatch.undo()
        assert stream.getvalue() == wanted

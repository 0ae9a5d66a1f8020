"""The options on labels: `--label`, `--compare-label`, and conditions on labels in `--where`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.cli.inputs.labels import LabelOptions
from profile_analyze.cli.options.parser import parser
from tests.conftest import run_command
from tests.small import Operator, written

if TYPE_CHECKING:
    from pathlib import Path

LABEL = ("--label", "nightly/{date}/{host}.json")
TIMES = {
    "nightly/2026-11-01/alpha.json": 100.0,
    "nightly/2026-11-01/beta.json": 300.0,
    "nightly/2026-11-02/alpha.json": 110.0,
    "nightly/2026-11-10/alpha.json": 120.0,
}


@pytest.fixture(autouse=True)
def nightly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write profiles of several dates and hosts into the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, time in TIMES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        written(tmp_path / name, [Operator("a", "A", time), Operator("b", "B", time / 10)])


def output_of(*arguments: str, files: Any = tuple(TIMES)) -> tuple[str, str]:
    """Return the output and the notes or the error of a call."""
    outcome = run_command(*files, *LABEL, *arguments, "--print-only=device", "--notes=all")
    return outcome.out.replace("\r\n", "\n"), outcome.err


def test_groups_by_label_show_all_rows() -> None:
    assert output_of("--aggregate-by=date", "--columns=date,time,share", "--format=plain") == (
        "date        device self time (us)   share\n"
        "2026-11-01                220.000  100.0%\n"
        "2026-11-02                121.000  100.0%\n"
        "2026-11-10                132.000  100.0%\n",
        "note: rows are split by date: medians and shares are over the runs with the same date\n",
    )
    out, _ = output_of("--aggregate-by=host,type", "--format=csv", "--columns=host,type,time,runs")
    assert out == (
        "host,type,time_s,runs\n"
        "alpha,A,0.00010999999999999999,3\n"
        "alpha,B,0.000011,3\n"
        "beta,A,0.0003,1\n"
        "beta,B,0.000029999999999999997,1\n"
    )


def test_labels_are_columns_and_can_order_operators() -> None:
    arguments = ("--order-by=+date,host", "--columns=date,host,name", "--format=csv", "--type=A")
    out, _ = output_of(*arguments, "-t0")
    assert out == (
        "date,host,name\n"
        "2026-11-01,beta,a\n"
        "2026-11-01,alpha,a\n"
        "2026-11-02,alpha,a\n"
        "2026-11-10,alpha,a\n"
    )


def test_an_explanation_uses_the_total_of_the_label() -> None:
    out, _ = output_of("--explain=share", "--aggregate-by=date", "--order-by=+time")
    assert out == (
        "share: time / total time of all operators of the profile; if the row has no time in some "
        "runs, the total leaves out these runs; if rows are grouped by run, file, step, phase, track "
        "or device, the total is the sum of all these rows\n"
        "The first row of this answer is 2026-11-02 (2 operators):\n"
        "  share = time / total time = 121.000 us / 121.000 us = 100.0%\n"
        "  time = 121.000 us: sum of time in the group\n"
    )
    out, _ = output_of("--explain=host", "--aggregate-by=host")
    assert out == (
        "label.host (`host`): the label host of the file that the run was read from\n"
        "The first row of this answer is alpha (2 operators):\n"
        "  label.host = alpha: the value that all operators of the group share\n"
    )


def test_conditions_on_labels_choose_the_files_that_are_read() -> None:
    files = (*TIMES, "nightly/2026-11-03/bad.json")
    arguments = ("--where=date >= 2026-11-02", "--where=time > 50us", "--format=csv")
    # `bad.json` does not exist. It is left out before reading, so no note says that it is missing.
    out, err = output_of(
        *arguments, "--where=host == alpha", "--columns=name,time,runs", "--skip-bad", files=files
    )
    assert out == "name,time_s,runs\na,0.00011499999999999999,2\n"
    assert err == (
        "note: read 2 of 5 files, the files that meet 'date >= 2026-11-02' and 'host == alpha'\n"
    )
    outcome = run_command(*TIMES, *LABEL, *arguments[:1], "--format=json")
    assert json.loads(outcome.out)["profile"]["files"] == [
        "nightly/2026-11-02/alpha.json",
        "nightly/2026-11-10/alpha.json",
    ]


def test_one_label_names_the_baseline() -> None:
    out, err = output_of(
        "--compare-label=date=2026-11-01",
        *("--where=date < 2026-11-10", "--columns=name,time,base", "--format=csv"),
    )
    assert out == (
        "name,time_s,base_s\n"
        "a,0.00010999999999999999,0.00019999999999999998\n"
        "b,0.000011,0.000019999999999999998\n"
    )
    assert "note: read 3 of 4 files, the files that meet 'date < 2026-11-10'\n" in err


def test_files_without_labels_are_counted(tmp_path: Path) -> None:
    written(tmp_path / "x.json", [Operator("a", "A", 1.0)])
    files = (*TIMES, "x.json")
    out, err = output_of("--aggregate-by=date", "--columns=date,count", "--format=csv", files=files)
    assert out.splitlines()[-1] == ",1"
    assert "note: without the labels date and host: 1 of 5 files, such as x.json\n" in err
    _, err = output_of("--compare-label=date=2026-11-01", files=files)
    assert "note: left out 1 file without the label date, such as x.json\n" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--where=date > 2026-12"],
            "argument --where: no file meets 'date > 2026-12'; the values of date are 2026-11-01, "
            "2026-11-02, 2026-11-10",
        ),
        (
            ["--where=date > 2026-12", "--label={n}.json"],
            "argument --where: no file meets 'date > 2026-12'; the values of date are 2026-11-01, "
            "2026-11-02, 2026-11-10",
        ),
        (
            ["--where=date >"],
            "argument --where: 'date >', at character 7: a value is missing after >, such as "
            "'date > v2'",
        ),
        (
            ["--compare-label=date=x"],
            "argument --compare-label: no file has date x; the values of date are 2026-11-01, "
            "2026-11-02, 2026-11-10",
        ),
        (
            ["--compare-label=date=2026-11-02", "--where=date == 2026-11-02"],
            "argument --compare-label: no file has another date than 2026-11-02, so there is "
            "nothing to compare",
        ),
        (
            ["--compare-label=date"],
            "argument --compare-label: 'date' is not NAME=VALUE; write the name and the value of a "
            "label: date=2026-11-01",
        ),
        (
            ["--compare-label=day=1"],
            "argument --compare-label: there is no label 'day'; the labels are date, host",
        ),
        (
            ["--compare-label=date=2026-11-01", "--compare=x.json"],
            "--compare and --compare-label both name the baseline; leave one of them out",
        ),
        (
            ["--compare-label=date=2026-11-01", "--aggregate-by=date"],
            "date: a comparison combines all runs of a side and cannot show them one by one",
        ),
        (
            ["--label={type}/*/*"],
            "argument --label: a label named 'type' would hide the column type; choose another "
            "name",
        ),
        (
            ["--label={a}{a}"],
            "argument --label: '{a}{a}' has {a} twice; rename one of them",
        ),
        (
            ["--label=none.csv"],
            "none.csv: no such file",
        ),
        (
            ["--aggregate-by=hots"],
            "argument --aggregate-by: 'hots' is not a group key; did you mean host?",
        ),
        (
            ["--fail-if=host == alpha: time > 1s"],
            "argument --fail-if: 'host == alpha: time > 1s': 'host == alpha': host is a label of "
            "files, not of operators; choose files first, with --where or runs_with_labels()",
        ),
        (
            ["--inspect=a"],
            "--inspect shows one operator and no table, so --label has no effect; leave one out",
        ),
    ],
)
def test_wrong_calls_get_one_line(arguments: list[str], message: str) -> None:
    outcome = run_command(*TIMES, *LABEL, *arguments)
    assert (outcome.out, outcome.err) == ("", f"profile_analyze: error: {message}\n")
    assert outcome.code == (1 if "such file" in message else 2)


def test_labels_that_fit_no_file_are_an_error(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("file,host\nalpha.json,alpha\n")
    first = tmp_path / next(iter(TIMES))
    for label, reason in (
        (
            "weekly/{date}/*",
            f"'weekly/{{date}}/*' fits none of 4 files, such as {first}; write a pattern for the "
            "end of this path",
        ),
        (
            str(table),
            f"{table} names none of 4 files, such as {first}; its file names are relative to the "
            "current folder",
        ),
    ):
        outcome = run_command(*TIMES, "--label", label)
        assert outcome.err == f"profile_analyze: error: argument --label: {reason}\n"


def test_a_file_that_is_left_out_does_not_change_the_labels_of_the_others() -> None:
    (first, *_) = TIMES
    files = (first, "nightly/2026-11-09/absent.json")
    arguments = ("--skip-bad", "--aggregate-by=date,host", "--columns=date,host", "--format=csv")
    out, _ = output_of(*arguments, files=files)
    assert out == "date,host\n2026-11-01,alpha\n"


def test_runs_from_a_folder_are_chosen_by_the_labels_of_their_files(tmp_path: Path) -> None:
    arguments = parser().parse_args(
        ["x", *LABEL, "--where=host == alpha", "--compare-label=date=2026-11-01"]
    )
    options = LabelOptions.of(arguments, [])
    folder = str(tmp_path)
    assert options.choose([folder]) == [folder]
    assert options.sides([folder]) == ([folder], [folder])
    profile = pa.load_runs(list(TIMES))
    for is_baseline, processes in ((True, [0]), (False, [2, 3])):
        labelled = options.labelled(profile, [folder], is_baseline=is_baseline)
        assert [run.process for run in labelled.runs] == processes


def test_a_table_gives_labels(tmp_path: Path) -> None:
    rows = [f"{name},{number}" for number, name in enumerate(TIMES)]
    (tmp_path / "labels.csv").write_text("\n".join(["file,commit", *rows]))
    outcome = run_command(
        *TIMES,
        *("--label=labels.csv", "--aggregate-by=commit", "--columns=commit,count"),
        *("--where=commit > 1", "--format=csv"),
    )
    assert outcome.out.split() == ["commit,count", "2,2", "3,2"]


def test_labels_need_no_second_file() -> None:
    (first, *_) = TIMES
    out, _ = output_of("--aggregate-by=date", "--columns=date,runs", "--format=csv", files=[first])
    assert out == "date,runs\n2026-11-01,1\n"


def test_a_comparison_by_label_needs_labels() -> None:
    outcome = run_command(*TIMES, "--compare-label=date=1")
    assert outcome.err == (
        "profile_analyze: error: --compare-label needs --label, which says where labels come "
        "from: --label 'nightly/{date}/*.json'\n"
    )

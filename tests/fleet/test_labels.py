"""Labels in data sets: exported, read back, used in questions, and as columns of SQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import parquet as pq

import profile_analyze as pa
from profile_analyze.fleet.exporting import export
from profile_analyze.fleet.parts import parts_of
from profile_analyze.readers.input.content import MAX_SIZE
from tests.conftest import FIXTURES, run_command
from tests.fleet.test_data_sets import small, write
from tests.small import Operator, document

ERROR = "profile_analyze: error: "
FOLDERS = ("nightly/1/a", "nightly/1/b", "nightly/2/a", "nightly/2/b")
PATTERN = ("--label", "nightly/{date}/{host}/*.json")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Five files of two dates and two hosts; the last one has no labels."""
    monkeypatch.chdir(tmp_path)
    names = []
    for number, folder in enumerate(FOLDERS):
        Path(folder).mkdir(parents=True)
        operators = [Operator("conv", "Conv", number + 1.0, work=(100, 10))]
        # Operators that only some files have must not appear in answers about the others.
        if folder != FOLDERS[0]:
            operators.append(Operator("more", "Relu", number + 2.0, shape=[number]))
        write(Path(folder), "run.json", document(operators))
        names.append(f"{folder}/run.json")
    small(tmp_path, "other.json", 9.0)
    return [*names, "other.json"]


QUESTIONS = (
    ("--aggregate-by", "date", "-t", "0", "--format", "csv"),
    ("--aggregate-by", "host,type", "--format", "json", "--notes", "all"),
    ("--where", "date == 1", "-t", "0", "--columns", "all", "--notes", "all"),
    ("--where", "host == b", "--where", "date >= 2", "-t", "0", "--format", "plain"),
    ("--compare-label", "date=1", "-t", "0", "--columns", "all", "--notes", "all"),
    ("--compare-label", "host=b", "--where", "date == 2", "--format", "json"),
    ("--explain", "date"),
)


@pytest.mark.slowest
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one[0])
def test_a_data_set_with_labels_answers_as_the_files_do(
    files: list[str], question: tuple[str, ...]
) -> None:
    exported = run_command(*files, "--export", "set", *PATTERN)
    assert (exported.code, exported.out, exported.err) == (
        0,
        "set: added 5 profiles; now 5 profiles\n",
        "note: without the labels date and host: 1 of 5 files, such as other.json\n",
    )
    expected = run_command(*files, *question, *PATTERN)
    assert run_command("set", *question) == expected
    assert run_command("set", *question, *PATTERN) == expected


@pytest.mark.slowest
def test_a_data_set_in_a_list_or_a_pattern_has_its_labels(files: list[str]) -> None:
    run_command(*files, "--export", "set", *PATTERN)
    Path("list").write_text("# all nights\nset\n", encoding="utf-8")
    for question in (
        ("--aggregate-by", "date", "--format", "csv"),
        ("--where", "date >= 2", "--format", "csv"),
        ("--compare-label", "date=1", "--format", "csv"),
        ("--sql", "select distinct date from runs order by 1", "--format", "csv"),
    ):
        expected = run_command("set", *question)
        assert expected.code == 0
        assert [run_command(name, *question) for name in ("@list", "se*", "se[t]")] == [
            expected
        ] * 3


def test_labels_are_columns_of_runs_and_of_sql(files: list[str]) -> None:
    run_command(*files, "--export", "set", *PATTERN)
    query = "select date, host, count(*) as n from operators group by all order by all"
    expected = "date,host,n\r\n1,a,1\r\n1,b,2\r\n2,a,2\r\n2,b,2\r\n,,1\r\n"
    for call in (("set",), (*files, *PATTERN)):
        outcome = run_command(*call, "--sql", query, "--format", "csv")
        assert (outcome.code, outcome.out) == (0, expected)
        runs = run_command(*call, "--sql", "select file, date, host from runs", "--format", "csv")
        assert runs.out.split("\r\n")[1] == "nightly/1/a/run.json,1,a"
    table = pq.read_table("set/part=000002/runs.parquet")
    assert table.select(["label.date", "label.host"]).to_pylist() == [
        {"label.date": "1", "label.host": "b"}
    ]
    meaning = table.schema.field("label.date").metadata[b"meaning"]
    assert meaning == b"the label date of the file"


def test_a_label_with_the_name_of_a_column_of_sql_has_a_longer_name(files: list[str]) -> None:
    label = ("--label", "nightly/{Process}/{label_process}/*.json")
    query = "select label_Process, label_label_process from runs order by all limit 1"
    outcome = run_command(*files[:2], *label, "--sql", query, "--format", "csv")
    assert outcome.out.split("\r\n")[1] == "1,a", outcome.err


def test_files_with_the_same_labels_share_parts(files: list[str]) -> None:
    small(Path(FOLDERS[0]), "later.json", 7.0)
    run_command(*files, "nightly/1/a/later.json", "--export", "set", *PATTERN)
    sources = [[one.name for one in part.manifest.sources] for part in parts_of("set")]
    assert sources == [
        ["nightly/1/a/run.json", "nightly/1/a/later.json"],
        *([file] for file in files[1:]),
    ]


def test_labels_of_a_call_override_stored_labels(files: list[str]) -> None:
    run_command(*files, "--export", "set", *PATTERN)
    question = ("--aggregate-by", "date,host", "-t", "0", "--columns", "date,host")
    outcome = run_command("set", "--label", "nightly/{host}/*/*.json", *question, "--format", "csv")
    assert outcome.out == "date,host\r\n1,1\r\n2,2\r\n,\r\n"


def test_a_question_that_would_divide_a_part_is_refused(files: list[str]) -> None:
    run_command(*files, "--export", "set")
    outcome = run_command("set", *PATTERN, "--where", "date == 2")
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"{ERROR}a data set can be divided only by the labels that its files had when they were "
        "exported: nightly/2/a/run.json meets 'date == 2' and nightly/1/a/run.json does not, but both are in one "
        "part; export the files to a new data set with --label\n",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--where", "date == 3"),
            "argument --where: no file meets 'date == 3'; the values of date are 1, 2",
        ),
        (
            ("--compare-label", "date=3"),
            "argument --compare-label: no file has date 3; the values of date are 1, 2",
        ),
        (
            ("--compare-label", "build=3"),
            "argument --compare-label: there is no label 'build'; the labels are date, host",
        ),
        (
            ("--export", "other", "--label", "{a}/{b}/{c}/no/*.json"),
            "set: is a data set already; --export takes the files themselves",
        ),
    ],
)
def test_wrong_questions_get_one_line(
    files: list[str], options: tuple[str, ...], message: str
) -> None:
    run_command(*files, "--export", "set", *PATTERN)
    outcome = run_command("set", *options)
    assert (outcome.code in (1, 2), outcome.out, outcome.err) == (True, "", f"{ERROR}{message}\n")


def test_compare_label_needs_labels(files: list[str]) -> None:
    run_command(*files, "--export", "set")
    outcome = run_command("set", "--compare-label", "date=1")
    assert (outcome.code, outcome.err) == (
        2,
        f"{ERROR}--compare-label needs --label, because the data set has no labels: --label "
        "'nightly/{date}/*.json'\n",
    )


def test_a_pattern_that_fits_no_file_exports_nothing(files: list[str]) -> None:
    outcome = run_command(*files[:1], "--export", "set", "--label", "daily/{date}/*.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"{ERROR}argument --label: 'daily/{{date}}/*.json' fits none")
    assert not Path("set").exists()


def test_the_number_of_combinations_is_limited(tmp_path: Path) -> None:
    files = [str(tmp_path / f"{n}.json") for n in range(1001)]
    labels = {file: {"n": file} for file in files}
    message = (
        "the files have 1,001 different combinations of labels, "
        "and an export may have at most 1,000;"
    )
    with pytest.raises(pa.QueryError, match=message):
        export(str(tmp_path / "set"), files, max_size=MAX_SIZE, labels=labels)


def test_the_ranks_of_a_job_have_the_labels_that_they_share(tmp_path: Path) -> None:
    ranks = [str(FIXTURES / "pytorch" / name) for name in ("gpu.json", "gpu-rank1.json")]
    table = tmp_path / "labels.csv"
    rows = [f"{ranks[0]},job1,a", f"{ranks[1]},job1,b"]
    table.write_text("\n".join(["file,job,host", *rows]) + "\n", encoding="utf-8")
    label = ("--label", str(table))
    question = ("--aggregate-by", "job,host", "-t", "0", "--format", "csv")
    data_set = str(tmp_path / "set")
    assert run_command(*ranks, "--export", data_set, *label).code == 0
    expected = run_command(*ranks, *label, *question).out
    assert expected.count("job1") == 1
    assert run_command(data_set, *question).out == expected


@pytest.mark.parametrize("name", ['a"', "", "a b", "a\\n"])
def test_an_invalid_name_of_a_label_is_damage(files: list[str], name: str) -> None:
    run_command(*files, "--export", "set", *PATTERN)
    manifest = Path("set/part=000001/_part.json")
    content = json.loads(manifest.read_bytes())
    content["facts"]["labels"] = {name: "1"}
    manifest.write_text(json.dumps(content), encoding="utf-8")
    outcome = run_command("set", "--sql", "from runs")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"{ERROR}set: the data set is damaged: part=000001: ")

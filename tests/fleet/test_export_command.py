"""The option `--export`: what it prints, what it refuses, and data sets that are damaged."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow  # noqa: ICN001  # `pa` is this package
import pytest
from pyarrow import parquet as pq

import profile_analyze as pa
from profile_analyze.fleet.exporting import export
from profile_analyze.model.findings import Finding
from profile_analyze.readers.input.content import MAX_SIZE
from tests.conftest import FIXTURES, ROOT, Outcome, run_command
from tests.fleet.test_data_sets import exported, small
from tests.remote_files import in_memory

if TYPE_CHECKING:
    from collections.abc import Callable

ERROR = "profile_analyze: error: "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which has three profiles."""
    monkeypatch.chdir(tmp_path)
    for name, time_us in (("a.json", 1.0), ("b.json", 2.0), ("c.json", 3.0)):
        small(tmp_path, name, time_us)
    return tmp_path


def as_tuple(outcome: Outcome) -> tuple[int, str, str]:
    return outcome.code, outcome.out, outcome.err


def names_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir() if path.name != ".lock")


@pytest.mark.usefixtures("folder")
def test_export_says_what_it_added() -> None:
    first = run_command("a.json", "b.json", "--export", "set")
    assert as_tuple(first) == (0, "set: added 2 profiles; now 2 profiles\n", "")
    second = run_command("c.json", "--export", "set")
    assert as_tuple(second) == (0, "set: added 1 profile; now 3 profiles\n", "")
    question = ("--aggregate-by", "file", "--format", "csv", "--columns", "file,time", "-t", "0")
    assert (
        run_command("set", *question).out
        == run_command("a.json", "b.json", "c.json", *question).out
    )


def test_files_with_contents_that_the_data_set_has_are_left_out(folder: Path) -> None:
    run_command("a.json", "--export", "set")
    (folder / "copy.json.gz").write_bytes(gzip.compress((folder / "a.json").read_bytes()))
    outcome = run_command("b.json", "a.json", "copy.json.gz", "b.json", "--export", "set")
    assert as_tuple(outcome) == (
        0,
        "set: added 1 profile; now 2 profiles\n",
        "note: left out 2 files whose content is already in set or in an earlier file: a.json and "
        "1 more\n"
        "note: b.json is named more than once, and counts once\n",
    )
    nothing = run_command("a.json", "--export", "set")
    assert as_tuple(nothing) == (
        0,
        "set: added 0 profiles; now 2 profiles\n",
        "note: left out 1 file whose content is already in set or in an earlier file: a.json\n",
    )
    twice = run_command("a.json", "a.json", "--export", "new")
    assert as_tuple(twice) == (
        0,
        "new: added 1 profile; now 1 profile\n",
        "note: a.json is named more than once, and counts once\n",
    )


def test_a_bad_file_adds_nothing_unless_it_is_skipped(folder: Path) -> None:
    (folder / "bad.json").write_text('{"graph_exec": 1}', encoding="utf-8")
    refused = run_command("a.json", "bad.json", "--export", "set")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(f"{ERROR}bad.json: ")
    assert names_in("set") == ["_profile_analyze.json"]
    skipped = run_command("a.json", "bad.json", "--skip-bad", "--export", "set")
    assert as_tuple(skipped)[:2] == (0, "set: added 1 profile; now 1 profile\n")
    assert "left out 1 file that cannot be read" in skipped.err
    # A bad file is not remembered, so a repaired one is added.
    small(folder, "bad.json", 9.0)
    assert as_tuple(run_command("bad.json", "--export", "set"))[1].endswith("now 2 profiles\n")


def test_a_whole_part_of_bad_files_is_skipped(folder: Path) -> None:
    bad = [f"bad{n}.json" for n in range(3)]
    for name in bad:
        (folder / name).write_text(f"no profile: {name}", encoding="utf-8")
    files = ["a.json", *bad, "b.json"]
    outcome = export("set", files, max_size=MAX_SIZE, files_per_part=1, skip_bad=True)
    assert (outcome.added, outcome.files) == (2, 2)
    (note,) = outcome.notes
    assert isinstance(note, Finding)
    assert (note.code, note["files"], note["first"]) == ("unread-files", 3, "bad0.json")
    assert names_in("set") == ["_profile_analyze.json", "part=000001", "part=000002"]
    # If all files beside a data set are bad, the answer is about the data set.
    beside = run_command("set", *bad, "--skip-bad", "--format", "json")
    left_out = json.loads(beside.out)["profile"]["left_out"]
    assert (beside.code, [one["file"] for one in left_out]) == (0, bad)
    # Without a data set, the first bad file is an error.
    for call in ((*bad, "--export", "new"), bad):
        nothing = run_command(*call, "--skip-bad")
        assert (nothing.code, nothing.out) == (1, "")
        assert nothing.err.startswith(f"{ERROR}bad0.json: ")


def test_a_bad_file_stops_an_export_of_several_parts(folder: Path) -> None:
    (folder / "bad.json").write_text('{"graph_exec": 1}', encoding="utf-8")
    with pytest.raises(pa.InputError, match=r"^bad\.json: "):
        exported(folder / "set", ["a.json", "bad.json"], files_per_part=1)
    assert names_in("set") == ["_profile_analyze.json"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ("a.json", "--export", "."),
            ".: is a folder with other files; --export needs a new or an empty folder, or a data "
            "set",
        ),
        (
            ("-", "--export", "set"),
            "--export needs the names of files; save standard input to a file",
        ),
        (
            ("pipe", "--export", "set"),
            "pipe: is a pipe, and --export reads files twice; save it to a file",
        ),
        (
            ("full", "--export", "set"),
            "full: is a data set already; --export takes the files themselves",
        ),
        (
            ("a.json", "--export", "a.csv"),
            "argument --export: a.csv: takes the folder of a data set; -o a.csv writes an answer",
        ),
        (
            ("a.json", "--export", "set", "--aggregate-by", "type"),
            "--export adds profiles to a data set, so --aggregate-by has no effect; leave one out",
        ),
        (
            ("a.json", "--export", "text"),
            "text: file exists; a file has this name already, so use another name",
        ),
    ],
)
def test_wrong_inputs_and_folders_are_refused(
    folder: Path, call: tuple[str, ...], message: str
) -> None:
    exported(folder / "full", ["b.json"])
    (folder / "text").write_text("no folder", encoding="utf-8")
    os.mkfifo(folder / "pipe")
    outcome = run_command(*call)
    assert (outcome.code in (1, 2), outcome.out, outcome.err) == (True, "", f"{ERROR}{message}\n")


@pytest.mark.usefixtures("folder")
def test_a_model_that_has_not_run_is_refused() -> None:
    model = str(FIXTURES / "classifiers" / "classifier.onnx")
    outcome = run_command(model, "--export", "set")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"{ERROR}{model} is a model that has not run")
    assert names_in("set") == ["_profile_analyze.json"]


def test_a_name_that_is_not_valid_unicode_is_refused(folder: Path) -> None:
    name = os.fsdecode(b"\xff.json")
    (folder / "a.json").rename(folder / name)
    outcome = run_command(name, "--export", "set")
    assert (outcome.code, outcome.out, outcome.err) == (
        1,
        "",
        f"{ERROR}\\udcff.json: a data set cannot hold this file, or one of the files after it, "
        "because of a name that is not valid Unicode: '\\udcff.json'\n",
    )


PART = Path("set") / "part=000001"
READS_EXECUTIONS = ("--aggregate-by", "track")
"""A question that the stored times cannot answer."""
DAMAGED = "set: the data set is damaged: "
ADVICE = "; export its files to a new folder"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    """Change a bit of the first page, after the magic bytes."""
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        (PART / "runs.parquet", cut, f"{DAMAGED}part=000001: runs.parquet has "),
        (PART / "operators.parquet", flip, f"{DAMAGED}part=000001: "),
        (PART / "tracks.parquet", Path.unlink, f"{DAMAGED}part=000001/tracks.parquet: no such "),
        (PART / "_part.json", cut, f"{DAMAGED}part=000001: Input data was truncated{ADVICE}"),
        (
            PART / "_part.json",
            lambda path: path.write_text('{"more": ' + "[" * 100_000, encoding="utf-8"),
            f"{DAMAGED}part=000001: maximum recursion depth exceeded",
        ),
        (PART / "_part.json", Path.unlink, f"{DAMAGED}part=000001/_part.json: no such file"),
        (
            Path("set") / "_profile_analyze.json",
            lambda path: path.write_text('{"version": 2}', encoding="utf-8"),
            "set: is a data set of version 2, and this version of profile_analyze reads version 1; "
            "install the version that wrote it, or export the files again\n",
        ),
        (
            Path("set") / "_profile_analyze.json",
            lambda path: path.write_text("{}", encoding="utf-8"),
            f"{DAMAGED}_profile_analyze.json: Object missing required field `version`{ADVICE}\n",
        ),
    ],
)
def test_damage_is_recognised(
    folder: Path, file: Path, damage: Callable[[Path], None], message: str
) -> None:
    exported(folder / "set", ["a.json", "b.json"])
    damage(file)
    outcome = run_command("set")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert outcome.err.startswith(f"{ERROR}{message}")


@pytest.mark.slowest
def test_no_flipped_bit_changes_the_answer(folder: Path) -> None:
    exported(folder / "set", ["a.json", "b.json"])
    expected = run_command("set", "-t", "0", "--columns", "all", "--notes", "all")
    file = PART / "executions.parquet"
    content = file.read_bytes()
    outcomes = set()
    for position in range(4, 600, 5):
        file.write_bytes(
            content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]
        )
        outcome = run_command("set", "-t", "0", "--columns", "all", "--notes", "all")
        is_error = outcome.code == 1 and outcome.err.startswith(f"{ERROR}{DAMAGED}part=000001: ")
        assert is_error or outcome == expected
        outcomes.add(outcome.code)
    assert 1 in outcomes


def test_tables_that_do_not_belong_together_are_recognised(folder: Path) -> None:
    exported(folder / "set", ["a.json"])
    exported(folder / "other", ["a.json", "b.json"])
    for name in ("executions.parquet", "_part.json"):
        (PART / name).write_bytes((Path("other") / "part=000001" / name).read_bytes())
    outcome = run_command("set")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"{ERROR}{DAMAGED}part=000001: ")


@pytest.mark.parametrize(
    ("table", "column", "reason"),
    [
        ("executions", "operator", "executions: operator has indices from 98 to 98, but the "),
        ("executions", "track", "executions: track has indices from 98 to 98, but the "),
        ("executions", "run", "executions: run has indices from 98 to 98, but the "),
        ("executions", "parent", "executions: parent has indices from 98 to 98, but the "),
        ("runs", "process", "a table refers to processes that do not exist"),
    ],
)
def test_a_reference_to_a_row_that_does_not_exist_is_recognised(
    folder: Path, table: str, column: str, reason: str
) -> None:
    exported(folder / "set", ["a.json"])
    replaced(table, with_row_number_99(column))
    outcome = run_command("set", *READS_EXECUTIONS)
    assert outcome.err.startswith(f"{ERROR}{DAMAGED}part=000001: {reason}")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)


def with_row_number_99(column: str) -> Callable[[pyarrow.Table], pyarrow.Table]:
    """Return a function that lets a column refer to a row that does not exist."""

    def changed(table: pyarrow.Table) -> pyarrow.Table:
        wrong = pyarrow.array([99] * len(table), pyarrow.int32())
        index = table.column_names.index(column)
        return table.set_column(index, table.schema.field(column), wrong)

    return changed


@pytest.mark.parametrize(
    ("table", "column", "what"),
    [
        ("tracks", "rank", "rank"),
        ("tracks", "threads", "number of threads"),
        ("origin", "averaged_over", "number of inferences"),
    ],
)
def test_a_negative_number_is_recognised(folder: Path, table: str, column: str, what: str) -> None:
    exported(folder / "set", ["a.json"])

    def negative(rows: pyarrow.Table) -> pyarrow.Table:
        wrong = pyarrow.array([-1] * len(rows), pyarrow.int64())
        index = rows.column_names.index(column)
        return rows.set_column(index, rows.schema.field(column), wrong)

    replaced(table, negative)
    message = f"{DAMAGED}part=000001: a {what} is negative{ADVICE}"
    assert run_command("set") == Outcome(1, "", f"{ERROR}{message}\n")


def test_the_inconsistent_part_is_named(folder: Path) -> None:
    exported(folder / "set", ["a.json"])
    exported(folder / "sound", ["c.json"])

    def negative(rows: pyarrow.Table) -> pyarrow.Table:
        wrong = pyarrow.array([-1.0] * len(rows))
        index = rows.column_names.index("duration_s")
        return rows.set_column(index, rows.schema.field(index), wrong)

    replaced("executions", negative)
    reason = "executions: duration_s is negative or infinite"
    for names in (["set"], ["b.json", "sound", "set"]):
        outcome = run_command(*names, *READS_EXECUTIONS)
        assert outcome.err.startswith(f"{ERROR}{DAMAGED}part=000001: {reason}{ADVICE}")
        assert (outcome.code, outcome.out) == (1, "")


def test_a_stored_note_without_files_is_damage(folder: Path) -> None:
    exported(folder / "set", ["a.json"])
    manifest = json.loads((PART / "_part.json").read_text(encoding="utf-8"))
    note = {"text": "x", "importance": 1, "dropped_beside": "", "files": []}
    manifest["facts"]["notes"].append(note)
    (PART / "_part.json").write_text(json.dumps(manifest), encoding="utf-8")
    outcome = run_command("set")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert "Expected `array` of length >= 1" in outcome.err


def replaced(table: str, change: Callable[[pyarrow.Table], pyarrow.Table]) -> None:
    """Write a table of the part `PART` again, with its new size in the manifest."""
    file = PART / f"{table}.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    manifest = json.loads((PART / "_part.json").read_bytes())
    manifest["sizes"][table] = file.stat().st_size
    (PART / "_part.json").write_text(json.dumps(manifest), encoding="utf-8")


def with_long_names(tracks: pyarrow.Table) -> pyarrow.Table:
    """Return 200 tracks that share a long name. A Parquet file stores the name once."""
    many = pyarrow.concat_tables([tracks] * 200)
    names = pyarrow.array(["x" * 10_000] * len(many))
    return many.set_column(1, tracks.schema.field("name"), names)


@pytest.mark.slowest
@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("executions", lambda rows: pyarrow.concat_tables([rows] * 10_000)),
        ("tracks", with_long_names),
    ],
)
def test_a_small_file_that_expands_is_refused(
    folder: Path, table: str, change: Callable[[pyarrow.Table], pyarrow.Table]
) -> None:
    exported(folder / "set", ["a.json"])
    replaced(table, change)
    assert (PART / f"{table}.parquet").stat().st_size < 30_000
    outcome = run_command("set", "--max-size", "1MiB", *READS_EXECUTIONS)
    message = f"set: part=000001/{table}.parquet holds more than 1.00 MiB, decompressed"
    expected = f"{ERROR}{message}; --max-size raises the limit\n"
    assert outcome == Outcome(1, "", expected)
    # Without the limit, both tables are read. The manifest has the number of executions before the
    # change, so the changed executions are an error.
    outcome = run_command("set", *READS_EXECUTIONS)
    differs = f"{ERROR}{DAMAGED}part=000001: the manifest describes other executions{ADVICE}\n"
    expected_error = differs if table == "executions" else ""
    assert (outcome.code, outcome.err) == (1 if expected_error else 0, expected_error)


@pytest.mark.parametrize("name", ["_profile_analyze.json", "part=000001/_part.json"])
def test_manifests_have_the_size_limit_of_profiles(folder: Path, name: str) -> None:
    data_set = Path(exported(folder / "set", ["a.json"]))
    manifest = data_set / name
    manifest.write_bytes(manifest.read_bytes() + b" " * (3 << 20))
    files = {
        f"set/{path.relative_to(data_set).as_posix()}": path.read_bytes()
        for path in data_set.rglob("*")
        if path.is_file()
    }
    reason = f"{name} holds more than 3.00 MiB, decompressed; --max-size raises the limit"
    with in_memory(files):
        for data_set_name in ("set", "memory://set"):
            for question in ((), ("--label", "{x}/*")):
                outcome = run_command(data_set_name, "--max-size", "3MiB", *question)
                assert outcome == Outcome(1, "", f"{ERROR}{data_set_name}: {reason}\n")
            assert run_command(data_set_name, "--max-size", "4MiB").code == 0
    outcome = run_command("b.json", "--export", "set", "--max-size", "3MiB")
    assert outcome == Outcome(1, "", f"{ERROR}set: {reason}\n")


TEXT = "[1]"
"""Valid JSON, but not a list of shapes."""


def with_column(name: str, values: list[Any]) -> Callable[[pyarrow.Table], pyarrow.Table]:
    """Return a function that sets a column of a table, or adds it."""

    def changed(table: pyarrow.Table) -> pyarrow.Table:
        column = pyarrow.array(values)
        if name not in table.column_names:
            return table.append_column(name, column)
        if TEXT in values:
            column = column.dictionary_encode()  # as texts in data sets are
        index = table.column_names.index(name)
        field = pyarrow.field(name, column.type, metadata=table.schema.field(name).metadata)
        return table.set_column(index, field, column)

    return changed


@pytest.mark.parametrize(
    ("table", "change", "reason"),
    [
        ("executions", with_column("more", [["x"]]), "the column more has the type list<"),
        ("executions", with_column("more", [b"x"]), "the column more has the type binary"),
        ("executions", with_column("more", [TEXT]), "the column more has the type string"),
        ("executions", with_column("run", [1.5]), "the column run has the type double"),
        ("origin", with_column("format", [True]), "the column format has the type bool"),
        ("operators", with_column("in_shapes", [TEXT]), "Expected `array`, got `int`"),
        ("operators", with_column("in_shapes", [1.0]), "the JSON object must be str"),
        ("tracks", lambda rows: rows.drop_columns(["clock"]), "clock is missing"),
        ("runs", lambda rows: rows.drop_columns(["run"]), "runs.parquet has no column run"),
        ("origin", lambda rows: rows.slice(0, 0), "the table origin is empty"),
    ],
)
def test_tables_of_another_structure_are_recognised(
    folder: Path, table: str, change: Callable[[pyarrow.Table], pyarrow.Table], reason: str
) -> None:
    exported(folder / "set", ["a.json"])
    replaced(table, change)
    outcome = run_command("set", "-t", "0", "--columns", "all")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"{ERROR}{DAMAGED}part=000001: {reason}")


def test_an_unfinished_export_is_ignored(folder: Path) -> None:
    exported(folder / "set", ["a.json"])
    expected = run_command("set")
    unfinished = folder / "set" / ".unfinished-x" / "0"
    unfinished.mkdir(parents=True)
    (unfinished / "_part.json").write_bytes((PART / "_part.json").read_bytes())
    assert run_command("set") == expected
    # The next export removes the unfinished files of a process that died long ago.
    os.utime(unfinished.parent, (0, 0))
    exported(folder / "set", ["b.json"])
    assert names_in("set") == ["_profile_analyze.json", "part=000001", "part=000002"]


def test_a_data_set_without_profiles_is_an_error(folder: Path) -> None:
    (folder / "set").mkdir()
    manifest = {"version": 1, "format": "profile_analyze data set"}
    (folder / "set" / "_profile_analyze.json").write_text(json.dumps(manifest), encoding="utf-8")
    outcome = run_command("set")
    assert (outcome.code, outcome.out, outcome.err) == (
        1,
        "",
        f"{ERROR}set: is a data set without profiles, because no export to it finished; --export "
        "adds some\n",
    )


def test_a_data_set_can_be_a_baseline_and_can_be_read_with_files(folder: Path) -> None:
    exported(folder / "set", ["a.json", "b.json"])
    compared = ("--format", "csv", "--columns", "name,time,base")
    assert run_command("c.json", "--compare", "set", *compared) == run_command(
        "c.json", "--compare", "a.json", "b.json", *compared
    )
    # A list of files can name the data set, too.
    (folder / "list").write_text("set\nc.json\n", encoding="utf-8")
    whole = ("--format", "json", "-t", "0")
    assert run_command("@list", *whole) == run_command("a.json", "b.json", "c.json", *whole)


def test_the_sessions_in_the_documentation_are_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sessions write a data set, so they run in a temporary folder."""
    monkeypatch.chdir(tmp_path)
    for name, runs in (("monday", "base"), ("tuesday", "changed")):
        Path(name).symlink_to(FIXTURES / "runs" / runs)
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    sessions = re.findall(r"^```text\n(\$ .*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(sessions) == 2
    for session in sessions:
        commands = re.findall(r"^\$ profile-analyze (.*)\n", session, re.MULTILINE)
        answers = ((one, run_command(*shlex.split(one))) for one in commands)
        printed = [f"$ profile-analyze {one}\n{answer.out}{answer.err}" for one, answer in answers]
        assert "".join(printed) == session

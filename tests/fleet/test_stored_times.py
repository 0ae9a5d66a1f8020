"""The stored times of a data set equal the times of its executions, and answer most questions."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from profile_analyze.fleet.loading import load_with_data_sets
from profile_analyze.fleet.parquet import read_table
from profile_analyze.fleet.parts import partial_of, parts_of
from profile_analyze.fleet.times_table import times_of
from profile_analyze.model.deferred_executions import DeferredExecutions
from profile_analyze.model.executions import Run
from profile_analyze.model.stored_times import CALLS, RESULTS
from profile_analyze.readers.input.many import load_runs
from tests.conftest import FIXTURES, run_command
from tests.fleet.test_data_sets import exported, small, write
from tests.fleet.test_export_command import replaced, with_row_number_99
from tests.in_memory import profile_of
from tests.remote_files import counting
from tests.small import Operator, document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from profile_analyze.model.terms import Side

SIDES: tuple[Side, ...] = ("device", "host")
FLAT = {
    "one model": ("profiles/resnet18.json", "profiles/resnet18-onlywait.json"),
    "several models": ("profiles/mobilenet.json", "profiles/tiny.json", "profiles/resnet18.json"),
    "several runs": ("onnxruntime/squeezenet-1.31.json.gz", "onnxruntime/qdq-1.31.json"),
    "several tracks": ("profiles/twocn.json", "tflite/delegates-old.txt"),
}
"""Profiles without nested executions."""
TYPES = ("-t", "5", "--aggregate-by", "type", "--show-host", "--format", "plain")


@pytest.fixture
def two_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a data set `set` of three files in two parts, and go to its folder."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        small(tmp_path, f"{number}.json", 1.0 + number)
    exported(Path("set"), [f"{number}.json" for number in range(3)], files_per_part=2)
    return tmp_path


def parts(data_set: str) -> Iterator[Path]:
    return Path(data_set).glob("part=*")


@pytest.mark.parametrize("name", FLAT)
def test_stored_times_equal_the_times_of_the_executions(tmp_path: Path, name: str) -> None:
    files = [str(FIXTURES / file) for file in FLAT[name]]
    expected = load_runs(files)
    (part,) = parts_of(exported(tmp_path / "set", files))
    content = partial_of(part)
    assert content.times is not None
    for result in RESULTS:
        computed = expected.calls() if result == CALLS else expected.measured(result)
        np.testing.assert_array_equal(content.times.read(result), computed)
    for side in SIDES:
        operators, tracks = content.times.executed_on(content.tracks, side)
        assert operators.tolist() == expected.recorded(side).tolist()
        assert {content.tracks[index] for index in np.flatnonzero(tracks)} == {
            expected.tracks[index] for index in expected.executed_tracks(side)
        }


@pytest.mark.usefixtures("two_parts")
def test_most_questions_do_not_read_the_executions() -> None:
    expected = run_command("set", *TYPES)
    for part in parts("set"):
        (part / "executions.parquet").unlink()
    assert run_command("set", *TYPES) == expected
    outcome = run_command("set", "--aggregate-by", "track")
    reason = "the data set is damaged: part=000001/executions.parquet: no such file or directory"
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"profile_analyze: error: set: {reason}")


@pytest.mark.usefixtures("two_parts")
def test_data_sets_without_stored_times_give_the_same_answers() -> None:
    expected = run_command("set", *TYPES)
    for part in parts("set"):
        (part / "times.parquet").unlink()
        changed_manifest(part, lambda manifest: manifest["facts"].pop("flat"))
        assert run_command("set", *TYPES) == expected  # also if only some parts lack the times


@pytest.mark.usefixtures("two_parts")
def test_the_manifest_says_whether_each_operator_ran_in_each_run() -> None:
    for part in parts_of("set"):
        assert part.manifest.facts.flat is not None
        assert (part.manifest.facts.flat.is_complete, part.manifest.facts.flat.each_calls) == (
            True,
            1.0,
        )
    (part,) = parts_of(incomplete_part())
    assert part.manifest.facts.flat is not None
    assert (part.manifest.facts.flat.is_complete, part.manifest.facts.flat.each_calls) == (
        False,
        None,
    )


def incomplete_part() -> str:
    """Make a data set with one part, in which two operators each ran in one of two runs."""
    write(Path(), "conv.json", document([Operator("conv", "Conv", 1.0)]))
    write(Path(), "pool.json", document([Operator("pool", "Pool", 2.0)]))
    return exported(Path("incomplete"), ["conv.json", "pool.json"])


def changed_manifest(part: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    manifest = json.loads((part / "_part.json").read_bytes())
    change(manifest)
    (part / "_part.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.usefixtures("two_parts")
@pytest.mark.parametrize(
    ("fact", "value", "reason"),
    [
        ("tracks", [9], "tuple index out of range"),
        # Numbers of operators start at 1, so operator 9 has index 8.
        ("device_operators", [9], "index 8 is out of bounds for axis 0 with size 1"),
        ("device_operators", [0], "Expected `int` >= 1 - at `$.facts.flat.device_operators[0]`"),
        ("executions", -1, "Expected `int` >= 0 - at `$.facts.flat.executions`"),
        ("executions", 1 << 31, "Expected `int` <= 2147483647 - at `$.facts.flat.executions`"),
        ("each_calls", 0, "Expected `float` > 0.0 - at `$.facts.flat.each_calls`"),
    ],
)
def test_wrong_facts_about_executions_are_recognised(fact: str, value: Any, reason: str) -> None:
    changed_manifest(
        Path("set/part=000001"), lambda manifest: manifest["facts"]["flat"].update({fact: value})
    )
    outcome = run_command("set")
    assert (outcome.code, outcome.out) == (1, "")
    assert f"damaged: part=000001: {reason}" in outcome.err


@pytest.mark.usefixtures("two_parts")
def test_a_wrong_number_of_executions_is_recognised_when_they_are_read() -> None:
    changed_manifest(
        Path("set/part=000001"),
        lambda manifest: manifest["facts"]["flat"].update({"executions": 1}),
    )
    assert run_command("set").code == 0
    outcome = run_command("set", "--aggregate-by", "track")
    assert (outcome.code, outcome.out) == (1, "")
    assert "damaged: part=000001: the manifest describes other executions" in outcome.err


@pytest.mark.usefixtures("two_parts")
@pytest.mark.parametrize("column", ["operator", "run"])
def test_times_of_rows_that_do_not_exist_are_recognised(column: str) -> None:
    incomplete_part()
    Path("set").rename("other")
    Path("incomplete").rename("set")
    replaced("times", with_row_number_99(column))
    outcome = run_command("set")
    assert (outcome.code, outcome.out) == (1, "")
    assert f"damaged: part=000001: times refers to {column}s that do not exist" in outcome.err


@pytest.mark.usefixtures("two_parts")
def test_executions_are_read_when_a_column_is_used() -> None:
    part, _ = parts_of("set")
    executions = partial_of(part).executions
    assert isinstance(executions, DeferredExecutions)
    moved = executions.renumbered(operators=np.array([7], np.int32), first_run=3)
    assert (len(moved), moved.are_flat) == (2, True)
    assert isinstance(moved, DeferredExecutions)
    assert not are_read(moved)
    assert (moved.operator.tolist(), moved.run.tolist()) == ([7, 7], [3, 4])
    assert are_read(moved)
    assert not are_read(executions)
    assert executions.changed(run=moved.run).operator.tolist() == [0, 0]
    with pytest.raises(AttributeError, match="other"):
        _ = executions.other


def are_read(executions: DeferredExecutions) -> bool:
    return executions.are_read  # without this function, mypy assumes that it never changes


@pytest.mark.usefixtures("two_parts")
@pytest.mark.parametrize(
    "question",
    [
        TYPES,
        ("--aggregate-by", "track"),
        ("--aggregate-by", "file"),
        ("--correct-drift",),
        ("--from", "1us"),
        ("--compare", "other"),
    ],
)
def test_no_question_reads_the_executions_of_a_part_twice(
    question: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(Path("other"), ["0.json"])
    read: list[str] = []

    def counting(file: Path, *rest: Any) -> Any:
        read.append(f"{file.parent.parent.name}/{file.parent.name}/{file.stem}")
        return read_table(file, *rest)

    monkeypatch.setattr("profile_analyze.fleet.parts.read_table", counting)
    run_command("set", *question)
    of_executions = [name for name in read if name.endswith("executions")]
    assert len(of_executions) == len({*of_executions})
    assert bool(of_executions) == (question != TYPES)


@pytest.mark.usefixtures("two_parts")
def test_a_data_set_of_one_file_has_stored_times() -> None:
    expected = run_command("0.json", *TYPES)
    exported(Path("one"), ["0.json"])
    Path("one/part=000001/executions.parquet").unlink()
    assert run_command("one", *TYPES) == expected


@pytest.mark.usefixtures("two_parts")
def test_a_store_gets_one_request_for_all_times() -> None:
    incomplete_part()
    files = {path.as_posix(): path.read_bytes() for path in Path("incomplete").rglob("*.*")}
    with counting(files) as requests:
        assert run_command("counting://incomplete", *TYPES).code == 0
    part = "cat_file /incomplete/part=000001"
    assert requests[f"{part}/times.parquet"] == 1
    assert requests[f"{part}/executions.parquet"] == 0


@pytest.mark.usefixtures("two_parts")
def test_a_profile_can_be_pickled_and_used_in_another_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profile = load_with_data_sets(["set"], data_sets=["set"])
    copy = pickle.loads(pickle.dumps(profile))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    expected = load_runs([str(tmp_path / f"{number}.json") for number in range(3)])
    for one in (profile, copy):
        np.testing.assert_array_equal(one.measured("time"), expected.measured("time"))
        np.testing.assert_array_equal(one.executions.run, expected.executions.run)


@pytest.mark.usefixtures("two_parts")
@pytest.mark.parametrize(
    ("column", "values", "reason"),
    [
        ("device_time_s", [-1.0, 1.0], "times: device_time_s is negative or infinite"),
        ("host_time_s", [float("inf"), 1.0], "times: host_time_s is negative or infinite"),
        ("run", [2, 2], "times: the rows are not in the order of operators and runs"),
    ],
)
def test_impossible_times_are_recognised(column: str, values: list[float], reason: str) -> None:
    part = Path("set/part=000001")
    table = pq.read_table(part / "times.parquet")
    index = table.column_names.index(column)
    field = table.schema.field(index)
    replaced("times", lambda _: table.set_column(index, field, pa.array(values, field.type)))
    if column == "run":
        # If the part is complete, the column `run` is not read.
        changed_manifest(part, lambda manifest: manifest["facts"]["flat"].update(is_complete=False))
    outcome = run_command("set")
    assert (outcome.code, outcome.out) == (1, "")
    assert f"damaged: part=000001: {reason}" in outcome.err


def test_operators_that_never_ran_do_not_make_a_part_incomplete(tmp_path: Path) -> None:
    file = str(FIXTURES / "profiles/resnet18.json")
    (part,) = parts_of(exported(tmp_path / "set", [file]))
    facts, content = part.manifest.facts.flat, partial_of(part)
    assert facts is not None
    assert content.times is not None
    assert facts.is_complete
    expected = load_runs([file])
    assert not expected.recorded("device").all()
    np.testing.assert_array_equal(content.times.read(CALLS), expected.calls())


def test_an_export_takes_no_memory_for_operators_in_runs_in_which_they_did_not_run() -> None:
    count = 1000
    profile = profile_of(
        [{"name": f"operator {number}"} for number in range(count)],
        [{"operator": number, "run": number, "duration_s": 1.0} for number in range(count)],
        runs=[Run()] * count,
    )
    tracemalloc.start()
    try:
        table, facts = times_of(profile)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(table), facts.is_complete) == (count, False)
    assert peak < count * count  # an array of floats would take 8 * count * count bytes

"""A data set gives the same answer to every question as the files that were added to it."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

import profile_analyze as pa
from profile_analyze.columns.catalog import all_optional_columns
from profile_analyze.fleet.exporting import export
from profile_analyze.fleet.loading import load_with_data_sets
from profile_analyze.fleet.parts import partial_of, parts_of
from profile_analyze.fleet.profile_tables import origins_of, origins_table
from profile_analyze.fleet.stored_profiles import CATEGORIES_OF
from profile_analyze.model.origin import Origin, RecordedFact
from profile_analyze.readers.input.content import MAX_SIZE
from tests.conftest import FIXTURES, PROFILES, ROOT, examples, run_command, some_of
from tests.readers.megengine_timeline.events import document as timeline
from tests.readers.megengine_timeline.events import op
from tests.readers.tiny_file import write_bytes
from tests.small import Operator, document
from tests.strategies import queries, runs_of_one

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS = (
    ("-t", "5", "--aggregate-by", "type", "--show-host", "--notes", "all"),
    ("-t", "0", "--columns", "all", "--format", "json"),
    ("-t", "0", "--aggregate-by", "run,track,phase,kernel", "--format", "plain"),
    ("-t", "0", "--level", "kernel", "--columns", "all", "--format", "csv"),
    ("--level", "module", "--work", "best", "--skip-runs", "1"),
    ("--format", "collapsed"),
    ("--inspect", "0"),
)
GROUPS = {
    "one": ("profiles/resnet18.json",),
    "different": ("profiles/mobilenet.json", "profiles/tiny.json", "profiles/names.json"),
    "without device times": ("profiles/resnet18-onlywait.json",),
    "python functions": ("pytorch/cnn-shapes.json.gz",),
    "ranks": ("pytorch/gpu.json", "pytorch/gpu-rank1.json"),
    "steps": ("megengine-timeline/train.json.gz",),
    "formats": (
        "pytorch/cnn-shapes.json.gz",
        "profiles/resnet18.json",
        "megengine-timeline/plain.json.gz",
    ),
}
GROUPS = {name: tuple(str(FIXTURES / file) for file in files) for name, files in GROUPS.items()}


def exported(folder: Path, files: Sequence[str], files_per_part: int = 1000) -> str:
    """Add `files` to the data set in `folder`, which may be new, and return its path."""
    export(str(folder), files, max_size=MAX_SIZE, files_per_part=files_per_part)
    return str(folder)


def write(folder: Path, name: str, content: dict[str, Any]) -> str:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return str(folder / name)


def small(folder: Path, name: str, time_us: float = 3.0) -> str:
    """Write a profile with one operator, and return its path."""
    return write(folder, name, document([Operator("conv", "Conv", time_us, shape=[2, 3])]))


@pytest.mark.slowest
@pytest.mark.parametrize("name", GROUPS)
def test_real_files_give_the_same_answers(tmp_path: Path, name: str) -> None:
    files = GROUPS[name]
    whole = exported(tmp_path / "whole", files)
    in_parts = exported(tmp_path / "parts", files, files_per_part=1)
    for question in QUESTIONS:
        expected = run_command(*files, *question)
        assert run_command(whole, *question) == expected
        assert run_command(in_parts, *question) == expected


def test_runs_that_do_not_fit_together_have_the_same_notes(tmp_path: Path) -> None:
    half = tmp_path / "half.json"
    whole = PROFILES / "smallcnn.json"
    content = json.loads(whole.read_text(encoding="utf-8").replace('"Float32"', '"Float16"'))
    for footprint in content["profiler"]["opr_footprint"].values():
        footprint["memory"] //= 2
    half.write_text(json.dumps(content), encoding="utf-8")
    of_dtypes = (str(whole), str(half))
    of_formats = tuple(
        str(FIXTURES / f"openvino/resnet50-2026.4.{suffix}.gz") for suffix in ("csv", "xml")
    )
    for files in (of_dtypes, of_formats):
        expected = pa.load_runs(files).notes_on_runs
        data_set = exported(tmp_path / Path(files[1]).stem, files)
        joined = load_with_data_sets([data_set], data_sets={data_set})
        assert joined.notes_on_runs == expected != ()


def test_an_origin_is_stored_without_loss() -> None:
    origin = Origin(
        *("format", "1.0", "mean", 3, "a CPU", True, "fusion renames operators"),
        (RecordedFact("latency_s", 1.5, "s", "latency", "mean"),),
    )
    assert origins_of(origins_table([origin])) == (origin,)
    assert len({*origin}) == len(origin)  # so that two exchanged fields would be noticed


@pytest.mark.parametrize("name", GROUPS)
def test_the_types_of_categories_are_known(name: str) -> None:
    for file in GROUPS[name]:
        columns = pa.load(file, wanted=all_optional_columns()).operators.optional.items()
        categorical = {one for one, values in columns if isinstance(values, pa.Categorical)}
        assert categorical <= CATEGORIES_OF.keys()


@pytest.mark.slow
@pytest.mark.parametrize("file", some_of(sorted(FIXTURES.glob("*/*.json*")), every=24), ids=str)
def test_each_file_gives_the_same_answers(tmp_path: Path, file: Path) -> None:
    if (
        run_command(str(file)).code != 0
        or "has not run" in run_command(str(file), "--export", str(tmp_path / "refused")).err
    ):
        pytest.skip("not a profile of a run")
    data_set = exported(tmp_path / "data set", [str(file)])
    for question in QUESTIONS:
        assert run_command(data_set, *question) == run_command(str(file), *question)


def answer_of(profile: pa.Profile, query: pa.Query) -> Any:
    """Return a whole answer, with its notes; or the error."""
    try:
        table = pa.run(query, profile)
        summary = pa.summarise(profile)
        return pa.render(pa.Report.of(summary, [table], source=profile), "json"), table.notes
    except pa.QueryError as error:
        return str(error)


@pytest.mark.slowest
@examples(40)
@given(runs=runs_of_one(), query=queries(), data=st.data())
def test_any_split_between_files_and_data_sets_gives_the_same_answer(
    runs: list[dict[str, Any]], query: pa.Query, data: st.DataObject
) -> None:
    # Equal files count once in a data set, but twice if the files themselves are named.
    texts = list(dict.fromkeys(json.dumps(run) for run in runs))
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [write(folder, f"{n}.json", json.loads(text)) for n, text in enumerate(texts)]
        which = data.draw(st.lists(st.integers(0, 2), min_size=len(files), max_size=len(files)))
        which[0] = which[0] or 1  # at least one data set; 0 stands for the files themselves
        names: list[str] = []
        for number, group in groupby(zip(which, files, strict=True), lambda pair: pair[0]):
            members = [file for _, file in group]
            if number == 0:
                names += members
            else:
                names.append(exported(folder / f"set{len(names)}", members, files_per_part=number))
        joined = load_with_data_sets(names, data_sets={*names}.difference(files))
        expected = pa.load(files[0]) if len(files) == 1 else pa.load_runs(files)
        assert answer_of(joined, query) == answer_of(expected, query)
        assert joined.notes == expected.notes
        assert joined.notes_on_runs == expected.notes_on_runs
        assert joined.unlike == expected.unlike


def test_a_file_of_several_processes_counts_once(tmp_path: Path) -> None:
    params = {"mode": "ADD"}
    events = [
        *op("ADD", 3, 10, 14, (12, 22), params=params),
        *op("ADD", 3, 10, 15, (12, 32), params=params, pid=8),
    ]
    file = write_bytes(tmp_path, timeline(*events))
    data_set = exported(tmp_path / "set", [file])
    again = run_command(file, "--export", data_set)
    assert again.out == f"{data_set}: added 0 profiles; now 1 profile\n"


def test_the_files_in_data_sets_are_counted_while_they_are_read(tmp_path: Path) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(7)]
    first = exported(tmp_path / "first", files[:3], files_per_part=2)
    second = exported(tmp_path / "second", files[3:5])
    calls: list[str] = []
    load_with_data_sets(
        [files[5], first, files[6], second],
        data_sets=[first, second],
        found=lambda number: calls.append(f"{number} found"),
        progress=lambda number: calls.append(f"{number} read"),
    )
    assert calls == ["3 found", "2 found", *(f"{n} read" for n in (1, 3, 4, 5, 7))]


def test_a_data_set_grows_without_changing_its_files(tmp_path: Path) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(3)]
    data_set = exported(tmp_path / "set", files[:1])
    before = {path: path.read_bytes() for path in Path(data_set).rglob("*.*")}
    exported(tmp_path / "set", files[1:])
    assert before == {path: path.read_bytes() for path in before}
    assert [part.folder.name for part in parts_of(data_set)] == ["part=000001", "part=000002"]
    question = ("-t", "0", "--aggregate-by", "file", "--format", "csv")
    assert run_command(data_set, *question) == run_command(*files, *question)


def test_two_exports_at_the_same_time_both_add_their_parts(tmp_path: Path) -> None:
    files = [small(tmp_path, f"{n}.json", n + 1.0) for n in range(2)]

    def read_while_another_exports(_: int) -> None:
        exported(tmp_path / "set", files[1:])

    export(str(tmp_path / "set"), files[:1], max_size=MAX_SIZE, progress=read_while_another_exports)
    found = [partial_of(part).processes for part in parts_of(str(tmp_path / "set"))]
    assert found == [(files[1],), (files[0],)]


def test_duckdb_alone_answers_the_query_in_the_documentation(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    query = text.partition("```sql\n")[2].partition("```")[0]
    files = [small(tmp_path, f"{n}.json", time_us) for n, time_us in enumerate((3.0, 4.0, 8.0))]
    data_set = exported(tmp_path / "set", files, files_per_part=2)
    with duckdb.connect() as connection:
        rows = connection.execute(query.replace("profiles.dataset", data_set)).fetchall()
    assert rows == [("Conv", 3, pytest.approx(15e-6), pytest.approx(4e-6))]


def test_tables_state_units_and_meanings(tmp_path: Path) -> None:
    data_set = exported(tmp_path / "set", [str(PROFILES / "tiny.json")])
    part = Path(data_set) / "part=000001"
    tables = {path.stem: pq.read_schema(path) for path in part.glob("*.parquet")}
    assert sorted(tables) == ["executions", "operators", "origin", "runs", "times", "tracks"]
    for schema in tables.values():
        assert all(field.metadata[b"meaning"] for field in schema)
    units = {field.name: field.metadata[b"unit"].decode() for field in tables["operators"]}
    assert {name: unit for name, unit in units.items() if unit not in ("", "count")} == {
        "computation": "FLO",
        "memory": "byte",
        "repetition": "1",
        "in_runs": "1",
    }

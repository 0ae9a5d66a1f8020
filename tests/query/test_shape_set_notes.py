"""The note on runs with different input shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.notes import Importance
from tests.conftest import run_command
from tests.readers.pytorch.events import document, event, op

if TYPE_CHECKING:
    from pathlib import Path

TRANSFORMER = "tests/fixtures/onnxruntime/transformer-1.31.json.gz"
START = "note: the runs have "


@pytest.mark.parametrize(
    ("options", "sets"),
    [
        ((), 3),
        (("--aggregate-by", "in_shapes"), 3),
        (("--skip-runs", "2"), 2),
        (("--skip-runs", "4"), None),
        (("--aggregate-by", "name"), None),
        (("--aggregate-by", "type"), None),
        (("--aggregate-by", "run"), None),
        (("--compare", TRANSFORMER), None),
    ],
)
def test_rows_of_different_shapes_have_a_note(options: tuple[str, ...], sets: int | None) -> None:
    lines = run_command(TRANSFORMER, *options, "--notes", "all").err.splitlines()
    found = [line for line in lines if line.startswith(START)]
    assert found == (
        [
            f"{START}{sets} sets of input shapes: a row covers only the runs with its shapes, and "
            f"its share is relative to the totals of these runs, so all shares add up to {sets}"
            "00.0%; --aggregate-by name joins the shapes, --aggregate-by run shows each run, and "
            "--skip-runs N leaves out the first runs"
        ]
        if sets
        else []
    )
    assert not sets or lines[0] == found[0]


def test_files_with_different_shapes_do_not_have_this_note() -> None:
    counters = "tests/fixtures/openvino/layers-f32-2026.4.csv.gz"
    graph = "tests/fixtures/openvino/layers-f32-2026.4.xml.gz"
    assert START not in run_command(counters, graph, "--notes", "all").err


def mm(start: int, size: int) -> Any:
    return op("mm", start, 50, **{"Input Dims": [[size]], "Input type": ["float"]})


def notes_on_steps(folder: Path, *events: Any) -> tuple[str, ...]:
    steps = [event("user_annotation", f"ProfilerStep#{step}", 100 * step, 99) for step in (1, 2)]
    file = folder / "a.json"
    file.write_bytes(document(*steps, *events))
    return pa.run(pa.Query(), pa.load(file)).notes


def test_operators_that_did_not_run_in_each_step_have_another_note(tmp_path: Path) -> None:
    found = notes_on_steps(tmp_path, mm(100, 1), mm(200, 1), mm(150, 2))
    assert found == (
        "1 operator ran in only some of the 2 runs: the times and the share of a row are of the "
        "runs in which it ran, so all shares add up to 116.7%; --aggregate-by run shows each run",
    )
    (other,) = notes_on_steps(tmp_path, mm(100, 1), mm(200, 3), mm(150, 2), mm(250, 4))
    assert other.startswith("the runs have 2 sets of input shapes: ")
    assert notes_on_steps(tmp_path, mm(100, 1), mm(200, 1)) == ()


@pytest.mark.parametrize("by", [(), "name"])
def test_the_note_is_more_important_if_it_is_about_a_shown_row(by: Any, tmp_path: Path) -> None:
    events = (op("mine", 100, 30), op("mine", 200, 30), op("other", 150, 20))
    steps = [event("user_annotation", f"ProfilerStep#{step}", 100 * step, 99) for step in (1, 2)]
    file = tmp_path / "a.json"
    file.write_bytes(document(*steps, *events))
    profile = pa.load(file)

    def importance(top: int) -> Importance:
        (note,) = pa.run(pa.Query(by=by, top=top), profile).notes
        assert note.startswith("1 operator ran in only some of the 2 runs: ")
        return note.importance

    assert (importance(1), importance(2)) == (Importance.CONTEXT, Importance.WRONG)

"""The note on runs with different input shapes."""

from __future__ import annotations

import pytest

from tests.conftest import run_command

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
            f"{START}{sets} sets of input shapes: a row covers only the runs of its shapes, and "
            f"its share is of their totals, so all shares add up to {sets}00.0%; --aggregate-by "
            "name joins the shapes, --aggregate-by run shows each run, and --skip-runs N leaves "
            "out the first runs"
        ]
        if sets
        else []
    )
    assert not sets or lines[0] == found[0]


def test_files_of_other_shapes_have_another_note() -> None:
    counters = "tests/fixtures/openvino/layers-f32-2026.4.csv.gz"
    graph = "tests/fixtures/openvino/layers-f32-2026.4.xml.gz"
    assert START not in run_command(counters, graph, "--notes", "all").err

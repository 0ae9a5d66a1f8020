"""Notes on shapes that changed between runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.query.fit_of_peaks import BetterRates
from tests.conftest import PROFILES
from tests.findings.found import rounded, with_code
from tests.readers.tiny_file import document_with, write_bytes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("outputs", "out_shapes", "notes"),
    [
        (["a", "b"], [[1, 2], [3]], 0),
        (["a", "b"], [[1, 2], [9]], 0),  # only the first output is compared
        (["a", "b"], [[1, 9], [3]], 1),
        (["a"], [[1, 2], [3]], 0),
        (["a"], [], 0),
        (["a"], None, 0),
        (["scalar"], [[]], 0),
        (["scalar"], [[1]], 1),
        (["unknown"], [[9]], 0),
        (["nowhere"], [[9]], 0),
        ([], [[9]], 0),
    ],
)
def test_an_operator_whose_shapes_changed_between_runs_has_a_note(
    tmp_path: Path, outputs: list[str], out_shapes: list[list[int]] | None, notes: int
) -> None:
    shapes = {"a": [1, 2], "b": [3], "scalar": [], "unknown": None}
    document = {
        "profiler": {"opr_footprint": {"1": {"memory": 4, "out_shapes": out_shapes}}},
        "graph_exec": {
            "operator": {"1": {"name": "x", "type": "T", "output": outputs}},
            "var": {
                name: {"static_infer_tags": {"SHAPE": {"inferred_result": shape}}}
                for name, shape in shapes.items()
            },
        },
    }
    for spaces in (None, (",", ":")):
        text = json.dumps(document, separators=spaces).encode()
        assert len(pa.load(write_bytes(tmp_path, text)).notes) == notes


def test_impossible_times_give_the_note_without_a_warning(tmp_path: Path) -> None:
    """The times of the device add up to more than the largest float."""
    document = json.loads((PROFILES / "trace-dyn.json").read_text())
    for devices in document["profiler"]["device"].values():
        for times in devices.values():
            times.update(start=0, kern=0, end=1.5e308)
    notes = pa.load(write_bytes(tmp_path, json.dumps(document).encode())).notes
    assert with_code(notes, "stale-shapes") == [
        Finding.of("stale-shapes", Kind.WRONG, operators=10)
    ]


def test_work_of_shapes_that_changed_is_not_judged() -> None:
    profile = pa.load(PROFILES / "trace-dyn.json")
    peaks = pa.parse_peaks("100G:20G")
    table = pa.run(pa.Query(peaks=peaks), profile)
    assert all(np.isnan(table["efficiency"][table["flops"] > 0]))
    judgement = pa.summarise(profile, judged_by=pa.Query(peaks=peaks)).judgement
    assert judgement is not None
    assert (judgement.judged, judgement.winners, judgement.better_rates) == (
        0.0,
        (),
        BetterRates(),
    )
    (finding,) = rounded(judgement.notes, 3)
    assert isinstance(finding, Finding)
    assert (finding.code, finding.share) == ("not-judged", 1.0)
    assert finding["reasons"] == (
        (6, 0.997, ("stale",)),
        (2, 0.003, ("computation", (("InputCallback", 0.001), ("AxisAddRemove", 0.001)))),
        (9, 0.0, ("clock",)),
    )


def test_a_null_shape_of_an_input_is_noted(tmp_path: Path) -> None:
    document = json.loads((PROFILES / "trace-dyn.json").read_text())
    graph, footprints = document["graph_exec"], document["profiler"]["opr_footprint"]
    graph["var"]["90001"] = {"static_infer_tags": None}
    comparable = next(
        operator
        for id_, operator in graph["operator"].items()
        if id_ in footprints and 0 < len(operator["input"]) == len(footprints[id_]["in_shapes"])
    )
    comparable["input"][0] = "90001"
    profile = pa.load(write_bytes(tmp_path, json.dumps(document).encode()))
    note = Finding.of("unknown-stale-shapes", Kind.CONTEXT)
    assert profile.notes == (note,)


def test_a_null_shape_of_an_output_is_noted(tmp_path: Path) -> None:
    content = document_with(None, "graph_exec", "var", "7", "static_infer_tags")
    path = write_bytes(tmp_path, content.replace(b'"output": [', b'"output": ["7", '))
    note = Finding.of("unknown-stale-shapes", Kind.CONTEXT)
    assert pa.load(path).notes == (note,)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ("graph_exec", "operator", "6", "output")),
        (None, ("graph_exec", "operator", "6", "input")),
        (
            {"SHAPE": {"inferred_result": "Large Array"}},
            ("graph_exec", "var", "7", "static_infer_tags"),
        ),
    ],
)
def test_fields_that_only_the_note_needs_may_be_broken(
    tmp_path: Path, value: Any, path: tuple[str, ...]
) -> None:
    assert pa.load(write_bytes(tmp_path, document_with(value, *path))).notes == ()

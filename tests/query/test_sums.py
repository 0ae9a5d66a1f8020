"""The findings on rows that do not add up to the total, or leave out times of the other side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run, Track
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.iterations import without_first_runs
from profile_analyze.query.notes.sums import other_side_findings
from tests.conftest import run_command
from tests.findings.found import codes_in, rounded, with_code
from tests.in_memory import CPU, STREAM, THREAD, profile_of
from tests.readers.pytorch.events import document, event, op
from tests.readers.pytorch.test_launches import GPU as GPU_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile


def row_sum(part: float, statistic: str, *, in_some_runs: bool = False) -> Finding:
    values = {"part": part, "statistic": statistic, "runs": 3, "in_some_runs": in_some_runs}
    return Finding.of("row-sum", Kind.CONTEXT, **values)


def runs_of(*times_s: tuple[float | None, ...]) -> Profile:
    """Return a profile with the times of each operator in each run; None if it did not run."""
    executions = [
        {"operator": operator, "run": run, "duration_s": time_s}
        for operator, of_operator in enumerate(times_s)
        for run, time_s in enumerate(of_operator)
        if time_s is not None
    ]
    return profile_of(
        [{"name": name, "type": name} for name in "abc"[: len(times_s)]],
        executions,
        tracks=(CPU,),
        runs=[Run() for _ in times_s[0]],
    )


UNEVEN = runs_of((1.0, 1.0, 4.0), (1.0, 4.0, 1.0), (4.0, 1.0, 1.0))
"""Each run takes 6 s, but the median of each operator is only 1 s."""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ({}, [row_sum(0.5, "median")]),
        ({"by": "type"}, [row_sum(0.5, "median")]),
        ({"top": 1}, [row_sum(0.5, "median")]),
        ({"run_statistic": "max"}, [row_sum(2.0, "max")]),
        ({"run_statistic": "mean"}, []),
        ({"by": "type", "aggregates": "max"}, []),
        ({"by": "run"}, []),
        ({"where": "name != c"}, []),
    ],
)
def test_rows_that_do_not_add_up_are_found(
    question: dict[str, Any], expected: list[Finding]
) -> None:
    assert with_code(pa.run(pa.Query(**question), UNEVEN).notes, "row-sum") == expected


def test_small_differences_have_no_note() -> None:
    assert (
        pa.run(pa.Query(), runs_of((1.0, 1.1, 1.0), (1.0, 1.0, 1.1), (1.0, 1.0, 1.0))).notes == ()
    )


def test_rows_of_only_some_runs_do_not_add_up_either() -> None:
    notes = pa.run(pa.Query(), runs_of((1.0, None, 3.0), (9.0, 2.0, 2.0))).notes
    assert notes == (row_sum(0.8, "median", in_some_runs=True),)


GPU = [
    Track(name, device=name, kind="comp node", together="max", device_kind="gpu")
    for name in ("gpu0", "gpu1")
]
HOST = Track("main", "host", kind="thread", together="max")


def on_two_devices(*, is_shared: bool = True) -> Profile:
    """Return a profile whose first operator ran on both devices, unless `is_shared` is false."""
    return profile_of(
        [{"name": "shared", "type": "A"}, {"name": "single", "type": "B"}],
        [
            {"operator": 0, "track": 0, "duration_s": 3.0},
            *([{"operator": 0, "track": 1, "duration_s": 2.0}] if is_shared else ()),
            {"operator": 1, "track": 0, "duration_s": 1.0},
            {"operator": 0, "track": 2, "duration_s": 0.25},
        ],
        tracks=(*GPU, HOST),
    )


@pytest.mark.parametrize(
    ("by", "split_by"),
    [("track", "track"), ("device", "device"), ("track,run", "track"), ("run", ""), ("type", "")],
)
def test_rows_of_tracks_that_worked_on_one_operator_add_up_to_more(by: str, split_by: str) -> None:
    finding = Finding.of("split-sum", Kind.ANSWER, keys=(split_by,), part=1.5)
    notes = pa.run(pa.Query(by=by), on_two_devices()).notes
    assert with_code(notes, "split-sum") == ([finding] if split_by else [])


def test_rows_of_tracks_have_the_times_of_one_side_and_shares_of_all_rows() -> None:
    columns = ("track", "time", "device_time", "host_time", "share", "cumulative_share")
    for profile, expected in (
        (
            on_two_devices(),
            [["gpu0", 4.0, 4.0, None, 4 / 6, 4 / 6], ["gpu1", 2.0, 2.0, None, 2 / 6, 1.0]],
        ),
        (on_two_devices(is_shared=False), [["gpu0", 4.0, 4.0, None, 1.0, 1.0]]),
    ):
        table = pa.run(pa.Query(by="track"), profile)
        rows = zip(*(table[name].tolist() for name in columns), strict=True)
        assert [[None if one != one else one for one in row] for row in rows] == expected
    of_host = pa.run(pa.Query(by="track", measure="host_time"), on_two_devices())
    assert of_host["track"].tolist() == ["main"]
    assert (of_host["host_time"].tolist(), of_host["share"].tolist()) == ([0.25], [1.0])
    assert np.isnan(of_host["device_time"]).all()


def test_the_device_time_is_no_sum_if_tracks_worked_on_one_operator() -> None:
    (finding,) = with_code(pa.summarise(on_two_devices()).notes, "several-tracks")
    assert (finding["times_s"], finding["adds_up"]) == ((("gpu0", 4.0), ("gpu1", 2.0)), False)


def test_shares_of_single_runs_are_relative_to_all_runs() -> None:
    profile = runs_of((1.0, 3.0), (2.0, 4.0))
    table = pa.run(pa.Query(by="run,type", order="+run,+type"), profile)
    assert table["share"].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert pa.run(pa.Query(by="run", order="+run"), profile)["share"].tolist() == [0.3, 0.7]
    assert table.notes == (Finding.of("split-by-runs", Kind.CONTEXT, keys=("run",), parts=2),)


TRANSFORMER = "tests/fixtures/onnxruntime/transformer-1.31.json.gz"


@pytest.mark.parametrize(
    ("question", "skipped", "sets"),
    [
        ({}, 0, 3),
        ({"by": "in_shapes"}, 0, 3),
        ({}, 2, 2),
        ({}, 4, None),
        ({"by": "name"}, 0, None),
        ({"by": "type"}, 0, None),
        ({"by": "run"}, 0, None),
    ],
)
def test_runs_of_different_shapes_are_found(
    question: dict[str, Any], skipped: int, sets: int | None
) -> None:
    profile = pa.load(TRANSFORMER)
    if skipped:
        profile = without_first_runs(profile, skipped)
    found = with_code(pa.run(pa.Query(**question), profile).notes, "shape-sets")
    expected = Finding.of("shape-sets", Kind.ANSWER, sets=sets, part=float(sets or 0))
    assert found == ([expected] if sets else [])


def test_comparisons_and_files_with_different_shapes_are_no_shape_sets() -> None:
    profile = pa.load(TRANSFORMER)
    compared = pa.run(pa.Query(compared=True), pa.compare(profile, profile))
    folder = "tests/fixtures/openvino/layers-f32-2026.4"
    joined = pa.run(pa.Query(), pa.load_runs([f"{folder}.csv.gz", f"{folder}.xml.gz"]))
    assert with_code((*compared.notes, *joined.notes), "shape-sets") == []


def mm(start: int, size: int) -> Any:
    return op("mm", start, 50, **{"Input Dims": [[size]], "Input type": ["float"]})


def of_steps(folder: Path, *events: Any) -> Profile:
    steps = [event("user_annotation", f"ProfilerStep#{step}", 100 * step, 99) for step in (1, 2)]
    file = folder / "a.json"
    file.write_bytes(document(*steps, *events))
    return pa.load(file)


def test_operators_that_did_not_run_in_each_step_are_found(tmp_path: Path) -> None:
    def notes(*events: Any) -> list[Note]:
        return rounded(pa.run(pa.Query(), of_steps(tmp_path, *events)).notes, 3)

    partial = {"operators": 1, "runs": 2, "part": 1.167}
    assert notes(mm(100, 1), mm(200, 1), mm(150, 2)) == [
        Finding.of("partial-rows", Kind.WRONG, **partial)
    ]
    of_shapes = notes(mm(100, 1), mm(200, 3), mm(150, 2), mm(250, 4))
    assert codes_in(of_shapes) == ["shape-sets"]
    assert notes(mm(100, 1), mm(200, 1)) == []


@pytest.mark.parametrize("by", [(), "name"])
def test_partial_rows_are_more_important_if_one_is_shown(by: Any, tmp_path: Path) -> None:
    events = (op("mine", 100, 30), op("mine", 200, 30), op("other", 150, 20))
    profile = of_steps(tmp_path, *events)
    kinds = [
        [(one.code, one.kind) for one in with_code(notes, "partial-rows")]
        for notes in (pa.run(pa.Query(by=by, top=top), profile).notes for top in (1, 2))
    ]
    assert kinds == [[("partial-rows", Kind.CONTEXT)], [("partial-rows", Kind.WRONG)]]


@pytest.mark.parametrize(
    ("measure", "columns", "by", "expected"),
    [
        ("time", ("name", "host_time"), "type", ("host_time", "device", "host", 0.75)),
        (
            "host_time",
            ("device_time", "host_time"),
            "type",
            ("device_time", "host", "device", 0.4),
        ),
        ("time", ("name", "time"), "type", None),
        ("time", ("name", "host_time"), None, None),
    ],
)
def test_groups_leave_out_times_of_the_other_side(
    measure: str, columns: tuple[str, ...], by: str | None, expected: tuple[Any, ...] | None
) -> None:
    profile = profile_of(
        [{"name": name, "type": "any"} for name in ("both", "on the host", "on the device")],
        [
            {"operator": 0, "duration_s": 1.0},
            {"operator": 0, "duration_s": 3.0, "track": 1},
            {"operator": 1, "duration_s": 3.0},
            {"operator": 2, "duration_s": 2.0, "track": 1},
        ],
        tracks=(THREAD, STREAM),
    )
    table = pa.run(pa.Query(measure=measure, by=by or ()), profile)
    names = ("column", "side", "other_side", "part")
    found = [
        (*(one[name] for name in names), one.share, one.code)
        for one in other_side_findings(table, columns)
    ]
    assert found == ([(*expected, expected[-1], "other-side-times")] if expected else [])


def test_nothing_is_left_out_if_both_tables_have_the_same_operators() -> None:
    profile = profile_of(
        [{"name": "both", "type": "any"}],
        [{"operator": 0, "duration_s": 1.0}, {"operator": 0, "duration_s": 3.0, "track": 1}],
        tracks=(THREAD, STREAM),
    )
    table = pa.run(pa.Query(by="type"), profile)
    assert [*other_side_findings(table, ("host_time",))] == []


def test_the_command_shows_what_a_table_leaves_out() -> None:
    done = run_command(
        GPU_FILE, "--aggregate-by", "run", "--columns", "run,host_time", "--notes", "all"
    )
    assert "note: host_time: the groups of the device table leave out operators" in done.err

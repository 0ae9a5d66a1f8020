"""The note that groups of one table leave out times of the other side."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from profile_analyze.query.notes.other_side import other_side_notes
from tests.conftest import run_command
from tests.in_memory import STREAM, THREAD, profile_of
from tests.readers.pytorch.test_launches import GPU


@pytest.mark.parametrize(
    ("measure", "columns", "by", "notes"),
    [
        (
            "time",
            ("name", "host_time"),
            "type",
            (
                "host_time: the groups of the device table leave out operators without a device "
                "time, 75.0% of the host time; --print-only host shows all",
            ),
        ),
        (
            "host_time",
            ("device_time", "host_time"),
            "type",
            (
                "device_time: the groups of the host table leave out operators without a host "
                "time, 40.0% of the device time; --print-only device shows all",
            ),
        ),
        ("time", ("name", "time"), "type", ()),
        ("time", ("name", "host_time"), None, ()),
    ],
)
def test_groups_leave_out_times_of_the_other_side(
    measure: str, columns: tuple[str, ...], by: str | None, notes: tuple[str, ...]
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
    assert tuple(other_side_notes(table, columns)) == notes


def test_no_note_if_both_tables_have_the_same_operators() -> None:
    profile = profile_of(
        [{"name": "both", "type": "any"}],
        [{"operator": 0, "duration_s": 1.0}, {"operator": 0, "duration_s": 3.0, "track": 1}],
        tracks=(THREAD, STREAM),
    )
    table = pa.run(pa.Query(by="type"), profile)
    assert [*other_side_notes(table, ("host_time",))] == []


def test_the_command_prints_the_note() -> None:
    done = run_command(GPU, "--aggregate-by", "run", "--columns", "run,host_time", "--notes", "all")
    assert (
        "note: host_time: the groups of the device table leave out operators without " in done.err
    )

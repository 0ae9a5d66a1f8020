"""Rows of a table that have no time on its side, but a value in a column without a side."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from tests.conftest import FIXTURES, run_command
from tests.in_memory import STREAM, THREAD, profile_of

FILE = str(FIXTURES / "pytorch-small" / "allocations-of-empty.json")
BOTH = (
    "name         device allocated\naten::empty          1.00 GiB\naten::mm             4.00 MiB\n"
)
EMPTY = "name         device allocated\naten::empty          1.00 GiB\n"
MM = "name      device allocated\naten::mm          4.00 MiB\n"
GROUPED = ("--aggregate-by", "name")


@pytest.mark.parametrize(
    ("options", "table"),
    [
        ((*GROUPED, "--order-by", "device_allocated"), BOTH),
        ((*GROUPED, "--order-by", "device_allocated.max"), BOTH),
        ((*GROUPED, "--having", "device_allocated > 8MiB"), EMPTY),
        (("--order-by", "device_allocated"), BOTH),
        (("--where", "device_allocated > 8MiB"), EMPTY),
    ],
)
def test_an_allocation_without_a_kernel_is_shown(options: tuple[str, ...], table: str) -> None:
    columns = ("--columns", "name,device_allocated", "--print-only", "device")
    done = run_command(FILE, *columns, *options, "--format", "plain")
    assert (done.out, done.err) == (table, "")


@pytest.mark.parametrize("options", [(), GROUPED])
def test_a_note_says_how_much_of_a_column_a_table_leaves_out(options: tuple[str, ...]) -> None:
    columns = ("--columns", "name,device_allocated", "--print-only", "device")
    done = run_command(FILE, *columns, *options, "--format", "plain")
    assert done.out == MM
    assert done.err.startswith("note: device_allocated: left out operators without a device time,")


@pytest.mark.parametrize("column", ["allocated_bytes", "device_allocated_bytes", "thread_wait_s"])
def test_every_column_without_a_side_keeps_its_rows(column: str) -> None:
    profile = profile_of(
        [{"name": name} for name in ("kernel", "host", "nothing")],
        [
            {"operator": 0, "duration_s": 3.0, "track": 1},
            {"operator": 1, "duration_s": 1.0, column: 8.0},
            {"operator": 2, "duration_s": 1.0, column: 0.0},
        ],
        tracks=(THREAD, STREAM),
    )
    name = column.removesuffix("_bytes").removesuffix("_s")
    assert pa.run(pa.Query(order=name), profile)["name"].tolist() == ["host", "kernel"]
    assert pa.run(pa.Query(), profile)["name"].tolist() == ["kernel"]

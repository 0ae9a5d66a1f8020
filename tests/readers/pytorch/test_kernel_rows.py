"""The rows of kernels: one for each full name, even if several kernels share a short name."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from tests.conftest import run_command
from tests.readers.pytorch.events import call, document, kernel, op

if TYPE_CHECKING:
    from pathlib import Path

LOOPS = {
    size: f"void at::native::loop<at::native::AddFunctor<float>, {size}>(int)" for size in (2, 4)
}


def trace(path: Path, *kernels: tuple[int, int]) -> str:
    """Write a trace, and return its name. A kernel is a pair: a key of `LOOPS`, and a duration."""
    events: list[Any] = [op("aten::add", 0, 90)]
    for number, (size, length) in enumerate(kernels, 1):
        events += [call(10 * number, number), kernel(LOOPS[size], 100 * number, length, number)]
    path.write_bytes(document(*events))
    return str(path)


def rows_of(columns: str, level: str, *files: str) -> list[dict[str, Any]]:
    profile = pa.join_runs(map(pa.load, files)) if len(files) > 1 else pa.load(files[0])
    rows = pa.run(pa.Query(level=level, order="+full_name"), profile).rows
    return [{name: row[name] for name in columns.split(",")} for row in rows]


def test_kernels_that_share_a_short_name_stay_apart(tmp_path: Path) -> None:
    both = trace(tmp_path / "both.json", (2, 20), (4, 10))
    one = trace(tmp_path / "one.json", (4, 30))
    name = "loop<AddFunctor<float>>"
    expected = [
        {"name": name, "full_name": LOOPS[2], "time": pytest.approx(20e-6)},
        {"name": name, "full_name": LOOPS[4], "time": pytest.approx(10e-6)},
    ]
    assert rows_of("name,full_name,time", "kernel", both) == expected
    assert rows_of("full_name", "operator", both) == [{"full_name": None}]
    # Two files are joined. The second row has 10 us and 30 us, so its median is 20 us.
    expected[1]["time"] = pytest.approx(20e-6)
    assert rows_of("name,full_name,time", "kernel", both, one) == expected
    comparison = pa.compare(pa.load(one), pa.load(both), level="kernel")
    matched = pa.run(pa.Query(level="kernel", compared=True, order="+full_name"), comparison).rows
    assert [(row["full_name"], row["match"]) for row in matched] == [
        (LOOPS[2], "removed"),
        (LOOPS[4], "name"),
    ]


def test_tables_show_what_tells_kernels_with_one_short_name_apart(tmp_path: Path) -> None:
    file = trace(tmp_path / "both.json", (2, 20), (4, 10))
    for output_format, columns in product(("plain", "markdown"), ("", "time,name")):
        call = (file, "--level", "kernel", "--format", output_format)
        out = run_command(*call, *(("--columns", columns) if columns else ())).out
        assert "loop<AddFunctor<float>> (2)" in out
        assert "loop<AddFunctor<float>> (4)" in out
    narrow = run_command(file, "--level", "kernel", "--format", "plain", "-t", "1").out
    assert narrow.splitlines()[-1].split()[-2:] == ["loop<AddFunctor<float>>", "aten::add"]
    groups = run_command(file, "--level", "kernel", "--format", "plain", "--aggregate-by", "name")
    assert groups.out.endswith("loop<AddFunctor<float>>\n")
    in_csv = run_command(file, "--level", "kernel", "--format", "csv", "--columns", "name").out
    assert in_csv.splitlines() == ["name", *["loop<AddFunctor<float>>"] * 2]


def test_the_explanation_of_a_name_has_the_full_name_of_a_kernel(tmp_path: Path) -> None:
    file = trace(tmp_path / "a.json", (2, 20))
    for level, remark in (
        ("operator", ""),
        ("kernel", f"; for kernels, a short form of {LOOPS[2]}"),
    ):
        out = run_command(file, "--level", level, "--explain", "name").out
        assert out.splitlines()[-1].endswith(f": from the file{remark}")


def test_the_key_of_a_kernel_does_not_depend_on_the_other_kernels(tmp_path: Path) -> None:
    both = trace(tmp_path / "both.json", (2, 20), (4, 10))
    one = trace(tmp_path / "one.json", (4, 30))
    keys = [f"aten::add/loop<AddFunctor<float>> #{digest}" for digest in ("533149", "6efbb3")]
    assert rows_of("id", "kernel", both) == [{"id": key} for key in keys]
    assert rows_of("id", "kernel", one) == [{"id": keys[1]}]


def test_formats_for_programs_have_the_full_names_of_kernels(tmp_path: Path) -> None:
    file = trace(tmp_path / "a.json", (2, 20))
    found = run_command(file, "--level", "kernel", "--format", "csv")
    header, row = found.out.splitlines()
    assert header.startswith("id,name,type,full_name,launched_by,time_s,")
    names = f'loop<AddFunctor<float>>,loop,"{LOOPS[2]}",aten::add'
    assert row.startswith(f"aten::add/loop<AddFunctor<float>> #533149,{names},0.00002")

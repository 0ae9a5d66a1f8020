"""Large arrays in temporary files behave like arrays in memory, but take little memory."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze import Profile, Query, compare, large_arrays, run
from profile_analyze.large_arrays import (
    GrowingArray,
    blocks_of_rows,
    blocks_of_runs,
    large_array,
    release,
    run_by_run,
)
from profile_analyze.model import execution_parts, measuring
from profile_analyze.model.joining.runs import join_runs
from tests.in_memory import four_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIB = 1 << 20
only_on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="arrays are in files only on Linux"
)


def resident_bytes() -> int:
    """Return the memory of this process, with the parts of files that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@only_on_linux
def test_a_large_array_takes_memory_only_until_it_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    values = large_array((64, MIB // 8))  # 64 MiB
    before = resident_bytes()
    for row in range(64):
        values[row] = row
        release(values)
    sums = [block.sum() for (block,) in blocks_of_rows(values)]
    in_runs = [block.sum(axis=0) for _, (block,) in blocks_of_runs(values)]
    assert resident_bytes() - before < 8 * MIB
    assert sum(sums) == sum(range(64)) * MIB // 8
    np.testing.assert_array_equal(np.concatenate(in_runs), np.full(MIB // 8, sum(range(64))))


@only_on_linux
def test_growing_arrays_are_in_files_without_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    array = GrowingArray(np.dtype(np.int32))
    before = resident_bytes()
    for value in range(64):
        array.append(np.full(MIB // 4, value, np.int32))
    values = array.joined()
    assert resident_bytes() - before < 8 * MIB
    assert [*tmp_path.iterdir()] == []
    array.append(np.array([64], np.int32))
    assert len(values) == 64 * MIB // 4
    assert array.joined()[:: MIB // 4].tolist() == [*range(65)]


@pytest.mark.parametrize("writes_that_fit", range(4))
def test_values_that_do_not_fit_on_the_disk_stay_in_memory(
    writes_that_fit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "no space left on device")
    write = os.pwrite
    results = iter([True] * writes_that_fit)

    def pwrite(file: int, data: memoryview, offset: int) -> int:
        if next(results, False):
            return write(file, data[:8], offset)  # the system can write less than requested
        raise full

    monkeypatch.setattr(os, "pwrite", pwrite)
    array = GrowingArray(np.dtype(np.int64))
    for start in (0, 2, 4):
        array.append(np.arange(start, start + 2))
    assert array.joined().tolist() == [0, 1, 2, 3, 4, 5]
    monkeypatch.setattr(os, "posix_fallocate", Mock(side_effect=full))
    values = large_array((2, MIB))
    values[:] = 1.0
    assert values.sum() == 2 * MIB


def test_without_a_folder_for_files_all_values_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    array = GrowingArray(np.dtype(np.float64))
    array.append(np.ones(2))
    assert array.joined().tolist() == [1.0, 1.0]
    values = large_array((2, MIB))
    values[:] = 1.0
    assert values.sum() == 2 * MIB


@given(st.integers(0, 7), st.integers(0, 30), st.integers(1, 12), st.sampled_from([1, MIB]))
def test_blocks_cover_an_array(rows: int, runs: int, at_once: int, large: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_arrays, "_VALUES_AT_ONCE", at_once)
        patch.setattr(large_arrays, "_FEWEST_RUNS", 2)
        patch.setattr(large_arrays, "_BYTES_AT_ONCE", large_arrays._READ_AHEAD_BYTES)
        patch.setattr(large_arrays, "_LARGE_BYTES", large)
        values = large_array((rows, runs))
        values[:] = np.arange(rows * runs).reshape(rows, runs)
        of_rows = [block for (block,) in blocks_of_rows(values)]
        np.testing.assert_array_equal(np.concatenate(of_rows), values)
        of_runs = [*blocks_of_runs(values)]
        covered = [run for in_block, _ in of_runs for run in range(runs)[in_block]]
        assert covered == [*range(runs)]
        for in_block, (block,) in of_runs:
            np.testing.assert_array_equal(block, values[:, in_block])
            assert block.shape[1] > 1 or runs < 2


@given(rows=st.integers(1, 5), runs=st.integers(0, 30), equal_runs=st.booleans())
def test_values_computed_run_by_run_equal_values_computed_at_once(
    *, rows: int, runs: int, equal_runs: bool
) -> None:
    values = np.arange(rows * max(runs, 1), dtype=np.float64).reshape(rows, -1) / 7
    if equal_runs:
        values = np.broadcast_to(values[:, :1], (rows, runs))
    values = values[:, :runs]

    def summed(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = (values + others).sum(axis=0, keepdims=True)
        return sums

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_arrays, "_VALUES_AT_ONCE", 8)
        patch.setattr(large_arrays, "_FEWEST_RUNS", 2)
        result = run_by_run(summed, values, values)
    np.testing.assert_array_equal(result, summed(values.copy(), values.copy()))
    if equal_runs and runs > 1:
        assert result.strides[1] == 0, "the equal values are stored once"


def answers(profile: Profile, base: Profile) -> list[Any]:
    """Return answers about a profile, and about its comparison with `base`."""
    queries = [
        Query(),
        Query(run_statistic="mean", where=("time > 1us",)),
        Query(by="type", run_statistic="min"),
        Query(by=("file", "type"), aggregates="median"),
    ]
    tables = [run(query, profile) for query in queries]
    tables.append(run(Query(compared=True), compare(profile, base)))
    columns = ("time", "spread", "calls", "computation", "flops", "bandwidth")
    values = [[table.shown[column].tolist() for column in columns] for table in tables]
    return [[table.to_dict() for table in tables], values]


def test_answers_do_not_depend_on_where_arrays_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def profile(first: float) -> Profile:
        return join_runs(four_steps(f"{run}.json", first + run / 8) for run in range(6))

    in_memory = answers(profile(1.0), profile(2.0))
    for module, name, value in (
        (large_arrays, "_LARGE_BYTES", 1),
        (large_arrays, "_VALUES_AT_ONCE", 5),
        (large_arrays, "_FEWEST_RUNS", 2),
        (measuring, "_ROWS_PER_PART", 7),
        (execution_parts, "_ROWS_IN_MEMORY", 10),
    ):
        monkeypatch.setattr(module, name, value)
    assert repr(answers(profile(1.0), profile(2.0))) == repr(in_memory)  # equal texts for NaN

"""Large arrays in temporary files, so that memory hardly grows with the number of runs.

Such an array is used like any other: the system reads its file when values are needed. Code that
goes through a large array block by block calls `release` after each block. This frees the memory
of the values, which stay in the file.
"""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

_LARGE_BYTES: Final = 1 << 20
"""Arrays of at least this size are kept in files."""
_VALUES_AT_ONCE: Final = 1 << 16
"""About how many values a block has."""
_EQUAL_RUNS: Final = 2
"""If all runs are equal, only this many are computed. One would not be enough: NumPy adds values of
a single run in another order, which changes the last digits of sums."""
_FEWEST_RUNS: Final = 64
"""The fewest runs in a block, however many rows there are. Only the last block may have fewer."""
_READ_AHEAD_BYTES: Final = 1 << 16
"""When the system reads a value from a file, it also maps up to this many bytes around it."""
_BYTES_AT_ONCE: Final = 1 << 20
"""About how much of a file is in memory while a block of runs is copied."""


class GrowingArray:
    """Collects values in a file, or in memory if no file can be written."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._file: int | None = None
        self._bytes_in_file = 0
        self._in_memory: list[NDArray[Any]] = []
        """Values that follow those in the file."""

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)

    def append(self, values: NDArray[Any]) -> None:
        """Add values of the array's type at the end: one value or more."""
        if not self._in_memory:
            with suppress(OSError):  # there is no space, or no folder for temporary files
                self._write(values)
                return
        self._in_memory.append(values)

    def _write(self, values: NDArray[Any]) -> None:
        if self._file is None:
            self._file = _temporary_file()
        rest = np.ascontiguousarray(values).data.cast("B")
        end = self._bytes_in_file
        while rest:
            written = os.pwrite(self._file, rest, end)
            rest, end = rest[written:], end + written
        self._bytes_in_file = end

    def joined(self) -> NDArray[Any]:
        """Return all values, as an array of shape (values,)."""
        parts = list(self._in_memory)
        if self._file is not None and self._bytes_in_file:
            try:
                in_file = mmap.mmap(self._file, self._bytes_in_file)
            except OSError:  # the address space is used up
                raise MemoryError from None
            parts.insert(0, np.frombuffer(in_file, self._dtype))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def large_array(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a new array, whose values the caller must set. A large array is kept in a file.

    If there is no space for a file, the array is kept in memory.
    """
    size = prod(shape) * np.dtype(np.float64).itemsize
    if size < _LARGE_BYTES:
        return np.empty(shape)
    try:
        file = _temporary_file()
        try:
            # If the space were not reserved, a full disk would kill the process at a later write.
            os.posix_fallocate(file, 0, size)
            return np.frombuffer(mmap.mmap(file, size)).reshape(shape)
        finally:
            os.close(file)
    except OSError:
        return np.empty(shape)


def run_by_run(
    compute: Callable[..., NDArray[np.float64]], *arrays: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `compute(*arrays)`, computed block by block.

    All arrays have the same shape (rows, runs). `compute` returns an array with these runs and any
    number of rows, and computes each run independently. See `array_of_runs` and `blocks_of_runs`.
    """
    runs = arrays[0].shape[1]
    if runs > _EQUAL_RUNS and all(array.strides[1] == 0 for array in arrays):  # all runs are equal
        result = compute(*(array[:, :_EQUAL_RUNS] for array in arrays))
        return np.broadcast_to(result[:, :1], (len(result), runs))
    parts = ((block, compute(*values)) for block, values in blocks_of_runs(*arrays))
    return array_of_runs(parts, runs)


def array_of_runs(
    parts: Iterable[tuple[slice, NDArray[np.float64]]], runs: int
) -> NDArray[np.float64]:
    """Return an array of shape (rows, runs) from one part or more, which cover all runs in order.

    Each part is a slice of the runs, and the values in these runs. A large array is kept in a file.
    If all runs have the same values, they are stored once.
    """
    same: NDArray[np.float64] | None = None
    result: NDArray[np.float64] | None = None
    for block, values in parts:
        if result is None:
            same = values[:, :1].copy() if same is None else same
            # Values that are stored once for all runs need to be compared only once.
            distinct = values if values.strides[1] else values[:, :1]
            if np.array_equal(distinct, np.broadcast_to(same, distinct.shape), equal_nan=True):
                continue
            result = large_array((len(values), runs))
            result[:, : block.start] = same
        result[:, block] = values
        release(result)
    if result is None:
        assert same is not None, "there is no part"
        return np.broadcast_to(same, (len(same), runs))
    return result


def release(*arrays: NDArray[Any]) -> None:
    """Free the memory of those arrays that are kept in files. They can still be used."""
    for array in arrays:
        mapped = _file_of(array)
        if mapped is not None:
            mapped.madvise(mmap.MADV_DONTNEED)


def _file_of(array: NDArray[Any]) -> mmap.mmap | None:
    """Return the file that keeps the array; None if the array is in memory."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    in_file = isinstance(owner, memoryview) and isinstance(owner.obj, mmap.mmap)
    return owner.obj if in_file else None


def blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the values of an array of shape (values,), some at a time."""
    for first in range(0, len(array), _VALUES_AT_ONCE):
        yield array[first : first + _VALUES_AT_ONCE]
        release(array)


def blocks_of_rows(*arrays: NDArray[Any]) -> Iterator[Sequence[NDArray[Any]]]:
    """Yield the same rows of all `arrays`, a few rows at a time. There is at least one block.

    The arrays have shape (rows, runs). In an array of shape (rows, 1), a value holds for all runs.
    """
    runs = max(array.shape[1] for array in arrays)
    step = max(_VALUES_AT_ONCE // max(runs, 1), 1)
    for first in range(0, max(len(arrays[0]), 1), step):
        yield [array[first : first + step] for array in arrays]
        release(*arrays)


def blocks_of_runs(*arrays: NDArray[Any]) -> Iterator[tuple[slice, Sequence[NDArray[Any]]]]:
    """Yield blocks of runs, each with the values of all `arrays` in these runs.

    There is at least one block. All arrays have the same shape (rows, runs). A block has several
    runs, unless there is only one run. In a block of a single run, the last digits of sums would
    change: see `_EQUAL_RUNS`.
    """
    rows, runs = arrays[0].shape
    step = max(_VALUES_AT_ONCE // max(rows, 1), _FEWEST_RUNS)
    ends = [*range(step, runs - 1, step), runs]
    for first, end in zip([0, *ends], ends, strict=False):
        block = slice(first, end)
        yield block, [_values_in(array, block) for array in arrays]


def _values_in(array: NDArray[Any], runs: slice) -> NDArray[Any]:
    """Return the values in some runs; a copy if the array is kept in a file."""
    file = _file_of(array)
    if file is None or not array.flags.c_contiguous:
        return array[:, runs]
    values = np.empty((len(array), runs.stop - runs.start), array.dtype)
    bytes_of_row = array.shape[1] * array.itemsize
    # Of a long row, only about `_READ_AHEAD_BYTES` get into memory.
    step = _BYTES_AT_ONCE // min(bytes_of_row, _READ_AHEAD_BYTES)
    for first in range(0, len(array), step):
        rows = slice(first, first + step)
        values[rows] = array[rows, runs]
        # Release only these rows. For a larger part of the file, the system would look through all
        # pages of that part.
        start = first * bytes_of_row // mmap.PAGESIZE * mmap.PAGESIZE
        file.madvise(mmap.MADV_DONTNEED, start, (first + step) * bytes_of_row - start)
    return values


def _temporary_file() -> int:
    """Open a new file without a name. The system frees its space when nothing uses the file."""
    if sys.platform != "linux":
        raise OSError("only Linux has the functions that this module uses")
    # `/tmp` is often in memory. `tempfile` takes 0.005 s to import.
    folder = os.environ.get("TMPDIR") or "/var/tmp"
    path = Path(folder, f"profile_analyze-{os.urandom(16).hex()}")
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    path.unlink()
    return file

"""Finds the run and the enclosing node of each execution, from times and threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.onnxruntime.events import Times

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_NONE: Final = -1
ROUNDING_US: Final = 1.0
"""Starts and durations are cut to whole microseconds. The computed end of an execution may thus be
up to one microsecond before the start of an execution that ran inside it."""


def column(values: Any) -> NDArray[Any]:
    """Return an array of the standard library (`array.array`) as a NumPy array."""
    return np.array(values)


def runs_of(times: Times, runs: Times) -> Indices:
    """Return, for each execution, the index of the run that contains it, or -1.

    `runs` must be in order of their start. If runs overlap, an execution belongs to the run on its
    own thread.
    """
    start_us, thread = column(times.start_us), column(times.thread)
    result = np.full(len(start_us), _NONE)
    run_threads = column(runs.thread)
    for one in sorted(set(runs.thread)):
        on_thread = np.flatnonzero(thread == one)
        own_runs = np.flatnonzero(run_threads == one)
        result[on_thread] = _containing(start_us[on_thread], runs, own_runs)
    # Some executions have no run on their thread: kernels, and nodes of a parallel session.
    others = np.flatnonzero(result < 0)
    result[others] = _containing(start_us[others], runs, np.arange(len(run_threads)))
    return result


def _containing(start_us: Floats, runs: Times, candidates: Indices) -> Indices:
    """Return, for each start, the last run among `candidates` that started at or before it.

    The result is -1 if there is no such run, or if the run ended before the start.
    """
    run_start_us = column(runs.start_us)[candidates]
    with np.errstate(over="ignore"):  # a time may be near the largest float
        run_end_us = run_start_us + column(runs.duration_us)[candidates] + ROUNDING_US
    index = np.searchsorted(run_start_us, start_us, side="right") - 1
    is_inside = (index >= 0) & (start_us <= run_end_us[index])
    return np.where(is_inside, candidates[index], _NONE)


def enclosing(times: Times, has_body: NDArray[np.bool_]) -> Indices:
    """Return, for each execution, the row of the execution that it ran inside, or -1.

    Only executions on the same thread are nested. `has_body` says which executions are of types
    that run other nodes.
    """
    start_us, duration_us = column(times.start_us), column(times.duration_us)
    thread = column(times.thread)
    result = np.full(len(start_us), _NONE)
    for one in sorted(set(thread.tolist())):
        rows = np.flatnonzero(thread == one)
        rows = rows[np.lexsort((-duration_us[rows], start_us[rows]))]
        # If the file lists executions by start, and none has a body, none ran inside another: see
        # `_is_inside`.
        if (rows[1:] < rows[:-1]).any() or has_body[rows].any():
            result[rows] = _enclosing(rows.tolist(), start_us, duration_us, has_body)
    return result


def _enclosing(
    rows: Sequence[int], start_us: Floats, duration_us: Floats, has_body: NDArray[np.bool_]
) -> list[int]:
    """Return, for each of `rows`, the row that it ran inside, or -1.

    The rows must be in order of their start.
    """
    starts = start_us[rows].tolist()
    with np.errstate(over="ignore"):  # a time may be near the largest float
        ends = (start_us[rows] + duration_us[rows]).tolist()
    result = []
    around: list[_Span] = []  # the executions that have not ended, the outermost first
    for row, start, end in zip(rows, starts, ends, strict=True):
        span = _Span(row, start, end, bool(has_body[row]))
        while around and not _is_inside(span, around[-1]):
            around.pop()
        result.append(around[-1].row if around else _NONE)
        around.append(span)
    return result


class _Span(NamedTuple):
    """The time from the start to the end of an execution."""

    row: int
    start_us: float
    end_us: float
    has_body: bool


def _is_inside(span: _Span, outer: _Span) -> bool:
    """Return whether an execution ran inside `outer`, which did not start later.

    ONNX Runtime records an execution when it ends, so inner executions come first. Some builds, and
    other programs, sort the events by their start. In such a file, only executions of types with a
    body contain others. Executions of other types overlap only if their times were changed.

    Times are rounded to microseconds. An execution of 0 us may thus start with the next one.
    """
    ended_before = span.end_us == outer.start_us
    if span.row < outer.row and (outer.has_body or not ended_before):
        return span.start_us <= outer.end_us + ROUNDING_US
    return span.start_us < outer.end_us and outer.has_body


def order_by_start(times: Times) -> None:
    """Sort `times` by start, in place."""
    order = np.argsort(column(times.start_us), kind="stable")
    for name in ("start_us", "duration_us", "thread"):
        values = getattr(times, name)
        values[:] = type(values)(values.typecode, column(values)[order].tolist())

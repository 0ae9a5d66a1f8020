"""Finds, for each kernel of a timeline, its run, its launch and the operator that launched it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.terms import KERNEL, OPERATOR
from profile_analyze.readers.megengine_timeline.operators import Row
from profile_analyze.readers.megengine_timeline.recording import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.megengine_timeline.placing import Placed
    from profile_analyze.readers.megengine_timeline.recording import Recording

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


class PlacedKernels(NamedTuple):
    """Columns with an entry for each kernel, in the order of `Recording.kernels`."""

    launched_by: Indices
    """The index in `Placed` of the operator that launched the kernel, or -1."""
    run: Indices
    """The run of the operator that launched the kernel, because the kernel may end after the next
    step has begun. If no operator is known, the position of the kernel in the file decides."""
    launch_us: Floats
    """When the operator launched its last kernel, but at most the start of this kernel; NaN if the
    launch is unknown."""


def placed_kernels(recording: Recording, host: Placed) -> PlacedKernels:
    """Return the columns of all kernels. A kernel has the id of the operator that launched it."""
    launched_by = _launched_by(recording, host)
    run = np.append(host.run, NONE)[launched_by]
    kernels = recording.kernels
    pids = np.array([pid for pid, _ in recording.threads], np.int64)[np.array(kernels.thread)]
    position = np.array(kernels.spans_before)
    for pid in sorted({*pids.tolist()}):
        alone = (launched_by == NONE) & (pids == pid)
        run[alone] = host.runs_of(pid, position[alone])
    launch_us = np.append(np.array(recording.spans.launch_us)[host.span], np.nan)[launched_by]
    # On a CPU, a kernel may start a few microseconds before its launch is recorded.
    return PlacedKernels(launched_by, run, np.minimum(launch_us, np.array(kernels.start_us)))


def _launched_by(recording: Recording, host: Placed) -> Indices:
    pid_of_thread = [pid for pid, _ in recording.threads]
    ids = np.array(recording.spans.id, np.int64)[host.span].tolist()
    by_id = {
        (pid, id_): index
        for index, (pid, id_) in enumerate(zip(host.pid.tolist(), ids, strict=True))
        if id_ >= 0
    }
    threads, kernel_ids = recording.kernels.thread, recording.kernels.id
    return np.array(
        [
            by_id.get((pid_of_thread[thread], id_), NONE)
            for thread, id_ in zip(threads, kernel_ids, strict=True)
        ],
        np.int64,
    )


def rows_of_kernels(
    recording: Recording, kernels: PlacedKernels, row_of_host: Sequence[Row]
) -> list[Row]:
    """Return the row of each kernel. `row_of_host` has the row of each entry of `Placed`."""
    result = []
    for index, launcher in enumerate(kernels.launched_by.tolist()):
        if launcher == NONE:
            # A kernel without an id, such as a copy to the device, counts as an operator itself.
            level = KERNEL if recording.kernels.id[index] >= 0 else OPERATOR
            result.append(Row((), None, recording.kernels.facts[index], level))
        else:
            result.append(row_of_host[launcher]._replace(level=KERNEL))
    return result

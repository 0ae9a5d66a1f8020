"""Detects copied files among joined runs: two processes with equal times are copies."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.model.executions import Run
    from profile_analyze.model.profile import Profile


def digests_of(profile: Profile) -> Iterator[bytes | None]:
    """For each process, yield a digest of all its times; None if it has no executions."""
    executions = profile.executions
    process_of = np.array([run.process for run in profile.runs], np.int64)[executions.run]
    by_process = np.argsort(process_of, kind="stable")
    times = [
        values[by_process]
        for values in (executions.start_s, executions.duration_s, executions.first_kernel_s)
    ]
    end = 0
    for size in np.bincount(process_of, minlength=len(profile.processes)).tolist():
        start, end = end, end + size
        digest = blake2b(digest_size=16)  # equal digests of 128 bits do not occur by chance
        for values in times:
            digest.update(values[start:end].tobytes())
        yield digest.digest() if size else None


def with_copies_marked(runs: tuple[Run, ...], digests: Sequence[bytes | None]) -> tuple[Run, ...]:
    """Return `runs`, with `is_copy` set for the runs of processes that are copies.

    A process is a copy if an earlier process has the same digest. `digests` has the digest of each
    process, as `digests_of` yields them.
    """
    seen: set[bytes] = set()
    is_copy = []
    for digest in digests:
        is_copy.append(digest in seen)
        if digest is not None:
            seen.add(digest)
    if not any(is_copy):
        return runs
    return tuple(run._replace(is_copy=is_copy[run.process]) for run in runs)

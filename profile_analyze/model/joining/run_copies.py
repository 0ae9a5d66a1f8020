"""Detects copied files by their times: two processes with equal times are copies.

Copies are searched among joined runs, and between the two sides of a comparison.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Run
    from profile_analyze.model.profile import Profile

_LEAST_KNOWN: Final = 16
"""The least number of known times (starts, and durations above 0) that show that two files are
copies. Fewer times, rounded to a microsecond, may be equal by chance."""


class SharedRuns(NamedTuple):
    """The processes that are on both sides of a comparison."""

    named: tuple[str, ...]
    """The processes with the same name and the same times on both sides, sorted."""
    copies: tuple[tuple[str, str], ...]
    """Pairs of names, sorted: a process of the profile, and a process of the baseline that has
    another name but the same times."""
    processes: int
    """How many processes the profile has."""


def digests_of(profile: Profile) -> Iterator[bytes | None]:
    """For each process, yield a digest of all its times; None if it has no executions."""
    executions = profile.executions
    process_of = _process_of_executions(profile)
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


def shared_runs(profile: Profile, base: Profile) -> SharedRuns | None:
    """Return the processes that are on both sides of a comparison; None if there are none.

    Files with the same name but different recorded times count as different files. For example, the
    names of two URLs are the same if only their query strings differ. Files with different names
    count as copies only if they have at least `_LEAST_KNOWN` known times.
    """
    ours, theirs = _used_processes(profile), _used_processes(base)
    names = [
        {*map(side.processes.__getitem__, used)} for side, used in ((profile, ours), (base, theirs))
    ]
    if names[0].isdisjoint(names[1]) and not _may_have_copies(profile, base):
        return None
    digests, base_digests = (side.digests or tuple(digests_of(side)) for side in (profile, base))
    files = {(base.processes[one], base_digests[one]) for one in theirs}
    name_of = {base_digests[one]: base.processes[one] for one in reversed(theirs)}
    named, equal = [], []
    for process in ours:
        name, digest = profile.processes[process], digests[process]
        if (name, digest) in files:
            named.append(name)
        elif digest is not None and digest in name_of:
            equal.append((process, name_of[digest]))
    known = _known_times(profile) if equal else np.empty(0)
    copies = [(profile.processes[one], other) for one, other in equal if known[one] >= _LEAST_KNOWN]
    if not (named or copies):
        return None
    return SharedRuns(tuple(sorted(named)), tuple(sorted(copies)), len(ours))


def _used_processes(profile: Profile) -> list[int]:
    """Return the indices of the processes that have runs left."""
    return sorted({run.process for run in profile.runs})


def _may_have_copies(profile: Profile, base: Profile) -> bool:
    """Return whether it is worth comparing digests.

    Digests take far longer than sums. Processes with different sums of their times are no copies.
    """
    if profile.digests or base.digests:
        return True
    return not _sums(profile).isdisjoint(_sums(base))


def _sums(profile: Profile) -> set[float]:
    """Return the sum of the known durations of each process that has any."""
    duration_s = np.nan_to_num(profile.executions.duration_s)
    sums = np.bincount(_process_of_executions(profile), duration_s)
    return {*sums[sums > 0].tolist()}


def _known_times(profile: Profile) -> NDArray[np.int64]:
    """Return the number of known starts and durations above 0, shape (processes,)."""
    executions = profile.executions
    known = np.isfinite(executions.start_s).astype(np.int64) + (executions.duration_s > 0)
    size = len(profile.processes)
    return np.bincount(_process_of_executions(profile), known, size).astype(np.int64)


def _process_of_executions(profile: Profile) -> NDArray[np.int64]:
    return np.array([run.process for run in profile.runs], np.int64)[profile.executions.run]

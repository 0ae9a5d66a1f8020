"""Measures the peak rates that NumPy's BLAS and NumPy's own loops reach on this machine.

This must run in a process of its own, because BLAS fixes its number of threads when it is loaded.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.peaks import STABLE_DOUBT, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Job = Callable[[], float]

MATRIX_SIZES: Final = (512, 1024, 2048)
"""Rows and columns of the matrices. The fastest size counts. Which one that is depends on the
caches."""
ARRAY_BYTES: Final = 1 << 28
"""The size of each array that is copied: far more than caches hold."""
LEAST_ROUNDS: Final = 5
TIME_LIMIT_S: Final = 3.0
"""After this time, a rate that is not yet stable is returned as it is, with its doubt."""
WHOLE_LIMIT_S: Final = 10.0
"""The time of a whole measurement with one number of threads. On a busy machine, nothing becomes
stable, and waiting longer would not help. If the warm-up and one round of each rate
take longer than this, the measurement takes that long.
"""
PAUSE_S: Final = 1.5
"""The time between two series of rounds. Short loads of other programs do not disturb both."""
_MOST_SERIES: Final = 3
_AGREEING: Final = 3
"""How many of the best rounds must agree. Two agree by chance too often."""
_TOLERATED_IDLE: Final = 0.1
"""A larger idle share of a round counts as doubt. Threads that wait only for each other have a
smaller one."""
_TOLERATED_LOAD: Final = 0.1
"""A larger share of CPU time that other programs use counts as doubt. Every system uses some CPU
time for itself."""
CPU_STATISTICS: Final = Path("/proc/stat")
_BUSY: Final = (0, 1, 2, 5, 6)
"""The fields of `cpu` in `/proc/stat` that are CPU time of programs and of the kernel."""
_TIMES: Final = 8
"""How many fields, from the first on, add up to the time of all cores. The others are parts of
these."""
_STEAL: Final = 7
"""The field with the time in which the host of a virtual machine ran something else."""
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Rate(NamedTuple):
    """A measured rate."""

    best: float
    """The work per second of the best round of the best job."""
    doubt: float
    """How much too low `best` may be, as a share of the real rate. It is the largest of three: the
    spread of the best rounds of that job, the difference between the best two series, and the share
    of the time in which other programs had the cores (`_Round.idle` and `other_load`)."""


class _Round(NamedTuple):
    rate: float
    """The work per second."""
    idle: float
    """The share of the round in which the threads were idle: they waited, perhaps for a core."""


def measure(threads: int, say: Callable[[str], None] = lambda _: None) -> Measured:
    """Return the rates of `threads` threads, which BLAS must be configured for. Takes seconds.

    `say` receives progress messages.
    """
    noun = "one thread" if threads == 1 else f"{threads} threads"
    deadline = perf_counter() + WHOLE_LIMIT_S
    before, cpu_before = cpu_statistics(), process_time()
    flops: list[Rate] = []
    bandwidth: list[Rate] = []
    for number in range(1, _MOST_SERIES + 1):
        if number > 1:
            sleep(PAUSE_S)
        started = perf_counter()
        # The first series leaves time for the pause and the second one, which must follow.
        parts, reserved_s = (4, PAUSE_S) if number == 1 else (2, 0.0)
        again = f", series {number}" if number > 1 else ""
        say(f"products of matrices, {noun}{again}")
        limit_s = _limit_s(deadline - reserved_s, parts)
        flops.append(best_rate([_product(size) for size in MATRIX_SIZES], threads, limit_s))
        say(f"copies of large arrays, {noun}{again}")
        with _moves(threads) as moves:
            limit_s = _limit_s(deadline - reserved_s, parts - 1)
            bandwidth.append(best_rate(moves, threads, limit_s))
        now = perf_counter()
        has_time = now + PAUSE_S + (now - started) <= deadline
        if now > deadline or (number > 1 and (_is_stable(flops, bandwidth) or not has_time)):
            break
    load = other_load(before, cpu_statistics(), process_time() - cpu_before)
    best_flops, best_bandwidth = best_of(flops, load), best_of(bandwidth, load)
    return Measured(
        threads,
        best_flops.best,
        best_bandwidth.best,
        best_flops.doubt,
        best_bandwidth.doubt,
    )


def _limit_s(deadline: float, parts: int) -> float:
    """Return the time limit of the next of `parts` rates, which share the time that is left."""
    return min(TIME_LIMIT_S, max(deadline - perf_counter(), 0.0) / parts)


def _is_stable(*rates: Sequence[Rate]) -> bool:
    return max(best_of(series).doubt for series in rates) <= STABLE_DOUBT


def best_of(series: Sequence[Rate], load: float = 0.0) -> Rate:
    """Return the best rate of the series. Its doubt includes how far the best two series differ.

    The doubt of a single series is 1: nothing confirms its rate.

    `load` is the share of the CPU time that other programs used: see `other_load`.
    """
    best, second = [*sorted(series, reverse=True), Rate(0.0, 1.0)][:2]
    load = load if load > _TOLERATED_LOAD else 0.0
    return Rate(best.best, max(best.doubt, 1 - second.best / best.best, load))


def cpu_statistics() -> list[int]:
    """Return the `cpu` fields of `/proc/stat`, in ticks; none on systems without this file."""
    with suppress(OSError, ValueError, IndexError):
        first_line = CPU_STATISTICS.read_text(encoding="ascii").splitlines()[0]
        ticks = [int(field) for field in first_line.split()[1:]]
        return ticks if len(ticks) >= _TIMES else []
    return []


def other_load(before: Sequence[int], after: Sequence[int], own_s: float) -> float:
    """Return the share of CPU time that other programs used between two `cpu_statistics`.

    A program on another core slows this one without taking CPU time from it: cores share caches,
    memory and the clock rate, and often two of them are threads of one physical core. A virtual
    machine does not even see programs beside it, only the time that they stole.
    """
    passed = [late - early for early, late in zip(before, after, strict=False)]  # may be empty
    total = sum(passed[:_TIMES])
    if total <= 0:
        return 0.0
    busy, stolen = sum(passed[field] for field in _BUSY), passed[_STEAL]
    others = (busy - own_s * _TICKS_PER_S) / total
    return min(max(others, stolen / max(busy + stolen, 1), 0.0), 1.0)


def best_rate(
    jobs: Iterable[Job],
    threads: int,
    limit_s: float = TIME_LIMIT_S,
    clock: Callable[[], float] = perf_counter,
    cpu_clock: Callable[[], float] = process_time,
) -> Rate:
    """Return the rate of the fastest job, measured until it is stable or `limit_s` is over.

    A job returns the work that it did. Each round runs every job once, so that other programs
    disturb all jobs alike.
    """
    rounds: dict[Job, list[_Round]] = {job: [] for job in jobs}
    for job in rounds:
        job()  # warms up
    deadline = clock() + limit_s
    while True:
        for job, measured in rounds.items():
            started, cpu_started = clock(), cpu_clock()
            work = job()
            duration, cpu_time = clock() - started, cpu_clock() - cpu_started
            measured.append(_Round(work / duration, 1 - cpu_time / duration / threads))
        fastest = sorted(max(rounds.values(), key=max), reverse=True)
        rate = Rate(fastest[0].rate, _doubt(fastest[:_AGREEING]))
        if len(fastest) >= LEAST_ROUNDS and rate.doubt <= STABLE_DOUBT:
            return rate
        if clock() > deadline:
            return rate if len(fastest) >= _AGREEING else rate._replace(doubt=1.0)


def _doubt(best: Sequence[_Round]) -> float:
    """Return the doubt that follows from the `best` rounds, sorted from the fastest on."""
    # Under a constant load all rounds are equally slow, so they agree on a wrong rate. Idle threads
    # show such a load.
    idle = best[0].idle
    return max(1 - best[-1].rate / best[0].rate, idle if idle > _TOLERATED_IDLE else 0.0)


def _product(size: int) -> Job:
    """Return a job that multiplies square matrices, which takes 2 * size**3 FLO."""
    left = np.full((size, size), 1.5, np.float32)
    out = np.empty_like(left)

    def job() -> float:
        np.matmul(left, left, out=out)
        return 2.0 * size**3

    return job


@contextmanager
def _moves(threads: int) -> Iterator[list[Job]]:
    """Yield jobs that move memory: a copy, and the triad `a = b + 2 c`.

    Each thread works on its own part of the arrays.
    """
    count = ARRAY_BYTES // 8 // threads * threads  # 8-byte numbers, in parts of equal size
    source, other, target = (np.full(count, value) for value in (1.0, 2.0, 0.0))
    parts = [slice(n * (count // threads), (n + 1) * (count // threads)) for n in range(threads)]

    def copy() -> float:
        # `list` waits for all threads. NumPy releases the interpreter lock while it copies.
        list(pool.map(lambda part: np.copyto(target[part], source[part]), parts))
        return 2.0 * source.nbytes

    def triad() -> float:
        def one(part: slice) -> None:
            np.multiply(other[part], 2.0, out=target[part])
            np.add(target[part], source[part], out=target[part])

        list(pool.map(one, parts))
        return 5.0 * source.nbytes  # a read and a write, then two reads and a write

    with ThreadPoolExecutor(threads) as pool:
        yield [copy, triad]

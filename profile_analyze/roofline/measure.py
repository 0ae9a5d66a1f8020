"""Measures the peak rates that NumPy's BLAS and NumPy's own loops reach on this machine.

Use this module in a separate process, because BLAS fixes its number of threads when it is loaded.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.roofline.peaks import STABLE_DOUBT, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Job = Callable[[], float]

MATRIX_SIZES: Final = (512, 1024, 2048)
"""The numbers of rows of the square matrices. Only the fastest size counts. Which size is fastest
depends on the caches."""
ARRAY_BYTES: Final = 1 << 28
"""The size of each array that is copied, far larger than the caches."""
LEAST_ROUNDS: Final = 5
TIME_LIMIT_S: Final = 3.0
"""After this time, a rate is returned with its doubt even if it is not yet stable."""
WHOLE_LIMIT_S: Final = 10.0
"""The time limit of a whole measurement with one number of threads. On a busy machine, no rate
becomes stable, and waiting longer would not help. The warm-up and one round of each rate always
run, even if they take longer."""
PAUSE_S: Final = 1.5
"""The pause between two series of rounds, so that a short load of another program disturbs only
one series."""
_MOST_SERIES: Final = 3
_AGREEING: Final = 3
"""How many of the best rounds must agree. Two rounds agree by chance too often."""
_TOLERATED_IDLE: Final = 0.1
"""Idle time counts as doubt only above this share of a round. Threads that wait only for each other
are idle for less."""
_TOLERATED_LOAD: Final = 0.1
"""The load of other programs counts as doubt only above this value of `other_load`. Every system
uses some CPU time for itself."""
CPU_STATISTICS: Final = Path("/proc/stat")
_BUSY: Final = (0, 1, 2, 5, 6)
"""Indices of the fields after `cpu` in `/proc/stat` that count CPU time of programs and the
kernel."""
_TIMES: Final = 8
"""The first eight fields add up to the time of all cores. The fields after them are already
included."""
_STEAL: Final = 7
"""The index of the stolen time, in which the host of a virtual machine ran something else."""
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Rate(NamedTuple):
    """A measured rate."""

    best: float
    """The work per second in the fastest round of the fastest job."""
    doubt: float
    """How much too low `best` may be, as a share of the real rate. It is the largest of:

    - the spread of the best rounds of the fastest job
    - the difference between the best two series
    - the idle time in the fastest round, as a share of the round (`_Round.idle`)
    - the load of other programs (`other_load`)
    """


class _Round(NamedTuple):
    rate: float
    """The work per second."""
    idle: float
    """The share of the round in which the threads used no CPU, perhaps waiting for a core."""


def measure(threads: int, say: Callable[[str], None] = lambda _: None) -> Measured:
    """Return the rates that `threads` threads reach. This takes several seconds.

    BLAS must already be configured for this number of threads. `say` receives progress messages.
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
        # One series is not enough, so the first series leaves time for a pause and a second series.
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
    """Return the time limit of the next rate, if `parts` rates share the time until `deadline`."""
    return min(TIME_LIMIT_S, max(deadline - perf_counter(), 0.0) / parts)


def _is_stable(*rates: Sequence[Rate]) -> bool:
    return max(best_of(series).doubt for series in rates) <= STABLE_DOUBT


def best_of(series: Sequence[Rate], load: float = 0.0) -> Rate:
    """Return the best rate of all series. Its doubt includes how far the best two series differ.

    A single series has a doubt of 1, because no other series confirms its rate. `load` is a result
    of `other_load`.
    """
    best, second = [*sorted(series, reverse=True), Rate(0.0, 1.0)][:2]
    load = load if load > _TOLERATED_LOAD else 0.0
    return Rate(best.best, max(best.doubt, 1 - second.best / best.best, load))


def cpu_statistics() -> list[int]:
    """Return the `cpu` fields of `/proc/stat`, in ticks; empty on systems without this file."""
    with suppress(OSError, ValueError, IndexError):
        first_line = CPU_STATISTICS.read_text(encoding="ascii").splitlines()[0]
        ticks = [int(field) for field in first_line.split()[1:]]
        return ticks if len(ticks) >= _TIMES else []
    return []


def other_load(before: Sequence[int], after: Sequence[int], own_s: float) -> float:
    """Return how much other programs disturbed this process, from 0 to 1.

    The result is the larger of two shares:

    - the CPU time of other programs and the kernel, as a share of the time of all cores
    - the stolen time, as a share of the busy time and the stolen time together

    `before` and `after` are results of `cpu_statistics`. `own_s` is the CPU time of this process
    between them, in seconds.

    A program on another core slows down this process without taking CPU time from it. Cores share
    caches, memory and the clock rate, and two logical cores often share one physical core. A
    virtual machine cannot see programs outside it, only the time that they stole.
    """
    # The lists are empty on systems without `/proc/stat`.
    passed = [late - early for early, late in zip(before, after, strict=False)]
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
    """Run the jobs until the fastest job has a stable rate, or until `limit_s` has passed.

    Return the rate of the fastest job. A job returns the work that it did. Each round runs every
    job once, so that other programs disturb all jobs alike.
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
    """Return the doubt of a rate from its `best` rounds, the fastest first."""
    # Under a constant load, all rounds are equally slow and agree on a rate that is too low. Idle
    # threads reveal this load.
    idle = best[0].idle
    return max(1 - best[-1].rate / best[0].rate, idle if idle > _TOLERATED_IDLE else 0.0)


def _product(size: int) -> Job:
    """Return a job that multiplies two square matrices. Its work is 2 * size**3 FLO."""
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
        def triad_of(part: slice) -> None:
            np.multiply(other[part], 2.0, out=target[part])
            np.add(target[part], source[part], out=target[part])

        list(pool.map(triad_of, parts))
        return 5.0 * source.nbytes  # multiply: a read and a write; add: two reads and a write

    with ThreadPoolExecutor(threads) as pool:
        yield [copy, triad]

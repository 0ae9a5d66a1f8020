"""Measures the peak rates of this machine, as NumPy's BLAS and its loops reach them.

This must run in a process of its own, because BLAS fixes its number of threads when it is loaded.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.peaks import STABLE_DOUBT, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Job = Callable[[], float]

MATRIX_SIZES: Final = (512, 1024, 2048)
"""Rows and columns of the matrices. The best size counts, which depends on the caches."""
ARRAY_BYTES: Final = 1 << 28
"""The size of each array that is copied: far more than caches hold."""
LEAST_ROUNDS: Final = 5
TIME_LIMIT_S: Final = 3.0
"""After this time, a rate that is not stable is given up."""
_AGREEING: Final = 3
"""How many of the best rounds must agree. Two agree by chance too often."""
_TOLERATED_IDLE: Final = 0.1
"""Threads wait for each other for less than this share of a round."""


class Rate(NamedTuple):
    """A measured rate."""

    best: float
    """The work per second of the best round of the best job."""
    doubt: float
    """The share by which the rate may be wrong: the larger of how far the best rounds of that job
    are apart, and of the time in which other programs had its cores."""


class _Round(NamedTuple):
    rate: float
    """The work per second."""
    idle: float
    """The share of the round in which the threads did not run."""


def measure(threads: int, say: Callable[[str], None] = lambda _: None) -> Measured:
    """Return the rates of `threads` threads, which BLAS must be configured for. Takes seconds.

    `say` receives progress messages.
    """
    noun = "one thread" if threads == 1 else f"{threads} threads"
    say(f"products of matrices, {noun}")
    flops = best_rate([_product(size) for size in MATRIX_SIZES], threads)
    say(f"copies of large arrays, {noun}")
    with _moves(threads) as moves:
        bandwidth = best_rate(moves, threads)
    return Measured(threads, flops.best, bandwidth.best, flops.doubt, bandwidth.doubt)


def best_rate(
    jobs: Iterable[Job],
    threads: int,
    clock: Callable[[], float] = perf_counter,
    cpu_clock: Callable[[], float] = process_time,
) -> Rate:
    """Return the rate of the fastest job, measured until it is stable or the time is up.

    A job returns the work that it did. Each round runs every job once, so that other programs
    disturb all jobs alike.
    """
    rounds: dict[Job, list[_Round]] = {job: [] for job in jobs}
    for job in rounds:
        job()  # warms up
    deadline = clock() + TIME_LIMIT_S
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
        if len(fastest) >= _AGREEING and clock() > deadline:
            return rate


def _doubt(best: Sequence[_Round]) -> float:
    """Return the doubt of a rate: see `Rate.doubt`. The first of the `best` rounds is the best."""
    # Under a constant load all rounds are equally slow: they agree on a wrong rate.
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
        return 5.0 * source.nbytes  # two reads and a write, then another read and write

    with ThreadPoolExecutor(threads) as pool:
        yield [copy, triad]

"""Measures the peak rates of this machine, as NumPy's BLAS and its loops reach them.

This must run in a process of its own, because BLAS fixes its number of threads when it is loaded.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MATRIX_SIZES: Final = (512, 1024, 2048)
"""Rows and columns of the matrices. The best size counts, which depends on the caches."""
ARRAY_BYTES: Final = 1 << 28
"""The size of each array that is copied: far more than caches hold."""
ROUNDS: Final = 5
"""How often each job is timed. The best round counts: other work only makes a round slower."""


class Measured(NamedTuple):
    """The rates of a number of threads, and their spread over the rounds."""

    threads: int
    flops: float
    """FLO/s: the best of all products of single-precision matrices."""
    bandwidth: float
    """Bytes per second, read and written: the best of all copies and triads."""
    flops_spread: float
    """(best - worst) / best over the rounds of the best size."""
    bandwidth_spread: float


def measure(threads: int, say: Callable[[str], None] = lambda _: None) -> Measured:
    """Return the rates of `threads` threads, which BLAS must be configured for. Takes seconds.

    `say` receives progress messages.
    """
    noun = "one thread" if threads == 1 else f"{threads} threads"
    say(f"products of matrices, {noun}")
    products = [_rates(_product(size)) for size in MATRIX_SIZES]
    say(f"copies of large arrays, {noun}")
    moves = [_rates(job) for job in _moves(threads)]
    flops, bandwidth = max(products, key=max), max(moves, key=max)
    return Measured(threads, max(flops), max(bandwidth), _spread(flops), _spread(bandwidth))


def _spread(rates: list[float]) -> float:
    return 1 - min(rates) / max(rates)


def _rates(job: Callable[[], float]) -> list[float]:
    """Return the work of `job` per second in each round."""
    job()  # warms up
    rates = []
    for _ in range(ROUNDS):
        started = perf_counter()
        work = job()
        rates.append(work / (perf_counter() - started))
    return rates


def _product(size: int) -> Callable[[], float]:
    """Return a job that multiplies square matrices, which takes 2 * size**3 FLO."""
    left = np.full((size, size), 1.5, np.float32)
    out = np.empty_like(left)

    def job() -> float:
        np.matmul(left, left, out=out)
        return 2.0 * size**3

    return job


def _moves(threads: int) -> Iterator[Callable[[], float]]:
    """Yield jobs that move memory: a copy, and the triad `a = b + 2 c`.

    Each thread works on its own part of the arrays.
    """
    count = ARRAY_BYTES // 8 // threads * threads  # 8-byte numbers, in parts of equal size
    source, other, target = (np.full(count, value) for value in (1.0, 2.0, 0.0))
    parts = [slice(n * (count // threads), (n + 1) * (count // threads)) for n in range(threads)]
    pool = ThreadPoolExecutor(threads)

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

    yield copy
    yield triad
    pool.shutdown()

"""The peak rates of this machine, measured: what NumPy's BLAS and its loops reach.

It has to run in a process of its own, because BLAS fixes its number of threads when it is loaded.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MATRIX_SIZES: Final = (512, 1024, 2048)
ARRAY_BYTES: Final = 1 << 28
"""Of each of the arrays that are copied: far more than caches hold."""
ROUNDS: Final = 5


class Measured(NamedTuple):
    """The rates of some number of threads, and how far the rounds were apart."""

    threads: int
    flops: float
    """FLO/s: the best of all products of single-precision matrices."""
    bandwidth: float
    """Bytes per second: the best of all copies and triads, reads and writes counted."""
    flops_spread: float
    """(best - worst) / best over the rounds of the best size."""
    bandwidth_spread: float


def measure(threads: int, say: Callable[[str], None] = lambda _: None) -> Measured:
    """Rates with `threads` threads; BLAS must have been told of them. Takes seconds.

    `say` is told what is measured next.
    """
    say(f"products of matrices, {_threads(threads)}")
    products = [_rates(_product(size)) for size in MATRIX_SIZES]
    say(f"copies of large arrays, {_threads(threads)}")
    moves = [_rates(job) for job in _moves(threads)]
    flops, bandwidth = max(products, key=max), max(moves, key=max)
    return Measured(threads, max(flops), max(bandwidth), _spread(flops), _spread(bandwidth))


def _threads(count: int) -> str:
    return "one thread" if count == 1 else f"{count} threads"


def _spread(rates: list[float]) -> float:
    return 1 - min(rates) / max(rates)


def _rates(job: Callable[[], float]) -> list[float]:
    """What `job` does per second, in each round; a first one warms up."""
    job()
    rates = []
    for _ in range(ROUNDS):
        started = perf_counter()
        done = job()
        rates.append(done / (perf_counter() - started))
    return rates


def _product(size: int) -> Callable[[], float]:
    """A product of square matrices, which takes 2 * size**3 FLO."""
    import numpy as np

    left = np.full((size, size), 1.5, np.float32)
    out = np.empty_like(left)

    def job() -> float:
        np.matmul(left, left, out=out)
        return 2.0 * size**3

    return job


def _moves(threads: int) -> Iterator[Callable[[], float]]:
    """A copy, and the triad `a = b + 2 c`, each thread with a part of the arrays."""
    import numpy as np

    count = ARRAY_BYTES // 8 // threads * threads
    source, other, target = (np.full(count, value) for value in (1.0, 2.0, 0.0))
    parts = [slice(n * (count // threads), (n + 1) * (count // threads)) for n in range(threads)]
    pool = ThreadPoolExecutor(threads)

    def copy() -> float:
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

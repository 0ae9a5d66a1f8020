"""Measures the time of a question about a million executions, without reading a file.

    python -m benchmarks.executions

The profile is made in memory. In each of its ten runs, 400 operators run on a host thread, nested
five deep. They launch 100 kernels, which run on three streams. The measured time includes choosing
the level, grouping by type, computing the totals and writing the text.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Final

import numpy as np

import profile_analyze as pa
from profile_analyze.model.categorical import Categorical

EXECUTIONS: Final = 1_000_000
OPERATORS: Final = 400
KERNELS: Final = 100
RUNS: Final = 10
ON_HOST: Final = EXECUTIONS * 6 // 10
ON_DEVICE: Final = EXECUTIONS - ON_HOST
LAUNCH_DELAY_US: Final = 10
ROUNDS: Final = 5


def profile() -> pa.Profile:
    """Return the profile. It is the same in each call."""
    random = np.random.default_rng(20201120)
    rows = np.arange(EXECUTIONS)
    is_host = rows < ON_HOST
    operator = np.where(
        is_host,
        random.integers(0, OPERATORS, EXECUTIONS),
        random.integers(OPERATORS, OPERATORS + KERNELS, EXECUTIONS),
    )
    run = np.where(is_host, rows * RUNS // ON_HOST, (rows - ON_HOST) * RUNS // ON_DEVICE)
    # The host's executions of a run are consecutive rows. A random one launches each kernel.
    launcher = run * (ON_HOST // RUNS) + random.integers(0, ON_HOST // RUNS, EXECUTIONS)
    executions = pa.Executions.of(
        operator,
        np.where(is_host, 6e-6 - rows % 5 * 1e-6, random.random(EXECUTIONS) * 1e-5),
        start_s=np.where(is_host, rows, launcher + LAUNCH_DELAY_US) * 1e-6,
        run=run,
        track=np.where(is_host, 0, 1 + random.integers(0, 3, EXECUTIONS)),
        parent=np.where(is_host & (rows % 5 > 0), rows - 1, -1),
        launched_by=np.where(is_host, -1, launcher),
    )
    operators = pa.Operators.of(
        key=np.arange(OPERATORS + KERNELS),
        name=Categorical.of([f"operator_{n}" for n in range(OPERATORS + KERNELS)]),
        type=Categorical.of([f"Type{n % 17}" for n in range(OPERATORS + KERNELS)]),
        level=Categorical.of(["operator"] * OPERATORS + ["kernel"] * KERNELS),
    )
    streams = (pa.Track(f"stream {n}", "device", "gpu 0", "stream") for n in range(3))
    return pa.Profile(
        file="a million executions",
        origin=pa.Origin("made in memory"),
        operators=operators,
        executions=executions,
        tracks=(pa.Track("thread", "host", kind="thread"), *streams),
        runs=tuple(pa.Run(0, step) for step in range(RUNS)),
        processes=("a million executions",),
    )


def bytes_per_execution(executions: pa.Executions) -> float:
    """Return the bytes per execution. A column with the same value in all rows takes no memory."""
    columns = [getattr(executions, name) for name in executions.__dataclass_fields__]
    arrays = [one for one in columns if isinstance(one, np.ndarray) and one.strides != (0,)]
    return sum(one.nbytes for one in arrays) / len(executions)


def answer(asked: pa.Profile) -> str:
    """Return what the command prints about a profile, grouped by type."""
    shown = pa.at_level(asked)
    query = pa.Query(by="type")
    table = pa.run(query, shown)
    return pa.render(pa.Report.of(pa.summarise(shown, judged_by=query), (table,)), "plain")


def main() -> None:
    """Print the median time of `ROUNDS` rounds."""
    asked = profile()
    assert asked.check() == ()
    answer(asked)  # imports modules, which must not be measured
    seconds = []
    for _ in range(ROUNDS):
        fresh = asked.changed()  # without cached results
        started = perf_counter()
        answer(fresh)
        seconds.append(perf_counter() - started)
    print(
        f"{EXECUTIONS:,} executions, {bytes_per_execution(asked.executions):.0f} bytes each: "
        f"by type in {median(seconds):.2f} s"
    )


if __name__ == "__main__":
    main()

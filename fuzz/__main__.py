"""`python -m fuzz`: run random inputs and check the invariants; see `make fuzz`."""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import secrets
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from fuzz.campaign import Tally, check_inputs, import_libraries

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

FOUND: Final = Path(__file__).parent / "found"
_BATCH: Final = 250
"""How many inputs a process checks at a time."""
_HANG_S: Final = 100
"""The time limit of an input. A process that exceeds it prints its stack and ends."""


def main() -> int:
    """Run the inputs and print the tally. Return 1 if an input breaks an invariant."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, help="the seed of the inputs (default: a new one)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument(
        "--inputs", type=int, help="how many inputs (default: as many as time allows)"
    )
    parser.add_argument(
        "--minutes", type=float, default=3.0, help="the time limit, unless --inputs is given"
    )
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}, commit {_commit()}, Python {sys.version.split()[0]}", flush=True)
    start = monotonic()
    end = inf if arguments.inputs is None else arguments.first + arguments.inputs
    deadline = start + 60 * arguments.minutes if arguments.inputs is None else inf
    numbers = (
        range(first, int(min(first + _BATCH, end))) for first in count(arguments.first, _BATCH)
    )

    def next_batch() -> range | None:
        if monotonic() > deadline:
            return None
        return next(numbers) or None  # an empty range: all inputs are taken

    tally = Tally()
    try:
        _run(seed, next_batch, arguments.processes, tally)
    except BrokenProcessPool:
        print(f"a process ended during a batch: an input took over {_HANG_S} s, or crashed it")
        return 1
    _print(tally, seed, monotonic() - start)
    return 1 if tally.broken else 0


def _run(seed: int, next_batch: Callable[[], range | None], processes: int, tally: Tally) -> None:
    """Check batches in parallel until `next_batch` returns None. Add the results to `tally`."""
    with ProcessPoolExecutor(processes) as pool:
        running: set[Future[Tally]] = set()
        while True:
            while len(running) < processes and (batch := next_batch()) is not None:
                running.add(pool.submit(_check_batch, seed, batch))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                tally.add(one.result())


def _check_batch(seed: int, numbers: range) -> Tally:
    """Return the tally of a batch. A process that hangs prints its stack and ends."""
    import_libraries()
    tally = Tally()
    for number in numbers:
        faulthandler.dump_traceback_later(_HANG_S, exit=True)
        try:
            tally.add(check_inputs(seed, [number], save_to=FOUND, costs=True))
        finally:
            faulthandler.cancel_dump_traceback_later()
    return tally


def _print(tally: Tally, seed: int, seconds: float) -> None:
    codes = ", ".join(f"{code}: {number}" for code, number in sorted(tally.codes.items()))
    print(f"{tally.inputs} inputs in {seconds / 60:.1f} minutes; exit codes {codes}")
    print(f"profiles read: {tally.profiles}; the slowest call took {tally.slowest_s:.2f} s")
    print(f"inputs that break an invariant: {len(tally.broken)}")
    for number, sentences in sorted(tally.broken)[:40]:
        print(f"  {seed}-{number}: {json.dumps(sentences[0][:300], ensure_ascii=True)}")
    if tally.broken:
        print(f"saved in {os.path.relpath(FOUND)}; repeat: --seed {seed} --first NUMBER --inputs 1")


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=FOUND.parent, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

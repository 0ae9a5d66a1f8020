"""Measures the time and the peak memory of processes."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"


@dataclass(frozen=True)
class Cost:
    """The cost of one process."""

    seconds: float
    peak_mib: float


def cost_of(argv: Sequence[str]) -> Cost:
    """Run `argv`, discard its output, and return its cost.

    Raises `RuntimeError` if the command fails.
    """
    # Let Python store compiled modules, as it does for an installed package.
    environment = {key: value for key, value in os.environ.items() if key != _NO_BYTECODE}
    started = time.perf_counter()
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit status {process.returncode}: {' '.join(argv)}")
    return Cost(seconds, usage.ru_maxrss / 1024)


def side_by_side(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, Cost]:
    """Run the commands in turn (A B A B ...) and return the median cost of each."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            costs[name].append(cost_of(argv))
    return {
        name: Cost(
            median(cost.seconds for cost in measured), median(cost.peak_mib for cost in measured)
        )
        for name, measured in costs.items()
    }

"""Measures the time and the peak memory of processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
_LAUNCHER: Final = Path(__file__).parent / "launcher.py"


@dataclass(frozen=True)
class Cost:
    """The cost of one process."""

    seconds: float
    peak_mib: float


def cost_of(argv: Sequence[str]) -> Cost:
    """Run `argv`, discard its output, and return its cost.

    Raises `RuntimeError` if the command fails.
    """
    launcher = _launcher()
    assert launcher.stdin is not None, "the launcher reads commands"
    assert launcher.stdout is not None, "the launcher prints costs"
    launcher.stdin.write(json.dumps([*map(str, argv)]) + "\n")
    launcher.stdin.flush()
    seconds, peak_kib, status = json.loads(launcher.stdout.readline())
    if status:
        raise RuntimeError(f"exit status {status}: {' '.join(argv)}")
    return Cost(seconds, peak_kib / 1024)


@lru_cache(maxsize=1)
def _launcher() -> subprocess.Popen[str]:
    """Start the process that runs the commands: see `launcher.py`. It ends with this process."""
    # Let Python store compiled modules, as it does for an installed package.
    environment = {key: value for key, value in os.environ.items() if key != _NO_BYTECODE}
    return subprocess.Popen(
        [sys.executable, "-S", str(_LAUNCHER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )


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

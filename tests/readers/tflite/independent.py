"""Counts the seconds of each type in a benchmark log, with regular expressions alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ROW = re.compile(
    r"^(?:INFO: )?\s*(.+?)[\s,]+(?:[\d.]+[\s,]+)*?([\d.]+)[\s,]+[\d.]+%[\s,]+[\d.]+%[\s,]+"
    r"[\d.]+[\s,]+(\d+)[\s,]"
)


def expected(path: Path) -> dict[str, float]:
    """Return the seconds by type of the main graph's nodes, from the table `Run Order`."""
    text = path.read_text("utf-8").rpartition("Regular Benchmark Runs:")[2]
    rows = re.split(r"={5,} (?:Run Order|Top by Computation Time) ={5,}", text)[1].splitlines()
    seconds: dict[str, float] = {}
    for found in filter(None, map(_ROW.match, rows)):
        type_, mean_ms, calls = found.groups()
        seconds[type_] = seconds.get(type_, 0.0) + float(mean_ms) * int(calls) / 1e3
    return seconds

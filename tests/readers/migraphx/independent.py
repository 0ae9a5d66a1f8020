"""Adds up the times in a MIGraphX report independently, with regular expressions alone."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SYMBOL = re.compile(r"symbol_name=([^,\]]*)")


def type_of(operator: str) -> str:
    """Return the name under which the summary of MIGraphX adds up the times of an instruction."""
    symbol = SYMBOL.search(operator)
    if operator.startswith("gpu::code_object[") and symbol is not None:
        return f"gpu::code_object::{symbol[1]}"
    return "@param" if operator.startswith("@param:") else re.split(r"[\[({ ]", operator)[0]


def expected(path: Path) -> dict[str, float]:
    """Return the seconds of each type.

    These are the times of the instructions. If no instruction has a time, they are the times in the
    summary. If the summary has no times either, the total has the key "None".
    """
    text = path.read_text(encoding="utf-8").replace("\uff1a", ":").replace("\uff0c", ",")
    found: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        timed = re.fullmatch(r"(?:.*\))?\S.* = (\S.*) -> .*: ([\d.e-]+)ms,\s*[\d.]+%", line)
        if timed is not None:
            found[type_of(timed[1])] += float(timed[2]) / 1e3
    if not found:
        for line in text.splitlines():
            group = re.fullmatch(r"(.*?): ([\d.e-]+)ms(?: / \d+ = [\d.e-]+ms)?,\s*[\d.]+%", line)
            if group is not None:
                type_ = re.sub(r"<.*>$", "", group[1])  # --detailed appends shapes in brackets
                found[type_] += float(group[2]) / 1e3
    if not found:
        total = re.search(r"Total instructions time: ([\d.e-]+)ms", text)
        found["None"] = float(total[1]) / 1e3 if total else 0.0
    return dict(found)

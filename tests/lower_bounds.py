"""Prints pyproject.toml's dependencies pinned to their lower bounds, for `make test-oldest`."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
RUNTIME = TEXT.split("\ndependencies = [")[1].split("\n]")[0]
ZSTD = TEXT.split("\nzstd = [")[1].split("]")[0]

if __name__ == "__main__":
    bounds = re.findall(r'"([a-z]+)>=([0-9.]+)', RUNTIME + ZSTD)
    print(" ".join(f"{name}=={version}" for name, version in bounds))

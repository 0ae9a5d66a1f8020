"""Prints the dependencies and those of three extras, pinned to their lower bounds.

`make test-oldest` installs these versions. The bounds are from pyproject.toml. Some of them depend
on the version of Python. The Python that runs this program decides.
"""

from __future__ import annotations

import operator
import re
import sys
from pathlib import Path

TEXT = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
RUNTIME = TEXT.split("\ndependencies = [")[1].split("\n]")[0]
EXTRAS = "".join(
    TEXT.split(f"\n{extra} = [")[1].split("\n]")[0] for extra in ("fleet", "sql", "zstd")
)
BOUND = re.compile(r"\"([a-z]+)>=([0-9.]+)(?:; python_version (<|>=|==) '3\.(\d+)')?\"")
COMPARISONS = {"<": operator.lt, ">=": operator.ge, "==": operator.eq}


def lower_bounds(text: str, minor: int) -> dict[str, str]:
    """Return the lowest version of each package for Python 3.`minor`.

    If several bounds of a package apply, the last bound is used.
    """
    return {
        name: version
        for name, version, comparison, bound in BOUND.findall(text)
        if not comparison or COMPARISONS[comparison](minor, int(bound))
    }


if __name__ == "__main__":
    bounds = lower_bounds(RUNTIME + EXTRAS, sys.version_info.minor)
    print(" ".join(f"{name}=={version}" for name, version in bounds.items()))

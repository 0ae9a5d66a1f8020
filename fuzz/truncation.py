"""`python -m fuzz.truncation FILE`: a profile cut short at every byte is told in one line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from fuzz.campaign import of_call
from fuzz.cases import Case
from fuzz.running import answered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SHOWN: Final = 20


def broken(data: bytes, lengths: Iterable[int]) -> Iterator[str]:
    """A sentence for each of `lengths` to which `data` cut short is not an error in one line."""
    for length in lengths:
        case = Case(files={}, arguments=("-",), stdin=data[:length])
        outcome = answered(case)
        if outcome.code != 1:
            yield f"{length} bytes: exit code {outcome.code}"
        yield from (f"{length} bytes: {sentence}" for sentence in of_call(case, outcome))


def main() -> int:
    """Cut a file short at every byte, print how often and what was found; 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.truncation", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--step", type=int, default=1, help="in bytes (default: every byte)")
    arguments = parser.parse_args()
    begun = monotonic()
    data = arguments.file.read_bytes().rstrip()
    lengths = range(0, len(data), arguments.step)
    found = list(broken(data, lengths))
    minutes = (monotonic() - begun) / 60
    print(
        f"{arguments.file.name} cut short at {len(lengths)} places in {minutes:.1f} minutes: ",
        end="",
    )
    print(f"{len(found)} without an error in one line")
    print("".join(f"  {sentence}\n" for sentence in found[:_SHOWN]), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

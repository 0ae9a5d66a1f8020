"""`python -m fuzz.truncation FILE`: a profile truncated at any byte must give a one-line error."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from fuzz.campaign import check_call
from fuzz.cases import Case
from fuzz.running import run_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SHOWN: Final = 20


def check_lengths(data: bytes, lengths: Iterable[int]) -> Iterator[str]:
    """Truncate `data` to each length. Yield a sentence if this does not give a one-line error."""
    for length in lengths:
        case = Case(files={}, arguments=("-",), stdin=data[:length])
        outcome = run_case(case)
        if outcome.code != 1:
            yield f"{length} bytes: exit code {outcome.code}"
        yield from (f"{length} bytes: {sentence}" for sentence in check_call(case, outcome))


def main() -> int:
    """Truncate a file at every byte and print the failures. Return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.truncation", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--step", type=int, default=1, help="in bytes (default: every byte)")
    arguments = parser.parse_args()
    start = monotonic()
    data = arguments.file.read_bytes().rstrip()
    lengths = range(0, len(data), arguments.step)
    sentences = list(check_lengths(data, lengths))
    minutes = (monotonic() - start) / 60
    print(
        f"{arguments.file.name} truncated to {len(lengths)} lengths in {minutes:.1f} minutes: ",
        end="",
    )
    print(f"{len(sentences)} failures")
    print("".join(f"  {sentence}\n" for sentence in sentences[:_SHOWN]), end="")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())

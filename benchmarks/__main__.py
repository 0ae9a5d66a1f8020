"""Runs the benchmarks and prints their tables: `make bench`."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cases import (
    AT_151_MB,
    AT_HALF_A_MILLION,
    COLD,
    DATA,
    FLOOR,
    INFERENCE,
    JSON_LOAD,
    ORIGINAL,
    OURS,
    ROOT,
    SIZES,
    Case,
    cached,
    compressed,
    models,
    onnx_runtime,
    pytorch,
    sizes,
    starts,
)
from benchmarks.cases import ours as our_command
from benchmarks.fleets import FILES, LOCAL_POOL, THOUSAND, data_sets, engines, many
from benchmarks.generate import write
from benchmarks.processes import Cost, side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    # The cost of each command, by the size and the name of the case.
    Costs: TypeAlias = Mapping[tuple[str, str], Mapping[str, Cost]]

REPORT = Path(__file__).parent / "README.md"
START, END = "<!-- measured: costs -->", "<!-- end: costs -->"


def main() -> None:
    """Run the benchmarks and print the tables. With `--write`, also update the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument(
        "--original",
        type=Path,
        default=ROOT / ".venv-original" / "bin" / "python",
        help="a Python with MegEngine 1.13.0 (`make original` installs one)",
    )
    parser.add_argument("--write", action="store_true", help=f"update the tables in {REPORT.name}")
    arguments = parser.parse_args()
    original = arguments.original if arguments.original.exists() else None
    if original:
        check_answers_agree(original)
    costs = {}
    for case in _cases(arguments.sizes, original):
        print(f"{case.size}, {case.name} ...", file=sys.stderr, flush=True)
        costs[case.size, case.name] = side_by_side(case.commands, arguments.rounds)
    heading = _heading(arguments.rounds, original)
    limits = "\n".join(_limits(costs))
    print(heading, "\n".join(_costs(costs)), limits, sep="\n\n")
    if arguments.write:
        limited = {case: costs[case] for case in costs if case in LIMITED}
        text = "\n\n".join((heading, "\n".join(_costs(limited)), limits))
        before = REPORT.read_text(encoding="utf-8").split(START)[0]
        REPORT.write_text(f"{before}{START}\n\n{text}\n\n{END}\n", encoding="utf-8")


def _cases(chosen: list[str], original: Path | None) -> Iterator[Case]:
    yield from starts(original)
    yield from sizes(chosen, original)
    if "151 MB" in chosen:
        yield from compressed()
    yield from many()
    yield from data_sets()
    yield from engines()
    yield from models()
    yield from onnx_runtime()
    yield from pytorch()
    yield from cached()


def check_answers_agree(original: Path) -> None:
    """Exit if the original and the tool answer a generated profile differently."""
    path = DATA / f"{SIZES['15 MB']}.json"
    write(path, SIZES["15 MB"])
    query = ["-t", "0", "--type", "ConvolutionForward", "--order-by", "+opr_id"]
    module = [str(original), "-W", "ignore", "-m", "megengine.tools.profile_analyze"]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    answers = [
        subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout
        for command in ([*module, str(path), *query], our_command(str(path), *query))
    ]
    if answers[0] != answers[1]:
        raise SystemExit("the original and the tool answer a generated profile differently")


def _heading(rounds: int, original: Path | None) -> str:
    describe = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(describe, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    return (
        f"Commit {done.stdout.strip()}; Python {platform.python_version()}; {machine}; medians "
        f"of {rounds} rounds; the commands of a case run in turn. "
        + ("The original is of MegEngine 1.13.0." if original else "The original is not installed.")
    )


def _costs(costs: Costs) -> Iterator[str]:
    """Yield the lines of the table of costs. Ratios are relative to our command in a case."""
    yield "| profile | case | command | time (s) | ratio | peak memory (MiB) | ratio |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for (size, case), of_case in costs.items():
        base = of_case[OURS]
        for name, cost in of_case.items():
            yield (
                f"| {size} | {case} | {name} | {cost.seconds:.3f} "
                f"| {cost.seconds / base.seconds:.2f} | {cost.peak_mib:.0f} "
                f"| {cost.peak_mib / base.peak_mib:.2f} |"
            )


LIMITS = (
    ("151 MB", "by type", ORIGINAL, "seconds", 1 / 15),
    ("151 MB", "by type", ORIGINAL, "peak_mib", 1 / 4),
    ("151 MB", "by type", FLOOR, "seconds", 2.2),
    ("154 KB", "default table", ORIGINAL, "seconds", 1 / 4),
    ("154 KB", "default table", FLOOR, "seconds", 1.3),
    ("1,000 x 154 KB", "by type", JSON_LOAD, "seconds", 1 / 2),
    ("10,000 x 154 KB", "by type", THOUSAND, "seconds", 12),
    ("10,000 x 154 KB", "data set", FILES, "seconds", 1 / 10),
    ("10,000 x 154 KB", "--engine dask", LOCAL_POOL, "seconds", 1.3),
    ("80 KB", "ResNet-50 as ONNX", INFERENCE, "seconds", 2),
    ("102 MB", "ResNet-50 as ONNX", INFERENCE, "seconds", 2),
    ("1.1 GB", "PyTorch, by type", JSON_LOAD, "seconds", 0.45),
    ("1.1 GB", "PyTorch, by type", JSON_LOAD, "peak_mib", 0.25),
    ("1.1 GB", "PyTorch, by type", AT_HALF_A_MILLION, "seconds", 12),
    ("0.9 GB", "second question, by type", COLD, "seconds", 1 / 10),
    ("1.1 GB", "second question, PyTorch", COLD, "seconds", 1 / 10),
    ("no file", "--help", "import argparse", "seconds", 2.5),
    ("no file", "--version", "import argparse", "seconds", 2.5),
    ("151 MB", "-t 0, full table", ORIGINAL, "seconds", 1 / 5),
    ("151 MB", "-t 0, full table", ORIGINAL, "peak_mib", 1 / 5),
)
"""Size, case, the command to compare with, the figure to compare, and the largest ratio allowed."""
LIMITED = {(size, case) for size, case, *_ in LIMITS}
"""The cases whose costs are in the report. A run prints those of all cases."""
LIMITS_OVER_BY_TYPE = {
    "--dump-only-opr -t 0": 1.3,
    "-t 0 --format csv": 1.5,
    "-t 0 --format json": 1.3,
}
"""For cases at 151 MB, the largest allowed ratio of their time to the time of `by type`."""
_NAMES = {"seconds": "time", "peak_mib": "memory"}


def limit_name(size: str, case: str, peer: str, figure: str) -> str:
    """Return the text for a limit in the table of limits."""
    return f"{size}, {case}: {_NAMES[figure]} relative to {peer}"


def _limits(costs: Costs) -> Iterator[str]:
    """Yield the lines of the table of limits and measured ratios."""
    yield "| ratio | limit | measured |"
    yield "|---|--:|--:|"
    for size, case, peer, figure, limit in LIMITS:
        found = costs.get((size, case), {})
        if peer in found:
            ratio = getattr(found[OURS], figure) / getattr(found[peer], figure)
            yield f"| {limit_name(size, case, peer, figure)} | {limit:.3g} | {ratio:.3g} |"
    yield from _limits_between_cases(costs)


def _limits_between_cases(costs: Costs) -> Iterator[str]:
    by_type = costs.get(("151 MB", "by type"))
    for case, limit in LIMITS_OVER_BY_TYPE.items():
        other = costs.get(("151 MB", case))
        if by_type and other:
            ratio = other[OURS].seconds / by_type[OURS].seconds
            yield f"| 151 MB, {case}: time relative to by type | {limit} | {ratio:.3g} |"
    huge = costs.get(("1.5 GB", "by type"))
    if huge:
        ratio = huge[OURS].seconds / huge[AT_151_MB].seconds / 10
        yield f"| 1.5 GB, by type: time per operator relative to 151 MB | 1.2 | {ratio:.3g} |"
        ratio = huge[OURS].peak_mib * 2**20 / (DATA / f"{SIZES['1.5 GB']}.json").stat().st_size
        yield f"| 1.5 GB, by type: memory relative to the size of the file | 2.3 | {ratio:.3g} |"


if __name__ == "__main__":
    main()

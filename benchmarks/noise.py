"""Measures how often verdicts are wrong, on random splits of real runs.

This program prints the tables of docs/statistics.md, which takes about ten minutes. With `--write`,
it also updates them in the document. With `--runs`, it measures your own runs instead.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import noise_tables as tables
from benchmarks.noise_samples import read, read_fixtures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.noise_samples import Model

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "statistics.md"
TABLES: Final[Mapping[str, Callable[[Sequence[Model], int], Iterator[str]]]] = {
    "data": tables.data_table,
    "no change": tables.no_change_table,
    "detection": tables.detection_table,
    "real change": tables.real_change_table,
    "smallest": tables.smallest_table,
    "wrong rows": tables.wrong_table,
    "coverage": tables.coverage_table,
    "mirror": tables.mirror_table,
    "needed": tables.needed_table,
}
"""The function that measures each table. It gets the models and the number of splits."""
OF_FIXTURES: Final = "real change"
"""This table needs the fixtures, so it is not measured on other runs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute and print the tables. With `--write`, also update the document."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument(
        "--splits", type=int, default=600, help="how many random splits of each kind"
    )
    parser.add_argument("--only", choices=TABLES, nargs="+", help="which tables; all by default")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--write", action="store_true", help=f"update the tables in {DOCUMENT.name}")
    where.add_argument(
        "--runs",
        type=Path,
        metavar="DIR",
        help="a folder with profiles of one unchanged model, each from a process of its own",
    )
    options = parser.parse_args(arguments)
    models = read_fixtures() if options.runs is None else (_read(options.runs),)
    for name in options.only or TABLES:
        if options.runs is not None and name == OF_FIXTURES:
            continue
        print(f"{name} ...", file=sys.stderr)
        text = "\n".join(TABLES[name](models, options.splits))
        print(f"{_start(name)}\n{text}\n{_end(name)}\n", flush=True)
        if options.write:
            _put(name, text)


def _read(folder: Path) -> Model:
    """Read the user's runs. Exit if they are too few for two sides with `USUAL` runs each."""
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder; give a folder with profiles of one model")
    model = read(sorted(path for path in folder.iterdir() if path.is_file()), folder.name)
    if model.runs < 2 * tables.USUAL:
        raise SystemExit(
            f"{folder} has {model.runs} runs; record at least {2 * tables.USUAL}, each in a "
            "process of its own"
        )
    return model


def _start(name: str) -> str:
    return f"<!-- measured: {name} -->"


def _end(name: str) -> str:
    return f"<!-- end: {name} -->"


def _put(name: str, text: str) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    pattern = re.escape(_start(name)) + ".*" + re.escape(_end(name))
    fresh = f"{_start(name)}\n\n{text}\n\n{_end(name)}"
    document, count = re.subn(pattern, lambda _: fresh, document, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{DOCUMENT.name} has the table {name!r} {count} times, not once")
    DOCUMENT.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Random inputs: files and a command line. A seed and a number always give the same input."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fuzz.command_lines import command_line
from fuzz.documents import HOSTILE_TEXTS, another_run, make_document
from fuzz.mutations import to_json, with_wrong_bytes, with_wrong_values
from fuzz.recorded import like, model_file, recorded_file

if TYPE_CHECKING:
    from collections.abc import Iterable

SMALLEST_REAL: Final = (
    Path(__file__).parent.parent / "tests" / "fixtures" / "profiles" / "tiny.json"
)

_MORE_RUNS: Final = (*(17 * (0,)), 1, 1, 4)
_BASELINE: Final = "base"
"""The names of baseline files begin with this prefix."""
_MODEL: Final = "model"


class Case(NamedTuple):
    """One input: files by name, and a command line that runs in their folder."""

    files: dict[str, bytes]
    arguments: tuple[str, ...]
    output_format: str = "table"
    """The output format; `text` for help and other texts that are not reports."""
    stdin: bytes = b""
    encoding: str = "utf-8"
    """The encoding of standard output."""
    width: int | None = None
    """The width of the terminal; None if standard output is not a terminal."""
    colored: bool = False

    @property
    def size(self) -> int:
        """The size of all files and of standard input, in bytes."""
        return sum(map(len, self.files.values())) + len(self.stdin)


def make_case(seed: int, number: int) -> Case:
    """Return input `number` of `seed`."""
    random = Random(f"{seed}:{number}")
    first = make_document(random)
    is_valid = random.random() < 0.25
    is_recorded = random.random() < 0.3
    files = {
        "run.json": recorded_file(random, is_valid=is_valid)
        if is_recorded
        else _content(random, first, is_valid=is_valid)
    }
    more_runs = random.choice(_MORE_RUNS)
    base_runs = random.choice((0, 1, max(more_runs, 1))) if random.random() < 0.3 else 0
    # A single wrong file makes the whole call fail. With many files, all files after the first are
    # therefore mostly valid.
    is_valid |= more_runs > 1 and random.random() < 0.8
    for name in (
        *(f"run{run}.json" for run in range(2, 2 + more_runs)),
        *(f"{_BASELINE}{run}.json" for run in range(1, 1 + base_runs)),
    ):
        files[name] = (
            _like_recorded(random, files["run.json"], is_valid=is_valid)
            if is_recorded and random.random() < 0.8
            else _content(random, another_run(random, first), is_valid=is_valid)
        )
    names, files, stdin = _name_inputs(random, files)
    if random.random() < (0.2 if is_recorded else 0.03):
        files[_MODEL] = model_file(random, is_valid=random.random() < 0.6)
        names += ["--model", _MODEL]
    line = command_line(random, _baselines(files))
    return Case(
        files=files,
        arguments=(*names, *line.options),
        output_format=line.output_format,
        stdin=stdin,
        encoding=line.encoding,
        width=line.width,
        colored=line.colored,
    )


def _like_recorded(random: Random, data: bytes, *, is_valid: bool) -> bytes:
    """Return a file to join or compare with a recorded file: a variant of it, or of another."""
    if random.random() < 0.7:
        return like(random, data, is_valid=is_valid)
    return recorded_file(random, is_valid=is_valid)


def _baselines(files: Iterable[str]) -> list[str]:
    return [name for name in files if name.startswith(_BASELINE)]


def _content(random: Random, document: dict[str, Any], *, is_valid: bool) -> bytes:
    """Return the content of a file: `document`, unchanged if `is_valid`.

    Otherwise, return the document with wrong values, wrong bytes or both, or a small real profile
    with wrong bytes.
    """
    if is_valid:
        data = to_json(random, document)
        return gzip.compress(data, mtime=0) if random.random() < 0.1 else data
    kind = random.random()
    if kind < 0.1:
        return with_wrong_bytes(random, SMALLEST_REAL.read_bytes())
    if kind < 0.65:
        document = with_wrong_values(random, document)
    data = to_json(random, document)
    return with_wrong_bytes(random, data) if kind > 0.6 else data


def _name_inputs(
    random: Random, files: dict[str, bytes]
) -> tuple[list[str], dict[str, bytes], bytes]:
    """Return the arguments that name the runs, the files to write, and standard input's content."""
    runs = [name for name in files if not name.startswith(_BASELINE)]
    kind = random.random()
    if kind < 0.1 and len(runs) == 1:
        rest = {name: data for name, data in files.items() if name != "run.json"}
        return ["-"], rest, files["run.json"]
    if kind < 0.14:
        names = "\n".join(runs) + random.choice(("", "\n# rest\n", "\n" + HOSTILE_TEXTS[4]))
        return ["@list"], files | {"list": names.encode("utf-8", "surrogatepass")}, b""
    if kind < 0.18:
        wrong = random.choice(("nothing.json", "a\nb\x1b[1m", "\ud800", "", "."))
        return [*runs, wrong], files, b""
    return runs, files, b""

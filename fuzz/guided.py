"""`python -m fuzz.guided reader|command`: coverage-guided fuzzing with atheris; see `make fuzz`.

The target `reader` reads the bytes as a profile. The target `command` runs the command: the first
two bytes choose a command line of `fuzz.cases`, and the rest is the file. The command must keep
every invariant of calls.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import atheris

with atheris.instrument_imports(include=["profile_analyze"]):
    import profile_analyze.cli.main
    import profile_analyze.views.summary
    from profile_analyze.errors import InputError
    from profile_analyze.model.operators import OPTIONAL_COLUMNS
    from profile_analyze.query.question import Query
    from profile_analyze.query.run import run
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.loading import read_profile
    from profile_analyze.report.formats.output_formats import OUTPUT_FORMATS, find_renderer

    for _format in OUTPUT_FORMATS:  # imports the module of each format, so that it is instrumented
        find_renderer(_format)

from fuzz.campaign import check_call
from fuzz.cases import SMALLEST_REAL, Case, make_case
from fuzz.documents import make_document
from fuzz.mutations import to_json, with_wrong_bytes, with_wrong_values
from fuzz.running import run_case

CORPUS: Final = Path(__file__).parent / "corpus"
FOUND: Final = Path(__file__).parent / "found"
_BY_TYPE: Final = Query(by="type")
_SEEDS: Final = 40
_LENGTH: Final = 6000
_COMMAND_LINES: Final = 65536


class BrokenInvariantError(Exception):
    """An invariant is broken. The fuzzer saves the input and ends."""


def main() -> None:
    """Fuzz one target for a while, starting from the corpus of earlier runs."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.guided", description=__doc__)
    parser.add_argument("target", choices=sorted(_TARGETS))
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    corpus = CORPUS / arguments.target
    _plant(corpus, prefix=b"\x00\x00" if arguments.target == "command" else b"")
    FOUND.mkdir(exist_ok=True)
    options = [
        f"-max_total_time={round(60 * arguments.minutes)}",
        f"-seed={arguments.seed}",
        f"-max_len={_LENGTH}",
        f"-artifact_prefix={FOUND}/{arguments.target}-",
        "-timeout=60",
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
        "-verbosity=0",
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *options], _TARGETS[arguments.target], custom_mutator=_mutated)
    atheris.Fuzz()


def _plant(corpus: Path, *, prefix: bytes) -> None:
    """Add valid profiles to the corpus as a starting point."""
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in range(_SEEDS):
        random = Random(seed)
        (corpus / f"seed-{seed}").write_bytes(prefix + to_json(random, make_document(random)))
    (corpus / "seed-real").write_bytes(prefix + SMALLEST_REAL.read_bytes())


def _mutated(data: bytes, largest: int, seed: int) -> bytes:
    """Return `data` after a mutation of `fuzz.mutations` or of libFuzzer."""
    random = Random(seed)
    kind = random.random()
    start = data.find(b"{")
    if kind < 0.4 and start >= 0:
        try:
            document: Any = json.loads(data[start:])
            return (data[:start] + to_json(random, with_wrong_values(random, document)))[:largest]
        except (ValueError, RecursionError, AttributeError):
            pass
    if kind < 0.5:
        return with_wrong_bytes(random, data)[:largest]
    return bytes(atheris.Mutate(data, largest))


def _reader(data: bytes) -> None:
    try:
        profile = read_profile(Source.of_bytes("fuzz.json", data), OPTIONAL_COLUMNS)
    except InputError as error:
        if str(error).splitlines() != [str(error)]:
            raise BrokenInvariantError(f"several lines: {error}") from None
        return
    run(_BY_TYPE, profile)
    profile_analyze.views.summary.summarise(profile)


def _whole_command(data: bytes) -> None:
    chosen = _case(int.from_bytes(data[:2], "big"))
    files = dict.fromkeys(chosen.files, data[2:])
    one = chosen._replace(files=files, stdin=data[2:] if chosen.stdin else b"")
    sentences = list(check_call(one, run_case(one)))
    if sentences:
        raise BrokenInvariantError(f"{one.arguments}: {sentences}")


def _case(number: int) -> Case:
    """Return case `number`, or the next case without `--plot`.

    A picture takes a hundred times as long as a table.
    """
    candidate = make_case(0, number)
    return _case((number + 1) % _COMMAND_LINES) if "--plot" in candidate.arguments else candidate


_TARGETS: Final = {"reader": _reader, "command": _whole_command}


if __name__ == "__main__":
    main()

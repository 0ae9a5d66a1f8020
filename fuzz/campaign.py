"""Many inputs, one after another: each is answered, judged, and kept if an invariant is broken."""

from __future__ import annotations

import json
import traceback
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from fuzz.arithmetic import OF_PROFILES
from fuzz.cases import Case, case
from fuzz.documents import document
from fuzz.invariants import OF_CALLS
from fuzz.mutations import written
from fuzz.running import Outcome, answered
from profile_analyze.errors import InputError
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.loading import read_profile
from profile_analyze.readers.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PATIENCE_S: Final = 1.0
"""A call that takes less is never called slow."""
TIMES_SLOWER: Final = 10
"""How much longer than for a valid profile of the same size a call may take."""
MEMORY_FLOOR_BYTES: Final = 64 << 20
"""What a call may take of memory whatever the size of its input: libraries are imported in it."""
TIMES_LARGER: Final = 100
"""How much more memory than the bytes of its input a call may take besides."""

_BYTES_OF_AN_OPERATOR: Final = 600


@dataclass
class Tally:
    """What came of some inputs."""

    inputs: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    profiles: int = 0
    """Of how many inputs the profile could be read, so that its arithmetic was looked at."""
    slowest_s: float = 0.0
    broken: list[tuple[int, list[str]]] = field(default_factory=list)
    """The numbers of inputs that broke invariants, and how."""

    def add(self, other: Tally) -> None:
        """Count the inputs of `other` too."""
        self.inputs += other.inputs
        self.codes += other.codes
        self.profiles += other.profiles
        self.slowest_s = max(self.slowest_s, other.slowest_s)
        self.broken += other.broken


def judged(
    seed: int, numbers: Iterable[int], *, found: Path | None = None, costs: bool = False
) -> Tally:
    """What comes of the inputs of these numbers; those that break something are kept in `found`.

    With `costs`, time and memory are judged too.
    """
    tally = Tally()
    for number in numbers:
        one = case(seed, number)
        outcome = answered(one)
        profile_sentences = list(_of_profile(one))
        tally.inputs += 1
        tally.codes[str(outcome.code)] += 1
        tally.profiles += profile_sentences[:1] != [_UNREADABLE]
        tally.slowest_s = max(tally.slowest_s, outcome.seconds)
        sentences = [
            *of_call(one, outcome),
            *(sentence for sentence in profile_sentences if sentence != _UNREADABLE),
            *(cost(one, outcome) if costs else ()),
        ]
        if sentences:
            tally.broken.append((number, sentences))
            if found is not None:
                keep(found / f"{seed}-{number}", one, sentences)
    return tally


def of_call(one: Case, outcome: Outcome) -> Iterator[str]:
    """The invariants of calls that do not hold of this one, a sentence each."""
    for invariant in OF_CALLS:
        for sentence in invariant(one, outcome):
            yield f"{invariant.__name__}: {sentence}"


_UNREADABLE: Final = "unreadable"


def _of_profile(one: Case) -> Iterator[str]:
    """The invariants of the numbers that do not hold of its profile; that it cannot be read."""
    try:
        data = one.files.get("run.json", one.stdin)
        profile = read_profile(Source.of_bytes("run.json", data), OPTIONAL_COLUMNS)
        for invariant in OF_PROFILES:
            for sentence in invariant(profile):
                yield f"{invariant.__name__}: {sentence}"
    except InputError:
        yield _UNREADABLE
    except Exception:  # whatever it is, it would reach who uses the library
        yield traceback.format_exc()


def cost(one: Case, outcome: Outcome) -> Iterator[str]:
    """Whether it took more time or memory than a multiple of what its size explains."""
    if outcome.grown_bytes > MEMORY_FLOOR_BYTES + TIMES_LARGER * one.size:
        yield f"cost: {one.size} bytes of input took {outcome.grown_bytes} bytes of memory more"
    if outcome.seconds > PATIENCE_S:
        valid = answered(_valid_like(one)).seconds
        if outcome.seconds > max(PATIENCE_S, TIMES_SLOWER * valid):
            yield f"cost: {outcome.seconds:.2f} s, and {valid:.3f} s for valid files of that size"


def _valid_like(one: Case) -> Case:
    """The same question about valid profiles that are no smaller."""
    random = Random(one.size)
    operators = one.size // _BYTES_OF_AN_OPERATOR + 1
    data = written(random, document(random, operators))
    files = dict.fromkeys(one.files, data)
    return one._replace(files=files, stdin=data if one.stdin else b"")


def keep(folder: Path, one: Case, sentences: list[str]) -> None:
    """Write the files and the command line of an input, and what it breaks, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (one.files | ({"stdin": one.stdin} if one.stdin else {})).items():
        (folder / name).write_bytes(data)
    told = {"arguments": one.arguments, "encoding": one.encoding, "width": one.width}
    text = json.dumps(told | {"broken": sentences}, indent=1)
    (folder / "case.json").write_text(text, encoding="utf-8")

"""Runs many inputs, checks the invariants of each, and saves the inputs that break one."""

from __future__ import annotations

import json
import traceback
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from fuzz.arithmetic import PROFILE_INVARIANTS
from fuzz.cases import SMALLEST_REAL, Case, make_case
from fuzz.documents import make_document
from fuzz.invariants import CALL_INVARIANTS
from fuzz.mutations import to_json
from fuzz.running import Outcome, run_case
from profile_analyze.errors import InputError
from profile_analyze.model.joining.iterations import without_first_runs
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PATIENCE_S: Final = 1.0
"""A call that takes at most this long never counts as slow."""
TIMES_SLOWER: Final = 10
"""A call may take this many times as long as a call on valid profiles of the same size."""
MEMORY_FLOOR_BYTES: Final = 64 << 20
"""Every call may add this much memory to the process, because it may import libraries."""
TIMES_LARGER: Final = 100
"""In addition, a call may add memory of this many times the size of its input."""

_BYTES_PER_OPERATOR: Final = 600


@dataclass
class Tally:
    """The summed outcomes of several inputs."""

    inputs: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    profiles: int = 0
    """How many inputs had a readable profile. Numbers are checked only in these profiles."""
    slowest_s: float = 0.0
    broken: list[tuple[int, list[str]]] = field(default_factory=list)
    """Each input that broke invariants: its number, and a sentence for each broken invariant."""

    def add(self, other: Tally) -> None:
        """Add the counts of `other`."""
        self.inputs += other.inputs
        self.codes += other.codes
        self.profiles += other.profiles
        self.slowest_s = max(self.slowest_s, other.slowest_s)
        self.broken += other.broken


def check_inputs(
    seed: int, numbers: Iterable[int], *, save_to: Path | None = None, costs: bool = False
) -> Tally:
    """Check these inputs and return their tally. With `costs`, check time and memory, too.

    Inputs that break an invariant are saved in `save_to`.
    """
    tally = Tally()
    for number in numbers:
        case = make_case(seed, number)
        outcome = run_case(case)
        profile_sentences = list(_check_profile(case))
        tally.inputs += 1
        tally.codes[str(outcome.code)] += 1
        tally.profiles += profile_sentences[:1] != [_UNREADABLE]
        tally.slowest_s = max(tally.slowest_s, outcome.seconds)
        sentences = [
            *check_call(case, outcome),
            *(sentence for sentence in profile_sentences if sentence != _UNREADABLE),
            *(cost(case, outcome) if costs else ()),
        ]
        if sentences:
            tally.broken.append((number, sentences))
            if save_to is not None:
                save(save_to / f"{seed}-{number}", case, sentences)
    return tally


def check_call(case: Case, outcome: Outcome) -> Iterator[str]:
    """Yield a sentence for each way in which the call breaks an invariant of calls."""
    for invariant in CALL_INVARIANTS:
        for sentence in invariant(case, outcome):
            yield f"{invariant.__name__}: {sentence}"


_UNREADABLE: Final = "unreadable"


def _check_profile(case: Case) -> Iterator[str]:
    """Yield a sentence for each way in which the profile breaks an invariant of profiles.

    If the profile cannot be read, yield only `_UNREADABLE`.
    """
    try:
        data = case.files.get("run.json", case.stdin)
        profile = read_profile(Source.of_bytes("run.json", data), OPTIONAL_COLUMNS)
        # Only the last run is checked, because medians over several runs do not add up. Processes
        # of one file may have different numbers of runs.
        if len({run.process for run in profile.runs}) > 1:
            return
        last_run = without_first_runs(profile, max(0, len(profile.runs) - 1))
        for invariant in PROFILE_INVARIANTS:
            for sentence in invariant(last_run):
                yield f"{invariant.__name__}: {sentence}"
    except InputError:
        yield _UNREADABLE
    except Exception:  # every other exception would reach a user of the library
        yield traceback.format_exc()


def cost(case: Case, outcome: Outcome) -> Iterator[str]:
    """Yield a sentence if the call took far more time or memory than its input explains."""
    if outcome.grown_bytes > MEMORY_FLOOR_BYTES + TIMES_LARGER * case.size:
        yield f"cost: {case.size} bytes of input took {outcome.grown_bytes} more bytes of memory"
    # A child process imports onnx for each model, which takes most of such a call.
    if outcome.seconds > PATIENCE_S and "--model" not in case.arguments:
        # The limit is a ratio, so that it suits slow machines, too.
        valid = run_case(_valid_case_like(case)).seconds
        if outcome.seconds > max(PATIENCE_S, TIMES_SLOWER * valid):
            yield f"cost: {outcome.seconds:.2f} s; valid files of that size take {valid:.3f} s"


def import_libraries() -> None:
    """Import the libraries that draw pictures. Otherwise, the first picture would seem slow."""
    files = {"run.json": SMALLEST_REAL.read_bytes()}
    for suffix in ("svg", "png", "pdf"):
        run_case(Case(files, ("run.json", "--plot", f"picture.{suffix}")))


def _valid_case_like(case: Case) -> Case:
    """Return a case with the same arguments, and with valid files that are at least as large."""
    random = Random(case.size)
    operators = case.size // _BYTES_PER_OPERATOR + 1
    data = to_json(random, make_document(random, operators))
    files = dict.fromkeys(case.files, data)
    return case._replace(files=files, stdin=data if case.stdin else b"")


def save(folder: Path, case: Case, sentences: list[str]) -> None:
    """Write the files of an input, its command line and `sentences` to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (case.files | ({"stdin": case.stdin} if case.stdin else {})).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    call = {"arguments": case.arguments, "encoding": case.encoding, "width": case.width}
    text = json.dumps(call | {"broken": sentences}, indent=1)
    (folder / "case.json").write_text(text, encoding="utf-8")

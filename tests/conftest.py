"""What tests share: paths of fixtures, numbers of examples, and calls within this process."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hypothesis import HealthCheck, Phase, settings

from fuzz.running import Terminal
from profile_analyze.cli.main import main
from profile_analyze.cli.options.default_options import VARIABLE
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, find_renderer
from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

T = TypeVar("T")

# A shell starts background jobs with Ctrl-C ignored, and their children ignore it, too. Tests that
# interrupt a command would then wait forever. Handlers are not inherited: children get the default.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The default options of the person who runs the tests would change every answer.
os.environ.pop(VARIABLE, None)

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
PROFILES = FIXTURES / "profiles"
# The output formats that show every kind of table. `collapsed` shows only the stacks of one
# profile, and has its own tests.
TABLE_FORMATS = tuple(name for name in OUTPUT_FORMATS if name != "collapsed")
FORMATS_FOR_PEOPLE = tuple(name for name in TABLE_FORMATS if not find_renderer(name).for_programs)
FORMATS_WITH_UNITS = tuple(
    name
    for name in FORMATS_FOR_PEOPLE
    if not find_renderer(name).follows_original and name != OPERATORS
)
"""The formats for people that choose a unit for times."""
PROFILE_NAMES = sorted(path.stem for path in PROFILES.glob("*.json"))

# `make test` is quick: properties get few examples, tests that are marked slow get few inputs, and
# the slowest tests do not run. `make test-slow` runs all of these, with all examples and inputs.
# `make mutants` runs tests once for each mutant. Properties then get the same few examples each
# time, so that the outcome does not depend on chance. Failures are not minimised, because nobody
# reads them.
_PURPOSE = os.environ.get("TESTS_FOR", "")
IS_FULL = _PURPOSE == "ci"
_MOST_EXAMPLES = {"": 6, "mutants": 30}
_USUAL_EXAMPLES = 100
# The machine may be busy, so tests have no time limits.
settings.register_profile(
    "tests",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=_MOST_EXAMPLES.get(_PURPOSE, _USUAL_EXAMPLES),
)
settings.register_profile(
    "mutants",
    settings.get_profile("tests"),
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("mutants" if _PURPOSE == "mutants" else "tests")


def without_version(report: str) -> str:
    """Return a report with the word VERSION in place of the version of this package.

    Recorded reports have this word, so that they stay the same in the next version.
    """
    return report.replace(f"profile_analyze {VERSION}", "profile_analyze VERSION")


def some_of(cases: Iterable[T], every: int) -> list[T]:
    """Return all cases; for `make test`, one in `every`. The test must be marked slow."""
    return list(cases)[:: 1 if _PURPOSE else every]


def examples(count: int) -> settings:
    """Return settings for `count` examples. `make test` and `make mutants` limit the number."""
    return settings(max_examples=min(count, _MOST_EXAMPLES.get(_PURPOSE, count)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slowest tests out of `make test`, unless the command line names single tests."""
    if not _PURPOSE and not any("::" in argument for argument in config.args):
        slowest = [item for item in items if item.get_closest_marker("slowest")]
        config.hook.pytest_deselected(items=slowest)
        items[:] = [item for item in items if not item.get_closest_marker("slowest")]


def pytest_collection() -> None:
    """Pause garbage collection while tests are collected: nearly all new objects stay in use."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from searching through all tests, again and again."""
    gc.freeze()
    gc.enable()


@dataclass(frozen=True)
class Outcome:
    """The exit status and the output of a call."""

    code: int
    out: str
    err: str


def run_command(
    *arguments: str, encoding: str = "utf-8", stdin: bytes = b"", on_terminal: bool = False
) -> Outcome:
    """Run the command in this process. `on_terminal` makes only standard output a terminal."""
    saved = sys.stdout, sys.stderr, sys.stdin
    out, err = io.BytesIO(), io.StringIO()
    stream = Terminal if on_terminal else io.TextIOWrapper
    text = stream(out, encoding=encoding, newline="", write_through=True)
    sys.stdout, sys.stderr, sys.stdin = text, err, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        code = main(list(arguments))
    except SystemExit as error:  # after --help and --version
        code = int(error.code or 0)
    finally:
        text.flush()
        sys.stdout, sys.stderr, sys.stdin = saved
    return Outcome(code, out.getvalue().decode(encoding), err.getvalue())

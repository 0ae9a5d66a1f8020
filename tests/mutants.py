"""Runs the tests for each mutant that `mutmut` generates: `make mutants`, see docs/mutants.md.

`mutmut` generates the mutants and records which tests run which function. Its own runner collects
the tests again for each mutant, which takes longer here than running the tests. This program
collects all tests once, and then forks for each mutant. The fork runs the tests of the mutated
function, the quickest first, until one fails.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# mutmut writes everything into this folder, with a copy of the tests.
FOLDER = Path("mutants")
MUTATED = Path("profile_analyze")
STATISTICS = Path("mutmut-stats.json")
FAILED = Path("failed.txt")

SEED = 1
AT_ONCE = 2
NO_TESTS = 33  # mutmut's exit code for a mutant without tests
# If a signal stopped the tests of a mutant, the exit code is negative.
OUTCOMES = {0: "survived", 1: "killed", NO_TESTS: "without tests"}
STOPPED = "stopped"


def main(arguments: Sequence[str]) -> int:
    """Generate the mutants, then run this program again in their folder to try them."""
    if not STATISTICS.exists():
        make_mutants()
        command = [sys.executable, "-m", "tests.mutants", *arguments]
        return subprocess.run(command, cwd=FOLDER, check=False).returncode
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--sample", type=int, default=0, help="how many mutants to try; 0 tries all"
    )
    parser.add_argument("--only", default="", help="try only mutants with this text in their names")
    wanted = parser.parse_args(arguments)
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["mutmut"]
    options = [
        *settings["pytest_add_cli_args"],
        *settings["pytest_add_cli_args_test_selection"],
        *("-s", "-q", "--rootdir=.", "--tb=no", "--assert=plain"),  # nobody reads the failures
        *("-o", "tmp_path_retention_policy=none"),
        # By default, later runs of pytest remove the temporary files of this long run.
        "--basetemp=temporary",
    ]
    return int(pytest.main(options, plugins=[MutantRunner(wanted.sample, wanted.only)]))


def make_mutants() -> None:
    """Let mutmut generate the mutants and record the tests of each function, but try no mutant."""
    statistics = FOLDER / STATISTICS
    statistics.unlink(missing_ok=True)
    unused_name = "none"  # no mutant has this name
    done = subprocess.run(["mutmut", "run", unused_name], capture_output=True, check=False)
    if not statistics.exists():
        message = done.stdout.decode(errors="replace").rpartition("\r")[2]
        sys.exit(
            f"mutmut cannot generate the mutants, or the tests fail in its folder ({FOLDER}/): {message}"
        )


class MutantRunner:
    """A plugin of pytest that runs the tests of each mutant instead of all tests once."""

    def __init__(self, size: int, only: str) -> None:
        self._size = size
        self._only = only

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants and print the outcomes."""
        files = mutants_of_files(self._only)
        gc.collect()
        gc.freeze()  # otherwise garbage collection in each fork would copy all memory
        exit_if_tests_fail_without_a_mutant(session)
        codes = outcomes(session, sample(list(files.values()), self._size))
        keep(files, codes)
        print("\n" + "\n".join(table(files, codes)))
        return True


def mutants_of_files(only: str) -> dict[Path, list[str]]:
    """Return the mutants with `only` in their names, by the file with their outcomes."""
    return {
        path: [name for name in json.loads(path.read_text())["exit_code_by_key"] if only in name]
        for path in sorted(MUTATED.rglob("*.meta"))
    }


def sample(of_files: Sequence[Sequence[str]], size: int) -> list[str]:
    """Draw about `size` mutants, the same share of each file; 0 draws all. The seed is fixed."""
    generator = random.Random(SEED)
    share = size / max(1, sum(map(len, of_files))) if size else 1.0
    chosen = [
        name
        for names in of_files
        for name in generator.sample(sorted(names), min(len(names), math.ceil(share * len(names))))
    ]
    generator.shuffle(chosen)
    return chosen


def exit_if_tests_fail_without_a_mutant(session: pytest.Session) -> None:
    """Exit if a test fails in a fork without a mutant: this test would kill every mutant."""
    process = os.fork()
    if not process:
        try_mutant(session, "", session.items, limit_s=3600)
    _, status = os.waitpid(process, 0)
    if status:
        pytest.exit(f"{FAILED.read_text()} fails in a fork without a mutant", returncode=1)


def outcomes(session: pytest.Session, names: Sequence[str]) -> dict[str, int]:
    """Return the outcome of each mutant, a key of `OUTCOMES` or a negative number."""
    items = {item.nodeid: item for item in session.items}
    statistics: dict[str, Any] = json.loads(STATISTICS.read_text())
    tests_of = statistics["tests_by_mangled_function_name"]
    duration_s = statistics["duration_by_test"]
    codes: dict[str, int] = {}
    running: dict[int, str] = {}
    for name in [*names, ""]:  # the empty name waits for the processes that still run
        while running and (len(running) == AT_ONCE or not name):
            process, status = os.wait()
            if process in running:
                found = running.pop(process)
                codes[found] = os.waitstatus_to_exitcode(status)
                print(OUTCOMES.get(codes[found], STOPPED), found, flush=True)
        tests = [
            test for test in tests_of.get(name.rpartition("__mutmut_")[0], []) if test in items
        ]
        if name and not tests:
            codes[name] = NO_TESTS
        elif name:
            limit_s = 20 + 4 * int(sum(map(duration_s.__getitem__, tests)))
            quickest_first = [items[test] for test in sorted(tests, key=duration_s.__getitem__)]
            process = os.fork()
            if not process:
                try_mutant(session, name, quickest_first, limit_s)
            running[process] = name
    return codes


def try_mutant(
    session: pytest.Session, name: str, items: Sequence[pytest.Item], limit_s: int
) -> NoReturn:
    """Run the tests `items` until one fails, and end this process, which is a fork."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
    signal.alarm(10 * limit_s)  # for a mutant that waits without end
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.environ["MUTANT_UNDER_TEST"] = name
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            FAILED.write_text(item.nodeid)
            os._exit(1)
    os._exit(0)


def keep(files: Mapping[Path, Sequence[str]], codes: Mapping[str, int]) -> None:
    """Write the outcomes where `mutmut results` reads them."""
    for path, names in files.items():
        document = json.loads(path.read_text())
        document["exit_code_by_key"] |= {name: codes[name] for name in names if name in codes}
        path.write_text(json.dumps(document))


def table(files: Mapping[Path, Sequence[str]], codes: Mapping[str, int]) -> list[str]:
    """Return the mutants that were not killed, and a table with a row for each package."""
    outcome = {name: OUTCOMES.get(code, STOPPED) for name, code in codes.items()}
    lines = [f"{outcome[name]}: {name}" for name in sorted(codes) if codes[name] != 1]
    columns = ("killed", STOPPED, "survived", "without tests")
    lines += [
        "",
        f"| package | mutants | tried | {' | '.join(columns)} |",
        "|---" + "|--:" * 6 + "|",
    ]
    counts: dict[str, Counter[str]] = {}
    for path, names in files.items():
        package = path.relative_to(MUTATED).parts[0].removesuffix(".py.meta")
        count = counts.setdefault(package, Counter())
        count.update(outcome[name] for name in names if name in codes)
        count["all"] += len(names)
    for package, count in counts.items():
        tried = sum(count[column] for column in columns)
        cells = [count["all"], tried, *(count[column] for column in columns)]
        lines.append(f"| {package} | {' | '.join(map(str, cells))} |")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs the tests once for each of `mutmut`'s mutants: `make mutants`, see docs/mutants.md.

`mutmut` makes the mutants and finds out which tests run which function. Its own runner has pytest
collect those tests anew for each mutant, which here takes longer than they do. So all tests are
collected once, and each mutant gets a fork of that process, which runs the tests of its function,
the quickest first, until one fails.
"""

from __future__ import annotations

import argparse
import gc
import json
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

# all of it is in the folder that mutmut writes, beside its copy of the tests
FOLDER = Path("mutants")
MUTATED = Path("profile_analyze")
STATISTICS = Path("mutmut-stats.json")
FAILED = Path("failed.txt")

SEED = 1
AT_ONCE = 2
NO_TESTS = 33  # as mutmut says it
OUTCOMES = {0: "survived", 1: "killed", NO_TESTS: "without tests"}  # negative: was ended


def main(arguments: Sequence[str]) -> int:
    """Make the mutants, and run this program again beside them."""
    if not STATISTICS.exists():
        make_mutants()
        command = [sys.executable, "-m", "tests.mutants", *arguments]
        return subprocess.run(command, cwd=FOLDER, check=False).returncode
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0, help="how many mutants; all if 0")
    parser.add_argument("--only", default="", help="those with this in their names")
    wanted = parser.parse_args(arguments)
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["mutmut"]
    options = [
        *settings["pytest_add_cli_args"],
        *settings["pytest_add_cli_args_test_selection"],
        *("-s", "-q", "--rootdir=.", "--tb=no", "--assert=plain"),  # nobody reads why one failed
        *("-o", "tmp_path_retention_policy=none"),
    ]
    return int(pytest.main(options, plugins=[MutantRunner(wanted.sample, wanted.only)]))


def make_mutants() -> None:
    """Have mutmut make them, and see which tests run which function; it tries none."""
    statistics = FOLDER / STATISTICS
    statistics.unlink(missing_ok=True)
    name_of_none = "none"
    done = subprocess.run(["mutmut", "run", name_of_none], capture_output=True, check=False)
    if not statistics.exists():
        said = done.stdout.decode(errors="replace").rpartition("\r")[2]
        sys.exit(
            f"mutmut could not make the mutants, or the tests fail beside them ({FOLDER}/): {said}"
        )


class MutantRunner:
    """A plugin of pytest: instead of all tests once, those of each mutant."""

    def __init__(self, size: int, only: str) -> None:
        self._size = size
        self._only = only

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants, and say what became of them."""
        files = mutants_of_files(self._only)
        gc.collect()
        gc.freeze()  # or each fork would look at all that was imported, and copy it
        refuse_tests_that_fail_anyway(session)
        codes = judged(session, sample(list(files.values()), self._size))
        keep(files, codes)
        print("\n" + "\n".join(table(files, codes)))
        return True


def mutants_of_files(only: str) -> dict[Path, list[str]]:
    """What mutmut wrote of each file -> the names of its mutants."""
    return {
        path: [name for name in json.loads(path.read_text())["exit_code_by_key"] if only in name]
        for path in sorted(MUTATED.rglob("*.meta"))
    }


def sample(of_files: Sequence[Sequence[str]], size: int) -> list[str]:
    """So many mutants, of each file the same share, rounded up; all for 0. The same each time."""
    chance = random.Random(SEED)
    share = size / max(1, sum(map(len, of_files))) if size else 1.0
    chosen = [
        name
        for names in of_files
        for name in chance.sample(sorted(names), min(len(names), -int(-share * len(names) // 1)))
    ]
    chance.shuffle(chosen)
    return chosen


def refuse_tests_that_fail_anyway(session: pytest.Session) -> None:
    """Without a mutant all tests pass in a fork too: what fails always would kill everything."""
    process = os.fork()
    if not process:
        try_mutant(session, "", session.items, limit_s=3600)
    _, status = os.waitpid(process, 0)
    if status:
        pytest.exit(f"without a mutant: {FAILED.read_text()} failed in a fork", returncode=1)


def judged(session: pytest.Session, names: Sequence[str]) -> dict[str, int]:
    """Mutant -> how its tests ended: 0 if none failed, 1 if one did, negative if they were ended."""
    items = {item.nodeid: item for item in session.items}
    statistics: dict[str, Any] = json.loads(STATISTICS.read_text())
    tests_of = statistics["tests_by_mangled_function_name"]
    duration_s = statistics["duration_by_test"]
    codes: dict[str, int] = {}
    running: dict[int, str] = {}
    for name in [*names, *[""] * AT_ONCE]:
        while running and (len(running) == AT_ONCE or not name):
            process, status = os.wait()
            if process in running:
                found = running.pop(process)
                codes[found] = os.waitstatus_to_exitcode(status)
                print(OUTCOMES.get(codes[found], "ended"), found, flush=True)
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
    """Run the tests `items`, in a process of their own, until one fails; then end the process."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
    signal.alarm(10 * limit_s)  # for one that waits for ever
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
    """Write the outcomes where `mutmut results` looks for them."""
    for path, names in files.items():
        document = json.loads(path.read_text())
        document["exit_code_by_key"] |= {name: codes[name] for name in names if name in codes}
        path.write_text(json.dumps(document))


def table(files: Mapping[Path, Sequence[str]], codes: Mapping[str, int]) -> list[str]:
    """Who was not killed, and a row a package."""
    outcome = {name: OUTCOMES.get(code, "ended") for name, code in codes.items()}
    lines = [f"{outcome[name]}: {name}" for name in sorted(codes) if codes[name] != 1]
    columns = ("killed", "ended", "survived", "without tests")
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

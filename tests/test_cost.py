"""Guards the cost without measuring time: imported modules, and memory of a decoded graph."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.cli.main import main
from profile_analyze.columns.catalog import find_column
from profile_analyze.readers.megengine.sections import decode_document
from tests.conftest import FIXTURES, PROFILES

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import FrameType

    from profile_analyze.columns.column import Column

# The dependencies that a plain call imports. Each of them makes every call slower.
IMPORTED = {"msgspec", "numpy", "tabulate", "wcwidth"}
# Modules of Python that only compressed files and misspelt names need.
LATE = {"difflib", "gzip"}

# How many blocks of memory the decoded graph of a real profile takes per operator.
BLOCKS_PER_OPERATOR = 16.0


def _run_with_tiny_profile(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process. Its first argument is the path of a small profile."""
    arguments = [sys.executable, "-c", code, str(PROFILES / "tiny.json")]
    return subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True)


def test_a_plain_call_imports_only_these_dependencies() -> None:
    code = (
        "import sys\n"
        "from profile_analyze.cli.main import main\n"
        "before = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not before & {'numpy', 'msgspec', 'tabulate'}, before\n"
        "main([sys.argv[1]])\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = _run_with_tiny_profile(code)
    known = {*sys.stdlib_module_names, "profile_analyze", "__editable___profile_analyze"}
    imported = {name for name in done.stderr.split() if not name.startswith(("_", "cython"))}
    # msgspec imports typing_extensions if it is installed
    assert imported - known - {"typing_extensions"} == IMPORTED
    assert imported & LATE == set()


def test_a_plain_call_imports_only_the_packages_and_modules_that_it_needs() -> None:
    code = (
        "import sys\n"
        "from profile_analyze.cli.main import main\n"
        "main([sys.argv[1]])\n"
        "print(*(name for name in sys.modules if name.startswith('profile_analyze.')))"
    )
    done = _run_with_tiny_profile(code)
    imported = {
        name.removeprefix("profile_analyze.") for name in done.stdout.splitlines()[-1].split()
    }
    packages = {name.partition(".")[0] for name in imported}
    assert packages.isdisjoint({"work", "writers"})
    assert {name for name in imported if name.startswith(("roofline.", "comparison."))} == {
        "comparison.constants"
    }
    assert imported.isdisjoint(
        {
            "advice.options",
            "cli.inputs.several_files",
            "comparison.comparison",
            "model.joining.runs",
            "gate.judge",
        }
    )


def test_a_call_imports_no_more_of_numpy_than_importing_numpy_does() -> None:
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "from profile_analyze.cli.main import main\n"
        "assert main([sys.argv[1], '--aggregate-by', 'type', '--show-host']) == 0\n"
        "late = {name for name in set(sys.modules) - before if name.startswith('numpy')}\n"
        "assert not late, late"
    )
    path = str(PROFILES / "resnet18.json")
    subprocess.run([sys.executable, "-c", code, path], stdout=subprocess.DEVNULL, check=True)


def test_each_column_of_an_answer_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(text: str, labels: Collection[str]) -> Column:
        asked.append(text)
        return find_column(text, labels)

    monkeypatch.setattr("profile_analyze.columns.kinds.find_column", counted)
    query = pa.Query(order="memory", top=5)
    table = pa.run(query, pa.load(PROFILES / "resnet18.json"))
    columns = ("name", "time", "memory", "bandwidth")
    assert pa.render(table, columns=columns) == pa.render(table, columns=columns)
    assert asked == [*dict.fromkeys(asked)]
    assert {*columns} <= {*asked}


@pytest.mark.slowest
def test_the_decoded_graph_takes_about_the_recorded_memory() -> None:
    data = (PROFILES / "mobilenet.json").read_bytes()
    gc.collect()
    before = sys.getallocatedblocks()
    document = decode_document(data)
    blocks = (sys.getallocatedblocks() - before) / len(document.graph_exec.operator)
    assert 0.7 * BLOCKS_PER_OPERATOR < blocks < 1.2 * BLOCKS_PER_OPERATOR


@pytest.mark.parametrize(
    ("level", "levels"),
    # A note on rows of modules needs the times of operators, but not their work.
    [("operator", 1), ("module", 2)],
)
@pytest.mark.usefixtures("capsys")
def test_a_call_works_out_each_fact_once(level: str, levels: int) -> None:
    file = str(FIXTURES / "pytorch" / "gpu.json")
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"] += 1

    sys.setprofile(count)
    try:
        assert main([file, "--level", level, "--aggregate-by", "track", "--show-host"]) == 0
    finally:
        sys.setprofile(None)
    expected = {
        "level.owner": levels,
        "level.own_s": levels,
        "level.shown_executions": levels,
        "owned_work.with_owned_work": 1,
        "splitting.split_alike": 1,
        # Computation and memory: of the summary, then of the rows of both tables.
        "formulas._work_in_runs": 2 + 4,
        "labels._of": 2,
    }
    assert {name: calls[name] for name in expected} == expected

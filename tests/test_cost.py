"""Guards the cost without measuring time: what a call imports, and how much it decodes."""

from __future__ import annotations

import gc
import subprocess
import sys

from profile_analyze.readers.megengine.sections import decode_document
from tests.conftest import PROFILES

# The dependencies that a plain call imports. Each of them makes every call slower.
IMPORTED = {"msgspec", "numpy", "tabulate", "wcwidth"}
# Modules of Python that only compressed files and misspelt names need.
LATE = {"difflib", "gzip"}

# How many blocks of memory the decoded graph of a real profile takes per operator.
BLOCKS_PER_OPERATOR = 16.0


def test_a_plain_call_imports_only_these_dependencies() -> None:
    code = (
        "import sys\n"
        "from profile_analyze.cli.main import main\n"
        "before = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not before & {'numpy', 'msgspec', 'tabulate'}, before\n"
        "main([sys.argv[1]])\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    path = str(PROFILES / "tiny.json")
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, encoding="utf-8", check=True
    )
    known = {*sys.stdlib_module_names, "profile_analyze", "__editable___profile_analyze"}
    imported = {name for name in done.stderr.split() if not name.startswith(("_", "cython"))}
    # msgspec imports typing_extensions if it is installed
    assert imported - known - {"typing_extensions"} == IMPORTED
    assert imported & LATE == set()


def test_a_call_imports_no_more_of_numpy_than_importing_numpy_does() -> None:
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "from profile_analyze.cli.main import main\n"
        "main([sys.argv[1], '--aggregate-by', 'type', '--show-host'])\n"
        "late = {name for name in set(sys.modules) - before if name.startswith('numpy')}\n"
        "assert not late, late"
    )
    path = str(PROFILES / "resnet18.json")
    subprocess.run([sys.executable, "-c", code, path], stdout=subprocess.DEVNULL, check=True)


def test_the_decoded_graph_takes_as_much_memory_as_before() -> None:
    data = (PROFILES / "mobilenet.json").read_bytes()
    gc.collect()
    before = sys.getallocatedblocks()
    document = decode_document(data)
    blocks = (sys.getallocatedblocks() - before) / len(document.graph_exec.operator)
    assert 0.7 * BLOCKS_PER_OPERATOR < blocks < 1.2 * BLOCKS_PER_OPERATOR

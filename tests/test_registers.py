"""A made-up view and a made-up output format need a module and an entry in a register each."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.conftest import FIXTURES, PROFILES, Outcome
from tests.report.json_schema import check_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")


def run_made_up(*calls: Sequence[str]) -> list[Outcome]:
    """Run the command with a made-up view and a made-up output format: see `made_up.py`."""
    command = [sys.executable, "-m", "tests.made_up", json.dumps(calls)]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return [Outcome(*one) for one in json.loads(done.stdout)]


def test_a_made_up_format_needs_one_entry(tmp_path: Path) -> None:
    rows = "('ADD', 'Elemwise')\n('data', 'InputCallback')\n"
    call = (TINY, "--columns", "name,type", "--where", "name ~ ^(ADD|data)$", "-t", "0")
    output = tmp_path / "answer.made"
    shown, written, asked = run_made_up(
        (*call, "--format", "made-up"), (*call, "-o", str(output)), ("--help",)
    )
    assert (shown, written) == (Outcome(0, rows, ""), Outcome(0, "", ""))
    assert output.read_text(encoding="utf-8") == rows
    assert ",made-up," in asked.out


GPU = str(FIXTURES / "pytorch" / "gpu.json")
VIEW = (GPU, "--view", "executions")
ARRANGED = (
    *(*VIEW, "--where", "time >= 20us", "--where", "operator ~ addmm|nccl"),
    *("--order-by", "operator,+start", "-t", "0", "--columns", "time,operator"),
)
SHOWN = {
    "plain": """\
time (us)  operator
  100.000  ncclDevKernel_AllReduce_Sum_f32_RING_LL
   40.000  nccl:all_reduce
   80.000  aten::addmm
   70.000  aten::addmm
""",
    "markdown": """\
|   time (us) | operator                                |
|------------:|:----------------------------------------|
|     100.000 | ncclDevKernel_AllReduce_Sum_f32_RING_LL |
|      40.000 | `nccl:all_reduce`                       |
|      80.000 | `aten::addmm`                           |
|      70.000 | `aten::addmm`                           |
""",
    "csv": """\
time_s,operator\r
0.0001,ncclDevKernel_AllReduce_Sum_f32_RING_LL\r
0.00004,nccl:all_reduce\r
0.00008,aten::addmm\r
0.00007,aten::addmm\r
""",
    "made-up": """\
(0.0001, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')
(4e-05, 'nccl:all_reduce')
(8e-05, 'aten::addmm')
(7e-05, 'aten::addmm')
""",
}


def test_a_made_up_view_needs_one_entry() -> None:
    outcomes = run_made_up(*((*ARRANGED, "--format", name) for name in SHOWN))
    assert outcomes == [Outcome(0, text, "") for text in SHOWN.values()]


def test_json_and_help_have_a_made_up_view() -> None:
    answer, of_operators, plain, asked = run_made_up(
        (*ARRANGED, "-t", "1", "--format", "json"),
        (TINY, "--view", "operators"),
        (TINY,),
        ("--help",),
    )
    document = json.loads(answer.out)
    check_report(document)
    assert document["tables"] == [
        {
            "name": "executions",
            "measure": None,
            "query": {
                "where": ["time >= 20us", "operator ~ addmm|nccl"],
                "order": ["operator", "+start"],
                "top": 1,
            },
            "matched": 4,
            "available": 4,
            "shown": 1,
            "columns": [{"name": "time_s", "unit": "s"}, {"name": "operator", "unit": ""}],
            "rows": [[0.0001, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"]],
        }
    ]
    assert answer.err == "note: executions: the first 1 of 4 rows; -t 0 gives all\n"
    assert of_operators == plain
    assert "--view {operators,executions}" in asked.out


WRONG = {
    ("--where", "flops > 3"): "argument --where: 'flops > 3', at character 1: there is no column "
    "'flops'; the columns are operator, start, time",
    ("--columns", "flops"): "there is no column 'flops'; the columns are operator, start, time",
    ("--order-by", "flops"): "there is no column 'flops' to order by; executions can be ordered by "
    "operator, start, time",
    ("--aggregate-by", "type"): "--view executions shows no operators, so --aggregate-by has no "
    "effect; leave one out",
    ("--sql", "select 1"): "--sql shows the answer to a query, so --view has no effect; leave one "
    "out",
    ("--format", "github"): "--view executions shows a table, which github does not have; use "
    "another format",
}


def test_options_that_do_not_suit_a_view_are_rejected() -> None:
    outcomes = run_made_up(*((*VIEW, *arguments) for arguments in WRONG))
    errors = [f"profile_analyze: error: {message}\n" for message in WRONG.values()]
    assert outcomes == [Outcome(2, "", error) for error in errors]

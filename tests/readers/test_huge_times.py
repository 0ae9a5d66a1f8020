"""Numbers near the limits of floats: no warning, no nan and no inf reaches a user."""

from __future__ import annotations

import json
import subprocess
import sys
from math import nan
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from fuzz.campaign import check_call
from fuzz.cases import Case
from fuzz.recorded import recorded_file, with_large_numbers
from fuzz.running import run_case
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from profile_analyze.report.formats.programs import to_json
from tests.conftest import FIXTURES, run_command

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("--format", "json", "-t", "0"),
    ("--format", "markdown", "--notes", "all", "--peaks", "1T:1G"),
    ("--aggregate-by", "type", "--aggregate", "mean,p90,std", "--notes", "all"),
    ("--show-host", "--notes", "all"),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_huge_times_of_every_runtime(seed: int) -> None:
    random = Random(seed)
    data = recorded_file(random, is_valid=True)
    files = {name: with_large_numbers(random, data) for name in ("run.json", "base.json")}
    compared = ("--compare", "base.json") if seed % 2 else ()
    options = OPTIONS[seed % len(OPTIONS)]
    chosen = options[1] if "--format" in options else "table"
    case = Case(files, ("run.json", *compared, *options), chosen)
    assert list(check_call(case, run_case(case))) == []


EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "pid": 1, "tid": 1}
OPENVINO = """layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)
a;Status.EXECUTED;Convolution;jit_f32;1.7e305;1.000
b;Status.EXECUTED;Convolution;jit_f32;9e307;1.000
c;Status.EXECUTED;Convolution;jit_f32;1.5e308;1.000
Total;;;;3.000;3.000
"""
TFLITE = """count=50 first=1 curr=2 min=1 max=3 avg=7100 std=1
Operator-wise Profiling Info for Regular Benchmark Runs:
============================== Run Order ==============================
\t[node type]\t[first]\t[avg ms]\t[%]\t[cdf%]\t[mem KB]\t[times called]\t[Name]
\tADD\t1.7e308\t0.1\t50.0%\t50.0%\t0.0\t1\t[a]:0
\tMUL\t1e307\t1e-5\t50.0%\t100.0%\t0.0\t1\t[b]:1

============================== Top by Computation Time ==============================
"""
ONNXRUNTIME = json.dumps(
    [
        {"cat": "Session", "name": "model_run", "ts": 1.5e308, "dur": 1.5e308, "ph": "X"},
        *(
            {
                "cat": "Node",
                "name": f"{name}_kernel_time",
                "ts": start,
                "dur": 1.5e308,
                "ph": "X",
                "args": {"op_name": "Conv", "provider": "CPUExecutionProvider", "node_index": name},
            }
            for name, start in (("1", 1.6e308), ("0", 1.5e308))
        ),
    ]
)


@pytest.mark.parametrize("text", [OPENVINO, TFLITE, ONNXRUNTIME], ids=["openvino", "tflite", "ort"])
def test_sums_and_ratios_that_overflow_are_not_in_sentences(text: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(text)
    outcome = run_command(str(tmp_path / "run"), "--format", "plain", "--notes", "all")
    assert outcome.code == 0
    assert not {"nan", "inf", "-inf"} & {*(outcome.out + outcome.err).split()}


def test_the_wait_in_huge_times_has_no_ratio() -> None:
    outcome = run_command(str(FIXTURES / "hostile" / "migraphx-huge-time.txt"))
    assert outcome.code == 0
    assert "so times include that wait, which matters for short operators\n" in outcome.err


def test_integers_over_64_bits_are_floats_in_json() -> None:
    printed = to_json([2**70, -(2**64), 10**5000, 1, True, nan])
    assert printed.replace("e+", "e") == (  # older versions of orjson write no +
        "[1.1805916207174113e21,-1.8446744073709552e19,null,1,true,null]"
    )


@pytest.mark.parametrize("rank", [2**63, -1])
def test_a_rank_that_no_job_has_is_unknown(rank: int) -> None:
    data = {"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": [EVENT]}
    profile = read_profile(Source.of_bytes("x.json", json.dumps(data).encode()), ())
    assert [track.rank for track in profile.tracks] == [None]


def test_a_process_shows_no_warnings_of_packages() -> None:
    code = (
        "import warnings\n"
        "from profile_analyze.cli.process import run_process\n"
        "run_process(lambda: warnings.warn('overflow', RuntimeWarning) or 0)"
    )
    for options, shown in (((), False), (("-W", "always"), True)):
        done = subprocess.run(
            [sys.executable, *options, "-c", code], capture_output=True, text=True, check=True
        )
        assert ("overflow" in done.stderr) == shown

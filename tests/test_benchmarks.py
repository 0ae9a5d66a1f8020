"""The generator of large profiles, and the commands that the benchmarks measure."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from benchmarks import events, executions, traces
from benchmarks.__main__ import LIMITED, LIMITS, LIMITS_OVER_BY_TYPE, limit_name
from benchmarks.cases import (
    LIBRARIES,
    ROOT,
    models,
)
from benchmarks.generate import SOURCE, generated, write
from benchmarks.processes import cost_of
from tests import oracle
from tests.conftest import PROFILES
from tests.findings.found import codes_in

if TYPE_CHECKING:
    from pathlib import Path

OPERATORS = 217  # in the profile that the generator repeats


@pytest.mark.slowest
def test_a_profile_can_have_any_number_of_operators(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    write(path, 2 * OPERATORS + 100)
    profile = pa.load(path)
    assert len(profile) == 2 * OPERATORS + 100
    assert profile.check() == ()
    assert len(set(profile.operators.name.categories)) >= 2 * len(
        pa.load(SOURCE).operators.name.categories
    )
    assert profile.notes == ()
    rows = oracle.answer(oracle.read_file(str(path)), pa.Query(order="+id"))
    assert pa.run(pa.Query(order="+id"), profile).rows == rows
    assert min(row["time"] for row in rows) >= 0


def test_the_same_seed_gives_the_same_profile() -> None:
    first, second, other = ("".join(generated(OPERATORS + 1, seed=seed)) for seed in (1, 1, 2))
    assert first == second != other
    assert json.loads(other)["graph_exec"].keys() == {"var", "operator"}


def test_one_copy_has_the_operators_of_the_real_profile() -> None:
    copy, original = json.loads("".join(generated(OPERATORS))), json.loads(SOURCE.read_text())
    for section in ("operator", "var"):
        for id_, entry in original["graph_exec"][section].items():
            renamed = {**entry, "name": entry["name"] + "0"}
            assert copy["graph_exec"][section][id_] == renamed
    assert copy["profiler"]["opr_footprint"] == original["profiler"]["opr_footprint"]


def test_a_profile_of_onnx_runtime_can_have_any_number_of_events(tmp_path: Path) -> None:
    path, real = tmp_path / "events.json", pa.load(events.SOURCE)
    events.write(path, 300)  # three copies of 128 events
    profile = pa.load(path)
    assert len(json.loads(path.read_bytes())) == 3 * 128
    assert (len(profile), len(profile.runs)) == (len(real), 3 * len(real.runs))
    assert profile.operators.name.values().tolist() == real.operators.name.values().tolist()
    assert [run.wall_s for run in profile.runs] == 3 * [run.wall_s for run in real.runs]
    assert (profile.totals_s("time")[:3] < real.totals_s("time")).all()
    # The first iteration is slow. Copies have it again, so the shares of the time differ.
    notes, of_real = ([one.without_size for one in side.notes] for side in (profile, real))
    assert notes == of_real


def test_a_trace_can_have_any_number_of_events(tmp_path: Path) -> None:
    path, real = tmp_path / "trace.json", pa.load(traces.SOURCE)
    traces.write(path, 6000)  # a copy has 4,849 events
    events_of_copies = json.loads(path.read_bytes())["traceEvents"]
    copies = 2
    recorded = [event["name"] for event in events_of_copies if event.get("cat") == "cpu_op"]
    profile = pa.load(path)
    calls = profile.executions.calls[profile.executions.launched_by >= 0].sum()
    assert len(events_of_copies) >= 6000
    assert recorded == recorded[: len(recorded) // copies] * copies
    assert [run.step for run in profile.runs] == [2, 3, 4, 5, 6, 7]
    assert [run.wall_s for run in profile.runs] == [run.wall_s for run in real.runs] * copies
    assert calls == sum(event.get("cat") == "kernel" for event in events_of_copies)
    assert profile.origin.hardware == "NVIDIA A100-SXM4-40GB"
    assert codes_in(profile.notes) == ["no-shapes"]


def test_every_run_of_a_million_executions_has_kernels_that_its_operators_launched() -> None:
    profile = executions.profile()
    table = profile.executions
    launched = np.flatnonzero(table.launched_by >= 0)
    launcher = table.launched_by[launched]
    assert profile.check() == ()
    assert np.array_equal(table.run[launched], table.run[launcher])
    assert np.array_equal(np.unique(table.run[launched]), np.arange(len(profile.runs)))
    assert (table.start_s[launched] > table.start_s[launcher]).all()
    inner = np.flatnonzero(table.parent >= 0)
    assert np.array_equal(table.run[inner], table.run[table.parent[inner]])


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_commands_that_are_measured_succeed(name: str) -> None:
    path = str(PROFILES / "tiny.json")
    done = subprocess.run(
        [sys.executable, "-c", LIBRARIES[name], path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_readme_has_the_limits_of_the_benchmarks() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    limits = [f"| {limit_name(*names)} | {limit:.3g} |" for *names, limit in LIMITS]
    limits += [
        f"| 151 MB, {case}: time relative to by type | {limit} |"
        for case, limit in LIMITS_OVER_BY_TYPE.items()
    ]
    assert [line for line in limits if line not in page] == []


def test_the_readme_has_only_the_costs_of_cases_with_limits() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    rows = (line.strip("| ").split(" | ") for line in page.splitlines() if line.count(" | ") == 6)
    assert {(size, case) for size, case, *_ in rows} == LIMITED | {("profile", "case")}


@pytest.mark.slowest
def test_the_commands_on_models_succeed() -> None:
    for command in next(models()).commands.values():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slowest
def test_the_memory_of_the_benchmark_itself_is_not_measured() -> None:
    _own = np.ones(20_000_000)  # 153 MiB
    cost = cost_of([sys.executable, "-S", "-c", "pass"])
    assert 2 < cost.peak_mib < 100


def test_a_command_that_fails_ends_the_benchmark() -> None:
    with pytest.raises(RuntimeError, match=r"exit status 3: .* raise SystemExit"):
        cost_of([sys.executable, "-c", "raise SystemExit(3)"])

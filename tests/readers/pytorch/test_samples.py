"""Traces of torch: times, counts and operations equal the numbers in its `key_averages()`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.joining.iterations import without_first_runs
from profile_analyze.model.levels.levels import at_level, levels_of
from profile_analyze.model.measuring import calls
from profile_analyze.report.pictures.chart_texts import names
from tests.conftest import PROFILES, run_command
from tests.readers.pytorch.events import no_steps

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile

FOLDER = PROFILES.parent / "pytorch"
SAMPLES = sorted(FOLDER.glob("*.gz"))
GPU = FOLDER / "gpu.json"
COUNTED_BY_TORCH = ("conv2d", "mm", "addmm", "bmm", "baddbmm", "add", "mul")
STEPS = {"cnn-train": 3, "train": 3}


def name_of(path: Path) -> str:
    return path.name.removesuffix(".json.gz")


def self_us(profile: Profile) -> dict[str, float]:
    """Return the self time of each operator, over all steps."""
    rows = at_level(profile, "operator")
    found: dict[str, float] = defaultdict(float)
    times_s = np.nansum(rows.measured("time"), axis=1).tolist()
    for name, time_s in zip(rows.operators.name.values(), times_s, strict=True):
        found[str(name)] += time_s * 1e6
    return found


def operators_as_torch(profile: Profile) -> dict[str, list[int]]:
    """Return, for each name, the index of the operator of each execution.

    Like torch, leave out an operator that is the only child of an operator of the same name.
    """
    names = profile.operators.name.values()[profile.executions.operator]
    levels = profile.operators.level.values()[profile.executions.operator]
    parent = profile.executions.parent.tolist()
    children = Counter(parent)
    found: dict[str, list[int]] = defaultdict(list)
    operators = profile.executions.operator.tolist()
    for operator, name, level, outer in zip(operators, names, levels, parent, strict=True):
        is_only = outer >= 0 and names[outer] == name and children[outer] == 1
        if level == "operator" and not is_only:
            found[str(name)].append(operator)
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=name_of)
def test_self_times_and_counts_equal_those_of_torch(path: Path) -> None:
    profile = pa.load(path)
    averages = json.loads((FOLDER / f"{name_of(path)}.averages.json").read_bytes())
    times_us = self_us(profile)
    torch = {one["name"]: one for one in averages if one["name"] in times_us}
    # `## Call ...` is a module inside the operator `Torch-Compiled Region`, which gets its time.
    for one in averages:
        if one["name"].startswith("## Call CompiledFxGraph "):
            torch["Torch-Compiled Region: 0/0"]["self_us"] += one["self_us"]
    assert times_us == pytest.approx(
        {name: one["self_us"] for name, one in torch.items()}, rel=1e-6, abs=1e-6
    )
    counts = {name: len(operators) for name, operators in operators_as_torch(profile).items()}
    assert counts == {name: one["count"] for name, one in torch.items()}
    assert profile.check() == ()
    assert len(profile.runs) == STEPS.get(name_of(path), 1)


def test_operators_that_add_gradients_to_weights_belong_to_the_backward_phase() -> None:
    profile = pa.load(FOLDER / "cnn-train.json.gz")
    phases = defaultdict(set)
    for row in pa.run(pa.Query(by="name,phase", top=0), profile):
        phases[row["phase"]].add(row["name"])
    assert {"torch::autograd::AccumulateGrad", "aten::detach"} <= phases["backward"]
    # These operators make the gradient of the loss itself, which belongs to no forward operator.
    assert phases[None] == {
        "aten::ones_like",
        "aten::empty_like",
        "aten::empty_strided",
        "aten::fill_",
    }


@pytest.mark.parametrize("path", SAMPLES, ids=name_of)
def test_operations_equal_those_of_torch(path: Path) -> None:
    profile = pa.load(path)
    averages = json.loads((FOLDER / f"{name_of(path)}.averages.json").read_bytes())
    torch = {one["name"]: one["flops"] for one in averages if one["flops"]}
    assert torch.keys() <= {f"aten::{name}" for name in COUNTED_BY_TORCH}
    assert bool(torch) == (name_of(path) != "cnn-plain")  # cnn-plain has no shapes
    operators = operators_as_torch(profile)
    computation = profile.operators.computation
    assert {name: float(computation[operators[name]].sum()) for name in torch} == torch
    # Outer operators have the operations of inner ones, too, but each level counts them once.
    totals = {
        float(
            np.nansum(of_level.operators.computation * np.nan_to_num(calls(of_level)).sum(axis=1))
        )
        for of_level in (at_level(profile, level) for level in ("operator", "top"))
    }
    (total,) = totals
    assert total >= sum(torch.values())


@pytest.mark.parametrize("path", [*SAMPLES, GPU], ids=name_of)
def test_the_rows_of_each_level_add_up_to_its_total(path: Path) -> None:
    profile = pa.load(path)
    profile = without_first_runs(profile, len(profile.runs) - 1)
    levels = levels_of(profile)
    assert {"operator", "top"} <= set(levels)
    for level in levels:
        rows = at_level(profile, level)
        totals = sum(rows.total_by_track("device").values())
        assert float(np.nansum(rows.measured("time"))) == pytest.approx(totals), level


def test_no_stream_is_busier_than_the_wall_time() -> None:
    profile = pa.load(GPU)
    executions = profile.executions
    streams = [number for number, one in enumerate(profile.tracks) if one.side == "device"]
    assert len(streams) == 2
    for number in streams:
        of_track = np.flatnonzero(executions.track == number)
        starts_s, durations_s = executions.start_s[of_track], executions.duration_s[of_track]
        wall_s = float((starts_s + durations_s).max() - starts_s.min())
        assert 0 < float(durations_s.sum()) <= wall_s


def test_a_trace_whose_regions_are_steps_does_not_say_that_it_has_no_steps() -> None:
    outcome = run_command(
        *(str(FOLDER / "cnn-shapes.json.gz"), "--step-region", "my_region", "--notes", "all"),
        *("--print-only", "summary"),
    )
    assert outcome.err == ""


def test_a_trace_without_steps_says_how_often_its_operators_ran() -> None:
    assert pa.load(FOLDER / "cnn-shapes.json.gz").notes == (no_steps(2),)
    assert pa.load(FOLDER / "gpu.json").notes == ()  # its steps are runs


@pytest.mark.parametrize("level", ["operator", "top", "module"])
def test_the_totals_of_several_iterations_say_so(level: str) -> None:
    shown = (str(FOLDER / "cnn-shapes.json.gz"), "--level", level, "--print-only", "summary")
    line = "iterations         perhaps 2 in the run; times and calls are their sums"
    assert run_command(*shown).out.splitlines()[2] == line
    assert "iterations" not in run_command(*shown, "--step-region", "my_region").out


def test_a_row_has_its_scope_if_other_operators_have_its_name() -> None:
    trace = str(FOLDER / "cnn-shapes.json.gz")
    shown = ("--print-only", "device", "--notes", "none", "-t")
    assert run_command(trace, *shown, "1").out == (
        "device self time (ms)  calls  share         flops   bandwidth  name                      "
        "scope\n"
        "                1.252      2  32.0%  47.14 GFLOPS  1.06 GiB/s  aten::mkldnn_convolution  "
        "my_region/Net_0/Conv2d_0\n"
    )
    # The names of types all differ, so the column is not needed.
    assert "scope" not in run_command(trace, *shown, "1", "--aggregate-by", "type").out


def test_pictures_name_the_module_of_operators_with_equal_names() -> None:
    table = pa.run(pa.Query(top=4), at_level(pa.load(FOLDER / "cnn-shapes.json.gz")))
    assert names(table) == [
        "aten::mkldnn_convolution (Conv2d_0)",
        "aten::clamp_min",
        "aten::max_pool2d_with_indices",
        "aten::mkldnn_convolution (Conv2d_3)",
    ]


def test_advice_on_layers_names_keys_that_the_trace_has() -> None:
    def advice(name: str) -> str:
        done = run_command(str(FOLDER / name), "--aggregate-by", r"name~^\w+", "--notes", "all")
        return next(line for line in done.err.splitlines() if "alone has" in line)

    assert advice("cnn-shapes.json.gz").endswith("--aggregate-by scope groups by module")
    # This trace has neither regions nor shapes.
    assert advice("cnn-plain.json.gz").endswith("-t 0 without groups shows each operator")


def test_a_trace_of_a_cpu_has_no_host_times() -> None:
    done = run_command(str(FOLDER / "cnn-plain.json.gz"), "--print-only", "host")
    assert (
        "note: no operator has a host time; the profile is of a CPU, so all times are device times; "
        "use --print-only device\n"
    ) in done.err

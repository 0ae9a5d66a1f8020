"""Conditions of `--fail-if` on the wall times of runs."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.errors import QueryError
from profile_analyze.gate.conditions import FailCondition
from profile_analyze.gate.judge import judge_conditions
from profile_analyze.model.executions import Run
from profile_analyze.report.facts.sentence_parts import gate_sentence
from tests.conftest import FIXTURES, run_command
from tests.in_memory import CPU, THREAD, profile_of
from tests.query.test_wall_time_findings import side

if TYPE_CHECKING:
    from profile_analyze.model.executions import Track
    from profile_analyze.model.profile import Profile

STEPS = (0.0, 0.01, 0.02, 0.03, 0.04)


def of_walls(name: str, wall_s: float, *, track: Track = CPU) -> Profile:
    """Return five processes with about this wall time. Their operators always take 1 s."""
    return side(name, *((1.0 + step, wall_s * (1 + step)) for step in STEPS), tracks=(track,))


def verdict(text: str, new: Profile, base: Profile | None = None, **asked: object) -> str:
    query = pa.Query(compared=base is not None, **asked)  # type: ignore[arg-type]
    condition = FailCondition.parse(text, query)
    (found,) = judge_conditions([condition], query, pa.compare(new, base) if base else new)
    return gate_sentence(found)


SLOW, FAST = of_walls("new", 3.0), of_walls("old", 2.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "wall > +5%",
            "FAILED: wall > +5%: +50.0% (95 %: +45.7% to +54.5%, p 0.00794), 3.060 s against "
            "2.040 s of the baseline: beyond the limit, and beyond noise",
        ),
        (
            "wall > +2s",
            "passed: wall > +2s: +1.020 s (95 %: +931.7 ms to +1.111 s), 3.060 s against 2.040 s of "
            "the baseline: within the limit, and so is the confidence interval",
        ),
        (
            "wall > -3%",
            "FAILED: wall > -3%: +50.0% (95 %: +45.7% to +54.5%), 3.060 s against 2.040 s of the "
            "baseline: beyond the limit, and beyond noise",
        ),
        (
            "wall > 2.5s",
            "FAILED: wall > 2.5s: 3.060 s (95 %: 3.001 s to 3.119 s): beyond the limit, and beyond "
            "noise",
        ),
        (
            "wall > 1s",
            "FAILED: wall > 1s: 3.060 s (95 %: 3.001 s to 3.119 s): beyond the limit, and beyond "
            "noise; the baseline is beyond this limit, too; to limit the change, write 'wall > +1s'",
        ),
    ],
)
def test_wall_times_are_judged_like_the_total(text: str, expected: str) -> None:
    assert verdict(text, SLOW, FAST) == expected


@pytest.mark.parametrize("text", ["wall > +5%", "wall > 2.5s", "wall < -3%"])
def test_the_rules_are_those_of_the_total(text: str) -> None:
    """The same times as wall times and as times of operators give the same verdict."""
    times = [(1 + step, 2 - step) for step in STEPS]
    sides = [
        side(name, *((factor * time, factor * time) for time in of_side))
        for name, factor, of_side in zip(
            ("a", "b"), (1.3, 1.0), zip(*times, strict=True), strict=True
        )
    ]
    as_total = verdict(text.replace("wall", "total"), *sides)
    assert verdict(text, *sides) == as_total.replace("total", "wall", 1)


def test_absolute_limits_need_no_baseline_and_filters_do_not_matter() -> None:
    expected = (
        "passed: wall > 4s: 3.060 s (95 %: 3.001 s to 3.119 s): within the limit, and so is the "
        "confidence interval"
    )
    assert verdict("wall > 4s", SLOW) == expected
    assert verdict("wall > 4s", SLOW, name="none such", where="calls > 5") == expected
    changed = verdict("wall > +5%", SLOW, FAST, where="verdict == slower")
    assert changed == verdict("wall > +5%", SLOW, FAST)


def test_processes_count_once() -> None:
    runs = [Run(n // 4, n % 4 + 1, wall_s=1.0 + n / 100) for n in range(8)]
    profile = profile_of(
        [{"name": "conv"}],
        [{"operator": 0, "run": n, "duration_s": 0.5} for n in range(8)],
        tracks=[CPU],
        runs=runs,
        processes=["a", "b"],
    )
    assert verdict("wall > 2s", profile) == (
        "cannot be judged: wall > 2s: 1.035 s (each process counts once): only 2 of the 4 required processes; record at least 4 profiles, better "
        "8, each by its own process, and name them all"
    )
    assert verdict("wall > 2s", profile, unit="iteration").startswith(
        "passed: wall > 2s: 1.035 s (counting iterations, which are not independent)"
    )


def test_device_times_are_not_needed() -> None:
    sides = (of_walls("new", 3.0, track=THREAD), of_walls("old", 2.0, track=THREAD))
    assert verdict("wall > +5%", *sides).startswith("FAILED: wall > +5%: +50.0%")
    assert verdict("total > +5%", *sides) == (
        "cannot be judged: total > +5%: no operator matches: total is N/A for all operators"
    )


@pytest.mark.parametrize(
    ("new", "base", "expected"),
    [
        (of_walls("new", nan), FAST, " is N/A: no file of the profile"),
        (SLOW, of_walls("old", nan), " of the baseline is N/A: no file of the baseline"),
    ],
)
def test_unknown_wall_times_cannot_be_judged(new: Profile, base: Profile, expected: str) -> None:
    assert verdict("wall > +5%", new, base) == (
        f"cannot be judged: wall > +5%: the wall time{expected} has the wall time of a run; limit "
        "total instead"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type=Conv: wall > +5%", "wall covers all operators; write 'type=Conv: time > +5%'"),
        ("wall > 5", "5 of what? write 5s, 5ms"),
        ("wall < +5%", "unchanged model; did you mean 'wall > +5%'?"),
    ],
)
def test_wrong_conditions_on_wall_times(text: str, message: str) -> None:
    with pytest.raises(QueryError) as error:
        FailCondition.parse(text, pa.Query(compared=True))
    assert str(error.value).endswith(message)


@pytest.mark.parametrize(
    "name",
    [
        "onnxruntime/squeezenet-1.31.json.gz",
        "megengine-timeline/steps.json.gz",
        "migraphx/current.txt",
        "tflite/subgraphs.txt",
        "pytorch/train.json.gz",
    ],
)
def test_every_format_with_wall_times_can_be_limited(name: str) -> None:
    outcome = run_command(str(FIXTURES / name), "--fail-if", "wall > 5s", "--print-only", "summary")
    assert outcome.code == 4
    verdict_line = outcome.out.splitlines()[-1]
    assert verdict_line.startswith("cannot be judged: wall > 5s: ")
    assert "N/A" not in verdict_line


def test_a_model_has_no_wall_time() -> None:
    outcome = run_command(str(FIXTURES / "models/cnn_script.onnx"), "--fail-if", "wall > 1ms")
    assert outcome.out.splitlines()[-1] == (
        "cannot be judged: wall > 1ms: the wall time is N/A; a model that has not run has no times: "
        "the metrics of work are computation, memory, macs, params"
    )

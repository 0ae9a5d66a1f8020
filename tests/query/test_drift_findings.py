"""Findings on a machine that was slower or faster in some runs than in others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.comparison.drift import shared_change, without_drift
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from tests import in_memory
from tests.conftest import FIXTURES
from tests.findings.found import with_code
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = FIXTURES / "runs"
STEADY = [100.0 + 10 * index for index in range(12)]
"""The times of twelve operators of one run, in microseconds."""


def change_alike(
    operators: int, share: float, ratio: float, *dtypes: tuple[str, int, bool]
) -> Finding:
    values = {"ratio": ratio, "dtypes": dtypes[0] if dtypes else ()}
    kind = Kind.CONTEXT if dtypes else Kind.WRONG
    return Finding.of("shared-change", kind, share=share, operators=operators, **values)


SLOWER = change_alike(12, 1.0, 1.2)


def side(runs: Sequence[Sequence[float]], name: str) -> pa.Profile:
    return pa.join_runs(
        profile_of(
            [Operator(f"op{index}", f"Type{index}", time) for index, time in enumerate(times)],
            f"{name}{number}.json",
        )
        for number, times in enumerate(runs)
    )


def scaled(times: Sequence[float], factor: float, **others: float) -> list[float]:
    """Return the times multiplied by `factor`, or by the operator's factor in `others`."""
    return [time * others.get(f"op{index}", factor) for index, time in enumerate(times)]


def on_drift(source: pa.Comparison, query: pa.Query | None = None) -> list[Finding]:
    change = pa.summarise(source, judged_by=query or pa.Query(compared=True)).change
    assert change is not None
    return with_code(change.notes, "shared-change", "drifting-runs", decimals=3)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (scaled(STEADY, 1.2), [SLOWER]),
        (
            scaled(STEADY, 0.8, op0=3, op11=1),
            [change_alike(10, 0.709, 0.8)],
        ),  # all but op0 and op11 are faster
        (scaled(STEADY, 1.02), []),  # too little
        (scaled(STEADY, 1, op0=3, op11=5), []),  # a real change of two operators
        (scaled(STEADY, 1.001, op0=3, op11=5), []),
        (scaled(STEADY, 1.2, op0=1, op1=1, op2=1, op3=1), []),  # too many stayed the same
        (scaled(STEADY, 1.2, op0=2, op1=2, op2=2, op3=2, op4=2), []),  # not by similar ratios
        (scaled(STEADY, 1.2, op0=0.8, op1=0.8, op2=0.8, op3=0.8), []),  # in two directions
        (scaled(STEADY[:9], 1.2), []),  # too few operators
    ],
)
@pytest.mark.parametrize("by", [(), ("type",)])
def test_operators_that_nearly_all_change_alike_are_found(
    new: list[float], expected: list[Finding], by: tuple[str, ...]
) -> None:
    comparison = pa.compare(side([new], "new"), side([STEADY[: len(new)]], "base"))
    assert on_drift(comparison, pa.Query(compared=True, by=by)) == expected


def with_dtypes(profile: pa.Profile, dtypes: Sequence[str | None]) -> pa.Profile:
    """Return the profile with the dtypes that its operators compute in."""
    optional = {**profile.operators.optional, "compute_dtype": pa.Categorical.of([*dtypes])}
    return profile.changed(operators=replace(profile.operators, optional=optional))


@pytest.mark.parametrize(
    ("new", "cause"),
    [
        (["fp16"] * 12, ("fp32 to fp16", 12, True)),
        (["int8", *["fp16"] * 9, "fp32", None], ("fp32 to fp16", 10, False)),
        (["fp32"] * 4 + ["fp16"] * 8, ("fp32 to fp16", 8, True)),
    ],
)
def test_another_dtype_is_a_probable_cause(
    new: list[str | None], cause: tuple[str, int, bool]
) -> None:
    comparison = pa.compare(
        with_dtypes(side([scaled(STEADY, 0.5)], "new"), new),
        with_dtypes(side([STEADY], "base"), ["fp32"] * 12),
    )
    assert on_drift(comparison) == [change_alike(12, 1.0, 0.5, cause)]
    # Rows that are split still have the dtypes of both sides.
    changed = comparison.split(["track"]).changed_dtypes().values().tolist()
    assert [one is None for one in changed] == [dtype in ("fp32", None) for dtype in new]


@pytest.mark.parametrize("new", [["fp32"] * 12, ["fp32"] * 8 + ["fp16"] * 4, [None] * 12])
def test_the_machine_may_be_the_cause_if_the_dtype_of_few_operators_changed(
    new: list[str | None],
) -> None:
    comparison = pa.compare(
        with_dtypes(side([scaled(STEADY, 1.2)], "new"), new),
        with_dtypes(side([STEADY], "base"), ["fp32"] * 12),
    )
    assert on_drift(comparison) == [SLOWER]


def test_drift_correction_is_not_advised_if_the_dtype_changed() -> None:
    runs = [scaled(STEADY, 1, **{f"op{n}": 9.0 for n in range(5)}), scaled(STEADY, 2)]
    runs += [scaled(STEADY, 1.5, op11=20.0)]
    for dtype, by_dtype in (("fp32", False), ("fp16", True)):
        comparison = pa.compare(
            with_dtypes(side(runs, "new"), [dtype] * 12),
            with_dtypes(side([STEADY] * 3, "base"), ["fp32"] * 12),
        )
        found = with_code(on_drift(comparison), "drifting-runs")
        assert [one["by_dtype"] for one in found] == [by_dtype]


def test_no_finding_if_drift_is_corrected() -> None:
    comparison = pa.compare(side([scaled(STEADY, 1.2)], "new"), side([STEADY], "base"))
    corrected = without_drift(comparison)
    assert isinstance(corrected, pa.Comparison)
    assert on_drift(corrected) == []
    # These times still change alike, but they count as corrected, so the advice would not help.
    assert on_drift(replace(comparison, uncorrected=comparison)) == []


def test_differences_that_do_not_add_up_are_found() -> None:
    new, base = (
        pa.load_runs(sorted(map(str, (RUNS / one).iterdir()))) for one in ("changed", "base")
    )
    comparison = pa.compare(new, base)
    values = {"sum_s": 0.0122, "difference_s": -0.00208, "least": 0.837, "most": 1.57}
    (finding,) = on_drift_of(comparison)
    assert finding.code == "drifting-runs"
    assert {name: finding[name] for name in values} == pytest.approx(values, rel=0.01)
    corrected = without_drift(comparison)
    assert isinstance(corrected, pa.Comparison)
    assert on_drift(corrected) == []


def on_drift_of(source: pa.Comparison) -> list[Finding]:
    """Return the findings on drift, with all digits."""
    change = pa.summarise(source).change
    assert change is not None
    return with_code(change.notes, "shared-change", "drifting-runs")


def test_no_note_if_differences_do_not_add_up_without_drift() -> None:
    # Different operators are slow in each run. Medians of operators stay the same, totals change.
    slow = (("op0", "op1", "op2", "op3"), ("op4", "op5", "op6"), ("op8", "op9", "op10", "op11"))
    new = [scaled(STEADY, 1, **dict.fromkeys(names, 2.0)) for names in slow]
    comparison = pa.compare(side(new, "new"), side([STEADY] * 3, "base"))
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    assert change.difference_s > 0.2 * change.base.time_s
    assert on_drift(comparison) == []


def test_times_near_the_largest_number_change_alike_without_a_warning() -> None:
    assert shared_change(np.full(12, 1.7e308), np.full(12, 1.6e308)) is None
    assert shared_change(np.full(12, 1.7e308), np.full(12, 1e-308)) is None


def odd_runs(
    *runs: float, base: Sequence[float] = (1.0, 1.01, 1.02, 1.03)
) -> list[tuple[Kind, int, list[tuple[str, float]]]]:
    """Return the findings on odd runs: the kind, the count and the first runs.

    `runs` has a factor for each run.
    """
    comparison = pa.compare(
        side([scaled(STEADY, factor) for factor in runs], "new"),
        side([scaled(STEADY, factor) for factor in base], "base"),
    )
    return odd_in(comparison, pa.Query(compared=True))


def odd_in(
    comparison: pa.Comparison, query: pa.Query
) -> list[tuple[Kind, int, list[tuple[str, float]]]]:
    change = pa.summarise(comparison, judged_by=query).change
    assert change is not None
    found: list[Any] = with_code(change.notes, "odd-runs", decimals=3)
    return [(one.kind, one["runs"], [*one["first"]]) for one in found]


QUIET = (1.0, 1.01, 1.02, 1.03, 1.04)


@pytest.mark.slowest
def test_odd_runs_are_named() -> None:
    assert odd_runs(*QUIET) == []
    assert odd_runs(*QUIET, 1.2) == []  # less than 25 % above the median
    assert odd_runs(*QUIET, 2.05) == [(Kind.ANSWER, 1, [("new5.json", 2.0)])]
    assert odd_runs(0.5, *QUIET) == [(Kind.ANSWER, 1, [("new0.json", 0.493)])]
    # The runs differ so much that none of them is odd.
    assert odd_runs(1.0, 1.5, 2.0, 2.5, 3.0) == []
    assert odd_runs(1.0, 1.01, 5.0) == []  # three runs are too few to measure the noise
    many = (1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007, 1.008, 2.01, 3.01, 4.01)
    first = [("new5.json", 2.0), ("base8.json", 1.998), ("base9.json", 2.992)]
    assert odd_runs(*QUIET, 2.05, base=many) == [(Kind.ANSWER, 4, first)]


@pytest.mark.parametrize(
    ("runs", "base", "kind"),
    [
        ((0.5, 1.4, 1.41, 1.42, 1.43), QUIET, Kind.ANSWER),
        ((1.4, 1.41, 1.42, 1.43, 1.44), (*QUIET, 1.9), Kind.ANSWER),
        ((1.04, 1.05, 1.06, 1.07, 3.0), QUIET, Kind.CONTEXT),  # slower in any case
    ],
)
def test_odd_runs_are_important_if_the_verdict_is_uncertain(
    runs: Sequence[float], base: Sequence[float], kind: Kind
) -> None:
    assert [found for found, _, _ in odd_runs(*runs, base=base)] == [kind]


def test_odd_iterations_have_the_name_of_their_file_and_their_number() -> None:
    def process(name: str, factors: Sequence[float]) -> pa.Profile:
        return in_memory.profile_of(
            [{"name": "a", "type": "A"}],
            [
                {"operator": 0, "run": run, "duration_s": factor}
                for run, factor in enumerate(factors)
            ],
            runs=[Run() for _ in factors],
            processes=[name],
        )

    query = pa.Query(compared=True, unit="iteration")
    comparison = pa.compare(process("new", (*QUIET, 3.0)), process("base", QUIET))
    assert odd_in(comparison, query) == [(Kind.ANSWER, 1, [("run 6 of new", 2.927)])]

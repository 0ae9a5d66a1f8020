"""Notes on a machine that was slower or faster in some runs than in others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.comparison.drift import shared_change, without_drift
from profile_analyze.model.executions import Run
from profile_analyze.model.notes import Importance, Note
from tests import in_memory
from tests.conftest import FIXTURES, run_command
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = FIXTURES / "runs"
STEADY = [100.0 + 10 * index for index in range(12)]
"""The times of twelve operators of one run, in microseconds."""
SLOWER = (
    "12 operators (100.0% of the time) are slower by similar ratios, with a median of 1.20: either "
    "the machine was slower, or all operators changed; profile both sides in turns to find out; "
    "--correct-drift removes the change that all operators share"
)
FASTER = (
    "10 operators (70.9% of the time) are faster by similar ratios, with a median of 0.800: either "
    "the machine was faster, or all operators changed; profile both sides in turns to find out; "
    "--correct-drift removes the change that all operators share"
)


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


def notes_on(source: pa.Comparison, query: pa.Query | None = None) -> list[str]:
    change = pa.summarise(source, judged_by=query or pa.Query(compared=True)).change
    assert change is not None
    return [note for note in change.notes if "--correct-drift" in note]


@pytest.mark.parametrize(
    ("new", "notes"),
    [
        (scaled(STEADY, 1.2), [SLOWER]),
        (scaled(STEADY, 0.8, op0=3, op11=1), [FASTER]),  # all but op0 and op11 are faster
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
def test_a_note_if_nearly_all_operators_change_alike(
    new: list[float], notes: list[str], by: tuple[str, ...]
) -> None:
    comparison = pa.compare(side([new], "new"), side([STEADY[: len(new)]], "base"))
    assert notes_on(comparison, pa.Query(compared=True, by=by)) == notes


def with_dtypes(profile: pa.Profile, dtypes: Sequence[str | None]) -> pa.Profile:
    """Return the profile with the dtypes that its operators compute in."""
    optional = {**profile.operators.optional, "compute_dtype": pa.Categorical.of([*dtypes])}
    return profile.changed(operators=replace(profile.operators, optional=optional))


HALF = (
    "12 operators (100.0% of the time) are faster by similar ratios, with a median of 0.500: "
    "probably because {}"
)


@pytest.mark.parametrize(
    ("new", "cause"),
    [
        (["fp16"] * 12, "their dtype changed (fp32 to fp16)"),
        (
            ["int8", *["fp16"] * 9, "fp32", None],
            "the dtype of 10 of them changed (mostly fp32 to fp16)",
        ),
        (["fp32"] * 4 + ["fp16"] * 8, "the dtype of 8 of them changed (fp32 to fp16)"),
    ],
)
def test_another_dtype_is_a_probable_cause(new: list[str | None], cause: str) -> None:
    comparison = pa.compare(
        with_dtypes(side([scaled(STEADY, 0.5)], "new"), new),
        with_dtypes(side([STEADY], "base"), ["fp32"] * 12),
    )
    change = pa.summarise(comparison).change
    assert change is not None
    (note,) = (one for one in change.notes if "similar" in one)
    assert (note, note.importance.name) == (HALF.format(cause), "CONTEXT")
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
    assert notes_on(comparison) == [SLOWER]


def test_drift_correction_is_not_advised_if_the_dtype_changed() -> None:
    runs = [scaled(STEADY, 1, **{f"op{n}": 9.0 for n in range(5)}), scaled(STEADY, 2)]
    runs += [scaled(STEADY, 1.5, op11=20.0)]
    for dtype, is_advised in (("fp32", True), ("fp16", False)):
        comparison = pa.compare(
            with_dtypes(side(runs, "new"), [dtype] * 12),
            with_dtypes(side([STEADY] * 3, "base"), ["fp32"] * 12),
        )
        change = pa.summarise(comparison).change
        assert change is not None
        (note,) = (one for one in change.notes if "add up to" in one)
        assert note.endswith("do not add up") == (not is_advised)
        assert any(notes_on(comparison)) == is_advised


def test_no_note_if_drift_is_corrected() -> None:
    comparison = pa.compare(side([scaled(STEADY, 1.2)], "new"), side([STEADY], "base"))
    corrected = without_drift(comparison)
    assert isinstance(corrected, pa.Comparison)
    assert notes_on(corrected) == []
    # These times still change alike, but they count as corrected, so the advice would not help.
    assert notes_on(replace(comparison, uncorrected=comparison)) == []


def test_a_note_if_the_differences_do_not_add_up() -> None:
    call = (str(RUNS / "changed"), "--compare", str(RUNS / "base"), "--print-only", "summary")
    assert run_command(*call).err == (
        "note: the differences of the operators add up to +12.2 ms, but the total differs by "
        "-2.08 ms: some runs were slower or faster as a whole (0.837 to 1.57 times as long as the "
        "median run), so differences of medians do not add up; --correct-drift removes such "
        "differences between runs from the rows of tables, but not from the summary\n"
    )
    corrected = run_command(*call, "--correct-drift").err
    assert corrected == (
        "note: times are corrected for drift: the times of each run are divided by its drift "
        "factor, 0.837 to 1.57 (1 is the median run); by the level of 48 operators, the runs of the "
        "profile took 1.00 times as long as the runs of the baseline (95 %: 0.909 to 1.09, p 0.981; "
        "45 of these operators changed alike); the summary and all verdicts are as measured\n"
    )


def test_no_note_if_differences_do_not_add_up_without_drift() -> None:
    # Different operators are slow in each run. Medians of operators stay the same, totals change.
    slow = (("op0", "op1", "op2", "op3"), ("op4", "op5", "op6"), ("op8", "op9", "op10", "op11"))
    new = [scaled(STEADY, 1, **dict.fromkeys(names, 2.0)) for names in slow]
    comparison = pa.compare(side(new, "new"), side([STEADY] * 3, "base"))
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    assert change.difference_s > 0.2 * change.base.time_s
    assert notes_on(comparison) == []


def test_times_near_the_largest_number_change_alike_without_a_warning() -> None:
    assert shared_change(np.full(12, 1.7e308), np.full(12, 1.6e308)) is None
    assert shared_change(np.full(12, 1.7e308), np.full(12, 1e-308)) is None


def odd_notes(*runs: float, base: Sequence[float] = (1.0, 1.01, 1.02, 1.03)) -> list[Note]:
    """Return the notes on odd runs of a comparison. `runs` has a factor for each run."""
    comparison = pa.compare(
        side([scaled(STEADY, factor) for factor in runs], "new"),
        side([scaled(STEADY, factor) for factor in base], "base"),
    )
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    return [note for note in change.notes if "out why" in note]


QUIET = (1.0, 1.01, 1.02, 1.03, 1.04)


@pytest.mark.slowest
def test_odd_runs_are_named() -> None:
    assert odd_notes(*QUIET) == []
    assert odd_notes(*QUIET, 1.2) == []  # less than 25 % above the median
    assert odd_notes(*QUIET, 2.05) == [
        "new5.json took 2.00 times the median of its side: find out why, or leave it out"
    ]
    assert odd_notes(0.5, *QUIET) == [
        "new0.json took 0.493 times the median of its side: find out why, or leave it out"
    ]
    # The runs differ so much that none of them is odd.
    assert odd_notes(1.0, 1.5, 2.0, 2.5, 3.0) == []
    assert odd_notes(1.0, 1.01, 5.0) == []  # three runs are too few to measure the noise
    many = (1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007, 1.008, 2.01, 3.01, 4.01)
    assert odd_notes(*QUIET, 2.05, base=many) == [
        "new5.json took 2.00, base8.json took 2.00, base9.json took 2.99 times the median of their "
        "sides, and 1 more is odd: find out why, or leave them out"
    ]


@pytest.mark.parametrize(
    ("runs", "base", "importance"),
    [
        ((0.5, 1.4, 1.41, 1.42, 1.43), QUIET, Importance.ANSWER),
        ((1.4, 1.41, 1.42, 1.43, 1.44), (*QUIET, 1.9), Importance.ANSWER),
        ((1.04, 1.05, 1.06, 1.07, 3.0), QUIET, Importance.CONTEXT),  # slower in any case
    ],
)
def test_odd_runs_are_important_if_the_verdict_is_uncertain(
    runs: Sequence[float], base: Sequence[float], importance: Importance
) -> None:
    assert [note.importance for note in odd_notes(*runs, base=base)] == [importance]


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
    change = pa.summarise(comparison, judged_by=query).change
    assert change is not None
    assert [note for note in change.notes if "out why" in note] == [
        "run 6 of new took 2.93 times the median of its side: find out why, or leave it out"
    ]

"""Correction of times that include the runtime's wait for each operator."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.analysis.synchronisation import waits_s, without_synchronisation
from profile_analyze.model.executions import Run
from tests.in_memory import averages, synchronised

CORRECTED = (
    "times are corrected for synchronisation: a wait of 250 us is subtracted from each call; "
    "1 operator took less than the wait and counts as 0"
)


def test_each_call_is_shorter_by_the_same_wait() -> None:
    profile = synchronised()
    assert waits_s(profile).tolist() == pytest.approx([0.75e-3 / 3])
    corrected = without_synchronisation(profile)
    assert corrected.measured("time")[:, 0].tolist() == pytest.approx([1.5e-3, 0.5e-3, 0.0])
    assert corrected.total_s() == pytest.approx(2e-3)  # the wall time of the run
    assert not corrected.origin.synchronised
    assert list(corrected.notes) == [CORRECTED]
    assert not [note for note in pa.summarise(corrected).notes if "waited" in note]


def test_the_note_counts_operators_not_executions() -> None:
    """`view` is shorter than the wait in all three runs, and `add` only in the last run."""
    joined = pa.join_runs([synchronised(), synchronised(), synchronised()])
    executions = joined.executions
    is_short = (executions.operator == 1) & (executions.run == 2)
    changed = executions.changed(duration_s=np.where(is_short, 0.1e-3, executions.duration_s))
    runs = (*joined.runs[:2], joined.runs[2]._replace(wall_s=1.5e-3))
    corrected = without_synchronisation(joined.changed(executions=changed, runs=runs))
    assert list(corrected.notes) == [CORRECTED]


def test_the_note_says_what_the_wait_adds() -> None:
    assert list(pa.summarise(synchronised()).notes) == [
        "times are means over several inferences; how much they vary is not known",
        "the runtime waited for each operator before the next, so times include that wait: all "
        "operators together take 1.4 times as long as a whole run; --correct-sync subtracts "
        "250 us from each call",
    ]
    compared = pa.compare(synchronised(), synchronised())
    notes = [note for note in pa.summarise(compared).notes if "waited" in note]
    assert [note.startswith("baseline: ") for note in notes] == [False, True]


@pytest.mark.parametrize(
    ("wall_s", "reason"),
    [
        (nan, "the time of a whole run is unknown, so --correct-sync changes nothing: the wait in each call cannot be computed"),
        (0.0, "the time of a whole run is unknown, so --correct-sync changes nothing: the wait in each call cannot be computed"),
        (3e-3, "all operators together take no longer than a whole run, so --correct-sync changes nothing: there is no wait to subtract"),
    ],
)  # fmt: skip
def test_a_wait_that_is_unknown_is_not_subtracted(wall_s: float, reason: str) -> None:
    profile = synchronised().changed(runs=(Run(wall_s=wall_s),))
    corrected = without_synchronisation(profile)
    assert corrected.measured("time").tolist() == profile.measured("time").tolist()
    assert list(corrected.notes) == [reason]
    assert (
        "the runtime waited for each operator before the next, so times include that wait, which "
        "matters for short operators"
    ) in pa.summarise(profile).notes


def without_calls(profile: pa.Profile, *rows: int) -> pa.Profile:
    """Return the profile with 0 calls in the given executions."""
    executions = profile.executions
    calls = np.where(np.isin(np.arange(len(executions)), rows), 0, executions.calls)
    return profile.changed(executions=executions.changed(calls=calls))


def test_rows_without_calls_keep_their_times() -> None:
    corrected = without_synchronisation(without_calls(synchronised(), 1))  # `add`
    assert corrected.measured("time")[:, 0].tolist() == pytest.approx([1.25e-3, 0.75e-3, 0.0])
    assert corrected.total_s() == pytest.approx(2e-3)


@pytest.mark.parametrize("rows", [(0,), (0, 1, 2)])
def test_the_wait_is_unknown_if_rows_without_calls_take_longer_than_the_run(
    rows: tuple[int, ...],
) -> None:
    profile = without_calls(synchronised(), *rows).changed(runs=(Run(wall_s=1.9e-3),))
    corrected = without_synchronisation(profile)
    assert corrected.measured("time").tolist() == profile.measured("time").tolist()
    assert list(corrected.notes) == [
        "the time or the number of calls of some operators is unknown, so --correct-sync changes "
        "nothing: the wait in each call cannot be computed"
    ]
    assert any("which matters for short operators" in note for note in pa.summarise(profile).notes)


def test_the_wait_does_not_follow_from_one_row() -> None:
    totals = pa.load("tests/fixtures/migraphx/totals.txt")
    corrected = without_synchronisation(totals)
    assert corrected.measured("time").tolist() == totals.measured("time").tolist()
    assert corrected.notes[-1] == (
        "the file has only one row, so --correct-sync changes nothing: one time does not show how "
        "long each call waited"
    )
    assert not any("--correct-sync" in note for note in pa.summarise(totals).notes)


def test_the_corrected_times_add_up_to_the_whole_run() -> None:
    corrected = without_synchronisation(pa.load("tests/fixtures/migraphx/current.txt"))
    assert corrected.total_s() == pytest.approx(60.9e-6)
    assert (corrected.measured("time") >= 0).all()


def test_other_formats_are_not_corrected() -> None:
    assert list(without_synchronisation(averages()).notes) == [
        "times are not synchronised in this format, so --correct-sync changes nothing"
    ]


def test_operators_that_take_longer_than_the_run_explain_no_share_of_it() -> None:
    summary = pa.summarise(synchronised())
    assert (summary.wall_s, str(summary.outside_s), str(summary.explained)) == (2e-3, "nan", "nan")


def test_joined_files_are_synchronised_if_one_of_them_is() -> None:
    joined = pa.join_runs([averages(), synchronised()])
    assert joined.origin.synchronised
    assert joined.origin.recorded == ()

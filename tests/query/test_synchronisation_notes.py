"""The note on times that include the runtime's wait for each operator."""

from __future__ import annotations

from math import nan

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from tests.in_memory import averages, synchronised

WAITED = "the runtime waited for each operator before the next, so times include that wait"


def test_the_note_says_what_the_wait_adds() -> None:
    factor = "all operators together take 1.4 times as long as a whole run"
    assert list(pa.summarise(synchronised()).notes) == [
        "times are means over several inferences; how much they vary is not known",
        f"{WAITED}: {factor}",
    ]
    compared = pa.compare(synchronised(), synchronised())
    notes = [note for note in pa.summarise(compared).notes if "waited" in note]
    assert [note.startswith("baseline: ") for note in notes] == [False, True]


@pytest.mark.parametrize("wall_s", [nan, 0.0, 2.8e-3, 3e-3])
def test_what_the_wait_adds_may_be_unknown_or_nothing(wall_s: float) -> None:
    profile = synchronised().changed(runs=(Run(wall_s=wall_s),))
    assert f"{WAITED}, which matters for short operators" in pa.summarise(profile).notes


def test_operators_that_take_longer_than_the_run_explain_no_share_of_it() -> None:
    summary = pa.summarise(synchronised())
    assert (summary.wall_s, str(summary.outside_s), str(summary.explained)) == (2e-3, "nan", "nan")


def test_joined_files_are_synchronised_if_one_of_them_is() -> None:
    joined = pa.join_runs([averages(), synchronised()])
    assert joined.origin.synchronised
    assert joined.origin.recorded == ()

"""Findings as values."""

from __future__ import annotations

import pickle
from math import nan

from profile_analyze.model.findings import BASELINE, Finding, Kind, Size, mean_size
from profile_analyze.model.notes import by_importance


def test_equal_findings_are_equal_even_if_numbers_are_unknown() -> None:
    one = Finding.of("lost", Kind.WRONG, events=2)
    also_nan = float("nan")
    assert Finding.of("lost", Kind.WRONG, share=also_nan, time_s=also_nan, events=2) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.with_size(mean_size([Size(nan, 1.0), Size(nan, 3.0)])) == one.with_size(
        Size(nan, 2.0)
    )
    assert len({one, pickle.loads(pickle.dumps(one))}) == 1


def test_findings_that_differ_in_the_fourth_digit_say_the_same() -> None:
    def slow(multiple: float, share: float) -> Finding:
        return Finding.of("slow", Kind.WRONG, share=share, runs=((1, multiple),))

    one, other = slow(3.061, 0.50001), slow(3.0611, 0.50002)
    assert by_importance([one, other]) == (one,)
    (both,) = by_importance([one, other.about(BASELINE)])
    assert both == one.on_both_sides(other)
    different = slow(3.07, 0.5)
    assert by_importance([one, different]) == (one, different)

"""Findings as values."""

from __future__ import annotations

import pickle
from math import nan

from profile_analyze.model.findings import Finding, Kind, Size, mean_size


def test_equal_findings_are_equal_even_if_numbers_are_unknown() -> None:
    one = Finding.of("lost", Kind.WRONG, events=2)
    also_nan = float("nan")
    assert Finding.of("lost", Kind.WRONG, share=also_nan, time_s=also_nan, events=2) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.with_size(mean_size([Size(nan, 1.0), Size(nan, 3.0)])) == one.with_size(
        Size(nan, 2.0)
    )
    assert len({one, pickle.loads(pickle.dumps(one))}) == 1

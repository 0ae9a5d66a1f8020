"""The correction of p for the number of rows, the smallest p, and the text about too few runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from profile_analyze.comparison.statistics import (
    LEAST_RUNS,
    adjusted,
    by_known_runs,
    least_p,
    too_few_runs,
)

nan = np.nan

P_VALUES = st.lists(st.floats(0, 1) | st.just(nan))


@given(P_VALUES)
def test_the_correction_agrees_with_benjamini_and_hochberg(p_values: list[float]) -> None:
    p = np.array(p_values, np.float64)
    found = adjusted(p)
    known = ~np.isnan(p)
    np.testing.assert_array_equal(np.isnan(found), ~known)
    if known.any():
        expected = stats.false_discovery_control(p[known], method="bh")
        np.testing.assert_allclose(found[known], expected, rtol=1e-12)
    np.testing.assert_array_equal(adjusted(p, np.ones(len(p))), found)


def test_the_correction_by_hand() -> None:
    found = adjusted(np.array([0.04, nan, 0.01, 0.03, 0.9]))
    # 0.01 * 4 / 1, 0.03 * 4 / 2, 0.04 * 4 / 3 and 0.9 * 4 / 4. The second result is larger than
    # the third, so it becomes the third.
    np.testing.assert_allclose(found, [0.16 / 3, nan, 0.04, 0.16 / 3, 0.9])


def test_a_weight_divides_p_before_the_correction() -> None:
    found = adjusted(np.array([0.04, 0.04, nan, 0.9]), np.array([2.5, 0.5, 1.0, 0.0625]))
    # 0.016 * 3 / 1, 0.08 * 3 / 2, and 14.4, which is limited to 1
    np.testing.assert_allclose(found, [0.048, 0.12, nan, 1.0])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.25, 0.75, 1.0, 3.0])), min_size=1),
    st.floats(0.001, 0.9),  # corrected p are limited to 1
)
def test_corrected_p_values_reject_what_the_procedure_rejects(
    rows: list[tuple[float, float]], limit: float
) -> None:
    p, weights = np.array(rows).T
    weighted = p / weights
    # The procedure rejects the k smallest p, with the largest k whose p passes.
    passed = [
        k for k in range(1, len(p) + 1) if np.sort(weighted)[k - 1] <= limit * k / len(p) - 1e-9
    ]
    sure = weighted <= np.sort(weighted)[passed[-1] - 1] if passed else np.zeros(len(p), bool)
    assert (adjusted(p, weights)[sure] <= limit).all()
    possible = [
        k for k in range(1, len(p) + 1) if np.sort(weighted)[k - 1] <= limit * k / len(p) + 1e-9
    ]
    may_be = weighted <= np.sort(weighted)[possible[-1] - 1] if possible else sure
    assert (adjusted(p, weights)[~may_be] > limit).all()


def test_no_rows_give_no_results() -> None:
    assert len(adjusted(np.empty(0))) == 0
    assert list(by_known_runs(np.empty((0, 5)), np.empty((0, 5)))) == []


def test_the_smallest_p_by_hand() -> None:
    assert least_p(4, 4) == pytest.approx(2 / 70)
    assert least_p(4, 5) == pytest.approx(1 / 126)


def test_rows_are_grouped_by_their_known_runs() -> None:
    values = np.array(
        [[3.0, nan, 1, 2, 4], [1, 2, 3, 4, 5], [nan, nan, 1, 2, 3], [9, 8, 7, 6, nan]]
    )
    base = np.array([[8.0, 7, 6, 5]] * 4)
    (rows, ours, theirs), (others, whole, _) = by_known_runs(values, base)
    assert rows.tolist() == [0, 3]
    assert ours.tolist() == [[1, 2, 3, 4], [6, 7, 8, 9]]
    assert theirs.tolist() == [[5, 6, 7, 8]] * 2
    assert others.tolist() == [1]
    assert whole.tolist() == [[1, 2, 3, 4, 5]]


@pytest.mark.parametrize(
    ("runs", "base_runs", "text"),
    [
        (LEAST_RUNS, LEAST_RUNS, ""),
        (LEAST_RUNS, None, ""),
        (3, None, "only 3 of the 4 required runs"),
        (3, 8, "only 3 of the 4 required runs"),
        (8, 1, "only 1 of the 4 required runs of the baseline"),
        (2, 2, "only 2 of the 4 required runs on each side"),
        (2, 3, "only 2 of the 4 required runs, and 3 of the baseline"),
    ],
)
def test_the_text_names_the_side_with_too_few_runs(
    runs: int, base_runs: int | None, text: str
) -> None:
    assert too_few_runs("runs", runs, base_runs) == text

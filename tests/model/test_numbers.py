"""Quantiles over runs, and how far runs are from the median."""

from __future__ import annotations

from math import fsum, nan
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from profile_analyze.model import numbers
from profile_analyze.model.numbers import (
    Spread,
    exact_sums,
    exact_total,
    quantile_of_runs,
)

if TYPE_CHECKING:
    from random import Random

VALUES = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 20)),
    elements=st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 8.0, nan]),
)


@given(VALUES, st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
def test_quantiles_leave_out_unknown_values(values: np.ndarray, share: float) -> None:
    known = [row[~np.isnan(row)] for row in values]
    expected = [np.quantile(row, share) if len(row) else nan for row in known]
    np.testing.assert_allclose(quantile_of_runs(values, share), expected, rtol=1e-15)


@pytest.mark.parametrize("runs", [1200, 1201])
def test_medians_of_many_runs_equal_numpy(runs: int) -> None:
    values = np.random.default_rng(1).lognormal(size=(300, runs))
    np.testing.assert_array_equal(quantile_of_runs(values, 0.5), np.median(values, axis=1))
    values[:, 10:20] = nan
    np.testing.assert_array_equal(quantile_of_runs(values, 0.5), np.nanmedian(values, axis=1))


def test_the_spread_is_between_the_quartiles_relative_to_the_median() -> None:
    # Two of eight runs were slow.
    times = np.array([10.0, 10.2, nan, 10.4, 9.8, 10.0, 10.0, 15.0, 20.0])
    expected = ((11.55 - 10.0) / 2 / 10.1, 10.0 / 10.1 - 1, 11.55 / 10.1 - 1)
    assert Spread.of(times) == pytest.approx(expected)


@pytest.mark.parametrize("times", [[1.0, nan], [nan, nan], [0.0, 0.0]])
def test_the_spread_is_unknown_with_one_run_or_without_time(times: list[float]) -> None:
    assert np.isnan(Spread.of(np.array(times))).all()


@given(st.lists(st.floats(-1e200, 1e200), min_size=1, max_size=60), st.randoms())
def test_exact_sums_do_not_depend_on_the_order(values: list[float], random: Random) -> None:
    expected = fsum(values)
    # Beyond twice the digits of a float, the sums may differ from `fsum`.
    scale = max(map(abs, values))
    near = [value for value in values if abs(value) > scale * 2.0**-40]
    assert float(exact_sums(np.array(near))) == fsum(near)
    random.shuffle(values)
    assert float(exact_sums(np.array(values))) == pytest.approx(
        expected, rel=1e-15, abs=scale * 1e-25
    )


def test_exact_sums_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).lognormal(sigma=9, size=(77, 3, 5))
    expected = [[fsum(values[:, i, j].tolist()) for j in range(5)] for i in range(3)]
    assert exact_sums(values).tolist() == expected
    monkeypatch.setattr(numbers, "_ADDED_AT_ONCE", 2)
    assert exact_sums(values).tolist() == expected
    assert exact_sums(values[:, :1, :1]).tolist() == [expected[0][:1]]
    assert exact_sums(np.empty((0, 2))).tolist() == [0.0, 0.0]
    assert np.isnan(exact_sums(np.array([1e308, 1e308])))
    assert exact_total(np.array([1.0, nan, 1e-17, 1e-17, -1.0])) == 2e-17
    assert np.isnan(exact_total(np.array([nan])))

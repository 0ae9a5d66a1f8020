"""Quantiles over runs."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from profile_analyze.model.numbers import quantile_of_runs

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

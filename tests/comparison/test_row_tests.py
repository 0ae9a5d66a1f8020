"""Tests of rows by their own times and by their times relative to all other operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.comparison.row_tests import (
    OperatorTimes,
    RowTests,
    compare_rows,
    levels_of_others,
    unchanged_operators,
)
from profile_analyze.comparison.run_levels import RunLevels
from profile_analyze.comparison.statistics import FASTER, SLOWER, VERDICTS
from profile_analyze.comparison.verdicts import verdict_codes
from profile_analyze.model.numbers import quantile_of_runs, ratio
from tests.conftest import FIXTURES, some_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"

CATEGORIES = np.arange(40) % 4
"""The categories of forty operators, ten of each."""
SLOWER_OR_FASTER = (VERDICTS.index(FASTER), VERDICTS.index(SLOWER))


def noisy_times(seed: int, runs: int = 16) -> Floats:
    """Return the times of forty operators on a busy machine, in seconds.

    Whole runs differ by about 15 %, and each operator by about 2 % more. The two sides were
    profiled alternately, so both have slow runs.
    """
    generator = np.random.default_rng(seed)
    half = generator.lognormal(0, 0.15, runs // 2)
    of_runs = np.concatenate([half, generator.permutation(half)])
    typical = np.random.default_rng(0).lognormal(-7, 1, (40, 1))
    times: Floats = typical * of_runs * generator.lognormal(0, 0.02, (40, runs))
    return times


def added_up(times_s: Floats, row: Integers) -> Floats:
    """Return the times of the rows: the sums of their operators."""
    groups = range(int(row.max(initial=-1)) + 1)
    sums = [times_s[row == index].sum(axis=0) for index in groups]
    return np.array(sums).reshape(len(groups), times_s.shape[1])


def results(times_s: Floats, row: Integers, categories: Integers = CATEGORIES) -> RowTests:
    """Return the tests of rows. The first half of the runs belongs to the candidate."""
    operators = OperatorTimes(times_s, times_s.shape[1] // 2, categories)
    return compare_rows(operators, row, added_up(times_s, row))


def codes_of(times_s: Floats, row: Integers, categories: Integers = CATEGORIES) -> Integers:
    rows_s, half = added_up(times_s, row), times_s.shape[1] // 2
    medians = (quantile_of_runs(side, 0.5) for side in (rows_s[:, :half], rows_s[:, half:]))
    return verdict_codes(results(times_s, row, categories), ratio(*medians), 0.03)


def test_relative_times_are_divided_by_the_level_of_the_others() -> None:
    slow = np.array([1.0, 1.5, 0.5, 1.0, 1.2, 1.0, 1.1, 0.9])
    steady = np.linspace(100, 200, 10)[:, np.newaxis] * np.ones(8)
    steady[0, :4] *= 1.3
    operators = OperatorTimes(steady * slow, 4, np.zeros(10, np.int64))
    found = levels_of_others(operators, np.arange(10), 10)
    np.testing.assert_allclose(found, np.tile(np.log(slow), (10, 1)), atol=1e-12)
    relative = compare_rows(operators, np.arange(10), operators.times_s).relative
    expected = np.where(np.arange(10) == 0, np.log(1.3), 0.0)
    np.testing.assert_allclose(relative.estimate, expected, atol=1e-12)


def test_fewer_than_eight_others_give_no_relative_times() -> None:
    times_s = noisy_times(1)
    for others, is_known in ((7, False), (8, True)):
        operators = OperatorTimes(times_s[: others + 1], 8, np.zeros(others + 1, np.int64))
        found = levels_of_others(operators, np.arange(others + 1), others + 1)
        assert (~np.isnan(found)).all(axis=1).tolist() == [is_known] * (others + 1)


def test_a_noisy_operator_is_not_one_of_its_others() -> None:
    """With its small weight, the first operator hardly moves the level of all eight operators.

    It is still not compared with this level, because it has only seven others.
    """
    noise = np.where(np.arange(8) == 0, 0.5, 0.001)[:, np.newaxis]
    times_s = np.exp(np.random.default_rng(0).normal(size=(8, 16)) * noise)
    weights = RunLevels.of(times_s).weights
    assert weights[0] < 0.01 * weights.sum()
    found = levels_of_others(OperatorTimes(times_s, 8, np.zeros(8, np.int64)), np.arange(8), 8)
    assert np.isnan(found).all()


def test_a_row_without_a_time_in_each_run_has_no_relative_time() -> None:
    times_s = noisy_times(2)
    times_s[3, 5] = np.nan
    tests = results(times_s, np.arange(40))
    assert np.isnan(tests.relative.estimate).tolist() == [index == 3 for index in range(40)]
    assert not tests.is_relative[3]
    assert not np.isnan(tests.p_values[3])  # seven runs and eight runs have a time


def test_without_rows_there_are_no_results() -> None:
    times_s = noisy_times(3)
    operators = OperatorTimes(times_s, 8, CATEGORIES)
    tests = compare_rows(operators, np.full(40, -1), added_up(times_s, np.full(40, -1)))
    assert (tests.p_values.shape, tests.is_relative.shape) == ((0,), (0,))


@pytest.mark.parametrize("seed", [4, 710])
def test_groups_with_zeros_and_extreme_times_have_a_p_or_none(seed: int) -> None:
    """These seeds once gave warnings of NumPy: infinite shifts, and 0 times infinity."""
    generator = np.random.default_rng(seed)
    times_s = noisy_times(seed, 10)
    is_zero = generator.random(times_s.shape) < generator.choice([0.02, 0.3, 0.6])
    scales = 10.0 ** generator.integers(-300, 300, (40, 1))
    tests = results(np.where(is_zero, 0.0, times_s * scales), generator.integers(-1, 3, 40))
    assert tests.p_values.shape == (3,)
    assert not ((tests.p_values < 0) | (tests.p_values > 1)).any()


def test_operators_that_are_in_no_row_belong_to_the_others() -> None:
    times_s = noisy_times(3)
    times_s[CATEGORIES == 0, :8] *= 1.2
    row = np.where(CATEGORIES == 0, 0, -1)
    tests = results(times_s, row)
    assert np.exp(tests.relative.estimate) == pytest.approx([1.2], abs=0.02)
    assert tests.is_relative.tolist() == [True]
    assert codes_of(times_s, row).tolist() == [VERDICTS.index(SLOWER)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize(("factor", "verdict"), [(1.2, SLOWER), (1 / 1.2, FASTER)])
def test_only_the_kind_that_changed_is_slower_or_faster(
    kind: int, factor: float, verdict: str
) -> None:
    changed = np.zeros(40, np.int64)
    for seed in some_of(range(10), 5):
        times_s = noisy_times(seed)
        times_s[kind == CATEGORIES, :8] *= factor
        found = codes_of(times_s, CATEGORIES)
        assert found[kind] == VERDICTS.index(verdict)
        assert not np.isin(np.delete(found, kind), SLOWER_OR_FASTER).any()
        # If each operator is a row, all operators of this kind get the same verdict.
        of_operators = codes_of(times_s, np.arange(40))
        assert (of_operators[kind == CATEGORIES] == VERDICTS.index(verdict)).all()
        changed += np.isin(of_operators, SLOWER_OR_FASTER)
    # On average, one in twenty of the verdicts slower and faster may be due to chance.
    assert changed[kind != CATEGORIES].sum() <= 0.05 * changed.sum()


def test_a_kind_that_changed_does_not_affect_the_level() -> None:
    times_s = noisy_times(4)
    times_s[CATEGORIES == 2, :8] *= 1.3
    operators = OperatorTimes(times_s, 8, CATEGORIES)
    levels = RunLevels.of(times_s)
    np.testing.assert_array_equal(unchanged_operators(operators, levels), CATEGORIES != 2)
    # If too few operators would be left, the level follows from all of them.
    two = (CATEGORIES == 2).astype(np.int64)
    few = np.flatnonzero((CATEGORIES == 2) | (np.arange(40) < 8))
    operators = OperatorTimes(times_s[few], 8, two[few])
    assert unchanged_operators(operators, RunLevels.of(times_s[few])).all()


def test_a_kind_is_compared_with_a_changed_kind_if_no_other_kind_exists() -> None:
    times_s = noisy_times(4)
    kinds = np.arange(40) // 20
    times_s[kinds == 0, :8] *= 1.3
    operators = OperatorTimes(times_s, 8, kinds)
    assert unchanged_operators(operators, RunLevels.of(times_s)).tolist() == (kinds == 1).tolist()
    found = levels_of_others(operators, kinds, 2)
    levels = RunLevels.of(times_s)
    np.testing.assert_array_equal(found[0], levels.level(kinds == 1))
    np.testing.assert_array_equal(found[1], levels.level(kinds == 0))


def test_a_change_of_everything_is_tested_by_own_times() -> None:
    times_s = noisy_times(5)
    times_s[:, :8] *= 1.5
    tests = results(times_s, np.zeros(40, np.int64))
    assert tests.is_relative.tolist() == [False]
    assert np.exp(tests.own.estimate) == pytest.approx([1.5], abs=0.15)
    assert codes_of(times_s, np.zeros(40, np.int64)).tolist() == [VERDICTS.index(SLOWER)]
    # The kinds changed alike, so their relative times say nothing about them.
    assert np.isin(codes_of(times_s, CATEGORIES), SLOWER_OR_FASTER).all()


def test_an_operator_that_took_no_time_in_the_baseline_is_slower() -> None:
    times_s = noisy_times(6)
    times_s[7] = 0
    times_s[7, :8] = 0.0027
    tests = results(times_s, np.arange(40))
    assert tests.own.estimate[7] == np.inf
    assert VERDICTS[codes_of(times_s, np.arange(40))[7]] == SLOWER
    swapped = np.roll(times_s, 8, axis=1)
    assert VERDICTS[codes_of(swapped, np.arange(40))[7]] == FASTER


def test_four_runs_a_side_are_enough_for_a_verdict() -> None:
    times_s = noisy_times(7, runs=8)
    times_s[CATEGORIES == 1, :4] *= 1.5
    row = np.where(CATEGORIES == 1, 0, -1)
    assert results(times_s, row).p_values == pytest.approx(
        [2 / 70]
    )  # the smallest of four and four
    assert codes_of(times_s, row).tolist() == [VERDICTS.index(SLOWER)]
    tests = results(times_s[:, :6], CATEGORIES)  # three against three
    assert np.isnan(tests.p_values).all()
    assert np.isnan(tests.corrected).all()
    assert not tests.is_relative.any()


def test_rows_that_take_more_time_weigh_more() -> None:
    times_s = np.full((3, 8), 100.0)
    times_s[0], times_s[1, :5] = 300, np.nan
    tests = results(times_s, np.arange(3), np.zeros(3, np.int64))
    # The second row has no p, so two rows count. They have 3/4 and 1/4 of the time: 1.5 times and
    # 0.5 times the mean.
    np.testing.assert_allclose(tests.weights[[0, 2]], [0.75 + 0.25 * 1.5, 0.75 + 0.25 * 0.5])
    assert np.isnan(tests.corrected).tolist() == [False, True, False]


KINDS = st.lists(st.sampled_from([0.8, 1.0, 1.0, 1.1, 1.5]), min_size=4, max_size=4)
ROWS = st.sampled_from([np.arange(40), CATEGORIES])


@given(st.integers(0, 99), KINDS, ROWS)
def test_swapping_the_sides_mirrors_all_results(
    seed: int, factors: list[float], row: Integers
) -> None:
    times_s = noisy_times(seed)
    times_s[:, :8] *= np.array(factors)[CATEGORIES, np.newaxis]
    swapped = np.roll(times_s, 8, axis=1)
    one, other = results(times_s, row), results(swapped, row)
    np.testing.assert_allclose(one.p_values, other.p_values, rtol=1e-9)
    np.testing.assert_array_equal(one.is_relative, other.is_relative)
    for ours, theirs in ((one.own, other.own), (one.relative, other.relative)):
        np.testing.assert_array_equal(ours.estimate, -theirs.estimate)
        np.testing.assert_array_equal(ours.low, -theirs.high)
    # The first two of `VERDICTS` are exchanged: faster and slower.
    mirrored = np.array([1, 0, 2, 3])[codes_of(swapped, row)]
    np.testing.assert_array_equal(codes_of(times_s, row), mirrored)


@given(st.integers(0, 99), ROWS)
def test_order_and_scale_do_not_matter(seed: int, row: Integers) -> None:
    generator = np.random.default_rng(seed)
    times_s = noisy_times(seed)
    times_s[CATEGORIES == 0, :8] *= 1.2
    runs = np.concatenate([generator.permutation(8), 8 + generator.permutation(8)])
    order = generator.permutation(40)
    expected = results(times_s, row)
    found = results(times_s[:, runs] * 4, row)
    np.testing.assert_allclose(found.p_values, expected.p_values, rtol=1e-9)
    np.testing.assert_allclose(found.chosen, expected.chosen, atol=1e-12)
    # Each operator keeps its row, so the rows stay in their order.
    operators = OperatorTimes(times_s[order], 8, CATEGORIES[order])
    found = compare_rows(operators, row[order], added_up(times_s[order], row[order]))
    np.testing.assert_allclose(found.p_values, expected.p_values, rtol=1e-9)
    np.testing.assert_allclose(found.chosen, expected.chosen, atol=1e-12)


def real_times() -> tuple[Floats, pa.Profile]:
    """Return the times of 24 real runs of one model on one machine, and their profile."""
    files = sorted((FIXTURES / "runs" / "base").glob("*.json.gz"))
    profile = pa.join_runs(pa.load(str(file)) for file in files)
    times_s = profile.measured("time")
    # Operators that are missing in a run get the time 0 in all runs.
    known = ~np.isnan(times_s.sum(axis=1, keepdims=True))
    return np.where(known, times_s, 0.0), profile


@pytest.mark.slowest
@pytest.mark.parametrize("key", ["operator", "category"])
def test_at_most_one_of_twenty_tables_of_unchanged_runs_has_a_slower_or_faster_row(
    key: str,
) -> None:
    times_s, profile = real_times()
    categories = profile.operators.category.codes
    row = np.arange(len(times_s)) if key == "operator" else categories
    generator = np.random.default_rng(0)
    # A sample of the 12,870 ways to deal 16 runs out to two sides
    deals = some_of([generator.permutation(16) for _ in range(300)], 6)
    found = np.array([codes_of(times_s[:, deal], row, categories) for deal in deals])
    # 5 % are permitted. This sample of a single set of runs may have slightly more.
    assert np.isin(found, SLOWER_OR_FASTER).any(axis=1).mean() <= 0.07


@pytest.mark.slow
def test_convolutions_of_real_runs_that_are_50_percent_slower_are_found() -> None:
    times_s, profile = real_times()
    names = profile.operators.category
    convolution = names.categories.index("convolution")
    generator = np.random.default_rng(1)
    found = []
    for deal in some_of([generator.permutation(24) for _ in range(100)], 10):
        dealt = times_s[:, deal]
        dealt[names.codes == convolution, :12] *= 1.5
        found.append(codes_of(dealt, names.codes, names.codes))
    of_convolutions = np.array(found)[:, convolution]
    assert np.mean(of_convolutions == VERDICTS.index(SLOWER)) >= 0.95
    others = np.delete(np.isin(np.array(found), SLOWER_OR_FASTER), convolution, axis=1)
    assert others.any(axis=1).mean() <= 0.1  # 5 % are permitted, but a small sample may have more


@pytest.mark.parametrize("by", [(), ("type",), ("category",)])
def test_intervals_include_the_shown_ratio(by: tuple[str, ...]) -> None:
    profile, base = (
        pa.load_runs([str(file) for file in sorted((FIXTURES / "runs" / side).glob("*.gz"))])
        for side in ("changed", "base")
    )
    table = pa.run(pa.Query(compared=True, by=by), pa.compare(profile, base))
    known = ~np.isnan(table["ratio_low"])
    assert known.any()
    assert (table["ratio_low"] <= table["ratio"])[known].all()
    # An end is N/A if it is infinite, because some runs of the baseline take 0 s.
    high = np.where(np.isnan(table["ratio_high"]), np.inf, table["ratio_high"])
    assert (table["ratio"] <= high)[known].all()
    relative = ~np.isnan(table["relative_low"])
    assert (table["relative_low"] <= table["relative_ratio"])[relative].all()
    assert (table["relative_ratio"] <= table["relative_high"])[relative].all()


@pytest.mark.parametrize("runs", [(10, 10), (10, 30), (5, 40)])
@pytest.mark.parametrize("slower", [1, 10, 20])
def test_the_estimate_is_the_change_of_the_sum_whatever_operators_changed(
    slower: int, runs: tuple[int, int]
) -> None:
    generator = np.random.default_rng(1)
    typical = np.geomspace(1, 4, 20)[:, np.newaxis]
    factors = np.where(np.arange(20) < slower, 1.5, 1.0)[:, np.newaxis]
    times_s = typical * generator.lognormal(0, 0.01, (20, sum(runs)))
    times_s[:, : runs[0]] *= factors
    operators = OperatorTimes(times_s, runs[0], np.zeros(20, np.int64))
    own = compare_rows(operators, np.zeros(20, np.int64), times_s.sum(axis=0, keepdims=True)).own
    expected = float((typical * factors).sum() / typical.sum())
    assert np.exp(own.estimate[0]) == pytest.approx(expected, rel=0.01)
    assert own.low[0] < own.estimate[0] < own.high[0]


@pytest.mark.parametrize(("share", "expected"), [(0.001, 1.3), (0.3, 1.21)])
def test_a_group_is_judged_by_the_change_of_its_sum(share: float, expected: float) -> None:
    """One of the 24 operators in the group does not become slower.

    `share` is its share of the time of the group.
    """
    generator = np.random.default_rng(3)
    times_s = generator.lognormal(0, 0.01, 16) * generator.lognormal(0, 0.05, (40, 16))
    times_s[0] *= share / (1 - share) * 23
    times_s[1:24, :8] *= 1.3
    row = np.where(np.arange(40) < 24, 0, -1)
    tests = results(times_s, row, np.where(row == 0, 0, 1))
    assert tests.is_relative.tolist() == [True]
    assert np.exp(tests.chosen.estimate[0]) == pytest.approx(expected, abs=0.03)


def test_the_relative_times_of_a_group_are_of_its_sum() -> None:
    """The longest of 24 operators becomes slower, the others a little faster."""
    generator = np.random.default_rng(3)
    half = generator.lognormal(0, 0.2, 8)
    of_runs = np.concatenate([half, generator.permutation(half)])
    times_s = of_runs * generator.lognormal(0, 0.005, (40, 16))
    times_s[0, :] *= 5
    times_s[0, :8] *= 2
    times_s[1:24, :8] *= 0.96
    row = np.where(np.arange(40) < 24, 0, -1)
    tests = results(times_s, row, np.where(row == 0, 0, 1))
    assert tests.is_relative.tolist() == [True]
    assert np.exp(tests.relative.estimate) == pytest.approx([(10 + 23 * 0.96) / 28], rel=0.01)
    assert tests.p_values == pytest.approx([2 / 12870])

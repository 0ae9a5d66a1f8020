"""Order statistics of differences, against a list of all differences."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profile_analyze.comparison import pair_differences
from profile_analyze.comparison.pair_differences import ordered_differences

if TYPE_CHECKING:
    from collections.abc import Sequence


def listed(values: Sequence[float], base: Sequence[float]) -> list[float]:
    return sorted(0.0 if one == other else one - other for one, other in product(values, base))


def found_at_all_ranks(values: Sequence[float], base: Sequence[float]) -> list[float]:
    row, of_base = (np.array([sorted(side)], np.float64) for side in (values, base))
    ranks = range(len(values) * len(base))
    (found,) = ordered_differences(row, of_base, ranks)
    return [float(one) for one in found]


# Few different numbers make many equal differences. Tenths and logarithms are rounded.
NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(1, 40).map(lambda number: number / 10),
    st.integers(1, 1000).map(lambda number: float(np.log(number))),
    st.floats(-1e300, 1e300),
)
SIDE = st.lists(NUMBERS, min_size=1, max_size=12)


WITH_INFINITE = st.lists(NUMBERS | st.sampled_from([-inf, inf]), min_size=1, max_size=12)


@given(SIDE, SIDE)
def test_every_rank_is_found_in_a_sorted_list(values: list[float], base: list[float]) -> None:
    assert found_at_all_ranks(values, base) == listed(values, base)


@example([-inf], [-inf])
@given(WITH_INFINITE, WITH_INFINITE)
def test_every_rank_is_found_by_searching(values: list[float], base: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_differences, "_MOST_SORTED", 0)
        assert found_at_all_ranks(values, base) == listed(values, base)


def test_few_of_many_differences_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    # 301 runs against 200, with times as on a real machine: whole microseconds, many of them equal.
    random = np.random.default_rng(7)
    values, base = (np.log(random.integers(20, 60, runs)) for runs in (301, 200))
    expected = listed(values.tolist(), base.tolist())
    monkeypatch.setattr(pair_differences, "_sorted", None)  # it would compute all differences
    ranks = (0, 27_000, 30_099, 30_100, 60_199)
    (found,) = ordered_differences(np.sort(values)[None], np.sort(base)[None], ranks)
    assert found.tolist() == [expected[rank] for rank in ranks]

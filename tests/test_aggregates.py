"""Aggregates over parts, merged, are the aggregates over the whole."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.query.aggregates import AGGREGATES, aggregated

if TYPE_CHECKING:
    from numpy.typing import NDArray

Group = list[float]
values = st.lists(st.just(nan) | st.integers(-9, 9).map(float), max_size=6)
groups = st.integers(0, 3).flatmap(
    lambda count: st.tuples(*[st.lists(values, min_size=count, max_size=count)] * 2)
)


def arrays(members: list[Group]) -> list[NDArray[np.float64]]:
    return [np.array(group, dtype=np.float64) for group in members]


@pytest.mark.parametrize("name", AGGREGATES)
@given(parts=groups)
def test_parts_merge_to_the_whole(name: str, parts: tuple[list[Group], list[Group]]) -> None:
    aggregate = AGGREGATES[name]
    first, second = map(arrays, parts)
    states = [aggregate.add(aggregate.start(len(part)), part) for part in (first, second)]
    whole = arrays([a + b for a, b in zip(*parts, strict=True)])
    np.testing.assert_array_equal(
        aggregate.finish(aggregate.merge(*states)), aggregated(aggregate, whole)
    )
    np.testing.assert_array_equal(
        aggregate.finish(aggregate.add(states[0], second)), aggregated(aggregate, whole)
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [7.0, nan, nan]),
        ("mean", [3.5, nan, nan]),
        ("max", [4.0, nan, nan]),
        ("min", [3.0, nan, nan]),
    ],
)
def test_unknown_values_count_for_nothing(name: str, expected: Group) -> None:
    members = arrays([[3.0, nan, 4.0], [nan], []])
    np.testing.assert_array_equal(aggregated(AGGREGATES[name], members), expected)


def test_long_groups_are_summed_pairwise_as_the_original_did() -> None:
    tenths = np.full(1000, 0.1)
    assert aggregated(AGGREGATES["sum"], [tenths])[0] == np.sum(tenths) != sum(tenths.tolist())

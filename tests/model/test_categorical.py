"""Categorical columns, and the numbering of labels."""

from __future__ import annotations

import pickle
from math import isnan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import numbered

values_or_none = st.lists(st.none() | st.sampled_from(["b", "a", "c", ""]), max_size=12)


@given(values_or_none)
def test_categorical_values_round_trip(values: list[str | None]) -> None:
    column = Categorical.of(values)
    assert column.values().tolist() == values
    assert list(column.categories) == list(dict.fromkeys(v for v in values if v is not None))
    assert len(column) == len(values)


def test_an_unpickled_categorical_is_read_only() -> None:
    column = Categorical.of(["a", None, "b"])
    copy = pickle.loads(pickle.dumps(column))
    assert (copy.codes.tolist(), copy.categories) == ([0, -1, 1], ("a", "b"))
    assert not copy.codes.flags.writeable


@given(values_or_none)
def test_categoricals_are_mapped_taken_filtered_and_ranked(values: list[str | None]) -> None:
    column = Categorical.of(values)
    mapped = column.mapped(lambda value: None if value == "b" else value == "c")
    assert mapped.values().tolist() == [None if v in (None, "b") else v == "c" for v in values]
    backwards = np.arange(len(values))[::-1].copy()
    assert column.take(backwards).values().tolist() == values[::-1]
    is_a = column.where(category == "a" for category in column.categories)
    assert is_a.tolist() == [value == "a" for value in values]
    for value, rank in zip(values, column.ranks().tolist(), strict=True):
        assert isnan(rank) if value is None else sorted(column.categories)[int(rank)] == value


@given(st.lists(st.integers(-3, 3)))
def test_labels_are_numbered_in_order_of_appearance(labels: list[int]) -> None:
    numbers, first = numbered(np.array(labels, np.int64))
    distinct = list(dict.fromkeys(labels))
    assert numbers.tolist() == [distinct.index(label) for label in labels]
    assert first.tolist() == [labels.index(label) for label in distinct]

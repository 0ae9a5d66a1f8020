from __future__ import annotations

import pickle
from math import isnan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.column_registry import COLUMNS
from profile_analyze.model.columns import RowKind
from profile_analyze.model.numbers import numbered

words = st.lists(st.none() | st.sampled_from(["b", "a", "c", ""]), max_size=12)


@given(words)
def test_coded_values_come_back(values: list[str | None]) -> None:
    column = Categorical.of(values)
    assert column.values().tolist() == values
    assert list(column.categories) == list(dict.fromkeys(v for v in values if v is not None))
    assert len(column) == len(values)


def test_a_copy_of_coded_values_is_frozen_too() -> None:
    column = Categorical.of(["a", None, "b"])
    copy = pickle.loads(pickle.dumps(column))
    assert (copy.codes.tolist(), copy.categories) == ([0, -1, 1], ("a", "b"))
    assert not copy.codes.flags.writeable


@given(words)
def test_coded_columns_are_mapped_taken_compared_and_ranked(values: list[str | None]) -> None:
    column = Categorical.of(values)
    mapped = column.mapped(lambda word: None if word == "b" else word == "c")
    assert mapped.values().tolist() == [None if v in (None, "b") else v == "c" for v in values]
    backwards = np.arange(len(values))[::-1].copy()
    assert column.take(backwards).values().tolist() == values[::-1]
    is_a = column.where(word == "a" for word in column.categories)
    assert is_a.tolist() == [value == "a" for value in values]
    for value, rank in zip(values, column.ranks().tolist(), strict=True):
        assert isnan(rank) if value is None else sorted(column.categories)[int(rank)] == value


@given(st.lists(st.integers(-3, 3)))
def test_labels_are_numbered_in_order_of_appearance(labels: list[int]) -> None:
    numbers, first = numbered(np.array(labels, np.int64))
    distinct = list(dict.fromkeys(labels))
    assert numbers.tolist() == [distinct.index(label) for label in labels]
    assert first.tolist() == [labels.index(label) for label in distinct]


def test_every_column_belongs_somewhere_and_says_what_it_means() -> None:
    for column in COLUMNS:
        split_by = (column.name,) if column.needs_split else ()
        assert RowKind(None, split_by=split_by).has(column) or RowKind(()).has(column)
        keyed = RowKind((column.name,), split_by=split_by)
        assert keyed.has(column) or column.of_groups is None
        assert RowKind(()).has(column) == (column.of_groups is not None)
        assert column.meaning[0].islower()
        assert column.unit in ("", "1", "s", "byte", "FLO", "FLO/s", "byte/s", "FLO/byte")
        assert (column.kind == "number") == (not column.is_key and column.name != "id")

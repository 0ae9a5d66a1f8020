"""Profiles as bytes: nothing changes on the way, and damage is noticed."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import constant
from profile_analyze.readers.cache.arrays import (
    UNWRITABLE,
    pieces_of,
    read_document,
    read_profile,
    signed,
)
from tests.in_memory import nested
from tests.readers.same_profiles import difference, profiles

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


KEY = b"k" * 32


def read_back(data: bytes) -> Profile:
    stream = BytesIO(data)
    return read_profile(stream, read_document(stream, KEY))


@given(profiles())
def test_a_profile_is_the_same_after_writing_and_reading(profile: Profile) -> None:
    data = b"".join(signed(pieces_of(profile, {"any": [1, "condition"]}), KEY))
    assert difference(read_back(data), profile) is None
    assert read_document(BytesIO(data), KEY)["conditions"] == {"any": [1, "condition"]}


DATA = b"".join(signed(pieces_of(nested(), None), KEY))


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_every_damaged_byte_is_noticed(index: int, change: int) -> None:
    damaged = bytearray(DATA)
    damaged[index] ^= change
    with pytest.raises(ValueError, match=r"no profile|damaged"):
        read_back(bytes(damaged))


@given(st.integers(0, len(DATA) - 1))
def test_truncation_is_noticed(size: int) -> None:
    with pytest.raises(ValueError, match=r"no profile|damaged"):
        read_back(DATA[:size])


def test_another_key_reads_nothing() -> None:
    with pytest.raises(ValueError, match="no profile"):
        read_document(BytesIO(DATA), b"other" * 6)


def test_a_wrong_size_in_the_document_reserves_no_memory() -> None:
    stream = BytesIO(DATA)
    document = read_document(stream, KEY)
    document["data"]["size"] = 10**15
    with pytest.raises(ValueError, match="damaged"):
        read_profile(stream, document)


def test_constants_and_small_integers_take_little_space() -> None:
    rows = 1_000_000
    before = nested()
    executions = before.executions.changed(
        median_s=constant(np.float64(np.nan), rows),
        phase=Categorical(np.arange(rows) % 3 - 1, ("forward", "backward")),
    )
    data = b"".join(signed(pieces_of(before.changed(executions=executions), None), KEY))
    assert rows < len(data) < rows + len(DATA) + 100  # a byte for each code of `phase`


@pytest.mark.parametrize(
    "value", [2**70, "\udcff", np.float64(1.0), np.int64(1), {1}, [1], b"bytes", (1, [2])]
)
def test_a_value_that_bytes_cannot_hold_is_an_error(value: object) -> None:
    profile = nested().changed(split_by={"run": Categorical.constant(value, 7)})
    with pytest.raises(UNWRITABLE):
        pieces_of(profile, None)

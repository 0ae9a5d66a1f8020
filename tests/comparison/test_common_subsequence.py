"""The longest common subsequence, which matches equal operators of two profiles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.comparison import common_subsequence as module
from profile_analyze.comparison.common_subsequence import common_subsequence
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    import pytest

TEXTS = st.text("abcd", max_size=12)


def length_by_table(ours: str, theirs: str) -> int:
    """Return the length of the longest common subsequence, by the table of all pairs."""
    above = [0] * (len(theirs) + 1)
    for one in ours:
        row = [0]
        for index, other in enumerate(theirs):
            row.append(above[index] + 1 if one == other else max(above[index + 1], row[index]))
        above = row
    return above[-1]


@given(TEXTS, TEXTS)
def test_no_common_subsequence_is_longer(ours: str, theirs: str) -> None:
    pairs = common_subsequence(ours, theirs)
    assert len(pairs) == length_by_table(ours, theirs)
    assert all(ours[one] == theirs[other] for one, other in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_very_long_sequences_match_only_at_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = "abcbdZ", "acbZ"
    assert common_subsequence(ours, theirs) == [(0, 0), (2, 1), (3, 2), (5, 3)]
    monkeypatch.setattr(module, "_MOST_BITS", 5)
    assert common_subsequence(ours, theirs) == [(0, 0), (5, 3)]


def network(names: str, types: str) -> pa.Profile:
    """Return a profile with an operator for each name and type, in order; all have one shape."""
    return profile_of(
        [
            Operator(name, type_, 10 + start, start=start, shape=[3])
            for start, (name, type_) in enumerate(zip(names, types, strict=True))
        ]
    )


def matches(profile: pa.Profile, base: pa.Profile, match: str) -> dict[str, str | None]:
    """For each operator, return its name in `base` (None if unchanged), or `added` or `removed`."""
    comparison = pa.compare(profile, base, match)
    rows = zip(
        comparison.profile.operators.name.values(),
        comparison.base_name.values(),
        comparison.match.values(),
        strict=True,
    )
    return {name: how if how in ("added", "removed") else other for name, other, how in rows}


def test_neighbours_decide_which_of_two_equal_layers_was_removed() -> None:
    whole, shorter = network("ABCDE", "scrct"), network("vwxy", "srct")
    paired = {"v": "A", "w": "C", "x": "D", "y": "E", "B": "removed"}
    assert matches(shorter, whole, "structure") == paired
    assert matches(shorter, whole, "auto") == paired
    back = {"A": "v", "B": "added", "C": "w", "D": "x", "E": "y"}
    assert matches(whole, shorter, "structure") == back


def test_operators_that_match_by_name_also_decide_as_neighbours() -> None:
    # `B` and `D` are equal. `x` matches `D`, because `x` comes after `C`, which matches by name.
    whole, shorter = network("ABCDE", "scrct"), network("vCxy", "qrcz")
    assert matches(shorter, whole, "auto") == {
        "v": "added",
        "C": None,
        "x": "D",
        "y": "added",
        "A": "removed",
        "B": "removed",
        "E": "removed",
    }


def test_a_layer_that_moved_still_matches() -> None:
    assert matches(network("xyz", "bca"), network("ABC", "abc"), "structure") == {
        "x": "B",
        "y": "C",
        "z": "A",
    }

"""The notes on group keys: operators whose group is N/A, with their number and share."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.model.notes import Importance
from tests.conftest import PROFILES
from tests.in_memory import profile_of

NO_SCOPES = (
    "{}: the profile has no scopes, so all operators are in one group; --aggregate-by type "
    "groups by type"
)


def profile(*operators: tuple[str, float], **columns: object) -> pa.Profile:
    """Return a profile with the names and times of `operators`."""
    return profile_of(
        [{"name": name, "type": "Conv", **columns} for name, _ in operators],
        [{"operator": n, "duration_s": time_s} for n, (_, time_s) in enumerate(operators)],
    )


def test_operators_that_a_pattern_does_not_match_get_a_note() -> None:
    question = pa.Query(by=r"name~f\.\d+")
    (note,) = pa.run(question, profile(("f.1", 3.0), ("f.2", 2.0), ("g", 4.0), ("f", 1.0))).notes
    assert note == (
        r"2 operators (50.0% of the time) do not match name~f\.\d+: their group is N/A; --where "
        r"'name !~ f\.\d+' shows them"
    )
    assert (note.importance, note.share) == (Importance.INCOMPLETE, 0.5)


def test_only_operators_that_pass_the_filters_count() -> None:
    operators = profile(("f.1", 3.0), ("f.2", 3.0), ("g", 4.0))
    assert pa.run(pa.Query(by=r"name~f\.\d", where="name ~ f"), operators).notes == ()


def test_a_pattern_with_a_quote_gets_no_condition() -> None:
    (note,) = pa.run(pa.Query(by="name~f'?1"), profile(("f1", 2.0), ("f2", 2.0))).notes
    assert note == "1 operator (50.0% of the time) does not match name~f'?1: its group is N/A"


@pytest.mark.parametrize("key", ["scope", "scope/2"])
def test_a_profile_without_scopes_gets_a_note(key: str) -> None:
    (note,) = pa.run(pa.Query(by=key), profile(("a", 1.0), ("b", 1.0))).notes
    assert (note, note.importance) == (NO_SCOPES.format(key), Importance.ANSWER)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("scope", "the profile has no scopes"),
        (r"name~^(l\.\d+)", "the pattern matches no name"),
    ],
)
def test_output_shapes_are_advised_if_a_key_is_unknown_for_all_operators(
    key: str, reason: str
) -> None:
    mobilenet = pa.load(str(PROFILES / "mobilenet.json"))
    (note, *_) = pa.run(pa.Query(by=key), mobilenet).notes
    assert note.startswith(f"{key}: {reason}")
    assert note.endswith("; --aggregate-by out_shapes groups by stage")


@pytest.mark.parametrize(
    ("names", "examples"),
    [(["f1"], "there is only f1"), (["f1", "f2"], "there are f1, f2")],
)
def test_scopes_are_advised_if_a_pattern_matches_no_name(names: list[str], examples: str) -> None:
    operators = profile(*((name, 1.0) for name in names), scope=("net",))
    (note,) = pa.run(pa.Query(by=r"name~^(l\.\d+)"), operators).notes
    assert note == (
        rf"name~^(l\.\d+): the pattern matches no name; {examples}; --aggregate-by scope groups by "
        "module"
    )


def test_operators_without_a_scope_get_a_note() -> None:
    with_scopes = profile_of(
        [
            {"name": name, "type": "Conv", "scope": scope}
            for name, scope in (("a", ("net",)), ("b", None))
        ],
        [{"operator": n, "duration_s": 1.0} for n in (0, 1)],
    )
    (note,) = pa.run(pa.Query(by="scope/1"), with_scopes).notes
    assert note == (
        "1 operator (50.0% of the time) has no scope: its group is N/A; --aggregate-by scope/1,type "
        "groups operators without a scope by type"
    )


@given(st.lists(st.tuples(st.sampled_from(["f1", "f2", "g"]), st.floats(0.001, 9)), max_size=6))
def test_the_note_has_the_count_and_the_share_of_the_group(
    operators: list[tuple[str, float]],
) -> None:
    """The oracle is the row of the table whose group is N/A."""
    operators = [("f3", 1.0), *operators]
    table = pa.run(pa.Query(by=r"name~f\d"), profile(*operators))
    left_out = [row for row in table.rows if row[r"name~f\d"] is None]
    notes = [one for one in table.notes if " not match " in one]
    assert len(notes) == len(left_out)
    for row, note in zip(left_out, notes, strict=True):
        found = re.match(r"(\d+) operators? ", note)
        assert found is not None
        assert int(found[1]) == row["count"]
        assert note.share == pytest.approx(row["share"])

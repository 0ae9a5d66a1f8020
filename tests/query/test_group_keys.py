"""The findings on group keys: operators whose group is N/A, and groups with nearly all time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import PROFILES
from tests.findings.found import codes_in, rounded
from tests.in_memory import profile_of


def profile(*operators: tuple[str, float], **columns: object) -> pa.Profile:
    """Return a profile with the names and times of `operators`."""
    return profile_of(
        [{"name": name, "type": "Conv", **columns} for name, _ in operators],
        [{"operator": n, "duration_s": time_s} for n, (_, time_s) in enumerate(operators)],
    )


def unknown(operators: int, key: str, condition: str) -> Finding:
    """Return the finding on operators without a group, which take half of the time."""
    values = {"operators": operators, "key": key, "condition": condition}
    return Finding.of("group-of-unknown", Kind.INCOMPLETE, share=0.5, **values)


def test_operators_that_a_pattern_does_not_match_get_a_note() -> None:
    question = pa.Query(by=r"name~f\.\d+")
    operators = profile(("f.1", 3.0), ("f.2", 2.0), ("g", 4.0), ("f", 1.0))
    assert pa.run(question, operators).notes == (unknown(2, r"name~f\.\d+", r"name !~ f\.\d+"),)


def test_only_operators_that_pass_the_filters_count() -> None:
    operators = profile(("f.1", 3.0), ("f.2", 3.0), ("g", 4.0))
    assert pa.run(pa.Query(by=r"name~f\.\d", where="name ~ f"), operators).notes == ()


@pytest.mark.parametrize("key", ["scope", "scope/2"])
def test_a_profile_without_scopes_gets_a_note(key: str) -> None:
    notes = pa.run(pa.Query(by=key), profile(("a", 1.0), ("b", 1.0))).notes
    assert notes == (Finding.of("no-scopes", Kind.ANSWER, key=key, better=""),)


@pytest.mark.parametrize(
    ("key", "code"), [("scope", "no-scopes"), (r"name~^(l\.\d+)", "unmatched-key")]
)
def test_output_shapes_are_advised_if_a_key_is_unknown_for_all_operators(
    key: str, code: str
) -> None:
    mobilenet = pa.load(str(PROFILES / "mobilenet.json"))
    finding = pa.run(pa.Query(by=key), mobilenet).notes[0]
    assert (finding.code, finding["key"], finding["better"]) == (code, key, "out_shapes")


def test_scopes_are_advised_if_a_pattern_matches_no_name() -> None:
    operators = profile(("f1", 1.0), ("f2", 1.0), scope=("net",))
    assert pa.run(pa.Query(by=r"name~^(l\.\d+)"), operators).notes == (
        Finding.of(
            "unmatched-key",
            Kind.ANSWER,
            key=r"name~^(l\.\d+)",
            column="name",
            reasons=(),
            meant=(),
            examples=("f1", "f2"),
            known=2,
            renaming="",
            better="scope",
        ),
    )


def test_operators_without_a_scope_get_a_note() -> None:
    with_scopes = profile_of(
        [
            {"name": name, "type": "Conv", "scope": scope}
            for name, scope in (("a", ("net",)), ("b", None))
        ],
        [{"operator": n, "duration_s": 1.0} for n in (0, 1)],
    )
    assert pa.run(pa.Query(by="scope/1"), with_scopes).notes == (unknown(1, "scope/1", ""),)


@given(st.lists(st.tuples(st.sampled_from(["f1", "f2", "g"]), st.floats(0.001, 9)), max_size=6))
def test_the_note_has_the_count_and_the_share_of_the_group(
    operators: list[tuple[str, float]],
) -> None:
    """The oracle is the row of the table whose group is N/A."""
    operators = [("f3", 1.0), *operators]
    table = pa.run(pa.Query(by=r"name~f\d"), profile(*operators))
    left_out = [row for row in table.rows if row[r"name~f\d"] is None]
    found = [one for one in table.notes if one.code == "group-of-unknown"]
    assert [one["operators"] for one in found] == [row["count"] for row in left_out]
    assert [one.share for one in found] == pytest.approx([row["share"] for row in left_out])


@pytest.mark.parametrize(("time", "is_found"), [(0.96, True), (0.95, False)])
def test_one_part_of_the_names_with_nearly_all_time_is_found(
    time: float, *, is_found: bool
) -> None:
    operators = profile(("conv(l.1)", time), ("add(l.1)", 1 - time))
    dominant = {"key": r"name~^\w+", "group": "conv", "part": time, "better": ""}
    expected = [Finding.of("dominant-group", Kind.CONTEXT, **dominant)] if is_found else []
    assert rounded(pa.run(pa.Query(by=r"name~^\w+"), operators).notes) == expected
    assert pa.run(pa.Query(by="name"), operators).notes == ()


@pytest.mark.parametrize(("where", "is_found"), [("name ~ conv", True), ("name ~ add", False)])
def test_only_groups_of_operators_that_pass_the_filters_count(
    where: str, *, is_found: bool
) -> None:
    operators = profile(("conv(l.1)", 0.96), ("add(l.1)", 0.04))
    notes = pa.run(pa.Query(by=r"name~^\w+", where=where), operators).notes
    assert codes_in(notes) == ["dominant-group"] * is_found

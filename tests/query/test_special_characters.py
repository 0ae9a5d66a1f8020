"""Patterns whose special characters are meant as they are, such as the name `A + B`."""

from __future__ import annotations

import re
from typing import Any

import pytest

import profile_analyze as pa
from tests.small import Operator, profile_of

NAMES = ("Conv_5 + Add_6 + Relu_7", "PWN(a, b)[1]", "|x|", r"c\d")
PROFILE = profile_of([Operator(name, "Fused", 1.0) for name in NAMES])


def note_on(**fields: Any) -> str:
    """Return the note that a pattern finds nothing."""
    notes = pa.run(pa.Query(**fields), PROFILE).notes
    (note,) = (one for one in notes if re.search("matches no|must match|no operator has", one))
    return note


def suggested(note: str) -> str:
    """Return the text that a note suggests."""
    match = re.search(r"did you mean '(.+)'\?", note)
    assert match is not None
    return match[1]


@pytest.mark.parametrize(
    ("pattern", "reason", "meant"),
    [
        ("Conv_5 + Add_6 + Relu_7", "+ is special", "== Conv_5 + Add_6 + Relu_7"),
        ("Conv_5 + Add", "+ is special", r"~ Conv_5 \+ Add"),
        ("^Conv_5 + .* + Relu_7$", "+ is special", r"~ ^Conv_5 \+ .* \+ Relu_7$"),
        (r"Conv_5 + Add_6 \+", "+ is special", r"~ Conv_5 \+ Add_6 \+"),
        ("(Conv_4|Conv_5) + Add", "+ is special", r"~ (Conv_4|Conv_5) \+ Add"),
        ("(?i)conv_5 + add", "+ is special", r"~ (?i)conv_5 \+ add"),
        ("conv_5 + add", "+ is special, and case matters", r"~ (?i)conv_5 \+ add"),
        ("PWN(a, b)[1]", "brackets are special", "== PWN(a, b)[1]"),
        ("(a, b)[1]$", "brackets are special", r"~ \(a, b\)\[1\]$"),
        (r"c\d", r"\ is special", r"== c\d"),
    ],
)
def test_special_characters_are_named_and_escaped(pattern: str, reason: str, meant: str) -> None:
    note = note_on(where=f"name ~ {pattern}")
    reason = reason.replace("special", "special in a pattern")
    assert note == (
        f"name ~ {pattern}: no operator has this value; {reason}; did you mean 'name {meant}'?"
    )
    assert len(pa.run(pa.Query(where=suggested(note)), PROFILE)) == 1


@pytest.mark.parametrize(
    "pattern", ["Conv_5 + Sub", "Conv_6+", "x" * 250 + "+", "(CONV_5|Conv_9)", "(a|XX)\\]"]
)
def test_patterns_that_find_nothing_when_escaped_get_other_advice(pattern: str) -> None:
    assert "special" not in note_on(where=f"name ~ {pattern}")


@pytest.mark.parametrize(
    ("pattern", "reason", "meant"),
    [
        ("Conv_5 + Add_6 + Relu_7", "+ is", r"Conv_5 \+ Add_6 \+ Relu_7"),
        ("Add_6 + Relu_7", "+ is", r".*Add_6 \+ Relu_7"),
        ("(?i)add_6 + relu_7", "+ is", r"(?i).*add_6 \+ relu_7"),
        ("PWN(a, b)", "brackets are", r"PWN\(a, b\)"),
    ],
)
def test_patterns_of_names_are_escaped(pattern: str, reason: str, meant: str) -> None:
    note = note_on(name=pattern)
    assert note == (
        f"the pattern '{pattern}' matches no name; {reason} special in a pattern; did you mean "
        f"'{meant}'?"
    )
    assert len(pa.run(pa.Query(name=suggested(note)), PROFILE)) == 1


def test_a_part_of_a_name_without_special_characters_has_nothing_to_escape() -> None:
    assert note_on(name="Add_6") == (
        "the pattern 'Add_6' must match from the start of a name, and case matters; .*Add_6 matches "
        "1 name"
    )


@pytest.mark.parametrize(
    ("pattern", "reason", "meant", "group"),
    [
        ("Conv_5 + Add", "+ is", r"name~Conv_5 \+ Add", "Conv_5 + Add"),
        ("N(a, b)", "brackets are", r"name~N\(a\, b\)", "N(a, b)"),
    ],
)
def test_patterns_of_group_keys_are_escaped(
    pattern: str, reason: str, meant: str, group: str
) -> None:
    note = note_on(by=f"name~{pattern}")
    assert note == (
        f"name~{pattern}: the pattern matches no name; {reason} special in a pattern; did you mean "
        f"'{meant}'?"
    )
    groups = pa.run(pa.Query(by=suggested(note)), PROFILE)
    assert group in groups[groups.query.by_columns[0].name].tolist()


def test_names_that_are_suggested_for_patterns_are_escaped() -> None:
    note = note_on(where="name ~ Conv_5 + Ad_6 + Relu_7")
    assert note.endswith(r"did you mean 'Conv_5 \+ Add_6 \+ Relu_7'?")
    assert len(pa.run(pa.Query(where=f"name ~ {suggested(note)}"), PROFILE)) == 1

"""The notes on filters that keep nothing, with what the user probably meant."""

from __future__ import annotations

import re
from typing import Any

import pytest

import profile_analyze as pa
from tests import in_memory
from tests.small import Operator, profile_of

NAMES = ("Conv_5 + Add_6 + Relu_7", "PWN(a, b)[1]", "|x|", r"c\d")
PROFILE = profile_of([Operator(name, "Fused", 1.0) for name in NAMES])


def note_on(**fields: Any) -> str:
    """Return the note that a filter keeps nothing."""
    notes = pa.run(pa.Query(**fields), PROFILE).notes
    (note,) = (one for one in notes if re.search("matches no|no operator has", one))
    return note


def suggested(note: str) -> str:
    """Return the text that a note suggests."""
    match = re.search(r"did you mean '(.+)'\?", note)
    assert match is not None
    return match[1]


ESCAPE = "special characters need a backslash"
START = "it must match from the start of a name"
CASE = "case matters"


@pytest.mark.parametrize(
    ("pattern", "advice", "meant"),
    [
        ("conv", CASE, "(?i)conv"),
        ("Conv*Relu", "* repeats the character before it", "Conv.*Relu"),
        ("Conv_5 + Add_6 + Relu_7", ESCAPE, r"Conv_5 \+ Add_6 \+ Relu_7"),
        ("Conv_5 + Add", ESCAPE, r"Conv_5 \+ Add"),
        ("(?i)conv_5 + add", ESCAPE, r"(?i)conv_5 \+ add"),
        ("conv_5 + add", f"{ESCAPE}, {CASE}", r"(?i)conv_5 \+ add"),
        ("PWN(a, b)[1]", ESCAPE, r"PWN\(a\, b\)\[1\]"),
        (r"c\d", ESCAPE, r"c\\d"),
        ("Conv_5 + Ad_6 + Relu_7", "", r"Conv_5 \+ Add_6 \+ Relu_7"),
    ],
)
def test_a_pattern_that_finds_nothing_gets_one_that_does(
    pattern: str, advice: str, meant: str
) -> None:
    note = note_on(where=f"name ~ {pattern}")
    reason = f"{advice}; " if advice else ""
    assert note == (
        f"name ~ {pattern}: no operator has this value; {reason}did you mean 'name ~ {meant}'?"
    )
    assert len(pa.run(pa.Query(where=suggested(note)), PROFILE)) == 1


@pytest.mark.parametrize("pattern", ["x" * 250 + "+", "(CONV_8|Conv_9)", "zzz", "None"])
def test_a_pattern_without_a_likely_meaning_gets_examples_of_names(pattern: str) -> None:
    assert note_on(where=f"name ~ {pattern}").endswith(
        "no operator has this value; there are Conv_5 + Add_6 + Relu_7, PWN(a, b)[1], |x| and 1 more"
    )


@pytest.mark.parametrize(
    ("pattern", "advice", "meant"),
    [
        ("Add_6", START, ".*Add_6"),
        ("conv", CASE, "(?i)conv"),
        ("zz|Add", START, ".*(?:zz|Add)"),
        ("add_6", f"{START}, {CASE}", "(?i).*add_6"),
        ("Conv_5 + Add_6 + Relu_7", ESCAPE, r"Conv_5 \+ Add_6 \+ Relu_7"),
        ("Add_6 + Relu_7", f"{ESCAPE}, {START}", r".*Add_6 \+ Relu_7"),
    ],
)
def test_a_pattern_of_names_must_match_from_the_start(
    pattern: str, advice: str, meant: str
) -> None:
    note = note_on(name=pattern)
    assert note == f"the pattern '{pattern}' matches no name; {advice}; did you mean '{meant}'?"
    assert len(pa.run(pa.Query(name=suggested(note)), PROFILE)) == 1


@pytest.mark.parametrize(
    ("pattern", "meant"), [("Conv_5 + Add", r"Conv_5 \+ Add"), ("N(a, b)", r"N\(a\, b\)")]
)
def test_patterns_of_group_keys_are_escaped(pattern: str, meant: str) -> None:
    note = note_on(by=f"name~{pattern}")
    assert note == (
        f"name~{pattern}: the pattern matches no name; {ESCAPE}; did you mean 'name~{meant}'?"
    )
    groups = pa.run(pa.Query(by=suggested(note)), PROFILE)
    assert pattern in groups[groups.query.by_columns[0].name].tolist()


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Conv*", "^Conv"),
        ("*Relu_7", "Relu_7$"),
        ("CONV*", "(?i)^CONV"),
        ("Conv|PWN", "Conv|PWN"),
        ("Conv_5 + Add", r"Conv_5 \+ Add"),
    ],
)
def test_a_text_that_looks_like_a_pattern_gets_a_pattern(text: str, pattern: str) -> None:
    note = note_on(where=f"name == {text}")
    assert note == (
        f"name == {text}: no operator has this value; == compares the whole text; did you mean "
        f"'name ~ {pattern}'?"
    )
    assert len(pa.run(pa.Query(where=suggested(note)), PROFILE))


def test_a_part_of_many_texts_gets_a_pattern() -> None:
    profile = profile_of([Operator(f"conv{n}(x)", "Conv", 1.0) for n in range(4)])
    note = pa.run(pa.Query(where="name == (X)"), profile).notes[0]
    assert note.endswith(r"== compares the whole text; did you mean 'name ~ (?i)\(X\)'?")


def test_a_number_without_a_unit_gets_one_that_divides_the_rows() -> None:
    rows = [{"operator": index, "duration_s": 0.002 * (index + 1)} for index in range(2)]
    profile = in_memory.profile_of([{"name": "a"}, {"name": "b"}], rows)
    for condition, note in (
        ("time > 3", "3 means 3 s, which no operator meets; did you mean 3ms?"),
        ("time < 3", "3 means 3 s, which every operator meets; did you mean 3ms?"),
        ("time > 30", "30 means 30 s, which no operator meets; the largest value is 4.00 ms"),
        ("time < 1ms", "no operator meets this; the smallest value is 2.00 ms"),
        ("share > 99.9%", "no operator meets this; the largest value is 66.7%"),
    ):
        assert pa.run(pa.Query(where=condition), profile).notes[0] == f"{condition}: {note}"
    assert pa.run(pa.Query(min_time_s=3.0), profile).notes[-1] == (
        "--min-time 3.00 s: no operator meets this; the largest value is 4.00 ms"
    )
    assert pa.run(pa.Query(max_time_s=1e-3), profile).notes[-1] == (
        "--max-time 1.00 ms: no operator meets this; the smallest value is 2.00 ms"
    )


def test_conditions_on_operators_of_a_group_suggest_having() -> None:
    rows = [{"operator": index, "duration_s": 1.0} for index in range(2)]
    profile = in_memory.profile_of([{"name": "a"}, {"name": "b"}], rows)
    (of_operators, _) = pa.run(pa.Query(by="type", where="time > 1.5s"), profile).notes
    assert of_operators == (
        "time > 1.5s: no operator meets this; the largest value is 1.00 s; --having selects groups"
    )
    (of_groups, _) = pa.run(pa.Query(by="type", having="time > 2.5s"), profile).notes
    assert of_groups == "time > 2.5s: no group meets this; the largest value is 2.00 s"

"""The findings on filters that keep nothing, with what the user probably meant."""

from __future__ import annotations

from typing import Any

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests import in_memory
from tests.findings.found import with_code
from tests.small import Operator, profile_of

NAMES = ("Conv_5 + Add_6 + Relu_7", "PWN(a, b)[1]", "|x|", r"c\d")
PROFILE = profile_of([Operator(name, "Fused", 1.0) for name in NAMES])


def meant_by(**fields: Any) -> tuple[Any, ...]:
    """Return why a filter or key keeps nothing, and the only suggestion."""
    codes = ("unmatched-value", "unmatched-name", "unmatched-key")
    (finding,) = with_code(pa.run(pa.Query(**fields), PROFILE).notes, *codes)
    found: dict[str, Any] = dict(finding.values)
    (meant,) = found["meant"]
    return found["reasons"], meant.strip("'")


@pytest.mark.parametrize(
    ("pattern", "reasons", "meant"),
    [
        ("conv", ("case",), "(?i)conv"),
        ("Conv*Relu", ("wildcards",), "Conv.*Relu"),
        ("Conv_5 + Add_6 + Relu_7", ("literal",), r"Conv_5 \+ Add_6 \+ Relu_7"),
        ("Conv_5 + Add", ("literal",), r"Conv_5 \+ Add"),
        ("(?i)conv_5 + add", ("literal",), r"(?i)conv_5 \+ add"),
        ("conv_5 + add", ("literal", "case"), r"(?i)conv_5 \+ add"),
        ("PWN(a, b)[1]", ("literal",), r"PWN\(a\, b\)\[1\]"),
        (r"c\d", ("literal",), r"c\\d"),
        ("Conv_5 + Ad_6 + Relu_7", (), r"Conv_5 \+ Add_6 \+ Relu_7"),
    ],
)
def test_a_pattern_that_finds_nothing_gets_one_that_does(
    pattern: str, reasons: tuple[str, ...], meant: str
) -> None:
    condition = f"name ~ {meant}"
    assert meant_by(where=f"name ~ {pattern}") == (reasons, condition)
    assert len(pa.run(pa.Query(where=condition), PROFILE)) == 1


@pytest.mark.parametrize("pattern", ["x" * 250 + "+", "(CONV_8|Conv_9)", "zzz", "None"])
def test_a_pattern_without_a_likely_meaning_gets_examples_of_names(pattern: str) -> None:
    notes = pa.run(pa.Query(where=f"name ~ {pattern}"), PROFILE).notes
    assert with_code(notes, "unmatched-value") == [
        Finding.of(
            "unmatched-value",
            Kind.ANSWER,
            condition=f"name ~ {pattern}",
            column="name",
            operator="~",
            value=pattern,
            reasons=(),
            meant=(),
            examples=NAMES[:3],
            known=4,
            renaming="",
        )
    ]


@pytest.mark.parametrize(
    ("pattern", "reasons", "meant"),
    [
        ("Add_6", ("anywhere",), ".*Add_6"),
        ("conv", ("case",), "(?i)conv"),
        ("zz|Add", ("anywhere",), ".*(?:zz|Add)"),
        ("add_6", ("anywhere", "case"), "(?i).*add_6"),
        ("Conv_5 + Add_6 + Relu_7", ("literal",), r"Conv_5 \+ Add_6 \+ Relu_7"),
        ("Add_6 + Relu_7", ("literal", "anywhere"), r".*Add_6 \+ Relu_7"),
    ],
)
def test_a_pattern_of_names_must_match_from_the_start(
    pattern: str, reasons: tuple[str, ...], meant: str
) -> None:
    assert meant_by(name=pattern) == (reasons, meant)
    assert len(pa.run(pa.Query(name=meant), PROFILE)) == 1


@pytest.mark.parametrize(
    ("pattern", "meant"), [("Conv_5 + Add", r"Conv_5 \+ Add"), ("N(a, b)", r"N\(a\, b\)")]
)
def test_patterns_of_group_keys_are_escaped(pattern: str, meant: str) -> None:
    key = f"name~{meant}"
    assert meant_by(by=f"name~{pattern}") == (("literal",), key)
    groups = pa.run(pa.Query(by=key), PROFILE)
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
    condition = f"name ~ {pattern}"
    assert meant_by(where=f"name == {text}") == (("whole",), condition)
    assert len(pa.run(pa.Query(where=condition), PROFILE))


def test_a_part_of_many_texts_gets_a_pattern() -> None:
    profile = profile_of([Operator(f"conv{n}(x)", "Conv", 1.0) for n in range(4)])
    finding = pa.run(pa.Query(where="name == (X)"), profile).notes[0]
    assert (finding["reasons"], finding["meant"]) == (("whole",), (r"'name ~ (?i)\(X\)'",))


def number(profile: pa.Profile, **fields: Any) -> tuple[Any, ...]:
    """Return what is wrong with a condition on numbers."""
    (finding,) = with_code(pa.run(pa.Query(**fields), profile).notes, "unmatched-number")
    names = ("condition", "meets_all", "meant", "largest", "closest", "noun", "for_groups")
    return tuple(finding[name] for name in names)


def test_a_number_without_a_unit_gets_one_that_divides_the_rows() -> None:
    rows = [{"operator": index, "duration_s": 0.002 * (index + 1)} for index in range(2)]
    profile = in_memory.profile_of([{"name": "a"}, {"name": "b"}], rows)
    for condition, meets_all, meant, largest, closest in (
        ("time > 3", False, "3ms", True, 0.004),
        ("time < 3", True, "3ms", False, None),
        ("time > 30", False, "", True, 0.004),
        ("time < 1ms", False, "", False, 0.002),
        ("share > 99.9%", False, "", True, 0.666666667),
    ):
        expected = (condition, meets_all, meant, largest, closest, "operator", False)
        assert number(profile, where=condition) == expected
    assert number(profile, min_time_s=3.0)[:5] == ("--min-time", False, "", True, 0.004)
    assert number(profile, max_time_s=1e-3)[:5] == ("--max-time", False, "", False, 0.002)


def test_conditions_on_operators_of_a_group_suggest_having() -> None:
    rows = [{"operator": index, "duration_s": 1.0} for index in range(2)]
    profile = in_memory.profile_of([{"name": "a"}, {"name": "b"}], rows)
    of_operators = number(profile, by="type", where="time > 1.5s")
    assert of_operators == ("time > 1.5s", False, "", True, 1.0, "operator", True)
    of_groups = number(profile, by="type", having="time > 2.5s")
    assert of_groups == ("time > 2.5s", False, "", True, 2.0, "group", False)

"""Conditions, `COLUMN OPERATOR VALUE`: their meaning and their error messages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.columns.kinds import RowKind
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.query.conditions import Condition
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.megengine import MegEngineReader
from tests.conftest import PROFILES
from tests.findings.found import codes_in, rounded, with_code
from tests.in_memory import profile_of as in_memory
from tests.small import Operator, profile_of

RESNET = str(PROFILES / "resnet18.json")


_ANOTHER = "there is another condition; repeat the option for each: all must hold"
_NO_OR = (
    "there is no OR: make one call for each condition, or write 'type ~ ^(A|B)$' to match one of "
    "several texts"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tme > 1ms", "at character 1: there is no column 'tme'; did you mean time?"),
        (" tme > 1ms", "at character 2: there is no column 'tme'; did you mean time?"),
        (
            "time > 1mq",
            "at character 8: '1mq' is not a time; write seconds, or a number with one of "
            "s, ms, us, ns, min, h: 0.001, 1ms",
        ),
        (
            "memory>=10MFLO",
            "at character 9: '10MFLO' is not a number with the unit B, such as 10MiB",
        ),
        (
            "share > 5s",
            "at character 9: '5s' is not a number, such as 5%",
        ),
        (
            "flops < nan",
            "at character 9: no condition selects N/A; --columns name,flops -t 0 shows which rows have N/A",
        ),
        (
            "param.nodes = N/A",
            "at character 13: there is no operator '='; did you mean 'param.nodes == N/A'?",
        ),
        (
            "param.mode = none",
            "at character 12: there is no operator '='; did you mean 'param.mode == none'?",
        ),
        ("id > x", "at character 6: 'x' is not a number, such as 12"),
        ("scope > x", "at character 7: > is for numbers; scope is a text"),
        ("time ~ 3", "at character 6: ~ is for texts; time is a number"),
        ("share > 5", "at character 9: 5 is 500.0%, and no share is above 100%: write 5%"),
        ("share >= 1.5", "at character 10: 1.5 is 150.0%, and no share is above 100%: write 1.5%"),
        ("type < x", "at character 6: < is for numbers; type is a text"),
        ("time = 3", "at character 6: there is no operator '='; did you mean 'time == 3'?"),
        ("time => 3", "at character 6: there is no operator '=>'; did you mean 'time >= 3'?"),
        ("time === 3", "at character 6: there is no operator '==='; did you mean 'time == 3'?"),
        ("time =~ 3", "at character 6: there is no operator '=~'; time has == != < <= > >="),
        ("name => x", "at character 6: there is no operator '=>'; name has == != ~ !~"),
        ("time ==! 3", "at character 6: there is no operator '==!'; did you mean 'time == 3'?"),
        (
            "time !!! 3",
            "at character 6: there is no operator '!!!'; time has == != < <= > >=",
        ),
        (
            "type == A or type == B",
            f"at character 9: {_NO_OR}",
        ),
        (
            "time > 1ms, share > 5%",
            f"at character 8: {_ANOTHER}",
        ),
        (
            "cumulative_time > 3",
            "at character 1: cumulative_time depends on the rows shown, and cannot filter them",
        ),
        ("count > 3", "at character 1: operators have no count; filter groups with --having"),
        ("time.p90 > 3", "at character 1: operators have no time.p90; filter groups with --having"),
        (
            "name ~ (",
            "at character 8: pattern '(', at character 2: missing ); write \\( for the character (",
        ),
        ("param.x > y", "at character 11: 'y' is not a number, such as 12"),
    ],
)
def test_errors_name_the_position(text: str, message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        Condition.parse(text, RowKind(None))
    assert str(caught.value) == f"{text!r}, {message}"


@pytest.mark.parametrize(
    "where",
    ["name == \"a 'x' and y == 3\"", "name == 'A and time > 1'", "name ~ A and time > 1"],
)
def test_a_text_that_looks_like_another_condition_stays_one_condition(where: str) -> None:
    assert len(pa.Query(where=where).conditions) == 1


_GRAMMAR = "write COLUMN OPERATOR VALUE, such as 'time > 1ms'"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        *((text, _GRAMMAR) for text in ("", "> 3", "time 3", "5 >> time", "time is")),
        ("time", f"{_GRAMMAR}, in quotes, because a shell takes < and > for itself"),
        ("5 > time", "did you mean 'time < 5'?"),
        (
            "1ms < time <= 2 ms",
            "write 'time > 1ms' and 'time <= 2 ms', two conditions: repeat the option for each",
        ),
        ("1ms < time >>> 2ms", _GRAMMAR),
        ("name contains conv", "did you mean 'name ~ conv'?"),
        ("name contains conv[1]", r"did you mean 'name ~ conv\[1\]'?"),
        ("name startswith a.b", "did you mean 'name ~ ^a.b'?"),
        ("name endswith (x)", r"did you mean 'name ~ \(x\)$'?"),
        ("name like conv%", "did you mean 'name ~ ^conv'?"),
        ("name like a_%_b", "did you mean 'name ~ ^a_.*_b$'?"),
        ("name contains it's", _GRAMMAR),
        ("name matches a.b", "did you mean 'name ~ a.b'?"),
        ("calls in (1,2)", _GRAMMAR),
        ("time not like 1%", _GRAMMAR),
        ("type IS Conv", "did you mean 'type == Conv'?"),
        ("type in ('A', \"B.c\")", "did you mean 'type ~ ^(A|B.c)$'?"),
        ("name contains 'a and time > 1ms'", "did you mean 'name ~ a and time > 1ms'?"),
        (
            "type is null",
            "no condition selects N/A; --columns name,type -t 0 shows which rows have N/A",
        ),
        *(
            (text, "there is another condition; repeat the option for each")
            for text in (
                "type contains Conv and time > 1ms",
                "type like 'Conv%' && time > 1ms",
                "type is null or time > 1ms",
            )
        ),
        ("wrong name > 1ms", _GRAMMAR),
    ],
)
def test_texts_that_are_not_conditions_are_errors_with_advice(text: str, advice: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.Query(where=text)
    assert str(caught.value) == f"where: '{text}' is not a condition; {advice}"


def test_conditions_on_groups_are_checked() -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.Query(by="type", having="name == x")
    assert str(caught.value) == "having: 'name == x', at character 1: groups have no name"
    with pytest.raises(
        pa.QueryError, match=r"having: there are no groups; group by something \(--aggregate-by"
    ):
        pa.Query(having="count > 1")
    assert pa.Query(by="type", having=["time.p90 > 1ms", "type ~ Conv"]).having


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("time > 8ms", [243, 319, 324]),
        ("time>0.008s", [243, 319, 324]),
        ("time >= 8.27ms", [243, 324]),
        ("time > 8.27ms", [324]),
        ("time == 8270us", [243]),
        (["time > 8ms", "time != 8.27ms"], [319, 324]),
        ("share > 7.9%", [243, 324]),
        ("name == 'conv(l.7.RELU[0],fuse[2773]@2774)[3443]'", [324]),
        (["name ~ 2773", "type !~ Elem"], [184, 324]),
        ("id <= 3", [0, 2]),
        (["in_shapes == {1,512,7,7}, {512,512,3,3}", "memory > 9MiB", "id > 310"], [319, 324]),
        (["in_shapes == {1,512,7,7},{512,512,3,3}", "param.pad_h == 1.0", "id > 319"], [324]),
    ],
)
def test_conditions_select_operators(where: str | list[str], ids: list[int]) -> None:
    result = pa.run(pa.Query(where=where, order="+id"), pa.load(RESNET))
    assert result["id"].tolist() == ids


def times_of(microseconds: list[float], parameters: list[object]) -> pa.Profile:
    """Return operators that start at 0.1 s, so that their times have rounding noise."""
    document = {
        "profiler": {
            "device": {
                str(id_): {"cpu0": {"start": 0.1, "kern": 0.1, "end": 0.1 + time * 1e-6}}
                for id_, time in enumerate(microseconds)
            },
            "opr_footprint": {
                str(id_): {"memory": 1, "param": {"x": value}}
                for id_, value in enumerate(parameters)
            },
        },
        "graph_exec": {
            "operator": {str(id_): {"name": "n", "type": "t"} for id_ in range(len(microseconds))}
        },
    }
    return MegEngineReader().read(
        Source.of_bytes("made", json.dumps(document).encode()), OPTIONAL_COLUMNS
    )


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (["memory == 2054.048kB"], [342]),
        (["memory >= 2.054048 MB", "memory < 2.3MB"], [342]),
        (["memory > 2.054048MB", "memory < 2.3MB"], []),
        (["memory > 2054047", "memory <= 2054.048kB"], [342]),
        (["memory > 2054047", "memory < 2054.048kB"], []),
        (["memory > 2054047", "memory < 2.3MB", "memory != 2.054048MB"], []),
    ],
)
def test_quantities_are_compared_exactly(where: list[str], ids: list[int]) -> None:
    assert pa.run(pa.Query(where=where), pa.load(RESNET))["id"].tolist() == ids


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("time == 3us", [1]),
        ("time != 3us", [0, 2]),
        ("time < 3us", [0]),
        ("time <= 3us", [0, 1]),
        ("time > 3us", [2]),
        ("time >= 3us", [1, 2]),
        ("param.x > 1", [1]),
        ("param.x != 5", [0, 2]),
        ("param.x == five", [2]),
        ("param.x ~ iv", [2]),
    ],
)
def test_times_are_compared_with_a_tolerance_for_rounding_noise(where: str, ids: list[int]) -> None:
    profile = times_of([1, 3, 4], [1, 5, "five"])
    assert 0.1 + 3e-6 - 0.1 != 3e-6
    assert pa.run(pa.Query(where=where, order="+id"), profile)["id"].tolist() == ids


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("==", [1]), ("!=", [0, 2, 3]), ("<", [0, 3]), (">=", [1, 2]), (">", [2])],
)
def test_large_integers_are_rounded_like_the_number_of_the_condition(
    operator: str, expected: list[int]
) -> None:
    values = [1, 2**63 - 1, 10**400, -(10**400)]
    condition = pa.Query(where=f"param.x {operator} {2**63 - 1}").conditions[0]
    assert [one for one, holds in enumerate(condition.holds_for(values)) if holds] == expected


def unjudged(
    condition: str, rows: int, share: float = np.nan, *, noun: str = "operator", texts: bool = False
) -> Finding:
    values = {"condition": condition, "rows": rows, "noun": noun, "texts": texts}
    return Finding.of("unjudged-condition", Kind.INCOMPLETE, share=share, **values)


def no_match(rows: int, noun: str, side: str = "") -> Finding:
    values = {"rows": rows, "noun": noun, "side": side, "untimed": 0, "inside": False}
    return Finding.of("nothing-matches", Kind.ANSWER, **values)


def test_texts_among_numbers_cannot_be_compared_with_a_number() -> None:
    profile = times_of([1, 1, 1, 1], [1, 5, "five", None])
    notes = pa.run(pa.Query(where=["param.x > 1", "param.x > 1"]), profile).notes
    assert notes == (unjudged("param.x > 1", 2, 0.5, texts=True),)
    notes = pa.run(pa.Query(where="param.x != 1"), profile).notes
    assert notes == (unjudged("param.x != 1", 1, 0.25),)


def test_a_parameter_may_have_any_name() -> None:
    assert pa.Query(where="param.a-b == 1").conditions[0].column.name == "param.a-b"


def test_values_that_cannot_be_compared_are_counted() -> None:
    profile = pa.load(RESNET)
    result = pa.run(pa.Query(where=["type == Elemwise", "param.stride_h < 3", "time > 0"]), profile)
    assert (result.matched, len(result)) == (0, 0)
    assert rounded(result.notes, 3) == [
        unjudged("param.stride_h < 3", 26, 0.006, texts=True),
        no_match(91, "operator", "device"),
    ]
    groups = pa.run(pa.Query(by="type", having="flops > 0"), profile)
    assert groups.notes == (unjudged("flops > 0", 4, noun="group"),)
    none = pa.run(pa.Query(by="type", having="share > 200%"), profile)
    assert codes_in(none.notes) == ["unmatched-number", "nothing-matches"]
    assert none.notes[1] == no_match(8, "group")


def test_a_condition_names_a_key_with_a_pattern_as_the_key_was_given() -> None:
    key = r"name~^conv\((l\.\d)"
    query = pa.Query(by=key, having=[f"{key} == l.6", f"{key} ~ l"])
    assert pa.run(query, pa.load(RESNET))[key].tolist() == ["l.6"]
    with pytest.raises(pa.QueryError) as caught:
        pa.Query(by=key, having=f"{key} > 5")
    assert str(caught.value) == (
        rf"having: '{key} > 5', at character 21: > is for numbers; {key} is a text"
    )


def meant(where: str, profile: pa.Profile) -> tuple[Any, Any]:
    """Return why no value meets a condition, and what to write instead."""
    (finding,) = with_code(pa.run(pa.Query(where=where), profile).notes, "unmatched-value")
    assert (finding.kind, finding["condition"]) == (Kind.ANSWER, where)
    return finding["reasons"], finding["meant"]


def test_a_value_that_no_operator_has_gets_a_note_with_similar_values() -> None:
    profile = pa.load(RESNET)
    assert meant("type == elemwise", profile) == ((), ("Elemwise",))
    assert meant("input_dtype == Float32", profile) == ((), ("'Float32, N/A'",))
    (unknown,) = with_code(pa.run(pa.Query(by="param.stride"), profile).notes, "unknown-parameter")
    assert (unknown["name"], unknown["known"][:1]) == ("param.stride", ("axis",))
    assert pa.run(pa.Query(where="in_shapes == {1,512,7,7},{512,512,3,3}"), profile).notes == ()


def test_the_note_on_a_column_without_values_comes_first() -> None:
    profile = in_memory([{"name": "a"}], [{"operator": 0, "duration_s": 1.0}])
    for condition in ("rank == 0", "flops > 1G"):
        first = pa.run(pa.Query(where=condition), profile).notes[0]
        assert first == replace(unjudged(condition, 1, 1.0), kind=Kind.ANSWER)


@pytest.mark.parametrize("shape", ["[1,512,1,1]", "{1, 512, 1,1}", "1,512,1,1", "(1, 512, 1, 1)"])
def test_one_shape_of_a_list_gets_the_lists_that_begin_with_it(shape: str) -> None:
    lists = ("'{1,512,1,1}, {1,512,7,7}'", "'{1,512,1,1}, {}'")
    assert meant(f"in_shapes == {shape}", pa.load(RESNET)) == ((), lists)


def test_a_parameter_gets_a_note_if_no_operator_has_parameters() -> None:
    profile = in_memory([{"name": "a"}], [{"operator": 0, "duration_s": 1.0}])
    notes = pa.run(pa.Query(by="param.stride"), profile).notes
    unknown = Finding.of("unknown-parameter", Kind.ANSWER, name="param.stride", known=())
    assert notes == (unknown,)


def test_filters_that_match_nothing_are_found() -> None:
    profile = in_memory(
        [{"name": f"op{n}"} for n in range(2)],
        [{"operator": n, "duration_s": 1.0} for n in range(2)],
    )
    of_operators = pa.run(pa.Query(where="time > 2s"), profile).notes
    assert codes_in(of_operators) == ["unmatched-number", "nothing-matches"]
    assert of_operators[-1] == no_match(2, "operator", "device")
    of_groups = pa.run(pa.Query(by="name", having="time > 2s"), profile).notes
    assert codes_in(of_groups) == ["unmatched-number", "nothing-matches"]
    assert of_groups[-1] == no_match(2, "group")


@pytest.mark.parametrize(
    ("condition", "largest", "closest", "unit"),
    [
        ("time < 1ns", False, 1e-6, "s"),
        ("time > 3600", True, 0.103, "s"),
        ("count >= 1000", True, 39.0, "1"),
        ("computation > 1P", True, 3.627e9, "FLO"),
        ("intensity > 1e6", True, 57.271, "FLO/byte"),
        ("share > 200%", True, 0.991, "%"),
    ],
)
def test_a_condition_that_no_row_meets_has_the_closest_value(
    condition: str, closest: float, unit: str, *, largest: bool
) -> None:
    notes = pa.run(pa.Query(by="type", having=condition), pa.load(RESNET)).notes
    (finding,) = with_code(notes, "unmatched-number")
    assert (finding["condition"], finding["largest"], finding["unit"]) == (condition, largest, unit)
    assert finding["closest"] == pytest.approx(closest, rel=0.01)


def test_equality_has_no_closest_value() -> None:
    for condition, codes in (("count == 1000", ["nothing-matches"]), ("count != 1000", [])):
        notes = pa.run(pa.Query(by="type", having=condition), pa.load(RESNET)).notes
        assert codes_in(notes) == codes


@pytest.mark.parametrize(
    ("one", "other", "can_hold"),
    [
        ("id > 3", "id <= 3", False),
        ("id >= 3", "id <= 3", True),
        ("id < 3", "id >= 3", False),
        ("id > 5", "id < 3", False),
        ("id < 5", "id > 3", True),
        ("id == 4", "id < 5", True),
        ("id == 4", "id == 5", False),
        ("in_shapes == {1, 3}", "in_shapes == {1,3}", True),
        ("in_shapes == {1, 3}", "in_shapes == {1,2}", False),
        ("time < 1ms", "time >= 1ms", False),
        ("time > 1ms", "time <= 1ms", False),
        ("time <= 1ms", "time >= 1ms", True),
        ("time > 1ms", "time < 3ms", True),
        ("type == A", "type != A", False),
        ("type == A", "type != B", True),
        ("type != A", "type != B", True),
        ("type ~ A", "type !~ A", False),
        ("type ~ A", "type !~ B", True),
        ("type ~ A", "type != A", True),
        ("time == 1ms", "time != 1ms", False),
        ("time == 1ms", "time != 1000us", False),
        ("time == 1ms", "time != 2ms", True),
        ("time != 1ms", "time != 2ms", True),
        ("id == 4", "id != 4", False),
        ("id == 4", "id != abc", True),
    ],
)
def test_contradicting_conditions_are_refused(one: str, other: str, *, can_hold: bool) -> None:
    for where in ([one, other], [other, one]):
        if can_hold:
            assert len(pa.Query(where=where).conditions) == 2
        else:
            with pytest.raises(pa.QueryError, match="contradict each other"):
                pa.Query(where=where)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("id != abc", [0, 1, 2]),
        ("id == abc", []),
        ("id !~ abc", [0, 1, 2]),
        ("id != 1", [0, 2]),
    ],
)
def test_a_column_of_numbers_is_compared_with_a_text(where: str, ids: list[int]) -> None:
    profile = profile_of([Operator(name, "A", 1.0) for name in "abc"])
    assert pa.run(pa.Query(where=where), profile)["id"].tolist() == ids


def test_a_value_with_blanks_can_match() -> None:
    profile = profile_of([Operator("a b", "A", 1.0)])
    assert pa.run(pa.Query(where="name == 'a b'"), profile).notes == ()
    assert meant("name == 'a c'", profile) == ((), ("a b",))


@pytest.mark.parametrize(
    ("where", "ids", "advice"),
    [
        ("param.x == 5.0", [1], None),
        ("param.x == 50e-1", [1], None),
        ("param.x == true", [2], None),
        ("param.x == [0,1]", [3], None),
        ("param.x == 0.5", [4], None),
        ("param.x == 6", [], ()),
        ("param.x == 1", [0], None),
        ("param.x == True", [], ("true",)),
        ("param.x == [0, 1]", [], ("[0,1]",)),
        ("in_shapes == {}", [0, 1, 2, 3, 4], None),
    ],
)
def test_values_of_parameters_are_compared_by_their_type(
    where: str, ids: list[int], advice: tuple[str, ...] | None
) -> None:
    values = [1, 5, True, [0, 1], 0.5]
    profile = profile_of([Operator("a", "A", 1.0, parameters={"x": value}) for value in values])
    result = pa.run(pa.Query(where=where, order="+id"), profile)
    assert result["id"].tolist() == ids
    if advice is None:
        assert result.notes == ()
    else:
        assert meant(where, profile) == ((), advice)


@pytest.mark.parametrize("where", ["type == N/A", "type != null", "type ~ n/a"])
def test_no_condition_on_texts_selects_na(where: str) -> None:
    """The rule says so. No other value is suggested."""
    profile = profile_of([Operator("a", "Conv", 1.0)])
    assert meant(where, profile) == ((), ())


@pytest.mark.parametrize(
    ("where", "reasons", "suggested"),
    [
        ("type != conv", (), "Conv"),
        ("type !~ conv", ("case",), "'type !~ (?i)conv'"),
    ],
)
def test_a_negated_condition_without_a_match_excludes_only_na(
    where: str, reasons: tuple[str, ...], suggested: str
) -> None:
    profile = profile_of([Operator("a", "Conv", 1.0)])
    assert pa.run(pa.Query(where=where), profile)["name"].tolist() == ["a"]
    assert meant(where, profile) == (reasons, (suggested,))


def test_aggregates_of_roofline_columns_need_peaks() -> None:
    with pytest.raises(pa.QueryError, match=r"lost\.max needs the peak rates"):
        pa.Query(by="type", having="lost.max > 1ms")


def test_many_apostrophes_do_not_take_exponential_time() -> None:
    """This test would not end if the advice tried each apostrophe twice."""
    with pytest.raises(pa.QueryError, match=_GRAMMAR):
        pa.Query(where="name contains " + "a'" * 80)

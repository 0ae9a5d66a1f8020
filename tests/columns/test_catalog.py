"""The columns that can be named, and how names in a list are separated."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.columns.aggregates import AGGREGATES
from profile_analyze.columns.catalog import (
    CATALOG,
    column_of_heading,
    find_column,
    listed,
    optional_columns_of,
    split_names,
)
from profile_analyze.columns.wording import heading, machine_name
from profile_analyze.errors import PatternError, UnknownColumnError

if TYPE_CHECKING:
    from profile_analyze.columns.column import Column


def test_columns_are_found_by_name() -> None:
    assert [find_column(column.name) for column in CATALOG] == list(CATALOG)
    assert find_column("flops").unit == "FLO/s"


def test_names_for_programs_are_unique() -> None:
    aggregates = (*AGGREGATES, "p90")
    written = [f"{column.name}.{how}" for column in CATALOG for how in aggregates]
    columns = [*CATALOG, *(column for text in written if (column := _found(text)) is not None)]
    names = [machine_name(column) for column in columns]
    assert len(names) > 60
    assert sorted(names) == sorted(set(names))


def _found(text: str) -> Column | None:
    with suppress(UnknownColumnError):
        return find_column(text)
    return None


@pytest.mark.parametrize(
    ("text", "unit", "meaning", "needed"),
    [
        ("param.stride_h", "", "the operator's parameter stride_h", "parameters"),
        ("name~^(l.)", "", "the part of name that ^(l.) finds", ""),
        ("in_shapes~{1,", "", "the part of in_shapes that {1, finds", "in_shapes"),
        (
            "scope/2",
            "",
            "the first 2 levels of scope: the modules or regions around the operator, outermost "
            "first",
            "",
        ),
        ("scope/1~a.", "", "the part of scope/1 that a. finds", ""),
        ("time.p90", "s", "p90 of time", ""),
        ("flops.max", "FLO/s", "max of flops", ""),
        ("memory.p99.9", "byte", "p99.9 of memory", ""),
        ("memory.p99.99999", "byte", "p99.99999 of memory", ""),
        ("wait.count", "1", "how many operators have a wait", ""),
    ],
)
def test_derived_columns_have_a_unit_and_a_meaning(
    text: str, unit: str, meaning: str, needed: str
) -> None:
    column = find_column(text)
    assert (column.name, column.unit, column.meaning) == (text, unit, meaning)
    assert optional_columns_of([column, find_column("time")]) == {needed} - {""}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("tme", "did you mean time?"),
        ("Bandwidth", "did you mean bandwidth?"),
        ("param.", "did you mean params or parameters?"),
        ("scope/0", "write how many levels to keep, such as scope/2"),
        ("scope/-1", "write how many levels to keep, such as scope/2"),
        ("scope/x", "write how many levels to keep, such as scope/2"),
        ("scope/~a", "write how many levels to keep, such as scope/2"),
        ("type/2", "did you mean type?"),
        ("time~3", "did you mean time?"),
        ("macs share", "did you mean macs_share?"),
        ("base macs", "did you mean base_macs (with --compare)"),
        ("Host Time (s)", "did you mean host_time?"),
        ("memory p90", "did you mean memory.p90?"),
        ("macs share,time", "name one column"),
        ("macs type", "separate columns by commas: macs,type"),
        ("share.max", "did you mean "),
        ("time.p101", "did you mean "),
        ("time.p", "did you mean "),
        ("time.", "did you mean "),
        ("xyz", "the columns are id, name, type, category, scope, count, key, time, "),
    ],
)
def test_unknown_columns_are_errors_with_advice(text: str, advice: str) -> None:
    with pytest.raises(UnknownColumnError) as caught:
        find_column(text)
    assert str(caught.value).startswith(f"there is no column {text!r}; {advice}")


def test_the_heading_of_each_column_is_understood() -> None:
    for column in (*CATALOG, find_column("host_time.p90"), find_column("time.count")):
        assert column_of_heading(heading(column)) == column.name


def test_long_lists_of_names_are_cut() -> None:
    names = [f"c{number}" for number in range(31)]
    assert listed(names) == f"{', '.join(names[:12])} and 19 more (--columns help explains all)"
    assert listed(names[:30]) == ", ".join(names[:30])


def test_several_similar_columns_are_suggested() -> None:
    with pytest.raises(UnknownColumnError) as caught:
        find_column("in_shape")
    assert (
        str(caught.value)
        == "there is no column 'in_shape'; did you mean in_shapes, base_in_shapes (with --compare) "
        "or out_shapes?"
    )


def test_an_aggregate_has_one_name() -> None:
    assert find_column("time.p50.0").name == "time.p50"


def test_an_invalid_pattern_in_a_column_name_is_an_error() -> None:
    with pytest.raises(PatternError, match=r"pattern '\(', at character 2: missing \)"):
        find_column("name~(")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("time", ("time",)),
        ("time, +name", ("time", "+name")),
        ("", ("",)),
        (r"name~^(l\.\d{1,2}),type", (r"name~^(l\.\d{1,2})", "type")),
        (r"name~[,]x,name~a\,b,id", ("name~[,]x", r"name~a\,b", "id")),
        (r"name~\(,id", (r"name~\(", "id")),
        ("a),b", ("a)", "b")),
        ("name~^([^(]*),type", ("name~^([^(]*)", "type")),
        ("name~[(],type", ("name~[(]", "type")),
        ("name~[]),],type", ("name~[]),]", "type")),
        ("name~[^]],type", ("name~[^]]", "type")),
        (r"name~[\]],type", (r"name~[\]]", "type")),
    ],
)
def test_names_are_separated_by_commas(text: str, names: tuple[str, ...]) -> None:
    assert split_names(text) == names


@given(st.lists(st.sampled_from(["time", "param.x", "name~(a,b)"]), min_size=1))
def test_joined_names_are_split_again(names: list[str]) -> None:
    assert split_names(",".join(names)) == tuple(names)

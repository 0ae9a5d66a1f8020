"""Columns that are parts of other columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from profile_analyze.columns.catalog import CATALOG
from profile_analyze.model.terms import SPLIT_KEYS
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from profile_analyze.readers.loading import load
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from profile_analyze.columns.column import Column
    from profile_analyze.model.profile import Profile

SCOPES: list[tuple[str, ...] | None] = [
    ("net", "block1", "conv"),
    ("net", "block1"),
    ("net", "block2", "conv"),
    ("head",),
    None,
]


def of_scopes() -> Profile:
    """Return a profile with an operator in each of `SCOPES`. They take 1, 2, 4, ... seconds."""
    return profile_of(
        [{"name": f"op{index}", "scope": scope} for index, scope in enumerate(SCOPES)],
        [{"operator": index, "duration_s": 2.0**index} for index in range(len(SCOPES))],
    )


def groups(key: str) -> dict[Any, float]:
    """Return the seconds of each group."""
    table = run(Query(by=key, order="+time"), of_scopes())
    return dict(zip(table[key].tolist(), table["time"].tolist(), strict=True))


def test_operators_can_be_grouped_by_the_first_levels_of_a_scope() -> None:
    assert groups("scope/1") == {("net",): 7.0, ("head",): 8.0, None: 16.0}
    assert groups("scope/2") == {
        ("net", "block1"): 3.0,
        ("net", "block2"): 4.0,
        ("head",): 8.0,
        None: 16.0,
    }
    assert groups("scope/9") == groups("scope")
    assert groups(r"scope/2~\d") == {"1": 3.0, "2": 4.0, None: 24.0}


def test_the_first_levels_filter_and_order_operators() -> None:
    query = Query(where="scope/2 == net/block1", order="+time")
    assert run(query, of_scopes())["name"].tolist() == ["op0", "op1"]
    ordered = run(Query(order="+scope/1,+name"), of_scopes())
    assert ordered["name"].tolist() == ["op3", "op0", "op1", "op2", "op4"]


@pytest.fixture(scope="module")
def trace() -> Profile:
    return load("tests/fixtures/pytorch/gpu.json")


TEXT_COLUMNS = [
    column
    for column in CATALOG
    if column.kind != "number" and not column.needs_base and not column.needs_peaks
]
WITHOUT_VALUES = ("conv_kind", "parameters", "reused_weights", "sparsity_pattern")
"""Columns that have no values in this trace."""


@pytest.mark.parametrize("column", TEXT_COLUMNS, ids=lambda column: column.name)
def test_rows_can_be_grouped_by_a_part_of_any_text(column: Column, trace: Profile) -> None:
    name = column.name
    split_by = (name,) if name in SPLIT_KEYS else ()
    has_values = False
    for level in ("operator", "kernel"):
        whole = run(Query(split_by=split_by, level=level), trace)
        values = {column.as_text(one)[:1] for one in whole[name].tolist() if one is not None}
        parts = run(Query(by=f"{name}~^.", level=level), trace)
        found = {one for one in parts[f"{name}~^."].tolist() if one is not None}
        assert found == values - {""}
        has_values |= bool(found)
    assert has_values == (name not in WITHOUT_VALUES)

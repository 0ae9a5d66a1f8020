"""The notes on conditions whose number lacks its unit, or is too large for all rows."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from tests.in_memory import profile_of


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        (
            "flops < 400",
            "flops < 400: 400 means 400 FLOPS, which no operator with a value other than 0 meets; "
            "did you mean flops < 400GFLOPS?",
        ),
        (
            "flops > 400",
            "flops > 400: 400 means 400 FLOPS, which every operator with a value other than 0 "
            "meets; did you mean flops > 400GFLOPS?",
        ),
        ("flops > 1", None),
        ("flops < 400GFLOPS", None),
    ],
)
def test_zeros_do_not_hide_that_a_unit_is_missing(condition: str, note: str | None) -> None:
    operators = [{"name": name, "computation": work} for name, work in (("a", 0.0), ("b", 3e11))]
    operators.append({"name": "c", "computation": 5e11})
    rows = [{"operator": index, "duration_s": 1.0} for index in range(3)]
    found = pa.run(pa.Query(where=condition), profile_of(operators, rows)).notes
    assert [one for one in found if "means" in one] == ([note] if note else [])


def test_conditions_on_operators_of_a_group_suggest_having() -> None:
    rows = [{"operator": index, "duration_s": 1.0} for index in range(2)]
    profile = profile_of([{"name": "a"}, {"name": "b"}], rows)
    (of_operators, _) = pa.run(pa.Query(by="type", where="time > 1.5s"), profile).notes
    assert of_operators == (
        "time > 1.5s: no operator meets this; the largest value is 1.00 s; --having selects groups"
    )
    (of_groups, _) = pa.run(pa.Query(by="type", having="time > 2.5s"), profile).notes
    assert of_groups == "time > 2.5s: no group meets this; the largest value is 2.00 s"

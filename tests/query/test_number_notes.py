"""The notes on conditions whose number lacks its unit."""

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

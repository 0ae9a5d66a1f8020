"""The columns that formats for people show by default."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from profile_analyze.report.layout.default_columns import columns_with_values
from tests.in_memory import profile_of

NAMES = ("time", "type", "name")


def columns(types: list[str], query: pa.Query, level: str = "operator") -> tuple[str, ...]:
    """Return the default columns for operators with the names `relu` and `mm<float>`."""
    profile = profile_of(
        [
            {"name": name, "type": type_, "level": level}
            for name, type_ in zip(("relu", "mm<float>"), types, strict=True)
        ],
        [{"operator": index, "duration_s": 1.0} for index in range(2)],
    )
    return columns_with_values(NAMES, pa.run(query, profile))


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        (["relu", "mm<float>"], ("time", "name")),
        (["relu", "mm"], ("time", "name")),  # a kernel's type lacks the template arguments
        (["relu", "m"], NAMES),
        (["elementwise", "mm"], NAMES),
    ],
)
def test_a_type_that_repeats_the_name_is_left_out(types: list[str], shown: tuple[str, ...]) -> None:
    assert columns(types, pa.Query()) == shown


@pytest.mark.parametrize(
    "query",
    [
        pa.Query(types=("relu", "mm")),
        pa.Query(where="type != conv"),
        pa.Query(where="type~r != x"),
        pa.Query(order="+type"),
    ],
)
def test_a_question_about_types_shows_them(query: pa.Query) -> None:
    assert columns(["relu", "mm"], query) == NAMES

"""The note on grouping by a part of the names, if one group has nearly all of the time."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from tests.in_memory import profile_of


@pytest.mark.parametrize(
    ("times", "notes"),
    [
        (
            (0.96, 0.04),
            (
                r"name~^\w+: 'conv' alone has 96.0% of the time: perhaps the names do not show the "
                "layer; -t 0 without groups shows each operator",
            ),
        ),
        ((0.95, 0.05), ()),
    ],
)
def test_one_part_of_the_names_with_nearly_all_time_has_a_note(
    times: tuple[float, float], notes: tuple[str, ...]
) -> None:
    profile = profile_of(
        [{"name": "conv(l.1)"}, {"name": "add(l.1)"}],
        [{"operator": row, "duration_s": time_s} for row, time_s in enumerate(times)],
    )
    assert pa.run(pa.Query(by=r"name~^\w+"), profile).notes == notes
    assert pa.run(pa.Query(by="name"), profile).notes == ()


@pytest.mark.parametrize(("where", "has_note"), [("type == Conv", True), ("type == Add", False)])
def test_only_groups_of_operators_that_pass_the_filters_have_a_note(
    where: str, *, has_note: bool
) -> None:
    profile = profile_of(
        [{"name": "conv(l.1)", "type": "Conv"}, {"name": "add(l.1)", "type": "Add"}],
        [{"operator": row, "duration_s": time_s} for row, time_s in enumerate((0.96, 0.04))],
    )
    notes = pa.run(pa.Query(by=r"name~^\w+", where=where), profile).notes
    assert any("'conv' alone has 96.0% of the time" in note for note in notes) == has_note

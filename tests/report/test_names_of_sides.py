"""The names of the files in the titles of pictures, and in headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.report.pictures.chart_texts import names_of_sides
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def profile_in(files: Sequence[str]) -> pa.Profile:
    """Return the joined profile of several files."""
    return pa.join_runs(
        profile_of([Operator("a", "Conv", time_us)], file) for time_us, file in enumerate(files, 1)
    )


def numbered(pattern: str, count: int = 3) -> list[str]:
    return [pattern.format(number) for number in range(count)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["x/a.json"], "a.json"),
        (numbered("runs/{}.json"), "3 files of runs"),
        (numbered("runs/new_{}.json"), "3 files of runs/new_*"),
        (numbered("new_{}.json"), "3 files of new_*"),
        (numbered("{}.json"), "0.json and 2 more"),
        (numbered("runs/{}/a.json"), "runs/0/a.json and 2 more"),
        (["x/a.json", "x/a.json"], "a.json"),
    ],
)
def test_several_files_are_named_by_what_they_have_in_common(
    files: list[str], expected: str
) -> None:
    assert names_of_sides(profile_in(files)) == [expected]


def test_several_processes_may_be_of_one_file() -> None:
    profile = profile_in(["x/a.json, process 1", "x/a.json, process 2"])
    assert names_of_sides(profile.changed(file="x/a.json")) == ["a.json"]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (["x/new.json"], ["x/old.json"], "new.json, old.json"),
        (["x/a.json"], ["y/a.json"], "x/a.json, y/a.json"),
        (numbered("new/{}.json"), numbered("old/{}.json"), "3 files of new, 3 files of old"),
        (
            numbered("x/trt_new_{}.json"),
            numbered("x/trt_old_{}.json", 2),
            "3 files of x/trt_new_*, 2 files of x/trt_old_*",
        ),
        # Both sides have the same folder or the same start, so it tells nothing.
        (["x/a", "x/b"], ["x/c", "x/d", "x/e"], "x/a and 1 more, x/c and 2 more"),
        (["x/a1", "x/a3"], ["x/a2", "x/a4"], "x/a1 and 1 more, x/a2 and 1 more"),
        (["a", "b"], ["x/c", "x/d"], "a and 1 more, 2 files of x"),
    ],
)
def test_the_names_of_two_sides_differ(new: list[str], old: list[str], expected: str) -> None:
    here, there = names_of_sides(pa.compare(profile_in(new), profile_in(old)))
    assert f"{here}, {there.removeprefix('baseline ')}" == expected
    assert there.startswith("baseline ")

"""Findings on whole runs that did not change as their operators did."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Kind
from tests.findings.found import with_code
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.executions import Track
    from profile_analyze.model.profile import Profile

Found: TypeAlias = "dict[str, Any]"
"""The code and the values of a finding, with six decimals."""


def side(
    name: str, *runs: tuple[float, float], operator: str = "conv", tracks: tuple[Track, ...] = ()
) -> Profile:
    """Return a profile with a process for each run: the time of its operator, and its wall time."""
    return profile_of(
        [{"name": operator}, {"name": "other"}],
        [
            {
                "operator": row,
                "run": run,
                "duration_s": time_s / 2,
                "track": row % (len(tracks) or 1),
            }
            for run, (time_s, _) in enumerate(runs)
            for row in (0, 1)
        ],
        tracks=tracks or (CPU,),
        runs=[Run(process, wall_s=wall_s) for process, (_, wall_s) in enumerate(runs)],
        processes=[f"{name}{process}.json" for process in range(len(runs))],
    )


def found(new: Profile, base: Profile, threshold: float = 0.03) -> list[Found]:
    query = pa.Query(compared=True, threshold=threshold)
    change = pa.summarise(pa.compare(new, base), judged_by=query).change
    assert change is not None
    codes = ("only-runs-changed", "runs-unlike-operators")
    findings = with_code(change.notes, *codes, decimals=6)
    assert all(one.kind == Kind.ANSWER for one in findings)
    return [{"code": one.code, **dict(one.values)} for one in findings]


def opposite(operators: float, runs: float, look: str, *times_s: float) -> Found:
    """Return a subset of the values of a finding on an opposite change, with few runs."""
    return {
        "code": "runs-unlike-operators",
        "operators": operators,
        "runs": runs,
        "opposite": True,
        "doubt": "few runs",
        "look": look,
        "times_s": times_s,
    }


@pytest.mark.parametrize(
    ("new", "base", "expected"),
    [
        ((0.8, 1.2), (1.0, 1.1), opposite(-0.2, 0.090909, "outside", 0.4, 0.1)),
        ((1.0, 1.1), (0.8, 1.2), opposite(0.25, -0.083333, "outside", 0.1, 0.4)),
        # operators that were measured apart from the run
        ((1.6, 1.2), (2.0, 1.1), opposite(-0.2, 0.090909, "overlap")),
        ((0.8, 1.1), (1.0, 1.1), None),
        ((1.0, 1.2), (1.0, 1.1), None),
        ((0.8, 1.0), (1.0, 1.1), None),
        ((0.8, nan), (1.0, 1.1), None),
        ((0.8, 1.2), (1.0, nan), None),
        ((0.8, 1.2), (1.0, 0.0), None),
        ((nan, 1.2), (1.0, 1.1), None),
        ((nan, 1.2), (nan, 1.1), None),
    ],
)
def test_opposite_changes_are_found(
    new: tuple[float, float], base: tuple[float, float], expected: Found | None
) -> None:
    findings = found(side("new", new), side("base", base))
    assert [{name: one[name] for name in expected or ()} for one in findings] == (
        [] if expected is None else [expected]
    )


def test_operators_on_two_threads_may_overlap() -> None:
    two = (CPU, CPU._replace(name="thread 2"))
    (one,) = found(side("new", (0.8, 1.2), tracks=two), side("base", (1.0, 1.1), tracks=two))
    assert one["look"] == "overlap"


@pytest.mark.parametrize(
    ("threshold", "new", "is_found"),
    [
        (0.03, (0.96, 1.04), True),
        (0.03, (0.96, 1.02), False),
        (0.03, (0.98, 1.04), False),
        (0.05, (0.96, 1.04), False),
        (0.0, (0.98, 1.02), True),
        (0.0, (0.98, 1.005), False),
        (0.0, (0.995, 1.02), False),
    ],
)
def test_changes_below_the_threshold_or_one_percent_do_not_count(
    *, threshold: float, new: tuple[float, float], is_found: bool
) -> None:
    findings = found(side("new", new), side("base", (1.0, 1.0)), threshold=threshold)
    assert len(findings) == is_found


@pytest.mark.parametrize(
    ("operators", "walls", "is_found"),
    [
        (0.01, 0.01, True),
        (0.3, 0.01, False),
        (0.01, 0.3, False),
        (0.5, 0.01, False),  # a time of 0
        (0.01, 0.5, False),
    ],
)
def test_changes_within_noise_are_no_finding(
    *, operators: float, walls: float, is_found: bool
) -> None:
    factors = (-2, -1, 0, 1, 2)
    noise = [(1 + operators * factor, 1 + walls * factor) for factor in factors]
    new = side("new", *((0.8 * time, 2.2 * wall) for time, wall in noise))
    base = side("base", *((1.0 * time, 2.0 * wall) for time, wall in noise))
    assert len(found(new, base)) == is_found


@pytest.mark.parametrize(
    ("wall_s", "is_found", "is_opposite"),
    [
        (2.001, True, False),
        (2.0, True, False),
        (1.999, True, False),
        (1.9, True, True),
        (2.09, True, False),
        (2.11, False, False),
        (2.2, False, False),
        (2.4, False, False),
    ],
)
def test_runs_that_change_less_than_half_as_much_as_their_operators_are_found(
    wall_s: float, *, is_found: bool, is_opposite: bool
) -> None:
    noise = [1 - 2e-5, 1 - 1e-5, 1.0, 1 + 1e-5, 1 + 2e-5]
    new = side("new", *((1.2 * one, wall_s * one) for one in noise))
    base = side("base", *((1.0 * one, 2.0 * one) for one in noise))
    expected = {
        "code": "runs-unlike-operators",
        "operators_s": 0.2,
        "runs_s": round(wall_s - 2, 6),
        "opposite": is_opposite,
        "doubt": "",
        "look": "outside",
        "times_s": (round(wall_s - 1.2, 6), 1.0),
    }
    assert [{name: one[name] for name in expected} for one in found(new, base)] == (
        [expected] * is_found
    )
    assert len(found(base, new)) == is_found
    # With few runs, only a change in the opposite direction counts, if it is large enough.
    assert len(found(side("new", (1.2, wall_s)), side("base", (1.0, 2.0)))) == is_opposite


def test_noise_of_whole_runs_may_hide_that_they_follow_their_operators() -> None:
    walls = (2.0, 1.5, 2.0, 2.6, 2.0)
    new = side("new", *((1.2 + n / 1e6, wall) for n, wall in enumerate(walls)))
    base = side("base", *((1.0 + n / 1e6, wall) for n, wall in enumerate(walls)))
    assert found(new, base) == []


def test_an_opposite_change_within_noise_may_still_not_follow_the_operators() -> None:
    walls = (1.80, 1.92, 2.00, 2.08, 2.20)
    new = side("new", *((0.8 + n / 1e6, wall * 1.04) for n, wall in enumerate(walls)))
    base = side("base", *((1.6 + n / 1e6, wall) for n, wall in enumerate(walls)))
    (one,) = found(new, base)
    assert (one["operators_s"], one["runs_s"], one["opposite"]) == (-0.8, 0.08, False)


def test_sides_that_do_not_belong_together_are_no_finding() -> None:
    base = side("base", (1.0, 1.1))
    other = side("new", (0.8, 1.2), operator="pool")
    assert len(found(other, base)) == 1
    different = other.changed(operators=profile_of([{"name": "a"}, {"name": "b"}]).operators)
    assert pa.compare(different, base).mismatch is not None
    assert found(different, base) == []


@pytest.mark.parametrize(
    ("new", "changes"),
    [
        ((1.01, 2.3), (0.01, 0.15)),
        ((0.99, 1.7), (-0.01, -0.15)),
        ((1.01, 2.15), None),
        ((1.1, 2.3), None),
    ],
)
def test_runs_that_change_while_their_operators_do_not_are_found(
    new: tuple[float, float], changes: tuple[float, float] | None
) -> None:
    few = found(side("new", new), side("base", (1.0, 2.0)))
    noise = [1 - 2e-5, 1 - 1e-5, 1.0, 1 + 1e-5, 1 + 2e-5]
    many = found(
        side("new", *((new[0] * one, new[1] * one) for one in noise)),
        side("base", *((1.0 * one, 2.0 * one) for one in noise)),
    )
    # With enough runs, even a change of 7.5 % is no noise.
    assert (len(few), len(many)) == (changes is not None, new[0] < 1.1)
    if changes is not None:
        names = ("code", "operators", "runs", "doubt", "look")
        expected = ("only-runs-changed", *changes)
        assert [few[0][name] for name in names] == [*expected, "few runs", "outside"]
        assert [many[0][name] for name in names] == [*expected, "", "outside"]


@pytest.mark.parametrize(
    ("operators", "walls", "is_found"), [(0.01, 0.01, True), (0.1, 0.01, False), (0.01, 0.1, False)]
)
def test_only_runs_that_change_beyond_noise_are_found(
    *, operators: float, walls: float, is_found: bool
) -> None:
    noise = [(1 + operators * one, 1 + walls * one) for one in (-2, -1, 0, 1, 2)]
    new = side("new", *((1.0 * time, 2.2 * wall) for time, wall in noise))
    base = side("base", *((1.0 * time, 2.0 * wall) for time, wall in noise))
    assert len(found(new, base)) == is_found


def host_bound(name: str, *runs: tuple[float, float, float]) -> Profile:
    """Return a profile with a process for each run: its device, host and wall time."""
    return profile_of(
        [{"name": "conv"}],
        [
            {"operator": 0, "run": run, "duration_s": time_s, "track": track}
            for run, times_s in enumerate(runs)
            for track, time_s in enumerate(times_s[:2])
        ],
        tracks=(STREAM, THREAD),
        runs=[Run(process, wall_s=times_s[2]) for process, times_s in enumerate(runs)],
        processes=[f"{name}{process}.json" for process in range(len(runs))],
    )


def test_noise_of_whole_runs_does_not_hide_that_operators_are_a_small_part_of_them() -> None:
    hosts = (9.0, 9.1, 13.4, 18.0)
    new = host_bound("new", *((2.2 + host / 1e6, host, host + 2.0) for host in hosts))
    base = host_bound("base", *((3.6 + host / 1e6, host, host + 2.2) for host in hosts))
    (one,) = found(new, base)
    expected = {"doubt": "noise", "look": "rest", "parts": (0.166039, 0.267659)}
    assert {name: one[name] for name in expected} == expected
    (of_few,) = found(host_bound("new", (2.2, 9.0, 11.0)), host_bound("base", (3.6, 9.0, 11.2)))
    assert of_few["doubt"] == "few runs"
    follows = found(host_bound("new", (2.2, 8.0, 10.0)), host_bound("base", (3.6, 9.0, 11.2)))
    assert follows == []


def test_the_finding_says_that_the_host_is_slower() -> None:
    slow, usual = host_bound("new", (3.6, 14.3, 18.0)), host_bound("base", (3.6, 7.5, 9.3))
    (one,) = found(slow, usual)
    assert (one["look"], one["times_s"]) == ("host", (14.3, 7.5))


def test_the_finding_says_that_the_device_waits() -> None:
    idle, busy = host_bound("new", (6.0, 1.0, 10.0)), host_bound("base", (6.0, 1.0, 7.0))
    (one,) = found(idle, busy)
    look = ("outside", "device", (4.0, 1.0))
    assert (one["look"], one["explained_on"], one["times_s"]) == look

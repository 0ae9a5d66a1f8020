"""Notes on whole runs that did not change as their operators did."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.notes import Importance
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.executions import Track
    from profile_analyze.model.profile import Profile

FEW = " (there are few runs, so noise may be the reason)"
OUTSIDE = "find out what happens there"
OVERLAP = "find out how far operators overlap, and what happens between them"


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


def found(new: Profile, base: Profile, threshold: float = 0.03) -> list[str]:
    query = pa.Query(compared=True, threshold=threshold)
    change = pa.summarise(pa.compare(new, base), judged_by=query).change
    assert change is not None
    notes = [note for note in change.notes if "a whole run takes" in note]
    assert all(note.importance == Importance.ANSWER for note in notes)
    return [str(note) for note in notes]


@pytest.mark.parametrize(
    ("new", "base", "note"),
    [
        (
            (0.8, 1.2),
            (1.0, 1.1),
            "operators take 20.0% less time than in the baseline, but a whole run takes 9.1% more"
            f"{FEW}: 400 ms of a run is outside of operators, instead of 100 ms; {OUTSIDE}; verdicts are "
            "on operators only",
        ),
        (
            (1.0, 1.1),
            (0.8, 1.2),
            "operators take 25.0% more time than in the baseline, but a whole run takes 8.3% less"
            f"{FEW}: 100 ms of a run is outside of operators, instead of 400 ms; {OUTSIDE}; verdicts are "
            "on operators only",
        ),
        (  # operators that were measured apart from the run
            (1.6, 1.2),
            (2.0, 1.1),
            "operators take 20.0% less time than in the baseline, but a whole run takes 9.1% more"
            f"{FEW}: {OVERLAP}; verdicts are on operators only",
        ),
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
def test_opposite_changes_have_a_note(
    new: tuple[float, float], base: tuple[float, float], note: str | None
) -> None:
    assert found(side("new", new), side("base", base)) == [*filter(None, [note])]


def test_operators_on_two_threads_may_overlap() -> None:
    two = (CPU, CPU._replace(name="thread 2"))
    (note,) = found(side("new", (0.8, 1.2), tracks=two), side("base", (1.0, 1.1), tracks=two))
    assert OVERLAP in note


@pytest.mark.parametrize(
    ("threshold", "new", "has_note"),
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
def test_changes_below_the_threshold_or_one_percent_have_no_note(
    *, threshold: float, new: tuple[float, float], has_note: bool
) -> None:
    notes = found(side("new", new), side("base", (1.0, 1.0)), threshold=threshold)
    assert len(notes) == has_note


@pytest.mark.parametrize(
    ("operators", "walls", "has_note"),
    [
        (0.01, 0.01, True),
        (0.3, 0.01, False),
        (0.01, 0.3, False),
        (0.5, 0.01, False),  # a time of 0
        (0.01, 0.5, False),
    ],
)
def test_changes_within_noise_have_no_note(
    *, operators: float, walls: float, has_note: bool
) -> None:
    factors = (-2, -1, 0, 1, 2)
    noise = [(1 + operators * factor, 1 + walls * factor) for factor in factors]
    new = side("new", *((0.8 * time, 2.2 * wall) for time, wall in noise))
    base = side("base", *((1.0 * time, 2.0 * wall) for time, wall in noise))
    assert len(found(new, base)) == has_note


@pytest.mark.parametrize(
    ("wall_s", "expected"),
    [
        (2.001, "a whole run takes only 1.00 ms more: 801 ms of a run is outside"),
        (2.0, "a whole run takes as long: 800 ms of a run is outside"),
        (1.999, "a whole run takes 1.00 ms less: 799 ms of a run is outside"),
        (1.9, "a whole run takes 5.0% less: 700 ms of a run is outside"),
        (2.09, "a whole run takes only 90.0 ms more: 890 ms of a run is outside"),
        (2.11, None),
        (2.2, None),
        (2.4, None),
    ],
)
def test_runs_that_change_less_than_half_as_much_as_their_operators_have_a_note(
    wall_s: float, expected: str | None
) -> None:
    noise = [1 - 2e-5, 1 - 1e-5, 1.0, 1 + 1e-5, 1 + 2e-5]
    new = side("new", *((1.2 * one, wall_s * one) for one in noise))
    base = side("base", *((1.0 * one, 2.0 * one) for one in noise))
    texts = found(new, base)
    assert len(texts) == (expected is not None)
    if expected is not None:
        of_operators = "20.0% more time" if "%" in expected else "200 ms more"
        assert texts[0] == (
            f"operators take {of_operators} than in the baseline, but {expected} of operators, "
            f"instead of 1.00 s; {OUTSIDE}; verdicts are on operators only"
        )
    swapped = found(base, new)
    assert len(swapped) == (expected is not None)
    if "only" in (expected or ""):
        assert "200 ms less than in the baseline, but a whole run takes only " in swapped[0]
    # With few runs, only a change in the opposite direction has a note, if it is large enough.
    assert len(found(side("new", (1.2, wall_s)), side("base", (1.0, 2.0)))) == (wall_s == 1.9)


def test_noise_of_whole_runs_may_hide_that_they_follow_their_operators() -> None:
    walls = (2.0, 1.5, 2.0, 2.6, 2.0)
    new = side("new", *((1.2 + n / 1e6, wall) for n, wall in enumerate(walls)))
    base = side("base", *((1.0 + n / 1e6, wall) for n, wall in enumerate(walls)))
    assert found(new, base) == []


def test_an_opposite_change_within_noise_may_still_not_follow_the_operators() -> None:
    walls = (1.80, 1.92, 2.00, 2.08, 2.20)
    new = side("new", *((0.8 + n / 1e6, wall * 1.04) for n, wall in enumerate(walls)))
    base = side("base", *((1.6 + n / 1e6, wall) for n, wall in enumerate(walls)))
    (note,) = found(new, base)
    assert note.startswith(
        "operators take 800 ms less than in the baseline, but a whole run takes 80.0 ms more: "
    )


def test_sides_that_do_not_belong_together_have_no_note() -> None:
    base = side("base", (1.0, 1.1))
    other = side("new", (0.8, 1.2), operator="pool")
    assert len(found(other, base)) == 1
    different = other.changed(operators=profile_of([{"name": "a"}, {"name": "b"}]).operators)
    assert pa.compare(different, base).mismatch is not None
    assert found(different, base) == []


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ((1.01, 2.3), "(+1.0%), but a whole run takes 15.0% more"),
        ((0.99, 1.7), "(-1.0%), but a whole run takes 15.0% less"),
        ((1.01, 2.15), None),
        ((1.1, 2.3), None),
    ],
)
def test_runs_that_change_while_their_operators_do_not_have_a_note(
    new: tuple[float, float], expected: str | None
) -> None:
    few = found(side("new", new), side("base", (1.0, 2.0)))
    noise = [1 - 2e-5, 1 - 1e-5, 1.0, 1 + 1e-5, 1 + 2e-5]
    many = found(
        side("new", *((new[0] * one, new[1] * one) for one in noise)),
        side("base", *((1.0 * one, 2.0 * one) for one in noise)),
    )
    # With enough runs, even a change of 7.5 % is no noise.
    assert (len(few), len(many)) == (expected is not None, new[0] < 1.1)
    if expected is not None:
        before = "operators take about as long as in the baseline "
        assert few[0].startswith(f"{before}{expected}{FEW}: ")
        assert many[0].startswith(f"{before}{expected}: ")
        assert f"of a run is outside of operators, instead of 1.00 s; {OUTSIDE};" in many[0]


@pytest.mark.parametrize(
    ("operators", "walls", "has_note"), [(0.01, 0.01, True), (0.1, 0.01, False), (0.01, 0.1, False)]
)
def test_only_runs_that_change_beyond_noise_have_a_note(
    *, operators: float, walls: float, has_note: bool
) -> None:
    noise = [(1 + operators * one, 1 + walls * one) for one in (-2, -1, 0, 1, 2)]
    new = side("new", *((1.0 * time, 2.2 * wall) for time, wall in noise))
    base = side("base", *((1.0 * time, 2.0 * wall) for time, wall in noise))
    assert len(found(new, base)) == has_note


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
    (note,) = found(new, base)
    assert note == (
        "operators take 1.40 s less than in the baseline, but a whole run takes only 200 ms less "
        "(wall times vary more than that, so noise may be the reason): operators take only 16.6% "
        "of a run on the device (26.8% in the baseline); find out what takes the rest; verdicts are "
        "on operators only"
    )
    (of_few,) = found(host_bound("new", (2.2, 9.0, 11.0)), host_bound("base", (3.6, 9.0, 11.2)))
    assert FEW in of_few
    follows = found(host_bound("new", (2.2, 8.0, 10.0)), host_bound("base", (3.6, 9.0, 11.2)))
    assert follows == []


def test_the_note_says_that_the_host_is_slower() -> None:
    slow, usual = host_bound("new", (3.6, 14.3, 18.0)), host_bound("base", (3.6, 7.5, 9.3))
    (note,) = found(slow, usual)
    assert "operators take 14.3 s of a run on the host, instead of 7.50 s; --show-host" in note


def test_the_note_says_that_the_device_waits() -> None:
    idle, busy = host_bound("new", (6.0, 1.0, 10.0)), host_bound("base", (6.0, 1.0, 7.0))
    (note,) = found(idle, busy)
    assert "4.00 s of a run is without work of the device, instead of 1.00 s; " in note

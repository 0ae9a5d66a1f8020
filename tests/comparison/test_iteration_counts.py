"""Comparisons of runs with different numbers of iterations, and of sides with and without scopes."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.findings.rules.comparison import reason_of
from profile_analyze.model.executions import Run
from profile_analyze.model.levels.scope_notes import mixed_scopes
from profile_analyze.model.origin import Origin
from tests.conftest import FIXTURES, run_command
from tests.findings.found import said, why
from tests.in_memory import CPU, profile_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from profile_analyze.model.profile import Profile

SHAPES = FIXTURES / "pytorch/cnn-shapes.json.gz"  # two iterations, with modules
PLAIN = FIXTURES / "pytorch/cnn-plain.json.gz"  # one iteration
MEANING = "the sides probably have different numbers of iterations in a run"
ITERATIONS = (
    "operators with {} of the time were called {} times as often in a run as in the baseline: "
    f"{MEANING}; record equally many iterations on both sides; if both sides have a module or "
    "region for each iteration, --step-region NAME makes each execution of it a run"
)
SCOPES = (
    "only the {0} has scopes, so an operator of the {1} may be several operators of the {0}, of "
    "which at most one is matched; --aggregate-by name compares them by name"
)


def test_a_trace_of_two_iterations_is_not_judged_against_a_trace_of_one() -> None:
    outcome = run_command(
        *(str(SHAPES), "--compare", str(PLAIN), "--fail-if", "total > +5%", "--fail-if"),
        *("total > 1s", "--print-only", "summary", "--format", "plain"),
    )
    reason = ITERATIONS.format("100.0%", 2)
    assert outcome.code == 4
    lines = outcome.out.splitlines()
    assert f"verdict               N/A ({MEANING})" in lines
    assert f"no verdict, because {MEANING}: 3.910 ms instead of 2.520 ms, +55.2%" in lines
    assert lines[-2] == f"cannot be judged: total > +5%: {reason}"
    # A limit on the time itself is judged, but needs more runs.
    assert lines[-1].startswith("cannot be judged: total > 1s: 3.910 ms: only 1 of the 4 required")
    notes = outcome.err.splitlines()
    assert notes[:3] == [
        f"note: {reason}",
        "note: 34 operators matched with the baseline, 60 added (27.8% of the time), 0 removed; "
        "the column match says how",
        f"note: {SCOPES.format('profile', 'baseline')}",
    ]


def test_runs_of_which_only_some_have_scopes_are_no_different_models() -> None:
    joined = pa.join_runs([pa.load(str(file)) for file in (SHAPES, PLAIN)])
    assert joined.unlike == ""
    assert said(joined.notes_on_runs)[0] == (
        f"only 3 of 143 operators are in all 2 runs: only {SHAPES} has scopes, so an operator of "
        f"{PLAIN} may be several operators of {SHAPES}; --aggregate-by name counts each name once"
    )


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ((("a", "net"), ("a", None)), ""),
        ((("a", "net"), ("b", None)), "different models"),
        ((("a", "net"), ("a", "other")), "different models"),
    ],
)
def test_runs_that_differ_by_more_than_missing_scopes_are_of_different_models(
    files: tuple[tuple[str, str | None], ...], text: str
) -> None:
    joined = pa.join_runs(
        profile_of(
            [{"name": name, "scope": scope and (scope,)}],
            [{"operator": 0, "duration_s": 1.0 + number}],
            processes=[f"{number}.json"],
        )
        for number, (name, scope) in enumerate((*files, *files[:1]))
    )
    assert joined.unlike == text
    (note,) = said(joined.notes_on_runs)
    assert note.startswith(
        "none of 2 operators are in all 3 runs: "
        + (
            f"these look like {text}"
            if text
            else "only 0.json and 1 more have scopes, so an operator of 1.json may be several "
            "operators of 0.json and 1 more; "
        )
    )


@pytest.mark.parametrize("shares_names", [True, False])
def test_the_search_for_scopes_takes_little_memory(*, shares_names: bool) -> None:
    names, runs = 100, 10_000
    profile = profile_of(
        [
            {"name": f"{number}" if shares_names else f"{number} {scope}", "scope": scope}
            for scope in (("net",), None)
            for number in range(names)
        ],
        [{"operator": run % (2 * names), "run": run, "duration_s": 1.0} for run in range(runs)],
        runs=[Run(run) for run in range(runs)],
        processes=[f"{run}.json" for run in range(runs)],
    )
    assert profile.calls().shape == (2 * names, runs)
    tracemalloc.start()
    try:
        found = mixed_scopes(profile)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bool(found) == shares_names
    assert peak < names * runs  # an array of flags would take 2 * names * runs bytes


def noisy(file: Path, folder: Path) -> str:
    """Write `file` six times, each time with slightly shorter durations; return the folder."""
    folder.mkdir()
    trace = json.loads(gzip.decompress(file.read_bytes()))
    durations = [event.get("dur") for event in trace["traceEvents"]]
    for copy in range(6):
        for event, duration in zip(trace["traceEvents"], durations, strict=True):
            if duration is not None:
                event["dur"] = duration * (1 - copy / 1000)
        (folder / f"{folder.name}{copy}.json").write_text(json.dumps(trace))
    return str(folder)


@pytest.mark.slowest
@pytest.mark.parametrize("call", [(), ("--aggregate-by", "name")])
def test_no_line_lists_slower_operators_if_the_iterations_differ(
    call: Sequence[str], tmp_path: Path
) -> None:
    """The total, and the time of most operators, changed beyond noise."""
    new, old = noisy(SHAPES, tmp_path / "new"), noisy(PLAIN, tmp_path / "old")
    outcome = run_command(
        *(new, "--compare", old, "--print-only", "summary", "--format", "plain"),
        *("--fail-if", "total > +5%", *call),
    )
    assert outcome.code == 4
    lines = outcome.out.splitlines()
    assert f"verdict               N/A ({MEANING})" in lines
    starts = ("slower: ", "faster: ", "more work: ", "less work: ")
    assert not [line for line in lines if line.startswith(starts)]


def profile(*calls: Mapping[str, int], file: str = "new.json", time_s: float = 1.0) -> Profile:
    """Return a profile of runs. `calls` has how often each operator was called in each run."""
    names = list(dict.fromkeys(name for run in calls for name in run))
    return profile_of(
        [{"name": name} for name in names],
        [
            {"operator": names.index(name), "run": number, "duration_s": time_s, "calls": count}
            for number, run in enumerate(calls)
            for name, count in run.items()
        ],
        tracks=[CPU],
        runs=[Run(0, number) for number in range(len(calls))],
        processes=[file],
    )


USUAL = {f"conv{n}": 2 for n in range(8)} | {"pool": 1, "fc": 3}


def usual(factor: float, **others: int) -> dict[str, int]:
    """Return the usual numbers of calls multiplied by `factor`, and the numbers in `others`."""
    return {name: int(count * factor) for name, count in USUAL.items()} | others


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        ([usual(2)], [USUAL], ("100.0%", "2")),
        ([usual(3)], [usual(2)], ("100.0%", "1.50")),
        ([USUAL], [usual(4)], ("100.0%", "0.250")),
        ([usual(12)], [USUAL], ("100.0%", "12")),
        # Work outside of the iterations is called as often as before.
        ([usual(2, load=1)], [{**USUAL, "load": 1}], ("90.9%", "2")),
        # The median run decides.
        ([usual(2), usual(2), {"fc": 3}], [USUAL], ("100.0%", "2")),
        ([USUAL], [USUAL], None),
        # A few layers that are called more often do not show more iterations.
        ([usual(1, conv0=4, conv1=4)], [USUAL], None),
        ([usual(2, conv0=2, conv1=3, conv2=5)], [USUAL], None),
        # Operators that only one side has take too much of the time.
        ([{**usual(2), **{f"new{n}": 1 for n in range(4)}}], [USUAL], None),
        ([USUAL], [{**usual(2), **{f"old{n}": 1 for n in range(4)}}], None),
    ],
)
def test_iterations_are_counted_by_the_calls_of_most_operators(
    ours: list[dict[str, int]], theirs: list[dict[str, int]], found: tuple[str, str] | None
) -> None:
    comparison = pa.compare(profile(*ours), profile(*theirs, file="old.json"))
    mismatch = comparison.mismatch
    notes = [note for note in said(comparison.notes) if "iterations" in note]
    if found is None:
        assert (mismatch, notes) == (None, [])
    else:
        text = ITERATIONS.format(*found)
        assert (f"{why(mismatch)}; {mismatch and reason_of(mismatch.finding).advice}", notes) == (
            text,
            [text],
        )


def test_calls_are_not_compared_without_times_or_between_formats() -> None:
    new, base = profile(usual(2)), profile(USUAL, file="old.json")
    assert pa.compare(new, base).mismatch is not None
    nothing = profile(USUAL, file="old.json", time_s=0.0)
    assert pa.compare(new, nothing).mismatch is None
    other = base.changed(origin=Origin("another runtime"))
    assert pa.compare(new, other).mismatch is None


def test_a_network_with_twice_as_many_layers_has_no_more_iterations() -> None:
    """Its layers take nearly all time, but its first and last operators run as often as before."""

    def network(layers: int, file: str) -> Profile:
        calls = {"attention": layers, "linear": layers, "norm": 2 * layers + 1, "embedding": 1}
        return profile_of(
            [{"name": name} for name in calls],
            [
                {"operator": n, "duration_s": 0.01 if n > 1 else 1.0, "calls": count}
                for n, count in enumerate(calls.values())
            ],
            processes=[file],
        )

    assert pa.compare(network(24, "new.json"), network(12, "old.json")).mismatch is None


def test_rows_of_one_name_count_together() -> None:
    """Only one side tells the layers of a module apart."""
    rows = [{"name": "conv", "scope": (f"layer{n}",)} for n in range(3)]
    ran = [{"operator": n, "duration_s": 1.0, "calls": 2} for n in range(3)]
    merged = profile_of([{"name": "conv"}], [{"operator": 0, "duration_s": 3.0, "calls": 3}])
    comparison = pa.compare(profile_of(rows, ran), merged)
    assert why(comparison.mismatch).startswith("operators with 100.0% of the time were called 2 ")
    once = pa.compare(profile_of(rows, [{**one, "calls": 1} for one in ran]), merged)
    assert once.mismatch is None


@pytest.mark.parametrize(
    ("ours", "theirs", "by", "note"),
    [
        (("layer",), None, (), SCOPES.format("profile", "baseline")),
        (None, ("layer",), (), SCOPES.format("baseline", "profile")),
        (("layer",), None, ("name",), ""),
        (("layer",), ("other",), (), ""),
        (None, None, (), ""),
    ],
)
def test_scopes_on_one_side_only_have_a_note(
    ours: tuple[str, ...] | None, theirs: tuple[str, ...] | None, by: tuple[str, ...], note: str
) -> None:
    new, base = (
        profile_of([{"name": "conv", "scope": scope}], [{"operator": 0, "duration_s": 1.0}])
        for scope in (ours, theirs)
    )
    query = pa.Query(compared=True, by=by)
    notes = said(pa.summarise(pa.compare(new, base), judged_by=query).notes)
    assert [one for one in notes if "scopes" in one] == ([note] if note else [])
    other = base.changed(origin=Origin("another runtime"))
    assert not [one for one in said(pa.summarise(pa.compare(new, other)).notes) if "scopes" in one]

"""Joined runs in memory. The tests in `tests/readers` join files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.findings.sentences import as_text
from profile_analyze.model.joining.runs import RunJoiner, join_runs
from profile_analyze.model.levels.splitting import split
from profile_analyze.model.notes import Importance, TextNote
from profile_analyze.model.stale_work import STALE_WORK, has_stale_work
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from tests.findings.found import said
from tests.in_memory import STREAM, four_steps, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def test_a_partial_result_does_not_change_when_its_joiner_adds_more() -> None:
    joiner = RunJoiner()
    joiner.add(profile_of([{"name": "a"}, {"name": "b", "computation": 1.0}]))
    before = joiner.partial()
    assert before is not None
    joiner.add(profile_of([{"name": "a", "computation": 2.0}, {"name": "b", "computation": 3.0}]))
    after = joiner.joined()
    np.testing.assert_array_equal(before.operators.computation, [np.nan, 1.0])
    np.testing.assert_array_equal(after.operators.computation, [2.0, 1.0])
    assert said(after.notes_on_runs) == (
        "files named again: 1; totals count a run each time that it is named, verdicts count it once; "
        "name each run once",
        "the runs disagree on computation or memory of 1 operator, and the first known value is "
        "used; if the runs differ in dtype, batch size or model, name those of one kind after "
        "--compare",
    )


def test_files_with_equal_names_and_different_times_are_different_files() -> None:
    # URLs are shown without their queries, so the names of different files may be equal.
    joined = join_runs([four_steps("http://host/run?***", factor) for factor in (1.0, 2.0)])
    assert said(joined.notes_on_runs) == ()


def test_copies_and_files_named_again_have_separate_notes() -> None:
    named_again = (
        "files named again: 1; totals count a run each time that it is named, verdicts count it once; name each "
        "run once"
    )
    copies = (
        "probably copies: 1 file with exactly the times of another; totals count copies, verdicts "
        "do not; name each run once"
    )
    runs, empty = [four_steps("a.json"), four_steps("b.json")], profile_of([{"name": "a"}])
    assert said(join_runs(runs).notes_on_runs) == (copies,)
    assert said(join_runs([*runs, empty, empty]).notes_on_runs)[:2] == (named_again, copies)
    assert said(join_runs([*runs, runs[0]]).notes_on_runs) == (named_again, copies)


def test_a_partial_result_shares_nothing_with_its_joiner() -> None:
    joiner = RunJoiner()
    note = TextNote("doubtful", Importance.WRONG)
    joiner.add(profile_of([{"name": "a", "computation": 1.0}]).changed(notes=(note,)))
    before = joiner.partial()
    assert before is not None
    joiner.add(profile_of([{"name": "a", "computation": 2.0}]).changed(notes=(note,)))
    assert before.run_counts.tolist() == [1]
    assert before.conflicting.tolist() == [False]
    assert [len(files) for files in before.notes.values()] == [1]


def test_the_runs_that_executed_an_operator_are_counted() -> None:
    steps, other = four_steps("a.json"), profile_of([{"name": "new"}], processes=["b.json"])
    joiner = RunJoiner()
    joiner.add(steps)
    joiner.add(other)
    partial = joiner.partial()
    assert partial is not None
    assert partial.run_counts.tolist() == [4, 4, 1]
    assert said(joiner.joined().notes_on_runs) == (
        "none of 3 operators are in all 5 runs: these look like different models, so the totals "
        "make no sense; --aggregate-by file shows each file on its own",
    )


def _runs_with(*rows: dict[str, str]) -> Profile:
    """Return two runs of an operator `a` and a kernel `k`. `rows` are only in the second run."""
    shared = [{"name": "a"}, {"name": "k", "level": "kernel"}]
    files = enumerate([shared, [*shared, *rows]])
    return join_runs(
        [
            profile_of(
                [{"key": row["name"], **row} for row in of_file],
                [{"operator": row, "duration_s": 1.0 + number} for row in range(len(of_file))],
                processes=[f"{number}.json"],
            )
            for number, of_file in files
        ]
    )


def test_rows_that_some_runs_lack_are_counted_at_their_level() -> None:
    operator, kernel, call = (
        {"name": level, "level": level} for level in ("operator", "kernel", "runtime")
    )
    in_some = "in only some of the 2 runs"
    found = {
        text: [(as_text(note), note.importance) for note in _runs_with(*rows).notes_on_runs]
        for text, rows in {
            "kernel": (kernel,),
            "operator": (operator, kernel),
            "call": (call,),
        }.items()
    }
    assert found == {
        "kernel": [(f"1 of 2 kernels (--level kernel) are {in_some}", Importance.CONTEXT)],
        "operator": [(f"1 of 2 operators are {in_some}", Importance.INCOMPLETE)],
        "call": [],
    }
    kernels = run(Query(level="kernel", where="runs < 2"), _runs_with(kernel))
    assert kernels["name"].tolist() == ["kernel"]


def test_unlike_is_empty_if_there_are_no_notes_on_runs() -> None:
    one, other = (
        profile_of([{"name": name}], [{"operator": 0, "duration_s": 1.0}], processes=[name])
        for name in ("a.json", "b.json")
    )
    joined = join_runs([one, other])
    assert joined.unlike == "different models"
    assert join_runs([one, one]).unlike == one.unlike == ""
    for key, unlike in (("track", "different models"), ("file", "")):
        rows = split(joined, [key])
        assert (rows.unlike, bool(rows.notes_on_runs)) == (unlike, bool(unlike))
    of_ranks = [
        side.changed(tracks=(STREAM._replace(rank=rank),)) for rank, side in enumerate((one, other))
    ]
    job = join_runs(of_ranks)
    assert (job.file, job.unlike, job.notes_on_runs) == ("2 ranks", "", ())


def test_work_that_is_stale_in_one_file_is_stale_in_all_runs() -> None:
    fresh = profile_of([{"name": "conv", "computation": 1.0}])
    stale = fresh.changed(
        file="stale.json",
        operators=replace(fresh.operators, optional={STALE_WORK: np.array([1.0])}),
    )
    for files in ([fresh, stale], [stale, fresh]):
        assert has_stale_work(join_runs(files).operators).tolist() == [True]
    assert has_stale_work(join_runs([fresh, fresh]).operators).tolist() == [False]

"""Notes: their importance, their share of the time, and which are printed."""

from __future__ import annotations

import pickle
from math import isnan, nan
from pathlib import Path

import pytest

import profile_analyze as pa
from profile_analyze.cli.answer import printed_notes
from profile_analyze.model.findings import BASELINE, Size, Subject
from profile_analyze.model.joining.run_notes import collected_notes
from profile_analyze.model.notes import (
    Importance,
    Note,
    NoteChoice,
    TextNote,
    by_importance,
    counted_and_time,
    most_important,
    notes_with_share,
    operators_and_share,
    unknown_work,
)
from tests.conftest import PROFILES, run_command

EMPTY = TextNote("nothing matches", Importance.ANSWER)
SMALL = TextNote("a few are wrong", Importance.WRONG, 0.2)
LARGE = TextNote("many are wrong", Importance.WRONG, 0.7)
UNKNOWN = TextNote("some are wrong", Importance.WRONG)
MISSING = TextNote("some are N/A", Importance.INCOMPLETE, 0.9)
MINOR = TextNote("one is wrong", Importance.WRONG, 0.0009)


def test_a_known_share_is_part_of_the_text() -> None:
    assert [*notes_with_share(unknown_work(), Importance.INCOMPLETE, 0, 0.0)] == []
    text = unknown_work("names")
    (known,) = notes_with_share(text, Importance.INCOMPLETE, 1, 0.75)
    assert known == "the computation of 1 operator (75.0% of the time) cannot be derived from names"
    assert (known.importance, known.share) == (Importance.INCOMPLETE, 0.75)
    (unknown,) = notes_with_share(text, Importance.INCOMPLETE, 1, nan)
    assert unknown == "the computation of 1 operator cannot be derived from names"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.998, "faster: 12 operators (99.8% of the time); look"),
        (0.0, "faster: 12 operators (0.0% of the time); look"),
        (nan, "faster: 12 operators; look"),
    ],
)
def test_the_share_follows_the_number_of_operators(share: float, text: str) -> None:
    note = TextNote(f"faster: {operators_and_share(12)}; look", Importance.WRONG, share)
    assert note == text
    again = pickle.loads(pickle.dumps(note))
    assert (again, again.importance, again.pattern) == (text, Importance.WRONG, note.pattern)
    assert again.share == share or (isnan(again.share) and isnan(share))
    assert note.about(Subject("file", "a.json")) == f"a.json: {text}"
    assert note.about(Subject("file", "a.json")).importance == Importance.WRONG
    assert note.with_share(0.5) == "faster: 12 operators (50.0% of the time); look"


@pytest.mark.parametrize(("time_s", "text"), [(0.0116, " (11.6 ms)"), (nan, "")])
def test_a_note_on_a_time_has_no_share(time_s: float, text: str) -> None:
    note = TextNote(f"left out {counted_and_time(2, 'layer')}", Importance.CONTEXT, time_s)
    assert note == f"left out 2 layers{text}"
    assert isnan(note.share)
    again = pickle.loads(pickle.dumps(note))
    assert (again, again.pattern) == (note, note.pattern)
    assert note.about(Subject("file", "a.json")) == f"a.json: left out 2 layers{text}"


def test_one_note_on_times_stands_for_both_sides() -> None:
    def left_out(time_s: float) -> Note:
        return TextNote(f"left out {counted_and_time(2, 'layer')}", Importance.CONTEXT, time_s)

    equal, other = left_out(0.0116).about(BASELINE), left_out(0.005).about(BASELINE)
    assert by_importance([left_out(0.0116), equal]) == (
        "on both sides: left out 2 layers (11.6 ms)",
    )
    assert by_importance([left_out(0.0116), other]) == (
        "on both sides: left out 2 layers (11.6 ms, 5.00 ms in the baseline)",
    )


def test_the_most_important_notes_come_first() -> None:
    notes = [MISSING, MINOR, UNKNOWN, SMALL, EMPTY, LARGE, SMALL]
    ordered = (EMPTY, LARGE, SMALL, MINOR, UNKNOWN, MISSING)
    assert by_importance(notes) == ordered
    assert most_important(notes) == (EMPTY, LARGE, SMALL)
    assert most_important([MISSING, MINOR]) == (MISSING,)


def test_one_note_stands_for_both_sides() -> None:
    def blocked(count: int, share: float) -> Note:
        text = f"{operators_and_share(count)} are in blocks"
        return TextNote(text, Importance.WRONG, share)

    here, there = blocked(29, 0.9), blocked(29, 0.9).about(BASELINE)
    (both,) = by_importance([here, there])
    assert both == "on both sides: 29 operators (90.0% of the time) are in blocks"
    assert (both.importance, both.share) == (Importance.WRONG, 0.9)
    other = blocked(28, 0.9).about(BASELINE)
    assert by_importance([here, other]) == (here, other)
    (both_shares,) = by_importance([blocked(29, 0.95).about(BASELINE), here])
    assert both_shares == (
        "on both sides: 29 operators (90.0% of the time, 95.0% in the baseline) are in blocks"
    )
    assert both_shares.share == 0.95
    assert by_importance([there]) == (there,)
    unknown = UNKNOWN.about(BASELINE)
    assert by_importance([unknown, EMPTY, UNKNOWN]) == (EMPTY, "on both sides: some are wrong")
    # Without the merging, the notes on both sides would take all three places.
    few = most_important([here, there, UNKNOWN, unknown, MISSING])
    assert few == (both, "on both sides: some are wrong", MISSING)


def test_notes_that_doubt_a_comparison_come_first() -> None:
    path = str(PROFILES.parent / "onnxruntime/squeezenet-1.31.json.gz")
    notes = run_command(path, "--compare", path).err.splitlines()
    assert [note.partition(" (")[0] for note in notes] == [
        f"note: 1 file on both sides, such as {path}: the same runs are compared with themselves",
        "note: on both sides: 29 operators",
        "note: on both sides: the wall time of run 1 is 1.6 times the median; --skip-runs 1 leaves it out",
        "note: --notes all also shows 2 less important notes",
    ]


@pytest.mark.parametrize(
    ("which", "printed"),
    [
        ("few", [EMPTY, LARGE, SMALL, "--notes all also shows 2 less important notes"]),
        ("all", [EMPTY, LARGE, SMALL, UNKNOWN, MISSING]),
        ("none", []),
    ],
)
def test_notes_that_are_not_printed_are_counted(which: NoteChoice, printed: list[str]) -> None:
    assert printed_notes(by_importance([MISSING, UNKNOWN, SMALL, LARGE, EMPTY]), which) == printed
    assert printed_notes((LARGE,), "few") == [LARGE]


def test_markdown_has_the_notes_because_it_is_passed_on(tmp_path: Path) -> None:
    """With the formats `table` and `plain`, notes are only on standard error."""
    path, copy = str(PROFILES / "trace-dyn.json"), str(tmp_path / "copy.json")
    Path(copy).write_bytes(Path(path).read_bytes())
    few = run_command(path, copy, "-t", "1", "--format", "markdown")
    notes = [line for line in few.err.splitlines() if "--notes all" not in line]
    assert notes[0] == (
        "note: probably copies: 1 file with exactly the times of another; totals count copies, verdicts do not; "
        "name each run once"
    )
    assert few.out.splitlines()[-len(notes) - 1 :] == ["", *(f"- {note}" for note in notes)]
    page = tmp_path / "page.md"
    run_command(path, copy, "-t", "1", "-o", str(page))
    assert page.read_text() == few.out
    for arguments in (("--format", "markdown", "--notes", "none"), ("--format", "plain")):
        assert "note: " not in run_command(path, copy, "-t", "1", *arguments).out
    new_line = TextNote("a\nb", Importance.WRONG)
    assert pa.render(pa.Report(notes=(new_line,)), "markdown") == "- note: `a\\nb`\n"


@pytest.mark.parametrize(("which", "shown"), [("few", 3), ("all", 5), ("none", 0)])
def test_markdown_has_as_many_notes_as_asked_for(which: NoteChoice, shown: int) -> None:
    report = pa.Report(notes=by_importance([MISSING, UNKNOWN, SMALL, LARGE, EMPTY]))
    page = pa.render(report, "markdown", display=pa.Display(notes=which))
    assert page.count("note: ") == shown


def test_notes_on_several_files_are_collected_even_if_their_shares_differ() -> None:
    of_files = [
        (file, [TextNote(f"wrong: {operators_and_share(2)}", Importance.WRONG, share)])
        for file, share in (("a.json", 0.2), ("b.json", 0.4))
    ]
    sizes = [("a.json", Size(0.2)), ("b.json", Size(0.4))]
    ((note, found),) = collected_notes(of_files).items()
    assert (note, [(file, one.share) for file, one in found]) == (
        "wrong: 2 operators",
        [(file, one.share) for file, one in sizes],
    )


def test_a_note_on_several_files_has_the_mean_of_their_shares(tmp_path: Path) -> None:
    path, copy = str(PROFILES / "trace-dyn.json"), str(tmp_path / "copy.json")
    Path(copy).write_bytes(Path(path).read_bytes())
    outcome = run_command(path, copy, "-t", "1", "--notes", "all")
    assert outcome.err.startswith(
        "note: probably copies: 1 file with exactly the times of another; totals count copies, verdicts do not; "
        "name each run once\n"
        "note: in each of 2 files: the shapes of 10 operators (99.7% of the time) changed between "
        "runs: "
    )


def test_the_command_prints_three_notes_by_default() -> None:
    path = str(PROFILES / "twocn-onlywait.json")
    call = (path, "--copy-time", "--opr-name", "NoSuch", "--type", "NoSuch", "--order-by", "flops")
    few, every, none = (
        run_command(*call, "--notes", which).err.splitlines() for which in ("few", "all", "none")
    )
    assert few == [
        *every[:3],
        f"note: --notes all also shows {len(every) - 3} less important notes",
    ]
    assert run_command(*call).err.splitlines() == few
    assert len(every) > 4
    assert none == []


def test_verdicts_are_printed_even_if_notes_are_not() -> None:
    call = (str(PROFILES / "resnet18.json"), "--format", "csv", "--fail-if", "time > 1us")
    outcome = run_command(*call, "--notes", "none")
    assert outcome.code == 4
    assert outcome.err == (
        "note: cannot be judged: time > 1us: 103.7 ms of all operators: only 1 of the 4 required "
        "runs; record at least 4 profiles, better 8, each by its own process, and name them all\n"
    )


def test_a_short_copy_time_is_noted_only_where_it_is_shown_as_zero() -> None:
    call = (
        str(PROFILES / "twocn-onlywait.json"),
        "--copy-time",
        "--notes",
        "all",
        "--opr-name",
        "Copy.0",
    )
    for output_format, is_noted in (("table", True), ("wiki", True), ("plain", False)):
        outcome = run_command(*call, "--format", output_format)
        assert ("too short for four decimals" in outcome.err) == is_noted

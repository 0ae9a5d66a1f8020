"""Runs on both sides of a comparison, under one name or under two."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.joining import run_copies
from profile_analyze.model.joining.run_copies import SharedRuns, digests_of
from profile_analyze.report.facts.sentence_parts import reason_in_words
from tests.conftest import FIXTURES, run_command
from tests.findings.found import said
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SAME = "the same runs are compared with themselves"
ADVICE = "name other files for one side"


def side(folder: str, runs: Iterable[int], operators: int = 8) -> pa.Profile:
    return pa.join_runs(one_run(f"{folder}/{run}.json", run, operators) for run in runs)


def one_run(name: str, run: int, operators: int = 8) -> pa.Profile:
    return profile_of([Operator(f"op{n}", "Conv", 100 + run + n) for n in range(operators)], name)


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        (side("a", range(4)), side("b", range(4, 8)), None),
        (
            side("a", range(4)),
            side("b", range(4)),
            f"4 of 4 files with exactly the times of files of the baseline, such as a/0.json and "
            f"b/0.json: probably copies, so {SAME}",
        ),
        (
            side("a", range(4)),
            side("b", range(3, 9)),
            "1 of 4 files with exactly the times of a file of the baseline, such as a/3.json and "
            f"b/3.json: probably copies, so {SAME}",
        ),
        (
            one_run("a.json", 1),
            one_run("b.json", 1),
            "a.json has exactly the times of b.json of the baseline: probably copies, so " + SAME,
        ),
        (one_run("a.json", 1), one_run("b.json", 2), None),
        (
            one_run("a.json", 5),
            side("b", range(4, 6)),
            "a.json has exactly the times of b/5.json of the baseline: probably copies, so " + SAME,
        ),
        (
            side("a", range(2)),
            pa.join_runs([one_run("a/0.json", 0), one_run("b/1.json", 1)]),
            "1 file on both sides, such as a/0.json, and 1 of 2 files with exactly the times of a "
            f"file of the baseline, such as a/1.json and b/1.json: probably copies, so {SAME}",
        ),
        # Seven operators have only 14 times, which may be equal by chance.
        (side("a", range(4), operators=7), side("b", range(4), operators=7), None),
    ],
)
def test_changes_are_not_judged_if_runs_are_on_both_sides_under_other_names(
    ours: pa.Profile, theirs: pa.Profile, found: str | None
) -> None:
    comparison = pa.compare(ours, theirs)
    notes = [note for note in said(comparison.notes) if SAME in note]
    assert notes == ([] if found is None else [found])
    condition = pa.FailCondition.parse("computation > +5%", pa.Query(compared=True))
    query = pa.Query(compared=True)
    (verdict,) = pa.judge_conditions([condition], query, comparison)
    if found is None:
        assert reason_in_words(verdict).startswith("computation is N/A for ")  # no file has it
    else:
        assert reason_in_words(verdict) == f"{found}; {ADVICE}"
    # Later steps, such as splitting rows, do not change what is shared.
    assert comparison.split(["track"]).shared == comparison.shared


def test_the_command_refuses_copies_of_the_baseline(tmp_path: Path) -> None:
    base = FIXTURES / "runs/base"
    files = sorted(base.iterdir())[:4]
    for index, file in enumerate(files):
        (tmp_path / f"new{index}.json.gz").write_bytes(file.read_bytes())
    outcome = run_command(
        *(str(tmp_path), "--compare", str(base), "--fail-if", "total > +5%"),
        *("--print-only", "summary", "--notes", "few"),
    )
    found = (
        "4 of 4 files with exactly the times of files of the baseline, such as "
        f"{tmp_path}/new0.json.gz and {files[0]}: probably copies, so {SAME}"
    )
    assert outcome.code == 4
    assert outcome.out.splitlines()[-1] == f"cannot be judged: total > +5%: {found}; {ADVICE}"
    assert outcome.err.splitlines()[0] == f"note: {found}"


def test_a_copy_of_a_model_without_times_is_judged(tmp_path: Path) -> None:
    model = FIXTURES / "classifiers/smallcnn.onnx"
    copy = tmp_path / "copy.onnx"
    copy.write_bytes(model.read_bytes())
    outcome = run_command(
        str(copy), "--compare", str(model), "--fail-if", "params > +0", "--format", "json"
    )
    assert outcome.code == 0
    assert [one["outcome"] for one in json.loads(outcome.out)["gate"]] == ["passed"]


def test_digests_are_computed_once_and_only_if_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = side("a", range(2)), side("b", range(2))
    apart = one_run("a.json", 1), one_run("b.json", 2)
    computed = []

    def counted_digests(profile: pa.Profile) -> Iterator[bytes | None]:
        computed.append(profile.file)
        return digests_of(profile)

    monkeypatch.setattr(run_copies, "digests_of", counted_digests)
    assert pa.compare(*joined).mismatch is not None  # joining computed the digests
    assert pa.compare(*apart).mismatch is None  # their sums differ
    assert computed == []
    assert pa.compare(apart[0], joined[0]).shared == SharedRuns((), (("a.json", "a/1.json"),), 1)
    assert computed == ["a.json"]


def test_runs_that_were_left_out_are_not_shared() -> None:
    both = pa.with_labels(side("a", range(6)), {"side": ["new", "old", "old", "new", None, None]})
    new, old = (pa.runs_with_labels(both, f"side == {value}") for value in ("new", "old"))
    assert (new.digests, pa.compare(new, old).shared) == ((), None)
    assert pa.compare(new, new).shared == SharedRuns(("a/0.json", "a/3.json"), (), 2)

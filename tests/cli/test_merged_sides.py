"""A note says if two sides of a comparison were probably given without `--compare`."""

from __future__ import annotations

import pytest

from profile_analyze.cli.inputs.sources import notes_on_merged_sides
from tests.conftest import FIXTURES, run_command


@pytest.mark.parametrize(
    ("files", "baseline", "notes"),
    [
        (
            ("base", "changed"),
            (),
            [
                "base and changed count as runs of one profile; to compare them, write changed "
                "--compare base"
            ],
        ),
        (
            ("out/after/1.json", "out/before/1.json"),
            (),
            [
                "out/before/1.json and out/after/1.json count as runs of one profile; to compare "
                "them, write out/after/1.json --compare out/before/1.json"
            ],
        ),
        (
            ("old/1.json", "old/2.json", "my new/1.json", "my new/2.json"),
            (),
            [
                "old and my new count as runs of one profile; to compare them, write 'my new' "
                "--compare old"
            ],
        ),
        (
            ("run 1", "run 1 new"),
            (),
            [
                "run 1 and run 1 new count as runs of one profile; to compare them, write "
                "'run 1 new' --compare 'run 1'"
            ],
        ),
        (
            ("runs/baseline/", "runs/feature"),
            (),
            [
                "runs/baseline/ and runs/feature count as runs of one profile; to compare them, "
                "write runs/feature --compare runs/baseline/"
            ],
        ),
        (
            ("new/1.json", "new/2.json", "old/1.json"),
            (),
            ["old and new count as runs of one profile; to compare them, write new --compare old"],
        ),
        (
            ("Base.json.gz", "run.json.gz"),
            (),
            [
                "Base.json.gz and run.json.gz count as runs of one profile; to compare them, "
                "write run.json.gz --compare Base.json.gz"
            ],
        ),
        (("bert-base.json", "bert-large.json"), (), []),
        (("1.json", "2.json"), (), []),
        (("base", "base"), (), []),
        (("base",), (), []),
        (("base", "changed", "other"), (), []),
        (("base", "changed"), ("old",), []),
    ],
)
def test_only_names_of_two_sides_get_a_note(
    files: tuple[str, ...], baseline: tuple[str, ...], notes: list[str]
) -> None:
    assert list(notes_on_merged_sides(files, baseline)) == notes


def test_the_command_prints_the_note() -> None:
    base, changed = (str(FIXTURES / "runs" / side / "01.json.gz") for side in ("base", "changed"))
    assert run_command(base, changed, "--print-only", "summary").err == (
        f"note: {base} and {changed} count as runs of one profile; to compare them, write {changed} "
        f"--compare {base}\n"
        "note: 4 of 99 operators are in only some of the 2 runs\n"
    )

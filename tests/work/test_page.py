"""The table of kinds in docs/work.md; `python -m tests.work.test_page` updates it."""

from __future__ import annotations

from pathlib import Path

from profile_analyze.work.kinds import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "work.md"
START, END = "<!-- kinds -->\n", "<!-- end of kinds -->\n"


def table() -> str:
    rows = ["| kind | category | inputs; attributes | counts | source |", "|---|---|---|---|---|"]
    rows += [
        f"| {kind.name} | {kind.category} | {kind.inputs} | {kind.meaning} | {kind.source} |"
        for kind in KINDS.values()
    ]
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    before, rest = page.split(START)
    return before + START + table() + END + rest.split(END)[1]


def test_the_table_of_kinds_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

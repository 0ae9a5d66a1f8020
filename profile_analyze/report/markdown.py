"""GitHub's pipe tables, for an issue, a pull request or a page of documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.report.base import columns_of_groups, parts, rates
from profile_analyze.report.cells import cells_of, draw_cells
from profile_analyze.report.drawing import LIBRARIES, draw
from profile_analyze.report.labels import gate_sentence, summary_lines, summary_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Display, Report

# An underscore at the end of a word, and a dot before a letter (as in www.), mean something.
_HARMLESS: Final = re.compile(r"(?:[A-Za-z0-9 ,%/+()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|\.(?=\d))*")


class MarkdownRenderer:
    """See `Renderer`."""

    name = "markdown"
    for_programs = False
    libraries = LIBRARIES

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return (
            ("name", "type", "time", *rates(query, several_runs=several_runs))
            if query.keys is None
            else columns_of_groups(query, several_runs=several_runs)
        )

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """See `Renderer.pieces`."""
        lines = display._replace(color=False)
        return parts(
            report,
            display,
            gate=lambda verdicts: _listed(map(gate_sentence, verdicts)),
            summary=_summary,
            table=lambda result: [
                _table(
                    result,
                    report.names_of(result, self),
                    lines,
                )
            ],
        )


def _summary(summary: Summary) -> str:
    lines = [(code(name), code(value)) for name, value in summary_lines(summary)]
    table = draw(lines, style="pipe", headers=("total", "value"), right=(1,))
    sentences = summary_sentences(summary)
    return f"{table}\n\n{_listed(sentences)}" if sentences else table


def _listed(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {code(sentence)}" for sentence in sentences)


def _table(result: Result, names: Sequence[str], display: Display) -> str:
    columns = [
        cells._replace(header=code(cells.header), texts=list(map(code, cells.texts)))
        for cells in cells_of(result, names, display)
    ]
    return draw_cells(columns, style="pipe")


def code(text: str) -> str:
    """`text` as a cell. What may mean something to Markdown is put into a code span.

    Within one nothing has a meaning but the pipe, which ends the cell unless it is escaped, and
    as many backticks as begin the span.
    """
    if _HARMLESS.fullmatch(text):
        return text
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", r"\|")

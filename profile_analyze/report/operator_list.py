"""One operator a line, without numbers: made for comparing two profiles with `diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.visible import visible
from profile_analyze.report.base import parts
from profile_analyze.report.drawing import LIBRARIES
from profile_analyze.report.grid import summary_text
from profile_analyze.report.labels import gate_text, row_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.report.base import Display, Report


class OperatorListRenderer:
    """See `Renderer`."""

    name = "operators"
    for_programs = False
    libraries = LIBRARIES

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        """See `Renderer.columns`."""
        return ("name", "type", "id") if query.keys is None else (*query.by, "count")

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """See `Renderer.pieces`."""
        return parts(
            report,
            display,
            gate=gate_text,
            summary=summary_text,
            table=lambda result: [_lines(result, display)],
        )


def _lines(result: Result, display: Display) -> str:
    return "\n".join(visible(" ".join(texts), display.encoding) for texts in row_labels(result))

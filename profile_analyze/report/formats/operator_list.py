"""A list of operators without numbers, for comparing two profiles with `diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.visible import visible
from profile_analyze.report.formats.grid import GridRenderer
from profile_analyze.report.layout.labels import row_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import TableSection


class OperatorListRenderer(GridRenderer):
    """Renderer of operator lists; see `Renderer`. Only tables differ from the boxed format."""

    name = "operators"
    suffixes: tuple[str, ...] = ()

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # part of `Renderer`
        """Return the columns that identify rows; see `Renderer.columns`."""
        return ("name", "type", "id") if query.keys is None else (*query.by, "count")

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Return the label of each row, one per line."""
        labels = map(" ".join, row_labels(section.table))
        return ["\n".join(visible(label, display.encoding) for label in labels)]

"""One file an output format: an answer in, text out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QueryError
from profile_analyze.report.base import Display, Report
from profile_analyze.report.grid import GridRenderer
from profile_analyze.report.operator_list import OperatorListRenderer
from profile_analyze.report.wiki import WikiRenderer

__all__ = ["RENDERERS", "Display", "Report", "render"]

if TYPE_CHECKING:
    from collections.abc import Mapping

from profile_analyze.report.base import Renderer

RENDERERS: Final[Mapping[str, Renderer]] = {
    renderer.name: renderer for renderer in (GridRenderer(), WikiRenderer(), OperatorListRenderer())
}
"""Every output format by name."""


def render(report: Report, form: str = "table", display: Display = Display()) -> str:  # noqa: B008  # frozen
    """`report` as text in one of `RENDERERS`: `table`, `wiki` or `operators`.

    Raises `QueryError` for another `form`.
    """
    if form not in RENDERERS:
        raise QueryError(f"form: {form!r} is not one of {', '.join(RENDERERS)}")
    return "".join(RENDERERS[form].pieces(report, display))

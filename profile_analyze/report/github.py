"""Annotations for the log of a GitHub workflow: a line for each condition and for the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.labels import gate_sentence, summary_sentences
from profile_analyze.report.machine import VerdictRenderer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.base import Display, Report

_LEVELS: Final = {"met": "error", "unjudged": "warning", "passed": "notice"}
_TITLE: Final = "profile_analyze"


class GithubRenderer(VerdictRenderer):
    """See `Renderer`. Tables have no place in annotations, and are left out."""

    name = "github"

    def pieces(self, report: Report, display: Display) -> Iterator[str]:  # noqa: ARG002  # of the interface
        """See `Renderer.pieces`: an error for what is met, a warning for what is not judged."""
        for verdict in report.gate:
            yield _annotation(_LEVELS[verdict.outcome], gate_sentence(verdict))
        for sentence in summary_sentences(report.summary) if report.summary else ():
            yield _annotation("notice", sentence)


def _annotation(level: str, message: str) -> str:
    """One workflow command. What ends or begins one is escaped, as GitHub's own toolkit does."""
    text = visible(message, "utf-8").replace("%", "%25")
    return f"::{level} title={_TITLE}::{text}\n"

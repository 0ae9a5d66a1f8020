"""Annotations for the log of a GitHub workflow: a line for each condition and for the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.labels import gate_sentence
from profile_analyze.report.machine import VerdictRenderer
from profile_analyze.report.sections import Sentences, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.base import Display, Need, Report

_LEVELS: Final = {"met": "error", "unjudged": "warning", "passed": "notice"}
_TITLE: Final = "profile_analyze"


class GithubRenderer(VerdictRenderer):
    """See `Renderer`. Tables have no place in annotations, and are left out."""

    name = "github"
    needs: Need = "findings"

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # of the interface
        """See `Renderer.pieces`: an error for what is met, a warning for what is not judged."""
        return encoded(_annotations(report), "utf-8")


def _annotations(report: Report) -> Iterator[str]:
    """The verdicts come first: GitHub shows the first annotations of a step."""
    for section in report.all_of(Verdicts):
        for verdict in section.verdicts:
            yield _annotation(_LEVELS[verdict.outcome], gate_sentence(verdict))
    for sentences in report.all_of(Sentences):
        for text in sentences.texts:
            yield _annotation("notice", text)


def _annotation(level: str, message: str) -> str:
    """One workflow command. What ends or begins one is escaped, as GitHub's own toolkit does."""
    text = visible(message, "utf-8").replace("%", "%25")
    return f"::{level} title={_TITLE}::{text}\n"

"""Annotations for the log of a GitHub workflow: one line per condition and per conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.facts.sentence_parts import gate_sentence
from profile_analyze.report.formats.programs import TablelessRenderer
from profile_analyze.report.layout.times import times_for
from profile_analyze.report.sections import Sentences, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.base import Display, Need, Report

_LEVELS: Final = {
    "met": "error",
    "uncertain": "warning",
    "unjudged": "warning",
    "passed": "notice",
}
_TITLE: Final = "profile_analyze"


class GithubRenderer(TablelessRenderer):
    """Renderer of workflow annotations; see `Renderer`."""

    name = "github"
    needs: Need = "findings"

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield an annotation for each condition, and one for each conclusion."""
        return encoded(_annotations(report, display), "utf-8")


def _annotations(report: Report, display: Display) -> Iterator[str]:
    # GitHub shows only the first annotations of a step, so the verdicts come first.
    for section in report.all_of(Verdicts):
        for verdict in section.verdicts:
            yield _annotation(_LEVELS[verdict.outcome], gate_sentence(verdict))
    times = times_for(report.times_s, display.time_unit)
    for sentences in report.all_of(Sentences):
        for text in sentences.texts(times):
            yield _annotation("notice", text)


def _annotation(level: str, message: str) -> str:
    """Return one workflow command, with the escapes of GitHub's own toolkit."""
    # A command must not contain line breaks or a plain `%`. `visible` has escaped line breaks.
    text = visible(message, "utf-8").replace("%", "%25")
    return f"::{level} title={_TITLE}::{text}\n"

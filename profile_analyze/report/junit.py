"""JUnit XML, which services of continuous integration show: a test case for each condition."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from profile_analyze.model.visible import visible
from profile_analyze.report.labels import gate_reason, summary_sentences
from profile_analyze.report.machine import VerdictRenderer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.report.base import Display, Report

_SUITE = "profile_analyze"


class JunitRenderer(VerdictRenderer):
    """See `Renderer`. Conditions that are met are failures; what is not judged is skipped."""

    name = "junit"

    def pieces(self, report: Report, display: Display) -> Iterator[str]:  # noqa: ARG002  # of the interface
        """See `Renderer.pieces`."""
        outcomes = [verdict.outcome for verdict in report.gate]
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield (
            f'<testsuite name="{_SUITE}" tests="{len(outcomes)}" '
            f'failures="{outcomes.count("met")}" errors="0" '
            f'skipped="{outcomes.count("unjudged")}">\n'
        )
        yield from map(_case, report.gate)
        sentences = summary_sentences(report.summary) if report.summary else []
        if sentences:
            yield f"  <system-out>{_text(chr(10).join(sentences))}</system-out>\n"
        yield "</testsuite>\n"


def _case(verdict: FailVerdict) -> str:
    opening = f'  <testcase classname="{_SUITE}" name={_attribute(verdict.condition.text)}>\n'
    reason = gate_reason(verdict)
    inside = {
        "met": f"    <failure message={_attribute(reason)}>{_text(reason)}</failure>\n",
        "unjudged": f"    <skipped message={_attribute(reason)}/>\n",
        "passed": f"    <system-out>{_text(reason)}</system-out>\n",
    }
    return f"{opening}{inside[verdict.outcome]}  </testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_legal(text))


def _text(text: str) -> str:
    return escape("\n".join(map(_legal, text.split("\n"))))


def _legal(text: str) -> str:
    """`text` with escapes for what is not seen, in which all is that XML does not allow."""
    return visible(text, "utf-8")

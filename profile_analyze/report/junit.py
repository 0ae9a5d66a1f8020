"""JUnit XML, which services of continuous integration show: a test case for each condition."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.labels import gate_reason
from profile_analyze.report.machine import VerdictRenderer
from profile_analyze.report.sections import Sentences, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.report.base import Display, Need, Report

_SUITE = "profile_analyze"


class JunitRenderer(VerdictRenderer):
    """See `Renderer`. Conditions that are met are failures; what is not judged is skipped."""

    name = "junit"
    suffixes = (".xml",)
    needs: Need = "conditions"

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # of the interface
        """See `Renderer.pieces`."""
        return encoded(_elements(report), "utf-8")


def _elements(report: Report) -> Iterator[str]:
    verdicts = [one for section in report.all_of(Verdicts) for one in section.verdicts]
    outcomes = [verdict.outcome for verdict in verdicts]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuite name="{_SUITE}" tests="{len(outcomes)}" '
        f'failures="{outcomes.count("met")}" errors="0" '
        f'skipped="{outcomes.count("unjudged")}">\n'
    )
    yield from map(_case, verdicts)
    sentences = [text for section in report.all_of(Sentences) for text in section.texts]
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

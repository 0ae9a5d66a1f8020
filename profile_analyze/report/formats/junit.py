"""JUnit XML for continuous integration services: one test case per condition."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.facts.sentence_parts import gate_reason
from profile_analyze.report.formats.programs import TablelessRenderer
from profile_analyze.report.layout.times import times_for
from profile_analyze.report.sections import Sentences, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.report.base import Display, Need, Report

_SUITE = "profile_analyze"


class JunitRenderer(TablelessRenderer):
    """Renderer of JUnit XML; see `Renderer`.

    Conditions that are met are failed tests. Uncertain and unjudged conditions are skipped tests.
    """

    name = "junit"
    suffixes = (".xml",)
    needs: Need = "conditions"

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the XML; see `Renderer.pieces`."""
        return encoded(_elements(report, display), "utf-8")


def _elements(report: Report, display: Display) -> Iterator[str]:
    verdicts = [one for section in report.all_of(Verdicts) for one in section.verdicts]
    outcomes = [verdict.outcome for verdict in verdicts]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuite name="{_SUITE}" tests="{len(outcomes)}" '
        f'failures="{outcomes.count("met")}" errors="0" '
        f'skipped="{outcomes.count("uncertain") + outcomes.count("unjudged")}">\n'
    )
    yield from map(_test_case, verdicts)
    times = times_for(report.times_s, display.time_unit)
    sentences = [text for section in report.all_of(Sentences) for text in section.texts(times)]
    if sentences:
        conclusions = "\n".join(map(_text, sentences))
        yield f"  <system-out>{conclusions}</system-out>\n"
    yield "</testsuite>\n"


def _test_case(verdict: FailVerdict) -> str:
    opening = f'  <testcase classname="{_SUITE}" name={_attribute(verdict.condition.text)}>\n'
    reason = gate_reason(verdict)
    skipped = f"    <skipped message={_attribute(reason)}/>\n"
    outcomes = {
        "met": f"    <failure message={_attribute(reason)}>{_text(reason)}</failure>\n",
        "uncertain": skipped,
        "unjudged": skipped,
        "passed": f"    <system-out>{_text(reason)}</system-out>\n",
    }
    return f"{opening}{outcomes[verdict.outcome]}  </testcase>\n"


# XML forbids most control characters, even as entities. `visible` has escaped them all.


def _attribute(text: str) -> str:
    return quoteattr(visible(text, "utf-8"))


def _text(text: str) -> str:
    return escape(visible(text, "utf-8"))

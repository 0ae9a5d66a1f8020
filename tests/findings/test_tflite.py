"""The sentences of the rules on benchmarks of TensorFlow Lite."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested


def missing(part: str | None) -> Finding:
    return Finding.of("missing-nodes", Kind.DAMAGED, part=part, nodes=2, executed=9)


SENTENCES = (
    (
        Finding.of("cut-table", Kind.DAMAGED),
        "the file ends inside of a table, so nodes may be missing; copy it again",
    ),
    (missing(None), "the table has 2 of 9 nodes; copy the file again"),
    (missing("Subgraph 1"), "the table of Subgraph 1 has 2 of 9 nodes; copy the file again"),
    (
        Finding.of("other-benchmarks", Kind.INCOMPLETE, benchmarks=1),
        "left out 1 other benchmark in the file; write each one to a file of its own",
    ),
    (
        Finding.of("initialisation", Kind.CONTEXT, time_s=7.35e-3, nodes=2),
        "left out the initialisation: 2 nodes (7.35 ms)",
    ),
    (
        Finding.of("unowned-nodes", Kind.INCOMPLETE, nodes=1),
        "left out 1 node of subgraphs or inside of delegates: the node that ran them is unknown, "
        "or takes less time than they do",
    ),
    (
        Finding.of("closed-delegates", Kind.INCOMPLETE, share=0.363, operators=2),
        "a delegate counts as one operator if the file does not name the operators inside: "
        "2 operators (36.3% of the time)",
    ),
    (
        Finding.of("unknown-times", Kind.INCOMPLETE, share=0.0, operators=1),
        "the time of 1 operator (0.0% of the time) is unknown: the log lacks the number of runs, "
        "or the total time",
    ),
    (
        Finding.of("slow-first-run", Kind.CONTEXT, factor=1.23),
        "the means include the first run, which took 1.2 times the mean",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("tflite"), SENTENCES) == []

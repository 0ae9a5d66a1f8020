"""The sentences of the rules on a profile with a model beside it."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of(
            "matched-nodes",
            Kind.ANSWER,
            by_name=3,
            by_order=1,
            left=0,
            expected=4,
            other_shapes=0,
            doubtful=False,
            is_execution_graph=False,
            instead="",
        ),
        "3 operators matched by name, 1 by order",
    ),
    (
        Finding.of(
            "matched-nodes",
            Kind.ANSWER,
            by_name=0,
            by_order=0,
            left=0,
            expected=0,
            other_shapes=0,
            doubtful=False,
            is_execution_graph=False,
            instead="",
        ),
        "no operator matches a node of this model",
    ),
    (
        Finding.of(
            "matched-nodes",
            Kind.ANSWER,
            by_name=0,
            by_order=0,
            left=1,
            expected=1,
            other_shapes=0,
            doubtful=False,
            is_execution_graph=False,
            instead="",
            share=0.5,
        ),
        "1 operator (50.0% of the time) matches no node of this model",
    ),
    (
        Finding.of(
            "matched-nodes",
            Kind.ANSWER,
            by_name=0,
            by_order=0,
            left=2,
            expected=2,
            other_shapes=0,
            doubtful=True,
            is_execution_graph=False,
            instead="",
            share=0.5,
        ),
        "none of 2 operators (50.0% of the time) matches a node of this model; perhaps this "
        "is not the model that ran",
    ),
    (
        Finding.of(
            "matched-nodes",
            Kind.ANSWER,
            by_name=1,
            by_order=0,
            left=3,
            expected=4,
            other_shapes=2,
            doubtful=True,
            is_execution_graph=False,
            instead="",
            share=0.5,
        ),
        "1 operator matched by name, 0 by order, 3 operators (50.0% of the time) not "
        "matched; perhaps this is not the model that ran, so the work of the matched "
        "operators may be wrong; the shapes of 2 operators differ from the model's: set the "
        "model's shapes with --input-shape or --dim, if this is the model that ran",
    ),
    (
        Finding.of(
            "matched-nodes",
            Kind.ANSWER,
            by_name=1,
            by_order=0,
            left=3,
            expected=4,
            other_shapes=0,
            doubtful=False,
            is_execution_graph=True,
            instead="graph.json",
            share=0.5,
        ),
        "1 operator matched by name, 0 by order, 3 operators (50.0% of the time) not "
        "matched; perhaps this graph is of another build of the model: without --model, "
        "graph.json would describe the operators",
    ),
    (
        Finding.of(
            "other-dtype",
            Kind.WRONG,
            share=0.5,
            operators=2,
            dtype="bf16",
            described="fp32",
            is_execution_graph=True,
        ),
        "the compute dtype of 2 operators (50.0% of the time) is bf16 in the profile, but "
        "fp32 in this model: memory and bandwidth are those of fp32; perhaps this graph is "
        "of another build of the model",
    ),
    (
        Finding.of(
            "other-dtype",
            Kind.WRONG,
            share=0.5,
            operators=2,
            dtype="bf16",
            described="fp32",
            is_execution_graph=False,
        ),
        "the compute dtype of 2 operators (50.0% of the time) is bf16 in the profile, but "
        "fp32 in this model: memory and bandwidth are those of fp32",
    ),
    (
        Finding.of("whole-model-in-one-operator", Kind.CONTEXT),
        "the run is one operator, which gets the computation and the parameters of the whole model",
    ),
    (
        Finding.of("other-shapes-of-whole-model", Kind.ANSWER),
        "the shapes of the only operator are unknown, or differ from the model's: set the "
        "model's shapes with --input-shape or --dim, if this is the model that ran",
    ),
    (
        Finding.of("derived-work", Kind.CONTEXT, share=0.5, operators=2, amount="memory"),
        "the memory of 2 operators (50.0% of the time) is derived from shapes",
    ),
    (
        Finding.of("unknown-work", Kind.INCOMPLETE, share=0.5, operators=2, amount="computation"),
        "the computation of 2 operators (50.0% of the time) is unknown",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("models"), SENTENCES) == []

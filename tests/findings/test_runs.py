"""The sentences of the rules on runs, levels and parts of a profile."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("scopes-on-one-side", Kind.ANSWER, side="profile"),
        "only the profile has scopes, so an operator of the baseline may be several "
        "operators of the profile, of which at most one is matched; --aggregate-by name "
        "compares them by name",
    ),
    (
        Finding.of("scopes-on-one-side", Kind.ANSWER, side="baseline"),
        "only the baseline has scopes, so an operator of the profile may be several "
        "operators of the baseline, of which at most one is matched; --aggregate-by name "
        "compares them by name",
    ),
    (
        Finding.of("skipped-runs", Kind.CONTEXT, runs=2, first=1),
        "left out 2 runs, the first 1 of each process",
    ),
    (
        Finding.of("conflicting-work", Kind.WRONG, operators=1),
        "the runs disagree on computation or memory of 1 operator, and the first known value "
        "is used; if the runs differ in dtype, batch size or model, name those of one kind "
        "after --compare",
    ),
    (
        Finding.of("files-named-again", Kind.ANSWER, files=1),
        "files named again: 1; totals count a run each time that it is named, verdicts count "
        "it once; name each run once",
    ),
    (
        Finding.of("probable-copies", Kind.ANSWER, files=1),
        "probably copies: 1 file with exactly the times of another; totals count copies, "
        "verdicts do not; name each run once",
    ),
    (
        Finding.of(
            "few-shared-operators",
            Kind.ANSWER,
            shared=0,
            operators=9,
            runs=2,
            kinds="different models",
            scoped=[],
            others=[],
            describes_model=False,
        ),
        "none of 9 operators are in all 2 runs: these look like different models, so the "
        "totals make no sense; --aggregate-by file shows each file on its own",
    ),
    (
        Finding.of(
            "few-shared-operators",
            Kind.ANSWER,
            shared=1,
            operators=9,
            runs=2,
            kinds="different kinds of file",
            scoped=[],
            others=[],
            describes_model=True,
        ),
        "only 1 of 9 operators are in all 2 runs: these look like different kinds of file, "
        "so the totals make no sense; if one of them describes the model that ran, name it "
        "after --model; --aggregate-by file shows each file on its own",
    ),
    (
        Finding.of(
            "few-shared-operators",
            Kind.ANSWER,
            shared=1,
            operators=9,
            runs=2,
            kinds="",
            scoped=["a"],
            others=["b", "c"],
            describes_model=False,
        ),
        "only 1 of 9 operators are in all 2 runs: only a has scopes, so an operator of b and "
        "1 more may be several operators of a; --aggregate-by name counts each name once",
    ),
    (
        Finding.of(
            "few-shared-operators",
            Kind.ANSWER,
            shared=1,
            operators=9,
            runs=2,
            kinds="",
            scoped=["a", "d"],
            others=["b"],
            describes_model=False,
        ),
        "only 1 of 9 operators are in all 2 runs: only a and 1 more have scopes, so an "
        "operator of b may be several operators of a and 1 more; --aggregate-by name counts "
        "each name once",
    ),
    (
        Finding.of(
            "operators-in-some-runs",
            Kind.INCOMPLETE,
            missing=4,
            rows=99,
            level="operator",
            runs=2,
            is_default=True,
        ),
        "4 of 99 operators are in only some of the 2 runs",
    ),
    (
        Finding.of(
            "operators-in-some-runs",
            Kind.CONTEXT,
            missing=4,
            rows=99,
            level="kernel",
            runs=2,
            is_default=False,
        ),
        "4 of 99 kernels (--level kernel) are in only some of the 2 runs",
    ),
    (
        Finding.of("incomplete-ranks", Kind.WRONG, incomplete=1, runs=3, ranks=2),
        "1 of 3 runs lack executions of some of the 2 ranks, so their times are too short; "
        "record the same steps on each rank",
    ),
    (
        Finding.of(
            "waiting-ranks",
            Kind.CONTEXT,
            collective="allreduce",
            waited_s=0.003,
            runs=1,
            part=0.5,
            calls=4,
            slowest=1,
            last=3,
        ),
        "allreduce: ranks waited 3.00 ms for the slowest rank (50.0% of the time of 4 "
        "calls), which was rank 1 in 3 of them",
    ),
    (
        Finding.of(
            "waiting-ranks",
            Kind.CONTEXT,
            collective="allreduce",
            waited_s=0.003,
            runs=3,
            part=0.5,
            calls=4,
            slowest=1,
            last=3,
        ),
        "allreduce: ranks waited 1.00 ms per run on average for the slowest rank (50.0% of "
        "the time of 4 calls), which was rank 1 in 3 of them",
    ),
    (
        Finding.of("graph-launches", Kind.INCOMPLETE, share=0.5, launches=1, kernels=8),
        "1 graph launch holds 8 kernels (50.0% of the time); --level kernel shows them",
    ),
    (
        Finding.of("graph-launches", Kind.INCOMPLETE, share=0.5, launches=2, kernels=8),
        "2 graph launches hold 8 kernels (50.0% of the time); --level kernel shows them",
    ),
    (
        Finding.of("no-modules", Kind.ANSWER, share=0.9, operators=2),
        "2 operators (90.0% of the time) have no scope: the profile has hardly any modules, "
        "only steps or regions; record modules, too (for PyTorch, with with_stack=True); "
        "until then, group operators by type and shapes instead: --level operator "
        "--aggregate-by type,in_shapes",
    ),
    (
        Finding.of(
            "time-between-operators",
            Kind.INCOMPLETE,
            share=0.5,
            between_s=0.002,
            runs=1,
            has_operators=True,
        ),
        "modules and regions took 2.00 ms (50.0% of the time) outside of all operators, for "
        "example in Python code; --level operator leaves this time out",
    ),
    (
        Finding.of(
            "time-between-operators",
            Kind.INCOMPLETE,
            share=0.5,
            between_s=0.002,
            runs=2,
            has_operators=False,
        ),
        "modules and regions took 1.00 ms per run on average (50.0% of the time) outside of "
        "all operators, for example in Python code; the profile has no operators; record "
        "them, too",
    ),
    (
        Finding.of(
            "without-owner",
            Kind.INCOMPLETE,
            share=0.5,
            what="kernel",
            executions=3,
            total_s=0.006,
            runs=1,
            on_host=False,
            owner="operator",
            is_launched=True,
        ),
        "left out 3 kernels, 6.00 ms (50.0% of the time), that no operator launched; --level "
        "kernel has them",
    ),
    (
        Finding.of(
            "without-owner",
            Kind.INCOMPLETE,
            share=0.5,
            what="kernel",
            executions=3,
            total_s=0.006,
            runs=2,
            on_host=False,
            owner="operator",
            is_launched=False,
        ),
        "left out 3 kernels in 2 runs, 3.00 ms per run on average (50.0% of the time), whose "
        "launch is not in the file; --level kernel has them",
    ),
    (
        Finding.of(
            "without-owner",
            Kind.INCOMPLETE,
            what="runtime",
            executions=1,
            total_s=0.006,
            runs=1,
            on_host=True,
            owner="module",
            is_launched=True,
        ),
        "left out 1 call into the driver, 6.00 ms of host time, that ran outside of all "
        "modules; no level has them",
    ),
    (
        Finding.of(
            "without-owner",
            Kind.INCOMPLETE,
            share=0.5,
            what="operator",
            executions=3,
            total_s=0.006,
            runs=1,
            on_host=False,
            owner="module",
            is_launched=True,
        ),
        "left out 3 operators, 6.00 ms (50.0% of the time), that ran outside of all modules; "
        "--level operator has them",
    ),
    (
        Finding.of("outside-regions", Kind.CONTEXT, share=0.5, executions=2, region="'step'"),
        "2 executions (50.0% of the time) of operators outside of all regions 'step': each "
        "counts in the iteration before it, or else in the first iteration",
    ),
    (
        Finding.of("only-steps", Kind.CONTEXT, steps="1-3, 7", is_one=False, left_out=2),
        "only steps 1-3, 7; left out 2 runs",
    ),
    (
        Finding.of("only-steps", Kind.CONTEXT, steps="3", is_one=True, left_out=1),
        "only step 3; left out 1 run",
    ),
    (
        Finding.of("window", Kind.ANSWER, from_s=0.001, to_s=0.002, inside=3, executions=9),
        "only what happened from 1.00 ms to 2.00 ms: 3 of 9 executions",
    ),
    (
        Finding.of("window", Kind.ANSWER, from_s=0.0, to_s=None, inside=3, executions=9),
        "only what happened from 0 s on: 3 of 9 executions",
    ),
    (
        Finding.of("clipped-executions", Kind.WRONG, share=0.5, executions=2),
        "clipped 2 executions (50.0% of the time) at the edges of the window",
    ),
    (
        Finding.of("unknown-starts", Kind.INCOMPLETE, executions=1),
        "left out 1 execution without a start time",
    ),
    (
        Finding.of("runs-partly-inside", Kind.ANSWER, runs=1),
        "left out 1 run that is only partly inside the window: times are of whole runs",
    ),
    (
        Finding.of("runs-partly-inside", Kind.ANSWER, runs=2),
        "left out 2 runs that are only partly inside the window: times are of whole runs",
    ),
    (
        Finding.of("window-without-whole-run", Kind.ANSWER, runs=2),
        "the window has parts of 2 runs, but no whole run: times combine these parts; choose "
        "a window with a whole run, or inside of one run",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("runs"), SENTENCES) == []

"""Rules on benchmarks of TensorFlow Lite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words


def _missing_nodes(_: Words, *, part: str | None, nodes: int, executed: int) -> str:
    where = f" of {part}" if part else ""
    return f"the table{where} has {nodes} of {executed} nodes; copy the file again"


def _slow_first_run(_: Words, *, factor: float) -> str:
    return f"the means include the first run, which took {factor:.1f} times the mean"


RULES: Final = (
    Rule(
        "cut-table",
        "the file ends inside of a table",
        "the file ends inside of a table, so nodes may be missing; copy it again",
    ),
    Rule("missing-nodes", "a table has fewer nodes than the file says", _missing_nodes),
    Rule(
        "other-benchmarks",
        "the file has several benchmarks",
        "left out {benchmarks:other benchmark} in the file; write each one to a file of its own",
    ),
    Rule(
        "initialisation",
        "the file has the times of the initialisation",
        "left out the initialisation: {nodes:node}{size}",
    ),
    Rule(
        "unowned-nodes",
        "the node that ran a subgraph or the inside of a delegate is unknown",
        "left out {nodes:node} of subgraphs or inside of delegates: the node that ran them is "
        "unknown, or takes less time than they do",
    ),
    Rule(
        "closed-delegates",
        "the file does not name the operators inside of a delegate",
        "a delegate counts as one operator if the file does not name the operators inside: "
        "{operators:operator}{size}",
    ),
    Rule(
        "unknown-times",
        "the times of operators cannot be derived",
        "the time of {operators:operator}{size} is unknown: the log lacks the number of runs, or "
        "the total time",
    ),
    Rule(
        "slow-first-run",
        "the first run was slow, and the means include it",
        _slow_first_run,
        threshold="1.2 times the mean",
    ),
)

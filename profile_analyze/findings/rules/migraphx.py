"""Rules on reports of MIGraphX."""

from __future__ import annotations

from typing import Final

from profile_analyze.findings.rule import Rule

_KEEP: Final = "keep the whole output of migraphx-driver perf"


def _rows_from_summary(_: object, *, has_some: bool) -> str:
    return (
        "the rows are the groups of the report's summary, because the file "
        f"{'lacks some' if has_some else 'has no'} lines of instructions; {_KEEP}"
    )


RULES: Final = (
    Rule(
        "several-reports",
        "the file has several reports",
        "the file has {reports} reports, and only the last one is shown; write each to its own "
        "file",
    ),
    Rule(
        "totals-only",
        "the file has only totals",
        f"the file has only totals, so all instructions are one row; {_KEEP}",
    ),
    Rule(
        "rows-from-summary",
        "lines of instructions are missing, so rows are the groups of the summary",
        _rows_from_summary,
    ),
    Rule(
        "groups-without-calls",
        "the summary does not say how often the instructions of a group ran",
        "each group counts as one call, because versions of MIGraphX before 2022 do not print the "
        "number of calls",
    ),
    Rule(
        "cut-report",
        "the file ends before the time of a whole run",
        "the file ends before the time of a whole run (Total time), so instructions may be "
        f"missing; {_KEEP}",
    ),
    Rule(
        "missing-instructions",
        "the rows add up to less than the total that the report states",
        "the rows add up to {found_s:time}, but the report states a Total instructions time of "
        f"{{stated_s:time}}: the lines of other instructions are missing; {_KEEP}",
        threshold="1 % of the stated total; rounding alone makes a smaller difference",
    ),
    Rule(
        "untimed-instructions",
        "instructions have no time",
        "no time for {operators:operator}{size}: MIGraphX prints no number for instructions that "
        "it did not run",
    ),
    Rule(
        "unknown-calls",
        "the file says that instructions ran 0 times",
        "the number of calls of {operators:operator}{size} is unknown, because the file says 0; "
        "each counts as one call",
    ),
    Rule(
        "inputs-left-out",
        "the file lacks the lines of the inputs of instructions",
        "the input shapes of {operators:operator}{size} are unknown, because the file lacks the "
        f"lines of the inputs; {_KEEP}",
    ),
    Rule(
        "nested-instructions",
        "instructions ran inside other instructions",
        "{operators:operator}{size} ran inside others (if, loop): their times count once here, but "
        "twice in the report's Total instructions time; times inside a loop are means over its "
        "iterations",
    ),
)

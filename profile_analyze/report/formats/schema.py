"""The JSON Schema of the output format json, `docs/report.schema.json`.

`report.facts` has the schemas of the facts in the summary.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.findings import Kind
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import ABSENT, DEVICE, DEVICE_KINDS, EACH, HOST, LEVELS, MEAN
from profile_analyze.query.question import Query
from profile_analyze.report.facts.facts import (
    COUNT,
    GROUP_NAMES,
    NUMBER,
    TEXT,
    fact_group,
    object_schema,
)
from profile_analyze.report.formats.json_document import VERSION
from profile_analyze.views.comparison_summary import COUNTED_VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.report.facts.facts import FactGroup

# Unlike a `COUNT` of runs or processes, an amount may be 0.
_AMOUNT: Final = {"type": "integer", "minimum": 0}
_TEXTS: Final = {"type": "array", "items": TEXT}
_OPTIONAL_TEXT: Final = {"type": ["string", "null"]}
_OPTIONAL_COUNT: Final = {"type": ["integer", "null"], "minimum": 0}
_VALUE: Final = {"type": ["number", "string", "boolean", "array", "object", "null"]}
# All units of columns, see `columns/column.py`.
_UNITS: Final = ["", "1", "count", "s", "byte", "FLO", "FLO/s", "byte/s", "FLO/byte"]


def schema_text() -> str:
    """Return the schema as the text of the file."""
    return json.dumps(schema(), indent=2) + "\n"


def schema() -> dict[str, Any]:
    """Return the schema of a whole document."""
    totals, *others = map(fact_group, GROUP_NAMES)
    properties = {
        "version": _described("The version of this schema.", {"const": VERSION}),
        "profile": _or_null(_profile()),
        "base": _or_null(_base()),
        "summary": _or_null(
            _facts(totals, {group.name: _reference(group.name) for group in others})
        ),
        "inspection": _inspection(),
        "sql": _or_null(_relation()),
        "tables": _tables(),
        "gate": _described(
            "The verdict on each condition of --fail-if.",
            {"type": "array", "items": _reference("condition")},
        ),
        "notes": _described(
            "What a person should know before trusting the numbers, a sentence each.", _TEXTS
        ),
        "findings": _findings(),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What profile_analyze --format json writes",
        **object_schema(
            properties,
            "Numbers are in base units: seconds, bytes, floating-point operations (FLO), fractions "
            "of 1. null is N/A: the profile does not have the value.",
        ),
        "$defs": {
            "number": {"type": ["number", "null"]},
            "verdict": {"enum": [*COUNTED_VERDICTS, None]},
            **{group.name: _or_null(_facts(group, {})) for group in others},
            "condition": _condition(),
            "table": _table(),
        },
    }


def _findings() -> dict[str, Any]:
    return _described(
        "The notes that have a code, with their values in base units.",
        {
            "type": "array",
            "items": object_schema(
                {
                    "code": {"type": "string", "description": "The rule: docs/findings.md."},
                    "kind": {"enum": [kind.name.lower() for kind in Kind]},
                    "subjects": _described(
                        "What it is about, outermost first; empty for the whole answer.", _TEXTS
                    ),
                    "values": {"type": "object"},
                    "share": _described("The share of the time.", _reference("number")),
                    "time_s": _described("The time that it is about.", _reference("number")),
                    "text": {"type": "string"},
                }
            ),
        },
    )


def _facts(group: FactGroup, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one group of facts, with `more` properties."""
    properties = {fact.name: _described(fact.meaning, fact.schema) for fact in group.facts}
    return object_schema({**properties, **more}, group.meaning)


def _profile() -> dict[str, Any]:
    return object_schema(
        {
            **_origin(),
            "file": _described("The name of the file; with several files, their number.", TEXT),
            "files": _described("The names of all files, or of the processes in a file.", _TEXTS),
            "level": _described("The level of the rows.", {"enum": list(LEVELS)}),
            "operators": _described("The number of operators.", _AMOUNT),
            "executions": _described("The number of recorded executions.", _AMOUNT),
            "processes": COUNT,
            "runs": _described("The number of runs of all processes.", COUNT),
            "left_out": _left_out(),
            "tracks": _described(
                "Where operators ran: streams, threads and the like.",
                {"type": "array", "items": object_schema(_track())},
            ),
        },
        "The profile that was analysed; null if a report made by the library does not name it.",
    )


def _base() -> dict[str, Any]:
    return object_schema(
        {
            **_origin(),
            "file": TEXT,
            "files": _TEXTS,
            "operators": _AMOUNT,
            "processes": COUNT,
            "runs": COUNT,
            "left_out": _left_out(),
        },
        "The baseline; null without --compare.",
    )


def _left_out() -> dict[str, Any]:
    return _described(
        "The files that cannot be read (--skip-bad), each with the reason.",
        {"type": "array", "items": object_schema({"file": TEXT, "reason": TEXT})},
    )


def _inspection() -> dict[str, Any]:
    return _described(
        "All that is known about one operator (--inspect): facts, and a list of objects for each "
        "of stack, parents, children, kernels, neighbours and executions; null without --inspect.",
        {"type": ["object", "null"]},
    )


def _origin() -> dict[str, Any]:
    """Return the properties on the format of a profile, and on the kind of its times."""
    return {
        "format": _described("What wrote the profile.", TEXT),
        "format_version": _OPTIONAL_TEXT,
        "times": _described("What kind of times the profile has.", {"enum": [EACH, MEAN, ABSENT]}),
        "averaged_over": _described(
            "The number of inferences over which each time is averaged.", _OPTIONAL_COUNT
        ),
        "synchronised": _described(
            "Whether the runtime waited for each operator before it started the next, so that "
            "times include the wait.",
            {"type": "boolean"},
        ),
        "hardware": _described("What the file says about the hardware.", _OPTIONAL_TEXT),
    }


def _track() -> dict[str, Any]:
    return {
        "name": TEXT,
        "side": {"enum": [DEVICE, HOST]},
        "kind": TEXT,
        "device": _OPTIONAL_TEXT,
        "process": _OPTIONAL_TEXT,
        "rank": _OPTIONAL_COUNT,
        "device_kind": _described(
            "The kind of device; null if it is unknown or none of these.",
            {"enum": [*DEVICE_KINDS, None]},
        ),
        "threads": _described("How many CPU threads work together.", _OPTIONAL_COUNT),
    }


def _condition() -> dict[str, Any]:
    return object_schema(
        {
            "condition": _described("The condition as it was written.", TEXT),
            "outcome": _described(
                "met: beyond the limit; for times, also beyond noise. uncertain: beyond the limit, "
                "but noise may explain that. With --fail-uncertain not-ruled-out, a value within "
                "the limit is uncertain, too, if the true value may be beyond the limit. So is a "
                "condition on a verdict if operators with over 5 % of the time are uncertain. "
                "passed: within the limit. unjudged: the condition cannot be judged, for example "
                "because there are too few runs, or because the two sides do not belong together.",
                {"enum": ["met", "uncertain", "passed", "unjudged"]},
            ),
            "reason": TEXT,
            "time_s": NUMBER,
            "base_time_s": NUMBER,
            "ratio": NUMBER,
            "ratio_low": NUMBER,
            "ratio_high": NUMBER,
            "time_low_s": _described(
                "The lower end of the 95 % confidence interval of the time; null if the limit is "
                "relative to the baseline.",
                NUMBER,
            ),
            "time_high_s": _described("The upper end of the same interval.", NUMBER),
            "p_value": _described("The p-value, corrected for the number of conditions.", NUMBER),
            "unit": _described(
                "What the statistics count.", {"enum": ["runs", "processes", "iterations"]}
            ),
            "amount": _described(
                "The amount of work, in the unit of its column; null for conditions on times.",
                NUMBER,
            ),
            "base_amount": _described("The amount of work in the baseline.", NUMBER),
        }
    )


def _tables() -> dict[str, Any]:
    return _described(
        "The tables that were asked for. Tables of the same name differ in their measure.",
        {"type": "array", "items": _reference("table")},
    )


def _table() -> dict[str, Any]:
    return object_schema(
        {
            "name": _described("What the rows are: operators, groups or other rows.", TEXT),
            "measure": _described(
                "Which time: on the device (time) or host (host_time); the median device time of "
                "all inferences, if `time` is their mean (time_median); until the first kernel "
                "(wait, host_wait); from the end of the launching call to the start of the work "
                "(queue); without the executions nested inside (self); how long the thread of the "
                "operator waited for other threads or for the device (thread_wait); null for other "
                "rows than operators and groups.",
                {"enum": [*MEASURES, None]},
            ),
            "query": _described(
                "The question: the fields of the library's Query by name. All columns of groups "
                "use the first of its aggregates other than count. For other rows than operators "
                "and groups: where, order and top, or null for all rows.",
                {
                    "type": ["object", "null"],
                    "anyOf": [
                        {"required": [field.name for field in fields(Query)]},
                        {"required": ["where", "order", "top"], "maxProperties": 3},
                    ],
                },
            ),
            "matched": _described(
                "The number of operators, or else of rows, that passed the filters.", _AMOUNT
            ),
            "available": _described("The number of rows before --top was applied.", _AMOUNT),
            "shown": _described("The number of rows in this table.", _AMOUNT),
            "columns": _described(
                "By default, the last column of operators is key: rows with the same key in two "
                "answers about a file are of the same operator.",
                {"type": "array", "items": _column()},
            ),
            "rows": _described(
                "A value for each column: a number, a text, a truth value, null, shapes as lists "
                "of lists of integers, strides likewise with null for a contiguous tensor, "
                "parameters as an object.",
                {"type": "array", "items": {"type": "array", "items": _VALUE}},
            ),
        },
        "The rows of one answer.",
    )


def _relation() -> dict[str, Any]:
    return object_schema(
        {
            "columns": {"type": "array", "items": _column()},
            "rows": _described(
                "A value for each column: a number, a text, a truth value or null.",
                {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "items": {"type": ["number", "string", "boolean", "null"]},
                    },
                },
            ),
        },
        "The answer to an SQL query; null without --sql.",
    )


def _column() -> dict[str, Any]:
    return object_schema(
        {
            "name": TEXT,
            "unit": _described(
                "Empty for texts and identifiers, 1 for bare numbers and fractions, count for "
                "counts of MACs and parameters.",
                {"enum": _UNITS},
            ),
        }
    )


def _described(meaning: str, plain_schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": meaning, **plain_schema}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _or_null(plain_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `plain_schema`, which must have a single type, with null as a second type."""
    return {**plain_schema, "type": [plain_schema["type"], "null"]}

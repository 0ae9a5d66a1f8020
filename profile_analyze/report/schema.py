"""The JSON Schema of the output format json: docs/report.schema.json.

The schema of the summary is made from the register of facts.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import ABSENT, DEVICE, EACH, HOST, LEVELS, MEAN
from profile_analyze.query.question import Query
from profile_analyze.report.facts import COUNT, GROUPS, NUMBER, TEXT, object_schema
from profile_analyze.report.json_forms import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.report.facts import FactGroup

_AMOUNT: Final = {"type": "integer", "minimum": 0}
_TEXTS: Final = {"type": "array", "items": TEXT}
_OPTIONAL_TEXT: Final = {"type": ["string", "null"]}
_OPTIONAL_COUNT: Final = {"type": ["integer", "null"], "minimum": 0}
_UNITS: Final = ["", "1", "s", "byte", "FLO", "FLO/s", "byte/s", "FLO/byte"]


def schema_text() -> str:
    """The schema as the file has it."""
    return json.dumps(schema(), indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The schema of a whole document."""
    totals, *others = GROUPS
    properties = {
        "version": _said("The version of this schema.", {"const": VERSION}),
        "profile": _or_null(_profile()),
        "base": _or_null(_base()),
        "summary": _or_null(_facts(totals, {group.name: _defined(group.name) for group in others})),
        "tables": _said(
            "The tables that were asked for. Tables of the same name differ in their measure.",
            {"type": "array", "items": _defined("table")},
        ),
        "gate": _said(
            "The verdict on each --fail-if.", {"type": "array", "items": _defined("condition")}
        ),
        "notes": _said(
            "What a person should know before trusting the numbers, a sentence each.", _TEXTS
        ),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What profile_analyze --format json writes",
        **object_schema(
            properties,
            "Numbers are in base units: seconds, bytes, floating-point operations (FLO), fractions "
            "of 1. null is N/A: the profile does not say.",
        ),
        "$defs": {
            "number": {"type": ["number", "null"]},
            "verdict": {
                "enum": [*("slower", "faster", "same", "uncertain"), *("added", "removed"), None]
            },
            **{group.name: _or_null(_facts(group, {})) for group in others},
            "condition": _condition(),
            "table": _table(),
        },
    }


def _facts(group: FactGroup, further: Mapping[str, Any]) -> dict[str, Any]:
    """The object of one group of facts."""
    properties = {fact.name: _said(fact.meaning, fact.schema) for fact in group.facts}
    return object_schema({**properties, **further}, group.meaning)


def _profile() -> dict[str, Any]:
    return object_schema(
        {
            **_origin(),
            "file": _said("The name of the file; with several files, their number.", TEXT),
            "files": _said("The names of all files, or of all processes.", _TEXTS),
            "level": _said("The level of the rows.", {"enum": list(LEVELS)}),
            "operators": _said("The number of operators.", _AMOUNT),
            "executions": _said("The number of recorded executions.", _AMOUNT),
            "processes": COUNT,
            "runs": _said("The number of runs of all processes.", COUNT),
            "tracks": _said(
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
        },
        "The baseline; null without --compare.",
    )


def _origin() -> dict[str, Any]:
    """Where a profile is from, and what kind of times it has."""
    return {
        "format": _said("What wrote the profile.", TEXT),
        "format_version": _OPTIONAL_TEXT,
        "times": _said("What kind of times it has.", {"enum": [EACH, MEAN, ABSENT]}),
        "averaged_over": _said("How many inferences times are averaged over.", _OPTIONAL_COUNT),
        "hardware": _said("What the file says about the hardware.", _OPTIONAL_TEXT),
    }


def _track() -> dict[str, Any]:
    return {
        "name": TEXT,
        "side": {"enum": [DEVICE, HOST]},
        "kind": TEXT,
        "device": _OPTIONAL_TEXT,
        "process": _OPTIONAL_TEXT,
        "rank": _OPTIONAL_COUNT,
    }


def _condition() -> dict[str, Any]:
    return object_schema(
        {
            "condition": _said("As it was written.", TEXT),
            "outcome": {"enum": ["met", "passed", "unjudged"]},
            "reason": TEXT,
            "time_s": NUMBER,
            "base_time_s": NUMBER,
            "ratio": NUMBER,
            "ratio_low": NUMBER,
            "ratio_high": NUMBER,
            "time_low_s": _said(
                "The lower end of the 95 % confidence interval of the time; null if the limit is "
                "relative to the baseline.",
                NUMBER,
            ),
            "time_high_s": _said("The upper end of that interval.", NUMBER),
            "p_value": _said("Corrected for the number of conditions.", NUMBER),
            "unit": _said(
                "What the statistics count.", {"enum": ["runs", "processes", "iterations"]}
            ),
        }
    )


def _table() -> dict[str, Any]:
    column = object_schema(
        {
            "name": TEXT,
            "unit": _said(
                "Empty for texts and identifiers, 1 for bare numbers and fractions.",
                {"enum": _UNITS},
            ),
        }
    )
    return object_schema(
        {
            "name": _said("What the rows are.", {"enum": ["operators", "groups"]}),
            "measure": _said(
                "Which time: on the device (time) or host (host_time); until the first kernel "
                "(wait, host_wait); from the end of the launching call to the start (queue); "
                "without the executions nested inside (self).",
                {"enum": list(MEASURES)},
            ),
            "query": _said(
                "The question: the fields of the library's Query by name. The first of aggregates "
                "other than count applies to all columns of a group.",
                {"type": "object", "required": [field.name for field in fields(Query)]},
            ),
            "matched": _said("The number of operators that passed the filters.", _AMOUNT),
            "available": _said(
                "The number of rows (operators or groups) before --top was applied.",
                _AMOUNT,
            ),
            "shown": _said("The number of rows in this table.", _AMOUNT),
            "columns": {"type": "array", "items": column},
            "rows": _said(
                "A value for each column: a number, a text, null, shapes as lists of lists of "
                "integers, strides likewise with null for a contiguous tensor, parameters as an "
                "object.",
                {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "items": {"type": ["number", "string", "array", "object", "null"]},
                    },
                },
            ),
        },
        "The rows of one answer.",
    )


def _said(meaning: str, schema_of_it: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": meaning, **schema_of_it}


def _defined(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _or_null(schema_of_it: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema_of_it, "type": [schema_of_it["type"], "null"]}

"""The register of facts: each entry reaches every format and the schema."""

from __future__ import annotations

import csv
import io
import json

import jsonschema
import pytest

import profile_analyze as pa
from profile_analyze.report.facts import totals as totals_facts
from profile_analyze.report.facts.facts import GROUP_NAMES, NUMBER, Fact, FactGroup, fact_group
from profile_analyze.report.formats.schema import schema, schema_text
from tests.report.json_schema import SCHEMA, check_report
from tests.report.test_whole_reports import REPORTS
from tests.small import Operator, profile_of

GROUPS = [fact_group(name) for name in GROUP_NAMES]
ALL = [(group, fact) for group in GROUPS for fact in group.facts]


def test_the_schema_file_matches_the_register() -> None:
    """`python -m tests.report.test_facts` updates the file."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", REPORTS)
def test_whole_reports_match_the_schema(name: str) -> None:
    check_report(json.loads(pa.render(REPORTS[name](), "json")))


def test_names_are_unique() -> None:
    names = [fact.name for _, fact in ALL]
    assert len(names) == len(set(names))
    assert not set(names) & set(GROUP_NAMES)


def test_groups_are_registered_by_their_names() -> None:
    assert tuple(group.name for group in GROUPS) == GROUP_NAMES


@pytest.mark.parametrize("fact", [fact for _, fact in ALL], ids=lambda fact: fact.name)
def test_only_numbers_have_a_unit_in_their_name(fact: Fact) -> None:
    if fact.name.endswith(("_s", "_flo", "_bytes")):
        assert fact.schema == NUMBER


@pytest.mark.parametrize(("group", "fact"), ALL, ids=lambda one: one.name)
def test_people_see_every_fact(group: FactGroup, fact: Fact) -> None:
    def is_shown(one: Fact) -> bool:
        return any((one.text, one.lines, one.sentences))

    companion = {one.name: one for one in group.facts}.get(fact.shown_with)
    assert is_shown(fact) == (companion is None)
    assert companion is None or is_shown(companion)
    assert bool(fact.label) == bool(fact.text)


NEW = Fact(
    "idle_time_s",
    "How long the device had nothing to do.",
    lambda _: 0.25,
    label="idle",
    text=lambda *_: "0.25 s",
    sentences=lambda *_: iter(["a quarter is idle"]),
)

WITH_NEW = {
    "table": """\
-----------------  ------
total device time  1e-06
total host time    N/A
idle               0.25 s
-----------------  ------
a quarter is idle
""",
    "plain": """\
total device time  1.000 us
total host time    N/A
idle               0.25 s
a quarter is idle
""",
    "markdown": """\
| total             |    value |
|:------------------|---------:|
| total device time | 1.000 us |
| total host time   |      N/A |
| idle              |   0.25 s |

- a quarter is idle
""",
    "wiki": """\
| name              | value   |
|-------------------|---------|
| total device time | 1e-06   |
| total host time   | N/A     |
| idle              | 0.25 s  |

a quarter is idle
""",
    "github": "::notice title=profile_analyze::a quarter is idle\n",
}


def test_a_new_fact_needs_only_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = totals_facts.GROUP
    monkeypatch.setattr(totals_facts, "GROUP", totals._replace(facts=(*totals.facts, NEW)))
    report = pa.Report.of(pa.summarise(profile_of([Operator("a", "T", 1)])))
    for output_format, text in WITH_NEW.items():
        assert pa.render(report, output_format) == text
    assert pa.render(report, "operators") == WITH_NEW["table"]
    assert "<system-out>a quarter is idle</system-out>" in pa.render(report, "junit")
    names, values = csv.reader(io.StringIO(pa.render(report, "csv")))
    assert dict(zip(names, values, strict=True))["idle_time_s"] == "0.25"
    assert json.loads(pa.render(report, "jsonl"))["idle_time_s"] == 0.25
    document = json.loads(pa.render(report, "json"))
    assert document["summary"]["idle_time_s"] == 0.25
    jsonschema.validate(document, schema())
    assert schema()["properties"]["summary"]["properties"]["idle_time_s"] == {
        "description": "How long the device had nothing to do.",
        "$ref": "#/$defs/number",
    }


def test_json_has_the_values_of_a_comparison() -> None:
    comparison = json.loads(pa.render(REPORTS["types"](), "json"))["summary"]["comparison"]
    assert comparison["largest_differences_by"] == ["type"]
    assert [one["label"] for one in comparison["called"]] == ["Conv", "Relu"]
    assert comparison["called"][0]["ratio"] == pytest.approx(234 / 202)
    assert comparison["verdicts"] == {
        "slower": 1,
        "faster": 1,
        "added": 1,
        "removed": 1,
        "same": 1,
        "uncertain": 1,
    }


if __name__ == "__main__":  # updates the file; review the difference
    SCHEMA.write_text(schema_text(), encoding="utf-8")

"""The register of facts: what an entry says reaches every format, and the schema."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

import profile_analyze as pa
from profile_analyze.report import facts
from profile_analyze.report.schema import schema, schema_text
from tests.conftest import ROOT
from tests.report.test_whole_reports import REPORTS
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from profile_analyze.report.facts import Fact

SCHEMA = ROOT / "docs" / "report.schema.json"
ALL = [(group, fact) for group in facts.GROUPS for fact in group.facts]


def test_the_schema_is_what_the_register_says() -> None:
    """`python -m tests.report.test_facts` writes it anew."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", REPORTS)
def test_whole_reports_are_as_the_schema_says(name: str) -> None:
    jsonschema.validate(json.loads(pa.render(REPORTS[name](), "json")), schema())


def test_names_are_of_one_fact_each() -> None:
    names = [fact.name for _, fact in ALL]
    assert len(names) == len(set(names))
    assert not set(names) & {group.name for group in facts.GROUPS}


@pytest.mark.parametrize("fact", [fact for _, fact in ALL], ids=lambda fact: fact.name)
def test_the_name_says_the_unit(fact: Fact) -> None:
    endings = {"s": "_s", "FLO": "_flo", "byte": "_bytes"}
    assert fact.unit in (*endings, "1", "")
    for unit, ending in endings.items():
        assert fact.name.endswith(ending) == (fact.unit == unit)
    assert (fact.schema in (facts.NUMBER, facts.COUNT)) == (fact.unit != "")


@pytest.mark.parametrize(("group", "fact"), ALL, ids=lambda one: one.name)
def test_people_are_told_every_fact(group: facts.FactGroup, fact: Fact) -> None:
    def is_told(one: Fact) -> bool:
        return any((one.text, one.lines, one.sentences))

    teller = {one.name: one for one in group.facts}.get(fact.told_with)
    assert is_told(fact) == (teller is None)
    assert teller is None or is_told(teller)
    assert bool(fact.label) == bool(fact.text)


NEW = facts.Fact(
    "idle_time_s",
    "s",
    "How long the device had nothing to do.",
    lambda _: 0.25,
    facts.NUMBER,
    label="idle",
    text=lambda _: "0.25 s",
    sentences=lambda _: iter(["a quarter is idle"]),
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
total device time  1e-06
total host time    N/A
idle               0.25 s
a quarter is idle
""",
    "markdown": """\
| total             |   value |
|:------------------|--------:|
| total device time |   1e-06 |
| total host time   |     N/A |
| idle              |  0.25 s |

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


def test_a_new_fact_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    totals, *others = facts.GROUPS
    groups = (totals._replace(facts=(*totals.facts, NEW)), *others)
    monkeypatch.setattr(facts, "GROUPS", groups)
    monkeypatch.setattr("profile_analyze.report.schema.GROUPS", groups)
    report = pa.Report.of(pa.summarise(profile_of([Operator("a", "T", 1)])))
    for form, text in WITH_NEW.items():
        assert pa.render(report, form) == text
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


def test_the_values_of_a_comparison() -> None:
    found = json.loads(pa.render(REPORTS["types"](), "json"))["summary"]["comparison"]
    assert found["largest_differences_by"] == ["type"]
    assert [one["label"] for one in found["called"]] == ["Conv", "Relu"]
    assert found["called"][0]["ratio"] == pytest.approx(224 / 202)
    assert found["verdicts"] == {
        "slower": 1,
        "faster": 1,
        "added": 1,
        "removed": 1,
        "same": 1,
        "uncertain": 1,
    }


if __name__ == "__main__":  # writes the schema anew, to be looked at as a difference
    SCHEMA.write_text(schema_text(), encoding="utf-8")

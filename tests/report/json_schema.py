"""Checks whether a JSON report matches docs/report.schema.json."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema

from tests.conftest import ROOT

SCHEMA = ROOT / "docs" / "report.schema.json"


def check_report(document: Any) -> None:
    """Raise `jsonschema.ValidationError` if the decoded report does not match the schema."""
    _validator().validate(document)


@cache
def _validator() -> jsonschema.Draft202012Validator:
    # `jsonschema.validate` would check the schema itself each time, which takes far longer.
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))

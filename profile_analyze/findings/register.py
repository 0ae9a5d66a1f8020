"""The register of all rules."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from profile_analyze.findings.rule import Rule

FAMILIES: Final = (
    "profile_analyze.findings.rules.runs",
    "profile_analyze.findings.rules.models",
    "profile_analyze.findings.rules.comparison",
    "profile_analyze.findings.rules.megengine",
    "profile_analyze.findings.rules.migraphx",
    "profile_analyze.findings.rules.onnx",
    "profile_analyze.findings.rules.openvino",
    "profile_analyze.findings.rules.command",
    "profile_analyze.findings.rules.files",
    "profile_analyze.findings.rules.onnxruntime",
    "profile_analyze.findings.rules.pytorch",
    "profile_analyze.findings.rules.totals",
    "profile_analyze.findings.rules.question",
    "profile_analyze.findings.rules.filters",
    "profile_analyze.findings.rules.comparison_times",
    "profile_analyze.findings.rules.roofline",
    "profile_analyze.findings.rules.tensorrt",
    "profile_analyze.findings.rules.tflite",
)
"""The modules with rules, the most frequent first. A lookup imports them one by one."""


def all_rules() -> Iterator[Rule]:
    """Yield all rules, family by family."""
    for family in FAMILIES:
        yield from _rules_of(family).values()


def families() -> Iterator[tuple[str, Collection[Rule]]]:
    """Yield the title of each family, from the docstring of its module, and its rules."""
    for family in FAMILIES:
        title = (import_module(family).__doc__ or "").partition("\n")[0]
        yield title.removeprefix("Rules on ").rstrip("."), _rules_of(family).values()


def rule_of(code: str) -> Rule:
    """Return the rule with this code. Raises `KeyError` if there is none."""
    if (rule := find_rule(code)) is None:
        raise KeyError(code)
    return rule


def find_rule(code: str) -> Rule | None:
    """Return the rule with this code; None if there is none."""
    for family in FAMILIES:
        if rule := _rules_of(family).get(code):
            return rule
    return None


@cache
def _rules_of(family: str) -> Mapping[str, Rule]:
    """Return the rules of one family by their codes."""
    rules: tuple[Rule, ...] = import_module(family).RULES
    return {rule.code: rule for rule in rules}

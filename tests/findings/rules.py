"""Which rules have a test of their sentence."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.model.findings import Finding


def codes_of(family: str) -> list[str]:
    """Return the codes of the rules in a module of `findings/rules`."""
    return [rule.code for rule in import_module(f"profile_analyze.findings.rules.{family}").RULES]


def untested(codes: Iterable[str], sentences: Iterable[tuple[Finding, str]]) -> list[str]:
    """Return the codes that no finding has."""
    tested = {finding.code for finding, _ in sentences}
    return [code for code in codes if code not in tested]

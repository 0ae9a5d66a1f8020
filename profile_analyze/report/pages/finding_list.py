"""The list of all findings, for `--findings help` and `docs/findings.md`, and the page on one."""

from __future__ import annotations

from textwrap import TextWrapper
from typing import TYPE_CHECKING, Final

from profile_analyze.findings.register import families

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.findings.rule import Rule

_WRAPPER: Final = TextWrapper(
    100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)
_INTRODUCTION: Final = """\
# Findings

What an answer says besides its numbers, by code. `--notes all` prints all findings,
`--findings CODE` only these, and `--ignore CODE` leaves some out. `--explain CODE` with a profile
shows the values of this finding. In json, `findings` has the code, kind, values and sentence of
each.

The kinds, the most important first: `damaged` (the file lacks something), `answer` (the answer may
not be what was meant), `wrong` (numbers are not what they seem), `incomplete` (numbers are
missing), `context` (how to read the numbers).
"""


def finding_list() -> str:
    """Return the page as Markdown, with a section for each family of rules."""
    sections = (
        f"## {title[0].upper()}{title[1:]}\n\n{''.join(map(_entry, rules))}"
        for title, rules in families()
    )
    return "\n".join([_INTRODUCTION, *sections])


def _entry(rule: Rule) -> str:
    return _WRAPPER.fill(f"- `{rule.code}`: {' '.join(_clauses(rule))}") + "\n"


def rule_page(rule: Rule) -> Iterator[str]:
    """Yield the lines that `--explain CODE` prints without a profile."""
    yield f"{rule.code}: {rule.tests}"
    yield from (f"  {clause}" for clause in _clauses(rule)[1:])


def _clauses(rule: Rule) -> list[str]:
    """Return when there is such a finding, its threshold and its limits, as sentences."""
    first = f"{rule.tests[0].upper()}{rule.tests[1:]}."
    threshold = f"Threshold: {rule.threshold}." if rule.threshold else ""
    limits = f"It cannot know {rule.limits}." if rule.limits else ""
    return [one for one in (first, threshold, limits) if one]

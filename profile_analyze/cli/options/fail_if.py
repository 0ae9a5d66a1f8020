"""`--fail-if` and `--fail-uncertain`: which conditions are judged, and which outcomes fail a call.

Calls without conditions do not import this module, because it imports the statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.gate.conditions import FailCondition
from profile_analyze.gate.judge import judge_conditions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query

_NOT_RULED_OUT: Final = "not-ruled-out"
_FAILING_OUTCOMES: Final[Mapping[str | None, frozenset[str]]] = {
    # With this value, a condition is `uncertain` unless a change beyond the limit is ruled out.
    _NOT_RULED_OUT: frozenset({"uncertain", "unjudged"}),
    "yes": frozenset({"uncertain", "unjudged"}),
    "unjudged": frozenset({"unjudged"}),
    "no": frozenset(),
    # `uncertain` is not in the default: by chance, a median is often slightly beyond the limit,
    # and this must not make a pipeline fail.
    None: frozenset({"unjudged"}),
}
"""For each value of `--fail-uncertain`, the outcomes that lead to exit code 4."""


class Gate(NamedTuple):
    """The conditions that decide the exit code."""

    conditions: tuple[FailCondition, ...]
    uncertain: str | None
    """The value of `--fail-uncertain`; None if it is not given."""

    @classmethod
    def of(cls, arguments: argparse.Namespace, query: Query) -> Gate:
        """Parse the conditions, which are about the operators of `query`. Raises `QueryError`."""
        try:
            # A repeated condition counts once: p-values are corrected for the number of conditions.
            texts = dict.fromkeys(arguments.fail_if)
            conditions = tuple(FailCondition.parse(text, query) for text in texts)
        except QueryError as error:
            raise QueryError(f"argument --{error}") from None  # the message begins with `fail-if`
        return cls(conditions, arguments.fail_uncertain)

    @property
    def failing_outcomes(self) -> frozenset[str]:
        """The outcomes of conditions that lead to exit code 4."""
        return _FAILING_OUTCOMES[self.uncertain]

    def judge(self, query: Query, source: Profile | Comparison) -> tuple[FailVerdict, ...]:
        """Return the verdict on each condition."""
        strict = self.uncertain == _NOT_RULED_OUT
        verdicts = judge_conditions(self.conditions, query, source, strict=strict)
        return verdicts if self.uncertain else tuple(map(_with_option, verdicts))


def _with_option(verdict: FailVerdict) -> FailVerdict:
    """Return the verdict. If it is uncertain, its advice names the option that fails the call."""
    if verdict.outcome != "uncertain":
        return verdict
    option = "--fail-uncertain yes makes the exit status 4"
    return verdict._replace(advice=f"{verdict.advice}; {option}")

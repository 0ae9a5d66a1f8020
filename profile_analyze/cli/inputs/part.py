"""The part of a profile that a call analyses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.units import short_time

if TYPE_CHECKING:
    import argparse


class Part(NamedTuple):
    """The part of a profile to analyse. A field is None if its option is not given."""

    from_s: float | None = None
    to_s: float | None = None
    steps: tuple[int, int] | None = None
    """The first and the last step."""
    step_region: str | None = None
    """The region whose executions are the steps."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Part:
        """Return the part that the options name. Raises `QueryError` if nothing can be in it."""
        low, high = arguments.from_s or 0.0, arguments.to_s
        if high is not None and not low < high:
            raise QueryError(
                f"argument --to: {short_time(high)} is not after --from, {short_time(low)}; "
                "nothing is between them"
            )
        return cls(arguments.from_s, arguments.to_s, arguments.steps, arguments.step_region)


WHOLE: Final = Part()

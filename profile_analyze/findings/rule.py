"""What a rule is: the code of a finding, what it means, and its sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from profile_analyze.model.findings import Size


class Words(Protocol):
    """Writes the quantities of one sentence, times in the unit that the user chose."""

    size: Size
    """The size of the finding."""

    @property
    def sized(self) -> str:
        """The size in parentheses, after a blank: ` (12.3% of the time)`; empty if unknown."""

    def time(self, time_s: float | None) -> str:
        """Return a time with its unit: `12.2 ms`; N/A for None."""


Says: TypeAlias = Callable[..., str]
"""Returns the sentence. The arguments are `Words`, and the values of the finding by name."""


class Rule(NamedTuple):
    """A kind of finding."""

    code: str
    """The stable name, in kebab case. JSON, `--ignore` and `--explain` use it."""
    tests: str
    """When there is such a finding, without a full stop: `launches lack kernels`."""
    says: str | Says
    """The sentence: a function, or a text with the names of values in braces.

    `{count}`            the value as text
    `{time_s:time}`      a time with its unit
    `{part:percent}`     a fraction as a percentage
    `{events:event}`     a count with its noun; `{rows:entry|entries}` names the plural, too
    `{events:has/have}`  the first word for 1, the second for other counts
    `{names:list}`       several texts, with commas
    `{size}`             the share of the time or the time, in parentheses after a blank
    """
    threshold: str = ""
    """The limit from which on there is a finding, and where the limit comes from."""
    limits: str = ""
    """What the rule cannot know."""
    brief: Says | None = None
    """The sentence after a subject that the reader knows, such as the condition that it is about;
    None if the whole sentence suits."""
    advice: Says | None = None
    """What to do, if `brief` does not say so."""

"""Findings: what a person should know about an answer, as data.

Code that sees a fact records a finding: a code with numbers and names in base units. The rule with
this code (`findings/rules`) says what the finding means, and makes the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Value: TypeAlias = "str | float | bool | tuple[Value, ...] | None"
"""A number in base units, a name, a truth value, or several of these; None means N/A."""

Certainty: TypeAlias = Literal["measured", "bound", "guess"]

Beside: TypeAlias = Literal["", "model", "profile", "fewer runs"]


class Kind(IntEnum):
    """The kinds of findings. Checks, from `DAMAGED` on, are in the order of their importance."""

    GAIN = -1
    """Time could be saved: `Finding.gain_s`."""
    CHANGE = 0
    """Something differs from the baseline by more than noise."""
    DAMAGED = 1
    """The file is truncated, or lacks some of its rows. Times may be too short, so conditions of
    `--fail-if` cannot be judged."""
    ANSWER = 2
    """The answer may mislead: it is empty, or it may not answer the question that was meant. For
    example, a model matches only some operators."""
    WRONG = 3
    """Some numbers are wrong, or are not what they seem to be."""
    INCOMPLETE = 4
    """Some numbers are missing: they are N/A or were left out."""
    CONTEXT = 5
    """How to read numbers that are right and complete."""


class Subject(NamedTuple):
    """What a finding is about, other than the whole answer: a side, or files."""

    kind: Literal["side", "both sides", "file", "files", "each file"]
    name: str = ""
    """The name of the side, or of the first file."""
    files: int = 1
    """The number of files."""


class Size(NamedTuple):
    """How much time a finding is about; NaN if it is not known."""

    share: float = nan
    """The share of the time, from 0 to 1."""
    time_s: float = nan


NO_SIZE: Final = Size()
BASELINE: Final = Subject("side", "baseline")
BOTH_SIDES: Final = Subject("both sides")
"""The subject of a finding that stands for two: one on the profile, and one on the baseline."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should know: the code of a rule, and its values."""

    code: str
    """The stable name of the rule, such as `lost-kernels`."""
    kind: Kind
    values: tuple[tuple[str, Value], ...] = ()
    """The names and values that the sentence needs. Names of quantities end with their unit."""
    size: Size = NO_SIZE
    of_base: Size | None = None
    """The size in the baseline, if the subject is `BOTH_SIDES`."""
    gain_s: float = nan
    """The most time that a run or step could save; NaN if it is not known."""
    certainty: Certainty = "measured"
    """Whether `gain_s` is measured, an upper bound or a guess."""
    where: str = ""
    """The condition that selects the rows in question, as for `--where`; empty for no rows."""
    subjects: tuple[Subject, ...] = ()
    """What the finding is about, the outermost first; empty for the whole answer."""
    dropped_beside: Beside = ""
    """What makes the finding untrue; empty for nothing. `model`: a finding on a profile is dropped
    once a model fills in the missing facts. `profile`: a finding on a model is dropped once the
    model is added to a profile. `fewer runs`: a finding that counts runs is replaced once runs are
    left out."""

    def __post_init__(self) -> None:
        # A NaN equals only itself: with one NaN for all, equal findings are equal.
        for name in ("size", "of_base", "gain_s"):
            object.__setattr__(self, name, _with_one_nan(getattr(self, name)))

    def __reduce__(self) -> tuple[type[Finding], tuple[Any, ...]]:
        # Worker processes send findings to the main process by pickle.
        return Finding, tuple(getattr(self, one.name) for one in fields(self))

    @classmethod
    def of(
        cls,
        code: str,
        kind: Kind,
        *,
        share: float = nan,
        time_s: float = nan,
        dropped_beside: Beside = "",
        **values: Any,
    ) -> Finding:
        """Make a finding with the values that the sentence of its rule needs.

        NumPy's numbers become Python's, and sequences become tuples.
        """
        return cls(
            code,
            kind,
            tuple((name, as_value(value)) for name, value in values.items()),
            Size(*(nan if isnan(one) else float(one) for one in (share, time_s))),  # one NaN
            dropped_beside=dropped_beside,
        )

    @property
    def importance(self) -> Kind:
        """The kind, under the name that older notes use."""
        return self.kind

    @property
    def share(self) -> float:
        """The share of the time that the finding is about, from 0 to 1; NaN if it is not known."""
        return self.size.share

    @property
    def without_size(self) -> Finding:
        """The finding without its size, which differs between runs of one model."""
        return replace(self, size=NO_SIZE, of_base=None)

    def with_share(self, share: float) -> Finding:
        """Return the same finding with another share of the time."""
        return replace(self, size=Size(share))

    def with_size(self, size: Size) -> Finding:
        """Return the same finding with another size."""
        return replace(self, size=size)

    def about(self, subject: Subject) -> Finding:
        """Return the finding with a subject in front of the others."""
        return replace(self, subjects=(subject, *self.subjects))

    def on_both_sides(self, of_base: Finding) -> Finding:
        """Return one finding in place of this one and the same finding on the baseline."""
        return replace(self.about(BOTH_SIDES), of_base=of_base.size)

    def __getitem__(self, name: str) -> Value:
        """Return a value by its name. Raises `KeyError`."""
        return dict(self.values)[name]


def on_operators(
    code: str,
    kind: Kind,
    count: int,
    share: float,
    *,
    dropped_beside: Beside = "",
    **values: Any,
) -> Iterator[Finding]:
    """Yield a finding on `count` operators and their share of the time; none for 0 operators.

    The rule gets the count as `operators`.
    """
    if count:
        yield Finding.of(
            code, kind, share=share, dropped_beside=dropped_beside, operators=count, **values
        )


def mean_size(sizes: Sequence[Size]) -> Size:
    """Return the mean of the sizes of one finding in several files."""
    count = len(sizes)
    return Size(sum(one.share for one in sizes) / count, sum(one.time_s for one in sizes) / count)


def _with_one_nan(value: Any) -> Any:
    if isinstance(value, Size):
        return Size(*map(_with_one_nan, value))
    return nan if isinstance(value, float) and isnan(value) else value


def as_value(value: Any) -> Value:
    """Return a value without NumPy's types and without lists. NaN becomes None."""
    if hasattr(value, "tolist"):  # a number or an array of NumPy
        value = value.tolist()
    if isinstance(value, float):
        return None if isnan(value) else value
    if isinstance(value, (str, int, type(None))):
        return value
    assert isinstance(value, Sequence), f"a finding cannot have a {type(value).__name__}"
    return tuple(map(as_value, value))


def as_shown(finding: Finding) -> Finding:
    """Return the finding with three digits in each number, as sentences have them.

    Findings that differ only in further digits say the same.
    """
    values = tuple((name, _three_digits(value)) for name, value in finding.values)
    return replace(finding, values=values, size=Size(*map(_three_digits, finding.size)))


def _three_digits(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_three_digits, value))
    return float(f"{value:.3g}") if isinstance(value, float) else value

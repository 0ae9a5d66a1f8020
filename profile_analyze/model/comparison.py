"""A profile beside another one: which operators are the same, and the times of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.facts import concatenated, facts_of, taken
from profile_analyze.model.identity import identities
from profile_analyze.model.profile import Profile, Timings
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Side

ADDED: Final = "added"
REMOVED: Final = "removed"

_BY_NAME: Final = ("name", "name", "type")
_BY_STRUCTURE: Final = ("structure", "type", "in_shapes", "out_shapes", "parameters")

MATCHES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "auto": (_BY_NAME, _BY_STRUCTURE),
    "name": (_BY_NAME,),
    "structure": (_BY_STRUCTURE,),
}
"""Each way to match, as steps: what operators matched by the step are called, and the columns in
which they agree. Each step looks at what the steps before it have left over."""

COMPARISON_DETAILS: Final = frozenset({"in_shapes", "out_shapes", "parameters"})
"""The details that are needed to match."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """A profile and a base, by operator: those of the profile, then those that only the base has.

    What `profile` says of the latter (name, type, shapes) is what the base says of them; it has no
    times of them, nor any computation or memory.
    """

    profile: Profile
    base_device: Timings
    """Of the same operators, in the runs of the base."""
    base_host: Timings
    match: Categorical[str]
    """Shape (operators,): `name` or `structure`, by which the two were matched; `added` for what
    only the profile has, `removed` for what only the base has."""
    base_file: str
    base_files: tuple[str, ...]
    """The file of each run of the base."""
    base_operators: int
    notes: tuple[str, ...]
    """On the base and on the matching, a sentence each."""
    drift_corrected: bool = False
    """Whether what changed in all operators at once was taken out: see `analysis.drift`."""

    def __repr__(self) -> str:
        return f"Comparison({self.profile!r}, base={self.base_file!r})"

    def base(self, side: Side) -> Timings:
        """The base's times of one side."""
        return self.base_device if side == "device" else self.base_host

    @property
    def operators(self) -> int:
        """How many the profile has."""
        return int(self.on_sides()[0].sum())

    @property
    def base_runs(self) -> int:
        """How many runs the base has."""
        return self.base_device.runs

    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Shape (operators,) each: whether the profile has it, whether the base has."""
        words = self.match.categories
        return (
            self.match.where(word != REMOVED for word in words),
            self.match.where(word != ADDED for word in words),
        )


def compare(profile: Profile, base: Profile, match: str = "auto") -> Comparison:
    """`profile` beside `base`, matched by one of `MATCHES`.

    `auto` matches what has the same name and type; of the rest, what has the same type, shapes and
    parameters, in the order of execution. `name` and `structure` do one of the two alone.

    Raises `QueryError` for another `match`, and if a profile was loaded without shapes or
    parameters.
    """
    if match not in MATCHES:
        raise QueryError(f"match: {match!r} is not one of {', '.join(MATCHES)}")
    base_row_of, how = _matched(profile, base, MATCHES[match])
    in_base = base_row_of >= 0
    removed = np.setdiff1d(np.arange(len(base)), base_row_of[in_base])
    operators = len(profile) + len(removed)
    row_of_base = np.empty(len(base), np.int64)
    row_of_base[base_row_of[in_base]] = np.flatnonzero(in_base)
    row_of_base[removed] = np.arange(len(profile), operators)
    everything = np.arange(len(profile))
    nothing = np.full(len(removed), np.nan)  # the profile does none of their work
    of_removed = taken(facts_of(base), removed) | {"computation": nothing, "memory": nothing}
    facts = concatenated([facts_of(profile), of_removed])
    union = replace(
        profile,
        device=_padded(profile.device, everything, operators),
        host=_padded(profile.host, everything, operators),
        **facts,
    )
    comparison = Comparison(
        profile=union,
        base_device=_padded(base.device, row_of_base, operators),
        base_host=_padded(base.host, row_of_base, operators),
        match=Categorical.of([*how, *[REMOVED] * len(removed)]),
        base_file=base.file,
        base_files=base.run_files,
        base_operators=len(base),
        notes=(),
    )
    return replace(comparison, notes=(*_notes_of(base), *_notes_on(comparison)))


def _matched(
    profile: Profile, base: Profile, steps: Sequence[tuple[str, ...]]
) -> tuple[NDArray[np.int64], list[str]]:
    """Shape (operators of `profile`,): the row in `base`, or -1; and how each was matched."""
    base_row_of = np.full(len(profile), -1)
    how = [ADDED] * len(profile)
    left, base_left = np.arange(len(profile)), np.arange(len(base))
    for word, *columns in steps:
        known = _places(base, base_left, columns)
        found = [known.get(key, -1) for key in _places(profile, left, columns)]
        rows = np.array(found, np.int64)
        hit = rows >= 0
        base_row_of[left[hit]] = rows[hit]
        for row in left[hit].tolist():
            how[row] = word
        left = left[~hit]
        base_left = np.setdiff1d(base_left, rows[hit])
    return base_row_of, how


def _places(
    profile: Profile, rows: NDArray[np.int64], columns: Sequence[str]
) -> dict[tuple[Any, ...], int]:
    """The row of each operator among `rows`, by what it is matched by."""
    keys = identities(profile, columns, rows)
    return dict(zip(keys, rows.tolist(), strict=True))


def _padded(timings: Timings, row_of: NDArray[np.int64], operators: int) -> Timings:
    return Timings(timings.lanes.placed(row_of), operators=operators, runs=timings.runs)


def _notes_of(base: Profile) -> Iterator[str]:
    return (f"base: {note}" for note in (*base.notes, *base.notes_on_runs))


def _notes_on(comparison: Comparison) -> Iterator[str]:
    shared = set(comparison.profile.run_files) & set(comparison.base_files)
    if shared:
        yield f"{counted(len(shared), 'file')} on both sides, such as {min(shared)}"
    is_new, in_base = comparison.on_sides()
    both = int((is_new & in_base).sum())
    added, removed = int((~in_base).sum()), int((~is_new).sum())
    if not both:
        yield (
            "no operator of the base was matched, so that all are added or removed: these are "
            "different models; --aggregate-by type compares them by kind"
        )
    elif added or removed:
        yield (
            f"{counted(both, 'operator')} matched with the base, {added} added, {removed} removed; "
            "the column match says how"
        )

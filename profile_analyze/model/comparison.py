"""A profile and its baseline: which operators are the same, and the times of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.identity import identities
from profile_analyze.model.levels import at_level, common_level
from profile_analyze.model.operators import Operators
from profile_analyze.model.splitting import split_alike
from profile_analyze.model.terms import ADDED, REMOVED
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

_BY_NAME: Final = ("name", "name", "type")
_BY_STRUCTURE: Final = ("structure", "type", "in_shapes", "out_shapes", "parameters")

MATCHES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "auto": (_BY_NAME, _BY_STRUCTURE),
    "name": (_BY_NAME,),
    "structure": (_BY_STRUCTURE,),
}
"""The steps of each way to match. A step has the name of its matches, and the columns in which
matched operators agree. It looks only at operators that earlier steps did not match."""

COMPARISON_COLUMNS: Final = frozenset({"in_shapes", "out_shapes", "parameters"})
"""The optional columns that are needed to match."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A profile and its baseline, operator by operator.

    Both have the same rows: first the operators of the profile, then those that only the baseline
    has. Of the latter, `profile` has the baseline's name, type and shapes, but no times,
    computation or memory.
    """

    profile: Profile
    base: Profile
    match: Categorical[str]
    """Shape (operators,): how the two were matched, `name` or `structure`; `added` if only the
    profile has the operator, `removed` if only the baseline has it."""
    base_operators: int
    notes: tuple[str, ...]
    """Notes on the baseline and on the matching, a sentence each."""
    drift_corrected: bool = False
    """Whether changes of all operators at once were removed: see `analysis.drift`."""

    def __repr__(self) -> str:
        return f"Comparison({self.profile!r}, base={self.base.file!r})"

    @property
    def operators(self) -> int:
        """How many operators the profile has."""
        return int(self.on_sides()[0].sum())

    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Shape (operators,) each: whether the profile has it, whether the baseline has it."""
        categories = self.match.categories
        return (
            self.match.where(how != REMOVED for how in categories),
            self.match.where(how != ADDED for how in categories),
        )


def compare(
    profile: Profile, base: Profile, match: str = "auto", level: str | None = None
) -> Comparison:
    """Compare `profile` with the baseline `base`, matched by one of `MATCHES`.

    Both are taken at the same level: see `at_level`. `auto` matches operators with the same name
    and type. It then matches the rest by type, shapes and parameters, in the order of execution.
    `name` and `structure` do only one of the two.

    Raises `QueryError` for another `match`, if a profile was loaded without shapes or parameters,
    and if they have no level in common, or not this one.
    """
    if match not in MATCHES:
        raise QueryError(f"match: {match!r} is not one of {', '.join(MATCHES)}")
    common = level or common_level(profile, base)
    profile, base = at_level(profile, common), at_level(base, common)
    base_row_of, how = _matched(profile, base, MATCHES[match])
    in_base = base_row_of >= 0
    removed = np.setdiff1d(np.arange(len(base)), base_row_of[in_base])
    row_of_base = np.empty(len(base), np.int32)
    row_of_base[base_row_of[in_base]] = np.flatnonzero(in_base)
    row_of_base[removed] = np.arange(len(profile), len(profile) + len(removed))
    nothing = np.full(len(removed), np.nan)  # the profile does none of their work
    of_removed = replace(base.operators.take(removed), computation=nothing, memory=nothing)
    operators = Operators.concatenated([profile.operators, of_removed])
    executions = base.executions
    comparison = Comparison(
        profile=profile.changed(operators=operators),
        base=base.changed(
            operators=operators,
            executions=executions.changed(operator=row_of_base[executions.operator]),
        ),
        match=Categorical.of([*how, *[REMOVED] * len(removed)]),
        base_operators=len(base),
        notes=(),
    )
    return replace(comparison, notes=(*_notes_of(base), *_notes_on(comparison)))


def split_comparison(comparison: Comparison, keys: Iterable[str]) -> Comparison:
    """The comparison with a row for each operator and each value of `keys`: `splitting.split`.

    A row with executions on one side only is added or removed.
    """
    (profile, base), former_row = split_alike([comparison.profile, comparison.base], keys)
    if profile is comparison.profile:
        return comparison
    is_new, in_base = (_has_executions(one) for one in (profile, base))
    former = comparison.match.take(former_row).values()
    match = np.where(is_new & in_base, former, np.where(is_new, ADDED, REMOVED))
    return replace(comparison, profile=profile, base=base, match=Categorical.of(match.tolist()))


def _has_executions(profile: Profile) -> NDArray[np.bool_]:
    """Shape (operators,): whether each ran at all."""
    found = np.zeros(len(profile), np.bool_)
    found[profile.executions.operator] = True
    return found


def _matched(
    profile: Profile, base: Profile, steps: Sequence[tuple[str, ...]]
) -> tuple[NDArray[np.int64], list[str]]:
    """Shape (operators of `profile`,): the row in `base`, or -1; and how each was matched."""
    base_row_of = np.full(len(profile), -1)
    how = [ADDED] * len(profile)
    left, base_left = np.arange(len(profile)), np.arange(len(base))
    for word, *columns in steps:
        if "in_shapes" in columns and not _have_shapes(profile, base):
            continue  # everything of one type would look the same
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


def _have_shapes(*profiles: Profile) -> bool:
    """Whether all formats have shapes. A profile that was loaded without them is an error later."""
    return all(profile.operators.state("in_shapes") != "absent" for profile in profiles)


def _places(
    profile: Profile, rows: NDArray[np.int64], columns: Sequence[str]
) -> dict[tuple[Any, ...], int]:
    """The row of each operator among `rows`, by its identity in `columns`."""
    keys = identities(profile, columns, rows)
    return dict(zip(keys, rows.tolist(), strict=True))


def _notes_of(base: Profile) -> Iterator[str]:
    return (f"base: {note}" for note in (*base.notes, *base.notes_on_runs))


def _notes_on(comparison: Comparison) -> Iterator[str]:
    shared = set(comparison.profile.processes) & set(comparison.base.processes)
    if shared:
        yield f"{counted(len(shared), 'file')} on both sides, such as {min(shared)}"
    ours, theirs = comparison.profile.origin.format, comparison.base.origin.format
    if ours != theirs:
        yield (
            f"the two sides are of different formats, {ours} and {theirs}: their times may differ "
            "in kind"
        )
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

"""Matches the operators of a profile with the operators of its baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from profile_analyze.comparison.fused_layers import with_parts
from profile_analyze.comparison.matching import MATCHES, matched_rows, steps_of
from profile_analyze.comparison.notes import (
    doubt_of,
    mismatch_of,
    notes_on_base,
    notes_on_sides,
)
from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.joining.run_copies import shared_runs
from profile_analyze.model.levels.levels import at_level, common_level
from profile_analyze.model.levels.splitting import split_alike
from profile_analyze.model.operators import Operators
from profile_analyze.model.terms import ADDED, COMPUTE_DTYPE, FULL_NAME, REMOVED, SHAPES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.comparison.notes import Mismatch
    from profile_analyze.model.joining.run_copies import SharedRuns
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

COMPARISON_COLUMNS: Final = frozenset({*SHAPES, "parameters", COMPUTE_DTYPE})
"""The optional columns that are read for a comparison. All but `compute_dtype` are for matching."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A profile and its baseline, with the same rows.

    The rows are the operators of the profile, followed by the operators that only the baseline has.
    If a side lacks an operator, its row on this side has a name, a type and shapes, but no times,
    computation or memory.
    """

    profile: Profile
    base: Profile
    match: Categorical[str]
    """Shape (operators,): how each operator was matched, `name`, `structure` or `shapes`. It is
    `added` if only the profile has the operator, and `removed` if only the baseline has it."""
    base_name: Categorical[str]
    """Shape (operators,): the name of each operator in the baseline, if it differs from the name in
    the profile; N/A for all other operators."""
    base_shapes: Mapping[str, Categorical[Any]]
    """The shapes in the baseline, by the name of the column. Each has shape (operators,)."""
    base_dtype: Categorical[str]
    """Shape (operators,): the dtype that each operator computes in, in the baseline."""
    base_full_name: Categorical[str]
    """Shape (operators,): the full name of each kernel in the baseline."""
    base_operators: int
    """How many operators the baseline has."""
    notes: tuple[Note, ...]
    """Notes on the baseline and on the matching."""
    shared: SharedRuns | None = None
    """The runs that are on both sides; usually None."""
    scopes_on: Literal["", "profile", "baseline"] = ""
    """The side that alone has scopes, for two profiles of one format; empty if both sides or no
    side has scopes. An operator without scopes may be several operators on the other side."""
    uncorrected: Comparison | None = None
    """The comparison with the times as measured; None unless a drift correction was tried. If the
    correction was refused, the times of both comparisons are equal: see `comparison.drift`."""

    def __repr__(self) -> str:
        return f"Comparison({self.profile!r}, base={self.base.file!r})"

    @property
    def as_measured(self) -> Comparison:
        """The comparison without drift correction."""
        return self if self.uncorrected is None else self.uncorrected

    @cached_property
    def mismatch(self) -> Mismatch | None:
        """Why a change between the two sides means nothing; usually None."""
        return mismatch_of(self)

    @cached_property
    def doubt(self) -> Mismatch | None:
        """Why the two sides may be different models, although changes get verdicts; usually None.

        There is never both a doubt and a mismatch.
        """
        return doubt_of(self)

    @property
    def matches_none(self) -> bool:
        """Whether no operator is on both sides."""
        in_profile, in_base = self.on_sides()
        return not (in_profile & in_base).any()

    @property
    def operators(self) -> int:
        """How many operators the profile has."""
        return int(self.on_sides()[0].sum())

    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whether the profile has each operator, and whether the baseline has it.

        Both arrays have shape (operators,).
        """
        categories = self.match.categories
        return (
            self.match.where(how != REMOVED for how in categories),
            self.match.where(how != ADDED for how in categories),
        )

    def changed_dtypes(self) -> Categorical[str]:
        """Return how the dtype of each operator changed, such as `fp32 to fp16`.

        The result has shape (operators,). It is N/A if the dtype is the same or unknown on a side.
        """
        own = _texts_of(self.profile, COMPUTE_DTYPE)
        dtypes = zip(self.base_dtype.values(), own.values(), strict=True)
        return Categorical.of(
            [None if None in (old, new) or old == new else f"{old} to {new}" for old, new in dtypes]
        )

    def split(self, keys: Collection[str]) -> Comparison:
        """Split each operator into a row for each value of `keys`: see `splitting.split`.

        A row with executions on only one side is `added` or `removed`.
        """
        (profile, base), former_row = split_alike([self.profile, self.base], keys)
        if profile is self.profile:
            return self
        in_profile, in_base = (_has_executions(side) for side in (profile, base))
        # A row that ran on both sides keeps the match of its operator.
        former = self.match.take(former_row).values()
        match = np.where(in_profile & in_base, former, np.where(in_profile, ADDED, REMOVED))
        return replace(
            self,
            profile=profile,
            base=base,
            match=Categorical.of(match.tolist()),
            base_name=self.base_name.take(former_row),
            base_shapes={name: one.take(former_row) for name, one in self.base_shapes.items()},
            base_dtype=self.base_dtype.take(former_row),
            base_full_name=self.base_full_name.take(former_row),
            # Correction changes times, not executions, so both comparisons have the same new rows.
            uncorrected=None if self.uncorrected is None else self.uncorrected.split(keys),
        )


def compare(
    profile: Profile, base: Profile, match: str = "auto", level: str | None = None
) -> Comparison:
    """Compare `profile` with the baseline `base`, both at the same level: see `at_level`.

    `match` says how operators are matched:

    - `name`: operators with the same name and type, or the same node of a model, match. A type
      that is N/A may be any type. Operators with the same scope and input shapes match first, then
      the others in the order of execution. If several have this name, those with very different
      work do not match.
    - `structure`: operators with the same type, shapes and parameters match, in the order of
      execution. If one side has fewer of these, the operators around them decide which ones match.
      Shapes may differ by channels that only pad a block: see `padded_channels`.
    - `shapes`: operators match if category, first input shape and first output shape are the same.
      Both sides must have the same number of these operators. They match in order of execution.
      Names, types and padding may differ. Convolutions and the like must have similar computation.
    - `auto`: operators match by name, then the remaining operators by structure. If the formats
      differ, operators also match by name and category, and the remaining operators by shapes.

    Raises `QueryError` in these cases:

    - `match` is not one of `MATCHES`.
    - A profile lacks the level, or was loaded without shapes or parameters that `match` compares.
    - Only one of the two is a model.
    """
    if match not in MATCHES:
        raise QueryError(f"match: {match!r} is not one of {', '.join(MATCHES)}")
    _check_same_kind(profile, base)
    common = level or common_level(profile, base)
    profile, base = at_level(profile, common), at_level(base, common)
    shared = shared_runs(profile, base)
    steps = steps_of(match, profile, base)
    base_row_of, how = matched_rows(profile, base, steps)
    notes: tuple[Note, ...] = ()
    if added := with_parts(profile, base, base_row_of):
        profile, base, notes = added  # with fewer rows, which are matched anew
        base_row_of, how = matched_rows(profile, base, steps)
    comparison = replace(_with_matches(profile, base, base_row_of, how), shared=shared)
    return replace(comparison, notes=(*notes_on_base(base), *notes_on_sides(comparison), *notes))


def _with_matches(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], how: Sequence[str]
) -> Comparison:
    """Return the comparison without notes.

    `base_row_of` has the row in `base` that matches each operator of `profile`, or -1.
    """
    removed = np.setdiff1d(np.arange(len(base)), base_row_of[base_row_of >= 0])
    base_rows = np.append(base_row_of, removed)
    new_profile, new_base = _with_same_rows(profile, base, base_row_of, removed)
    return Comparison(
        profile=new_profile,
        base=new_base,
        match=Categorical.of([*how, *[REMOVED] * len(removed)]),
        base_name=_other_names(profile, base, base_row_of, len(removed)),
        base_shapes={
            name: base.operators.categorical(name).take_or_missing(base_rows)
            for name in SHAPES
            if base.operators.state(name) != "not loaded"
        },
        base_dtype=_texts_of(base, COMPUTE_DTYPE).take_or_missing(base_rows),
        base_full_name=_texts_of(base, FULL_NAME).take_or_missing(base_rows),
        base_operators=len(base),
        notes=(),
        scopes_on=_scopes_on(profile, base),
    )


def _with_same_rows(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], removed: NDArray[np.int64]
) -> tuple[Profile, Profile]:
    """Return both sides with the operators of `profile`, followed by the rows `removed` of `base`.

    Both sides have the same names, types and shapes. Each side has its own work. The work of an
    operator that the side lacks is N/A.
    """
    operators = Operators.concatenated([profile.operators, base.operators.take(removed)])
    own_rows = np.append(np.arange(len(profile)), np.full(len(removed), -1))
    base_rows = np.append(base_row_of, removed)
    # The executions of the baseline must refer to the new rows.
    in_base = base_rows >= 0
    new_row = np.empty(len(base), np.int32)
    new_row[base_rows[in_base]] = np.flatnonzero(in_base)
    return (
        profile.changed(operators=_with_work_of(profile, own_rows, operators)),
        base.changed(
            operators=_with_work_of(base, base_rows, operators),
            executions=base.executions.changed(operator=new_row[base.executions.operator]),
            **base.without_tables(keep=["tensors"]),
        ),
    )


def _scopes_on(profile: Profile, base: Profile) -> Literal["", "profile", "baseline"]:
    """Return `Comparison.scopes_on`."""
    has_scopes, base_has_scopes = (
        bool((side.operators.scope.codes >= 0).any()) for side in (profile, base)
    )
    if has_scopes == base_has_scopes or profile.origin.format != base.origin.format:
        return ""
    return "profile" if has_scopes else "baseline"


def _texts_of(profile: Profile, name: str) -> Categorical[str]:
    """Return the texts of an optional column; N/A if they were not loaded."""
    if profile.operators.state(name) != "loaded":
        return Categorical.missing(len(profile))
    return profile.operators.categorical(name)


def _other_names(
    profile: Profile, base: Profile, base_row_of: NDArray[np.int64], removed: int
) -> Categorical[str]:
    """Return `Comparison.base_name`, with N/A for the `removed` operators."""
    names = profile.operators.name.values().tolist()
    base_names = base.operators.name.take_or_missing(base_row_of).values().tolist()
    others = [
        None if other == name else other for name, other in zip(names, base_names, strict=True)
    ]
    return Categorical.of([*others, *[None] * removed])


def _with_work_of(side: Profile, rows: NDArray[np.int64], shared: Operators) -> Operators:
    """Return the `shared` operators with the numbers of `side`.

    `rows` has the row of each operator in `side`. It is -1 if `side` lacks the operator, whose
    numbers are then N/A.
    """

    def own(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.append(values, np.nan)[rows]  # index -1 gets the appended NaN

    numbers = {
        name: own(side.operators.numbers(name))
        for name, values in shared.optional.items()
        if isinstance(values, np.ndarray)
    }
    return replace(
        shared,
        computation=own(side.operators.computation),
        memory=own(side.operators.memory),
        computation_source=side.operators.computation_source.take_or_missing(rows),
        memory_source=side.operators.memory_source.take_or_missing(rows),
        optional={**shared.optional, **numbers},
    )


def _has_executions(profile: Profile) -> NDArray[np.bool_]:
    """Return whether each operator ran at all, shape (operators,)."""
    ran = np.zeros(len(profile), np.bool_)
    ran[profile.executions.operator] = True
    return ran


def _check_same_kind(profile: Profile, base: Profile) -> None:
    """Raise `QueryError` if one side is a model that has not run, and the other a profile."""
    models = [side.file for side in (profile, base) if side.model is not None]
    runs = [side.file for side in (profile, base) if side.model is None]
    if models and runs:
        raise QueryError(
            f"{models[0]} is a model that has not run, so it has no times to compare with the "
            f"times of {runs[0]}; name the profile, and the model after --model"
        )

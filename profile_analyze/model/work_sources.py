"""Chooses the computation and memory of a profile: measured by the runtime, or derived."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.constants import holds_constant
from profile_analyze.model.findings import Kind, on_operators
from profile_analyze.model.terms import BEST, DERIVED, DEVICE, HOST, MEASURED, UNKNOWN, WORK_SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

_AMOUNTS: Final[tuple[Literal["computation", "memory"], ...]] = ("computation", "memory")


def choose_work(profile: Profile, choice: str) -> Profile:
    """Return a copy with the computation and memory that `choice` selects.

    - `measured`: the values that the runtime reported
    - `derived`: the values that are derived from shapes
    - `best`: for each operator, the reported value or, if it is N/A, the derived value

    Notes say how much is derived or unknown. With every choice, constants move no bytes.

    Raises `QueryError` for any other choice. With `derived` and `best`, also raises `QueryError` if
    `profile` was loaded without `DERIVED_WORK`.
    """
    if choice not in WORK_SOURCES:
        raise QueryError(f"work: {choice!r} is not one of {', '.join(WORK_SOURCES)}")
    changes: dict[str, Any] = {}
    for amount in _AMOUNTS:
        values, is_derived = _chosen(profile.operators, amount, choice)
        source = Categorical(is_derived.astype(np.int32), (MEASURED, DERIVED))
        changes |= {amount: values, f"{amount}_source": source}
    chosen = profile.changed(operators=replace(profile.operators, **changes))
    return chosen.changed(notes=(*profile.notes, *_notes(chosen)))


def _chosen(
    operators: Operators, amount: Literal["computation", "memory"], choice: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the chosen amount of each operator, and whether it is derived."""
    own: NDArray[np.float64] = getattr(operators, amount)
    sources = operators.source_of(amount)
    own_is_derived = sources.where(source == DERIVED for source in sources.categories)
    is_constant = holds_constant(operators) & own_is_derived
    measured = np.where(own_is_derived & ~is_constant, np.nan, own)
    if choice == MEASURED:
        return measured, is_constant
    derived = np.where(own_is_derived, own, operators.numbers(f"derived_{amount}"))
    is_measured = np.zeros(len(operators), np.bool_)
    if choice == BEST:
        is_measured = ~np.isnan(measured) & ~is_constant
    return np.where(is_measured, measured, derived), ~is_measured


def _notes(profile: Profile) -> Iterator[Note]:
    """Yield notes on how much of the work is derived, and how much is unknown."""
    has_run = profile.recorded(DEVICE) | profile.recorded(HOST)
    for amount in _AMOUNTS:
        sources = profile.operators.source_of(amount)
        for source, code, kind in (
            (DERIVED, "derived-work", Kind.CONTEXT),
            (UNKNOWN, "unknown-work", Kind.INCOMPLETE),
        ):
            chosen = has_run & sources.where(source == one for one in sources.categories)
            count, share = int(chosen.sum()), profile.share_of(chosen)
            yield from on_operators(code, kind, count, share, amount=amount)

"""Texts for notes which say that only some profiles or runs have scopes, so rows do not match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.large_arrays import blocks_of_runs
from profile_analyze.model.terms import HOST, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

BY_NAME: Final = "--aggregate-by name"
"""The option that combines rows of operators with scopes and rows of operators without."""


def only_some_have_scopes(which: str, others: str, *, several: bool = False) -> str:
    """Return that `which` has scopes and `others` lack them, and what this means.

    `several` says whether `which` names several things.
    """
    return (
        f"only {which} {'have' if several else 'has'} scopes, so an operator of {others} may be "
        f"several operators of {which}"
    )


def mixed_scopes(profile: Profile) -> str:
    """Return which files of a profile alone have scopes, and what this means.

    Empty if all runs or no runs have operators with scopes. Also empty if most names of operators
    are only in runs with scopes, or only in runs without: they then have different models.
    """
    has_scope = profile.operators.scope.codes >= 0
    if not _names(profile, has_scope) & _names(profile, ~has_scope):
        return ""  # no operator has a scope in only some of the runs
    in_run = np.zeros(len(profile.runs), np.bool_)
    in_scoped, in_others = np.zeros((2, len(profile)), np.bool_)
    for block, (calls,) in blocks_of_runs(profile.calls(HOST)):
        executed = ~np.isnan(calls)
        is_scoped = executed[has_scope].any(axis=0)
        in_run[block] = is_scoped
        in_scoped |= executed[:, is_scoped].any(axis=1)
        in_others |= executed[:, ~is_scoped].any(axis=1)
    with_scopes, without = _names(profile, in_scoped), _names(profile, in_others)
    shared = with_scopes & without
    if not shared or 2 * len(shared) < len(with_scopes | without):
        return ""
    runs = [*zip(profile.run_files, in_run.tolist(), strict=True)]
    files, others = (
        [*dict.fromkeys(file for file, has_scopes in runs if has_scopes == wanted)]
        for wanted in (True, False)
    )
    return only_some_have_scopes(
        _first_and_more(files), _first_and_more(others), several=len(files) > 1
    )


def _names(profile: Profile, chosen: NDArray[np.bool_]) -> set[tuple[int, int]]:
    """Return the codes of the names and types of the chosen operators, without modules.

    `chosen` has shape (operators,).
    """
    columns = profile.operators
    rows = chosen & columns.are_at(OPERATOR)
    return {*zip(columns.name.codes[rows].tolist(), columns.type.codes[rows].tolist(), strict=True)}


def _first_and_more(files: Sequence[str]) -> str:
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else files[0]

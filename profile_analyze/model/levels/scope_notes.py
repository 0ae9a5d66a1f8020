"""Which files of a profile have scopes, if only some have: rows then do not match."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.large_arrays import blocks_of_runs
from profile_analyze.model.terms import HOST, OPERATOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


class MixedScopes(NamedTuple):
    """The files of a profile whose operators have scopes, and the files whose operators do not."""

    scoped: tuple[str, ...]
    others: tuple[str, ...]


def mixed_scopes(profile: Profile) -> MixedScopes | None:
    """Return which files of a profile alone have scopes.

    None if all runs or no runs have operators with scopes. Also None if most names of operators
    are only in runs with scopes, or only in runs without: they then have different models.
    """
    has_scope = profile.operators.scope.codes >= 0
    if not _names(profile, has_scope) & _names(profile, ~has_scope):
        return None  # no operator has a scope in only some of the runs
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
        return None
    runs = [*zip(profile.run_files, in_run.tolist(), strict=True)]
    return MixedScopes(
        *(
            tuple(dict.fromkeys(file for file, has_scopes in runs if has_scopes == wanted))
            for wanted in (True, False)
        )
    )


def _names(profile: Profile, chosen: NDArray[np.bool_]) -> set[tuple[int, int]]:
    """Return the codes of the names and types of the chosen operators, without modules.

    `chosen` has shape (operators,).
    """
    columns = profile.operators
    rows = chosen & columns.are_at(OPERATOR)
    return {*zip(columns.name.codes[rows].tolist(), columns.type.codes[rows].tolist(), strict=True)}

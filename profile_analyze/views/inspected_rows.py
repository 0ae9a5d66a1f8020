"""Finds the operator that `--inspect` means, and its executions."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean, similar_texts
from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.measuring import on_side
from profile_analyze.model.terms import DEVICE
from profile_analyze.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Indices: TypeAlias = NDArray[np.int64]

_MOST_KEYS: Final = 5
"""The largest number of keys in a message."""


def find_rows(profile: Profile, text: str) -> tuple[int, int | None, Indices]:
    """Return the operator that `text` names, the number of the execution or None, and the rows.

    `text` is an id, a key, or a name that only one operator has. `@N` at the end chooses execution
    number N of the operator. The rows are the executions in order of time, or only execution N. If
    any execution ran on a device, executions on the host are left out.

    Raises `QueryError` if `text` names no operator, several operators, or an execution that does
    not exist.
    """
    keys = profile.operators.key_texts().values().tolist()
    operator = _operator(profile, keys, text)
    number = None
    head, at, digits = text.rpartition("@")
    if operator is None and at and digits.isdecimal() and len(digits) < 10:
        operator, number = _operator(profile, keys, head), int(digits)
    if operator is None:
        names = [*dict.fromkeys((*profile.operators.name.values().tolist(), *keys))]
        similar = similar_texts(text, names) if len(text) <= LONGEST_ADVISED else []
        advice = did_you_mean(similar) or "--columns key,name -t 0 lists the keys"
        if text in profile.operators.type.categories:
            advice = (
                f"it is a type; --type {quote(text)} --columns key,name -t 0 lists its operators"
            )
        raise QueryError(f"inspect: no operator {text!r} in {profile.file}; {advice}")
    executions = profile.executions
    # A window keeps some executions without calls and without time: see `model.levels.windows`.
    is_own = (executions.operator == operator) & (executions.calls > 0)
    is_on_device = is_own & on_side(profile, DEVICE)
    # Some formats record an operator on the host and on the device.
    rows = np.flatnonzero(is_on_device if is_on_device.any() else is_own)
    rows = rows[np.argsort(executions.start_s[rows], kind="stable")]
    if number is None:
        return operator, None, rows
    if not 1 <= number <= len(rows):
        ran = counted(len(rows), "execution")
        raise QueryError(f"inspect: {head} has {ran}, so there is none with the number {number}")
    return operator, number, rows[number - 1 : number]


def _ids(profile: Profile) -> list[str]:
    """Return the id of each operator as text."""
    key = profile.operators.key
    values = key.values() if isinstance(key, Categorical) else key
    return list(map(str, values.tolist()))


def _operator(profile: Profile, keys: list[str], text: str) -> int | None:
    """Return the operator whose id, key or name is `text`; None if no operator has any of these.

    Raises `QueryError` if several operators have the name.
    """
    for texts in (_ids(profile), keys):
        if text in texts:
            return texts.index(text)
    name = profile.operators.name
    rows = np.flatnonzero(name.where(one == text for one in name.categories)).tolist()
    if len(rows) > 1:
        listed = ", ".join(quote(keys[row]) for row in rows[:_MOST_KEYS])
        more = f" and {len(rows) - _MOST_KEYS} more" if len(rows) > _MOST_KEYS else ""
        raise QueryError(
            f"inspect: {len(rows)} operators have the name {text!r}; write the key of one: "
            f"{listed}{more}"
        )
    return rows[0] if rows else None

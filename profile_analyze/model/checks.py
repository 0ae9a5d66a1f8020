"""Finds inconsistencies between the tables of a profile, which are mistakes of its reader."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import is_constant
from profile_analyze.model.terms import (
    ABSENT,
    CATEGORIES,
    DERIVED,
    DEVICE,
    EACH,
    HOST,
    KERNEL,
    MEAN,
    MEASURED,
    MODULE,
    OPERATOR,
    RUNTIME,
)
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile


def problems(profile: Profile) -> Iterator[str]:
    """What is inconsistent, a sentence each, the most basic first."""
    lengths = list(_lengths(profile))
    yield from lengths
    if lengths:  # the other checks need columns of equal length
        return
    yield from _on_operators(profile)
    yield from _on_words(profile)
    yield from _on_runs(profile)
    yield from _on_executions(profile)
    yield from _on_other_tables(profile)


def _lengths(profile: Profile) -> Iterator[str]:
    for table in ("operators", "executions", "tensors", "uses", "dependencies", "allocations"):
        rows = getattr(profile, table)
        if rows is None:
            continue
        columns = {one.name: getattr(rows, one.name) for one in fields(rows)}
        optional = columns.pop("optional", {})
        for name, values in (*columns.items(), *optional.items()):
            if isinstance(values, np.ndarray | Categorical) and len(values) != len(rows):
                yield f"{table}: {name} has {counted(len(values), 'value')} for {len(rows)} rows"


def _on_operators(profile: Profile) -> Iterator[str]:
    operators = profile.operators
    key = operators.key
    ascending = np.sort(key.codes if isinstance(key, Categorical) else key)
    distinct = int((ascending[1:] != ascending[:-1]).sum()) + 1 if len(key) else 0
    if distinct != len(operators) and len(profile.processes) == 1 and not profile.split_by:
        yield f"operators: {len(operators)} rows have {distinct} distinct keys"
    yield from _on_categories(profile)
    for name in ("computation", "memory"):
        if _is_negative_or_infinite(getattr(operators, name)):
            yield f"operators: {name} is negative or infinite"
    both = operators.not_loaded & operators.optional.keys()
    if both:
        yield f"operators: {min(both)} is loaded and not loaded"


def _on_categories(profile: Profile) -> Iterator[str]:
    operators = profile.operators
    for name, known in (
        ("category", CATEGORIES),
        ("level", (OPERATOR, MODULE, KERNEL, RUNTIME)),
        ("computation_source", (MEASURED, DERIVED)),
        ("memory_source", (MEASURED, DERIVED)),
    ):
        yield from _unknown(f"operators: {name}", getattr(operators, name).categories, known)
    for name, values in (("name", operators.name), ("level", operators.level)):
        if (_once(values.codes) < 0).any():
            yield f"operators: {name} is N/A"


def _on_executions(profile: Profile) -> Iterator[str]:
    executions = profile.executions
    rows = len(executions)
    found = [
        problem
        for name, size, least in (
            ("operator", len(profile), 0),
            ("track", len(profile.tracks), 0),
            ("run", len(profile.runs), 0),
            ("parent", rows, -1),
            ("launched_by", rows, -1),
        )
        for problem in _references("executions", name, getattr(executions, name), size, least=least)
    ]
    yield from found
    for name in ("duration_s", "self_s", "first_kernel_s"):
        if _is_negative_or_infinite(getattr(executions, name)):
            yield f"executions: {name} is negative or infinite"
    if (_once(executions.calls) < 0).any():
        yield "executions: calls is negative"
    if not found and executions.nest:
        up = np.where(executions.parent >= 0, executions.parent, executions.launched_by)
        if _has_circle(up):
            yield "executions: one ran inside itself, or launched itself"
    if profile.origin.times == ABSENT and rows:
        yield "executions: there are some, though the profile has no times"


def _on_words(profile: Profile) -> Iterator[str]:
    """Words that are not of the few that have a meaning."""
    yield from _unknown("origin: times", [profile.origin.times], (EACH, MEAN, ABSENT))
    yield from _unknown("tracks: side", [one.side for one in profile.tracks], (DEVICE, HOST))
    yield from _unknown(
        "tracks: together", [one.together for one in profile.tracks], ("sum", "max")
    )


def _unknown(what: str, words: Iterable[str], known: Sequence[str]) -> Iterator[str]:
    strange = set(words) - set(known)
    if strange:
        yield f"{what} {min(strange)!r} is not one of {', '.join(known)}"


def _on_runs(profile: Profile) -> Iterator[str]:
    if not profile.runs:
        yield "runs: there is none"
    for index, run in enumerate(profile.runs):
        if not 0 <= run.process < len(profile.processes):
            yield f"runs: run {index} is of process {run.process} of {len(profile.processes)}"


def _on_other_tables(profile: Profile) -> Iterator[str]:
    rows = len(profile.executions)
    if profile.uses is not None:
        tensors = 0 if profile.tensors is None else len(profile.tensors)
        yield from _references("uses", "operator", profile.uses.operator, len(profile), least=0)
        yield from _references("uses", "tensor", profile.uses.tensor, tensors, least=0)
    if profile.dependencies is not None:
        yield from _references("dependencies", "before", profile.dependencies.before, rows, least=0)
        yield from _references("dependencies", "after", profile.dependencies.after, rows, least=0)
    if profile.allocations is not None:
        found = profile.allocations.execution
        yield from _references("allocations", "execution", found, rows, least=-1)


def _references(
    table: str, column: str, indices: NDArray[np.int32], size: int, *, least: int
) -> Iterator[str]:
    indices = _once(indices)
    if len(indices) and not (indices.min() >= least and indices.max() < size):
        yield (
            f"{table}: {column} is from {indices.min()} to {indices.max()}, "
            f"and there are {size} such rows"
        )


def _is_negative_or_infinite(values: NDArray[np.float64]) -> bool:
    """Whether one of them is; NaN is neither."""
    values = _once(values)
    least, largest = np.fmin.reduce(values, initial=0.0), np.fmax.reduce(values, initial=0.0)
    return bool(least < 0 or largest == np.inf)


def _once(values: NDArray[Any]) -> NDArray[Any]:
    """The first of `values`, if it is stored once for all rows; otherwise all."""
    return values[:1] if is_constant(values) else values


def _has_circle(parent: Any) -> bool:
    """Whether some execution is its own ancestor: then its ancestors never end."""
    ancestor = np.append(parent, -1)  # -1 finds the last, which is -1
    for _ in range(len(parent).bit_length()):  # each step doubles the distance
        ancestor = ancestor[ancestor]
    return bool((ancestor >= 0).any())

"""Finds inconsistencies between the tables of a profile. Each is a bug of the reader."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.large_arrays import blocks
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.deferred_executions import DeferredExecutions
from profile_analyze.model.frozen import is_constant
from profile_analyze.model.terms import (
    ABSENT,
    CATEGORIES,
    DERIVED,
    DEVICE,
    DEVICE_KINDS,
    EACH,
    EARLIER,
    FRAME,
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

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.tables import Tables


def problems(profile: Tables) -> Iterator[str]:
    """Yield a sentence for each inconsistency, the most basic inconsistencies first."""
    # Every loaded profile is checked, so the checks must be cheap: see `_values_to_check`.
    wrong_lengths = list(_check_lengths(profile))
    yield from wrong_lengths
    if wrong_lengths:  # the other checks need columns of equal length
        return
    yield from _check_operators(profile)
    yield from _check_origin_and_tracks(profile)
    yield from _check_runs(profile)
    if _are_read(profile.executions):  # deferred executions are checked when they are read
        yield from _check_executions(profile)
    yield from _check_optional_tables(profile)


def _check_lengths(profile: Tables) -> Iterator[str]:
    for table in ("operators", "executions", "tensors", "uses", "dependencies", "allocations"):
        content = getattr(profile, table)
        if content is None or (table == "executions" and not _are_read(content)):
            continue
        columns = {field.name: getattr(content, field.name) for field in fields(content)}
        optional = columns.pop("optional", {})
        for name, values in (*columns.items(), *optional.items()):
            if isinstance(values, np.ndarray | Categorical) and len(values) != len(content):
                length = counted(len(values), "value")
                yield f"{table}: {name} has {length} for {counted(len(content), 'row')}"


def _are_read(executions: Executions) -> bool:
    return not isinstance(executions, DeferredExecutions) or executions.are_read


def _check_operators(profile: Tables) -> Iterator[str]:
    operators = profile.operators
    key = operators.key
    # `np.unique` would import `numpy.ma`, which takes longer than reading a small profile.
    ascending = np.sort(key.codes if isinstance(key, Categorical) else key)
    distinct = int((ascending[1:] != ascending[:-1]).sum()) + 1 if len(key) else 0
    # Keys may repeat in two cases: two joined files may use the same key, and a split operator has
    # several rows.
    if distinct != len(operators) and len(profile.processes) == 1 and not profile.split_by:
        yield f"operators: {len(operators)} rows have {distinct} distinct keys"
    yield from _check_categories(profile)
    for name in ("computation", "memory"):
        if _is_negative_or_infinite(getattr(operators, name)):
            yield f"operators: {name} is negative or infinite"
    loaded = operators.not_loaded & operators.optional.keys()
    if loaded:
        yield f"operators: {min(loaded)} is loaded, but also listed as not loaded"


def _check_categories(profile: Tables) -> Iterator[str]:
    operators = profile.operators
    for name, known in (
        ("category", CATEGORIES),
        ("level", (OPERATOR, MODULE, KERNEL, EARLIER, RUNTIME, FRAME)),
        ("computation_source", (MEASURED, DERIVED)),
        ("memory_source", (MEASURED, DERIVED)),
    ):
        yield from _check_values(f"operators: {name}", getattr(operators, name).categories, known)
    for name, values in (("name", operators.name), ("level", operators.level)):
        if (_values_to_check(values.codes) < 0).any():
            yield f"operators: {name} is N/A"


def _check_executions(profile: Tables) -> Iterator[str]:
    executions = profile.executions
    rows = len(executions)
    wrong_references = [
        problem
        for name, size, least in (
            ("operator", len(profile), 0),
            ("track", len(profile.tracks), 0),
            ("run", len(profile.runs), 0),
            ("parent", rows, -1),
            ("launched_by", rows, -1),
        )
        for problem in _check_references(
            f"executions: {name}", getattr(executions, name), size, least=least
        )
    ]
    yield from wrong_references
    for name in ("duration_s", "self_s", "median_s", "first_kernel_s", "thread_wait_s"):
        if _is_negative_or_infinite(getattr(executions, name)):
            yield f"executions: {name} is negative or infinite"
    if (_values_to_check(executions.calls) < 0).any():
        yield "executions: calls is negative"
    if not wrong_references and executions.have_ancestors:  # wrong indices cannot be followed
        up = executions.above
        if _has_cycle(up):
            yield "executions: an execution is its own ancestor through parent or launched_by"
    if profile.origin.times == ABSENT and rows:
        yield (
            "executions: the origin says that times are absent, but the table has "
            f"{counted(rows, 'row')}"
        )


def _check_origin_and_tracks(profile: Tables) -> Iterator[str]:
    yield from _check_values("origin: times", [profile.origin.times], (EACH, MEAN, ABSENT))
    sides = [track.side for track in profile.tracks]
    yield from _check_values("tracks: side", sides, (DEVICE, HOST))
    rules = [track.together for track in profile.tracks]
    yield from _check_values("tracks: together", rules, ("sum", "max"))
    kinds = [track.device_kind for track in profile.tracks if track.device_kind is not None]
    yield from _check_values("tracks: device_kind", kinds, DEVICE_KINDS)
    if any(track.threads is not None and track.threads < 1 for track in profile.tracks):
        yield "tracks: threads is less than 1"


def _check_values(subject: str, values: Iterable[str], allowed: Sequence[str]) -> Iterator[str]:
    wrong = set(values) - set(allowed)
    if wrong:
        yield f"{subject} {min(wrong)!r} is unknown; known values: {', '.join(allowed)}"


def _check_runs(profile: Tables) -> Iterator[str]:
    processes = len(profile.processes)
    for name, values in profile.labels.items():
        if len(values) != processes:
            has = f"{name} has {counted(len(values), 'value')}"
            yield f"labels: {has} for {counted(processes, 'process', 'processes')}"
    if not profile.runs:
        yield "runs: the profile has no run"
    for index, run in enumerate(profile.runs):
        if not 0 <= run.process < processes:
            has = counted(processes, "process", "processes")
            yield f"runs: run {index} refers to process {run.process}, but the profile has {has}"
    for name in ("wall_s", "busy_s"):
        times_s = np.array([getattr(run, name) for run in profile.runs], np.float64)
        if _is_negative_or_infinite(times_s):
            yield f"runs: {name} is negative or infinite"


def _check_optional_tables(profile: Tables) -> Iterator[str]:
    operators, executions = len(profile), len(profile.executions)
    uses, dependencies, allocations = profile.uses, profile.dependencies, profile.allocations
    if uses is not None:
        tensors = 0 if profile.tensors is None else len(profile.tensors)
        yield from _check_references("uses: operator", uses.operator, operators, least=0)
        yield from _check_references("uses: tensor", uses.tensor, tensors, least=0)
    if dependencies is not None:
        for name, rows in (("before", dependencies.before), ("after", dependencies.after)):
            yield from _check_references(f"dependencies: {name}", rows, executions, least=0)
    if allocations is not None:
        rows = allocations.execution
        yield from _check_references("allocations: execution", rows, executions, least=-1)


def _check_references(
    column: str, indices: NDArray[np.int32], size: int, *, least: int
) -> Iterator[str]:
    """Yield a sentence if some of the `indices` are outside of a table with `size` rows.

    `least` is -1 if an index of -1 means "no row", and 0 otherwise.
    """
    ranges = [(block.min(), block.max()) for block in blocks(_values_to_check(indices))]
    lowest = min((low for low, _ in ranges), default=least)
    highest = max((high for _, high in ranges), default=-1)
    if lowest < least or highest >= size:
        yield (
            f"{column} has indices from {lowest} to {highest}, "
            f"but the table that it refers to has {counted(size, 'row')}"
        )


def _is_negative_or_infinite(values: NDArray[np.float64]) -> bool:
    """Return whether some value is negative or infinite. NaN is allowed."""
    # `fmin` and `fmax` ignore NaN.
    return any(
        np.fmin.reduce(block) < 0 or np.fmax.reduce(block) == np.inf
        for block in blocks(_values_to_check(values))
    )


def _values_to_check(values: NDArray[Any]) -> NDArray[Any]:
    """Return all values, or only the first value if the column is constant."""
    return values[:1] if is_constant(values) else values


def _has_cycle(parent: Any) -> bool:
    """Return whether some execution is its own ancestor."""
    # A row without a parent has -1. NumPy's index -1 selects the last entry, which is an appended
    # -1, so rows without an ancestor stay at -1.
    ancestor = np.append(parent, -1)
    for _ in range(len(parent).bit_length()):  # after n passes, `ancestor` is 2**n levels up
        ancestor = ancestor[ancestor]
    return bool((ancestor >= 0).any())

"""Collects executions part by part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.large_arrays import GrowingArray
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.deferred_executions import DeferredExecutions
from profile_analyze.model.executions import COLUMNS, PARENTS, TEXTS, Executions
from profile_analyze.model.frozen import constant, is_constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ROWS_IN_MEMORY: Final = 1 << 17
"""About how many executions `ExecutionParts` keeps in memory."""


class ExecutionParts:
    """Collects executions part by part, and joins the parts into one table.

    Columns of numbers that differ from row to row are kept in files once they are long.
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        """The values of each column that follow the values in `_in_files`."""
        self._in_files: dict[str, GrowingArray] = {}
        self._rows = 0
        self._rows_in_memory = 0
        self._deferred: list[DeferredExecutions] = []
        """The first parts, if all parts so far are deferred."""

    def add(self, executions: Executions) -> None:
        """Add executions. References between them are indices into `executions` itself.

        Deferred executions are read as soon as executions that are not deferred are added.
        """
        if isinstance(executions, DeferredExecutions):
            if not self._columns["operator"] and not self._in_files:
                self._deferred.append(executions)
                return
            executions = executions.read()
        deferred, self._deferred = self._deferred, []
        for one in deferred:
            self._add(one.read())
        self._add(executions)

    def _add(self, executions: Executions) -> None:
        for name, parts in self._columns.items():
            values = getattr(executions, name)
            if name in PARENTS and self._rows and (values >= 0).any():
                values = np.where(values >= 0, values + self._rows, -1).astype(np.int32)
            parts.append(values)
        self._rows += len(executions)
        self._rows_in_memory += len(executions)
        if self._rows_in_memory >= _ROWS_IN_MEMORY:
            self._move_to_files()

    def _move_to_files(self) -> None:
        self._rows_in_memory = 0
        for name, parts in self._columns.items():
            parts[:] = [_concatenated(parts)] if parts else []
            if parts and (name in self._in_files or not (name in TEXTS or is_constant(parts[0]))):
                self._in_files.setdefault(name, GrowingArray(parts[0].dtype)).append(parts[0])
                parts.clear()

    def joined(self) -> Executions:
        """Return the executions of all parts, in the order in which the parts were added.

        There must be at least one part. If all parts are deferred, the result is deferred, too.
        """
        if self._deferred:
            rows = sum(map(len, self._deferred))
            return DeferredExecutions(partial(_joined, [*self._deferred]), rows)
        if self._in_files:
            self._move_to_files()
        for parts in self._columns.values():
            # The joined column replaces its parts before the next column is joined. Otherwise, all
            # columns would be in memory twice.
            parts[:] = [_concatenated(parts)] if parts else []
        columns = {name: parts[0] for name, parts in self._columns.items() if parts}
        for name, in_file in self._in_files.items():
            columns[name] = in_file.joined()
        return Executions(**columns)


def _joined(deferred: Iterable[DeferredExecutions]) -> Executions:
    parts = ExecutionParts()
    for one in deferred:
        parts.add(one.read())
    return parts.joined()


def _concatenated(columns: Sequence[Any]) -> Any:
    """Return the values of all `columns`. If all hold the same constant, store it once."""
    if len(columns) == 1:
        return columns[0]
    if isinstance(columns[0], Categorical):
        rows = sum(map(len, columns))
        is_known = any(column.categories for column in columns)
        return Categorical.concatenated(columns) if is_known else Categorical.missing(rows)
    # An empty column has no value, so it cannot differ from the constant.
    filled = [column for column in columns if len(column)]
    if filled and all(is_constant(column) and _same(column[0], filled[0][0]) for column in filled):
        return constant(filled[0][0], sum(map(len, filled)))
    return np.concatenate(columns)


def _same(value: Any, other: Any) -> bool:
    return bool(value == other or (np.isnan(value) and np.isnan(other)))

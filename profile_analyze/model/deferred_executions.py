"""`DeferredExecutions`: executions that are read only if a question needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.model.executions import COLUMNS, Executions

if TYPE_CHECKING:
    from collections.abc import Callable


class DeferredExecutions(Executions):
    """Executions that are read when one of their columns is first used.

    They must be flat, so that no level needs to be selected: see `Executions.are_flat`.
    """

    def __init__(self, read: Callable[[], Executions], rows: int) -> None:
        """`read` returns the executions, and `rows` is their number."""
        # The class is frozen, so attributes cannot be assigned.
        self.__dict__.update(_read=read, _rows=rows)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for attributes that are not set: for columns, the first time.
        if name not in COLUMNS:
            raise AttributeError(name)
        self.__dict__.update(_columns_of(self.__dict__["_read"]()))
        del self.__dict__["_read"]  # frees what the function keeps in memory
        return self.__dict__[name]

    def __len__(self) -> int:
        return int(self.__dict__["_rows"])

    @property
    def are_flat(self) -> bool:
        """True, because only flat executions may be deferred."""
        return True

    @property
    def are_read(self) -> bool:
        """Whether a column has been used."""
        return COLUMNS[0] in self.__dict__

    def read(self) -> Executions:
        """Return the executions. If no column has been used, this object does not keep them."""
        return self.changed() if self.are_read else self.__dict__["_read"]()

    def changed(self, **columns: Any) -> Executions:
        """Read the executions, and return them with some columns replaced."""
        return Executions(**{**_columns_of(self), **columns})

    def renumbered(self, **indices: Any) -> Executions:
        """Return executions with new indices. The result is deferred unless `are_read`."""
        if self.are_read:
            return super().renumbered(**indices)
        return DeferredExecutions(lambda: self.read().renumbered(**indices), len(self))


def _columns_of(executions: Executions) -> dict[str, Any]:
    return {name: getattr(executions, name) for name in COLUMNS}

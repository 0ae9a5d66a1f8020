"""`UniqueNames`: makes names that a model does not have yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UniqueNames:
    """Makes names that differ from all names made before, and from the names in use."""

    def __init__(self, in_use: Iterable[str] = ()) -> None:
        self._names = {*in_use}
        self._numbers: dict[str, int] = {}
        """The last number that was appended to each repeated name. Without this record, each later
        use of the name would try all numbers again."""

    def unique(self, base: str) -> str:
        """Return `base` if no other name is equal to it, else `base` with a number appended."""
        name, number = base, self._numbers.get(base, 1)
        while name in self._names:
            number += 1
            name = f"{base}#{number}"
        self._names.add(name)
        self._numbers[base] = number
        return name

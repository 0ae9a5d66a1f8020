"""Categorical columns, which store repeated values as integer codes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from profile_analyze.model.frozen import constant, freeze_arrays, packed, unpacked
from profile_analyze.model.natural_order import natural_sort_key
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

T = TypeVar("T")
U = TypeVar("U")

# NumPy's index -1 selects the last entry of an array. An array with a result for each category
# therefore gets one more entry at its end: the result for N/A.
MISSING_CODE = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Categorical(Generic[T]):
    """A column that stores each distinct value once, and an integer code for each row."""

    codes: NDArray[np.int64]
    """Shape (rows,): the index in `categories`, or -1 for N/A."""
    categories: tuple[T, ...]
    """The distinct values. `of` puts them in order of first appearance. After `take`, the order may
    differ, and some values may have no row."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __reduce__(self) -> tuple[Callable[..., Categorical[T]], tuple[Any, ...]]:
        return _unpickled, (*packed(self.codes), self.categories)

    def __repr__(self) -> str:
        return f"Categorical({counted(len(self), 'value')}, {len(self.categories)} distinct)"

    @classmethod
    def of(cls, values: Sequence[T | None]) -> Categorical[T]:
        """Return the categorical column of `values`; None is N/A."""
        # Looking up a new value gives it the next free code.
        code_of: defaultdict[T | None, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(code_of.__getitem__, values), np.int64, len(values))
        missing = code_of.pop(None, None)
        if missing is not None:
            codes[codes == missing] = MISSING_CODE
            codes[codes > missing] -= 1  # close the gap that None leaves
        return cls(codes, tuple(code_of))  # type: ignore[arg-type]  # None was removed

    @classmethod
    def concatenated(cls, parts: Sequence[Categorical[T]]) -> Categorical[T]:
        """Return the values of all `parts`, one part after the other.

        Categories that no row has are left out.
        """
        code_of: dict[T, int] = {}
        codes = []
        for part in parts:
            # The extra last entry is for N/A: see `MISSING_CODE`.
            is_used = np.zeros(len(part.categories) + 1, np.bool_)
            is_used[part.codes] = True
            new_codes = np.full(len(is_used), MISSING_CODE)
            for code in np.flatnonzero(is_used[:-1]).tolist():
                new_codes[code] = code_of.setdefault(part.categories[code], len(code_of))
            codes.append(new_codes[part.codes])
        return cls(np.concatenate(codes) if codes else np.empty(0, np.int64), tuple(code_of))

    @classmethod
    def constant(cls, value: T, rows: int) -> Categorical[T]:
        """Return a column with the same value in each of `rows` rows, stored once."""
        return cls(constant(np.int64(0), rows), (value,))

    @classmethod
    def missing(cls, rows: int) -> Categorical[T]:
        """Return a column with N/A in each of `rows` rows, stored once."""
        return cls(constant(np.int64(MISSING_CODE), rows), ())

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.int64] | NDArray[np.int32]) -> Categorical[T]:
        """Return the column with only `rows`, in that order."""
        return Categorical(self.codes[rows], self.categories)

    def take_or_missing(self, rows: NDArray[np.int64]) -> Categorical[T]:
        """Return the column with only `rows`, in that order; N/A where a row is -1."""
        return Categorical(np.append(self.codes, MISSING_CODE)[rows], self.categories)

    def mapped(self, function: Callable[[T], U | None]) -> Categorical[U]:
        """Return the column of `function(value)`. `function` is called once for each category."""
        mapped = Categorical.of([function(category) for category in self.categories])
        codes = np.append(mapped.codes, MISSING_CODE)  # the extra entry keeps N/A
        return Categorical(codes[self.codes], mapped.categories)

    def where(self, holds: Iterable[bool]) -> NDArray[np.bool_]:
        """For each row, return whether a condition holds, shape (rows,); false for N/A.

        `holds` has the result of the condition for each category, in order.
        """
        results = np.fromiter(holds, np.bool_, len(self.categories))
        return np.append(results, False)[self.codes]  # the extra entry: false for N/A

    def ranks(self, *, natural: bool = False) -> NDArray[np.float64]:
        """Return the rank of each value among the sorted categories, shape (rows,); NaN for N/A.

        Numbers come before texts. With `natural`, digits in texts are ordered as numbers: conv2
        comes before conv10.
        """
        sort_key = natural_sort_key if natural else _plain_sort_key
        keys: list[Any] = [sort_key(category) for category in self.categories]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        rank = np.full(len(order) + 1, np.nan)  # the extra entry stays NaN
        rank[order] = np.arange(len(order))
        return rank[self.codes]

    def values(self) -> NDArray[Any]:
        """Return the values themselves, shape (rows,), dtype object; None for N/A."""
        values = np.empty(len(self.categories) + 1, dtype=object)
        # Values are assigned one at a time: NumPy would turn a list of tuples into a 2-D array.
        for code, category in enumerate(self.categories):
            values[code] = category
        return values[self.codes]


def taken(
    values: Categorical[T] | NDArray[Any], rows: NDArray[np.int64]
) -> Categorical[T] | NDArray[Any]:
    """Return a column with only `rows`, in that order."""
    return values.take(rows) if isinstance(values, Categorical) else values[rows]


def distinct(values: Categorical[T] | NDArray[Any]) -> list[Any]:
    """Return the distinct known values of a column, in order of first appearance."""
    if isinstance(values, Categorical):
        codes = dict.fromkeys(values.codes.tolist())
        return [values.categories[code] for code in codes if code >= 0]
    return list(dict.fromkeys(values.tolist()))


def _unpickled(codes: NDArray[np.int64], size: int | None, categories: Any) -> Categorical[Any]:
    return Categorical(unpacked(codes, size), categories)


def _plain_sort_key(value: Any) -> Any:
    return isinstance(value, str), value

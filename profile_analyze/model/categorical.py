"""Categorical columns: values that repeat, as integer codes and the distinct categories."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from profile_analyze.model.frozen import constant, freeze_arrays, packed, unpacked
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

T = TypeVar("T")
U = TypeVar("U")

MISSING_CODE = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Categorical(Generic[T]):
    """Values as codes into distinct categories, in order of first appearance."""

    codes: NDArray[np.int64]
    """Shape (rows,): the index in `categories`, or -1 where the value is not available."""
    categories: tuple[T, ...]
    """The distinct values."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __reduce__(self) -> tuple[Callable[..., Categorical[T]], tuple[Any, ...]]:
        return _unpickled, (*packed(self.codes), self.categories)

    def __repr__(self) -> str:
        return f"Categorical({counted(len(self), 'value')}, {len(self.categories)} distinct)"

    @classmethod
    def of(cls, values: Sequence[T | None]) -> Categorical[T]:
        """The categorical column of `values`; None is N/A."""
        places: defaultdict[T | None, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
        missing = places.pop(None, None)
        if missing is not None:
            codes[codes == missing] = MISSING_CODE
            codes[codes > missing] -= 1
        return cls(codes, tuple(places))  # type: ignore[arg-type]  # None was taken out

    @classmethod
    def concatenated(cls, parts: Sequence[Categorical[T]]) -> Categorical[T]:
        """One column after the other, over the words that they use."""
        places: dict[T, int] = {}
        codes = []
        for part in parts:
            is_used = np.zeros(len(part.categories) + 1, np.bool_)  # the last is for N/A
            is_used[part.codes] = True
            place_of = np.full(len(is_used), MISSING_CODE)
            for code in np.flatnonzero(is_used[:-1]).tolist():
                place_of[code] = places.setdefault(part.categories[code], len(places))
            codes.append(place_of[part.codes])
        return cls(np.concatenate(codes) if codes else np.empty(0, np.int64), tuple(places))

    @classmethod
    def constant(cls, value: T, rows: int) -> Categorical[T]:
        """`rows` times the same value, which takes no memory a row."""
        return cls(constant(np.int64(0), rows), (value,))

    @classmethod
    def missing(cls, rows: int) -> Categorical[T]:
        """`rows` times N/A, which takes no memory a row."""
        return cls(constant(np.int64(MISSING_CODE), rows), ())

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.int64] | NDArray[np.int32]) -> Categorical[T]:
        """The same column with only `rows`, in their order."""
        return Categorical(self.codes[rows], self.categories)

    def mapped(self, function: Callable[[T], U | None]) -> Categorical[U]:
        """The column of `function(value)`; called once for each distinct value."""
        words = Categorical.of([function(word) for word in self.categories])
        codes = np.append(words.codes, MISSING_CODE)  # so that -1 finds -1
        return Categorical(codes[self.codes], words.categories)

    def where(self, holds: Iterable[bool]) -> NDArray[np.bool_]:
        """Shape (rows,): whether `holds` is true of a row's value, N/A being false.

        `holds` gives one truth for each category, in their order.
        """
        truths = np.fromiter(holds, np.bool_, len(self.categories))
        return np.append(truths, False)[self.codes]

    def ranks(self, *, natural: bool = False) -> NDArray[np.float64]:
        """Shape (rows,): each value's rank among the sorted categories, NaN for N/A.

        Numbers come before texts. With `natural`, digits within texts count as numbers: conv2
        comes before conv10.
        """
        as_key = _natural if natural else _plain
        keys: list[Any] = [as_key(category) for category in self.categories]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        rank = np.full(len(order) + 1, np.nan)
        rank[order] = np.arange(len(order))
        return rank[self.codes]

    def values(self) -> NDArray[Any]:
        """Shape (rows,), dtype object: the values themselves, None for N/A."""
        words = np.empty(len(self.categories) + 1, dtype=object)
        for place, word in enumerate(self.categories):  # one by one: words may be tuples
            words[place] = word
        return words[self.codes]


def _unpickled(codes: NDArray[np.int64], size: int | None, categories: Any) -> Categorical[Any]:
    return Categorical(unpacked(codes, size), categories)


def _plain(value: Any) -> Any:
    return isinstance(value, str), value


def _natural(value: Any) -> Any:
    """Every other part of a text is digits, so that parts of one kind are compared."""
    if not isinstance(value, str):
        return False, value
    parts = re.split(r"([0-9]+)", value)
    return True, [_digits(part) if n % 2 else (0, part) for n, part in enumerate(parts)], value


def _digits(text: str) -> tuple[int, str]:
    """What digits are sorted by: the longer number is larger, however long (`int` has a limit)."""
    significant = text.lstrip("0")
    return len(significant), significant

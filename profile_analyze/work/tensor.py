"""`Tensor`: the shape and dtype of an input or output of an operator."""

from __future__ import annotations

from math import ceil, isnan, nan, prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")

Dims: TypeAlias = "tuple[int | None, ...]"

_BITS_OF: Final = {
    **dict.fromkeys(("complex128",), 128),
    **dict.fromkeys(("fp64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("fp32", "tf32", "int32", "uint32"), 32),
    **dict.fromkeys(("fp16", "bf16", "int16", "uint16"), 16),
    **dict.fromkeys(("fp8", "int8", "uint8", "bool"), 8),
    **dict.fromkeys(("fp4", "int4", "uint4"), 4),
    **dict.fromkeys(("int2", "uint2"), 2),
}
"""The size in bits of a value of each dtype in `terms.DTYPES`."""

LARGEST_SIZE: Final = (1 << 63) - 1
"""The largest number of elements or bytes that a tensor can have."""
_MOST_DIMENSIONS: Final = 64
"""A shape with more dimensions cannot be right, because no runtime supports so many."""


def bytes_of(dtype: str | None) -> float:
    """Return the bytes of one value of a canonical dtype; NaN if they are unknown.

    A value of 4 bits takes half a byte, and a value of 2 bits takes a quarter.
    """
    bits = _BITS_OF.get(dtype or "")
    return nan if bits is None else bits / 8


def compute_dtype(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> str | None:
    """Return the canonical dtype that an operator computes in; None if it is unknown.

    The first input decides. If its dtype is bool or unknown, the first output decides. Later inputs
    decide only if there are no outputs, because later inputs are often indices or sizes.
    """
    candidates = (*inputs[:1], *(outputs[:1] or inputs[1:]))
    return next((one for one in candidates if one in _BITS_OF and one != "bool"), None)


def is_possible_shape(sizes: Iterable[int | None]) -> bool:
    """Return whether a tensor can have these sizes: their number and their product are limited.

    Sizes that are unknown or 0 are left out of the product. A damaged file may have millions of
    sizes, whose product would take hours to compute. The loop therefore stops at the limits.
    """
    elements = 1
    for index, size in enumerate(sizes):
        elements *= size if size and size > 0 else 1
        if index >= _MOST_DIMENSIONS or elements > LARGEST_SIZE:
            return False
    return True


def all_known(values: Iterable[T | None]) -> tuple[T, ...] | None:
    """Return the values, such as the sizes of a shape; None if one of them is unknown."""
    known: list[T] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return tuple(known)


class Tensor(NamedTuple):
    """An input or output of an operator, without its values."""

    shape: Dims | None
    """The sizes of all dimensions. An unknown size is None. If even the number of dimensions is
    unknown, the whole shape is None."""
    dtype: str | None = None
    """One of `terms.DTYPES`; None if it is unknown."""
    strides: tuple[int, ...] | None = None
    """The distance in memory between neighbours in each dimension, in elements; None if it is
    unknown. With stride 0, all positions in a dimension are the same element."""

    @property
    def elements(self) -> float:
        """The number of elements, 1 for a scalar; NaN if a size is unknown."""
        sizes = None if self.shape is None else all_known(self.shape)
        return nan if sizes is None else float(prod(sizes))

    @property
    def bytes(self) -> float:
        """The bytes of all elements, rounded up to a whole number; NaN if they are unknown.

        An element that a dimension with stride 0 repeats counts once.
        """
        exact = self._distinct_elements * bytes_of(self.dtype)
        return exact if isnan(exact) else float(ceil(exact))

    @property
    def _distinct_elements(self) -> float:
        if self.shape is None or self.strides is None or 0 not in self.strides:
            return self.elements
        sizes = zip(self.shape, self.strides, strict=True)
        return Tensor(tuple(1 if size and not stride else size for size, stride in sizes)).elements


def known_shape(tensor: Tensor | None) -> tuple[int, ...]:
    """Return the shape of a tensor; empty without a tensor, or if a size is unknown."""
    return () if tensor is None or tensor.shape is None else all_known(tensor.shape) or ()

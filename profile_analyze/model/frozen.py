"""Read-only arrays, and arrays that store one constant for all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)


def freeze_arrays(value: Any) -> None:
    """Make all arrays in the fields of the data class `value` read-only."""
    for name in value.__dataclass_fields__:
        inner = getattr(value, name)
        if isinstance(inner, np.ndarray):
            inner.flags.writeable = False


def frozen(array: NDArray[S]) -> NDArray[S]:
    """Make `array` read-only, and return it."""
    array.flags.writeable = False
    return array


def constant(value: S, size: int) -> NDArray[S]:
    """Return an array of shape (size,) in which every element is `value`, stored once."""
    # A stride of 0 reads the same element for every index. `np.broadcast_to` does the same, but
    # several times slower, which matters for small profiles.
    return frozen(np.ndarray((size,), value.dtype, np.array(value), strides=(0,)))


def is_constant(values: NDArray[Any]) -> bool:
    """Return whether `values` has rows, and stores one value for all of them."""
    return len(values) > 0 and values.strides == (0,)


def packed(values: NDArray[Any]) -> tuple[NDArray[Any], int | None]:
    """Return what to pickle for `values`: an array and a size.

    For a constant, these are its first value and its length. For any other array, they are the
    array itself and None.
    """
    return (values[:1], len(values)) if is_constant(values) else (values, None)


def unpacked(values: NDArray[Any], size: int | None) -> NDArray[Any]:
    """Return the array from which `packed` made `values` and `size`."""
    return values if size is None else constant(values[0], size)

"""Arrays that cannot be changed, as frozen values hold them, and constant ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)


def freeze_arrays(value: Any) -> None:
    """Forbid writing to the arrays that the data class `value` holds, for whoever gets them."""
    for name in value.__dataclass_fields__:
        inner = getattr(value, name)
        if isinstance(inner, np.ndarray):
            inner.flags.writeable = False


def frozen(array: NDArray[S]) -> NDArray[S]:
    """`array` itself, which is not to be written to any more."""
    array.flags.writeable = False
    return array


def constant(value: S, size: int) -> NDArray[S]:
    """Shape (size,): `size` times the same value, which is stored once.

    `np.broadcast_to` makes the same, but takes several times as long, which tells for small files.
    """
    return frozen(np.ndarray((size,), value.dtype, np.array(value), strides=(0,)))


def is_constant(values: NDArray[Any]) -> bool:
    """Whether the same value is stored once for all of `values`."""
    return len(values) > 0 and values.strides == (0,)


def packed(values: NDArray[Any]) -> tuple[NDArray[Any], int | None]:
    """`values` for a pickle, which would have a copy of a constant for each row."""
    return (values[:1], len(values)) if is_constant(values) else (values, None)


def unpacked(values: NDArray[Any], size: int | None) -> NDArray[Any]:
    """What was packed."""
    return values if size is None else constant(values[0], size)

"""Finds the zeros in stored weights. Large weights are read only here, and only on demand."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.readers.onnx.safety.external_data import ModelFolder

_NONZERO_BITS: Final = {
    "FLOAT": (32, 0x7FFF_FFFF),
    "DOUBLE": (64, 0x7FFF_FFFF_FFFF_FFFF),
    "FLOAT16": (16, 0x7FFF),
    "BFLOAT16": (16, 0x7FFF),
    "FLOAT8E4M3FN": (8, 0x7F),
    "FLOAT8E5M2": (8, 0x7F),
    "FLOAT8E4M3FNUZ": (8, 0xFF),
    "FLOAT8E5M2FNUZ": (8, 0xFF),
    "FLOAT4E2M1": (4, 0x7),
    **{
        f"{sign}INT{bits}": (bits, (1 << bits) - 1)
        for sign in ("", "U")
        for bits in (2, 4, 8, 16, 32, 64)
    },
    "BOOL": (8, 0xFF),
}
"""For each dtype name: the size of a value in bits, and a mask. A value is 0 if all its bits in the
mask are 0. Masks of floats lack the sign bit, because -0.0 is a zero. Masks of FNUZ dtypes have the
sign bit, because the bits of -0.0 stand for NaN there."""

_BITS_OF_NUMBER: Final = {
    number: _NONZERO_BITS[name]
    for name, number in TensorProto.DataType.items()
    if name in _NONZERO_BITS
}
"""The values of `_NONZERO_BITS`, by the number of the dtype in ONNX."""

_INTEGERS: Final = [number for name, number in TensorProto.DataType.items() if "INT" in name]


LARGEST_SPARSE: Final = 1 << 28
"""In a sparse weight with more elements than this, the zeros are not located: a small file can have
a sparse weight that is too large for memory."""


def zeros_of(proto: Any, folder: ModelFolder | None) -> NDArray[np.bool_] | None:
    """Return, for each element of a weight, whether it is 0; None if the values are unavailable.

    `folder` has the files with external data; it is None if there is no such folder.
    """
    if isinstance(proto, SparseTensorProto):
        return _zeros_of_sparse(proto)
    words = words_of(proto, folder)
    return None if words is None else words == 0


def words_of(proto: Any, folder: ModelFolder | None) -> NDArray[Any] | None:
    """Return an array that is 0 exactly where a dense weight is 0; None if it is unavailable.

    For integer dtypes, equal elements of the weight are also equal in the array.
    """
    shape = tuple(proto.dims)
    if proto.data_type not in _BITS_OF_NUMBER:
        return None
    bits, nonzero = _BITS_OF_NUMBER[proto.data_type]
    if proto.data_location == TensorProto.EXTERNAL:
        raw = _external(proto, folder, -(-prod(shape) * bits // 8))
    elif proto.raw_data:
        raw = np.frombuffer(proto.raw_data, np.uint8)
    else:
        return _words_of_fields(proto, shape, nonzero)
    return None if raw is None else _words_of_bytes(raw, shape, bits, nonzero)


def _words_of_bytes(
    raw: NDArray[np.uint8], shape: tuple[int, ...], bits: int, nonzero: int
) -> NDArray[Any] | None:
    """Return each value of `bits` bits as an integer. Values of fewer than 8 bits share a byte.

    Bits that are not in the mask `nonzero` become 0. None if there are too few or too many bytes.
    """
    elements = prod(shape)
    if len(raw) != -(-elements * bits // 8):
        return None
    words: NDArray[Any] = raw.view(f"<u{bits // 8}") if bits >= 8 else _parts(raw, bits)[:elements]
    significant: NDArray[Any] = words & words.dtype.type(nonzero)
    return significant.reshape(shape)


def _parts(raw: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Split each byte into parts of `bits` bits. The lowest bits come first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts: NDArray[np.uint8] = (raw[:, None] >> shifts) & np.uint8((1 << bits) - 1)
    return parts.reshape(-1)


def _external(proto: Any, folder: ModelFolder | None, size: int) -> NDArray[np.uint8] | None:
    """Return `size` bytes of external data, which stay in the file until they are used."""
    entries = {entry.key: entry.value for entry in proto.external_data}
    stream = None if folder is None or not size else folder.open(entries.get("location", ""))
    if stream is None:
        return None
    with stream:
        try:
            offset = int(entries.get("offset", 0))
            return np.memmap(stream, np.uint8, "r", offset, (size,))
        except (OSError, OverflowError, ValueError):  # the file is too short
            return None


def _words_of_fields(proto: Any, shape: tuple[int, ...], nonzero: int) -> NDArray[Any] | None:
    """Return the values of a weight that is stored as a list of numbers."""
    try:
        values = numpy_helper.to_array(proto)
    except (TypeError, ValueError):  # no values, or a wrong number of values
        return None
    if values.shape != shape or not values.size:
        return None
    if proto.data_type not in _INTEGERS:
        return values
    return values.astype(np.int64).astype(np.uint64) & np.uint64(nonzero)


def share_of_zeros(sparse: SparseTensorProto) -> float:
    """Return the share of zeros in a sparse weight without locating them; NaN if it is unknown."""
    stored, elements = zeros_of(sparse.values, None), prod(sparse.dims)
    if stored is None or not stored.size <= elements:
        return nan
    return float(1 - np.count_nonzero(~stored) / elements)


def _zeros_of_sparse(proto: Any) -> NDArray[np.bool_] | None:
    """Return where a sparse weight is 0. Elements that it does not store are 0."""
    stored = zeros_of(proto.values, None)
    shape = tuple(proto.dims)
    if prod(shape) > LARGEST_SPARSE:
        return None
    try:
        indices = numpy_helper.to_array(proto.indices)
        if indices.ndim > 1:  # each element has one index for each axis
            indices = np.ravel_multi_index(tuple(indices.T), shape)
        zeros = np.ones(prod(shape), np.bool_)
        if stored is None:
            return None
        zeros[indices] = stored
    except (TypeError, ValueError, IndexError):
        return None
    return zeros.reshape(shape)

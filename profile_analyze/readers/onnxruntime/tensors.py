"""Translates dtypes and shapes of ONNX Runtime."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec

from profile_analyze.work.tensor import Tensor, is_possible_shape

DTYPES: Final = {
    "float": "fp32",
    "double": "fp64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float4e2m1": "fp4",
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"), "fp8"),
}
"""The canonical names (`terms.DTYPES`) of dtypes that have another name in ONNX Runtime."""

_Size: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_decode: Final = msgspec.json.Decoder(list[dict[str, list[_Size]]]).decode


def tensors_of(text: bytes) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """Return dtype and shape of each tensor in a list such as `[{"float":[1,3]},{"int64":[]}]`.

    None if the file has no list. The names of the dtypes are as in the file.
    """
    if not text:
        return None
    try:
        found = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return tuple((dtype, tuple(shape)) for one in found for dtype, shape in one.items())


def tensor(dtype: str, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor with a canonical dtype. Impossible sizes become unknown."""
    dims = tuple(size if size >= 0 else None for size in shape)
    return Tensor(dims if is_possible_shape(dims) else None, DTYPES.get(dtype, dtype))

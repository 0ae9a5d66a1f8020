"""The tensors of an engine: their shapes, their dtypes, and the padding of their channels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from profile_analyze.readers.computed_once import computed_once
from profile_analyze.work.tensor import Tensor, all_known, is_possible_shape

if TYPE_CHECKING:
    from profile_analyze.model.operators import Shape

_LEAST_RANK_OF_IMAGES: Final = 4

_DTYPES: Final = {
    **dict.fromkeys(("float", "fp32"), "fp32"),
    **dict.fromkeys(("half", "fp16"), "fp16"),
    **dict.fromkeys(("bfloat16", "bf16"), "bf16"),
    **{name: name for name in ("fp8", "fp4", "int4", "int8", "int32", "int64", "uint8", "bool")},
}
"""The canonical names (`terms.DTYPES`) of the dtypes that `EngineTensor.format` may contain."""
_DTYPE: Final = re.compile(rf"\b({'|'.join(_DTYPES)})\b", re.IGNORECASE)
_WIDTHS: Final = {"two": 2, "four": 4, "eight": 8, "sixteen": 16, "thirty-two": 32}
_WIDTH: Final = re.compile(rf"\b({'|'.join(_WIDTHS)}) wide channel", re.IGNORECASE)
_MULTIPLE: Final = re.compile(r"channel % ([1-9][0-9]{0,2}) == 0")


class EngineTensor(msgspec.Struct, gc=False):
    """An input or output of a layer, as the file describes it."""

    name: Annotated[str, msgspec.Meta(min_length=1)] = msgspec.field(name="Name")
    """The name, which shows that two layers use the same tensor."""
    dims: list[int] | None = msgspec.field(default=None, name="Dimensions")
    format: str = msgspec.field(default="", name="Format/Datatype")

    @property
    def dtype_name(self) -> str | None:
        """The name of the dtype in the file; None if the file has no dtype."""
        return _dtype_name(self.format)

    @property
    def shape(self) -> Shape | None:
        """The shape; None if a size is unknown."""
        dims = self.tensor.shape
        return None if dims is None else all_known(dims)

    @property
    def tensor(self) -> Tensor:
        """The tensor with its canonical dtype. Dynamic sizes are None."""
        dtype = canonical_dtype(self.dtype_name)
        if self.dims is None or not is_possible_shape(self.dims):
            return Tensor(None, dtype)
        return Tensor(tuple(size if size >= 0 else None for size in self.dims), dtype)

    @property
    def stored(self) -> Tensor:
        """The tensor as it is in memory, where some formats round up the number of channels."""
        shape = self.shape
        if shape is None or len(shape) < _LEAST_RANK_OF_IMAGES:
            return self.tensor
        block = _channel_block(self.format)
        return self.tensor._replace(shape=(shape[0], -(-shape[1] // block) * block, *shape[2:]))


def canonical_dtype(name: str | None) -> str | None:
    """Return the canonical name of a dtype; None if the dtype is unknown."""
    return None if name is None else _DTYPES.get(name.lower())


@computed_once
def _dtype_name(format_: str) -> str | None:
    """Return the name of the dtype in a format; None if the format has no dtype."""
    found = _DTYPE.search(format_)
    return None if found is None else found[1]


@computed_once
def _channel_block(format_: str) -> int:
    """Return the block size. The format rounds up the channels to a multiple of this size."""
    if found := _WIDTH.search(format_):
        return _WIDTHS[found[1].lower()]
    found = _MULTIPLE.search(format_)
    return 1 if found is None else int(found[1])

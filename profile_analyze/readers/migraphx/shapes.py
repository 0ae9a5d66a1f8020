"""Reads shapes as MIGraphX prints them: `half_type, {1, 64, 56, 56}, {0, 1, 0, 0}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.work.tensor import Tensor, all_known, is_possible_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.work.tensor import Dims

_COMMA: Final = r"\s*[,\uff0c]\s*"
"""Some builds print full-width commas."""
_SHAPE: Final = re.compile(
    rf"dynamic{_COMMA}(?P<dynamic>\w+){_COMMA}\{{(?P<ranges>(?:[^{{}}]|\{{[^{{}}]*\}})*)\}}"
    rf"|(?P<type>\w+){_COMMA}\{{(?P<lens>[^{{}}]*)\}}{_COMMA}\{{(?P<strides>[^{{}}]*)\}}"
)
SHAPE_START: Final = rf"(?:\w+_type{_COMMA}\{{|dynamic{_COMMA}\w+{_COMMA}\{{|\[)"
"""Matches where a shape may begin."""
_DIMENSION: Final = re.compile(r"\[(?P<range>[^\[\]]*)\]|(?P<size>\d+)")
_NUMBER: Final = re.compile(r"\d+")
_DETAILED: Final = re.compile(r"(?P<lens>\d+(?:x\d+)*)(?::(?P<strides>\d+(?:x\d+)*))?")
_MOST_DIGITS: Final = 18

_DTYPES: Final = {
    "float": "fp32",
    "half": "fp16",
    "double": "fp64",
    "fp4x2": "fp4",
}
"""The canonical names (`terms.DTYPES`) of types that have another name in MIGraphX."""
_SUFFIX: Final = "_type"
_PACKED: Final = "fp4x2_type"
"""A type with two values in each element. Printed sizes count the elements, not the values."""


class Shape(NamedTuple):
    """The type, sizes and strides of one tensor."""

    type: str
    """The name in the file: `float_type`."""
    lens: Dims
    """The sizes; None for a size that may change from run to run."""
    strides: tuple[int, ...] | None = None
    """In elements; None if they are unknown."""

    @property
    def dtype(self) -> str:
        """The canonical name of the type; the name in the file if there is no canonical name."""
        name = self.type.removesuffix(_SUFFIX)
        return "fp8" if name.startswith("fp8") else _DTYPES.get(name, name)

    @property
    def tensor(self) -> Tensor:
        """The tensor with all of its values."""
        return self._with(self.lens)

    @property
    def stored(self) -> Tensor:
        """The tensor as it is in memory: broadcast values (stride 0) are stored only once."""
        strides = self.strides
        if strides is None or len(strides) != len(self.lens):
            return self.tensor
        return self._with(
            tuple(
                1 if stride == 0 and size else size
                for size, stride in zip(self.lens, strides, strict=True)
            )
        )

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow one another in memory. True if the strides are unknown."""
        if self.strides is None or len(self.strides) != len(self.lens):
            return True
        expected = 1
        for size, stride in zip(reversed(self.lens), reversed(self.strides), strict=True):
            if size is None or (size > 1 and stride != expected):
                return False
            expected *= size
        return True

    def _with(self, lens: Dims) -> Tensor:
        if self.type == _PACKED and lens and lens[-1] is not None:
            lens = (*lens[:-1], 2 * lens[-1])
        return Tensor(lens if is_possible_shape(lens) else None, self.dtype)


def shapes_of(text: str) -> tuple[Shape, ...]:
    """Return the shape or the list of shapes at the start of `text`; empty without a shape."""
    if text.startswith("["):
        return tuple(map(_shape, _SHAPE.finditer(text)))
    found = _SHAPE.match(text)
    return () if found is None else (_shape(found),)


def _shape(found: re.Match[str]) -> Shape:
    if found["dynamic"] is not None:
        return Shape(found["dynamic"], tuple(_dimensions(found["ranges"])))
    return Shape(found["type"], _sizes(found["lens"]), all_known(_sizes(found["strides"])))


def _dimensions(text: str) -> Iterable[int | None]:
    """Yield the sizes of a dynamic shape: `[1..4]` becomes None, and `[3..3]` becomes 3."""
    for found in _DIMENSION.finditer(text):
        if found["range"] is None:
            yield from _sizes(found["size"])
        else:
            limits = _sizes(found["range"])[:2]
            yield limits[0] if len(limits) == 2 and limits[0] == limits[1] else None


def _sizes(text: str) -> Dims:
    return tuple(
        int(digits) if len(digits) <= _MOST_DIGITS else None for digits in _NUMBER.findall(text)
    )


def detailed_shapes(text: str) -> tuple[Shape, ...]:
    """Return the shapes of the arguments of a group: `half_type(1x64, 64x1000:1x64, 1x1000)`.

    The last argument may be the buffer for the output. MIGraphX prints only the dtype of the
    output. The inputs are assumed to have the same dtype.
    """
    type_, _, arguments = text.partition("(")
    return tuple(
        Shape(
            type_,
            _sizes(found["lens"]),
            None if found["strides"] is None else all_known(_sizes(found["strides"])),
        )
        for found in _DETAILED.finditer(arguments)
    )


def sizes_of(shapes: Sequence[Shape]) -> tuple[tuple[int, ...], ...] | None:
    """Return the sizes of all shapes; None if any size is unknown."""
    return all_known(all_known(shape.lens) for shape in shapes)

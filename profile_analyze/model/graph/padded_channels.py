"""Compares the shapes of operators if a runtime pads their channels to whole blocks.

For example, a model has a convolution with 1,000 output channels. If a runtime keeps channels in
blocks of 16, the same convolution has 1,008 output channels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.terms import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.model.operators import Shape, Shapes
    from profile_analyze.model.profile import Profile

CHANNEL_BLOCKS: Final = "channel_blocks"
"""The optional column with the possible sizes of the blocks of channels of an operator, such as
(8, 16). All are powers of two. The column is N/A if the channels are not in blocks."""
_OF_IMAGES: Final = (1,)
_OF_WEIGHTS: Final = (0, 1)
"""The dimensions that count channels. Weights have output channels, then input channels; a bias has
only output channels."""


class BlockedShapes(NamedTuple):
    """The shapes of an operator, and the possible sizes of its blocks of channels."""

    images: Shapes
    """The shapes of the first input and of all outputs."""
    weights: Shapes
    """The shapes of the other inputs, which may be weights."""
    blocks: tuple[int, ...]
    """Empty if the channels are not in blocks."""

    def rounded(self, size: int) -> tuple[Shapes, Shapes]:
        """Return images and weights, with the numbers of channels rounded up to blocks of `size`.

        If an operator is another operator padded to blocks of `size`, or of a smaller size, the
        results of the two operators are equal.
        """
        return (
            tuple(_rounded(shape, size, _OF_IMAGES) for shape in self.images),
            tuple(_rounded(shape, size, _OF_WEIGHTS) for shape in self.weights),
        )

    def pads(self, other: BlockedShapes) -> bool:
        """Return whether these are the shapes of `other`, with channels padded to whole blocks."""
        return not other.blocks and any(
            _are_padded(self.images, other.images, size, _OF_IMAGES)
            and _are_padded(self.weights, other.weights, size, _OF_WEIGHTS)
            for size in self.blocks
        )


def blocked_shapes(profile: Profile) -> list[BlockedShapes | None]:
    """Return the shapes and blocks of each operator; None if its shapes are unknown."""
    operators = profile.operators
    names = (*SHAPES, CHANNEL_BLOCKS)
    rows = zip(*(operators.categorical(name).values().tolist() for name in names), strict=True)
    return [
        None
        if inputs is None or outputs is None
        else BlockedShapes((*inputs[:1], *outputs), inputs[1:], blocks or ())
        for inputs, outputs, blocks in rows
    ]


def block_sizes(*profiles: Profile) -> list[int]:
    """Return all possible sizes of blocks, in ascending order; empty if no operator has blocks."""
    columns = (profile.operators.categorical(CHANNEL_BLOCKS) for profile in profiles)
    return sorted({size for one in columns for sizes in one.categories for size in sizes})


def _are_padded(shapes: Shapes, unpadded: Shapes, size: int, channels: Sequence[int]) -> bool:
    """Return whether `shapes` are the `unpadded` shapes, or padded in the dimensions `channels`."""
    return [*map(len, shapes)] == [*map(len, unpadded)] and all(
        one == expected or (n in channels and one == _padded(expected, size))
        for shape, other in zip(shapes, unpadded, strict=True)
        for n, (one, expected) in enumerate(zip(shape, other, strict=True))
    )


def _rounded(shape: Shape, size: int, channels: Sequence[int]) -> Shape:
    """Return the shape with the dimensions `channels` rounded up to multiples of `size`."""
    return tuple(_padded(one, size) if n in channels else one for n, one in enumerate(shape))


def _padded(channels: int, size: int) -> int:
    return -(-channels // size) * size

"""What a reader is: one input format, from bytes to a `Profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.source import Source


class Recogniser(Protocol):
    """Tells whether an input is of one format."""

    @property
    def format(self) -> str:
        """The name of the format in messages."""

    def recognises(self, head: bytes, name: str) -> bool:
        """Return whether an input is of this format, even if it is damaged.

        `head` is how the input begins: see `Source.head`. It is 64 KiB long, and longer only if
        no reader recognised that much. `name` is the name of the input.
        """


class Reader(Recogniser, Protocol):
    """Reads one input format. This is all that a reader must have."""

    @property
    def hallmark(self) -> str:
        """What every file of this format has, for messages."""

    default_output_format: str = "plain"
    """The output format of a profile of this format, unless the user asks for another."""

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """Return the profile in `source`, which this reader recognised.

        `wanted` names the optional columns that the question needs, of `OPTIONAL_COLUMNS` and
        `TABLES` in `model/`.

        Raises `MalformedProfileError`.
        """


class ReadTogether(NamedTuple):
    """Several inputs of one format, read at once."""

    profile: Profile
    """The operators of all inputs, one input after another, with a run of each. Without notes."""
    file_of: NDArray[np.int64]
    """Shape (operators,): the index of each one's input."""
    notes: Sequence[Sequence[str]]
    """The notes on each input."""


@runtime_checkable
class BatchReader(Protocol):
    """A reader that reads several small inputs in less time than one after another."""

    def read_together(
        self, sources: Sequence[Source], wanted: Collection[str]
    ) -> ReadTogether | None:
        """Return the profiles in `sources`, which this reader recognised.

        None if they cannot be read together, for example because one is damaged. They are then
        read one by one, and `Reader.read` says what is wrong.
        """

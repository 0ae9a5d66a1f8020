"""The interface of readers: each reads one input format, from bytes to a `Profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.source import Source


class Recogniser(Protocol):
    """Recognises inputs of one format."""

    @property
    def format(self) -> str:
        """The name of the format in messages."""

    def recognises(self, head: bytes, name: str) -> bool:
        """Return whether an input is of this format, even if it is damaged.

        `head` is the beginning of the input: see `Source.head`. It is 64 KiB long, and longer
        only if no reader recognised that much. `name` is the name of the input.
        """


class Reader(Recogniser, Protocol):
    """Reads one input format. A reader needs no other members than these."""

    @property
    def hallmark(self) -> str:
        """What all files of this format have in common, for messages."""

    default_output_format: str = "plain"
    """The output format of a profile of this format, unless the user asks for another."""

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """Return the profile in `source`, which this reader recognised.

        `wanted` names the optional columns and tables that the question needs, from
        `OPTIONAL_COLUMNS` and `TABLES` in `model/`.

        Raises `MalformedProfileError`.
        """


class ReadTogether(NamedTuple):
    """The result of reading several inputs of one format together."""

    profile: Profile
    """The operators of all inputs, one input after another. Each input is one run. It has no
    notes."""
    file_of: NDArray[np.int64]
    """Shape (operators,): the index of each operator's input."""
    notes: Sequence[Sequence[str]]
    """The notes on each input."""


@runtime_checkable
class BatchReader(Protocol):
    """A reader that reads several small inputs together faster than one by one."""

    def read_together(
        self, sources: Sequence[Source], wanted: Collection[str]
    ) -> ReadTogether | None:
        """Return the profiles in `sources`, which this reader recognised.

        Return None if they cannot be read together, for example because one is damaged. They
        are then read one by one, and `Reader.read` says what is wrong.
        """

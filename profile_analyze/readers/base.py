"""The interface of readers: each reads one input format, from bytes to a `Profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.source import Source


class Recogniser(Protocol):
    """Recognises inputs of one format."""

    @property
    def format(self) -> str:
        """The name of the format in messages."""

    def recognises(self, head: bytes, name: str) -> bool:
        """Return whether an input has this format, even if it is damaged.

        `head` is the start of the input: its first 64 KiB. If no reader recognises the input by
        these, all readers are asked again with a longer `head`. `name` is the name of the input.
        """


class Reader(Recogniser, Protocol):
    """Reads one input format. A reader needs only these members."""

    has_inputs: bool = False
    """Whether its files are models with inputs, to which `Source.inputs` gives sizes."""
    default_output_format: str = "plain"
    """The default output format for profiles of this format. Readers of other packages have no
    choice: it is plain."""

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """Return the profile in `source`, which this reader recognised.

        `wanted` names the optional columns and tables that the question needs, from
        `OPTIONAL_COLUMNS` and `TABLES` in `model/`.

        Raises `MalformedProfileError`.
        """


class ReadTogether(NamedTuple):
    """The result of reading several inputs of one format together."""

    profile: Profile
    """The operators of all inputs, one input after another, and a run for each input. The notes
    are not in this profile, but in `notes`."""
    file_of: NDArray[np.int64]
    """Shape (operators,): the index of the input that each operator is from."""
    notes: Sequence[Sequence[Note]]
    """The notes on each input."""


# Checked at run time, so that readers without a faster way need no stub of this method.
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

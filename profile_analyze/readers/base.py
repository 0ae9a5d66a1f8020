"""What every reader is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from profile_analyze.model.profile import Profile


class Content(NamedTuple):
    """What was found in a file."""

    file: str
    """The name it was asked for under, for messages."""
    data: bytes
    """All of it, decompressed, without a byte order mark."""


class ReadTogether(NamedTuple):
    """Several files of one format, read at once."""

    profile: Profile
    """The operators of all of them, `run_of` telling the file of each; without notes."""
    notes: Sequence[Sequence[str]]
    """What is to be said of each file."""


class Reader(Protocol):
    """One input format."""

    @property
    def format(self) -> str:
        """What the format is called in messages."""

    @property
    def hallmark(self) -> str:
        """What every file of this format has, for messages."""

    def recognises(self, data: bytes) -> bool:
        """Whether `data` is of this format, be it damaged or not."""

    def read(self, content: Content, details: Collection[str], *, processes: int = 1) -> Profile:
        """The profile in `content`, which this reader recognises, with these of `DETAILS`.

        If there may be several `processes`, it may fork others for a large file.

        Raises `MalformedProfileError`.
        """

    def read_together(
        self, contents: Sequence[Content], details: Collection[str]
    ) -> ReadTogether | None:
        """The profiles in `contents`, all of which this reader recognises.

        Of small files this takes less time than to `read` each. None if one of them is
        broken or has to be mended, which `read` tells or does.
        """

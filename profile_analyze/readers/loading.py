"""From a file of any format that is read here to a `Profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.errors import UnknownFormatError
from profile_analyze.model.profile import DETAILS
from profile_analyze.readers.content import MAX_SIZE, read_content
from profile_analyze.readers.megengine import MegEngineReader

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from os import PathLike

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Content, Reader, ReadTogether

READERS: Final[tuple[Reader, ...]] = (MegEngineReader(),)
"""Every format that is read, in the order in which they are tried."""


def load(
    path: str | PathLike[str],
    *,
    details: Collection[str] = DETAILS,
    processes: int = 1,
    max_size: int = MAX_SIZE,
) -> Profile:
    """The profile in the file `path`, plain or compressed by gzip or zstd; `-` is standard input.

    Without some of the `details` (shapes, dtypes, parameters) it takes less time, and a query that
    asks for those is refused: `details=query.details` reads what `query` needs. With two
    `processes` a part of a large file is decoded by another one, which is forked. `max_size` is
    the most bytes that the file may hold, decompressed: 8 GiB unless you say otherwise.

    Raises `UnknownFormatError` for what is no profile, `MalformedProfileError` for a damaged one,
    and otherwise `InputError` for what cannot be read at all.
    """
    return profile_in(read_content(path, max_size=max_size), details, processes=processes)


def together_in(contents: Sequence[Content], details: Collection[str]) -> ReadTogether | None:
    """What several files turned out to hold, which are read at once; None if they cannot be."""
    for reader in READERS:
        if all(reader.recognises(content.data) for content in contents):
            return reader.read_together(contents, details)
    return None


def profile_in(content: Content, details: Collection[str], *, processes: int = 1) -> Profile:
    """The profile that a file turned out to hold. See `load`."""
    for reader in READERS:
        if reader.recognises(content.data):
            return reader.read(content, details, processes=processes)
    from profile_analyze.readers.foreign import looks_like

    formats = ", ".join(f"{reader.format} ({reader.hallmark})" for reader in READERS)
    raise UnknownFormatError(
        content.file, f"{looks_like(content.data)}; what can be read yet is {formats}"
    )

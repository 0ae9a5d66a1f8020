"""The note on files in a folder that may be profiles, but that the folder does not stand for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import InputError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.content import display_name
from profile_analyze.readers.input.paths import absolute_path
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import READERS
from profile_analyze.readers.recognition import first_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.model.notes import Note

_MOST_FILES: Final = 8
"""The most files whose content is examined, because a folder may have very many texts."""


def notes_on_left_out(files: Iterable[str], named: Iterable[str]) -> Iterator[Note]:
    """Yield a note on those of the `files` that a reader recognises.

    A folder does not stand for these files, because of their suffixes. A file that is also in
    `named` is read, so it gets no note.
    """
    read = {*map(absolute_path, named)}
    unread: dict[str, str] = {}
    for file in files:
        if (path := absolute_path(file)) not in read:
            unread.setdefault(path, file)
    found = [file for file in islice(unread.values(), _MOST_FILES) if _may_be_profile(file)]
    if found:
        first = display_name(found[0])
        yield Finding.of("left-out-by-suffix", Kind.ANSWER, first=first, files=len(found))


def _may_be_profile(file: str) -> bool:
    try:
        with Source(file) as source:
            return first_reader(READERS, source.head(), file) is not None
    except InputError:
        return False

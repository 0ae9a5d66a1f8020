"""Readers that other packages provide, as entry points of the group `profile_analyze.readers`."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import InputError, ProfileAnalyzeError, UnknownFormatError
from profile_analyze.readers.recognition import reader_among
from profile_analyze.readers.unsupported import looks_like

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from importlib.metadata import EntryPoint

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Reader
    from profile_analyze.readers.input.source import Source

GROUP: Final = "profile_analyze.readers"


def reader_of_a_package(source: Source, supported: Sequence[Reader]) -> Reader:
    """Return the reader of another package that recognises `source`.

    `supported` are the readers of this package, which did not recognise `source`. Raises
    `UnknownFormatError`, which may list all formats, if no reader of another package recognises
    `source`. Raises `InputError` if such a reader is broken.
    """
    installed = _installed_readers(source.name)
    reader = reader_among(installed, source)
    if reader is not None:
        return reader
    readers = (*supported, *installed)
    reason, has_advice = looks_like(source.head(), source.name, readers)
    if not has_advice:
        formats = dict.fromkeys(one.format for one in readers)
        reason = f"{reason}; supported formats: {', '.join(formats)}"
    raise UnknownFormatError(source.name, reason)


def _installed_readers(file: str) -> tuple[Reader, ...]:
    """Return the readers of all other packages, sorted by the names of their entry points.

    Raises `InputError` about `file` if a reader cannot be imported or constructed.
    """
    entries = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return tuple(_InstalledReader(entry, file) for entry in entries)


class _InstalledReader:
    """A reader of another package. Its unexpected errors become an `InputError` with its name."""

    default_output_format = "plain"

    def __init__(self, entry: EntryPoint, file: str) -> None:
        """Make the reader. `entry` names its class, which is called without arguments."""
        self._entry = entry
        with self._blamed(file):
            self._reader: Reader = entry.load()()
            self.format = self._reader.format
            self.has_inputs = self._reader.has_inputs

    def recognises(self, head: bytes, name: str) -> bool:
        """See `Recogniser.recognises`."""
        with self._blamed(name):
            return self._reader.recognises(head, name)

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """See `Reader.read`."""
        # The cache cannot tell when the code of another package changes.
        source.cache = None
        with self._blamed(source.name):
            return self._reader.read(source, wanted)

    @contextmanager
    def _blamed(self, file: str) -> Iterator[None]:
        """Turn an error that is no `ProfileAnalyzeError` into an `InputError` about `file`."""
        try:
            yield
        except ProfileAnalyzeError:
            raise
        except Exception as error:
            package = self._entry.dist.name if self._entry.dist else self._entry.module
            raise InputError(
                file,
                f"the reader {self._entry.name} of the package {package} failed "
                f"({type(error).__name__}: {error}); update or uninstall {package}",
            ) from error

"""Readers whose code is imported once a file of their format is read."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.source import Source


class DeferredReader:
    """Recognises a format by the first bytes, and imports its reader only to read a file.

    A call on a file of one format then imports neither the code nor the dependencies of the others.
    """

    has_inputs = True
    default_output_format = "plain"

    def __init__(self, format_: str, hallmark: str, *, module: str, pattern: bytes) -> None:
        """`module` is the name of a module with a function `read`, as in `Reader.read`.

        Files of the format begin with a match of the regular expression `pattern`.
        """
        self.format = format_
        self.hallmark = hallmark
        self._module = module
        self._pattern = pattern

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002  # part of `Recogniser`
        """See `Recogniser.recognises`."""
        return re.match(self._pattern, head, re.DOTALL) is not None

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """See `Reader.read`."""
        profile: Profile = import_module(self._module).read(source, wanted)
        return profile

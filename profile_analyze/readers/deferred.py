"""Readers whose code is imported only when a file of their format is read."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from profile_analyze.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.input.source import Source


class DeferredReader:
    """Recognises files of a format. Imports the code and packages to read them only when needed."""

    default_output_format = "plain"

    def __init__(
        self,
        format_: str,
        *,
        module: str,
        pattern: bytes,
        suffixes: tuple[str, ...] = ("",),
        searched: int | None = None,
        extra: str | None = None,
        has_inputs: bool = False,
    ) -> None:
        """`module` names a module whose function `read` works as `Reader.read` does.

        `extra` is a package that the module needs; None if it needs no further package. An extra of
        profile_analyze with the same name installs this package. For `has_inputs` see `Reader`.

        A file has the format if its name ends with one of `suffixes`, and its bytes begin with a
        match of the regular expression `pattern`. Only the first `searched` bytes are searched.
        """
        self.has_inputs = has_inputs
        self.format = format_
        self._module = module
        self._extra = extra
        self._pattern = pattern
        self._suffixes = suffixes
        self._searched = searched

    def recognises(self, head: bytes, name: str) -> bool:
        """See `Recogniser.recognises`."""
        if not name.lower().endswith(self._suffixes):
            return False
        return re.match(self._pattern, head[: self._searched], re.DOTALL) is not None

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """See `Reader.read`."""
        if self._extra is not None:
            source.packages.add(self._extra)
        try:
            module = import_module(self._module)
        except ModuleNotFoundError as error:
            if self._extra is None or error.name != self._extra:
                raise
            raise InputError(
                source.name,
                f"is an {self.format}; to read it, install the extra {self._extra}: "
                f"pip install 'profile_analyze[{self._extra}]'",
            ) from None
        profile: Profile = module.read(source, wanted)
        return profile

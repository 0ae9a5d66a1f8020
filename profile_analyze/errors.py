"""What can go wrong, as one tree.

    ProfileAnalyzeError
    ├── InputError                  the input cannot be read              exit 1
    │   ├── UnknownFormatError      it is no profile that is read here
    │   └── MalformedProfileError   it is such a profile, but broken
    ├── OutputError                 the answer cannot be written          exit 1
    └── QueryError                  the question makes no sense           exit 2
        ├── QuantityError           a number with a unit that is not one
        ├── PatternError            a regular expression that fails
        ├── PeaksError              rates of a device that are not known, or not rates
        └── UnknownColumnError      a column that does not exist

Each message is one line that says what was found and what to do; one about the input begins with
the file's name.
"""

from __future__ import annotations


class ProfileAnalyzeError(Exception):
    """The base of every exception that this package raises on purpose.

    `exit_code` is what the command ends with when the exception reaches it.
    """

    exit_code = 1


class InputError(ProfileAnalyzeError):
    """The input cannot be opened, decompressed or understood.

    `file` is the name under which it was asked for, `reason` the message without that name.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        """How it goes from one process to another."""
        return type(self), (self.file, self.reason)


class UnknownFormatError(InputError):
    """The input is not a profile of a format that is read here."""


class MalformedProfileError(InputError):
    """The input is a profile of a known format, but truncated, damaged or of another shape."""


class OutputError(ProfileAnalyzeError):
    """The answer cannot be written where it should go."""


class QueryError(ProfileAnalyzeError):
    """The question cannot be asked as it stands."""

    exit_code = 2


class QuantityError(QueryError):
    """A text is not a number with a unit of the kind that is wanted."""


class PatternError(QueryError):
    """A regular expression is wrong, or took longer than it may."""


class PeaksError(QueryError):
    """A device was named that is not known, or its rates make no sense."""


class UnknownColumnError(QueryError):
    """A column was named that does not exist, not even under another name."""

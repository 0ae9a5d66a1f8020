"""The exceptions of this package, and the exit codes of the command.

    ProfileAnalyzeError
    ├── InputError                  the input cannot be read              exit 1
    │   ├── UnknownFormatError      the input is not a supported profile
    │   └── MalformedProfileError   the input is a broken profile
    ├── OutputError                 the answer cannot be written          exit 1
    ├── EngineError                 the cluster cannot read the files     exit 1
    └── QueryError                  the question is wrong                 exit 2
        ├── QuantityError           an invalid number or unit
        ├── PatternError            an invalid or slow regular expression
        ├── PeaksError              an unknown device, or invalid peak rates
        └── UnknownColumnError      a column that does not exist

A message is one line that says what is wrong and what to do. A message about the input begins with
the file's name.
"""

from __future__ import annotations

import errno
import re
from typing import Final

_SECRETS: Final = (
    # A user name with a password. A name without a password may be a container, as in
    # `abfs://data@host`. A password may have `@` and, unlike in a standard URL, `/`. If only a
    # number follows the colon, it is a port. The limit keeps the search fast in long texts.
    (r"(?<=://)[^/@\s:]{0,200}:(?!\d+(?:/|$))(?:[^/\s]{0,200}|[^@\s]{0,200})@", "***@"),
    # On web servers, a user without a password is probably a token, and a query may be a signature.
    (r"(?<=http://)[^/@\s]{1,400}@|(?<=https://)[^/@\s]{1,400}@", "***@"),
    (r"(https?://(?:(?!://)[^\s?'\"])*\?)[^\s'\"]*[^\s'\":;,)]", r"\1***"),
)


def without_secrets(text: str) -> str:
    """Return `text` with `***` in place of the passwords and signatures of URLs in it."""
    if "://" in text:
        for pattern, shown in _SECRETS:
            text = re.sub(pattern, shown, text)
    return text


def system_reason(error: Exception) -> str:
    """Return why the system refused something, for a message: `no space left on device`."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def reading_reason(error: OSError) -> str:
    """Return why the system refused to read an input, with advice if permission is missing."""
    is_denied = isinstance(error, PermissionError)
    advice = "; ask the owner for access, or run chmod u+r on it" if is_denied else ""
    return f"{system_reason(error)}{advice}"


_ELSEWHERE: Final = "write to a folder in which you can create files"
_ADVICE_ON_WRITING: Final = {
    # In folders such as /proc, creating a file fails with ENOENT.
    **dict.fromkeys((errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS), _ELSEWHERE),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space, or write to another disk"),
    errno.EEXIST: "a file has this name already, so use another name",
    errno.ENOTDIR: "a part of the path is a file, so use another path",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.ELOOP: "the link leads to itself, so use another name",
}


def reason_not_written(error: Exception) -> str:
    """Return why the system refused to write a file, and what to do."""
    advice = _ADVICE_ON_WRITING.get(getattr(error, "errno", None) or 0)
    return f"{system_reason(error)}; {advice}" if advice else system_reason(error)


class ProfileAnalyzeError(Exception):
    """The base class of all exceptions that this package raises on purpose.

    If the command catches the exception, it ends with `exit_code`. A message never shows the
    password or the signature of a URL.
    """

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(without_secrets(message))


class InputError(ProfileAnalyzeError):
    """The input cannot be opened, decompressed or understood.

    `file` is the name that the caller gave, without secrets. `reason` is the message without this
    name.
    """

    def __init__(self, file: str, reason: str) -> None:
        self.file = without_secrets(file)
        self.reason = without_secrets(reason)
        super().__init__(f"{self.file}: {self.reason}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        # By default, pickle would call the class with the whole message as the only argument.
        return type(self), (self.file, self.reason)


class UnknownFormatError(InputError):
    """The input is not a profile in a supported format."""


class MalformedProfileError(InputError):
    """The input is a profile in a supported format, but truncated, damaged or inconsistent."""


class OutputError(ProfileAnalyzeError):
    """The answer cannot be written to the requested file or stream."""


class EngineError(ProfileAnalyzeError):
    """The cluster that should read the files cannot be started, reached or used."""


class QueryError(ProfileAnalyzeError):
    """The question is wrong: it has an invalid option, condition or name."""

    exit_code = 2


class QuantityError(QueryError):
    """A text is not a number with a suitable unit."""


class PatternError(QueryError):
    """A regular expression is invalid, or exceeded its time limit."""


class PeaksError(QueryError):
    """A device is unknown, or its peak rates are invalid."""


class UnknownColumnError(QueryError):
    """A column does not exist."""

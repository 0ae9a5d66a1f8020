"""Turns errors of the JSON decoder into texts for the messages of readers."""

from __future__ import annotations

from typing import Final

import msgspec

DECODING_ERRORS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions that decoding a damaged file may raise."""
TOO_DEEP: Final = "is nested too deeply for a profile"


def detail_of(error: Exception) -> str:
    """Return what is wrong with the JSON, such as `invalid character (byte 7)`."""
    return str(error).removeprefix("JSON is malformed: ")


def problem_and_path(error: Exception) -> tuple[str, str]:
    """Return what is wrong with a value, and the path of the value.

    For example, ``("expected `int`, got `str`", "[0].a")``. The path is empty if the whole document
    is wrong.
    """
    problem, _, path = str(error).partition(" - at `$")
    return f"{problem[:1].lower()}{problem[1:]}", path.removesuffix("`")

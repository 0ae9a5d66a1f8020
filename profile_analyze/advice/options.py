"""What to write instead of an unknown option or choice."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, Final, Protocol

from profile_analyze.advice.names import (
    LONGEST_ADVISED,
    did_you_mean,
    likely_names,
    plain_name,
    suggestion,
)
from profile_analyze.advice.words import ABSENT_OPTIONS, CHOICE_WORDS, OPTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_LONG_NAME: Final = 8
"""For a wrong name of at least this length, only very similar options are suggested: `confidence`
and `confluence` differ in two letters, but have different meanings."""


class Known(Protocol):
    """An option of the command."""

    @property
    def takes_values(self) -> bool:
        """Whether the option takes at least one value."""

    @property
    def names_file(self) -> bool:
        """Whether the value is the name of a file."""

    @property
    def example_call(self) -> str:
        """The option with an example of a value: `-t 5`."""

    def accepts(self, value: str, /) -> Any:
        """Whether the value is a valid one."""


def advice_on_choice(value: str, choices: Sequence[str]) -> str:
    """Return what to write instead of a wrong choice; empty if nothing is likely."""
    return suggestion(value, choices, CHOICE_WORDS, cutoff=0.7)


def advice_on_option(
    argument: str,
    following: Sequence[str],
    options: Mapping[str, Known],
    columns: Collection[str],
    files: tuple[str, ...],
) -> str:
    """Return what to write instead of an unknown option; empty if nothing is likely.

    `following` has the arguments after it. `options` has each option by its flag, `columns` the
    names of columns, which users write as options, and `files` the suffixes of names of profiles.
    """
    name, equals, value = argument.partition("=")
    if not equals and following and not following[0].startswith("-"):
        value = following[0]
    plain = plain_name(name)
    absent = ABSENT_OPTIONS.get(plain) or ABSENT_OPTIONS.get(plain.replace("_", ""))
    if absent:
        return absent
    if plain in columns and plain not in OPTION_WORDS and f"--{plain}" not in options:
        return f"{plain} is a column: write --columns name,time,{plain} or --order-by {plain}"
    cutoff = 0.82 if len(plain) >= _LONG_NAME else 0.7
    names = likely_names(name, options, OPTION_WORDS, cutoff=cutoff)
    if len(names) != 1:
        return did_you_mean(names)
    option = options[names[0].partition(" ")[0]]
    if value.endswith(files) and not option.names_file:
        value = ""  # the profile, which follows an option without a value
    return did_you_mean([_completed(names[0], value, option)])


def _completed(meant: str, value: str, option: Known) -> str:
    """Return `meant`, an option or an option with a value, completed by the user's value."""
    if " " in meant or not option.takes_values:
        return meant
    equality = re.fullmatch(r"([\w.]+)\s*=\s*([^=~\s].*)", value)
    if equality and meant == "--where":
        value = f"{equality[1]} == {equality[2]}"
    if not value or len(value) > LONGEST_ADVISED or not option.accepts(value):
        return f"{meant}, such as {option.example_call}"
    return f"{meant} {shlex.quote(value)}"

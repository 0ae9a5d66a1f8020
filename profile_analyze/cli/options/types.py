"""The building blocks of the table of options: entries and groups."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.cli.options.actions import StoreOnce

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_PAGER: Final = "--no-pager"


class Option(NamedTuple):
    """One option, or the positional argument."""

    flags: tuple[str, ...]
    help: str
    """What the option does, for `--help` and docs/options.md."""
    settings: Mapping[str, Any]
    """Further arguments of `ArgumentParser.add_argument`."""
    example: str = ""
    """An example of a value, for messages. It is empty if the option takes no value, or if messages
    list its choices."""
    may_be_default: bool = False
    """Whether the environment variable of `default_options` may set the option. Such an option
    changes how an answer looks, but not what is read, written or judged."""

    @classmethod
    def of(
        cls,
        *flags: str,
        help: str,  # noqa: A002  # argparse's name
        example: str = "",
        may_be_default: bool = False,
        **settings: Any,
    ) -> Option:
        """Make an option. `settings` are further arguments of `ArgumentParser.add_argument`.

        An option with a value rejects a second, different value, unless it `may_be_default`: of
        such options, the last one counts, so that a call can replace what an alias sets.
        """
        made = cls(flags, help, settings, example, may_be_default)
        if made.takes_values and flags[0].startswith("-") and not may_be_default:
            settings.setdefault("action", StoreOnce)
        return made

    @classmethod
    def repeatable(cls, *flags: str, **settings: Any) -> Option:
        """Make an option that may be repeated; its values form a list."""
        return cls.of(*flags, action="append", default=[], **settings)

    @property
    def takes_value(self) -> bool:
        """Whether the option takes exactly one value."""
        return self.takes_values and "nargs" not in self.settings

    @property
    def takes_values(self) -> bool:
        """Whether the option takes at least one value."""
        return "metavar" in self.settings or "choices" in self.settings

    @property
    def names_file(self) -> bool:
        """Whether the value is the name of a file."""
        return self.settings.get("metavar") == "FILE"

    @property
    def example_call(self) -> str:
        """The option with an example of a value: `-t 5`."""
        value = self.example or self.settings["choices"][0]
        return f"{self.flags[0]} {shlex.quote(value)}"

    def accepts(self, value: str) -> bool:
        """Whether the value has the type of the option and is among its choices."""
        try:
            self.settings.get("type", str)(value)
        except argparse.ArgumentTypeError:
            return False
        return value in self.settings.get("choices", [value])


class OptionGroup(NamedTuple):
    """Options with one topic."""

    title: str
    options: tuple[Option, ...]

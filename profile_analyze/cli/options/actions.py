"""What options do with their values: store them once, or ask for a text instead of an answer."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, Final

from profile_analyze.errors import QueryError

_GIVEN: Final = "_given"


class StoreOnce(argparse.Action):
    """An option with one value or one list. A second, different value or list is an error.

    If `joined_by` is given, such as a comma, the message suggests one value: both values, joined by
    this text.
    """

    def __init__(self, *args: Any, joined_by: str = "", **settings: Any) -> None:
        """Take `joined_by` and the arguments of `argparse.Action`."""
        super().__init__(*args, **settings)
        self.joined_by = joined_by

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse passes it
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002  # argparse passes it
    ) -> None:
        """Store the value. Raises `QueryError` if a different value is stored already."""
        before = getattr(namespace, self.dest)
        # The first value may equal the default, so the namespace keeps the names of given options.
        given = vars(namespace).setdefault(_GIVEN, set())
        if self.dest in given and before != values:
            name = "/".join(self.option_strings)
            raise QueryError(f"argument {name}: {self._given_twice(before, values)}")
        given.add(self.dest)
        setattr(namespace, self.dest, values)

    def _given_twice(self, first: Any, second: Any) -> str:
        """Return the message about two values, or two lists of values."""
        name = self.option_strings[-1]
        if isinstance(first, list):
            return f"is given twice; write {name} {shlex.join([*first, *second])}"
        if self.joined_by:
            both = shlex.quote(self.joined_by.join((first, second)))
            return f"is given twice; write {name} {both}"
        if not (isinstance(first, str) and isinstance(second, str)):
            return "is given twice, with different values; leave one out"
        first, second = map(shlex.quote, (first, second))
        return f"is given twice; leave out {name} {first} or {name} {second}"


class TextWanted(Exception):  # noqa: N818  # a wish, not an error
    """Ends the parsing: the call asks for a text, such as the list of columns, and no answer."""

    def __init__(self, option: str, value: str) -> None:
        """Take the name of the option, such as `--columns`, and its value."""
        super().__init__(option)
        self.option = option
        self.value = value


class PrintingAction(StoreOnce):
    """An option that asks for a text, whatever its value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store the value. Raises `TextWanted` if the value asks for a text."""
        if self.wants_text(values):
            raise TextWanted(self.option_strings[-1], values)
        super().__call__(parser, namespace, values, option_string)

    def wants_text(self, value: str) -> bool:  # noqa: ARG002  # subclasses use it
        """Return whether `value` asks for a text."""
        return True


class HelpValueAction(PrintingAction):
    """An option whose value `help` asks for a text, such as `--columns help`."""

    def wants_text(self, value: str) -> bool:
        """See the base class."""
        return value == "help"


class ListValueAction(PrintingAction):
    """An option whose value `list` asks for a text, such as `--peaks list`."""

    def wants_text(self, value: str) -> bool:
        """See the base class."""
        return value == "list"


class SqlAction(PrintingAction):
    """`--sql`, where `help` asks for the list of tables."""

    def wants_text(self, value: str) -> bool:
        """See the base class."""
        return value.strip().lower() == "help"

"""What options do with their values: store them once, or print a text and end the process."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, Final

from profile_analyze.cli.extras import version_text
from profile_analyze.cli.output import encoding_of_standard_output, show
from profile_analyze.errors import QueryError
from profile_analyze.model.visible import escaped_lines

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


class _PrintingAction(StoreOnce):
    """An option that prints a text for some values and then ends the process.

    Other values are stored.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print the text and end the process, or store the value."""
        text = self.text(values)
        if text is not None:
            print_text(text, paged=getattr(parser, "paged", False))
            parser.exit()
        super().__call__(parser, namespace, values, option_string)

    def text(self, value: str) -> str | None:
        """Return the text that `value` asks for; None if it is an ordinary value."""
        raise NotImplementedError


class VersionAction(_PrintingAction):
    """`--version`, which prints the version and the extras."""

    def text(self, value: str) -> str:  # noqa: ARG002  # `--version` has no value
        """See the base class."""
        return version_text()


class ColumnsAction(_PrintingAction):
    """`--columns`, where `help` prints the list of columns."""

    def text(self, value: str) -> str | None:
        """See the base class."""
        return printed_text("--columns") if value == "help" else None


class PeaksAction(_PrintingAction):
    """`--peaks`, where `list` prints the table of devices."""

    def text(self, value: str) -> str | None:
        """See the base class."""
        return printed_text("--peaks", value) if value == "list" else None


class SqlAction(_PrintingAction):
    """`--sql`, where `help` prints the list of tables."""

    def text(self, value: str) -> str | None:
        """See the base class."""
        return printed_text("--sql", value) if value.strip().lower() == "help" else None


class CompletionAction(_PrintingAction):
    """`--print-completion`, which prints a completion script for a shell."""

    def text(self, value: str) -> str:
        """See the base class."""
        return printed_text("--print-completion", value)


def printed_text(option: str, value: str = "", arguments: argparse.Namespace | None = None) -> str:
    """Return the text that an option prints instead of an answer; see `printed_texts.py`."""
    # Imported here, because few calls print such a text.
    from profile_analyze.cli import printed_texts

    return printed_texts.printed_text(option, value, arguments or argparse.Namespace())


def print_text(text: str, *, paged: bool = False) -> None:
    """Write text to standard output, or show it in a pager if it is long. Raises `OutputError`."""
    shown = escaped_lines(text, "\n")
    show([shown.encode(encoding_of_standard_output(), "backslashreplace")], paged=paged)

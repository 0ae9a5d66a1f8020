"""The parser of the command line: its help, abbreviations, and messages on mistakes."""

from __future__ import annotations

import argparse
import sys
from functools import cache, partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NoReturn

from profile_analyze.cli.options.actions import TextWanted
from profile_analyze.cli.options.extras import version_text
from profile_analyze.cli.options.input_options import FILES
from profile_analyze.cli.options.table import GENERAL, OPTION_GROUPS, OPTION_OF
from profile_analyze.cli.options.types import NO_PAGER, Option
from profile_analyze.cli.output.standard import print_text
from profile_analyze.cli.output.terminal import terminal_width
from profile_analyze.errors import QueryError
from profile_analyze.report.layout.paragraphs import paragraph, with_own_indent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

PROGRAM: Final = "profile_analyze"
COMMAND: Final = "profile-analyze"

_DESCRIPTION: Final = """\
Shows where the time of a neural network goes, from the profile that its runtime wrote:
the slowest operators or kinds of operator, with FLOPS and memory bandwidth."""

_EXAMPLES: Final = """\
examples:
  profile-analyze run.json
      the three slowest operators
  profile-analyze run.json -t 5 --aggregate-by type
      the five kinds of operator that cost most
  profile-analyze run.json -t 0 --order-by memory --type ConvolutionForward
      all convolutions, the largest users of memory first
  profile-analyze run.json --aggregate-by type,in_shapes --aggregate sum,p90 --format plain
      one line for each kind and shape, with the total time and the 90th percentile
  profile-analyze run.json --opr-name '.*conv' --min-time 1ms
      operators with conv in their name that take a millisecond or more
  gzip -dc run.json.gz | profile-analyze - --wiki --show-host > page.txt
      tables for a wiki page, of device and host times, from standard input
  profile-analyze new*.json --compare old*.json --aggregate-by type
      what became slower or faster, and whether the change is more than noise
  profile-analyze new*.json --compare old*.json --fail-if 'total > +5%'
      the same for a pipeline: the exit status is 3 if the total became over 5 % longer

Times are in seconds unless they have a unit: 1ms, 20us, 0.5s. All columns: --columns help.
The environment variable PROFILE_ANALYZE_OPTIONS may contain your own defaults for --format, -t, \
--notes, --ignore, --time-unit and --color: '--format plain -t 10'.
Exit status: 0 answered, even if no operator matches; 1 the input cannot be read, or the \
output cannot be written; 2 wrong options; 3 a condition of --fail-if is met; 4 a condition cannot \
be judged."""
_COMMAND_INDENT: Final = "  "
_WIDTH_WITHOUT_TERMINAL: Final = 80

_ABBREVIATIONS: Final[Mapping[str, str]] = {
    "--h": "--help",
    **dict.fromkeys(("--ma", "--max", "--max-"), "--max-time"),
    **dict.fromkeys(("--p", "--pr", "--pri", "--prin", "--print", "--print-"), "--print-only"),
    **dict.fromkeys(("--i", "--in", "--inp", "--inpu", "--input", "--input-"), "--input-dtype"),
    "--d": "--dump-only-opr",
    "--s": "--show-host",
    "--w": "--wiki",
}
"""Abbreviations that the original tool (docs/compatibility.md) accepts. This tool has more options
that begin with them, so argparse alone would reject them as ambiguous."""


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line, and does not print the usage."""

    paged = False
    """Whether a long text, such as the help, may be shown in a pager."""

    def error(self, message: str) -> NoReturn:
        """Raise `QueryError` with the message of argparse."""
        has_advice = message.endswith("?") or "; write " in message
        see_help = "" if has_advice else f"; see {COMMAND} --help"
        raise QueryError(message + see_help)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Reject a value that is not a choice. The message is the same in every Python version."""
        choices = [*map(str, action.choices or ())]
        if choices and value not in choices:
            advice = _wrong_options().advice_on_choice(value, choices)
            one_of = f"invalid choice: {value!r} (choose from {', '.join(choices)})"
            raise argparse.ArgumentError(action, f"{one_of}; {advice}" if advice else one_of)

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        """Return how many values an option has. Raises `QueryError` if a value is missing."""
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError:
            option = OPTION_OF[action.option_strings[0]]
            choices = ", ".join(option.settings.get("choices", ()))
            value = f": {choices}" if choices else f", such as {option.example_call}"
            name = "/".join(option.flags)
            raise QueryError(f"argument {name}: needs a value{value}") from None

    def format_help(self) -> str:
        """Return the help, as wide as the terminal."""
        # This replaces the formatter that `parser` sets, which has a fixed width.
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        width = terminal_width(sys.stdout)
        self.epilog = _examples(width)
        return with_own_indent(super().format_help(), width)

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ARG002  # is stdout
        """Write the help. Unlike the method of argparse, this method reports errors of writing."""
        print_text(message, paged=self.paged)


@cache
def parser() -> Parser:
    """Return the parser of the command line, which is made once for all calls of `parse`."""
    result = Parser(
        prog=COMMAND,
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        # argparse makes a formatter for each option, to check its metavar. Without a fixed width,
        # the formatter imports `shutil` to find the width of the terminal, which is slow.
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
        usage="%(prog)s [options] FILE [FILE ...]",
        add_help=False,  # the table of options has `--help`
    )
    _add(result, [FILES])
    _add(result, GENERAL)
    for group in OPTION_GROUPS:
        _add(result.add_argument_group(group.title), group.options)
    return result


def _examples(width: int | None) -> str:
    """Return the examples at the end of the help, wrapped to `width`.

    A wrapped line keeps its indent. A wrapped command is indented two blanks further. If `width` is
    None, commands and their explanations, which are indented, are not wrapped.
    """
    blocks: list[str] = []
    for line in _EXAMPLES.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        line_width = width if indent else width or _WIDTH_WITHOUT_TERMINAL
        continued = indent + "  " if indent == _COMMAND_INDENT else indent
        blocks.append(paragraph(line, line_width, indent=continued))
    return "\n".join(blocks)


def _add(group: argparse._ActionsContainer, options: Iterable[Option]) -> None:
    for option in options:
        group.add_argument(*option.flags, help=option.help, **option.settings)


def parse(argv: Sequence[str], defaults: Mapping[str, Any] | None = None) -> argparse.Namespace:
    """Parse a command line. Contradictions between arguments are not checked here.

    `defaults` replace the defaults of the table of options.

    Raises `QueryError`. Ends the process after `--help`, `--version` and similar options.
    """
    command_parser = parser()
    # argparse prints the help as soon as it reaches `--help`. To respect a `--no-pager` after it,
    # look for `--no-pager` first.
    command_parser.paged = NO_PAGER not in argv
    written = _with_negative_values([*map(_without_abbreviation, argv)])
    _check_form(written)
    # `defaults` belong to this call. They are not set in the parser, because all calls share it.
    values = argparse.Namespace(**defaults or {})
    try:
        # The `intermixed` method also accepts options between the files.
        arguments, unknown = command_parser.parse_known_intermixed_args(written, values)
    except TextWanted as wanted:
        text = _printed_text(wanted.option, wanted.value)
        print_text(text, paged=command_parser.paged)
        command_parser.exit()
    except AttributeError as error:
        # If memory runs out, argparse fails again while it restores its settings.
        if isinstance(error.__context__, MemoryError):
            raise error.__context__ from None
        raise
    if unknown:
        _wrong_options().check_unknown(unknown, written)
        command_parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if arguments.clear_cache:
        print_text(_printed_text("--clear-cache", arguments=arguments))
        command_parser.exit()
    if arguments.explain is not None and not (arguments.files or arguments.compare):
        print_text(_printed_text("--explain", arguments.explain))
        command_parser.exit()
    if not arguments.files:
        _wrong_options().report_missing_file(arguments, COMMAND)
    return arguments


def _printed_text(option: str, value: str = "", arguments: argparse.Namespace | None = None) -> str:
    """Return the text that an option prints instead of an answer; see `printed_texts.py`."""
    if option == "--version":
        return version_text()
    # Imported here, because few calls print another text.
    from profile_analyze.cli.options import printed_texts

    return printed_texts.printed_text(option, value, arguments or argparse.Namespace())


def _wrong_options() -> ModuleType:
    """Return the module that reports wrong options and missing files, with advice."""
    # Imported here, because only wrong options need it, and it reads all columns.
    from profile_analyze.cli.options import wrong_options

    return wrong_options


def color_choice(
    argv: Sequence[str], *, default: str = "auto", flags: Iterable[str] = OPTION_OF
) -> str:
    """Return the value of the last `--color`, perhaps abbreviated; `default` if it is not given.

    `flags` are the options that can be given: an abbreviation must begin only one of them.

    The other arguments are not parsed, because messages about wrong arguments need this value, too.
    """
    choice = default
    for argument, following in zip_longest(argv, argv[1:], fillvalue=""):
        name, equals, value = argument.partition("=")
        if [flag for flag in flags if flag.startswith(name)] == ["--color"]:
            choice = value if equals else following
    return choice


def _without_abbreviation(argument: str) -> str:
    """Return the argument, with an abbreviation in `_ABBREVIATIONS` replaced by the full option."""
    name, equals, value = argument.partition("=")
    return _ABBREVIATIONS.get(name, name) + equals + value


def _with_negative_values(arguments: Sequence[str]) -> list[str]:
    """Join a value such as `-time` to its option: `--order-by=-time`.

    Otherwise, argparse takes `-time` for the option `-t`, and reports only that `--order-by` lacks
    a value.
    """
    joined: list[str] = []
    for argument in arguments:
        is_negative = len(argument) > 2 and argument[0] == "-" and argument[1] != "-"
        if is_negative and joined and _takes_value(joined[-1]):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _check_form(arguments: Sequence[str]) -> None:
    """Raise `QueryError` if a long option has one hyphen, or has a value but takes none.

    argparse would read `-top` as `-t op`.
    """
    for argument in arguments:
        if argument == "--":
            return
        name, equals, _ = argument.partition("=")
        if equals and name in OPTION_OF and not OPTION_OF[name].takes_values:
            raise QueryError(f"argument {name}: takes no value; write {name}")
        if f"-{name}" in OPTION_OF and f"-{name}".startswith("--"):
            raise QueryError(f"there is no option {name}; did you mean -{name}, with two hyphens?")


def _takes_value(argument: str) -> bool:
    """Return whether the argument is a long option with one value, perhaps abbreviated."""
    return len(argument) > 2 and any(
        flag.startswith(argument) and option.takes_value
        for flag, option in OPTION_OF.items()
        if flag.startswith("--")
    )

"""Makes docs/options.md from the table of options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.options.input_options import FILES
from profile_analyze.cli.options.table import GENERAL, OPTION_GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.cli.options.types import Option

_INTRODUCTION = """\
# Options

    profile-analyze [options] FILE [FILE ...]

`profile-analyze --help` prints the same texts. [The cookbook](cookbook.md) has examples.
"""


def options_page() -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield from _table((FILES, *GENERAL))
    for group in OPTION_GROUPS:
        yield f"## {group.title[0].upper()}{group.title[1:]}\n"
        yield from _table(group.options)


def _table(options: Iterable[Option]) -> Iterator[str]:
    yield "| option | what it does |\n|---|---|"
    for option in options:
        text = option.help.replace("%%", "%")
        yield f"| `{_written(option)}` | {text[0].upper()}{text[1:]}. |"
    yield ""


def _written(option: Option) -> str:
    """Return the option as it is written in a call: `-t, --top N`."""
    settings = option.settings
    choices = settings.get("choices")
    values = settings.get("metavar", "{" + ",".join(choices) + "}" if choices else "")
    if option.flags[0] == FILES.flags[0]:
        return f"{values} ..."
    several = f" [{values} ...]" if settings.get("nargs") == "+" else ""
    return f"{', '.join(option.flags)} {values}{several}".rstrip()

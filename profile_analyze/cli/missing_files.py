"""Advice on a named file that does not exist: what the user probably meant."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from glob import glob
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.names_of_sides import sides_of
from profile_analyze.cli.typographic_quotes import advice_on_quotes
from profile_analyze.errors import InputError, QueryError
from profile_analyze.query.aggregates import find_aggregate
from profile_analyze.query.catalog import CATALOG, group_keys
from profile_analyze.readers.paths import LIST
from profile_analyze.readers.suffixes import SUFFIXES
from profile_analyze.readers.urls import is_pattern, is_url, remote_path
from profile_analyze.suggestions import LONGEST_ADVISED, did_you_mean, similar_names

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Characters that look like a hyphen. Word processors put them in place of one or two hyphens."""

_NO_FILES: Final = (
    (r".*(?:://.*::|::.*://)", "URLs that are chained by :: are not read: copy the file out"),
    (r"file://", "write the path without file://"),
    (r"\$$", "leave out the $ of the prompt"),
    (r"(help|version)$", "did you mean --{0}?"),
    (r"columns$", "did you mean --columns help?"),
    (r"(devices|list)$", "did you mean --peaks list?"),
    (
        r"(asc|desc)(ending)?$",
        "--order-by COLUMN shows the largest first; --order-by +COLUMN the smallest",
    ),
    (
        r"[A-Za-z]:[^\\/]",
        "is it a Windows path? Put it in quotes: most shells remove backslashes",
    ),
    (r"~", "a shell replaces ~ only at the start of an argument: write the whole path"),
)
"""Patterns of arguments that are not names of files, each with the advice to print. `{0}` stands
for the argument."""

_SUBCOMMANDS: Final = {
    **dict.fromkeys(("analyze", "analyse", "show", "report", "run", "profile", "inspect"), ""),
    **dict.fromkeys(("stats", "stat", "list", "view", "print", "open", "load"), ""),
    **dict.fromkeys(("summary", "summarize", "summarise"), "--print-only summary"),
    "top": "-t 5",
    "roofline": "--peaks a100-80gb-sxm",
    "plot": "--plot result.svg",
    "explain": "--explain time",
}
"""Subcommands of other tools, each with this tool's option; empty if no option is needed."""

_COMPARING: Final = ("vs", "vs.", "versus", "against", "with", "to", "compare", "diff")
"""Words that people write between two profiles, or before both, to compare them."""

_BETWEEN_SIDES: Final = r"\.{2,3}|->|:"
"""What people write between two files, as in `git diff A..B`. The baseline is the first file."""

_END_OF_LINE: Final = r"[\\\s]+"
"""What is left of the end of a line, such as a blank after a backslash."""

_MOST_PARTS: Final = 8
"""The largest number of arguments that are joined to find one name with blanks."""

_COLUMN_NAMES: Final = frozenset(column.name for column in CATALOG)

_IS_IN_LIST: Final[Mapping[str, Callable[[str], bool]]] = {
    "--aggregate-by": frozenset(group_keys()).__contains__,
    "--aggregate": lambda word: find_aggregate(word) is not None,
    "--order-by": lambda word: word.removeprefix("+") in _COLUMN_NAMES,
    "--columns": _COLUMN_NAMES.__contains__,
}
"""For each option that takes a list, a function that says whether the list may have a word."""


def check_that_lists_are_not_split(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if the user wrote `--columns name time` instead of `--columns name,time`.

    argparse then takes `time` for the name of a file.
    """
    words = {word.strip(","): word for word in arguments.files}
    meant: dict[str, str] = {}
    for option, is_in_list in _IS_IN_LIST.items():
        value = getattr(arguments, option.removeprefix("--").replace("-", "_"))
        names = [name for name in words if is_in_list(name) and not _exists(words[name])]
        if value and names:
            whole = shlex.quote(",".join((value.rstrip(","), *names)))
            meant[option] = f"{option} {whole}"
    if meant:
        advice = did_you_mean([*meant.values()])
        raise QueryError(f"argument {next(iter(meant))}: takes one value; {advice}")


def check_that_files_exist(names: Sequence[str]) -> None:
    """Raise `InputError` with advice if a named file does not exist."""
    missing = [
        name for name in names if name != "-" and not name.startswith(LIST) and not _exists(name)
    ]
    # If several names are missing, report a word such as `vs` first: it explains the call best.
    for name in sorted(missing, key=lambda name: name.lower() not in _COMPARING):
        if os.path.islink(name):
            target = os.readlink(name)
            raise InputError(name, f"is a link to {target}, which does not exist")
        if not name:
            raise InputError("''", "the file name is empty; is a variable of the shell unset?")
        if re.fullmatch(_END_OF_LINE, name):
            reason = (
                "no such file; is it the end of a line? A backslash that continues a line must be "
                "its last character, without a blank after it"
            )
            raise InputError(f"'{name}'", reason)  # a blank is visible between quotes
        advice = (
            _advice_on_comparison(name, names)
            or _advice_on_quoted_call(name)
            or _advice_on_pattern(name)
            or _advice_on_subcommand(name, names)
            or _advice(name, names)
            or _advice_on_value(name, names)
        )
        raise InputError(name, f"no such file; {advice}" if advice else "no such file")


def check_that_listed_files_exist(listed: Iterable[tuple[str, str]]) -> None:
    """Raise `InputError` if a file does not exist. Each name comes with the list that has it."""
    for name, of_list in listed:
        if name != "-" and not _exists(name):
            has_folder = "://" in name or os.path.isabs(name)
            folder = "" if has_folder else "; its names are relative to the current folder"
            raise InputError(name, f"no such file; the list {of_list} names it{folder}")


def _exists(name: str) -> bool:
    """Return whether the file exists.

    Also return True for a URL that is not a pattern, or if an error such as a missing permission
    hides the answer. In both cases, reading the file gives a better message.
    """
    if is_url(name):
        return not is_pattern(name) or remote_path(name).exists()
    with suppress(ValueError, OSError):
        try:
            os.stat(name)
        except FileNotFoundError:
            return False
    return True


def _advice_on_comparison(word: str, names: Sequence[str]) -> str:
    """Return how to compare the other files; empty if `word` is not in `_COMPARING`."""
    if word.lower() not in _COMPARING:
        return ""
    index = names.index(word)
    new, old = list(names[:index]), list(names[index + 1 :])
    if not new and len(old) == 2:  # `diff OLD NEW`
        old, new = ([one] for one in sides_of(*old) or old)
    if not (new and old) or sum(map(len, names)) > LONGEST_ADVISED:
        new, old = ["NEW"], ["OLD"]
    return _to_compare(new, old)


def _to_compare(new: Sequence[str], old: Sequence[str]) -> str:
    return f"to compare, with the baseline last: {shlex.join(new)} --compare {shlex.join(old)}"


def _advice_on_quoted_call(name: str) -> str:
    """Return advice if `name` is a file with options, all in quotes; otherwise an empty text."""
    option = re.search(r"\s(-\S+)", name)
    file = name[: option.start()].rstrip() if option else ""
    if option is None or not _exists(file):
        return ""
    return f"remove the quotes, which join the file {file} and the option {option[1]}"


def _advice_on_pattern(name: str) -> str:
    """Return what is wrong if `name` is a pattern; otherwise an empty text."""
    if not re.search(r"[*?]", name):
        return ""
    compressed = [f"'{name}{suffix}'" for suffix in (".gz", ".zst") if glob(name + suffix)]
    return "; ".join(filter(None, ("no file matches this pattern", did_you_mean(compressed))))


def _advice_on_subcommand(word: str, names: Sequence[str]) -> str:
    """Return advice if `word` is a subcommand of other tools, such as `show run.json`.

    After a file, only a word with an option in `_SUBCOMMANDS` gets advice: `run.json summary`.
    """
    option = _SUBCOMMANDS.get(word.lower(), "")
    is_first = names[0] == word
    if word.lower() not in _SUBCOMMANDS or len(names) == 1 or not (is_first or option):
        return ""
    return f"there are no subcommands; leave it out{f' and add {option}' if option else ''}"


def _advice_on_value(name: str, names: Sequence[str]) -> str:
    """Return advice if `name` is probably a further value of an option: `--columns name time`."""
    if name == names[0] or re.search(r"^-|[./\\]", name):
        return ""
    return (
        "is it a value of an option? An option takes at most one: quote a value that has blanks, "
        "or repeat the option for each value"
    )


def _joined(name: str, names: Sequence[str]) -> Iterator[str]:
    """Yield `name` joined with the next argument, with the next two, and so on.

    A shell splits a name with blanks into such arguments if it is not quoted.
    """
    index = names.index(name)
    most = min(len(names), index + _MOST_PARTS)
    return (" ".join(names[index:end]) for end in range(index + 2, most + 1))


def _advice(name: str, names: Sequence[str]) -> str:
    """Return advice on the name of a file that does not exist; empty if no mistake is likely."""
    if len(name) > LONGEST_ADVISED:
        return ""
    joined = next(filter(_exists, _joined(name, names)), "")
    if joined:
        return f"a name with blanks needs quotes: {shlex.quote(joined)}"
    if quotes := advice_on_quotes([name], name):
        return quotes.removeprefix(f"{name} ")
    matching = (advice.format(name) for pattern, advice in _NO_FILES if re.match(pattern, name))
    parts = name.split(",")
    if len(parts) > 1 and all(map(_exists, parts)):
        return "separate files with blanks, not with commas"
    sides = [*filter(None, re.split(_BETWEEN_SIDES, name))]
    if len(sides) == 2 and all(map(_exists, sides)):
        old, new = sides_of(*sides) or sides
        return _to_compare([new], [old])
    return (
        _meant_option(name)
        or next(matching, "")
        or _advice_on_folder(name)
        or did_you_mean(_similar_files(name))
    )


def _meant_option(name: str) -> str:
    """Return advice if `name` is probably a miswritten option, such as `-5`; otherwise empty."""
    if name.startswith(tuple(_DASHES)):
        rest = name.strip(_DASHES + "-")
        return did_you_mean([f"-{rest}, with a hyphen" if len(rest) < 2 else f"--{rest}"])
    match = re.fullmatch(r"-?(\d+)", name)
    return f"did you mean -t {match[1]}? Each option has one value" if match else ""


def _advice_on_folder(name: str) -> str:
    """Return which folder in the path `name` does not exist; empty if all exist."""
    missing, parent = "", "" if is_url(name) else os.path.dirname(name)
    while parent and not _exists(parent):
        missing, parent = parent, os.path.dirname(parent)
    if not missing:
        return ""
    near = did_you_mean([one for one in _similar_entries(missing) if os.path.isdir(one)])
    return "; ".join(filter(None, (f"there is no folder {missing}", near)))


def _similar_files(name: str) -> list[str]:
    """Return the existing files whose name is `name` and a suffix such as `.json`.

    If there are none, return the files in the same folder with similar names.
    """
    with_suffix = [name + suffix for suffix in SUFFIXES if _exists(name + suffix)]
    if with_suffix:
        return with_suffix
    return _similar_entries(name)


def _similar_entries(path: str) -> list[str]:
    """Return the files and folders beside `path` that have similar names.

    If the names of some differ only in case, return only these.
    """
    folder, base = os.path.split(path)
    names_of: dict[str, list[str]] = {}
    with suppress(OSError):
        for name in sorted(os.listdir(folder or ".")):
            names_of.setdefault(name.casefold(), []).append(name)
    wanted = base.casefold()
    near = [wanted] if wanted in names_of else similar_names(wanted, names_of, cutoff=0.75)
    return [os.path.join(folder, name) for one in near for name in names_of[one]]

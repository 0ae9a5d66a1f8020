"""What a user probably meant by the name of a file that does not exist."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean, similar_names
from profile_analyze.advice.words import SUBCOMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Characters that look like a hyphen. Word processors put them in place of one or two hyphens."""
_QUOTES: Final = "\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb"
"""Word processors and web pages put these in place of plain quotes."""
COMPARING: Final = ("vs", "vs.", "versus", "against", "compare", "diff")
"""Words that people write between two profiles, or before both, to compare them."""


def advice_on_file(
    name: str, names: Sequence[str], exists: Callable[[str], bool], suffixes: Iterable[str]
) -> str:
    """Return what to write instead of `name`, one of the files `names`; empty if unclear.

    `exists` says whether a file exists. `suffixes` are the suffixes of profiles.
    """
    if len(name) > LONGEST_ADVISED:
        return ""
    return (
        _advice_on_word(name.lower(), names)
        or _advice_on_option(name)
        or _advice_on_several(name, names, exists)
        or _advice_on_folder(name, exists)
        or did_you_mean(_similar_files(name, exists, suffixes))
        or _advice_on_value(name, names)
    )


def _advice_on_word(word: str, names: Sequence[str]) -> str:
    """Return advice on a word between profiles, or on a subcommand; empty for other names."""
    if word in COMPARING:
        return "to compare, name the baseline last: NEW --compare OLD"
    if word not in SUBCOMMANDS or len(names) == 1:
        return ""
    option = SUBCOMMANDS[word]
    return f"there are no subcommands; leave it out{f' and add {option}' if option else ''}"


def _advice_on_option(name: str) -> str:
    """Return advice if `name` is probably a miswritten option, such as `-5`; otherwise empty."""
    if name.startswith(tuple(_DASHES)):
        rest = name.strip(_DASHES + "-")
        return did_you_mean([f"-{rest}, with a hyphen" if len(rest) < 2 else f"--{rest}"])
    match = re.fullmatch(r"-?(\d+)", name)
    return f"did you mean -t {match[1]}?" if match else ""


def _advice_on_several(name: str, names: Sequence[str], exists: Callable[[str], bool]) -> str:
    """Return advice on a pattern, or on names that are joined or split; empty for other names."""
    if quotes := advice_on_quotes([name], name):
        return quotes.removeprefix(f"{name} ")
    if re.search(r"[*?]", name):
        return "no file matches this pattern"
    joined = " ".join(names[names.index(name) :])
    if joined != name and exists(joined):
        return f"a name with blanks needs quotes: {shlex.quote(joined)}"
    if re.search("://.*::|::.*://", name):
        return "URLs that are chained by :: are not read: copy the file out"
    if "," in name and all(map(exists, name.split(","))):
        return "separate files with blanks, not with commas"
    return "write the path without file://" if name.startswith("file://") else ""


def advice_on_quotes(arguments: Iterable[str], error: str) -> str:
    """Return what to write instead of an argument in typographic quotes.

    A correct name or pattern may begin with such a quote, too. So this function ignores arguments
    that the message `error` does not contain. If no argument is left, the result is empty.
    """
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if not (equals and option.startswith("--")):
            value = argument
        if value.startswith(tuple(_QUOTES)) and value in error:
            is_closed = value[1:].endswith(tuple(_QUOTES))
            plain = shlex.quote(value[1:-1]) if is_closed else "plain ones, ' or \""
            return f"{value} has typographic quotes, which a shell does not remove; write {plain}"
    return ""


def _advice_on_value(name: str, names: Sequence[str]) -> str:
    """Return advice if `name` is probably a further value of an option: `--columns name time`."""
    if name == names[0] or re.search(r"^-|[./\\]", name):
        return ""
    return "is it a value of an option? Each option has one value: quote blanks, join names by ,"


def _advice_on_folder(name: str, exists: Callable[[str], bool]) -> str:
    """Return which folder in the path `name` does not exist; empty if all exist."""
    missing, parent = "", "" if "://" in name else os.path.dirname(name)
    while parent and not exists(parent):
        missing, parent = parent, os.path.dirname(parent)
    if not missing:
        return ""
    near = did_you_mean([one for one in _similar_entries(missing) if os.path.isdir(one)])
    return "; ".join(filter(None, (f"there is no folder {missing}", near)))


def _similar_files(name: str, exists: Callable[[str], bool], suffixes: Iterable[str]) -> list[str]:
    """Return the existing files whose name is `name` and a suffix, or else similar names."""
    with_suffix = [name + suffix for suffix in suffixes if exists(name + suffix)]
    return with_suffix or _similar_entries(name)


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

"""Advice on wrong options and choices: what the user probably meant. Only errors need it."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.analysis.devices import DTYPES
from profile_analyze.analysis.peaks import names_of_devices
from profile_analyze.cli.option_values import column_names, condition
from profile_analyze.cli.option_words import (
    CHOOSING_A_VIEW,
    OPTION_WORDS,
    OPTION_WORDS_OF_VALUE,
    SIZES_OF_A_PROFILE,
    absent_option,
)
from profile_analyze.cli.options import OPTION_OF, OPTIONS
from profile_analyze.column_words import meant_column
from profile_analyze.errors import QueryError
from profile_analyze.query.catalog import CATALOG, find_column, split_names
from profile_analyze.readers.suffixes import MODEL_SUFFIX, SUFFIXES
from profile_analyze.suggestions import (
    CHOICE_WORDS,
    LONGEST_ADVISED,
    UNIT_WORDS,
    did_you_mean,
    likely_names,
    plain_name,
    suggestion,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.cli.option_types import Option
    from profile_analyze.model.columns import Column

_FILE_WORDS: Final = (
    *("i", "input", "in", "file", "files", "filename", "profile", "path"),
    *("loadprofile", "load_profile"),
)
"""Options with which other tools name the input file."""

_LONG_NAME: Final = 8
"""For a wrong name of at least this length, only very similar options are suggested: `confidence`
and `confluence` differ in two letters, but have different meanings."""


_NO_PART: Final = ("none", "nothing", "no", "off", "gate", "fail_if", "verdict", "verdicts")
"""Wrong values of `--print-only`, whose user probably wants only the verdicts of `--fail-if`."""
_ONLY_VERDICTS: Final = (
    "write --format github for the verdicts of --fail-if alone, or --print-only summary for these "
    "and the totals"
)
"""The advice for `--print-only none` and similar calls."""
_PART_WORDS: Final = {"gpu": "device", "cuda": "device", "cpu": "host"}
"""Words for choices of `--print-only`."""
_CHOICE_WORDS: Final = {**UNIT_WORDS, **CHOICE_WORDS}


def advice_on_choice(value: str, choices: Sequence[str], help_text: str) -> str:
    """Return what to write instead of a wrong choice; empty if nothing is likely.

    `choices` and `help_text` belong to the option that got `value`.
    """
    is_print_only = "summary" in choices
    if is_print_only and plain_name(value) in _NO_PART:
        return _ONLY_VERDICTS
    if is_print_only and (parts := _several_choices(value, choices)):
        if "host" in parts:
            return "write --show-host instead, which shows summary, device and host"
        return f"leave the option out: without it, {' and '.join(parts)} are shown"
    # `svg` is similar to `csv`, but stands for a picture.
    words = {**_CHOICE_WORDS, **_PART_WORDS} if is_print_only else _CHOICE_WORDS
    near = "" if value == "svg" else suggestion(value, choices, words)
    meanings = _meanings(choices, help_text)
    return near or _option_with_choice(value) or meanings or _advice_on_word(value)


def _several_choices(value: str, choices: Sequence[str]) -> list[str]:
    """Return the choices in a list such as `summary,device`; empty for other values."""
    parts = [*dict.fromkeys(filter(None, re.split(r"[\s,;+&]+", value)))]
    return parts if len(parts) > 1 and {*parts} <= {*choices} else []


def _option_with_choice(value: str) -> str:
    """Return advice to write the only option that has `value` as a choice.

    If there is no such option, `value` may be a group key.
    """
    with_value = [one for one in OPTIONS if value in one.settings.get("choices", ())]
    if len(with_value) == 1:
        return did_you_mean([f"{with_value[0].flags[-1]} {value}"])
    for key in (column.name for column in CATALOG if column.is_key):
        if plain_name(value) in (key, f"{key}s"):
            return did_you_mean([f"--aggregate-by {key}"])
    return ""


def _meanings(choices: Sequence[str], help_text: str) -> str:
    """Return what the choices mean, from the help of the option; empty unless it explains all."""
    starts = [help_text.find(f" {choice}: ") for choice in choices]
    return help_text[min(starts) + 1 :].rpartition(" (default")[0] if min(starts) >= 0 else ""


def check_unknown(unknown: Sequence[str], arguments: Sequence[str]) -> None:
    """Raise `QueryError` with advice on an unknown argument; return if there is no advice."""
    for argument in unknown:
        advice = _advice(argument, arguments) if argument.startswith("-") else ""
        if advice:
            raise _no_option(argument, advice)


def check_abbreviations(arguments: Sequence[str]) -> None:
    """Raise `QueryError` if an abbreviation was probably meant as an option of another tool.

    Two conditions must hold:

    - `OPTION_WORDS` has the abbreviation.
    - It is ambiguous here, or it stands for one option that does not accept the value.
    """
    for index, argument in enumerate(arguments):
        name = argument.partition("=")[0]
        if argument == "--":
            return
        if not name.startswith("--") or name in OPTION_OF or plain_name(name) not in OPTION_WORDS:
            continue
        meant = [OPTION_OF[flag] for flag in OPTION_OF if flag.startswith(name)]
        value = _value(argument, arguments[index:])
        if len(meant) > 1 or (meant and value and not _takes(meant[0], value)):
            raise _no_option(argument, _advice(argument, arguments))


def _takes(option: Option, value: str) -> bool:
    """Return whether `value` can follow the option.

    An option that takes a value must accept `value`. If the option takes none, `value` must be the
    name of a file, so a list of columns cannot follow.
    """
    if option.takes_values:
        return option.accepts(value)
    return not {*value.split(",")} <= {column.name for column in CATALOG}


def _advice_on_word(word: str) -> str:
    """Return the option to write for a word of another tool; empty for other words."""
    plain = plain_name(word)
    if advice := absent_option(plain):
        return advice
    # A single letter is an option only after a hyphen.
    is_word = len(plain) > 1 and plain in OPTION_WORDS
    return did_you_mean([_with_value(OPTION_WORDS[plain], "")]) if is_word else ""


def _no_option(argument: str, advice: str) -> QueryError:
    return QueryError(f"there is no option {argument.partition('=')[0]}; {advice}")


def _advice(argument: str, arguments: Sequence[str]) -> str:
    """Return what to write instead of an unknown option; empty if nothing is likely."""
    name = argument.partition("=")[0]
    plain = plain_name(name)
    if plain in _FILE_WORDS:
        return "name the file without an option"
    sets_sizes = OPTION_WORDS.get(plain, "").startswith(("--dim", "--input-shape"))
    if sets_sizes and not any(MODEL_SUFFIX in one for one in arguments):
        return SIZES_OF_A_PROFILE
    # argparse may have split an argument such as `-xt5`, so `argument` may not be in `arguments`.
    start = arguments.index(argument) if argument in arguments else len(arguments)
    value = _value(argument, arguments[start:])
    if meant := _meant_with_value(plain, value) or _reversed_order(plain, arguments):
        return did_you_mean([meant])
    if advice := _advice_on_rate(plain, value, arguments) or _advice_on_absent(plain, value):
        return advice
    if plain not in OPTION_WORDS and f"--{plain}" not in OPTION_OF:
        for column in CATALOG:
            if column.name == plain:
                return _advice_on_column(column, value)
    cutoff = 0.82 if len(plain) >= _LONG_NAME else 0.7
    names = likely_names(name, OPTION_OF, OPTION_WORDS, cutoff=cutoff)
    return did_you_mean(_completed(names, value))


def _reversed_order(word: str, arguments: Sequence[str]) -> str:
    """Return the `--order-by` of the call in the direction that `word` asks for.

    The result is empty unless `word` is one like `descending` or `reverse`, and the call has
    `--order-by`.
    """
    direction = OPTION_WORDS.get(word, "")
    found = [n for n, one in enumerate(arguments) if one.partition("=")[0] == "--order-by"]
    if direction not in ("--order-by +time", "--order-by time") or not found:
        return ""
    columns = split_names(_value(arguments[found[0]], arguments[found[0] :]))
    if len("".join(columns)) > LONGEST_ADVISED:
        return ""
    ascending = direction.endswith("+time")
    is_toggle = word in ("reverse", "r")
    ordered: list[str] = []
    for one in columns:
        has_plus = not one.startswith("+") if is_toggle else ascending
        ordered.append(("+" if has_plus else "") + one.lstrip("+-"))
    return f"--order-by {shlex.quote(','.join(ordered))}"


def _advice_on_absent(word: str, value: str) -> str:
    """Return the advice on an option that has no counterpart here; empty for other words."""
    if word in CHOOSING_A_VIEW and (advice := _advice_on_word(value)):
        return advice
    return absent_option(word)


def _advice_on_rate(word: str, value: str, arguments: Sequence[str]) -> str:
    """Return how to choose the peak rate of the dtype `value`; empty if no rate was meant.

    A rate was probably meant if `word` stands for `--input-dtype`, devices have rates of this
    dtype, and `--peaks` is given.
    """
    if OPTION_WORDS.get(word) != "--input-dtype" or value.lower() not in DTYPES:
        return ""
    start = next((n for n, one in enumerate(arguments) if one.partition("=")[0] == "--peaks"), -1)
    spec = _value(arguments[start], arguments[start:]) if start >= 0 else ""
    if not spec or shlex.quote(spec) != spec or len(spec) > LONGEST_ADVISED:
        return ""
    device, _, second = spec.partition(":")
    are_two_rates = device[:1].isdigit() and second[:1].isdigit()
    if are_two_rates or device.rstrip("!") == "here":
        bandwidth = second if are_two_rates else "BANDWIDTH"
        return (
            f"the rates of --peaks {spec} apply to every dtype; write --peaks FLOPS:{bandwidth} "
            f"with the FLO/s of {value.lower()}"
        )
    names = [one for one in spec.split(":") if one and one.lower() not in DTYPES]
    if len(names) > 1 and not names[0].endswith(".toml"):
        return ""  # a dtype that is not known
    return did_you_mean([f"--peaks {':'.join((*names, value.lower()))}"])


def _meant_with_value(word: str, value: str) -> str:
    """Return what to write for a word of another tool with this value.

    The result is empty if no entry of `OPTION_WORDS_OF_VALUE` matches.
    """
    if len(value) > LONGEST_ADVISED:
        return ""
    for pattern, meant in OPTION_WORDS_OF_VALUE:
        if match := re.fullmatch(pattern, f"{word} {value}"):
            return match.expand(meant)
    return ""


def _advice_on_column(column: Column, value: str) -> str:
    """Return how to use a column. With a value, a group key was probably meant as a filter."""
    name = column.name
    if column.is_key and value and not value.endswith(SUFFIXES) and len(value) <= LONGEST_ADVISED:
        return did_you_mean([f"--where {shlex.quote(f'{name} == {value}')}"])
    columns = ",".join(dict.fromkeys(("name", "time", name)))
    peaks = "; add --peaks, which it needs" if column.needs_peaks else ""
    return f"{name} is a column: write --columns {columns} or --order-by {name}{peaks}"


def _value(argument: str, following: Sequence[str]) -> str:
    """Return the value of the option `argument`; empty if it has none.

    `following` has the arguments from this option on.
    """
    _, equals, value = argument.partition("=")
    if equals or len(following) < 2 or following[1].startswith("-"):
        return value
    return following[1]


def _columns(value: str) -> str:
    """Return the columns that `value` names or means; empty if one of them does not exist."""
    names = [meant_column(name) or name for name in split_names(value)]
    with suppress(QueryError):
        for name in names:
            find_column(name.lstrip("+-"))
        return ",".join(names)
    return ""


def _condition(value: str) -> str:
    """Return the condition that `value` means, such as `type == Conv` for `type=Conv`.

    The result is empty if no column has the name before `=`. A text of another form is returned
    unchanged.
    """
    match = re.fullmatch(r"([\w.]+)\s*=\s*([^=~\s].*)", value)
    if match is None:
        return value
    column = _columns(match[1])
    return f"{column} == {match[2]}" if column else ""


def _completed(names: list[str], value: str) -> list[str]:
    """Return the options that may be meant. A single option gets the user's value."""
    if names == ["--peaks"]:
        return _peaks_with(value)
    return [_with_value(names[0], value)] if len(names) == 1 else names


def _peaks_with(value: str) -> list[str]:
    """Return what to write for `--peaks` with `value`: each device that `value` may name.

    If `value` is neither a device nor another value of `--peaks`, such as two rates or `here`, an
    example replaces it.
    """
    device, colon, dtype = value.partition(":")
    devices = names_of_devices(device) if len(value) <= LONGEST_ADVISED else ()
    if len(devices) > 1:
        return [f"--peaks {one}{shlex.quote(colon + dtype) if dtype else ''}" for one in devices]
    is_other_spec = re.fullmatch(r"here.*|auto|list|.+:.*|.+\.toml", value)
    return [_with_value("--peaks", value if devices or is_other_spec else "")]


def _with_value(meant: str, value: str) -> str:
    """Return `meant`, an entry of `OPTION_WORDS`, with the user's value or with an example."""
    option = OPTION_OF[meant.partition(" ")[0]]
    # If the user's option has no value, `value` may be the profile that follows this option.
    is_profile = value.endswith(SUFFIXES) and not option.names_file
    if is_profile or len(value) > LONGEST_ADVISED or not option.accepts(value):
        value = ""
    if meant not in OPTION_OF:
        safe = value if shlex.quote(value) == value else ""
        return re.sub(r"\{(.+?)\}", safe or r"\1", meant)
    if not option.takes_values:
        return meant
    if option.settings.get("type") is column_names:
        value = _columns(value)
    elif option.settings.get("type") is condition:
        value = _condition(value)
    return f"{meant} {shlex.quote(value)}" if value else f"{meant}, such as {option.example_call}"

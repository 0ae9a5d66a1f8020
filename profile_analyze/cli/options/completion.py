"""Completion scripts for bash, zsh and fish, made from the table of options.

The placeholder of an option's value, such as `FILE` or `KEY[,KEY...]`, decides which completions
the shell offers. A script contains all names, so that the shell need not call the command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.options.input_options import FILES
from profile_analyze.cli.options.table import OPTIONS
from profile_analyze.columns.aggregates import AGGREGATES
from profile_analyze.columns.catalog import CATALOG, group_keys
from profile_analyze.findings.register import all_rules
from profile_analyze.report.pages.device_list import typed_name
from profile_analyze.roofline.devices import DEVICES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from profile_analyze.cli.options.types import Option


_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "KEY": group_keys(),
    "HOW": tuple(AGGREGATES),
    "COLUMN": tuple(column.name for column in CATALOG),
    "[+]COLUMN": tuple(column.name for column in CATALOG if column.orderable),
    "CODE": tuple(rule.code for rule in all_rules()),
    "SPEC": ("auto", "here", "list", *map(typed_name, DEVICES)),
}
"""The names that complete a value, by its placeholder. `KEY` also stands for `KEY[,KEY...]`."""

_MAY_BE_FILES: Final = ("FILE", "DIR", "SPEC")
"""The placeholders of values that may be names of files."""


def completion_script(shell: str) -> str:
    """Return the script that completes the command in `shell`."""
    return _SCRIPTS[shell]()


def _placeholder(option: Option) -> str:
    return str(option.settings.get("metavar", ""))


def _names(option: Option) -> str:
    """Return the names that complete the option's value, separated by blanks."""
    word = _placeholder(option).partition("[,")[0]
    return " ".join(option.settings.get("choices", _NAMES.get(word, ())))


def _is_list(option: Option) -> bool:
    return _placeholder(option).endswith("...]")


def _description(option: Option) -> str:
    """Return the first clause of the option's help."""
    return re.split(r"[;:.] | \(|, such as", option.help.replace("%%", "%"))[0]


# The script leaves the names of files to readline, which handles blanks and ~ in them.
_BASH: Final = """\
# Completion of profile-analyze for bash, by: profile-analyze --print-completion bash
_profile_analyze() {
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}
    local kind=names names= head= name
    # bash splits --format=csv into three words
    if [[ $word == = ]]; then
        word=
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $option in
@cases@
        *)
            [[ $word == -* ]] || return 0
            names='@flags@'
            ;;
    esac
    # without this, readline completes files where no name fits
    [[ $kind == files ]] || compopt +o bashdefault +o default 2>/dev/null
    if [[ $kind == list ]]; then
        head=${word%"${word##*[,+]}"}
        compopt -o nospace 2>/dev/null
    fi
    while IFS= read -r name; do
        COMPREPLY+=("$head$name")
    done < <(compgen -W "$names" -- "${word#"$head"}")
}
complete -o bashdefault -o default -F _profile_analyze profile-analyze profile_analyze
"""


def _bash() -> str:
    flags = " ".join(flag for option in OPTIONS for flag in option.flags)
    cases = "\n".join(_bash_case(option) for option in OPTIONS if option.takes_value)
    return _BASH.replace("@cases@", cases).replace("@flags@", flags)


def _bash_case(option: Option) -> str:
    is_file = _placeholder(option) in _MAY_BE_FILES
    kind = "kind=files " if is_file else "kind=list " if _is_list(option) else ""
    names = f"names='{_names(option)}' " if _names(option) else ""
    return f"        {' | '.join(option.flags)}) {kind}{names};;"


_ZSH: Final = """\
#compdef profile-analyze profile_analyze
# Completion of profile-analyze for zsh, by: profile-analyze --print-completion zsh
_profile_analyze_list() {
    compset -P '*[,+]'
    compadd -q -S , -- "$@"
}
_profile_analyze() {
    _arguments \\
@options@
        '*:@file@:_files'
}
# If zsh loads this script from fpath, the script is the completion function, and completes at once.
# If the script is sourced, it only registers the function.
if [[ $funcstack[1] == _profile-analyze ]]; then
    _profile_analyze "$@"
else
    compdef _profile_analyze profile-analyze profile_analyze
fi
"""


def _zsh() -> str:
    options = "\n".join(f"        {_zsh_option(option)} \\" for option in OPTIONS)
    return _ZSH.replace("@options@", options).replace("@file@", _zsh_text(_description(FILES)))


def _zsh_text(text: str) -> str:
    """Return `text`, escaped for a single-quoted argument of zsh's function `_arguments`."""
    return re.sub(r"([\\\[\]:])", r"\\\1", text).replace("'", r"'\''")


def _zsh_option(option: Option) -> str:
    # For zsh, + or = after a flag means that its value may be in the same word.
    flags = [
        (flag + ("=" if flag.startswith("--") else "+")) if option.takes_value else flag
        for flag in option.flags
    ]
    repeated = option.settings.get("action") == "append"
    before = "'*'" if repeated else f"'({' '.join(option.flags)})'"
    named = f"{{{','.join(flags)}}}" if len(flags) > 1 else flags[0]
    # The text between the colons names the value. For zsh, an empty text makes a value optional.
    value = f":{_zsh_text(_placeholder(option) or 'value')}:{_zsh_value(option)}"
    return (
        f"{before}{named}'[{_zsh_text(_description(option))}]{value if option.takes_value else ''}'"
    )


def _zsh_value(option: Option) -> str:
    """Return zsh's action that completes the option's value; a blank for no completion."""
    names = _zsh_text(_names(option))
    if _placeholder(option) in _MAY_BE_FILES:
        return f"{{compadd -- {names}; _files}}" if names else "_files"
    if _is_list(option):
        return f"{{_profile_analyze_list {names}}}"
    return f"({names})" if names else " "


# The tab after each name begins an empty description. Without the tab, fish would show the option's
# description beside each name.
_FISH: Final = """\
# Completion of profile-analyze for fish, by: profile-analyze --print-completion fish
function __profile_analyze_names
    printf '%s\\t\\n' $argv
end
function __profile_analyze_list
    set -l word (commandline -ct | string replace -r -- '^--[^=]*=' '')
    set -l head (string replace -r -- '[^,+]*$' '' $word)
    __profile_analyze_names $head$argv
end
"""


def _fish() -> str:
    return _FISH + "".join(_fish_option(option) + "\n" for option in OPTIONS)


def _fish_option(option: Option) -> str:
    flags = " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    )
    description = re.sub(r"([\\'])", r"\\\1", _description(option))
    commands = "-c profile-analyze -c profile_analyze"
    return f"complete {commands} {flags}{_fish_value(option)} -d '{description}'"


def _fish_value(option: Option) -> str:
    """Return the arguments of `complete` for the option's value.

    -r requires a value, -F also completes files, -f completes no files.
    """
    if not option.takes_value:
        return ""
    files = "-F" if _placeholder(option) in _MAY_BE_FILES else "-f"
    names = _names(option)
    function = f"__profile_analyze_{'list' if _is_list(option) else 'names'}"
    return f" -r {files} -a '({function} {names})'" if names else f" -r {files}"


_SCRIPTS: Final[Mapping[str, Callable[[], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}

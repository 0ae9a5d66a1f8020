"""Real shells on a pseudo-terminal, which complete as they do for a person who presses TAB."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

# A separate program starts the shell. A worker of the tests has threads, and Python warns if such a
# process forks.
_SPAWN: Final = "import pty, sys; pty.spawn(sys.argv[1:])"
_PATIENCE_S: Final = 60  # a shell that does not answer must not block the tests forever
_PROMPT: Final = "ready> "
_END: Final = "<end>"
_BELL_OR_PASTE_MODE: Final = re.compile(r"\x07|\x1b\[\?2004[hl]")

# The command is a function that prints its arguments, so that Enter shows what was completed.
_SETUPS: Final = {
    "bash": f"""
PS1='{_PROMPT}'
bind 'set enable-bracketed-paste off'
bind 'set show-all-if-ambiguous on'
bind 'set completion-display-width 0'
bind 'set completion-query-items 0'
bind 'set page-completions off'
profile-analyze() {{ printf '<%s>\\n' "$@" end; }}
""",
    "zsh": f"""
PS1='{_PROMPT}'
unsetopt prompt_sp always_last_prompt list_ambiguous
LISTMAX=1000
fpath=($ZDOTDIR $fpath)
autoload -U compinit && compinit -u -D
profile-analyze() {{ printf '<%s>\\n' "$@" end }}
""",
    "fish": f"""
function fish_prompt; printf '{_PROMPT}'; end
function profile-analyze; printf '<%s>\\n' $argv end; end
""",
}


class Pressed(NamedTuple):
    """What happens after somebody types a line, TAB and Enter."""

    arguments: list[str]
    """The arguments that the command gets."""
    shown: list[str]
    """The texts that the shell shows besides the line: the names that it offers, and errors."""


class Shell:
    """A shell in `folder` that has loaded a completion script. `home` has its settings."""

    def __init__(self, name: str, folder: Path, home: Path, script: str) -> None:
        self.name = name
        self.folder = folder
        self.home = home
        for file in ("setup", ".zshrc"):
            (home / file).write_text(_SETUPS[name] + script, encoding="utf-8")
        arguments = {
            "bash": ("--noprofile", "--rcfile", f"{home}/setup", "-i"),
            "zsh": ("-d", "-i"),
            "fish": ("--no-config", "--init-command", f"source {home}/setup", "-i"),
        }
        call = (sys.executable, "-c", _SPAWN, "sh", "-c", 'stty cols 200; exec "$0" "$@"', name)
        self.process = subprocess.Popen(
            [*call, *arguments[name]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=_environment(home),
        )
        self.started = self._read_to(_PROMPT)

    def press_tab(self, typed: str) -> Pressed:
        """Type the arguments of the command, TAB and Enter."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"profile-analyze {typed}\t\r".encode())
        self.process.stdin.flush()
        text = _BELL_OR_PASTE_MODE.sub("", self._read_to(_END, _PROMPT))
        _, *lines = re.split(r"[\r\n]+", text)
        # fish prints this arrow before a prompt
        shown = [line for line in lines if not line.startswith(("<", _PROMPT, "\N{RETURN SYMBOL}"))]
        arguments = [line[1:-1] for line in lines if line.startswith("<")]
        return Pressed(arguments[:-1], [word for line in shown for word in line.split()])

    def offered(self, typed: str) -> list[str]:
        """Return what TAB offers: words, or for fish whole lines, some with a description."""
        if self.name != "fish":
            return self.press_tab(typed).shown
        # fish shows no list on a dumb terminal. On others, it moves the cursor so often that this
        # test cannot read the list.
        question = f"source {self.home}/setup; complete --do-complete 'profile-analyze {typed}'"
        done = subprocess.run(
            ["fish", "--no-config", "--command", question],
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            env=_environment(self.home),
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.splitlines()

    def close(self) -> None:
        """End the shell."""
        self.process.communicate(b"exit\r", timeout=_PATIENCE_S)

    def _read_to(self, *marks: str) -> str:
        """Return what the terminal shows until all marks have appeared, in this order."""
        assert self.process.stdout is not None
        text = ""
        position = 0
        for mark in marks:
            while (found := text.find(mark, position)) < 0:
                ready, _, _ = select.select([self.process.stdout], [], [], _PATIENCE_S)
                new = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
                assert new, f"the shell ended or hangs: {text!r}"
                text += new.decode()
            position = found + len(mark)
        return text[:position]


def _environment(home: Path) -> dict[str, str]:
    """Return an environment without the settings of the person who runs the tests."""
    names = ("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    plain = {"PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    return plain | dict.fromkeys(names, str(home))

"""A long answer on a terminal is shown in a pager. A missing or failing pager causes no error."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import PROFILES, run_command, some_of
from tests.pseudo_terminal import COMMAND, Screen, run_command_on_terminal, run_on_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RESNET = str(PROFILES / "resnet18.json")
TWO_NODES = str(PROFILES / "twocn.json")
ALL = ("-t", "0", "--dump-only-opr", "--print-only", "device")
LONG = (RESNET, *ALL)
MARK = "sed s/^/P:/"


def shown(
    *arguments: str,
    pager: str = MARK,
    lines: int = 20,
    environment: Mapping[str, str] | None = None,
    stdin: int | None = None,
) -> Screen:
    """Return what the command shows on a terminal with this number of lines."""
    variables = {"PAGER": pager, **(environment or {})}
    return run_command_on_terminal(arguments, (200, lines), variables, stdin=stdin)


def shown_with_keys(keys: Sequence[tuple[str, str]], environment: Mapping[str, str]) -> Screen:
    """Return what a separate process shows for the long answer while keys are pressed."""
    return run_on_terminal((*COMMAND, *LONG), (200, 20), environment, keys=keys)


@pytest.fixture(scope="module")
def answer() -> str:
    return run_command(*LONG).out


def test_a_long_answer_goes_through_the_pager_and_notes_follow() -> None:
    answer = run_command(TWO_NODES, *ALL).out
    note = "note: the device time is the sum of 2 comp nodes, "
    screen = shown(TWO_NODES, *ALL, "--color", "never")
    paged, _, notes = screen.text.partition(note)
    assert paged == "".join(f"P:{line}\n" for line in answer.splitlines())
    assert notes.startswith("which may have")
    assert screen.code == 0


def test_an_answer_that_fits_is_not_paged(answer: str) -> None:
    count = answer.count("\n")
    assert shown(*LONG, lines=count + 1) == Screen(answer, 0)
    assert shown(*LONG, lines=count).text.startswith("P:")


WITHOUT_PAGER: list[dict[str, Any]] = [
    *({"pager": "cat"}, {"pager": ""}, {"pager": " "}, {"pager": "no-such-program --option"}),
    *({"pager": "'no end"}, {"pager": "/"}, {"environment": {"TERM": "dumb"}}),
    *({"environment": {"TERM": ""}}, {"environment": {"CI": "true"}}),
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", some_of(WITHOUT_PAGER, 4))
def test_settings_that_switch_the_pager_off(settings: dict[str, Any], answer: str) -> None:
    assert shown(*LONG, **settings) == Screen(answer, 0)


def test_there_is_no_pager_without_a_keyboard(answer: str) -> None:
    with Path(os.devnull).open() as nothing:
        assert shown(*LONG, stdin=nothing.fileno()) == Screen(answer, 0)


def test_the_option_no_pager_switches_the_pager_off(answer: str) -> None:
    assert shown(*LONG, "--no-pager") == Screen(answer, 0)


def test_output_to_a_pipe_is_not_paged(answer: str) -> None:
    done = subprocess.run(
        [*COMMAND, *LONG], capture_output=True, encoding="utf-8", env={"PAGER": MARK}, check=True
    )
    assert done.stdout == answer


def test_a_pager_that_ends_early_causes_no_error() -> None:
    gate = ("--fail-if", "time > 1us", "--fail-uncertain", "yes")
    screen = shown(*LONG, *gate, pager="head -n 1")
    assert (screen.text.count("\n"), screen.code) == (1, 4)
    assert shown(*LONG, pager="true") == Screen("", 0)
    more_than_a_pipe_holds = (
        *(str(PROFILES / "mobilenet.json"), "-t", "0", "--show-host"),
        *("--columns", "all", "--format", "json"),
    )
    assert len(run_command(*more_than_a_pipe_holds).out) > 1 << 17
    assert shown(*more_than_a_pipe_holds, pager="true", lines=1) == Screen("", 0)
    assert shown(*LONG, pager="false") == Screen("", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", some_of([["--help"], ["--columns", "help"], ["--peaks", "list"]], 3)
)
def test_long_pages_are_paged_too(arguments: list[str]) -> None:
    assert shown(*arguments).text.startswith("P:")
    assert not shown(*arguments, "--no-pager").text.startswith("P:")


def test_an_interrupt_is_for_the_pager() -> None:
    # A shell may miss a signal that comes just before it waits for a key, so this pager waits for
    # the signal in a loop. For a moment after Ctrl-C, a terminal drops what is written to it.
    wait = 'trap "hit=1" INT; cat; echo ready; while test -z "$hit"; do sleep 0.1; done; sleep 0.3'
    script = f"sh -c '{wait}; echo interrupted; read key </dev/tty; echo left'"
    keys = [("ready", "\x03"), ("interrupted", "\r")]
    screen = shown_with_keys(keys, {"PAGER": script})
    assert screen.text.rstrip().endswith("left")
    assert (screen.code, "Traceback" in screen.text) == (0, False)


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_less_is_the_default() -> None:
    screen = shown_with_keys([("q quits, --no-pager prints everything at once", "q")], {})
    assert (screen.code, "Traceback" in screen.text) == (0, False)
    assert screen.text.count("\n") < 21  # the rest was not shown

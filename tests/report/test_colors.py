"""Colours repeat what words say: verdicts, outcomes of a gate, and labels of messages."""

from __future__ import annotations

import io
import sys

import pytest

import profile_analyze as pa
from profile_analyze.cli.main import main
from profile_analyze.cli.options.parser import color_choice
from profile_analyze.report.formats.output_formats import OPERATORS, PLAIN, TABLE
from profile_analyze.report.layout.colors import (
    colored_before_bracket,
    colored_sentence,
    colored_word,
    without_colors,
)
from tests.conftest import TABLE_FORMATS
from tests.report.test_whole_reports import comparison

RED, GREEN, YELLOW, CYAN, DIM = (f"\x1b[{code}m" for code in (31, 32, 33, 36, 2))
END = "\x1b[0m"
COLORED = (PLAIN, TABLE)
"""The formats with colours, except the list of operators, which has colours in its sentences."""
GATE = ("total > +2%", "total > +60%", "time > 10us", "type=None: time > +1%")


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def colored_report(output_format: str) -> str:
    report = comparison((), GATE)
    return pa.render(report, output_format, display=pa.Display(color=True))


@pytest.mark.parametrize("output_format", COLORED)
def test_verdicts_and_outcomes_have_colours(output_format: str) -> None:
    shown = colored_report(output_format)
    report = comparison((), GATE)
    plain = pa.render(report, output_format)
    assert without_colors(shown).split() == plain.split()
    lines = [line.strip() for line in shown.splitlines()]
    (verdict,) = (line for line in lines if line.startswith("verdict "))
    assert verdict.endswith(f"  {RED}slower{END} (p 0.0159, threshold 3.0%)")
    for start in (
        f"{RED}slower than the baseline{END}: ",
        f"{RED}slower{END}: conv_1 ",
        f"{GREEN}faster{END}: relu_1 ",
        f"{RED}FAILED{END}: time > 10us: ",
        f"{RED}FAILED{END}: total > +2%: ",
        f"{GREEN}passed{END}: total > +60%: ",
        f"{YELLOW}cannot be judged{END}: type=None: time > +1%: ",
    ):
        assert [line for line in lines if line.startswith(start)], start
    _, _, table = shown.partition("\n\n")
    for cell in (f"{RED}slower{END}", f"{GREEN}faster{END}", f"{DIM}uncertain{END}"):
        assert f" {cell} " in table


def test_a_chosen_column_of_verdicts_has_colours() -> None:
    report = comparison((), ())
    shown = pa.render(report, columns="verdict,name", display=pa.Display(color=True, width=60))
    assert f"│ {RED}slower{END}    │ conv_1 │" in shown


@pytest.mark.parametrize(
    "output_format", [one for one in TABLE_FORMATS if one not in (*COLORED, OPERATORS)]
)
def test_other_formats_have_no_colours(output_format: str) -> None:
    assert "\x1b" not in colored_report(output_format)


def test_only_known_words_have_colours() -> None:
    assert colored_word("slower") == f"{RED}slower{END}"
    assert colored_word("uncertain") == f"{DIM}uncertain{END}"
    assert colored_word("conv") == "conv"
    assert colored_before_bracket("uncertain (3%)") == f"{DIM}uncertain{END} (3%)"
    assert colored_before_bracket("uncertain") == f"{DIM}uncertain{END}"
    assert colored_before_bracket("more work (p 0.01)") == f"{YELLOW}more work{END} (p 0.01)"
    assert colored_before_bracket("slowly") == "slowly"
    assert colored_before_bracket("faster r-cnn (v2)") == "faster r-cnn (v2)"
    assert colored_sentence("same: x") == "same: x"
    assert colored_sentence("slowly") == "slowly"
    assert colored_sentence("uncertain: x") == f"{YELLOW}uncertain{END}: x"


@pytest.mark.parametrize(
    ("argv", "choice"),
    [
        ([], "auto"),
        (["--color", "never"], "never"),
        (["--color=always", "x"], "always"),
        (["--color", "never", "--color", "auto"], "auto"),
        (["x", "--color"], ""),
        # `--colo` begins only this option, `--col` also begins `--columns`
        (["--colo", "never"], "never"),
        (["--colo=always", "x"], "always"),
        (["--color", "never", "--colo", "auto"], "auto"),
        (["--col", "never"], "auto"),
        (["--colu", "never"], "auto"),
        (["--", "never"], "auto"),
        (["", "never"], "auto"),
    ],
)
def test_the_value_of_color_is_read_even_from_a_wrong_command_line(
    argv: list[str], choice: str
) -> None:
    assert color_choice(argv) == choice


@pytest.mark.parametrize(
    ("options", "environment", "label"),
    [
        ([], {}, f"{RED}error{END}"),
        (["--color", "never"], {}, "error"),
        (["--colo", "never"], {}, "error"),
        # only five options may be in the variable, so that a shorter abbreviation is unambiguous
        ([], {"PROFILE_ANALYZE_OPTIONS": "--c never"}, "error"),
        (["--colo=always"], {"PROFILE_ANALYZE_OPTIONS": "--c never"}, f"{RED}error{END}"),
        ([], {"NO_COLOR": "1"}, "error"),
        (["--color=always"], {"NO_COLOR": "1"}, f"{RED}error{END}"),
        ([], {"TERM": "dumb"}, "error"),
    ],
)
def test_labels_of_messages_have_colours_on_a_terminal(
    options: list[str],
    environment: dict[str, str],
    label: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in ({"NO_COLOR": "", "TERM": "xterm", "COLUMNS": "60"} | environment).items():
        monkeypatch.setenv(name, value)
    for stream, expected in ((Terminal(), label), (io.StringIO(), "error")):
        monkeypatch.setattr(sys, "stderr", stream)
        assert main([*options, "nothing.json"]) == 1
        assert stream.getvalue() == f"profile_analyze: {expected}: nothing.json: no such file\n"


def test_notes_and_errors_are_wrapped_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    call = ["nothing.json", "--color", "never", "--threshold", "3%"]
    texts = []
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(call) == 2
        texts.append(stream.getvalue())
    assert texts == [
        "profile_analyze: error: --threshold needs\n  --compare, which names what to compare with\n",
        "profile_analyze: error: --threshold needs --compare, which names what to compare with\n",
    ]

"""The completion scripts, in real shells: what TAB completes and offers, without any error."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.options.parser import parser
from profile_analyze.cli.options.table import OPTION_OF
from profile_analyze.columns.aggregates import AGGREGATES
from profile_analyze.columns.catalog import CATALOG, group_keys
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, TABLE_FORMATS
from profile_analyze.roofline.devices import DEVICES, Device
from profile_analyze.roofline.peaks import parse_peaks
from tests.cli.shells import Pressed, Shell
from tests.conftest import run_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHELLS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"),
    )
    for name in ("bash", "zsh", "fish")
]


def script(name: str) -> str:
    outcome = run_command("--print-completion", name)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


@pytest.fixture(params=SHELLS, scope="module")
def shell(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "runs").mkdir()
    for name in ("one run.json", "base.toml", "time.toml", "runs/last.json", "runs/late.json"):
        (folder / name).touch()
    home = tmp_path_factory.mktemp("home")
    result = Shell(request.param, folder, home, script(request.param))
    yield result
    result.close()


COMPLETED = {
    # files and folders
    r"one\ r": ["one run.json"],
    "base.toml runs/las": ["base.toml", "runs/last.json"],
    r"base.toml runs/ one\ ": ["base.toml", "runs/", "one run.json"],
    "--compare time.toml ba": ["--compare", "time.toml", "base.toml"],
    "time.toml --show-host ba": ["time.toml", "--show-host", "base.toml"],
    "time.toml -t 5 ba": ["time.toml", "-t", "5", "base.toml"],
    "--type Conv ba": ["--type", "Conv", "base.toml"],
    "-o ba": ["-o", "base.toml"],
    "--output ba": ["--output", "base.toml"],
    "--plot ba": ["--plot", "base.toml"],
    # options
    "--forc": ["--force"],
    "time.toml --forc": ["time.toml", "--force"],
    "--vers": ["--version"],
    "--type Conv --typ": ["--type", "Conv", "--type"],
    # one name
    "--format mark": ["--format", "markdown"],
    "--format=mark": ["--format=markdown"],
    "time.toml --level ker": ["time.toml", "--level", "kernel"],
    "--print-completion zs": ["--print-completion", "zsh"],
    "--peaks mi21": ["--peaks", "mi210"],
    "--peaks he": ["--peaks", "here"],
    "--peaks au": ["--peaks", "auto"],
    "--explain bandw": ["--explain", "bandwidth"],
    "--peaks l40s": ["--peaks", "l40s:fp16"],
    "--peaks ti": ["--peaks", "time.toml"],
    # lists of names
    "--order-by ban": ["--order-by", "bandwidth"],
    "--order-by +ban": ["--order-by", "+bandwidth"],
    "--order-by=+ban": ["--order-by=+bandwidth"],
    "--order-by name,ban": ["--order-by", "name,bandwidth"],
    "--order-by +name,+ban": ["--order-by", "+name,+bandwidth"],
    "--aggregate-by type,categ": ["--aggregate-by", "type,category"],
    "--aggregate med": ["--aggregate", "median"],
    "--columns id,cumulative_t": ["--columns", "id,cumulative_time"],
    "--columns=id,nam": ["--columns=id,name"],
    # nothing to complete: options that take any text, and lists of names without a fitting one
    "--type ba": ["--type", "ba"],
    "--where ba": ["--where", "ba"],
    "--format ba": ["--format", "ba"],
    "--columns ti,zz": ["--columns", "ti,zz"],
}


def test_tab_completes(shell: Shell) -> None:
    assert shell.started.strip("\r") == "ready> "
    for typed, completed in COMPLETED.items():
        assert (typed, shell.press_tab(typed)) == (typed, Pressed(completed, []))


def test_all_values_of_peaks_that_the_help_names_are_completed() -> None:
    words = re.findall("'([a-z]+)'", OPTION_OF["--peaks"].help)
    assert len(words) > 2
    (offered,) = re.findall(r"--peaks\) .*names='(.*)'", script("bash"))
    assert {*words} <= {*offered.split()}


def test_a_list_can_continue_after_a_completed_name(shell: Shell) -> None:
    if shell.name == "fish":
        pytest.skip("fish has no way to leave out the blank after a name")
    completed = ["--columns", "name,type"]
    assert shell.press_tab("--columns nam\t,typ") == Pressed(completed, [])


FORMATS = [*(name for name in OUTPUT_FORMATS if name != OPERATORS), *TABLE_FORMATS]
OFFERED = {
    "--format ": FORMATS,
    "time.toml --format=": FORMATS,
    "--format j": [name for name in FORMATS if name.startswith("j")],
    "--columns ": [column.name for column in CATALOG],
    "--columns id,in_": ["in_shapes", "in_strides"],
    "--columns=id,in_": ["in_shapes", "in_strides"],
    "--order-by ": [column.name for column in CATALOG if column.orderable],
    "--order-by +time_m": ["time_max", "time_median", "time_min"],
    "--aggregate-by ": list(group_keys()),
    "--aggregate ": list(AGGREGATES),
    "--peaks a1": ["a10", "a100-40gb", "a100-80gb-pcie", "a100-80gb-sxm"],
    "--compare runs/la": ["last.json", "late.json"],
    "--where ": [],
    "--max-size ": [],
}


def test_tab_offers_names(shell: Shell) -> None:
    for typed, names in OFFERED.items():
        offered = [re.split(r"[,+=/]", name)[-1] for name in shell.offered(typed)]
        assert (typed, sorted(offered)) == (typed, sorted(names))


FLAGS = {flag for action in parser()._actions for flag in action.option_strings}


def test_tab_offers_every_option(shell: Shell) -> None:
    words = " ".join(shell.offered("time.toml --")).split()
    offered = {word.rstrip("=") for word in words}
    # zsh shows -- before descriptions
    long = {word for word in offered if word.startswith("--")} - {"--"}
    assert long == FLAGS - {"-h", "-t", "-o"}


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_scripts_have_every_option(name: str) -> None:
    """This test needs no shell, so it also runs where a shell is missing."""
    words = set(re.findall(r"[\w-]+", script(name)))
    assert {flag.lstrip("-") if name == "fish" else flag for flag in FLAGS} <= words


def test_only_values_that_can_be_continued_are_lists() -> None:
    lists = re.findall(r"^ *(--[\w-]+)\) kind=list names='.", script("bash"), re.MULTILINE)
    assert lists == [
        *("--aggregate-by", "--aggregate", "--order-by", "--columns", "--findings", "--ignore")
    ]
    assert "kind=list ;;" not in script("bash")
    assert "_profile_analyze_list }" not in script("zsh")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_loads_the_script_from_fpath(tmp_path: Path) -> None:
    (tmp_path / "_profile-analyze").write_text(script("zsh"), encoding="utf-8")
    shell = Shell("zsh", tmp_path, tmp_path, "")
    for _ in ("the first TAB loads the file", "the second calls the function"):
        assert shell.press_tab("--forc") == Pressed(["--force"], [])
    shell.close()


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_devices_are_completed_by_names_that_are_accepted(device: Device) -> None:
    names = re.search("--peaks.* names='auto here list (.*)'", script("bash"))
    assert names is not None
    assert device.name in [parse_peaks(name).name for name in names[1].split()]

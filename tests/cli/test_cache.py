"""The options on the cache: its folder, the files in it, and calls that do not use it."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.inputs.cache_folder import user_cache_folder
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

TINY = PROFILES / "tiny.json"
ARGUMENTS = ("--format", "json", "-t", "0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for the caches of the user."""
    folder = tmp_path / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def large(tmp_path: Path) -> str:
    """Return a `.gz` file that is large enough for the cache: level 0 of gzip keeps its size."""
    path = tmp_path / "large.json.gz"
    path.write_bytes(gzip.compress(TINY.read_bytes() + b"\n" * 5_000_000, 0))
    return str(path)


def test_a_large_profile_is_cached_in_the_users_folder(home: Path, large: str) -> None:
    plain = run_command(large, *ARGUMENTS, "--no-cache")
    assert not home.exists()
    assert run_command(large, *ARGUMENTS) == plain
    (kept,) = (home / "profile_analyze" / "profiles").glob("*.profile")
    inode = kept.stat().st_ino  # a file that is written again gets another one
    assert run_command(large, *ARGUMENTS) == plain
    assert kept.stat().st_ino == inode


def test_the_option_cache_names_another_folder(home: Path, large: str, tmp_path: Path) -> None:
    folder = tmp_path / "of" / "profiles"
    plain = run_command(large, *ARGUMENTS, "--no-cache")
    assert run_command(large, *ARGUMENTS, "--cache", str(folder)) == plain
    assert len([*folder.glob("*.profile")]) == 1
    both = run_command(large, large, "--cache", str(folder))
    assert both.out == run_command(large, large, "--no-cache").out
    assert not home.exists()


def test_the_cache_can_be_cleared(home: Path, large: str, tmp_path: Path) -> None:
    folder = home / "profile_analyze" / "profiles"
    cleared = run_command("--clear-cache")
    assert (cleared.code, cleared.out) == (
        0,
        f"there are no decoded profiles in {folder}\n",
    )
    run_command(large)
    foreign = folder / "notes.txt"
    foreign.touch()
    (kept,) = folder.glob("*.profile")
    size = f"{kept.stat().st_size / 1024:.2f} KiB"
    cleared = run_command("--clear-cache")
    assert cleared.out == f"removed 1 decoded profile ({size}) from {folder}\n"
    assert foreign in folder.iterdir()
    assert not [*folder.glob("*.profile")]
    cleared = run_command("--clear-cache", "--cache", str(tmp_path / "x"))
    assert cleared.out == f"there are no decoded profiles in {tmp_path / 'x'}\n"
    failed = run_command("--clear-cache", "--cache", large)
    message = f"profile_analyze: error: {large}: the cache cannot be cleared: not a directory\n"
    assert (failed.code, failed.out, failed.err) == (1, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run.json", "--cache", "a", "--no-cache"],
            "--cache names a folder, and --no-cache keeps nothing; leave one out",
        ),
        (
            ["run.json", "--cache", ""],
            "--cache: the name of the folder is empty; is a variable unset?",
        ),
        (
            ["run.json", "--clear-cache"],
            "--clear-cache only removes decoded profiles; leave it out, or leave out the files",
        ),
        (
            ["--clear-cache", "--no-cache"],
            "--no-cache uses no folder, so --clear-cache has nothing to clear",
        ),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], message: str) -> None:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.err) == (2, f"profile_analyze: error: {message}\n")


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches"),
        ("linux", {}, "/home/me/.cache"),
        ("linux", {"XDG_CACHE_HOME": "caches"}, "/home/me/.cache"),
        ("darwin", {}, "/home/me/Library/Caches"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local"),
        ("win32", {}, "/home/me/AppData/Local"),
    ],
)
def test_each_platform_has_its_usual_cache_folder(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], folder: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/me"} | variables).items():
        monkeypatch.setenv(name, value)
    assert str(user_cache_folder()) == f"{folder}/profile_analyze"


def test_a_plain_call_neither_imports_the_cache_nor_opens_its_folder(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "opened = []\n"
        "def note(event, parts):\n"
        "    if event == 'open' or event.startswith('os.'):\n"
        "        opened.append(str(parts[0]))\n"
        "sys.addaudithook(note)\n"
        "from profile_analyze.cli.main import main\n"
        "main([sys.argv[1]])\n"
        "assert opened and not [one for one in opened if 'caches' in one]\n"
        "cache = ('readers.cache.',)\n"
        "assert not [one for one in sys.modules if any(name in one for name in cache)]"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "caches")}
    subprocess.run(
        [sys.executable, "-c", code, str(TINY)],
        stdout=subprocess.DEVNULL,
        env=environment,
        check=True,
    )

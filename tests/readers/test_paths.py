"""Folders and lists as names of inputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.readers.paths import inputs_in
from tests.conftest import PROFILES, run_command
from tests.readers.tiny_file import write_bytes
from tests.small import Operator, written

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")


def test_folders_and_lists_stand_for_files(tmp_path: Path) -> None:
    for name in ("b.json", "a.json.gz", "c.json.zst", "d.txt", "e.JSON"):
        (tmp_path / name).touch()
    (tmp_path / "inner").mkdir()
    inside = [str(tmp_path / name) for name in ("a.json.gz", "b.json", "c.json.zst")]
    assert inputs_in([str(tmp_path)]).files == inside
    listed = tmp_path / "list.txt"
    listed.write_text(f"# mine\n\n  x.json  \n{tmp_path}\n-\n")
    assert inputs_in(["z.json", f"@{listed}"]).files == ["z.json", "x.json", *inside, "-"]
    with pytest.raises(pa.InputError) as caught:
        inputs_in([str(tmp_path / "inner")])
    assert caught.value.reason == "is a directory without profiles (*.json, *.json.gz, *.json.zst)"
    for name in ("b.csv", "a.txt", "c.txt", "d.py"):
        (tmp_path / "inner" / name).touch()
    with pytest.raises(pa.InputError) as caught:
        inputs_in([str(tmp_path / "inner")])
    inner = tmp_path / "inner"
    assert caught.value.reason == (
        "is a directory without profiles (*.json, *.json.gz, *.json.zst); name files with other "
        f"suffixes: {inner}/*.csv {inner}/*.txt"
    )
    listed.write_text("# nothing\n")
    with pytest.raises(pa.InputError, match="is a list without names; write one in each line"):
        inputs_in([f"@{listed}"])
    listed.write_text("a.json\n@more.txt\n")
    with pytest.raises(pa.InputError, match=r"contains the list @more\.txt; write the names in"):
        inputs_in([f"@{listed}"])
    with pytest.raises(
        pa.InputError, match=r"tiny\.json: looks like JSON, not like a list; name a"
    ):
        inputs_in([f"@{TINY}"])
    with pytest.raises(pa.InputError, match="@nowhere: the list cannot be read: no such file"):
        inputs_in(["@nowhere"])


def test_quoted_patterns_stand_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(["x/b.json", "x/a.json", "x/y/c.json", "[z].json"]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        written(tmp_path / name, [Operator("a", "A", float(number + 1))])
    for pattern, files in (
        ("x/*.json", ["x/a.json", "x/b.json"]),
        ("x/**", ["x/a.json", "x/b.json", "x/y/c.json"]),
        ("**/[bc].json", ["x/b.json", "x/y/c.json"]),
        ("x/?", ["x/y/c.json"]),
        (f"{tmp_path}/x/y/*", [f"{tmp_path}/x/y/c.json"]),
        ("[z].json", ["[z].json"]),
    ):
        outcome = run_command(pattern, "--format=json")
        assert json.loads(outcome.out)["profile"]["files"] == files
    outcome = run_command("x/a.json", "--compare", "x/y/*", "--format=json")
    assert json.loads(outcome.out)["base"]["files"] == ["x/y/c.json"]
    assert run_command("w/*.json").err == (
        "profile_analyze: error: w/*.json: no such file; no file matches this pattern\n"
    )


def test_files_that_describe_a_profile_beside_them_are_left_out(tmp_path: Path) -> None:
    for name in (
        "a.profile.json",
        "a.graph.json",
        "b.graph.json",
        "profile.json",
        "graph.json.gz",
        "times.json",
        "a.metadata.json",
        "a.build.metadata.json",
        "a.profile.metadata.json.gz",
        "metadata.json",
        "c.metadata.json",
    ):
        (tmp_path / name).touch()
    left = ("a.profile.json", "b.graph.json", "c.metadata.json", "profile.json")
    assert inputs_in([str(tmp_path)]).files == [str(tmp_path / name) for name in left]


def test_output_never_replaces_a_list_that_is_read(tmp_path: Path) -> None:
    file = written(tmp_path / "1.json", [Operator("conv", "Conv", 1)])
    listed = tmp_path / "list.txt"
    listed.write_text(file)
    outcome = run_command(f"@{listed}", "-o", str(listed), "--force")
    assert outcome.err.endswith("list.txt: is one of the input files; write to another file\n")
    assert listed.read_text() == file


def test_lists_have_the_size_limit_of_profiles(tmp_path: Path) -> None:
    names = write_bytes(tmp_path, b"# names\n" * 1000, "names")
    assert run_command(f"@{names}", "--max-size", "7KiB").err == (
        f"profile_analyze: error: @{names}: the list cannot be read: holds more than 7.00 KiB, "
        "decompressed; --max-size raises the limit\n"
    )

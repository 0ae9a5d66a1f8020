"""Folders and lists as names of inputs."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

import profile_analyze as pa
from profile_analyze.readers.input.paths import inputs_in, without_repeats
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.readers.tiny_file import write_bytes
from tests.small import Operator, written

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
    listed.write_bytes(b"x\r\n\na\xe2\x80\xa8b\xc2\x85c.json\r\n")
    assert inputs_in([f"@{listed}"]).files == ["x", "a\u2028b\x85c.json"]
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


def test_a_missing_file_of_a_list_is_reported_with_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text(f"# mine\n{TINY}\nno.json\n")
    Path("absolute.txt").write_text(f"{tmp_path}/no.json\n")
    Path("url.txt").write_text("file:///no.json\n")
    relative = (
        "profile_analyze: error: no.json: no such file; the list @list.txt names it; its names are "
        "relative to the current folder\n"
    )
    for arguments, message in (
        (["@list.txt"], relative),
        ([TINY, "--compare", "@list.txt"], relative),
        (
            ["@absolute.txt"],
            f"profile_analyze: error: {tmp_path}/no.json: no such file; the list @absolute.txt "
            "names it\n",
        ),
        (
            ["@url.txt"],
            "profile_analyze: error: file:///no.json: no such file; the list @url.txt names it\n",
        ),
    ):
        done = run_command(*arguments)
        assert (done.code, done.out, done.err) == (1, "", message)
    left_out = run_command("@list.txt", "--skip-bad", "--format", "json")
    assert json.loads(left_out.out)["profile"]["left_out"] == [
        {"file": "no.json", "reason": "no such file"}
    ]
    Path("list.txt").write_text("-\n")
    assert run_command("@list.txt", stdin=Path(TINY).read_bytes()).code == 0


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
    kept = ("a.profile.json", "b.graph.json", "c.metadata.json", "profile.json")
    assert inputs_in([str(tmp_path)]).files == [str(tmp_path / name) for name in kept]


def test_files_that_belong_to_a_named_profile_are_no_profiles(tmp_path: Path) -> None:
    profile, other = (
        written(tmp_path / f"{name}.profile.json", [Operator("a", "A", 1)]) for name in "ab"
    )
    graph = str(tmp_path / "a.graph.json")
    facts = str(tmp_path / "a.metadata.json.gz")
    for file in (graph, facts):
        Path(file).write_text("{}")
    one, both = (
        run_command(*files, "--format", "json", "--print-only", "summary")
        for files in ((graph, profile, other), (profile, "--compare", graph, facts, other))
    )
    assert json.loads(one.out)["profile"]["files"] == [profile, other]
    assert json.loads(one.out)["notes"][-1] == (
        "not read as a profile: 1 file that belongs to a named profile, such as "
        f"{graph}, which belongs to {profile}"
    )
    # A file of the baseline cannot belong to a profile on the other side of the comparison.
    assert both.err.startswith(f"profile_analyze: error: {graph}: ")
    several = run_command(profile, graph, facts, other, "--format", "json")
    assert json.loads(several.out)["notes"][-1] == (
        "not read as profiles: 2 files that belong to a named profile, such as "
        f"{graph}, which belongs to {profile}"
    )


def test_a_note_names_profiles_that_a_folder_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    written(tmp_path / "runs" / "a.json", [Operator("a", "A", 1)])
    Path("runs/notes.txt").write_text("run on Monday")
    Path("runs/empty.csv").touch()
    Path("runs/link.csv").symlink_to("nowhere")

    def notes(*arguments: str) -> list[str]:
        outcome = run_command(*arguments, "--format", "json", "--print-only", "summary")
        return [one for one in json.loads(outcome.out)["notes"] if "left out" in one]

    assert notes("runs") == []
    counters = (FIXTURES / "openvino" / "layers-f32-2026.4.csv.gz").read_bytes()
    Path("runs/b.csv.gz").write_bytes(counters)
    one = "runs/b.csv.gz may be a profile, but was left out because of its suffix; name it, too"
    assert notes("runs") == [one]
    again = "left out ./runs/a.json, because it is the same file as runs/a.json"
    assert notes("runs", "./runs") == [again, one]
    assert notes("runs", "./runs/b.csv.gz") == []
    assert notes("runs", "--label", "{day}.json") == [one]
    pytest.importorskip("pyarrow")
    exported = run_command("runs", "--export", "set")
    assert exported.err == f"note: {one}\n"
    Path("runs/c.csv").write_bytes(gzip.decompress(counters))
    assert notes("runs/a.json", "--compare", "runs") == [
        "2 files may be profiles, but were left out because of their suffixes: runs/b.csv.gz and 1 "
        "more; name the files to read them, too"
    ]


def test_the_error_about_a_folder_names_subfolders_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("d/e/f/b.json.zst", "d/c.json.gz", "d/e/a.json", "it's/run.json"):
        Path("all runs", name).parent.mkdir(parents=True, exist_ok=True)
        Path("all runs", name).touch()
    for name in ("notes.txt", "list.csv.gz", "net.onnx"):
        Path("all runs", name).touch()
    start = "is a directory without profiles (*.json, *.json.gz, *.json.zst)"
    with pytest.raises(pa.InputError) as caught:
        inputs_in(["all runs"])
    assert caught.value.reason == (
        f"{start}; subfolders are not searched: name one, such as all runs/d or all runs/d/e, or "
        "several: 'all runs/**/*.json.gz'; name files with other suffixes: "
        "all runs/*.csv.gz all runs/*.txt; models in a folder are not read: name one, such as "
        "all runs/net.onnx"
    )


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


@pytest.fixture
def circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two files, and with links to them, to itself and to a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "inner").mkdir(parents=True)
    for name in ("a.json", "inner/b.json"):
        (tmp_path / "runs" / name).write_bytes(Path(TINY).read_bytes())
    for name, target in (
        ("0.json", "a.json"), ("again", "inner"), ("self", "."), ("self2", "../runs"),
    ):  # fmt: skip
        (tmp_path / "runs" / name).symlink_to(target)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "c.json").write_bytes(Path(TINY).read_bytes())
    (tmp_path / "runs" / "further").symlink_to("../outside")
    (tmp_path / "runs" / ".hidden").mkdir()
    (tmp_path / "runs" / ".hidden" / "d.json").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("runs/**/*.json", ["runs/0.json", "runs/a.json", "runs/further/c.json", "runs/inner/b.json"]),
        ("**/b.json", ["runs/inner/b.json"]),
        ("**", ["outside/c.json", "runs/0.json", "runs/a.json", "runs/inner/b.json"]),
        ("runs/*/**/b.json", ["runs/again/b.json", "runs/inner/b.json", "runs/self/inner/b.json",
                              "runs/self2/inner/b.json"]),
        ("r*/**/**/i*/*.json", ["runs/inner/b.json"]),
        ("runs/**/inner", ["runs/inner/b.json"]),
        ("none/**/*.json", ["none/**/*.json"]),
    ],
)  # fmt: skip
def test_patterns_go_into_each_folder_once(circle: Path, pattern: str, found: list[str]) -> None:
    assert inputs_in([pattern]).files == found
    absolute = [f"{circle}/{name}" for name in found]
    assert inputs_in([f"{circle}/{pattern}"]).files == absolute


def test_each_real_file_counts_once(circle: Path) -> None:
    del circle
    one = run_command("runs/a.json", "runs/inner/b.json", "--format=csv")
    found = run_command("runs/**/*.json", "--format=csv", "--aggregate-by=file")
    files = [line.partition(",")[0] for line in found.out.splitlines()]
    assert files == ["file", "runs/a.json", "runs/further/c.json", "runs/inner/b.json"]
    assert "note: left out runs/0.json, because it is the same file as runs/a.json\n" in found.err
    for names, note in (
        (("runs/self/a.json", "runs/inner/b.json", "runs/a.json"),
         "left out runs/self/a.json, because it is the same file as runs/a.json"),
        (("runs/a.json", "runs/inner/b.json", "runs/a.json"),
         "runs/a.json is named more than once, and counts once"),
        (("runs/a.json", "runs/0.json", "runs/inner/b.json", "runs/again/b.json"),
         "left out 2 further names of files, such as runs/0.json: the file runs/a.json"),
    ):  # fmt: skip
        again = run_command(*names, "--format=csv")
        assert (again.code, sorted(again.out)) == (0, sorted(one.out))
        assert f"note: {note}\n" in again.err
    compared = run_command("runs/a.json", "--compare", "runs/0.json")
    assert "left out" not in compared.err


def test_pipes_and_missing_files_have_one_name(tmp_path: Path) -> None:
    pipe, missing = tmp_path / "pipe", str(tmp_path / "missing")
    os.mkfifo(pipe)
    names = [str(pipe), "-", str(pipe), "-", missing, TINY]
    assert without_repeats(names) == (names, {})
    assert without_repeats([missing, missing]) == ([missing], {missing: missing})

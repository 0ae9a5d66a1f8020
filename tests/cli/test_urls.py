"""URLs on the command line: profiles, models, labels and data sets."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import FIXTURES, PROFILES, run_command
from tests.remote_files import counting, faulty, in_memory
from tests.small import Operator, written

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TINY = (PROFILES / "tiny.json").read_bytes()
RESNET = str(PROFILES / "resnet18.json")


def files_below(folder: Path, prefix: str) -> Mapping[str, bytes]:
    """Return the content of all files below a folder, by their names after `prefix`."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {f"{prefix}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}


def nights(folder: Path) -> Path:
    """Write two profiles of each of two nights, and a table of hosts. Return their folder."""
    for number, name in enumerate(["11-01/a", "11-01/b", "11-02/a", "11-02/b"]):
        path = folder / "nights" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        written(path, [Operator("conv", "Conv", 10 + number), Operator("relu", "Relu", 4)])
    lines = ["file,host", *(f"{path},h{path.stem}" for path in (folder / "nights").rglob("*.json"))]
    (folder / "nights" / "hosts.csv").write_text("\n".join(lines) + "\n")
    return folder / "nights"


@pytest.mark.slowest
def test_urls_and_local_files_give_the_same_answers(tmp_path: Path) -> None:
    folder = nights(tmp_path)
    files = {
        name: content.replace(str(folder).encode(), b"memory://nights")
        for name, content in files_below(folder, "nights").items()
    }
    for code, arguments in (
        (0, "AT/11-01/a.json"),
        (0, "AT/11-01 --print-only summary"),
        (0, "AT/11-01 --compare AT/11-02 --format plain"),
        (0, "AT/**/*.json --label AT/{date}/{letter}.json --aggregate-by date,type --format plain"),
        (0, "AT/11-01 AT/11-02 --label AT/hosts.csv --aggregate-by host --format csv"),
        (0, "AT/*/a.json --label {date}/a.json --compare-label date=11-01 --format plain"),
        (0, "AT/**/* --label {date}/*.json --where date==11-02 --format plain --skip-bad"),
        (0, "AT/11-01/a.json AT/11-01/none.json --skip-bad --format json"),
        (0, 'AT/11-01/a.json --sql SELECT(count(*))FROM"runs"'),
        (1, "AT/11-01/none.json"),
        (1, "AT/none/*.json"),
    ):
        local = run_command(*arguments.replace("AT", str(folder)).split())
        with in_memory(files):
            remote = run_command(*arguments.replace("AT", "memory://nights").split())
        for one, other in ((local.out, remote.out), (local.err, remote.err)):
            assert other == one.replace(str(folder), "memory://nights")
        assert (local.code, remote.code) == (code, code)


def test_models_are_read_from_urls() -> None:
    profile = str(FIXTURES / "tensorrt" / "net.profile.json")
    model = FIXTURES / "tensorrt" / "net.graph.json"
    local = run_command(profile, "--model", str(model), "--columns", "all", "--format", "csv")
    with in_memory({"models/net.graph.json": model.read_bytes()}):
        url = "memory://models/net.graph.json"
        remote = run_command(profile, "--model", url, "--columns", "all", "--format", "csv")
    assert local.code == 0
    assert "Convolution" in local.out
    assert remote.out == local.out


@pytest.mark.slowest
def test_data_sets_are_read_from_urls(tmp_path: Path) -> None:
    folder = nights(tmp_path)
    data_set = tmp_path / "nights.dataset"
    pattern = f"{folder}/*/*.json"
    assert run_command(pattern, "--export", str(data_set), "--label", "{date}/*.json").code == 0
    stored = files_below(data_set, "nights.dataset")
    for arguments in (
        "AT -t 0 --columns all --format json",
        "AT --aggregate-by date,type --format plain",
        "AT --where date==11-02 --format plain",
        "AT --compare-label date=11-01 --format plain",
        f"AT {RESNET} --print-only summary",
        'AT --sql SELECT*FROM"operators"',
    ):
        local = run_command(*arguments.replace("AT", str(data_set)).split())
        for url in ("memory://nights.dataset", "memory://nights.dataset/"):
            with in_memory(stored):
                remote = run_command(*arguments.replace("AT", url).split())
            assert local.code == remote.code == 0
            assert remote.out == local.out.replace(str(data_set), url)
            assert remote.err == local.err.replace(str(data_set), url)


def test_lists_and_tables_at_urls_give_labels(tmp_path: Path) -> None:
    folder = nights(tmp_path)
    data_set = tmp_path / "set"
    call = (f"{folder}/*/*.json", "--export", str(data_set), "--label", "{date}/*.json")
    assert run_command(*call).code == 0
    hosts = b"file,host\nmemory://runs/a.json,h1\nmemory://runs/b.json,h2\n"
    files = {
        **files_below(data_set, "set"),
        **{f"runs/{name}.json": content for name, content in zip("ab", [TINY, TINY], strict=True)},
        "list.txt": b"# nights\nmemory://set\n",
        "hosts.csv": hosts,
    }
    question = ("--aggregate-by", "date,type", "--format", "csv")
    expected = run_command(str(data_set), *question)
    assert expected.code == 0
    listed = tmp_path / "list.txt"
    listed.write_text("memory://set\n")
    with in_memory(files):
        for name in ("memory://set", "@memory://list.txt", f"@{listed}"):
            assert run_command(name, *question) == expected
        # The data set in the second list has the label `date`, so the only error is the first list.
        failed = run_command("@memory://none", "@memory://list.txt", *question)
        assert failed.err == (
            "profile_analyze: error: @memory://none: the list cannot be read: no such file\n"
        )
        by_host = run_command(
            *("memory://runs", "--label", "memory://hosts.csv"),
            *("--aggregate-by", "host", "--format", "csv", "--columns", "host"),
        )
    assert by_host.out.split() == ["host", "h1", "h2"]


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such pipes")
def test_a_list_in_a_pipe_gives_labels(tmp_path: Path) -> None:
    data_set = tmp_path / "set"
    call = (f"{nights(tmp_path)}/*/*.json", "--export", str(data_set), "--label", "{date}/*.json")
    assert run_command(*call).code == 0
    question = ("--aggregate-by", "date", "--format", "csv")
    read, write = os.pipe()
    os.write(write, str(data_set).encode())
    os.close(write)
    assert run_command(f"@/dev/fd/{read}", *question) == run_command(str(data_set), *question)
    os.close(read)


def test_patterns_and_folders_at_urls_are_looked_up_once(tmp_path: Path) -> None:
    data_set = tmp_path / "set"
    assert run_command(f"{nights(tmp_path)}/*/a.json", "--export", str(data_set)).code == 0
    stored = files_below(data_set, "set")
    files = {**stored, "runs/a.json": TINY, "runs/b.json": TINY, "more/c.run": TINY}
    names = ("runs/*.json", "more/*.run", "runs", "set", "more/c.run")
    urls = [f"counting://{name}" for name in names]
    for question in (
        ("--label", "{folder}/*", "--aggregate-by", "folder"),
        ("--label", "{folder}/*", "--compare-label", "folder=runs"),
        ("--format", "csv"),
    ):
        with counting({**files, "list.txt": "\n".join(urls[2:]).encode()}) as requests:
            outcome = run_command(*urls[:2], "@counting://list.txt", *question)
        assert outcome.code == 0, outcome.err
        assert {one: number for one, number in requests.items() if "parquet" not in one} == {
            "glob /runs/*.json": 1,
            "glob /more/*.run": 1,
            "open /list.txt": 1,
            "isdir /runs": 1,
            "ls /runs": 1,
            "isdir /set": 1,
            "isdir /more/c.run": 1,
            "open /runs/a.json": 1,
            "open /runs/b.json": 1,
            "open /more/c.run": 1,
            # Once to find out what is there, once for the labels, and once to read the profiles.
            "ls /set": 3,
            "cat_file /set/_profile_analyze.json": 2,
            "cat_file /set/part=000001/_part.json": 2,
        }


def test_damaged_data_sets_at_urls_are_errors(tmp_path: Path) -> None:
    data_set = tmp_path / "set"
    assert run_command(str(PROFILES / "tiny.json"), "--export", str(data_set)).code == 0
    stored = files_below(data_set, "set")
    runs = "set/part=000001/runs.parquet"
    size = len(stored[runs])
    without_runs = {name: content for name, content in stored.items() if name != runs}
    for files, damage in (
        (
            {**stored, runs: stored[runs][:-1]},
            f"part=000001: runs.parquet has {size - 1} bytes instead of {size}",
        ),
        (without_runs, "part=000001/runs.parquet: no such file"),
    ):
        with in_memory(files):
            outcome = run_command("memory://set")
        assert outcome.err == (
            f"profile_analyze: error: memory://set: the data set is damaged: {damage}; "
            "export its files to a new folder\n"
        )
        assert (outcome.code, outcome.out) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            f"{RESNET} -o s3://runs/a.csv",
            1,
            "s3://runs/a.csv: is a URL; write to a local file, and copy it there",
        ),
        (
            f"{RESNET} --export s3://KEY:SECRET@runs/set",
            1,
            "s3://***@runs/set: is a URL, and data sets are written to local folders; name a local "
            "folder, and copy it there afterwards",
        ),
        (
            f"{RESNET} --cache s3://runs/cache",
            2,
            "--cache: s3://runs/cache is a URL; name a local folder",
        ),
        (
            "zip://a.json::s3://runs/a.zip",
            1,
            "zip://a.json::s3://runs/a.zip: no such file; URLs that are chained by :: are not read: "
            "copy the file out",
        ),
        (
            "zip://a.json::/etc/a.zip",
            1,
            "zip://a.json::/etc/a.zip: no such file; URLs that are chained by :: are not read: "
            "copy the file out",
        ),
        (
            "https://[::1]:1/a.json",
            1,
            "https://[::1]:1/a.json: URLs with :: are not read, because fsspec takes :: for a chain",
        ),
        (
            "zip:///etc/a.zip",
            1,
            "zip:///etc/a.zip: zip:// opens files of this machine; name the file itself",
        ),
        (
            "@memory://none",
            1,
            "@memory://none: the list cannot be read: no such file",
        ),
        (
            "memory://me:secret@none/*.json",
            1,
            "memory://***@none/*.json: no such file; no file matches this pattern",
        ),
    ],
)
def test_urls_that_cannot_be_used_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run_command(*arguments.split())
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"
    assert not any(tmp_path.iterdir())


def test_passwords_appear_nowhere(tmp_path: Path) -> None:
    names = ("old.json", "new.json", "cold.json")
    urls = [f"faulty://me:secret@runs/{name}" for name in names]
    data_set = tmp_path / "set"
    with in_memory({f"runs/{name}": TINY for name in names}), faulty():
        for question in (
            [],
            ["--format", "json", "--columns", "file,time", "--aggregate-by", "file"],
            ["--label", "{n}/*.json"],
            ["--label", "{a}/*.json", "--compare-label", "a=1"],
            ["--label", "{a}ld.json", "--compare-label", "a=o", "--notes", "all"],
            ["--label", "{a}:{b}@*/{n}", "--aggregate-by", "n,a"],
            ["--skip-bad", "--notes", "all", "--format", "json", urls[0] + "x"],
            ["--export", str(data_set), "--notes", "all"],
            ["--export", str(tmp_path / "labelled"), "--label", "{a}ld.json"],
            ["-o", urls[0]],
            ["--max-size", "1B"],
            ["--where", "time > 1h", "--format", "markdown"],
        ):
            outcome = run_command(*urls, *question)
            assert outcome.out or outcome.err
            assert "secret" not in outcome.out + outcome.err
        again = run_command(*urls, "--export", str(data_set))
    assert again.out == f"{data_set}: added 0 profiles; now 1 profile\n"
    stored = files_below(data_set, "set")
    assert not [name for name, content in stored.items() if b"secret" in content]
    assert [name for name, content in stored.items() if b"faulty://***@runs/old.json" in content]

"""Profiles at URLs, which fsspec reads."""

from __future__ import annotations

import asyncio
import gzip
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.registry import known_implementations, register_implementation
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.errors import InputError, without_secrets
from profile_analyze.findings.sentences import as_text
from profile_analyze.readers.input import many
from profile_analyze.readers.input.content import display_name
from profile_analyze.readers.input.paths import Inputs, absolute_path, inputs_in
from profile_analyze.readers.input.remote import _LOCAL_SCHEMES, RemotePath
from profile_analyze.readers.input.source import Cache, Source
from profile_analyze.readers.input.urls import folder_of, is_pattern, is_url, survives_fork, url_in
from tests.conftest import FIXTURES, PROFILES, examples
from tests.readers.same_profiles import difference
from tests.remote_files import FaultyFiles, faulty, in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from profile_analyze.readers.base import ReadFiles

TINY = (PROFILES / "tiny.json").read_bytes()


@pytest.fixture
def runs() -> Iterator[None]:
    """Provide a few profiles at `memory://runs`."""
    files = ("b.json", "a.json", "notes.txt", "x.profile.json", "x.graph.json", "more/c.json")
    with in_memory({f"runs/{name}": TINY for name in files}):
        yield


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://bucket/run.json", True),
        ("S3://bucket/run.json", True),
        ("s3a+x-y.z://run.json", True),
        ("https://[::1]:8000/run.json", True),
        ("https://host/run.json?address=http://other", True),
        ("C://run.json", False),
        ("file:///run.json", False),
        ("local:///run.json", False),
        ("simplecache::s3://bucket/run.json", False),
        ("zip://run.json::s3://bucket/runs.zip", False),
        ("zip://run.json::/home/runs.zip", False),
        ("dir://run.json::/home", False),
        ("s3://[::1]::/home", False),
        ("s3://a::b/run.json", False),
        ("://run.json", False),
        ("3s://run.json", False),
        ("s3:/bucket/run.json", False),
        ("run.json", False),
        ("@s3://bucket/list", False),
        ("-", False),
    ],
)
def test_which_names_are_urls(name: str, *, expected: bool) -> None:
    assert is_url(name) == expected
    assert (absolute_path(name) == name) == expected


def test_a_local_file_takes_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("memory:").mkdir()
    Path("memory:/tiny.json").write_bytes(TINY)
    assert not is_url("memory://tiny.json")
    assert pa.load("memory://tiny.json").file == "memory://tiny.json"
    assert is_url("memory://other.json")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://runs/*.json", True),
        ("s3://*/run.json", True),
        ("s3://runs/run?.json", True),
        ("s3://runs/[ab].json", True),
        ("s3://runs/a.json", False),
        ("https://host/*.json", True),
        ("https://host/[ab].json", True),
        ("https://host/run?.json", False),
        ("https://host/*.json?key=1", False),
        ("https://[::1]/run.json", False),
    ],
)
def test_which_urls_are_patterns(url: str, *, expected: bool) -> None:
    assert is_pattern(url) == expected


def test_processes_that_read_hdfs_are_not_forked() -> None:
    assert survives_fork("s3://runs/a.json")
    paths = ["a.json"] * 200 + ["hdfs://runs/a.json"]
    never_called = cast("ReadFiles", None)
    assert many._start_pool(paths, never_called, processes=2) is None


def test_urls_are_joined_and_split() -> None:
    assert url_in("s3://runs", "a.json") == url_in("s3://runs/", "a.json") == "s3://runs/a.json"
    assert folder_of("s3://runs/a?.json") == "s3://runs/"
    assert folder_of("https://host/runs/a.json?x=1/2") == "https://host/runs/"
    assert RemotePath("s3://runs/a%20b/").name == "a%20b"
    assert RemotePath("https://host/runs/a%20b/").name == "a b"


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".anything"])
def test_a_profile_at_a_url_is_the_same(suffix: str) -> None:
    content = (PROFILES / "resnet18.json").read_bytes()
    read: list[tuple[int, int]] = []
    stored = gzip.compress(content) if suffix == ".json.gz" else content
    with in_memory({f"runs/resnet18{suffix}": stored}):
        url = f"memory://runs/resnet18{suffix}"
        profile = pa.load(url, progress=lambda *sizes: read.append(sizes))
        assert inputs_in([url]).files == [url]
    assert profile.file == url
    assert profile.processes == (url,)
    local = pa.load(PROFILES / "resnet18.json")
    assert not difference(profile.changed(file=local.file, processes=local.processes), local)
    assert read[-1] == (len(stored), len(stored))


@pytest.mark.usefixtures("runs")
def test_folders_and_lists_stand_for_files(tmp_path: Path) -> None:
    inside = ["memory://runs/a.json", "memory://runs/b.json", "memory://runs/x.profile.json"]
    assert inputs_in(["memory://runs"]).files == inputs_in(["memory://runs/"]).files == inside
    listed = tmp_path / "list.txt"
    listed.write_text("memory://runs/more\n# memory://nothing\nrun.json\n")
    assert inputs_in([f"@{listed}"]).files == ["memory://runs/more/c.json", "run.json"]
    with in_memory({"list": b"memory://a.json\nb.json"}):
        assert inputs_in(["@memory://list"]).files == ["memory://a.json", "b.json"]
    for folder in ("memory://nothing/", "memory://runs/nothing/"):
        with pytest.raises(pa.InputError) as caught:
            inputs_in([folder])
        assert str(caught.value) == f"{folder}: no such file"
    with in_memory({"runs/more/c.json": TINY}), pytest.raises(pa.InputError) as caught:
        inputs_in(["memory://runs"])
    assert str(caught.value) == (
        "memory://runs: is a directory without profiles (*.json, *.json.gz, *.json.zst); "
        "subfolders are not searched: name 'memory://runs/**/*.json'"
    )
    with in_memory({"runs/notes.txt": b""}), pytest.raises(pa.InputError) as caught:
        inputs_in(["memory://runs/"])
    assert str(caught.value) == (
        "memory://runs/: is a directory without profiles (*.json, *.json.gz, *.json.zst)"
    )


def test_a_data_set_stands_for_itself() -> None:
    with in_memory({"set/_profile_analyze.json": b"{}", "set/a.json": TINY, "a.json": TINY}):
        names = ["memory://set", "memory://a.json", "memory://set/", "memory://nothing"]
        data_sets = ["memory://set", "memory://set/"]
        assert inputs_in(names) == Inputs(names, names, data_sets, [], [])


NAMES = st.text("ab", min_size=1, max_size=2)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".json")
PATTERNS = st.lists(st.sampled_from(["a", "*", "**", "?", "a*", "[ab]"]), max_size=3).map(
    lambda parts: "/".join([*parts, "*.json"])
)


@given(paths=st.sets(PATHS, max_size=8), pattern=PATTERNS)
@examples(100)
def test_patterns_match_as_they_do_for_local_files(paths: set[str], pattern: str) -> None:
    with TemporaryDirectory() as folder, in_memory({f"runs/{path}": b"" for path in paths}):
        for path in paths:
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).touch()
        local = {
            path.relative_to(folder).as_posix()
            for path in Path(folder).glob(pattern)
            if path.is_file()
        }
        found = RemotePath(f"memory://runs/{pattern}").matching()
    assert found == sorted(f"memory://runs/{path}" for path in local)


def test_patterns_may_begin_right_after_the_scheme() -> None:
    with in_memory({"a/run.json": b"", "b/run.json": b"", "c.json": b""}):
        found = RemotePath("memory://*/run.json").matching()
        assert found == ["memory://a/run.json", "memory://b/run.json"]
        assert RemotePath("memory://nothing/*.json").matching() == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://KEY:SECRET@bucket/a.json", "s3://***@bucket/a.json"),
        ("s3://KEY:SEC/RET@bucket/a.json", "s3://***@bucket/a.json"),
        ("ftp://me:p@ss@host:21/a@b.json", "ftp://***@host:21/a@b.json"),
        ("https://token@host/a.json", "https://***@host/a.json"),
        ("https://host/a.json?sig=a%2Fb&x=1", "https://host/a.json?***"),
        ("read https://host/a?sig=1: no such file", "read https://host/a?***: no such file"),
        ("'https://host/a?sig=1', 'b'", "'https://host/a?***', 'b'"),
        ("abfs://data@host/a.json", "abfs://data@host/a.json"),
        ("sftp://me@host/a.json", "sftp://me@host/a.json"),
        ("http://host:8080/v@1/a.json", "http://host:8080/v@1/a.json"),
        ("s3://runs/a?.json", "s3://runs/a?.json"),
        ("a.json?x=1", "a.json?x=1"),
    ],
)
def test_secrets_are_not_shown(text: str, shown: str) -> None:
    assert without_secrets(text) == display_name(text) == without_secrets(shown) == shown
    error = pa.InputError(text, f"see {text}")
    assert (error.file, error.reason) == (shown, f"see {shown}")
    assert str(error) == f"{shown}: see {shown}"
    assert str(pa.QueryError(text)) == shown


class ClientResponseError(Exception):
    """Imitates the exception of aiohttp."""

    status = 403
    message = "Forbidden"


class NoCredentialsError(Exception):
    """Imitates the exception of botocore."""


URL = "faulty://me:secret@host/a.json"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError(2, "not here"), "no such file"),
        (
            PermissionError("Access Denied"),
            "permission denied: Access Denied; give the driver credentials that may read the file",
        ),
        (
            ClientResponseError("403, url='http://other'"),
            "permission denied: the server answered 403 (Forbidden); give the driver credentials "
            "that may read the file",
        ),
        (
            NoCredentialsError("Unable to locate credentials"),
            "permission denied: Unable to locate credentials; give the driver credentials that may "
            "read the file",
        ),
        (TimeoutError(), "the server did not answer in time; try again later"),
        (asyncio.TimeoutError(), "the server did not answer in time; try again later"),
        (
            ConnectionRefusedError(111, "Connection refused"),
            "cannot be read: [Errno 111] Connection refused; check the URL and the network",
        ),
        (KeyError(), "cannot be read: KeyError"),
        (
            RuntimeError(f"login failed:\n me:secret, secret at {URL}"),
            "cannot be read: login failed: ***, *** at faulty://***@host/a.json",
        ),
        (RuntimeError("x" * 300), f"cannot be read: {'x' * 200}..."),
    ],
)
def test_the_error_of_a_failing_driver_has_one_line(error: Exception, reason: str) -> None:
    shown = "faulty://***@host/a.json"
    with in_memory({"a.json": TINY}), faulty(error):
        with pytest.raises(pa.InputError) as caught:
            pa.load(URL)
        assert str(caught.value) == f"{shown}: {reason}"
        folder = URL.removesuffix("/a.json")
        if isinstance(error, FileNotFoundError):
            assert inputs_in([folder]) == Inputs([folder], [folder], [], [], [])
        else:
            with pytest.raises(pa.InputError) as caught:
                inputs_in([folder])
            assert caught.value.file == "faulty://***@host"


@pytest.mark.parametrize(
    "url",
    [
        "faulty://me:p4ss@host/a.json?x=a@b",
        "faulty://me:p4ss@host/a@b.json",
        "faulty://me:p4ss@host/a.json?x=1",
        "faulty://me:p?4ss@host/a.json",
    ],
)
def test_a_driver_that_repeats_the_login_does_not_show_it(url: str) -> None:
    login = url.removeprefix("faulty://").partition("@")[0]
    password = login.removeprefix("me:")
    error = RuntimeError(f"bad login for {login}, {password}")
    with faulty(error), pytest.raises(pa.InputError) as caught:
        pa.load(url)
    assert "cannot be read: bad login for ***, ***" in str(caught.value)


def test_a_missing_driver_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    # The module smbclient is in the package smbprotocol.
    monkeypatch.setitem(sys.modules, "smbclient", None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.smb", raising=False)
    monkeypatch.setitem(known_implementations, "unknown", {"class": "no_such_driver.Driver"})
    for url, reason in (
        (
            "smb://host/a.json",
            "the driver of smb:// cannot be loaded: import of smbclient halted; None in "
            f"sys.modules; {known_implementations['smb']['err']}",
        ),
        (
            "unknown://host/a.json",
            "the driver of unknown:// cannot be loaded: No module named 'no_such_driver'; "
            "pip install no_such_driver",
        ),
        (
            "nowhere://host/a.json",
            "fsspec knows no driver of nowhere://; check the scheme, or install its package",
        ),
    ):
        with pytest.raises(pa.InputError) as caught:
            pa.load(url)
        assert str(caught.value) == f"{url}: {reason}"


@pytest.mark.parametrize("is_old", [False, True])
def test_without_a_recent_fsspec_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, *, is_old: bool
) -> None:
    monkeypatch.delitem(sys.modules, "profile_analyze.readers.input.remote")
    if is_old:
        monkeypatch.delattr("fsspec.asyn.reset_after_fork")
    else:
        monkeypatch.setitem(sys.modules, "fsspec", None)
        monkeypatch.delitem(sys.modules, "fsspec.asyn")
    with pytest.raises(pa.InputError) as caught:
        pa.load("s3://bucket/a.json")
    assert str(caught.value) == (
        "s3://bucket/a.json: is a URL, which needs fsspec 2025.5 or later; install the extra fleet: "
        "pip install 'profile_analyze[fleet]'"
    )


@pytest.mark.slowest
def test_drivers_log_nothing_on_standard_error() -> None:
    code = "import logging, {0}; logging.getLogger('botocore.auth').warning('expired')"
    for module, logged in (("logging", "expired\n"), ("profile_analyze.readers.input.remote", "")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(module)],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert done.stderr == logged


def test_a_file_that_ends_too_early_is_refused_and_closed() -> None:
    truncated = pytest.raises(pa.MalformedProfileError, match="truncated: the JSON ends in the mid")
    with in_memory({"a.json": TINY}), faulty(content=TINY[:-9]), truncated:
        pa.load("faulty://a.json")
    assert FaultyFiles.opened == 0


def test_a_small_file_is_closed_once_it_is_read() -> None:
    content = (PROFILES / "resnet18.json").read_bytes()
    with in_memory({"a.json": content}), faulty(), Source("faulty://a.json") as source:
        source.head()
        assert FaultyFiles.opened == 1
        assert source.content() == content
        assert FaultyFiles.opened == 0


def test_large_files_are_read_in_chunks_up_to_the_limit() -> None:
    content = os.urandom(5_000_000)
    with in_memory({"a": content}):
        with Source("memory://a") as source:
            assert b"".join(source.chunks(1 << 20)) == content
        for limit in (4_999_999, 3):
            with pytest.raises(pa.InputError, match=r"holds more than .* --max-size raises"):
                Source("memory://a", max_size=limit).content()
        with pytest.raises(pa.InputError, match="holds more than"), faulty(content=content * 2):
            Source("faulty://a", max_size=6_000_000).content()  # larger than its size says


@pytest.mark.parametrize("beside", [True, False])
def test_files_beside_a_profile_are_read(*, beside: bool) -> None:
    folder = FIXTURES / "tensorrt"
    names = ("net.profile.json", "net.graph.json")
    with in_memory({f"runs/{name}": (folder / name).read_bytes() for name in names}):
        remote = pa.load("memory://runs/net.profile.json", beside=beside)
    local = pa.load(folder / "net.profile.json", beside=beside)
    assert not difference(remote.operators, local.operators)
    texts = [as_text(note).replace(str(folder), "memory://runs") for note in local.notes]
    assert texts == [*map(as_text, remote.notes)]


def test_a_local_file_cannot_name_urls_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROFILES)
    with faulty(AssertionError("asked")):
        assert not Source("tiny.json").has_neighbour("faulty://host/weights")


def test_profiles_at_urls_are_not_cached(tmp_path: Path) -> None:
    with in_memory({"a.json": TINY}):
        pa.load("memory://a.json", cache=Cache(str(tmp_path), smallest=1))
        assert not any(tmp_path.iterdir())
        pa.load(PROFILES / "tiny.json", cache=Cache(str(tmp_path), smallest=1))
        assert any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "url",
    [
        *(
            "zip://x.json::{}",
            "dir://x.json::{}",
            "simplecache::file://{}",
            "tar://::{}",
            "s3://a::{}",
        ),
        *(f"{scheme}://{{}}" for scheme in sorted(_LOCAL_SCHEMES)),
        *("FILE://{}", "alias://{}"),
    ],
)
def test_no_url_opens_a_local_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    opened: list[object] = []
    path = tmp_path / "x.json"
    path.write_bytes(TINY)
    register_implementation("alias", LocalFileSystem, clobber=True)
    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem._open", opened.append)
    ways: tuple[Callable[[RemotePath], object], ...] = (
        lambda one: one.open(),
        lambda one: one.read_bytes(100),
        lambda one: one.entries(),
        lambda one: one.exists(),
        lambda one: one.is_dir(),
        lambda one: (one / "x::file:///etc/passwd").read_bytes(100),
    )
    for ask in ways:
        with pytest.raises(InputError, match=r"with ::|files of this machine|no driver"):
            ask(RemotePath(url.format(path)))
    assert opened == []

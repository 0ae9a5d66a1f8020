"""Damaged files in the cache, and folders to which the cache cannot write."""

from __future__ import annotations

import os
import resource
import struct
import sys
from contextlib import contextmanager
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import msgpack

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind, Subject
from profile_analyze.readers.cache.files import cache_files, remove
from profile_analyze.readers.input.source import Cache
from tests.readers.same_profiles import difference
from tests.readers.test_cache import FILES, Loader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loader:
    """Return a loader with an empty cache."""
    return Loader(tmp_path / "cache", monkeypatch)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_profile_is_decoded_again_and_replaced(load: Loader, damage: str) -> None:
    file = FILES["MegEngine"]
    load(file)
    (cached,) = load.cached
    good = cached.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    cached.write_bytes({"cut": good[:-1], "flip": flipped, "empty": b"", "other": b"{}"}[damage])
    assert load.decodes(file)
    assert load.cached == [cached]
    assert cached.read_bytes() == good
    assert not load.decodes(file)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("data", {"size": 10**15, "checksum": 0, "arrays": []}),
        ("data", None),
        ("conditions", 7),
        ("conditions", {"wanted": [None, [1]]}),
        ("profile", ["subprocess", "ls"]),
        ("profile", ["Track"]),
        ("profile", ["array", 10**6]),
    ],
)
def test_a_cached_file_with_wrong_values_is_replaced(load: Loader, part: str, wrong: Any) -> None:
    file = FILES["MegEngine"]
    load(file)
    (cached,) = load.cached
    good = cached.read_bytes()
    # The header has 8 magic bytes, 8 bytes for the size of the document, 32 bytes for its digest,
    # and a signature of 32 bytes.
    size = int.from_bytes(good[8:16], "little")
    document = msgpack.encode({**msgpack.decode(good[80 : 80 + size]), part: wrong})
    header = good[:8] + struct.pack("<Q", len(document)) + sha256(document).digest()
    (key,) = load.folder.glob("key-*")
    for one in (key.read_bytes(), b"x" * 32):  # even if somebody knows the key
        name = cached.name.removesuffix(".profile").encode()
        of_file = blake2b(name, key=one, digest_size=32).digest()
        signature = blake2b(header, key=of_file, digest_size=32).digest()
        cached.write_bytes(header + signature + document + good[80 + size :])
        assert load.decodes(file)
        assert cached.read_bytes() == good


def crafted(load: Loader, file: Path) -> tuple[Path, bytes]:
    """Return a kept file with all digests right but for another key, and the right content."""
    load(file)
    (cached,) = load.cached
    good = cached.read_bytes()
    (key,) = load.folder.glob("key-*")
    key.write_bytes(b"x" * 32)
    load(file)
    assert cached.read_bytes() != good
    return cached, good


def test_a_file_that_another_user_kept_is_replaced(load: Loader) -> None:
    cached, other = crafted(load, FILES["MegEngine"])
    cached.write_bytes(other)
    assert load.decodes(FILES["MegEngine"])
    assert cached.read_bytes() != other


def test_a_kept_file_of_another_name_is_replaced(load: Loader, tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        file.write_bytes(FILES["MegEngine"].read_bytes().replace(b"conv", file.name.encode()))
        load(file)
    one, other = load.cached
    one.write_bytes(other.read_bytes())
    assert [load.decodes(file) for file in files].count(True) == 1


def _readable_by_all(key: Path) -> None:
    key.chmod(0o644)


def _short(key: Path) -> None:
    key.write_bytes(b"x")


def _link(key: Path) -> None:
    key.rename(key.with_suffix(".other"))
    key.symlink_to(key.with_suffix(".other"))


def _pipe(key: Path) -> None:
    key.unlink()
    os.mkfifo(key)


@pytest.mark.parametrize("damage", [_readable_by_all, _short, _link, _pipe])
def test_a_key_that_others_may_know_is_replaced(
    load: Loader, damage: Callable[[Path], None]
) -> None:
    load(FILES["MegEngine"])
    (key,) = load.folder.glob("key-*")
    damage(key)
    assert load.decodes(FILES["MegEngine"])
    assert not load.decodes(FILES["MegEngine"])
    assert key.stat().st_mode & 0o777 == 0o600
    assert not key.is_symlink()


def test_a_file_without_end_is_not_read(load: Loader) -> None:
    file = FILES["MegEngine"]
    load(file)
    (cached,) = load.cached
    header = b"profile\n" + (1 << 40).to_bytes(8, "little")
    with cached.open("r+b") as stream:
        stream.write(header)
        stream.truncate(1 << 40)  # without content, so that it takes no space
    assert load.decodes(file)


def test_only_regular_files_are_read_and_removed(load: Loader, tmp_path: Path) -> None:
    file = FILES["MegEngine"]
    load(file)
    (cached,) = load.cached
    cached.rename(tmp_path / "elsewhere")
    others = [
        cached.with_name(f"{cached.name[:-24]}{digit * 16}.profile") for digit in "0123"
    ]  # as if the same file had been loaded under other conditions
    os.mkfifo(others[0])
    others[1].mkdir()
    others[2].symlink_to(tmp_path / "elsewhere")
    others[3].symlink_to(tmp_path / "missing")
    assert load.decodes(file)
    remove(cache_files(str(load.folder)))
    assert load.cached == others
    assert (tmp_path / "elsewhere").exists()


@contextmanager
def full_disk(folder: Path) -> Iterator[Path]:
    """Let no file grow beyond a hundred bytes, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Under this limit, Python would store truncated bytecode of the modules that it imports.
    writes_bytecode = not sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield folder
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = not writes_bytecode


@contextmanager
def file_as_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder that cannot be created, because its parent is a file."""
    folder.touch()
    yield folder / "profiles"


@contextmanager
def impossible_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder that nobody can create, not even root."""
    yield Path("/proc/profile_analyze") if Path("/proc").exists() else folder / "\0"


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (full_disk, "file too large"),
        (file_as_folder, "not a directory"),
        (impossible_folder, "no such file or directory"),
    ],
)
def test_a_profile_that_cannot_be_cached_has_a_note(
    tmp_path: Path, trouble: Callable[[Path], Any], reason: str
) -> None:
    file = FILES["MegEngine"]
    plain = pa.load(file)
    with trouble(tmp_path / "cache") as folder:
        note = Finding.of("unkept-profile", Kind.CONTEXT, folder=str(folder), reason=reason)
        for _ in range(2):
            profile = pa.load(file, cache=Cache(str(folder), smallest=1))
            assert profile.notes == (*plain.notes, note)
            assert difference(profile.changed(notes=plain.notes), plain) is None
        if folder.exists():
            assert [*folder.glob("[!k]*")] == []
        # Small MegEngine files are read together, without the cache, so use another format.
        file = FILES["ONNX Runtime"]
        runs = pa.load_runs([file, file], cache=Cache(str(folder), smallest=1))
        assert note.about(Subject("each file", files=2)) in runs.notes

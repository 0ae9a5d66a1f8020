"""Damaged files in the cache, and folders to which the cache cannot write."""

from __future__ import annotations

import os
import resource
import struct
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import msgpack

import profile_analyze as pa
from profile_analyze.readers.cache_files import cache_files, remove
from profile_analyze.readers.source import Cache
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
    # The header has 8 magic bytes, 8 bytes for the size of the document, and 4 for its checksum.
    size = int.from_bytes(good[8:16], "little")
    document = msgpack.encode({**msgpack.decode(good[20 : 20 + size]), part: wrong})
    header = good[:8] + struct.pack("<QI", len(document), zlib.crc32(document))
    cached.write_bytes(header + document + good[20 + size :])
    assert load.decodes(file)
    assert cached.read_bytes() == good


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
        note = (
            f"{folder}: the decoded profile cannot be kept for the next question: {reason}; "
            "--cache names another folder, and --no-cache keeps nothing"
        )
        for _ in range(2):
            profile = pa.load(file, cache=Cache(str(folder), smallest=1))
            assert profile.notes == (*plain.notes, note)
            assert difference(profile.changed(notes=plain.notes), plain) is None
        if folder.exists():
            assert [*folder.iterdir()] == []
        # Small MegEngine files are read together, without the cache, so use another format.
        file = FILES["ONNX Runtime"]
        runs = pa.load_runs([file, file], cache=Cache(str(folder), smallest=1))
        assert [one for one in runs.notes if str(folder) in one] == [f"in each of 2 files: {note}"]

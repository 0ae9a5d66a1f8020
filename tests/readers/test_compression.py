"""Compressed files, and the limit on the size of files."""

from __future__ import annotations

import gzip
import random
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import zstandard

import profile_analyze as pa
from profile_analyze.readers.input.content import is_compressed
from profile_analyze.readers.input.source import Source
from tests.conftest import PROFILES, run_command
from tests.readers.tiny_file import TINY, failure, write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("packed", ["gzip", "zstd", "two gzip members", "two zstd frames", "bom"])
def test_compression_and_a_byte_order_mark_are_detected_from_the_first_bytes(
    tmp_path: Path, packed: str
) -> None:
    half = len(TINY) // 2
    zstd = zstandard.ZstdCompressor().compress
    content = {
        "gzip": gzip.compress(TINY),
        "zstd": zstd(TINY),
        "two gzip members": gzip.compress(TINY[:half]) + gzip.compress(TINY[half:]),
        "two zstd frames": zstd(TINY[:half]) + zstd(TINY[half:]),
        "bom": b"\xef\xbb\xbf" + TINY,
    }[packed]
    plain_answer = run_command(str(PROFILES / "tiny.json"))
    assert run_command(write_bytes(tmp_path, content, "plainly.named")) == plain_answer
    assert run_command("-", stdin=content) == plain_answer


@pytest.mark.parametrize("first", range(0x50, 0x60))
def test_zstd_files_may_have_skippable_frames_anywhere(tmp_path: Path, first: int) -> None:
    skippable = bytes([first]) + b"\x2a\x4d\x18\4\0\0\0abcd"
    zstd = zstandard.ZstdCompressor().compress
    content = skippable * 2 + zstd(TINY[:9]) + skippable + zstd(TINY[9:]) + skippable
    assert is_compressed(content)
    assert Source(write_bytes(tmp_path, content)).content() == TINY
    with pytest.raises(pa.MalformedProfileError, match="truncated: the zstd stream has no end"):
        Source(write_bytes(tmp_path, content[:-1])).content()
    with pytest.raises(pa.MalformedProfileError, match="truncated: the zstd stream has no end"):
        Source(write_bytes(tmp_path, skippable[:6])).content()


def test_first_bytes_just_outside_the_range_of_skippable_frames_are_not_zstd(
    tmp_path: Path,
) -> None:
    for first in (0x4F, 0x60):
        content = bytes([first]) + b"\x2a\x4d\x18\4\0\0\0abcd"
        assert not is_compressed(content)
        assert Source(write_bytes(tmp_path, content)).content() == content


@pytest.mark.parametrize("padding", [b"\0", bytes(600), bytes(5000)])
def test_gzip_members_may_have_zero_bytes_between_and_after_them(
    tmp_path: Path, padding: bytes
) -> None:
    content = gzip.compress(TINY[:9]) + padding + gzip.compress(TINY[9:]) + padding
    assert gzip.decompress(content) == TINY
    assert Source(write_bytes(tmp_path, content)).content() == TINY
    with pytest.raises(pa.MalformedProfileError, match=r"damaged gzip: .*incorrect header check"):
        Source(write_bytes(tmp_path, content + b"no gzip")).content()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("size", [0, 1, 3 << 20])
def test_decompression_in_steps_is_complete(
    tmp_path: Path, pack: Callable[[bytes], bytes], size: int
) -> None:
    content = random.Random(0).randbytes(size)
    assert Source(write_bytes(tmp_path, pack(content))).content() == content
    assert Source(write_bytes(tmp_path, pack(b"a" * size) + pack(content))).content() == (
        b"a" * size + content
    )
    cut = write_bytes(tmp_path, pack(content) + pack(content)[:-1])
    with pytest.raises(pa.MalformedProfileError, match=r"truncated: the (gzip|zstd) stream has no"):
        Source(cut).content()


PACKED = {
    "plain": TINY,
    "gzip": gzip.compress(TINY),
    "zstd": zstandard.ZstdCompressor().compress(TINY),
    "two members": gzip.compress(TINY[:-1]) + gzip.compress(TINY[-1:]),
    "two frames": zstandard.ZstdCompressor().compress(TINY[:-1])
    + zstandard.ZstdCompressor().compress(TINY[-1:]),
}


@pytest.mark.parametrize("packed", PACKED)
def test_a_file_may_hold_as_much_as_the_limit_and_no_more(tmp_path: Path, packed: str) -> None:
    path = write_bytes(tmp_path, PACKED[packed])
    size = len(TINY)
    assert Source(path, max_size=size).content() == TINY
    assert len(pa.load(path, max_size=size)) == len(pa.load_runs([path], max_size=size)) == 4
    reason = f"{path}: holds more than {(size - 1) / 1024:.2f} KiB, decompressed; --max-size raises the limit"
    for refuse in (
        lambda: Source(path, max_size=size - 1).content(),
        lambda: pa.load(path, max_size=size - 1),
        lambda: pa.load_runs([path], max_size=size - 1),
    ):
        with pytest.raises(pa.InputError) as caught:
            refuse()
        assert str(caught.value) == reason
    for files in ([path], ["-"]):
        outcome = run_command(*files, "--max-size", f"{size - 1}B", stdin=PACKED[packed])
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.endswith(
            f": holds more than {(size - 1) / 1024:.2f} KiB, decompressed; --max-size raises the limit\n"
        )
        assert run_command(*files, "--max-size", f"{size}B", stdin=PACKED[packed]).code == 0
    (tmp_path / "copy").write_bytes(PACKED[packed])
    several = run_command(path, str(tmp_path / "copy"), "--max-size", f"{size - 1}B")
    assert several.err == (
        f"profile_analyze: error: {reason}; --skip-bad leaves out what cannot be read\n"
    )


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_decompression_bomb_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    bomb = write_bytes(tmp_path, pack(bytes(16 << 20)) * 20)
    tracemalloc.start()
    with pytest.raises(pa.InputError, match=r"holds more than 25\.00 MiB, decompressed"):
        Source(bomb, max_size=25 << 20).content()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50 << 20


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("16", "'16' has no unit; write one, as in 16GiB"),
        ("0B", "'0B' is less than a byte; write 16GiB"),
        ("-1GiB", "'-1GiB' is less than a byte; write 16GiB"),
        ("1ms", "'1ms' is not a number with the unit B, such as 10MiB"),
        ("inf", "'inf' is not a number with the unit B, such as 10MiB"),
        ("nan", "'nan' is not a number with the unit B, such as 10MiB"),
        ("1e400B", "'1e400B' is not a number with the unit B, such as 10MiB"),
        ("", "'' is not a number with the unit B, such as 10MiB"),
    ],
)
def test_wrong_limits_are_usage_errors(size: str, reason: str) -> None:
    outcome = run_command("nothing.json", f"--max-size={size}")
    # A message that says what to write needs no further advice.
    see = "" if "; write" in reason else "; see profile-analyze --help"
    message = f"argument --max-size: {reason}{see}"
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"


def test_zstd_without_its_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    # From Python 3.14 on, the standard library has zstd.
    monkeypatch.setattr("sys.version_info", (3, 10))
    path = write_bytes(tmp_path, zstandard.ZstdCompressor().compress(TINY))
    assert failure(path) == (
        "is compressed by zstd; to read it, install the extra zstd: "
        "pip install 'profile_analyze[zstd]'"
    )

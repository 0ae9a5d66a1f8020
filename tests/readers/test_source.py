"""Sources: the first bytes, the whole content, and chunks."""

from __future__ import annotations

import gzip
import io
import random
import sys
import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.readers.input import content as content_module
from profile_analyze.readers.input import source as source_module
from profile_analyze.readers.input.source import HEAD_SIZE, Source
from tests.conftest import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

MARK = b"\xef\xbb\xbf"
MIB = 1 << 20


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def halves(data: bytes) -> tuple[bytes, bytes]:
    return data[: len(data) // 2], data[len(data) // 2 :]


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip members": lambda data: b"".join(
        gzip.compress(half) + bytes(5000) for half in halves(data)
    ),
    "zstd": zstd,
    "zstd frames": lambda data: b"".join(map(zstd, halves(data))),
}


@contextmanager
def standard_input(data: bytes) -> Iterator[None]:
    """Set the bytes of standard input for a `with` block."""
    saved, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data))
    try:
        yield
    finally:
        sys.stdin = saved


@contextmanager
def opened(where: str, data: bytes, folder: Path) -> Iterator[Source]:
    """Yield a source of `data` in a file, in standard input or in memory."""
    path = folder / "input"
    if where == "memory":
        yield Source.of_bytes("input", data)
    elif where == "standard input":
        with standard_input(data):
            yield Source("-")
    else:
        path.write_bytes(data)
        with Source(path) as source:
            yield source


def collect(chunks: Iterable[bytes], found: bytearray) -> None:
    """Append the chunks to `found`, which has the first chunks even if a later one fails."""
    for chunk in chunks:
        found += chunk


# The starts are chosen so that chunks often begin within white space or a byte order mark.
texts = st.tuples(
    st.sampled_from([b"", MARK, b" \n", MARK + b" \t", b" " * 70_000, MARK + b"\n" * 140_000]),
    st.binary(max_size=60),
    st.sampled_from([1, 1, 1500, 20_000]),
).map(lambda drawn: drawn[0] + drawn[1] * drawn[2])


@given(
    data=texts,
    packing=st.sampled_from(sorted(PACKINGS)),
    where=st.sampled_from(["file", "standard input", "memory"]),
    size=st.sampled_from([1, 7, 4096, HEAD_SIZE, HEAD_SIZE + 1, 300_000, 16 * MIB]),
    asked=st.lists(st.sampled_from([0, 1, 5, HEAD_SIZE, 200_000]), max_size=2),
)
@examples(300)
def test_head_content_and_chunks_agree(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    packing: str,
    where: str,
    size: int,
    asked: list[int],
) -> None:
    folder = tmp_path_factory.mktemp("source")
    packed = data if where == "memory" else PACKINGS[packing](data)
    if packing == "plain" and data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        return  # it would look compressed
    expected = data.removeprefix(MARK)
    with pytest.MonkeyPatch.context() as patch:
        for module in (source_module, content_module):
            patch.setattr(module, "SMALL_SIZE", 100)
        with opened(where, packed, folder) as source:
            for wanted in asked:
                assert source.head(wanted) == expected.lstrip()[:wanted]
                assert source.size_up_to(wanted) == min(len(expected), wanted)
            assert source.content() == expected
            assert source.content() is source.content()
            assert source.head() == expected.lstrip()[:HEAD_SIZE]
        with opened(where, packed, folder) as source:
            for wanted in asked:
                assert source.head(wanted) == expected.lstrip()[:wanted]
            chunks = list(source.chunks(size if len(expected) < 10_000 else max(size, 4096)))
        assert b"".join(chunks) == expected
        assert len(set(map(len, chunks[:-1]))) <= 1
        assert all(chunks)


def test_chunks_have_the_requested_size(tmp_path: Path) -> None:
    path = tmp_path / "input"
    for packing in PACKINGS.values():
        path.write_bytes(packing(bytes(range(200)) * 1000))
        sizes = [len(chunk) for chunk in Source(path).chunks(90_000)]
        assert sizes == [90_000, 90_000, 20_000]
        source = Source(path)
        source.head()
        assert [len(chunk) for chunk in source.chunks(100_000)] == [100_000, 100_000]


@pytest.mark.slowest
@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_chunks_take_bounded_memory(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "input"
    part = PACKINGS[packing](bytes(range(256)) * (8 * MIB >> 8))
    with path.open("wb") as file:
        for _ in range(16):
            file.write(part)
    tracemalloc.start()
    with Source(path) as source:
        assert len(source.head()) == HEAD_SIZE
        assert sum(map(len, source.chunks(MIB))) == 128 * MIB
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # zstd decompresses 2 KiB in one call. Here, 2 KiB hold a whole part, which becomes 8 MiB.
    assert most < (32 if packing == "zstd" else 8) * MIB


@pytest.mark.parametrize("asked", ["nothing", "head", "size"])
def test_the_content_of_a_file_is_in_memory_once(tmp_path: Path, asked: str) -> None:
    path = tmp_path / "input"
    path.write_bytes(bytes(range(256)) * (32 * MIB >> 8))
    tracemalloc.start()
    source = Source(path)
    if asked == "head":
        source.head()
    elif asked == "size":
        source.size_up_to(MIB)
    assert len(source.content()) == 32 * MIB
    most = tracemalloc.get_traced_memory()[1]
    source.close()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert most < 33 * MIB
    assert after < MIB


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("where", ["file", "standard input"])
def test_chunks_stop_at_the_limit(tmp_path: Path, packing: str, where: str) -> None:
    data = bytes(range(256)) * 1000
    packed = PACKINGS[packing](data)
    path = tmp_path / "input"
    path.write_bytes(packed)
    name = "-" if where == "standard input" else str(path)

    def chunks(max_size: int) -> Iterator[bytes]:
        return Source(name, max_size=max_size).chunks(50_000)

    with standard_input(packed):
        assert b"".join(chunks(256_000)) == data
    reason = r": holds more than 250\.00 KiB, decompressed; --max-size raises the limit"
    found = bytearray()
    with standard_input(packed), pytest.raises(pa.InputError, match=reason):
        collect(chunks(255_999), found)
    assert data.startswith(found)
    assert len(found) < len(data)


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "input"
    with path.open("wb") as file:
        file.truncate(64 * MIB)
    tracemalloc.start()
    for ask in (Source.head, Source.content):
        with pytest.raises(pa.InputError, match=r"holds more than 32\.00 MiB"):
            ask(Source(path, max_size=32 * MIB))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MIB


def test_chunks_as_large_as_one_read_keep_their_order() -> None:
    step = 1 << 16  # bytes of standard input that are read in one call
    data = random.Random(1).randbytes(5 * step)
    with standard_input(MARK + data):
        assert b"".join(Source("-").chunks(step)) == data


def test_members_may_begin_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "input"
    first = gzip.compress(b"first")
    # `before` bytes of the second member are within the first step of 4 KiB.
    for before in range(1, 40):
        padding = bytes(4096 - len(first) - before)
        path.write_bytes(first + padding + gzip.compress(b"second") + gzip.compress(b"third"))
        assert Source(path).content() == b"firstsecondthird"


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
@pytest.mark.parametrize("kept", [0.5, 0.999])
def test_chunks_before_a_truncation_are_yielded(tmp_path: Path, packing: str, kept: float) -> None:
    data = random.Random(1).randbytes(400_000)
    packed = PACKINGS[packing](data)
    path = tmp_path / "input"
    path.write_bytes(packed[: int(len(packed) * kept)])
    source = Source(path)
    assert source.head() == data[:HEAD_SIZE].lstrip()
    found = bytearray()
    with pytest.raises(pa.MalformedProfileError) as caught:
        collect(source.chunks(10_000), found)
    assert str(caught.value) == f"{path}: truncated: the {packing} stream has no end; copy it again"
    assert data.startswith(found)
    assert len(found) > len(data) * (kept - 0.4)


def test_an_error_is_raised_again(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(gzip.compress(bytes(1000))[:-1])
    source = Source(path)
    asks: list[Callable[[], object]] = [
        source.head,
        source.content,
        lambda: source.size_up_to(1),
        lambda: list(source.chunks()),
    ]
    for ask in [*asks, *asks]:
        with pytest.raises(pa.MalformedProfileError, match="truncated: the gzip stream has no end"):
            ask()


def test_every_method_refuses_inputs_that_are_not_files(tmp_path: Path) -> None:
    for name, reason in [
        (str(tmp_path / "none"), "no such file"),
        (str(tmp_path), "is a directory; name a file in it"),
        ("/dev/zero", "is a device, not a file"),
        ("a\0b", "no such file: the name has a NUL character"),
        ("", "no such file"),
    ]:
        for ask in (Source.head, Source.content, lambda source: list(source.chunks())):
            with pytest.raises(pa.InputError) as caught:
                ask(Source(name))
            assert (caught.value.file, caught.value.reason) == (name or "''", reason)


@pytest.mark.parametrize("size", [0, 3, 4_000_000])
def test_a_file_that_shrinks_or_grows_is_read_to_its_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"a" * 2_000_000)
    source = Source(path)
    assert source.head(10) == b"a" * 10
    path.write_bytes(b"a" * size)
    # `head` has already read `HEAD_SIZE` bytes.
    assert source.content() == b"a" * max(size, HEAD_SIZE)


def test_a_file_that_grows_stays_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "input"
    for ask in (Source.content, lambda source: list(source.chunks(MIB))):
        path.write_bytes(b"a" * 200_000)
        source = Source(path, max_size=300_000)
        source.head()
        path.write_bytes(b"a" * 300_001)
        with pytest.raises(pa.InputError, match="holds more than"):
            ask(source)


def test_a_source_cannot_be_used_after_its_end(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"a")
    part = Source.of_bytes("part", b"b")
    with Source(path, parts=[part]) as source:
        assert [one.content() for one in (source, *source.parts)] == [b"a", b"b"]
    for closed in (source, part):
        with pytest.raises(ValueError, match=f"the source of {closed.name} is closed"):
            closed.content()
    source = Source(path)
    assert list(source.chunks()) == [b"a"]
    with pytest.raises(AssertionError, match="handed out as chunks"):
        source.content()


def test_standard_input_stays_open() -> None:
    with standard_input(b"abc"):
        with Source("-") as source:
            assert source.name == "standard input"
            assert source.content() == b"abc"
        assert not sys.stdin.closed

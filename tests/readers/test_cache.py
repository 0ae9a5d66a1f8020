"""Cached profiles give the same answers as the files, whatever happens to the files."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

import profile_analyze as pa
from profile_analyze.readers import loading
from profile_analyze.readers.input.source import Cache
from tests.conftest import FIXTURES, PROFILES, examples
from tests.readers.same_profiles import difference
from tests.readers.test_installed import documented_reader, install
from tests.small import Operator as SmallOperator
from tests.small import document
from tests.strategies import documents

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "MegEngine": PROFILES / "resnet18.json",
    "ONNX Runtime": FIXTURES / "onnxruntime" / "loop-1.31.json.gz",
    "TensorRT": FIXTURES / "tensorrt" / "net.profile.json",
    "OpenVINO": FIXTURES / "openvino" / "resnet50-2026.4.xml.gz",
    "ONNX": FIXTURES / "classifiers" / "smallcnn.onnx",
    "MIGraphX": FIXTURES / "migraphx" / "current.txt",
    "TensorFlow Lite": FIXTURES / "tflite" / "xnnpack-new.txt",
    "PyTorch": FIXTURES / "pytorch" / "gpu.json",
    "PyTorch, compressed": FIXTURES / "pytorch" / "cnn-train.json.gz",
    "MegEngine timeline": FIXTURES / "megengine-timeline" / "modules.json.gz",
}


class Loader:
    """Loads files with a cache that stores even the smallest profile, and counts decoded files."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cache = Cache(str(folder), smallest=1)
        self.folder = folder
        self.decoded = 0
        decode = loading._decoded

        def counted(*arguments: Any) -> pa.Profile:
            self.decoded += 1
            return decode(*arguments)

        monkeypatch.setattr(loading, "_decoded", counted)

    def __call__(self, path: Path, **options: Any) -> pa.Profile:
        return pa.load(path, **({"cache": self.cache} | options))

    def decodes(self, path: Path, **options: Any) -> bool:
        """Return whether loading decoded the file. The profile must equal an uncached one."""
        before = self.decoded
        profile = self(path, **options)
        is_decoded = self.decoded > before
        assert difference(profile, self(path, **(options | {"cache": None}))) is None
        return is_decoded

    @property
    def cached(self) -> list[Path]:
        """The files in the folder, without the key."""
        return sorted(self.folder.glob("[!k]*")) if self.folder.exists() else []


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loader:
    """Return a loader with an empty cache."""
    return Loader(tmp_path / "cache", monkeypatch)


def file_with(path: Path, data: bytes, *, time_ns: int | None = None) -> Path:
    path.write_bytes(data)
    if time_ns is not None:
        os.utime(path, ns=(time_ns, time_ns))
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_decoded_once(load: Loader, name: str) -> None:
    assert load.decodes(FILES[name])
    assert not load.decodes(FILES[name])
    assert len(load.cached) == 1


@examples(30)
@given(documents())
def test_cached_profiles_give_the_same_answers_as_files(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    file = file_with(folder / "run.json", json.dumps(one).encode())
    cache = Cache(str(folder), smallest=1)
    plain = outcome(file, None)
    for _ in range(2):  # the second time, the profile is in the cache
        again = outcome(file, cache)
        assert difference(again, plain) is None
    assert len([*folder.glob("*.profile")]) == (0 if isinstance(plain, str) else 1)


def outcome(file: Path, cache: Cache | None) -> pa.Profile | str:
    """Return the profile, or the error."""
    try:
        return pa.load(file, cache=cache)
    except pa.MalformedProfileError as error:
        return str(error)


def test_a_changed_file_is_decoded_again(load: Loader, tmp_path: Path) -> None:
    data = FILES["MegEngine"].read_bytes()
    file = file_with(tmp_path / "run.json", data, time_ns=10**18)
    assert load.decodes(file)
    file_with(file, data + b" ", time_ns=10**18)  # another size
    assert load.decodes(file)
    file_with(file, data + b" ", time_ns=10**18 + 1)  # another time
    assert load.decodes(file)
    file_with(file, data + b"\n", time_ns=10**18 + 1)  # other bytes
    assert load.decodes(file)
    assert len(load.cached) == 1  # stale profiles are removed
    assert not load.decodes(file)


def test_a_file_changed_in_place_is_decoded_again(load: Loader, tmp_path: Path) -> None:
    # The change is between the samples of the content, and keeps size and modification time.
    data = json.dumps(document([SmallOperator("a" * 2_000_000, "Conv", 1.0)])).encode()
    file = file_with(tmp_path / "run.json", data, time_ns=10**18)
    assert load.decodes(file)
    with file.open("r+b") as stream:
        stream.seek(50_000)
        stream.write(b"b")
    os.utime(file, ns=(10**18, 10**18))
    assert load.decodes(file)
    copy = file_with(tmp_path / "copy.json", data, time_ns=10**18)
    copy.replace(file)
    assert load.decodes(file)


def test_other_arguments_or_another_path_decode_a_file_again(load: Loader, tmp_path: Path) -> None:
    model = FIXTURES / "models" / "quantized_qoperator.onnx"
    file = FILES["MegEngine"]
    assert load.decodes(file)
    assert load.decodes(file, max_size=10**6)
    with pytest.raises(pa.InputError, match="holds more than"):
        load(file, max_size=1000)
    link = tmp_path / "other.json"
    link.symlink_to(file)
    assert load.decodes(link)
    assert load(link).file == str(link)
    assert load.decodes(model)
    assert load.decodes(model, beside=False)
    assert not load.decodes(model)


def test_a_model_is_decoded_once_for_each_size_of_its_inputs(load: Loader) -> None:
    file = FIXTURES / "models" / "cnn_script.onnx"
    assert load.decodes(file)
    for batch in (2, 3):
        assert load.decodes(file, inputs=pa.ModelInputs.of(dims={"batch": batch}))
        assert not load.decodes(file, inputs=pa.ModelInputs.of(dims={"batch": batch}))
    with pytest.raises(pa.QueryError, match="--input-shape and --dim need a model"):
        load(FILES["MegEngine"], inputs=pa.ModelInputs.of(dims={"batch": 1}))


def test_other_columns_decode_again_only_if_the_reader_asks_about_them(load: Loader) -> None:
    file = FILES["MegEngine"]
    assert [load.decodes(file, wanted=one) for one in ((), ["in_shapes"], ())] == [
        True,
        True,
        False,
    ]
    file = FILES["ONNX Runtime"]
    assert [load.decodes(file, wanted=one) for one in ((), ["in_shapes"], ())] == [
        True,
        False,
        False,
    ]


def test_changes_of_files_beside_the_profile_are_noticed(load: Loader, tmp_path: Path) -> None:
    source = FILES["TensorRT"]
    profile = file_with(tmp_path / f"a.{source.name.partition('.')[2]}", source.read_bytes())
    assert profile.name.startswith("a.profile.json")
    times = tmp_path / "a.times.json"
    assert load.decodes(profile)
    assert not load.decodes(profile)
    file_with(times, b"[]")  # an empty list adds nothing, but the file is new
    assert load.decodes(profile)
    assert not load.decodes(profile)
    file_with(times, b"[ ]")
    assert load.decodes(profile)
    metadata = file_with(tmp_path / "a.metadata.json", b"[]")
    assert load.decodes(profile)
    metadata.unlink()
    times.unlink()
    assert not load.decodes(profile)  # the files are as they were at first


def test_the_least_recently_used_profiles_are_removed(load: Loader, tmp_path: Path) -> None:
    files = []
    for number, name in enumerate("abcd"):
        operators = [SmallOperator(name, "Conv", 1.0)]
        files.append(file_with(tmp_path / f"{name}.json", json.dumps(document(operators)).encode()))
        if number < 3:
            load(files[-1])
            for cached in load.cached:  # make all of them older
                status = cached.stat()
                os.utime(cached, ns=(status.st_mtime_ns - 10**9, status.st_mtime_ns - 10**9))
    foreign = file_with(load.folder / "foreign.profile", b"x" * 10_000)
    sizes = {path.stat().st_size for path in load.cached if path != foreign}
    (size,) = sizes
    cache = load.cache._replace(most=3 * size)
    assert not load.decodes(files[0], cache=cache)  # used now, so `b` is removed next
    assert load.decodes(files[3], cache=cache)
    assert len(load.cached) == 4
    assert [load.decodes(file, cache=cache) for file in (files[0], files[2], files[3])] == [
        False
    ] * 3
    assert load.decodes(files[1], cache=cache)
    assert load.decodes(files[1], cache=cache._replace(folder=str(tmp_path / "new"), most=size - 1))
    assert not (tmp_path / "new").exists()
    assert foreign.exists()


def test_files_that_another_process_is_writing_are_not_removed(load: Loader) -> None:
    file = FILES["MegEngine"]
    load(file)
    (cached,) = load.cached
    recent = file_with(cached.with_suffix(".abc.unfinished"), b"half")
    old = file_with(cached.with_suffix(".def.unfinished"), b"half", time_ns=10**18)
    assert not load.decodes(file)
    assert load.decodes(file, cache=load.cache._replace(most=cached.stat().st_size), wanted=())
    assert recent.exists()
    assert not old.exists()


@pytest.mark.slowest
def test_processes_that_cache_a_profile_at_once_give_the_same_answer(tmp_path: Path) -> None:
    code = (
        "import sys, profile_analyze as pa\n"
        "from profile_analyze.readers.input.source import Cache\n"
        "profile = pa.load(sys.argv[1], cache=Cache(sys.argv[2], smallest=1))\n"
        "print(pa.render(pa.run(pa.Query(top=9), profile), 'json'), *profile.notes)"
    )
    arguments = [sys.executable, "-c", code, str(FILES["MegEngine"])]
    folder = tmp_path / "cache"
    started = [
        subprocess.Popen([*arguments, str(folder)], stdout=subprocess.PIPE) for _ in range(4)
    ]
    answers = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0] * len(started)
    (answer,) = answers
    assert answer
    assert len([*folder.glob("*.profile")]) == 1


def test_a_file_that_changes_while_it_is_read_is_not_cached(
    load: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_with(tmp_path / "run.json", FILES["MegEngine"].read_bytes())
    decode = loading._decoded

    def changing(*arguments: Any) -> pa.Profile:
        profile = decode(*arguments)
        file.write_bytes(file.read_bytes() + b" ")
        return profile

    with monkeypatch.context() as patch:
        patch.setattr(loading, "_decoded", changing)
        load(file)
    assert load.cached == []


def test_only_large_files_are_cached(load: Loader, tmp_path: Path) -> None:
    data = FILES["MegEngine"].read_bytes()
    file = file_with(tmp_path / "run.json", data)
    packed = file_with(tmp_path / "run.json.gz", gzip.compress(data))
    size, assumed = len(data), 20 * packed.stat().st_size
    assert size < assumed  # a compressed file counts as 20 times its size
    for smallest, count in ((assumed + 20, 0), (assumed, 1), (size, 2)):
        for path in (file, packed):
            load(path, cache=load.cache._replace(smallest=smallest))
        assert len(load.cached) == count
        shutil.rmtree(load.folder, ignore_errors=True)


def test_a_profile_with_a_name_that_is_not_unicode_is_not_cached(
    load: Loader, tmp_path: Path
) -> None:
    file = file_with(tmp_path / "run\udcff.json", FILES["MegEngine"].read_bytes())
    assert load.decodes(file)
    assert load.decodes(file)
    assert load.cached == []


def test_profiles_from_readers_of_other_packages_are_not_cached(
    load: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, documented_reader())
    file = file_with(tmp_path / "run.txt", b"made-up\nconv1 Conv 3000\n")
    assert load(file).origin.format == "made-up text"
    sys.modules.pop("made_up")
    assert load.cached == []

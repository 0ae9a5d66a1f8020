"""Data sets with pipes, links and devices: nothing waits, nothing outside is read or changed."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyarrow")

from profile_analyze.errors import InputError, MalformedProfileError, OutputError
from profile_analyze.fleet import parts
from profile_analyze.fleet.exporting import export
from profile_analyze.fleet.parts import partial_of, parts_of
from profile_analyze.readers.input.content import MAX_SIZE
from tests.fleet.test_data_sets import exported, small

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _pipe(file: Path) -> None:
    os.mkfifo(file)


def _link(file: Path) -> None:
    elsewhere = file.parent.parent.parent / "elsewhere"
    elsewhere.write_text("{}")
    file.symlink_to(elsewhere)


def _endless(file: Path) -> None:
    file.symlink_to("/dev/zero")


def _folder(file: Path) -> None:
    file.mkdir()


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    """A data set with two parts."""
    folder = tmp_path / "sets" / "set"
    folder.parent.mkdir()
    files = [small(tmp_path, name, 1.0 + len(name)) for name in ("a.json", "bb.json")]
    exported(folder, files, files_per_part=1)
    return folder


@pytest.mark.parametrize("replace", [_pipe, _link, _endless, _folder])
@pytest.mark.parametrize(
    "name",
    ["_profile_analyze.json", "part=000001/_part.json", "part=000002/operators.parquet"],
)
def test_only_regular_files_are_read(
    data_set: Path, name: str, replace: Callable[[Path], None]
) -> None:
    (data_set / name).unlink()
    replace(data_set / name)
    with pytest.raises(InputError, match=r"is a link, not a regular|not a regular file|directory"):
        [*map(partial_of, parts_of(str(data_set)))]


@pytest.mark.parametrize("replace", [_pipe, _link, _endless])
def test_a_lock_is_a_regular_file(
    data_set: Path, tmp_path: Path, replace: Callable[[Path], None]
) -> None:
    (data_set / ".lock").unlink()
    replace(data_set / ".lock")
    with pytest.raises(OutputError, match=r"is a link, not a regular|not a regular file"):
        export(str(data_set), [small(tmp_path, "c.json", 9.0)], max_size=MAX_SIZE)
    assert len(parts_of(str(data_set))) == 2


def test_a_lock_never_makes_a_file_elsewhere(data_set: Path, tmp_path: Path) -> None:
    (data_set / ".lock").unlink()
    (data_set / ".lock").symlink_to(tmp_path / "new")
    with pytest.raises(OutputError, match="is a link, not a regular file"):
        export(str(data_set), [small(tmp_path, "c.json", 9.0)], max_size=MAX_SIZE)
    assert not (tmp_path / "new").exists()


def test_a_part_that_is_a_link_is_damage(data_set: Path, tmp_path: Path) -> None:
    (data_set / "part=000002").rename(tmp_path / "part")
    (data_set / "part=000002").symlink_to(tmp_path / "part")
    with pytest.raises(InputError, match="part=000002: is a link, not a folder"):
        parts_of(str(data_set))


def test_parts_are_not_moved_to_where_a_link_leads(data_set: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    hidden = data_set / "part=000002" / "_part.json"
    hidden.write_text(hidden.read_text().replace(".unfinished-", ".unfinished-x", 1))
    text = hidden.read_text()
    start = text.index(".unfinished-x")
    name = text[start : text.index('"', start)]
    (data_set / name).symlink_to(outside)
    old = time.time() - 10 * 24 * 3600
    os.utime(outside, (old, old))
    os.utime(data_set / name, (old, old), follow_symlinks=False)
    exported(data_set, [small(tmp_path, "c.json", 9.0)])
    assert [*outside.iterdir()] == []
    assert (data_set / "part=000002").is_dir()


def test_manifests_are_small(data_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_LARGEST_SIZE", 100_000)
    manifest = data_set / "_profile_analyze.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content + b" " * (100_000 - len(content)))
    assert len(parts_of(str(data_set))) == 2
    manifest.write_bytes(content + b" " * 100_000)
    with pytest.raises(MalformedProfileError, match=r"_profile_analyze.json: has more than 97\.66"):
        parts_of(str(data_set))
    shutil.rmtree(data_set)

"""A reader for a made-up format: commands and the library work with its profiles.

A file has the line `made-up`, then one operator in each line: its name, its type, and its time in
microseconds. The times may be in a second file instead.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.base import BatchReader, Reader
from profile_analyze.readers.input.source import HEAD_SIZE, Source
from profile_analyze.readers.loading import READERS, read_profile
from tests.conftest import PROFILES, run_command
from tests.in_memory import profile_of
from tests.readers.test_broken_files import SUPPORTED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

TINY = str(PROFILES / "tiny.json")


class MadeUpReader(Reader):
    """Reads the made-up format."""

    format = "made-up text"

    def recognises(self, head: bytes, name: str) -> bool:
        return b"made-up\n" in head or name.endswith(".made")

    def read(self, source: Source, wanted: Collection[str]) -> pa.Profile:  # noqa: ARG002  # no optional columns
        lines = b"".join(source.chunks(10)).decode().strip().splitlines()[1:]
        more = [line for part in source.parts for line in part.content().decode().splitlines()]
        rows = [
            " ".join(line).split() for line in zip(lines, more or [""] * len(lines), strict=True)
        ]
        return profile_of(
            [{"name": name, "type": type_} for name, type_, _ in rows],
            [{"operator": n, "duration_s": float(us) / 1e6} for n, (_, _, us) in enumerate(rows)],
            origin=pa.Origin(self.format),
        ).changed(file=source.name, processes=(source.name,))


@pytest.fixture(autouse=True)
def supported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the reader to the supported formats."""
    monkeypatch.setattr("profile_analyze.readers.loading.READERS", (MadeUpReader(), *READERS))


TEXT = b"made-up\nconv1 Conv 3000000\nrelu Relu 500000\nconv2 Conv 1000000\n"
ANSWER = "type,count,time_s\r\nConv,2,4.0\r\nRelu,1,0.5\r\n"


def written(tmp_path: Path, text: bytes = TEXT, name: str = "run.txt") -> str:
    path = tmp_path / name
    path.write_bytes(text)
    return str(path)


def answer(*files: str, stdin: bytes = b"") -> str:
    columns = ("--aggregate-by", "type", "--columns", "type,count,time", "--format", "csv")
    outcome = run_command(*files, *columns, stdin=stdin)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def test_a_reader_needs_only_three_members() -> None:
    reader = MadeUpReader()
    assert reader.default_output_format == "plain"
    assert not isinstance(reader, BatchReader)
    assert READERS[0].default_output_format == "table"


def test_the_default_output_format_of_a_reader_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MadeUpReader, "default_output_format", "markdown")
    outcome = run_command(written(tmp_path), "--print-only", "device", "-t", "1")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1].startswith("| conv1 ")


def test_the_command_reads_the_format_from_any_source(tmp_path: Path) -> None:
    assert answer(written(tmp_path)) == ANSWER
    assert answer(written(tmp_path, gzip.compress(TEXT))) == ANSWER
    assert answer("-", stdin=TEXT) == ANSWER
    assert answer(written(tmp_path, b"\n" * 100_000 + TEXT)) == ANSWER
    # Only the longer head has the whole first line.
    assert answer(written(tmp_path, b"#" * (HEAD_SIZE - 3) + TEXT)) == ANSWER
    # Only the suffix of the file shows the format.
    assert answer(written(tmp_path, b"#" + TEXT[4:], "run.made")) == ANSWER


def test_the_library_reads_the_format(tmp_path: Path) -> None:
    file = written(tmp_path)
    profile = pa.load(file)
    assert repr(profile) == f"Profile({file!r}, 3 operators, 'made-up text')"
    assert profile.operators.name.values().tolist() == ["conv1", "relu", "conv2"]
    assert pa.run(pa.Query(), profile)["time"].tolist() == [3.0, 1.0, 0.5]


def test_several_files_are_runs(tmp_path: Path) -> None:
    files = [
        written(tmp_path, TEXT.replace(b"3000000", f"{time_us}".encode()), f"{time_us}.txt")
        for time_us in (2000000, 3000000, 4000000)
    ]
    profile = pa.load_runs(files)
    assert profile.processes == tuple(files)
    assert profile.notes == ()
    rows = pa.run(pa.Query(by="run"), profile).rows
    assert [(row["run"], row["count"]) for row in rows] == [(3, 3), (2, 3), (1, 3)]
    assert answer(*files) == ANSWER


def test_files_of_two_formats_are_joined_in_their_order(tmp_path: Path) -> None:
    files = (written(tmp_path), TINY, written(tmp_path, name="again.txt"))
    for order in (files, files[::-1]):
        profile = pa.load_runs(order)
        assert profile.processes == order
        assert {"conv1", "conv2", "relu", "ADD"} <= set(profile.operators.name.values().tolist())


def test_only_files_of_one_format_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Together(MadeUpReader):
        def read_together(self, sources: Sequence[Source], wanted: Collection[str]) -> None:
            assert wanted
            asked.append([source.name for source in sources])

    monkeypatch.setattr("profile_analyze.readers.loading.READERS", (Together(), *READERS))
    first, second = written(tmp_path), written(tmp_path, name="again.txt")
    for files in ([first, TINY], [TINY, first], [first], [first, second]):
        assert pa.load_runs(files).run_files == tuple(files)
    assert asked == [[first, second]]


def test_a_source_may_have_further_parts(tmp_path: Path) -> None:
    names = Source(written(tmp_path, b"made-up\nconv1 Conv\nrelu Relu\n"))
    times = Source(written(tmp_path, b"3000000\n500000\n", "times.txt"))
    profile = read_profile(Source.of_bytes("run", names.content(), parts=[times]), ())
    assert pa.run(pa.Query(), profile)["time"].tolist() == [3.0, 0.5]
    with pytest.raises(ValueError, match=r"times\.txt is closed"):
        times.content()


def test_messages_name_all_supported_formats(tmp_path: Path) -> None:
    outcome = run_command(file := written(tmp_path, b'[{"name": "a", "ph": "X"}]'))
    assert (outcome.code, outcome.out) == (1, "")
    formats = SUPPORTED.replace("formats: ", "formats: made-up text, ")
    assert outcome.err == (
        f"profile_analyze: error: {file}: looks like a Chrome timeline of an unknown program, or "
        f"an empty one; {formats}\n"
    )


FINDINGS = {
    "bad": ("columns are of 3 and 2 rows",),
    "worse": ("a time is negative", "columns are of 3 and 2 rows"),
}


@pytest.fixture
def inconsistent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `Profile.check` report `FINDINGS` for files with these names."""

    def check(profile: pa.Profile) -> tuple[str, ...]:
        names = (Path(file).name for file in profile.run_files)
        return tuple(finding for name in names for finding in FINDINGS.get(name, ()))

    monkeypatch.setattr(pa.Profile, "check", check)


@pytest.mark.usefixtures("inconsistent")
@pytest.mark.parametrize("text", [TEXT, (PROFILES / "tiny.json").read_bytes()])
def test_profiles_of_readers_are_checked(tmp_path: Path, text: bytes) -> None:
    good, bad, worse = (written(tmp_path, text, name) for name in ("good", "bad", "worse"))
    reasons = {
        bad: f"{bad}: inconsistent: columns are of 3 and 2 rows",
        worse: f"{worse}: inconsistent: a time is negative; and 1 more",
    }
    for file, reason in reasons.items():
        with pytest.raises(pa.MalformedProfileError) as alone:
            pa.load(file)
        with pytest.raises(pa.MalformedProfileError) as among_others:
            pa.load_runs([good, file])
        assert str(alone.value) == str(among_others.value) == reason
        assert run_command(file).err == f"profile_analyze: error: {reason}\n"
    assert pa.load(good).notes == ()
    kept = pa.load_runs([good, bad, worse, good], skip_bad=True)
    assert kept.processes == (good, good)
    reason = reasons[bad].removeprefix(f"{bad}: ")
    unread = Finding.of("unread-files", Kind.INCOMPLETE, files=2, first=bad, reason=reason)
    assert kept.notes[0] == unread

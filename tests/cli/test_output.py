"""Output files: they appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.output import standard as output
from profile_analyze.errors import OutputError
from profile_analyze.report.formats.output_formats import OUTPUT_FORMATS, find_renderer
from tests.conftest import PROFILES, Outcome, run_command
from tests.pseudo_terminal import run_command_on_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

TINY = str(PROFILES / "tiny.json")


BY_SUFFIX = [
    ("a.JSON", "json"),
    *((f"a{suffix}", name) for name in OUTPUT_FORMATS for suffix in find_renderer(name).suffixes),
]


@pytest.mark.parametrize(("name", "output_format"), BY_SUFFIX)
def test_the_suffix_chooses_the_format(tmp_path: Path, name: str, output_format: str) -> None:
    file = tmp_path / name
    needed = ("--fail-if", "memory > 1GB") if find_renderer(output_format).needs else ()
    call = (TINY, "-t", "0", *needed)
    outcome = run_command(*call, "-o", str(file))
    assert outcome == Outcome(0, "", "")
    assert file.read_bytes() == run_command(*call, "--format", output_format).out.encode()
    assert list(tmp_path.iterdir()) == [file]


def test_an_option_overrides_the_suffix(tmp_path: Path) -> None:
    for option in (["--format", "plain"], ["--wiki"]):
        file = tmp_path / f"{option[-1]}.csv"
        assert run_command(TINY, "-o", str(file), *option).code == 0
        assert file.read_bytes() == run_command(TINY, *option).out.encode()


@pytest.mark.parametrize(
    ("name", "output_format", "by_suffix"),
    [
        ("a.json", "csv", "json"),
        ("a.csv", "plain", "csv"),
        ("a.json", "jsonl", "json"),
        ("a.csv", "csv", ""),
        ("a.txt", "csv", ""),
        ("a", "json", ""),
    ],
)
def test_a_note_says_if_the_suffix_belongs_to_another_format(
    tmp_path: Path, name: str, output_format: str, by_suffix: str
) -> None:
    file = str(tmp_path / name)
    outcome = run_command(TINY, "-t", "0", "--format", output_format, "-o", file)
    note = (
        f"note: {file}: written as {output_format}, which the options ask for, although its suffix "
        f"stands for {by_suffix}\n"
    )
    assert (outcome.code, outcome.out, outcome.err) == (0, "", note if by_suffix else "")


def test_a_note_says_if_the_file_has_the_name_of_a_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run_command(TINY, "-t", "1", "-o", "json")
    assert outcome.err == (
        "note: json: the answer is in a file of this name; --format json chooses a format\n"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["json"]


@pytest.mark.parametrize("name", ["a.xyz", "a.csv.gz", "a.tsv"])
def test_an_unknown_suffix_is_an_error(tmp_path: Path, name: str) -> None:
    outcome = run_command(TINY, "-o", str(tmp_path / name))
    suffix = name.rpartition(".")[2]
    assert outcome.code == 2
    assert (
        f"no format has the suffix .{suffix}; choose a format by --format, or use one of these suffixes: .txt, "
        in outcome.err
    )
    assert run_command(TINY, "-o", str(tmp_path / name), "--format", "csv").code == 0


def test_an_operator_list_cannot_be_csv(tmp_path: Path) -> None:
    outcome = run_command(TINY, "--dump-only-opr", "-o", str(tmp_path / "a.csv"))
    assert outcome.code == 2
    assert "asks for csv, which --dump-only-opr does not have" in outcome.err
    assert run_command(TINY, "--dump-only-opr", "-o", str(tmp_path / "a")).code == 0
    assert (tmp_path / "a").read_text() == run_command(TINY, "--dump-only-opr").out


def test_a_note_says_if_a_program_gets_only_some_rows() -> None:
    call = (TINY, "--show-host", "-t", "1", "--format")
    assert run_command(*call, "csv").err == (
        "note: device: the first 1 of 4 rows; -t 0 gives all\n"
        "note: host: the first 1 of 4 rows; -t 0 gives all\n"
    )
    assert run_command(*call, "plain").err == ""


def test_a_hyphen_is_standard_output() -> None:
    assert run_command(TINY, "-o", "-") == run_command(TINY)
    assert run_command(TINY, "-o-", "--format", "csv") == run_command(TINY, "--format", "csv")


def test_an_existing_file_is_not_replaced_without_force(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("precious")
    file.chmod(0o640)
    outcome = run_command(TINY, "-o", str(file))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == f"profile_analyze: error: {file}: exists already; --force replaces it\n"
    assert file.read_text() == "precious"
    assert run_command(TINY, "-o", str(file), "--force").code == 0
    assert file.read_text().startswith("id,name,")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    run_command(TINY, "-o", str(tmp_path / "a.csv"))
    (tmp_path / "usual").touch()
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target.csv").touch()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "target.csv")
    assert run_command(TINY, "-o", str(link), "--force").code == 0
    assert link.is_symlink()
    assert link.read_text().startswith("id,name,")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "'': the file name is empty"),
        ("none/a.csv", "{}: there is no folder {}; create it first, or write to another one"),
        ("file/a.csv", "{}: {} is not a folder; name a file in a folder"),
        (
            "loop",
            "{}: too many levels of symbolic links; the link leads to itself, so use another name",
        ),
        ("n" * 300, "{}: file name too long; use a shorter name"),
        (".", "{}: is a directory; name a file in it"),
        ("a\0b", "{}: the file name has a NUL character"),
    ],
)
def test_destinations_that_cannot_be_written_are_errors(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    file = str(tmp_path / name) if name else ""
    outcome = run_command("no such profile", "-o", file, "--force")
    expected = reason.format(file, os.path.dirname(file)).replace("\0", "\\x00")  # noqa: PTH120
    assert (outcome.code, outcome.err) == (1, f"profile_analyze: error: {expected}\n")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_folder_that_takes_no_files_is_an_error() -> None:
    outcome = run_command(TINY, "-o", "/proc/a.csv")
    assert (outcome.code, outcome.err) == (
        1,
        "profile_analyze: error: /proc/a.csv: no such file or directory; write to a folder in "
        "which you can create files\n",
    )


def test_a_tilde_that_the_shell_did_not_replace_gets_a_suggestion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/user")
    outcome = run_command(TINY, "--output=~/none/a.csv")
    assert outcome.err == (
        "profile_analyze: error: ~/none/a.csv: there is no folder ~/none; did you mean "
        "/home/user/none/a.csv?\n"
    )


def test_the_profile_itself_is_never_replaced(tmp_path: Path) -> None:
    profile = tmp_path / "run.json"
    profile.write_bytes(Path(TINY).read_bytes())
    outcome = run_command(str(profile), "-o", str(tmp_path / "." / "run.json"), "--force")
    assert outcome.code == 1
    assert outcome.err.endswith("run.json: is one of the input files; write to another file\n")
    assert profile.read_bytes() == Path(TINY).read_bytes()


PEAKS = "[card]\nfp32 = '1T'\nbandwidth = '10G'\n"


@pytest.mark.parametrize(
    ("name", "text", "call"),
    [
        ("labels.csv", "file,date\nrun.json,d1\n", ("--label", "labels.csv")),
        ("peaks.toml", PEAKS, ("--peaks", "peaks.toml")),
        ("peaks.toml", PEAKS, ("--peaks", "peaks.toml:card:fp32")),
    ],
)
@pytest.mark.parametrize("link", ["", "link"])
def test_other_files_that_are_read_are_never_replaced(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    call: tuple[str, ...],
    link: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_bytes(Path(TINY).read_bytes())
    Path(name).write_text(text)
    Path("link").symlink_to(name)
    outcome = run_command("run.json", *call, "-o", link or name, "--format", "csv", "--force")
    assert (outcome.code, outcome.err) == (
        1,
        f"profile_analyze: error: {link or name}: is one of the input files; write to another "
        "file\n",
    )
    assert Path(name).read_text() == text


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise OutputError("failed")

    with pytest.raises(OutputError, match="failed"):
        output.write_file(str(file), pieces(), force=False)
    assert list(tmp_path.iterdir()) == []
    file.write_text("precious")
    with pytest.raises(OutputError, match="failed"):
        output.write_file(str(file), pieces(), force=True)
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_another_process_creates_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"

    def pieces() -> Iterator[bytes]:
        file.write_text("precious")
        yield b"late"

    with pytest.raises(OutputError, match="exists already"):
        output.write_file(str(file), pieces(), force=False)
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def test_without_links_a_file_still_appears_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(_source: str, _target: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    output.write_file(str(tmp_path / "a"), [b"text"], force=False)
    assert (tmp_path / "a").read_text() == "text"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_longest_possible_file_name_works(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 251 + ".csv")
    assert run_command(TINY, "-o", str(file)).code == 0
    assert file.read_text().startswith("id,name,")


def test_output_is_appended_to_a_log_behind_dev_stdout(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    command = (
        f"'{sys.executable}' -m profile_analyze '{TINY}' --dump-only-opr -o /dev/stdout >> '{log}'"
    )
    subprocess.run(["bash", "-c", command], check=True)
    assert log.read_text() == "before\n" + run_command(TINY, "--dump-only-opr").out


def test_dev_null_is_written_to_without_force() -> None:
    assert run_command(TINY, "-o", "/dev/null").code == 0


def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "profile_analyze", TINY, "--format", "csv", "-o", str(pipe)]
    with subprocess.Popen([*command, "-t", "0"]) as process:
        assert pipe.read_text() == run_command(TINY, "--format", "csv", "-t", "0").out.replace(
            "\r", ""
        )
    assert process.returncode == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("output_format", ["csv", "json", "jsonl"])
def test_formats_for_programs_are_always_utf8(output_format: str) -> None:
    path = str(PROFILES / "derived-utf8names.json")
    plain = run_command(path, "--format", output_format)
    assert not plain.out.isascii()
    latin = run_command(path, "--format", output_format, encoding="latin-1")
    assert latin.out.encode("latin-1") == plain.out.encode()


def test_the_last_note_on_a_terminal_names_the_file(tmp_path: Path) -> None:
    file = str(tmp_path / "a.csv")
    call = (TINY, "-t", "0", "-o", file, "--force")
    for notes, expected in (((), f"note: wrote {file}\n"), (("--notes", "none"), "")):
        shown = run_command_on_terminal((*call, *notes), (1000, 9), {"NO_COLOR": "1"})
        assert shown == (expected, 0)
    assert run_command(*call).err == ""

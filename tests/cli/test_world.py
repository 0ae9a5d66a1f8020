"""The environment of the command: pipes and devices as files, little memory, interrupts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.output.standard import NewFiles
from profile_analyze.errors import OutputError
from tests.conftest import PROFILES, Outcome, run_command, some_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TINY = str(PROFILES / "tiny.json")
RESNET = str(PROFILES / "resnet18.json")


def run_process(*arguments: str | bytes, stdin: int = subprocess.DEVNULL) -> tuple[int, str, str]:
    """Run the command in its own process; return exit code, standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "profile_analyze", *arguments],
        stdin=stdin,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def error(message: str) -> tuple[int, str, str]:
    return 1, "", f"profile_analyze: error: {message}\n"


@contextmanager
def listening(path: Path) -> Iterator[str]:
    """Open a socket at `path`, by its relative name: a long name would be an error."""
    with socket.socket(socket.AF_UNIX) as one:
        before = Path.cwd()
        os.chdir(path.parent)
        one.bind(path.name)
        os.chdir(before)
        yield str(path)


@contextmanager
def pipe_with(path: Path, content: bytes) -> Iterator[str]:
    """Make a named pipe, and write `content` to it in a thread."""
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(content,))
    writer.start()
    yield str(path)
    writer.join()


def test_a_named_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    content = Path(TINY).read_bytes()
    with pipe_with(tmp_path / "pipe", content) as pipe:
        assert run_command(pipe) == run_command(TINY)
    with pipe_with(tmp_path / "list", TINY.encode()) as names:
        assert run_command(f"@{names}") == run_command(TINY)
    with pipe_with(tmp_path / "base", content) as base:
        assert run_command(TINY, "--compare", base).out == run_command(TINY, "--compare", TINY).out
    with pipe_with(tmp_path / "empty", b"") as empty:
        assert run_command(empty).err.startswith(f"profile_analyze: error: {empty}: is empty; ")


@pytest.mark.parametrize("call", [["{}"], ["@{}"], [TINY, "--compare", "{}"]])
def test_sockets_and_devices_are_refused(tmp_path: Path, call: list[str]) -> None:
    def message_on(file: str) -> str:
        outcome = run_command(*(one.format(file) for one in call))
        assert (outcome.code, outcome.out) == (1, "")
        return outcome.err.removeprefix("profile_analyze: error: ")

    listed = "the list cannot be read: " if call[0] == "@{}" else ""
    with listening(tmp_path / "socket") as file:
        reason = f"{listed}is a socket, not a file"
        assert message_on(file).startswith(f"{call[-1].format(file)}: {reason}")
    reason = f"{listed}is a device, not a file"
    assert message_on("/dev/zero").startswith(f"{call[-1].format('/dev/zero')}: {reason}")


@pytest.mark.slowest
def test_a_device_on_standard_input_is_refused() -> None:
    with Path("/dev/zero").open("rb") as zero:
        assert run_process("-", stdin=zero.fileno()) == error(
            "standard input: is a device, not a file"
        )
    code, out, err = run_process("-", stdin=subprocess.DEVNULL)
    assert (code, out) == (1, "")
    assert err.startswith("profile_analyze: error: standard input: is empty; ")


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(Path(TINY).read_bytes())
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    with listening(tmp_path / "socket.json"):
        assert run_command(str(tmp_path)) == run_command(TINY)
    (tmp_path / "link.json").symlink_to(tmp_path / "none")
    assert run_command(str(tmp_path)).err == (
        f"profile_analyze: error: {tmp_path}/link.json: no such file; "
        "--skip-bad leaves out what cannot be read\n"
    )
    (tmp_path / "run.json").unlink()
    (tmp_path / "link.json").unlink()
    assert run_command(str(tmp_path)).err == (
        f"profile_analyze: error: {tmp_path}: is a directory without profiles "
        "(*.json, *.json.gz, *.json.zst)\n"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.touch(0)
    assert run_command(str(file)).err == (
        f"profile_analyze: error: {file}: permission denied; ask the owner for access, "
        "or run chmod u+r on it\n"
    )


@pytest.mark.parametrize(
    ("name", "message", "message_on_list"),
    [
        (
            "",
            "'': the file name is empty; is a variable of the shell unset?",
            "@: the list cannot be read: no such file",
        ),
        (
            "a\0b",
            "a\\x00b: no such file: the name has a NUL character",
            "@a\\x00b: the list cannot be read: no such file: the name has a NUL character",
        ),
    ],
)
def test_empty_names_and_names_with_nul_are_errors(
    name: str, message: str, message_on_list: str
) -> None:
    outcome = run_command(name)
    assert (outcome.code, outcome.err) == (1, f"profile_analyze: error: {message}\n")
    outcome = run_command(TINY, "--compare", name)
    assert outcome.err == f"profile_analyze: error: {message}\n"
    assert run_command(f"@{name}").err == f"profile_analyze: error: {message_on_list}\n"


def test_names_that_are_not_utf8_can_be_read_and_written(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.json"
    shown = f"{tmp_path}/\\udcff.json"
    assert run_process(name) == error(f"{shown}: no such file")
    # `run_process` takes bytes, which its process decodes. `run_command` needs decoded arguments.
    decoded = os.fsdecode(name)
    Path(decoded).write_bytes(Path(TINY).read_bytes())
    answered = run_command(TINY)
    assert run_command(decoded) == answered
    (tmp_path / "names").write_bytes(name + b"\n")
    assert run_command(f"@{tmp_path}/names") == answered
    assert run_command(str(tmp_path)) == answered
    several = run_command(decoded, decoded, "--aggregate-by", "file", "--format", "csv")
    assert several.code == 0
    assert "\\udcff.json" in several.out
    output = os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.csv")
    assert run_command(TINY, "-o", output) == Outcome(
        0, "", "note: device: the first 3 of 4 rows; -t 0 gives all\n"
    )


def test_peaks_files_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    def message_on(file: str) -> str:
        outcome = run_command("nothing.json", "--peaks", file)
        assert (outcome.code, outcome.out) == (2, "")
        return outcome.err.removeprefix("profile_analyze: error: ")

    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    (tmp_path / "empty.toml").touch()
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    for name, reason in [
        ("none.toml", "no such file"),
        ("folder.toml", "is a directory; name a file in it"),
        ("zero.toml", "is a device, not a file"),
        ("empty.toml", "has no device; a device is a table such as [my-card]"),
        ("latin.toml", "is not UTF-8, but TOML files must be"),
    ]:
        assert message_on(f"{tmp_path}/{name}") == f"{tmp_path}/{name}: {reason}\n"
    assert message_on("a\0b.toml") == "a\\x00b.toml: no such file: the name has a NUL character\n"
    rates = b'[card]\nany = "1G"\nbandwidth = "1G"\n'
    with pipe_with(tmp_path / "pipe.toml", rates) as pipe:
        assert run_command(TINY, "--peaks", pipe).code == 0


def test_too_little_memory_to_compile_is_reported_in_one_line(tmp_path: Path) -> None:
    r"""Python loads a module to compile an escape such as `\N{EN DASH}`. The loading may fail."""
    code = (
        "import sys\n"
        "sys.modules['unicodedata'] = None  # as if loading it failed\n"
        f"sys.pycache_prefix, sys.dont_write_bytecode = {str(tmp_path)!r}, True\n"
        "from profile_analyze.__main__ import run\n"
        "run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("profile_analyze: error: ")


def test_too_little_memory_for_the_compiler_is_reported_in_one_line() -> None:
    code = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'profile_analyze.cli.main':\n"
        "            raise ValueError('field target is required for AnnAssign')\n"
        "from profile_analyze.__main__ import run\n"
        "sys.meta_path.insert(0, Finder())\n"
        "run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "profile_analyze: error: out of memory\n"


@pytest.mark.slowest
def test_too_little_memory_is_reported_in_one_line() -> None:
    """With any amount of memory, the command answers, or says that there is too little."""
    answer = run_command(RESNET).out
    code = (
        "import resource, sys\n"
        "from profile_analyze.__main__ import run\n"
        "import numpy, msgspec, tabulate, profile_analyze.query.run\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "limit = used + int(sys.argv.pop(1))\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "run()"
    )
    exit_codes = []
    for spare in (0, 1 << 18, 1 << 20, 3 << 20, 1 << 28):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", code, str(spare), RESNET, "-t", "3"],
            capture_output=True,
            encoding="utf-8",
            check=False,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        if done.returncode:
            assert (done.returncode, done.stdout) == (1, ""), (spare, done.stderr)
            assert done.stderr.count("\n") == 1
            assert done.stderr.startswith("profile_analyze: error: ")
        else:
            assert done.stdout == answer
        exit_codes.append(done.returncode)
    assert (exit_codes[0], exit_codes[-1]) == (1, 0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "sys.modules['tabulate'] = None",
            "the package tabulate is not installed for this Python; in the checkout of "
            f"profile_analyze, run {sys.executable} -m pip install .",
        ),
        (
            "sys.modules['numpy.linalg'] = None",  # a part of a package that is there
            "a package cannot be loaded: import of numpy.linalg halted; None in sys.modules; "
            "memory is short, or the installation is broken",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded_is_reported_in_one_line(
    setting: str, message: str
) -> None:
    code = f"import sys\n{setting}\nfrom profile_analyze.__main__ import run\nrun()"
    done = subprocess.run(
        [sys.executable, "-c", code, TINY], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == error(message)


@pytest.mark.parametrize(
    "place",
    ["stop()", "class Ending:\n    def __del__(self): stop()\nEnding()\n"],
    ids=["function", "destructor"],
)
def test_an_interrupt_ends_quietly_wherever_it_comes(place: str) -> None:
    """Python prints exceptions that come in a destructor, and goes on."""
    code = (
        "import os, signal, time\n"
        "from profile_analyze.cli.process import run_process\n"
        "def stop(): os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "def answer():\n"
        f"    exec({place!r}, globals())\n"
        # in small steps: a signal that arrives just before a sleep is handled after the sleep
        "    for _ in range(6000): time.sleep(0.01)\n"
        "run_process(answer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.slowest
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_worker_processes_end_with_the_command(tmp_path: Path, end: signal.Signals) -> None:
    """The processes that read many files end with their parent."""
    for number in range(100):
        (tmp_path / f"{number}.json").symlink_to(PROFILES / "mobilenet.json")
    code = (
        "import glob, multiprocessing, time\n"
        "from profile_analyze.readers.input import many\n"
        "from profile_analyze.cli.process import run_process\n"
        "def answer():\n"
        f"    files = glob.glob({f'{tmp_path}/*'!r})\n"
        "    def progress(_):\n"
        "        print(len(multiprocessing.active_children()), flush=True)\n"
        "        for _ in range(6000): time.sleep(0.01)\n"
        "    many.load_runs(files, processes=2, progress=progress)\n"
        "run_process(answer)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "2\n"
        process.send_signal(end)
        # workers hold these streams too, so this returns when the last of them has ended
        out, err = process.communicate(timeout=30)
    assert (out, err) == ("", "")
    assert process.returncode == (130 if end == signal.SIGINT else -end)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", some_of([["--help"], ["--version"], ["--columns", "help"], ["--peaks", "list"]], 4)
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device to write to")
def test_texts_printed_without_a_profile_report_write_errors(call: list[str]) -> None:
    command = [sys.executable, "-m", "profile_analyze", *call]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False
        )
    message = "standard output: no space left on device; free some space, or write to another disk"
    assert (done.returncode, done.stderr) == (1, f"profile_analyze: error: {message}\n")
    for encoding in ("ascii", "latin-1"):
        done = subprocess.run(
            command,
            capture_output=True,
            encoding=encoding,
            env=os.environ | {"PYTHONIOENCODING": encoding},
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device to write to")
def test_a_picture_and_an_answer_appear_together(tmp_path: Path) -> None:
    picture, answer = tmp_path / "a.svg", tmp_path / "a.csv"
    failed = run_command(TINY, "--plot", str(picture), "-o", "/dev/full")
    assert (failed.code, failed.err) == (
        1,
        "profile_analyze: error: /dev/full: no space left on device; free some space, or write to "
        "another disk\n",
    )
    assert list(tmp_path.iterdir()) == []
    assert run_command(TINY, "--plot", str(picture), "-o", str(answer)).code == 0
    assert sorted(tmp_path.iterdir()) == [answer, picture]


def test_no_file_appears_if_one_of_two_fails(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"

    def write(*, force: bool) -> None:
        with NewFiles(force=force) as files:
            files.write(str(first), [b"new"])
            files.write(str(second), [b"new"])
            second.write_text("meanwhile")

    with pytest.raises(OutputError, match="second: exists already; --force replaces it"):
        write(force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["second"]
    assert second.read_text() == "meanwhile"
    write(force=True)
    assert (first.read_text(), second.read_text()) == ("new", "new")


@pytest.mark.slowest
def test_drawing_prints_no_messages_of_matplotlib(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-W", "error", "-m", "profile_analyze", TINY),
            *("--plot", str(tmp_path / "a.svg")),
        ],
        capture_output=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "HOME": "/dev/null", "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, run_command(TINY).out, "")

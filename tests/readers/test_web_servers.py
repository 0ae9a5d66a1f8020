"""Profiles on a web server. The HTTP driver starts a thread, so other processes run commands."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

import pytest

from tests.conftest import PROFILES, ROOT
from tests.small import Operator, document, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("aiohttp")

_SERVER = """
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        if "secret" in self.path and "key=right" not in self.path:
            self.send_error(403)
        elif "endless" in self.path and self.path.endswith("operators.parquet"):
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 16))
        elif "short" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"profiler":')
        else:
            super().do_GET()

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


_COMMAND = """
import json, sys
from dataclasses import astuple
from tests.conftest import run_command

for line in sys.stdin:
    print(json.dumps(astuple(run_command(*json.loads(line)))), flush=True)
"""


@contextmanager
def process(code: str, folder: Path) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run `code` in a process, and return its standard input and its standard output."""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        try:
            yield started.stdin, started.stdout
        finally:
            started.kill()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server that serves all temporary folders."""
    with process(_SERVER, tmp_path_factory.getbasetemp()) as (_, out):
        yield int(out.readline())


@pytest.fixture
def server(port: int, tmp_path: Path) -> str:
    """The URL of the folder `tmp_path`."""
    return f"http://127.0.0.1:{port}/{tmp_path.name}"


Called: TypeAlias = "Callable[..., tuple[int, str, str]]"


@pytest.fixture(scope="module")
def called() -> Iterator[Called]:
    """Run commands in one other process, because this process must stay able to fork."""
    with process(_COMMAND, ROOT) as (questions, answers):

        def called(*arguments: str) -> tuple[int, str, str]:
            print(json.dumps(arguments), file=questions, flush=True)
            code, out, err = json.loads(answers.readline())
            return code, out, err

        yield called


@pytest.mark.slowest
def test_profiles_on_a_server_give_the_same_answers(
    tmp_path: Path, server: str, called: Called
) -> None:
    content = (PROFILES / "resnet18.json").read_bytes()
    (tmp_path / "runs" / "one day").mkdir(parents=True)
    (tmp_path / "runs" / "a.json").write_bytes(content)
    (tmp_path / "runs" / "b.json.gz").write_bytes(gzip.compress(content))
    (tmp_path / "runs" / "one day" / "c d.json").write_bytes(content)
    # The server ignores ranges of bytes. This file is larger than the blocks that fsspec requests.
    (tmp_path / "large.json").write_bytes(content + b" " * 20_000_000)
    assert called(f"{tmp_path}/runs", "--export", f"{tmp_path}/set")[0] == 0
    for names, question in (
        (["set/"], ["-t", "3"]),
        (["large.json"], ["-t", "3"]),
        (["runs/a.json"], ["-t", "3"]),
        (["runs/b.json.gz"], ["-t", "3", "--aggregate-by", "type", "--format", "json"]),
        (["runs/"], ["-t", "2", "--columns", "run,name,time"]),
        (["runs/*"], ["--format", "csv"]),
        (["runs/**/*.json"], ["--print-only", "summary", "--notes", "all"]),
        (["runs/one day/c d.json", "--compare", "runs/"], ["--format", "plain"]),
    ):
        remote = [name if name.startswith("-") else f"{server}/{name}" for name in names]
        local = [name if name.startswith("-") else f"{tmp_path}/{name}" for name in names]
        code, out, err = called(*remote, *question)
        expected = called(*local, *question)
        shown, notes = (
            text.replace(server, str(tmp_path)).replace("%20", " ") for text in (out, err)
        )
        assert (code, shown, notes) == expected


@pytest.mark.slowest
def test_several_processes_read_many_files(tmp_path: Path, server: str, called: Called) -> None:
    names = [f"{number:03}.json" for number in range(200)]
    for number, name in enumerate(names):
        profile = document([Operator("conv", "Conv", 3 + number, shape=[2, 3])])
        (tmp_path / name).write_text(json.dumps(profile), encoding="utf-8")
    (tmp_path / "list").write_text("\n".join(f"{server}/{name}" for name in names))
    question = ["-t", "0", "--format", "json", "--columns", "run,name,time"]
    code = (
        "import sys\n"
        "from profile_analyze.cli import main\nfrom profile_analyze.cli.inputs import several_files\n"
        "from profile_analyze.readers.input import pool\n"
        "several_files.available_cores = lambda: 2\n"
        "started = []\n"
        "start = pool.ReaderPool._start_worker\n"
        "def counted(*arguments):\n"
        "    started.append(1)\n"
        "    start(*arguments)\n"
        "pool.ReaderPool._start_worker = counted\n"
        "code = main.main(sys.argv[1:])\n"
        # The status is 0 only if two workers were started.
        "sys.exit(code or len(started) - 2)"
    )
    expected = called(*(str(tmp_path / name) for name in names), *question)
    # The list is read first, so the driver has its thread before the processes are forked.
    for named in ([f"@{server}/list"], [f"{server}/*.json"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *named, *question],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        shown = done.stdout.replace(server, str(tmp_path))
        assert (done.returncode, shown, done.stderr) == expected


def test_failures_are_one_line(server: str, called: Called) -> None:
    truncated = f"{server}/short.json"
    for url, reason in (
        (f"{server}/none.json", "no such file"),
        (f"{server}/none/", "no such file"),
        (f"{server}/none*.json", "no such file; no file matches this pattern"),
        (
            f"{server}/secret.json",
            "permission denied: the server answered 403 (Forbidden); give the driver credentials "
            "that may read the file",
        ),
    ):
        assert called(url) == (1, "", f"profile_analyze: error: {url}: {reason}\n")
    code, out, err = called(truncated)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"profile_analyze: error: {truncated}: cannot be read: Response payload")
    refused = "http://127.0.0.1:1/a.json"
    code, out, err = called(refused)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"profile_analyze: error: {refused}: cannot be read: Cannot connect to")
    assert err.endswith("; check the URL and the network\n")


def test_signatures_are_not_shown(tmp_path: Path, server: str, called: Called) -> None:
    (tmp_path / "secret.json").write_bytes((PROFILES / "tiny.json").read_bytes())
    url = server.replace("://", "://me:hidden@") + "/secret.json?key=right"
    shown = server.replace("://", "://***@") + "/secret.json?***"
    code, out, err = called(url, "--format", "json", "--notes", "none")
    assert (code, err) == (0, "")
    assert json.loads(out)["profile"]["file"] == shown
    wrong = url.replace("right", "wrong")
    assert called(wrong) == (
        1,
        "",
        f"profile_analyze: error: {shown}: permission denied: the server answered 403 (Forbidden); "
        "give the driver credentials that may read the file\n",
    )


def test_urls_that_differ_only_in_query_strings_have_labels_of_their_own(
    tmp_path: Path, server: str, called: Called
) -> None:
    urls = [f"{server}/secret.json?key=right&host={number}" for number in range(3)]
    bad = f"{server}/secret.json?key=wrong"
    written(tmp_path / "secret.json", [Operator("conv", "Conv", 3)])
    table = tmp_path / "labels.csv"
    lines = ["file,host,day", *(f"{url},h{number},1" for number, url in enumerate([*urls, bad]))]
    table.write_text("\n".join(lines))
    question = ["--label", str(table), "--sql", "from runs select host, day", "--format", "csv"]
    assert called(*urls, *question)[1] == "host,day\r\nh0,1\r\nh1,1\r\nh2,1\r\n"
    # The four URLs look the same without their query strings, so nobody knows which one is missing:
    # each run gets only the labels that all four share.
    code, out, _ = called(bad, *urls, *question, "--skip-bad")
    assert (code, out) == (0, "host,day\r\n,1\r\n,1\r\n,1\r\n")


@pytest.mark.slowest
def test_damaged_data_sets_on_a_server_are_refused(
    tmp_path: Path, server: str, called: Called
) -> None:
    profile = written(tmp_path / "run.json", [Operator("conv", "Conv", 3)])
    for name in ("endless", "lacking"):
        assert called(str(profile), "--export", str(tmp_path / name))[0] == 0
    part = Path("part=000001")
    size = (tmp_path / "endless" / part / "operators.parquet").stat().st_size
    (tmp_path / "lacking" / part / "runs.parquet").unlink()
    for name, options, message in (
        (
            "endless",
            [],
            f"the data set is damaged: {part}: operators.parquet has more bytes than {size}; export "
            "its files to a new folder",
        ),
        (
            "endless",
            ["--max-size", "1kB"],
            f"{part}/operators.parquet holds more than 1000.00 byte, decompressed; --max-size raises "
            "the limit",
        ),
        (
            "lacking",
            [],
            f"the data set is damaged: {part}/runs.parquet: no such file; export its files to a new "
            "folder",
        ),
    ):
        url = f"{server}/{name}/"
        assert called(url, *options) == (1, "", f"profile_analyze: error: {url}: {message}\n")

"""The whole command, run in this process on one input, and all that came of it."""

from __future__ import annotations

import io
import os
import resource
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.cases import Case

_IN_MEMORY: Final = Path("/dev/shm")  # where there is one


class Outcome(NamedTuple):
    """What a call did."""

    code: int | None
    """The exit code, None if an exception left the command."""
    out: str
    err: str
    written: dict[str, bytes]
    """The files that are new or were changed, by name."""
    traceback: str = ""
    seconds: float = 0.0
    """Of processors, so that what else the machine does counts for nothing."""
    grown_bytes: int = 0
    """By how much the process took more memory than ever before."""


class _Terminal(io.TextIOWrapper):
    """A stream that is taken for a terminal."""

    def isatty(self) -> bool:
        """Whether it is one: yes."""
        return True


def answered(case: Case) -> Outcome:
    """What the command answers to `case`."""
    with _folder(case.files) as folder:
        outcome = _called(case)
        written = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    new = {name: data for name, data in written.items() if case.files.get(name) != data}
    return outcome._replace(written=new)


@contextmanager
def _folder(files: dict[str, bytes]) -> Iterator[Path]:
    """A folder with `files` in it, which is the current one meanwhile."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def _called(case: Case) -> Outcome:
    saved = sys.stdout, sys.stderr, sys.stdin, os.environ.get("COLUMNS")
    out, err = io.BytesIO(), io.StringIO()
    kind = io.TextIOWrapper if case.width is None else _Terminal
    stream = kind(out, encoding=case.encoding, newline="", write_through=True)
    sys.stdout = stream
    sys.stderr, sys.stdin = err, io.TextIOWrapper(io.BytesIO(case.stdin))
    os.environ["COLUMNS"] = str(case.width or "")
    code, left = None, ""
    memory = _peak_bytes()
    begun = process_time()
    try:
        code = main(list(case.arguments))
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    except BaseException:  # whatever it is, it would have reached a user
        left = traceback.format_exc()
    finally:
        seconds = process_time() - begun
        stream.flush()
        sys.stdout, sys.stderr, sys.stdin, columns = saved
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return Outcome(
        code=code,
        out=out.getvalue().decode("utf-8" if _is_for_programs(case) else case.encoding),
        err=err.getvalue(),
        written={},
        traceback=left,
        seconds=seconds,
        grown_bytes=_peak_bytes() - memory,
    )


def _is_for_programs(case: Case) -> bool:
    return case.form in ("csv", "json", "jsonl", "github", "junit")


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

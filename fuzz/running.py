"""Runs the whole command in this process on one input and records the outcome."""

from __future__ import annotations

import io
import os
import resource
import sys
import tempfile
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.cli.main import main
from profile_analyze.report.formats.output_formats import OUTPUT_FORMATS, find_renderer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.cases import Case

_IN_MEMORY: Final = Path("/dev/shm")  # exists on Linux


class Outcome(NamedTuple):
    """The result of one call."""

    code: int | None
    """The exit code, or None if the command raised an exception."""
    out: str
    err: str
    written: dict[str, bytes]
    """The contents of the files that were created or changed, by their paths in the folder."""
    traceback: str = ""
    seconds: float = 0.0
    """Processor time, which hardly depends on other programs on the machine."""
    grown_bytes: int = 0
    """How much the peak memory of the process rose, in bytes."""


class Terminal(io.TextIOWrapper):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def run_case(case: Case) -> Outcome:
    """Return the outcome of the command for `case`."""
    with _folder(case.files) as folder:
        outcome = _call(case)
        written = contents_of(folder)
    new = {name: data for name, data in written.items() if case.files.get(name) != data}
    return outcome._replace(written=new)


def contents_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder and its subfolders, by their paths in it."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@contextmanager
def _folder(files: dict[str, bytes]) -> Iterator[Path]:
    """Write `files` to a new folder, which is the working directory during the block."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(data)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def _call(case: Case) -> Outcome:
    saved = sys.stdout, sys.stderr, sys.stdin, os.environ.get("COLUMNS")
    out, err = io.BytesIO(), io.StringIO()
    kind = io.TextIOWrapper if case.width is None else Terminal
    stream = kind(out, encoding=case.encoding, newline="", write_through=True)
    sys.stdout = stream
    sys.stderr, sys.stdin = err, io.TextIOWrapper(io.BytesIO(case.stdin))
    os.environ["COLUMNS"] = str(case.width or "")
    code, unhandled = None, ""
    peak_before = _peak_bytes()
    start = process_time()
    try:
        with warnings.catch_warnings():
            # By default, Python prints only the first of several equal warnings.
            warnings.simplefilter("error", RuntimeWarning)
            code = main(list(case.arguments))
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:  # every other exception would have reached the user
        unhandled = traceback.format_exc()
    finally:
        seconds = process_time() - start
        stream.flush()
        sys.stdout, sys.stderr, sys.stdin, columns = saved
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return Outcome(
        code=code,
        out=out.getvalue().decode("utf-8" if _is_always_utf8(case) else case.encoding),
        err=err.getvalue(),
        written={},
        traceback=unhandled,
        seconds=seconds,
        grown_bytes=_peak_bytes() - peak_before,
    )


def _is_always_utf8(case: Case) -> bool:
    known = case.output_format in OUTPUT_FORMATS
    return known and find_renderer(case.output_format).for_programs


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # other systems report KiB

"""Tries a wheel as a user gets it: in a clean environment, without extras and with each of them.

python tests/wheel.py dist/*.whl

This program needs only Python. The Python that runs the program also runs the wheel.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

FIXTURES = Path(__file__).parent / "fixtures"
TINY = FIXTURES / "profiles" / "tiny.json"
MODEL = FIXTURES / "classifiers" / "classifier.onnx"
ALL = ("fleet", "onnx", "plot", "sql", "zstd")
BUILT_IN = ("zstd",) if sys.version_info >= (3, 14) else ()
PACKAGES = {
    "fleet": "pyarrow",
    "onnx": "onnx",
    "plot": "matplotlib",
    "sql": "duckdb",
    "zstd": "zstandard",
}
ERROR = "profile_analyze: error: "


class Outcome(NamedTuple):
    """The result of a call."""

    code: int
    out: str
    err: str


class Installation:
    """A clean environment in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
        venv.create(folder / "environment", with_pip=True)

    def run(self, program: str, *arguments: str) -> Outcome:
        """Run a program of the environment, in a folder from which no checkout can be imported."""
        done = subprocess.run(
            [self.bin / program, *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def pip(self, *arguments: str) -> None:
        """Run pip."""
        outcome = self.run("python", "-m", "pip", "--disable-pip-version-check", *arguments)
        assert outcome.code == 0, outcome.err

    def answer(self, *arguments: str) -> Outcome:
        """Run the command."""
        return self.run("profile-analyze", *arguments)


def check_without_extras(installed: Installation) -> None:
    """Check that the wheel is whole: its dependencies, the command, the library, the types."""
    installed.pip("check")
    cases = json.loads((FIXTURES / "cases" / "tiny.json").read_text(encoding="utf-8"))["same"]
    for case in cases[:3]:
        outcome = installed.answer(str(TINY), *case["args"])
        assert (outcome.code, outcome.out) == (0, case["stdout"]), outcome
    # Both spellings of the name are commands.
    assert installed.run("profile_analyze", "--version") == installed.answer("--version")
    for shell in ("bash", "zsh", "fish"):
        assert installed.answer("--print-completion", shell).code == 0
    code = (
        "import profile_analyze as pa, pathlib, sys\n"
        "assert (pathlib.Path(pa.__file__).parent / 'py.typed').exists()\n"
        "print(*pa.run(pa.Query(top=1), pa.load(sys.argv[1]))['name'])"
    )
    outcome = installed.run("python", "-c", code, str(TINY))
    assert outcome == Outcome(0, "ADD\n", ""), outcome


def check_another_reader(installed: Installation) -> None:
    """Install the reader that the documentation shows, as a package of its own, and use it."""
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    reader, settings = (
        page.split(f"```{language}\n")[1].split("```")[0] for language in ("python", "toml")
    )
    project = installed.folder / "made_up"
    project.mkdir()
    (project / "made_up.py").write_text(reader, encoding="utf-8")
    (project / "pyproject.toml").write_text(
        f'[project]\nname = "made-up"\nversion = "1"\n{settings}', encoding="utf-8"
    )
    (installed.folder / "run.txt").write_text("made-up\nconv1 Conv 3000\n", encoding="utf-8")
    call = ("run.txt", "--columns", "time,type", "--format", "csv")
    assert installed.answer(*call).code == 1
    installed.pip("install", "--quiet", str(project))
    outcome = installed.answer(*call)
    assert outcome == Outcome(0, "time_s,type\n0.003,Conv\n", ""), outcome


def check_extras(installed: Installation, version: str, extras: tuple[str, ...]) -> None:
    """Check that installed extras work, and what the command prints if an extra is missing."""
    have = [extra for extra in PACKAGES if extra in extras]
    lack = [extra for extra in PACKAGES if extra not in extras]
    named = [f"extras: {', '.join(have)}"] if have else []
    named += [f"not installed: {', '.join(lack)}"] if lack else []
    outcome = installed.answer("--version")
    assert outcome == Outcome(0, f"profile_analyze {version} ({'; '.join(named)})\n", ""), outcome

    outcome = installed.answer(str(TINY), "--plot", "a.svg", "--force")
    missing = "--plot needs matplotlib; install the extra plot: pip install 'profile_analyze[plot]'"
    assert outcome.err == ("" if "plot" in have else f"{ERROR}{missing}\n"), outcome
    assert outcome.code == (0 if "plot" in have else 1)

    outcome = installed.answer(str(MODEL), "--print-only", "summary")
    missing = (
        f"{MODEL}: is an ONNX model; to read it, install the extra onnx: "
        "pip install 'profile_analyze[onnx]'"
    )
    assert outcome.err == ("" if "onnx" in have else f"{ERROR}{missing}\n"), outcome
    assert outcome.code == (0 if "onnx" in have else 1)

    # A new data set: a second export of the same file adds nothing and prints a note.
    data_set = "-".join(["profiles", *extras])
    outcome = installed.answer(str(TINY), "--export", data_set)
    missing = (
        "--export needs pyarrow; install the extra fleet: pip install 'profile_analyze[fleet]'"
    )
    assert outcome.err == ("" if "fleet" in have else f"{ERROR}{missing}\n"), outcome
    assert outcome.code == (0 if "fleet" in have else 1)
    if "fleet" in have:
        assert installed.answer(data_set) == installed.answer(str(TINY))

    outcome = installed.answer(str(TINY), "--sql", "select 1 as one", "--format", "csv")
    assert outcome.out == ("one\n1\n" if "sql" in have else ""), outcome
    assert ("the extra sql: pip install" in outcome.err) == ("sql" not in have)

    (installed.folder / "tiny.json.zst").write_bytes(zstd_frame(TINY.read_bytes()))
    outcome = installed.answer("tiny.json.zst")
    missing = (
        "tiny.json.zst: is compressed by zstd; to read it, install the extra zstd: "
        "pip install 'profile_analyze[zstd]'"
    )
    assert outcome.err == ("" if "zstd" in have else f"{ERROR}{missing}\n"), outcome
    expected = installed.answer(str(TINY)).out if "zstd" in have else ""
    assert outcome.out == expected.replace(str(TINY), "tiny.json.zst")


def zstd_frame(data: bytes) -> bytes:
    """Return a zstd frame with one uncompressed block. Making it needs no package."""
    size_has_4_bytes, last_block = 0xA0, 1
    header = b"\x28\xb5\x2f\xfd" + bytes([size_has_4_bytes]) + len(data).to_bytes(4, "little")
    return header + (last_block | len(data) << 3).to_bytes(3, "little") + data


def try_wheel(wheel: Path) -> None:
    """Install and check the wheel, with one set of extras after the other."""
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as folder:
        installed = Installation(Path(folder))
        for extras in ((), ("zstd",), ("plot",), ("onnx",), ("fleet",), ALL):
            installed.pip("uninstall", "--quiet", "--yes", *PACKAGES.values())
            suffix = f"[{','.join(extras)}]" if extras else ""
            installed.pip("install", "--quiet", f"{wheel}{suffix}")
            if not extras:
                check_without_extras(installed)
                check_another_reader(installed)
            check_extras(installed, version, (*extras, *BUILT_IN))
            print(f"Python {platform.python_version()}, {wheel.name}{suffix}: ok", flush=True)


if __name__ == "__main__":
    try_wheel(Path(sys.argv[1]).resolve())

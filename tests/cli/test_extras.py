"""The version, and the extras that it names."""

from __future__ import annotations

import re

import pytest

from profile_analyze import __version__
from profile_analyze.cli.extras import EXTRAS
from tests.conftest import ROOT, run_command


@pytest.mark.parametrize(
    ("installed", "extras"),
    [
        (("fleet", "onnx", "plot", "sql", "zstd"), "extras: fleet, onnx, plot, sql, zstd"),
        (("plot",), "extras: plot; not installed: fleet, onnx, sql, zstd"),
        (("onnx", "zstd"), "extras: onnx, zstd; not installed: fleet, plot, sql"),
        ((), "not installed: fleet, onnx, plot, sql, zstd"),
    ],
)
def test_the_version_names_the_extras(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], extras: str
) -> None:
    found = {EXTRAS[extra]: object() for extra in installed}
    monkeypatch.setattr("profile_analyze.cli.extras.find_spec", found.get)
    outcome = run_command("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"profile_analyze {__version__} ({extras})\n"


def test_installed_extras_are_found() -> None:
    assert run_command("--version").out.endswith(" (extras: fleet, onnx, plot, sql, zstd)\n")


def test_the_extras_are_those_of_the_package() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split("[project.optional-dependencies]\n")[1].split("\n[")[0]
    named = re.findall(r"^(\w+) = \[", section, re.MULTILINE)
    assert set(EXTRAS) == set(named) - {"dev", "bench", "fuzz", "mutants"}

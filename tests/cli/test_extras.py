"""The version, and the extras that it names."""

from __future__ import annotations

import re

import pytest

from profile_analyze import __version__
from profile_analyze.cli.options.extras import EXTRAS
from tests.conftest import ROOT, run_command


@pytest.mark.parametrize(
    ("installed", "extras"),
    [
        (("fleet", "onnx", "plot", "sql", "zstd"), "extras: fleet, onnx, plot, sql, zstd"),
        (("plot",), "extras: plot; not installed: fleet, onnx, sql, zstd"),
        (("onnx", "zstd"), "extras: onnx, zstd; not installed: fleet, plot, sql"),
        (("fleet",), "extras: fleet; not installed: onnx, plot, sql, zstd"),
        ((), "not installed: fleet, onnx, plot, sql, zstd"),
    ],
)
def test_the_version_names_the_extras(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], extras: str
) -> None:
    found = {module: object() for extra in installed for module in EXTRAS[extra]}
    monkeypatch.setattr("profile_analyze.cli.options.extras.find_spec", found.get)
    outcome = run_command("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"profile_analyze {__version__} ({extras})\n"


def test_an_extra_that_lacks_a_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in ("dask", "distributed", "fsspec", "pyarrow"):
        found = {module for modules in EXTRAS.values() for module in modules} - {missing}
        monkeypatch.setattr("profile_analyze.cli.options.extras.find_spec", found.__contains__)
        out = run_command("--version").out
        assert out.endswith(" (extras: onnx, plot, zstd; not installed: fleet, sql)\n")


def test_installed_extras_are_found() -> None:
    assert run_command("--version").out.endswith(" (extras: fleet, onnx, plot, sql, zstd)\n")


def test_the_extras_match_pyproject_toml() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split("[project.optional-dependencies]\n")[1].split("\n[")[0]
    packages = {
        name: {*re.findall(r'"(\w+)[>\[]', listed)}
        for name, listed in re.findall(r"^(\w+) = \[(.*?)\]$", section, re.MULTILINE | re.DOTALL)
    }
    packages["sql"] |= packages["fleet"]  # listed as `profile_analyze[fleet]`
    assert set(EXTRAS) == set(packages) - {"dev", "bench", "fuzz", "mutants"}
    for extra, modules in EXTRAS.items():
        # for zstd, the version of Python decides between a package and the standard library
        assert extra == "zstd" or {*modules} == packages[extra] - {"profile_analyze"}

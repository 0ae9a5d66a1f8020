"""Measuring the peak rates of this machine, and remembering them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.analysis import measure
from profile_analyze.cli import peaks as command
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

RESNET = str(PROFILES / "resnet18.json")


def test_rates_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "MATRIX_SIZES", (16, 32))
    monkeypatch.setattr(measure, "ARRAY_BYTES", 1 << 16)
    said: list[str] = []
    measured = measure.measure(2, said.append)
    assert said == ["products of matrices, 2 threads", "copies of large arrays, 2 threads"]
    assert measured.threads == 2
    assert measured.flops > 0 < measured.bandwidth
    assert 0 <= measured.flops_spread < 1
    assert 0 <= measured.bandwidth_spread < 1


def test_this_machine_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def fake(threads: int, _say: object) -> list[float]:
        calls.append(threads)
        return [threads, 1e12 * len(calls), 1e10, 0.05, 0.1]

    monkeypatch.setattr(command, "_measure", fake)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = command.resolve("here:1", lambda _: None)
    assert first.rate(None) == 1e12
    assert first.source == (
        "measured with 1 thread: the best of NumPy's single-precision matrix products and of copies "
        "of large arrays; the rounds differ by 5% (FLOPS) and 10% (bandwidth)"
    )
    assert command.resolve("here:1", lambda _: None) == first
    assert command.resolve("here", lambda _: None).rate(None) == 2e12
    assert command.resolve("here!:1", lambda _: None).rate(None) == 3e12
    assert command.resolve("here", lambda _: None).rate(None) == 2e12
    assert len(calls) == 3
    (tmp_path / "profile_analyze" / "peaks-here.json").write_text("[broken")
    assert command.resolve("here:1", lambda _: None).rate(None) == 4e12
    with pytest.raises(pa.PeaksError, match="here:4: write here"):
        command.resolve("here:4", lambda _: None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "none.json: no such file"),
        ([RESNET, "--where", "tme > 1"], "argument --where: 'tme > 1', at character 1"),
        ([RESNET, "--plot", "a.gif"], "argument --plot: 'a.gif' has none of the suffixes"),
    ],
)
def test_an_invalid_call_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(command, "_measure", lambda *_: pytest.fail("measured"))
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    outcome = run_command(*arguments, "--peaks", "here!")
    assert outcome.code in (1, 2)
    assert outcome.err.startswith(f"profile_analyze: error: {message}")


def test_a_child_process_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    small = command._CHILD.replace(
        "say =", "from profile_analyze.analysis import measure as m\n"
        "m.MATRIX_SIZES, m.ARRAY_BYTES = (16,), 4096\nsay =",
    )  # fmt: skip
    monkeypatch.setattr(command, "_CHILD", small)
    rates = command._measure(1, said.append)
    assert rates[0] == 1
    assert rates[1] > 0 < rates[2]
    assert said == ["products of matrices, one thread", "copies of large arrays, one thread"]
    monkeypatch.setattr(command, "_CHILD", "import sys; sys.exit('no BLAS')")
    with pytest.raises(pa.PeaksError, match="this machine cannot be measured: no BLAS"):
        command._measure(1, said.append)


@pytest.mark.parametrize(
    "kept",
    [
        "[" * 100_000,
        "[5]",
        '{"%s": {"1": [1, 1e999, 1e10, 0.1, 0.1]}}',
        '{"%s": {"1": [true, 1, 1, 0, 0]}}',
    ],
)
def test_a_broken_cache_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    monkeypatch.setattr(command, "_measure", lambda *_: [1, 5e12, 1e10, 0.0, 0.0])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command.resolve("here:1", lambda _: None)
    file = tmp_path / "profile_analyze" / "peaks-here.json"
    machine = next(iter(json.loads(file.read_text())))
    file.write_text(kept.replace("%s", machine))
    assert command.resolve("here:1", lambda _: None).rate(None) == 5e12

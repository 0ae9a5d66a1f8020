"""Measuring the peak rates of this machine, and remembering them."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.cli.inputs import machine_peaks as command
from profile_analyze.roofline import measure
from profile_analyze.roofline.peaks import Measured
from tests.conftest import FIXTURES, PROFILES, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESNET = str(PROFILES / "resnet18.json")
WHEN = "2026-11-22 07:42"


class Machine:
    """A simulated machine: each job advances its clocks by the next of `durations`."""

    def __init__(self, durations: Sequence[float], share: float = 1.0, threads: int = 1) -> None:
        self.now = self.cpu_now = 0.0
        self.durations = iter(durations)
        self.jobs_done = 0
        self.share, self.threads = share, threads

    def job(self) -> float:
        """Do 12 units of work."""
        duration = next(self.durations)
        self.now += duration
        self.cpu_now += duration * self.share * self.threads
        self.jobs_done += 1
        return 12.0

    def best_rate(self, *more: measure.Job) -> measure.Rate:
        """Measure the job, and perhaps others."""
        clock, cpu_clock = (lambda: self.now), (lambda: self.cpu_now)
        return measure.best_rate([self.job, *more], self.threads, clock=clock, cpu_clock=cpu_clock)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make the tests independent of the machine; return the file of the cache."""
    monkeypatch.setattr(command, "_cores", lambda: 2)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "profile_analyze" / "peaks-here.json"


def assert_rate(machine: Machine, best: float, doubt: float) -> None:
    """Check the rate that a machine measures."""
    rate = machine.best_rate()
    assert rate.best == pytest.approx(best)
    assert rate.doubt == pytest.approx(doubt, abs=1e-12)


def dates(when: str) -> dict[str, str]:
    """Return the fields of rates that were measured at the same time."""
    return {"flops_when": when, "bandwidth_when": when}


def resolve(spec: str) -> pa.Peaks:
    """Return the peaks of this machine."""
    return command.PeaksOfMachine.of(spec).find(pa.load(RESNET))


class Measurements:
    """Replaces the processes that measure, and records their numbers of threads."""

    def __init__(self, **rates: Any) -> None:
        self.calls: list[int] = []
        self.rates = rates

    def __call__(self, threads: int, _say: object) -> Measured:
        self.calls.append(threads)
        speed = 1e12 * threads
        default = {"flops": speed, "bandwidth": speed / 10, "flops_doubt": 0.01}
        rates = {**default, "bandwidth_doubt": 0.02, **dates(WHEN)}
        return Measured(threads, **{**rates, **self.rates.get(f"threads_{threads}", {})})


def test_rates_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "MATRIX_SIZES", (16, 32))
    monkeypatch.setattr(measure, "ARRAY_BYTES", 1 << 16)
    monkeypatch.setattr(measure, "TIME_LIMIT_S", 0.01)
    monkeypatch.setattr(measure, "PAUSE_S", 0.0)
    said: list[str] = []
    measured = measure.measure(2, said.append)
    assert said[:4] == [
        "products of matrices, 2 threads",
        "copies of large arrays, 2 threads",
        "products of matrices, 2 threads, series 2",
        "copies of large arrays, 2 threads, series 2",
    ]
    assert measured.threads == 2
    assert measured.flops > 0
    assert measured.bandwidth > 0
    assert 0 <= measured.flops_doubt <= 1
    assert 0 <= measured.bandwidth_doubt <= 1


@pytest.mark.parametrize(
    ("used", "spread", "series", "total_s"),
    [
        (1.0, 0.5, 2, 10.0),  # nothing becomes stable
        (0.1, 0.5, 3, 4.684),  # there is time for a third series, which does not help
        (0.1, 0.0, 2, 2.589),
    ],
)
def test_a_whole_measurement_takes_ten_seconds_at_most(
    monkeypatch: pytest.MonkeyPatch, used: float, spread: float, series: int, total_s: float
) -> None:
    now = 0.0
    limits: list[float] = []

    def advance(duration_s: float) -> None:
        nonlocal now
        now += duration_s

    def best_rate(_jobs: object, _threads: int, limit_s: float) -> measure.Rate:
        limits.append(limit_s)
        advance(limit_s * used)
        return measure.Rate(1e9, spread)

    monkeypatch.setattr(measure, "ARRAY_BYTES", 1 << 10)
    monkeypatch.setattr(measure, "MATRIX_SIZES", (8,))
    monkeypatch.setattr(measure, "perf_counter", lambda: now)
    monkeypatch.setattr(measure, "sleep", advance)
    monkeypatch.setattr(measure, "best_rate", best_rate)
    monkeypatch.setattr(measure, "CPU_STATISTICS", Path("/nowhere"))
    measured = measure.measure(1)
    assert (measured.flops_doubt, measured.bandwidth_doubt) == (spread, spread)
    assert len(limits) == 2 * series
    assert now == pytest.approx(total_s, abs=0.001)


# Each machine first does every job once, to warm up. Its first durations are for this.


def test_a_stable_rate_takes_five_rounds() -> None:
    machine = Machine([9.0, 0.12, 0.3, 0.12, 0.3, 0.1225, 0.12])
    assert_rate(machine, 100.0, 1 - 0.12 / 0.1225)
    assert machine.jobs_done == 6


def test_rounds_go_on_until_the_best_three_agree() -> None:
    machine = Machine([9.0, 0.1, 0.3, 0.3, 0.3, 0.3, 0.1, 0.3, 0.1, 0.3])
    assert_rate(machine, 120.0, 0.0)
    assert machine.jobs_done == 9


def test_an_unstable_rate_is_given_up_after_three_seconds() -> None:
    machine = Machine([0.0, *(0.1 * 1.1**n for n in range(30))])
    assert_rate(machine, 120.0, 1 - 1 / 1.21)
    assert 3 < machine.now < 4
    slow = Machine([0.0, 1.2, 2.4])
    assert_rate(slow, 10.0, 1.0)
    assert slow.jobs_done == 3


def test_rounds_that_agree_are_in_doubt_if_other_programs_had_the_cores() -> None:
    busy = Machine([0.0, *([0.1] * 60)], share=0.3, threads=2)
    assert_rate(busy, 120.0, 0.7)
    assert busy.now > 3
    idle = Machine([0.0, *([0.1] * 5)], share=0.91, threads=2)
    assert_rate(idle, 120.0, 0.0)


def test_the_fastest_job_counts() -> None:
    machine = Machine([0.0, 0.0, *([0.2, 0.1] * 5)])
    assert machine.best_rate(partial(machine.job)).best == pytest.approx(120.0)
    assert machine.jobs_done == 12


def test_this_machine_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measurements()
    monkeypatch.setattr(command, "_measure", measured)
    first = resolve("here:1")
    assert first == pa.Peaks(
        "this machine",
        (("fp32", 1e12),),
        1e11,
        "measured with 1 thread: the best of NumPy's single-precision matrix products and of "
        "copies of large arrays; may be up to 2.0% too low; measured on 2026-11-22 07:42; here:1! "
        "measures again",
        device_kind="cpu",
        threads=1,
        doubt=0.02,
        measured_by="here:1!",
    )
    assert resolve("here:1") == resolve("HERE:1") == first
    assert measured.calls == [1]
    both = resolve("here")
    assert both == resolve("here")
    assert (both.rate(None), both.threads, measured.calls) == (2e12, 2, [1, 2])
    assert both.source.startswith("measured with 2 threads, the faster of 1 and 2: the best of ")
    assert resolve("here:2").rate(None) == 2e12
    assert measured.calls == [1, 2]


@pytest.mark.parametrize(
    ("spec", "calls"), [("here!", [1, 2]), ("here:1!", [1]), ("here!:1", [1]), ("here:2!", [2])]
)
def test_an_exclamation_mark_measures_again(
    monkeypatch: pytest.MonkeyPatch, spec: str, calls: list[int]
) -> None:
    monkeypatch.setattr(command, "_measure", Measurements())
    resolve("here")
    again = Measurements()
    monkeypatch.setattr(command, "_measure", again)
    resolve(spec)
    assert again.calls == calls


def test_one_core_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measurements()
    monkeypatch.setattr(command, "_measure", measured)
    monkeypatch.setattr(command, "_cores", lambda: 1)
    assert resolve("here").source.startswith("measured with 1 thread: the best")
    assert measured.calls == [1]


def test_each_rate_is_the_faster_of_one_thread_and_all(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_copies = Measurements(threads_2={"bandwidth": 5e10, "bandwidth_doubt": 0.03})
    monkeypatch.setattr(command, "_measure", slow_copies)
    peaks = resolve("here")
    assert (peaks.rate(None), peaks.bandwidth, peaks.threads, peaks.doubt) == (2e12, 1e11, 2, 0.02)
    assert peaks.source.startswith(
        "FLO/s measured with 2 threads, bandwidth with 1 thread, the faster of 1 and 2: the best"
    )


def test_a_doubt_of_the_whole_rate_is_no_percentage(
    monkeypatch: pytest.MonkeyPatch, two_cores: Path
) -> None:
    assert not two_cores.exists()
    monkeypatch.setattr(command, "_measure", Measurements(threads_1={"flops_doubt": 0.9999}))
    assert "; may be far too low; measured on " in resolve("here:1").source


def test_rates_that_are_not_stable_are_kept_with_their_doubt(
    monkeypatch: pytest.MonkeyPatch, two_cores: Path
) -> None:
    measured = Measurements(threads_2={"flops_doubt": 0.245})
    monkeypatch.setattr(command, "_measure", measured)
    peaks = resolve("here")
    assert peaks.rate(None) == 2e12
    assert peaks.doubt == 0.245
    assert "; may be up to 24.5% too low; measured on " in peaks.source
    (kept,) = json.loads(two_cores.read_text()).values()
    assert kept == {
        str(threads): {
            "threads": threads, "flops": threads * 1e12, "bandwidth": threads * 1e11,
            "flops_doubt": doubt, "bandwidth_doubt": 0.02, **dates(WHEN),
        }
        for threads, doubt in ((1, 0.01), (2, 0.245))
    }  # fmt: skip
    assert resolve("here") == peaks
    assert measured.calls == [1, 2]
    shown = ("--peaks", "here", "--print-only", "summary")
    on_two_threads = str(FIXTURES / "onnxruntime" / "squeezenet-1.31.json.gz")
    assert "--peaks 'here!' measures again" in run_command(on_two_threads, *shown).err
    # Rates of two threads do not fit this profile, so measuring them again does not help.
    on_one_thread = run_command(RESNET, *shown).err
    assert "--peaks here:1 measures the rates of 1 thread" in on_one_thread
    assert "measures again" not in on_one_thread


@pytest.mark.parametrize(
    "spec", ["here:3", "here:0", "here:", "here:!", "here:x", "here:1:fp16", "here!!", "here:1!!"]
)
def test_wrong_numbers_of_threads_are_errors(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setattr(command, "_measure", lambda *_: pytest.fail("measured"))
    outcome = run_command("none.json", "--peaks", spec)
    if spec == "here!!":
        assert outcome.err.startswith("profile_analyze: error: there is no device 'here!!'; ")
    else:
        assert outcome.err == (
            f"profile_analyze: error: {spec}: write here, or here:N with a number of threads from "
            "1 to 2, the cores of this machine; ! at the end measures again\n"
        )
    assert outcome.code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "none.json: no such file"),
        ([RESNET, "--where", "tme > 1"], "argument --where: 'tme > 1', at character 1"),
        ([RESNET, "--plot", "a.gif"], "argument --plot: 'a.gif' has none of the suffixes"),
        ([RESNET, "--plot", "svg"], "argument --plot: 'svg' has none of the suffixes"),
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
        "say =", "from profile_analyze.roofline import measure as m\n"
        "m.MATRIX_SIZES, m.ARRAY_BYTES, m.TIME_LIMIT_S = (16,), 4096, 0.01\n"
        "m.PAUSE_S = 0\nsay =",
    )  # fmt: skip
    monkeypatch.setattr(command, "_CHILD", small)
    rates = command._measure(1, said.append)
    assert rates.threads == 1
    assert rates.flops > 0
    assert rates.bandwidth > 0
    assert said[:2] == ["products of matrices, one thread", "copies of large arrays, one thread"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", rates.flops_when)
    assert rates.bandwidth_when == rates.flops_when
    monkeypatch.setattr(command, "_CHILD", "import sys; sys.exit('no BLAS')")
    with pytest.raises(pa.PeaksError, match="this machine cannot be measured: no BLAS"):
        command._measure(1, said.append)


def _broken_entries() -> Iterator[str]:
    """Yield cache entries, each with one mistake."""
    fine = {
        "threads": 1, "flops": 7e12, "bandwidth": 1e10, "flops_doubt": 0, "bandwidth_doubt": 0,
        **dates(WHEN),
    }  # fmt: skip
    for change in (
        {"threads": True}, {"threads": 1.0}, {"threads": "1"}, {"flops": 1e31}, {"bandwidth": 0},
        {"flops": None}, {"flops_doubt": 1.1}, {"bandwidth_doubt": -1}, {"more": 1},
        {"flops_when": 5}, {"bandwidth_when": "yesterday"}, {"when": WHEN},
    ):  # fmt: skip
        yield json.dumps({**fine, **change})
    yield '{"threads": 1, "flops": 7e12}'
    yield '{"threads": 1, "flops": 1e999, "bandwidth": 1e10, "flops_doubt": 0, "bandwidth_doubt": 0}'
    yield "[1, 7e12, 1e10, 0.96, 0.1]"  # as earlier versions wrote it


@pytest.mark.parametrize(
    "kept",
    [
        *("[broken", "[" * 100_000, "[5]", "5", '{"%s": 5}', '{"%s": [5]}', '{"%s": {"1": 5}}'),
        *(f'{{"%s": {{"1": {entry}}}}}' for entry in _broken_entries()),
    ],
)
def test_a_broken_or_old_cache_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, two_cores: Path, kept: str
) -> None:
    monkeypatch.setattr(command, "_measure", Measurements())
    resolve("here:1")
    written = two_cores.read_text()
    machine = next(iter(json.loads(written)))
    two_cores.write_text(kept.replace("%s", machine))
    assert resolve("here:1").rate(None) == 1e12
    assert two_cores.read_text() == written


def test_the_cache_keeps_other_machines(monkeypatch: pytest.MonkeyPatch, two_cores: Path) -> None:
    monkeypatch.setattr(command, "_measure", Measurements())
    two_cores.parent.mkdir(parents=True)
    two_cores.write_text('{"another": {"1": 5}}')
    resolve("here:1")
    assert json.loads(two_cores.read_text())["another"] == {"1": 5}


@pytest.mark.parametrize(
    ("series", "load", "rate"),
    [
        ([(100.0, 0.01), (99.0, 0.02)], 0.1, (100.0, 0.01)),
        ([(99.0, 0.02), (100.0, 0.01)], 0.11, (100.0, 0.11)),
        ([(67.0, 0.02), (100.0, 0.01)], 0.0, (100.0, 0.33)),
        ([(67.0, 0.02), (100.0, 0.01), (98.0, 0.2)], 0.0, (100.0, 0.02)),
    ],
)
def test_separate_series_must_agree(
    series: list[tuple[float, float]], load: float, rate: tuple[float, float]
) -> None:
    assert measure.best_of([measure.Rate(*one) for one in series], load) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("fields", "own_s", "load"),
    [
        # user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
        ([100, 0, 0, 100, 0, 0, 0, 0, 0, 0], 1.0, 0.0),
        ([200, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1.0, 0.5),
        ([100, 20, 30, 30, 20, 0, 0, 0, 20, 0], 1.0, 0.25),
        ([75, 0, 0, 100, 0, 0, 0, 25, 0, 0], 0.75, 0.25),
        ([0, 0, 0, 200, 0, 0, 0, 0, 0, 0], 1.0, 0.0),
        ([0] * 10, 1.0, 0.0),
    ],
)
def test_the_load_of_other_programs_by_hand(
    monkeypatch: pytest.MonkeyPatch, fields: list[int], own_s: float, load: float
) -> None:
    monkeypatch.setattr(measure, "_TICKS_PER_S", 100)
    before = [7] * 10
    after = [7 + field for field in fields]
    assert measure.other_load(before, after, own_s) == pytest.approx(load)
    assert measure.other_load([], after, own_s) == 0
    assert measure.other_load(before, [], own_s) == 0


@pytest.mark.parametrize("text", [None, "", "cpu 1 2 3", "cpu a b c d e f g h", "\xe9"])
def test_missing_or_unreadable_statistics_of_cpus_are_empty(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None
) -> None:
    monkeypatch.setattr(measure, "CPU_STATISTICS", tmp_path / "stat")
    if text is not None:
        (tmp_path / "stat").write_text(text, encoding="utf-8")
    assert measure.cpu_statistics() == []
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7 8 9\ncpu0 1\n")
    assert measure.cpu_statistics() == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_lower_rate_does_not_replace_a_higher_one(
    monkeypatch: pytest.MonkeyPatch, two_cores: Path
) -> None:
    monkeypatch.setattr(command, "_measure", Measurements())
    resolve("here:1")
    later = {"flops": 6.7e11, "flops_doubt": 0.027, "bandwidth": 2e11, **dates("2026-11-23 08:00")}
    monkeypatch.setattr(command, "_measure", Measurements(threads_1=later))
    peaks = resolve("here:1!")
    assert (peaks.rate(None), peaks.bandwidth, peaks.doubt) == (1e12, 2e11, 0.02)
    assert peaks.source.endswith(
        "; may be up to 2.0% too low; FLO/s measured on 2026-11-22 07:42, bandwidth on 2026-11-23 "
        "08:00; measured again with 1 thread: FLO/s 33.0% lower than before (may be up to 2.7% too "
        "low), so the earlier rate counts, and bandwidth 100.0% higher than before, so the new rate "
        "counts; here:1! measures again"
    )
    (kept,) = json.loads(two_cores.read_text()).values()
    assert (kept["1"]["flops"], kept["1"]["bandwidth"]) == (1e12, 2e11)
    unstable = Measurements(threads_1={"flops": 5e12, "flops_doubt": 0.5})
    monkeypatch.setattr(command, "_measure", unstable)
    assert (resolve("here:1!").rate(None), resolve("here:1").doubt) == (5e12, 0.5)
    confirming = Measurements(threads_1={"flops": 4.9e12, "flops_doubt": 0.01})
    monkeypatch.setattr(command, "_measure", confirming)
    assert resolve("here:1!").rate(None) == 5e12
    assert resolve("here:1").doubt == pytest.approx(0.02)


def test_machines_that_share_a_home_have_their_own_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measurements()
    monkeypatch.setattr(command, "_measure", measured)
    for model in ("A", "B", "A"):
        monkeypatch.setattr(command, "_cpu_model", lambda model=model: model)
        resolve("here:1")
    assert measured.calls == [1, 1]

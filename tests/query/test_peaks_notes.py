"""The notes that say whether peak rates fit the devices of a profile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.cli.inputs.peaks import resolve
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Track
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.notes import Importance
from profile_analyze.query.notes.peaks_advice import cpu_peaks_advice, highest_rates
from profile_analyze.query.notes.roofline import unjudged
from profile_analyze.query.rows import OperatorRows
from profile_analyze.units import parse_quantity, scaled
from profile_analyze.views.judgement import judge
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

RATES = pa.Peaks("made", (("any", 1e15),), 1e15, "by hand", "any")
ON_GPU = RATES._replace(device_kind="gpu")
ON_CPU = RATES._replace(device_kind="cpu", threads=2)
UNKNOWN = Track("npu 0", kind="core")


def notes(peaks: pa.Peaks, *tracks: Track, zero: bool = False) -> tuple[str, ...]:
    """Return the notes if one operator ran on each track, for 1 s, 2 s and so on."""
    profile = profile_of(
        [{"name": f"n{track}", "computation": 1.0, "memory": 1.0} for track in range(len(tracks))],
        [
            {"operator": track, "track": track, "duration_s": 0.0 if zero else track + 1.0}
            for track in range(len(tracks))
        ],
        tracks=tracks,
    )
    found = pa.run(pa.Query(peaks=peaks), profile).notes
    in_summary = pa.summarise(profile, judged_by=pa.Query(peaks=peaks)).notes
    assert in_summary[len(in_summary) - len(found) :] == found
    return found


GPU_OVER_CPU = (
    "the peaks are of a GPU (made), but 1 operator (33.3% of the time) ran on a CPU; on the "
    "machine of the profile, --peaks here measures that CPU; elsewhere, give its two rates; the highest "
    "rates in this profile are --peaks 1.00FLOPS:1.00byte/s, a lower limit unless data was in caches"
)
CPU_ADVICE = (
    "on the machine of the profile, --peaks here measures that CPU; elsewhere, give its two rates; "
    "the highest rates in this profile are --peaks 44.15GFLOPS:55.91GiB/s, a lower limit unless data was "
    "in caches"
)
"""The advice on resnet18.json."""
CPU_OVER_GPU = (
    "the peaks are of a CPU (made), but 1 operator (66.7% of the time) ran on a GPU; name that GPU; "
    "--peaks list shows the known ones"
)
THREADS = (
    "the peaks are of 2 threads, but {} ran on 1 thread; on the machine of the profile, "
    "--peaks here:1 measures the rates of 1 thread"
)
FOUR = CPU._replace(name="four", threads=4)


@pytest.mark.parametrize(
    ("peaks", "tracks", "expected"),
    [
        (ON_GPU, (CPU, STREAM), (GPU_OVER_CPU,)),
        (ON_CPU._replace(threads=1), (CPU, STREAM), (CPU_OVER_GPU,)),
        (ON_CPU, (CPU, STREAM), (CPU_OVER_GPU, THREADS.format("1 operator (33.3% of the time)"))),
        (ON_GPU, (STREAM, UNKNOWN), ()),
        (RATES, (CPU, STREAM, UNKNOWN), ()),
        (ON_CPU, (CPU._replace(threads=2), UNKNOWN), ()),
        (ON_CPU, (CPU._replace(threads=None), UNKNOWN), ()),
        (
            ON_CPU,
            (CPU, FOUR, CPU._replace(threads=2)),
            (
                THREADS.format("1 operator (16.7% of the time)"),
                "the peaks are of 2 threads, but 1 operator (33.3% of the time) ran on 4 threads; "
                "on the machine of the profile, --peaks here:4 measures the rates of 4 threads",
            ),
        ),
        (ON_CPU._replace(doubt=0.03), (CPU._replace(threads=2),) * 2, ()),
        (
            ON_CPU._replace(doubt=0.031, measured_by="here:1!"),
            (CPU._replace(threads=2),) * 2,
            (
                "the peaks may be up to 3.1% too low, because the measurements differ or other "
                "programs ran meanwhile; efficiency is then too high, and lost and gain are too "
                "low; stop other programs; then --peaks 'here:1!' measures again",
            ),
        ),
    ],
)
def test_peaks_of_another_device_get_a_note(
    peaks: pa.Peaks, tracks: tuple[Track, ...], expected: tuple[str, ...]
) -> None:
    assert notes(peaks, *tracks) == expected


def test_only_device_tracks_with_time_count() -> None:
    host = THREAD._replace(device_kind="cpu", threads=1)
    profile = profile_of(
        [{"name": "a", "computation": 1.0, "memory": 1.0}],
        [{"operator": 0, "track": track, "duration_s": 1.0} for track in (0, 1)],
        tracks=(STREAM, host),
    )
    assert pa.run(pa.Query(peaks=ON_GPU), profile).notes == ()
    assert notes(ON_GPU, CPU, STREAM, zero=True) == ()


def test_the_note_on_peaks_of_a_gpu_advises_rates_for_the_cpu() -> None:
    file = str(PROFILES / "resnet18.json")
    outcome = run_command(file, "--peaks", "a100-80gb-sxm", "--print-only", "device")
    assert outcome.err == (
        "note: the peaks are of a GPU (A100 80GB SXM), but 71 operators (100.0% of the time) ran on "
        f"a CPU; {CPU_ADVICE}\n"
    )


def test_peaks_of_a_cpu_are_not_in_the_table() -> None:
    outcome = run_command(str(PROFILES / "resnet18.json"), "--peaks", "auto")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "profile_analyze: error: --peaks auto: the operators ran on a CPU, and the list of "
        f"devices has no CPUs; {CPU_ADVICE}\n"
    )


def test_the_note_on_rates_that_are_too_low_has_the_highest_rates_of_the_profile() -> None:
    file = str(FIXTURES / "onnxruntime" / "squeezenet-1.31.json.gz")
    outcome = run_command(file, "--peaks", "100G:20G", "--print-only", "summary")
    assert outcome.err.splitlines()[1] == (
        "note: faster than their roof: 36 operators (89.8% of the time), with an efficiency of up "
        "to 622.1%; the peaks are probably too low; check the device, the dtype and the number of "
        "threads; the highest rates in this profile are --peaks 493.43GFLOPS:115.88GiB/s, a lower "
        "limit unless data was in caches"
    )


def test_the_note_on_too_low_rates_of_this_machine_has_the_highest_rates_of_the_profile() -> None:
    """The profile may come from a faster CPU, whose peaks are unknown."""
    profile = profile_of(
        [{"name": "conv", "computation": 4e15, "memory": 2e9, "compute_dtype": "fp32"}],
        [{"operator": 0, "duration_s": 1.0}],
        tracks=(CPU._replace(threads=2),),
    )
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=ON_CPU))
    highest = (
        "the highest rates in this profile are --peaks 4.00PFLOPS:1.87GiB/s, a lower limit unless "
        "data was in caches"
    )
    assert summary.notes == (
        "faster than their roof: 1 operator (100.0% of the time), with an efficiency of up to "
        "400.0%; the peaks are probably too low; check the device, the dtype and the number of "
        f"threads; {highest}",
    )
    assert (
        "operators that are faster than their roofs take 100.0% of the time: these peaks are too "
        f"low, so the columns efficiency, lost and gain mean nothing; {highest}\n"
    ) in pa.render(pa.Report.of(summary, ()), "plain")


def test_the_advice_on_a_cpu_without_known_rates_has_an_example() -> None:
    file = str(FIXTURES / "tflite" / "run.csv")
    outcome = run_command(file, "--peaks", "auto")
    assert outcome.err == (
        "profile_analyze: error: --peaks auto: the operators ran on a CPU, and the list of "
        "devices has no CPUs; on the machine of the profile, --peaks here measures that CPU; elsewhere, give its "
        "two rates, as in --peaks 768G:51G\n"
    )


def test_rates_below_the_resolution_of_the_clock_are_not_advised() -> None:
    profile = profile_of(
        [
            {"name": "short", "computation": 1e9, "memory": 1e9},
            {"name": "long", "computation": 2e9, "memory": 4.0},
        ],
        [
            {"operator": 0, "duration_s": 1e-7},
            {"operator": 1, "duration_s": 2.0},
        ],
        tracks=(CPU._replace(resolution_s=1e-6),),
    )
    (note,) = (one for one in pa.run(pa.Query(peaks=ON_GPU), profile).notes if "CPU" in one)
    assert "--peaks 1.00GFLOPS:2.00byte/s, a lower limit" in note


@given(
    st.lists(
        st.tuples(st.floats(1e-3, 1e3), st.floats(1.0, 1e12), st.floats(1.0, 1e12)),
        min_size=1,
        max_size=6,
    )
)
def test_the_advised_rates_are_the_highest_of_all_operators(
    operators: list[tuple[float, float, float]],
) -> None:
    profile = profile_of(
        [
            {"name": f"n{n}", "computation": computation, "memory": memory}
            for n, (_, computation, memory) in enumerate(operators)
        ],
        [{"operator": n, "duration_s": time_s} for n, (time_s, _, _) in enumerate(operators)],
        tracks=(CPU,),
    )
    notes_on_cpu = [one for one in pa.run(pa.Query(peaks=ON_GPU), profile).notes if "CPU" in one]
    assert len(notes_on_cpu) == 1
    advised = re.search(r" --peaks (\S+), ", notes_on_cpu[0])
    assert advised is not None
    peaks = pa.parse_peaks(advised[1])
    highest = (
        (peaks.rate(None), max(work / time_s for time_s, work, _ in operators), "FLO/s"),
        (peaks.bandwidth, max(size / time_s for time_s, _, size in operators), "byte/s"),
    )
    for rate, fastest, unit in highest:
        # Rounding up to two decimals adds less than one unit of the last decimal.
        number, prefixed = scaled(fastest, unit)
        step = parse_quantity(f"0.01{prefixed}", unit)
        assert fastest <= rate <= (fastest + step) * (1 + 1e-12), (number, prefixed)


def test_with_the_advised_rates_no_operator_is_faster_than_its_roof() -> None:
    profile = pa.load(FIXTURES / "onnxruntime" / "squeezenet-1.31.json.gz")
    table = pa.run(pa.Query(peaks=pa.parse_peaks("493.43GFLOPS:115.88GiB/s")), profile)
    assert np.nanmax(table["efficiency"]) == pytest.approx(1, abs=1e-4)
    assert np.nanmin(table["lost"]) >= 0
    assert not [note for note in table.notes if as_text(note).startswith("faster than their roof")]


def test_peaks_of_another_kind_of_device_gain_nothing() -> None:
    arguments = ("--peaks", "a100-80gb-sxm", "--print-only", "summary", "--format", "plain")
    assert run_command(str(PROFILES / "resnet18.json"), *arguments).out == (
        "total device time  103.739 ms\n"
        "total host time    0.896 ms\n"
        "peaks              A100 80GB SXM, 2039 GB/s\n"
        "roof fp32          19.50 TFLOPS, at 9.56 FLO/byte or more\n"
        "memory known       100.0%\n"
        "judged             100.0%\n"
        "these are peaks of a GPU, but operators on a CPU take 100.0% of the time, so the columns efficiency, lost and gain mean nothing; the highest rates in this profile are --peaks 44.15GFLOPS:55.91GiB/s, a lower limit unless data was in caches\n"
        "peaks: PyTorch Lightning's, PyTorch's and nsys-ai's tables; at least two sources agree\n"
    )


@pytest.mark.parametrize(
    ("peaks", "efficiency", "doubtful"), [("100G:20G", "35.8%", False), ("19.5T:2T", "0.2%", True)]
)
def test_a_very_low_efficiency_may_come_from_wrong_peaks(
    peaks: str, efficiency: str, *, doubtful: bool
) -> None:
    arguments = ("--peaks", peaks, "--print-only", "summary", "--format", "plain")
    doubt = (
        f"an efficiency of {efficiency} is very low: either overhead dominates the times, or the "
        "peaks are of another device, dtype or number of threads than the profile\n"
    )
    assert (doubt in run_command(str(PROFILES / "resnet18.json"), *arguments).out) == doubtful


@pytest.mark.parametrize(("seconds_on_gpu", "misfits"), [(1.0, True), (1.1, False)])
def test_peaks_mean_nothing_if_half_of_the_time_is_on_another_kind_of_device(
    seconds_on_gpu: float, *, misfits: bool
) -> None:
    profile = profile_of(
        [{"name": name, "computation": 1e14, "memory": 1.0} for name in "ab"],
        [
            {"operator": track, "track": track, "duration_s": duration_s}
            for track, duration_s in enumerate((1.0, seconds_on_gpu))
        ],
        tracks=(CPU, STREAM),
    )
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=ON_GPU))
    text = pa.render(pa.Report.of(summary, ()), "plain")
    misfit = (
        f"these are peaks of a GPU, but operators on a CPU take {1 / (1 + seconds_on_gpu):.1%} of "
        "the time, so the columns efficiency, lost and gain mean nothing; "
    )
    assert (misfit in text, "times as fast" in text) == (misfits, not misfits)


@pytest.mark.parametrize(
    ("peaks", "rates", "suggestion"),
    [
        ("20G:100G", "20.00 GFLOPS with 100 GB/s", "100G:20G"),
        ("49G:100G", "49.00 GFLOPS with 100 GB/s", "100G:49G"),
        ("19.5G : 1555G", "19.50 GFLOPS with 1555 GB/s", "1555G:19.5G"),
        ("100G:20G", "", None),
        ("44.15G:60G", "", None),  # the rates of a small CPU
        ("50G:100G", "", None),
        ("20GFLOPS:100GB/s", "", None),
    ],
)
def test_rates_that_are_probably_swapped_get_a_suggestion(
    peaks: str, rates: str, suggestion: str | None
) -> None:
    arguments = ("--peaks", peaks, "--print-only", "summary", "--format", "plain")
    outcome = run_command(str(PROFILES / "resnet18.json"), *arguments)
    note = (
        f"note: {rates} is unusual: devices can compute at least 0.5 FLO in the time that a byte "
        f"takes, and FLO/s come first; did you mean {suggestion}?\n"
    )
    assert ("is unusual" in outcome.err) == (suggestion is not None)
    assert suggestion is None or outcome.err.startswith(note)
    too_low = (
        "operators that are faster than their roofs take 99.1% of the time: these peaks are too "
        "low, so the columns efficiency, lost and gain mean nothing; the highest rates in this "
        "profile are --peaks 44.15GFLOPS:55.91GiB/s, a lower limit unless data was in caches\n"
    )
    assert outcome.out.endswith(too_low) == (float(peaks.partition("G")[0]) < 44)


def test_peaks_mean_nothing_if_operators_above_them_take_half_of_the_time() -> None:
    operators = [{"name": name, "computation": 1e12, "memory": 1.0} for name in "ab"]
    for faster_s, is_most in ((0.1, False), (0.5, True)):
        executions = [{"operator": 0, "duration_s": faster_s}, {"operator": 1, "duration_s": 0.5}]
        peaks = ON_GPU._replace(flops=(("fp32", 1.5e12 if is_most else 3e12),), dtype="fp32")
        profile = profile_of(operators, executions)
        summary = pa.summarise(profile, judged_by=pa.Query(peaks=peaks))
        assert ("peaks are too low" in pa.render(pa.Report.of(summary, ()), "plain")) == is_most


def test_operators_that_are_not_judged_get_a_note_if_they_take_enough_time() -> None:
    def unjudged(time: float) -> tuple[str, ...]:
        profile = profile_of(
            [
                {"name": "a", "type": "T", "computation": 1.0, "memory": 1.0},
                {"name": "b", "type": "View"},
            ],
            [{"operator": 0, "duration_s": 1 - time}, {"operator": 1, "duration_s": time}],
        )
        return pa.run(
            pa.Query(peaks=ON_GPU._replace(flops=(("fp32", 1e15),), dtype="fp32")), profile
        ).notes

    dtype = "dtype unknown, assumed to be fp32: 1 operator ({} of the time); --peaks DEVICE:DTYPE chooses another"
    assert unjudged(0.004) == (dtype.format("99.6%"),)
    assert unjudged(0.25) == (
        "not judged: 1 operator (25.0% of the time) of unknown computation, most in View 25.0%; "
        "efficiency, lost and gain leave them out",
        dtype.format("75.0%"),
    )


@pytest.mark.parametrize(
    ("time", "reason"),
    [
        (
            9.0,
            "their data probably stayed in caches, or memory counts a whole input of which they "
            "read only a part; the column lost is negative for these operators, but the "
            "summary counts them as 0; --where 'efficiency <= 100%' leaves them out",
        ),
        (
            8.0,
            "the peaks are probably too low; check the device, the dtype and the number of "
            "threads; the highest rates in this profile are --peaks 3.85PFLOPS:1.00byte/s, a "
            "lower limit unless data was in caches",
        ),
    ],
)
def test_the_share_says_why_operators_are_faster_than_their_roof(time: float, reason: str) -> None:
    profile = profile_of(
        [
            {"name": "a", "computation": 1.0, "memory": 1.0},
            {"name": "b", "computation": 3.85e15, "memory": 1.0},
        ],
        [{"operator": 0, "duration_s": time + 0.5}, {"operator": 1, "duration_s": 1.0}],
    )
    share = f"{1 / (time + 1.5):.1%}"
    assert pa.run(pa.Query(peaks=RATES), profile).notes == (
        f"faster than their roof: 1 operator ({share} of the time), with an efficiency of up to "
        f"385.0%; {reason}",
    )


def test_the_reasons_with_most_time_come_first() -> None:
    profile = profile_of(
        [
            {"name": "view", "type": "View"},
            *({"name": "mul", "computation": 1.0, "memory": 1.0},) * 2,
        ],
        [{"operator": row, "duration_s": time} for row, time in enumerate((1.0, 2.0, 2.0))],
        columns={"optional": {"compute_dtype": Categorical.of([None, "int8", "int8"])}},
    )
    peaks = ON_GPU._replace(flops=(("fp32", 1e15),), dtype="fp32")
    assert pa.run(pa.Query(peaks=peaks), profile).notes == (
        "not judged: 3 operators (100.0% of the time): 2 (80.0%) of int8, for which made has no "
        "known rate (two rates apply to every dtype: --peaks FLOPS:1000000G with the FLO/s in "
        "int8); 1 (20.0%) of unknown computation, most in View 20.0%; efficiency, lost and gain "
        "leave them out",
        "no row of this table is judged, so bound, efficiency, lost and gain are N/A; not judged "
        "in the whole profile: 3 operators (100.0% of the time), mainly operators of int8, for "
        "which made has no known rate (two rates apply to every dtype: --peaks FLOPS:1000000G with "
        "the FLO/s in int8)",
    )


def test_the_note_and_the_summary_agree_on_the_operators_that_are_not_judged() -> None:
    """The note also counts reasons that concern little of the time: here int64 and the memory."""
    profile = profile_of(
        [
            {"name": "mul", "computation": 1e15, "memory": 1.0},
            {"name": "view", "type": "View"},
            {"name": "add", "computation": 1.0, "memory": 1.0},
            {"name": "exp", "computation": 1.0},
            {"name": "pad", "category": "data movement", "computation": 0.0},
        ],
        [{"operator": row, "duration_s": s} for row, s in enumerate((98.5, 0.6, 0.4, 0.3, 0.2))],
        columns={
            "optional": {
                "compute_dtype": Categorical.of(["fp32", None, "int64", "fp32", None]),
            }
        },
    )
    query = pa.Query(peaks=ON_GPU._replace(flops=(("fp32", 1e15),), dtype="fp32"))
    summary = pa.summarise(profile, judged_by=query)
    assert summary.judgement is not None
    assert f"{1 - summary.judgement.judged:.1%}" == "1.5%"
    assert summary.notes == (
        "not judged: 4 operators (1.5% of the time): 1 (0.6%) of unknown computation, most in View "
        "0.6%; 2 (0.5%) of unknown memory; 1 (0.4%) of int64, for which made has no known rate; "
        "efficiency, lost and gain leave them out",
    )


@pytest.mark.parametrize("spec", ["100G:20G", "V100 SXM2"])
@pytest.mark.parametrize("name", ["cnn-train", "cnn-plain", "mix", "gpu"])
def test_each_operator_that_is_not_judged_has_one_reason(name: str, spec: str) -> None:
    (file,) = (FIXTURES / "pytorch").glob(f"{name}.json*")
    query = pa.Query(peaks=pa.parse_peaks(spec))
    rows = OperatorRows(pa.load(str(file)), query)
    reasons = np.sum([chosen for chosen, _, _ in unjudged(rows)], axis=0)
    not_judged = np.isnan(rows["least_time"]) & (rows["time"] > 0)
    assert not_judged.any()
    assert np.array_equal(reasons, not_judged)


def test_a_table_without_a_judged_row_has_an_important_note() -> None:
    profile = profile_of(
        [{"name": "all_reduce", "type": "nccl"}, {"name": "a", "computation": 1.0, "memory": 1.0}],
        [{"operator": row, "duration_s": 2.0 - row} for row in range(2)],
    )
    why = "no row of this table is judged, so bound, efficiency, lost and gain are N/A; not judged in the whole profile: 1 operator (66.7% of the time) of unknown computation, most in nccl 66.7%"
    found = [pa.run(pa.Query(peaks=RATES, top=top), profile).notes for top in (1, 2)]
    assert [why in notes for notes in found] == [True, False]
    assert [note.importance for note in found[0] if note == why] == [Importance.ANSWER]


def test_a_dtype_for_few_operators_is_noted() -> None:
    """The user may expect that the dtype after `--peaks` replaces the dtype of all operators."""

    def found(fp16_time: float) -> list[tuple[str, Importance]]:
        profile = profile_of(
            [{"name": name, "computation": 1.0, "memory": 1.0} for name in "ab"],
            [{"operator": 0, "duration_s": fp16_time}, {"operator": 1, "duration_s": 1.0}],
            columns={"optional": {"compute_dtype": Categorical.of(["fp16", "fp32"])}},
        )
        peaks = TENSOR_CORES._replace(dtype_is_named=True)
        notes = pa.run(pa.Query(peaks=peaks), profile).notes
        return [(one, one.importance) for one in notes if "after --peaks" in one]

    assert found(3.0) == [
        (
            "fp32 after --peaks is only for operators of unknown dtype: it has no effect on 1 "
            "operator (75.0% of the time) in fp16",
            Importance.ANSWER,
        )
    ]
    assert found(1.0) == []


def test_the_highest_rates_are_of_one_kind_of_device() -> None:
    """A CPU never reaches the rates of a GPU in the same profile."""
    profile = profile_of(
        [
            {"name": name, "computation": work, "memory": work}
            for name, work in (("c", 2), ("g", 9))
        ],
        [{"operator": n, "track": n, "duration_s": 1.0 + n} for n in range(2)],
        tracks=(CPU, STREAM),
    )
    for peaks, highest in (
        (RATES, "4.50FLOPS:4.50byte/s"),  # the GPU takes most time
        (ON_CPU, "2.00FLOPS:2.00byte/s"),
        (ON_GPU, "4.50FLOPS:4.50byte/s"),
    ):
        rows = OperatorRows(profile, pa.Query(peaks=peaks))
        assert highest_rates(rows) == highest
        assert "--peaks 2.00FLOPS:2.00byte/s" in cpu_peaks_advice(rows)
    of_unknown_device = profile.changed(tracks=(CPU._replace(device_kind=None), STREAM))
    rows = OperatorRows(of_unknown_device, pa.Query(peaks=RATES))
    assert highest_rates(rows) == "4.50FLOPS:4.50byte/s"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("a100-80gb-sxm", "--peaks a100-80gb-sxm:tf32"),
        ("NVIDIA A100 40GB:fp16", "--peaks a100-40gb:tf32"),
        ("FILE", "--peaks 'a b.toml:tf32'"),
        ("FILE:my-card", "--peaks 'a b.toml:my-card:tf32'"),
    ],
)
def test_advice_on_a_dtype_names_the_device(
    spec: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.toml").write_text('[my-card]\nfp32 = "1T"\ntf32 = "8T"\nbandwidth = "1T"\n')
    assert resolve(spec.replace("FILE", "a b.toml")).with_rate_of("tf32") == expected


TENSOR_CORES = ON_GPU._replace(
    flops=(("fp32", 1e12), ("tf32", 8e12), ("fp16", 16e12)), dtype="fp32"
)


def fp32_notes(peaks: pa.Peaks) -> tuple[str, ...]:
    profile = profile_of(
        [{"name": "conv", "type": "Conv", "computation": 4e12, "memory": 1.0}],
        [{"operator": 0, "duration_s": 1.0}],
        columns={"optional": {"compute_dtype": Categorical.of(["fp32"])}},
    )
    return pa.run(pa.Query(peaks=peaks), profile).notes


def test_operators_in_fp32_that_are_too_fast_probably_ran_in_tf32() -> None:
    assert fp32_notes(TENSOR_CORES) == (
        "faster than their roof: 1 operator (100.0% of the time), with an efficiency of up to "
        "400.0%; operators in fp32 probably ran in tf32, and --peaks DEVICE:tf32 uses the rate "
        "of tf32; otherwise, check the device",
    )
    assert fp32_notes(TENSOR_CORES._replace(dtype="tf32", dtype_is_named=True)) == ()


@pytest.mark.parametrize(
    ("peaks", "category", "efficiency", "expected"),
    [
        (TENSOR_CORES, "convolution", 4, "lost and gain mean nothing; operators in fp32 probably"),
        (
            TENSOR_CORES,
            "matmul",
            0.5,
            "rate of fp32; if they ran in TF32, --peaks DEVICE:tf32 uses the rate of tf32",
        ),
        (TENSOR_CORES, "elementwise", 0.5, None),
        # A faster peak rate does not change a roof that the bandwidth sets.
        (TENSOR_CORES._replace(bandwidth=1.25), "matmul", 0.5, None),
        (ON_GPU, "matmul", 0.5, None),
    ],
)
def test_the_summary_says_that_operators_in_fp32_may_have_run_in_tf32(
    peaks: pa.Peaks, category: str, efficiency: float, expected: str | None
) -> None:
    profile = profile_of(
        [{"name": "n", "category": category, "computation": efficiency * 1e12, "memory": 1.0}],
        [{"operator": 0, "duration_s": 1.0}],
        columns={"optional": {"compute_dtype": Categorical.of(["fp32"])}},
    )
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=peaks))
    lines = [
        line
        for line in pa.render(pa.Report.of(summary, ()), "plain").splitlines()
        if "DEVICE:tf32" in line
    ]
    assert len(lines) == (expected is not None)
    assert expected is None or expected in lines[0]


def test_the_summary_says_which_number_of_threads_to_measure() -> None:
    """Peaks may be too low because they were measured with fewer threads than the profile has."""
    profile = profile_of(
        [{"name": "n", "computation": 4e15, "memory": 1.0}],
        [{"operator": 0, "duration_s": 1.0}],
        tracks=(FOUR,),
    )
    judgement = judge(pa.Query(peaks=ON_CPU), profile)
    assert judgement.better_rates == (
        "on the machine of the profile, --peaks here:4 measures the rates of 4 threads"
    )


@pytest.mark.parametrize(
    ("peaks", "is_own"), [("493.43GFLOPS:115.88GiB/s", True), ("494GFLOPS:115.88GiB/s", False)]
)
def test_the_summary_says_if_the_peaks_are_the_highest_rates_of_the_profile(
    peaks: str, *, is_own: bool
) -> None:
    file = str(FIXTURES / "onnxruntime" / "squeezenet-1.31.json.gz")
    outcome = run_command(file, "--peaks", peaks, "--print-only", "summary")
    sentence = (
        "peaks: the highest rates in this profile itself, so the roof is the speed of its fastest "
        "operators; the hardware may allow more, or less if data was in caches"
    )
    assert (sentence in " ".join(outcome.out.split())) == is_own


def test_a_dtype_that_replaces_nothing_is_noted() -> None:
    assert fp32_notes(TENSOR_CORES._replace(dtype="fp16", dtype_is_named=True))[:-1] == (
        "fp16 after --peaks is only for operators of unknown dtype: it has no effect on 1 operator "
        "(100.0% of the time) in fp32",
    )


def test_the_summary_says_that_tf32_replaces_fp32() -> None:
    graph = "tests/fixtures/openvino/resnet50-2026.4.xml.gz"
    lines = run_command(graph, "--peaks", "a100-40gb:tf32").out.splitlines()
    assert "roof tf32          156.00 TFLOPS, at 100 FLO/byte or more" in lines
    assert "operators in fp32 use the rate of tf32; their memory is still counted in fp32" in lines


@pytest.mark.parametrize(
    ("track", "category", "is_judged"),
    [
        (STREAM, "copy", False),
        (CPU, "copy", True),
        # A transpose stays in the memory of one device, so no link limits it.
        (STREAM, "data movement", True),
    ],
)
def test_copies_between_devices_are_not_judged(
    track: Track, category: str, *, is_judged: bool
) -> None:
    profile = profile_of(
        [{"name": "moves", "category": category, "memory": 1e9, "computation": 1.0}],
        [{"operator": 0, "duration_s": 1.0}],
        tracks=(track,),
    )
    assert judged_share(profile) == (1.0 if is_judged else 0.0)


@pytest.mark.parametrize(("copied_s", "is_judged"), [(1.0, True), (3.0, False)])
def test_an_operator_that_copies_between_devices_most_of_the_time_is_not_judged(
    copied_s: float, *, is_judged: bool
) -> None:
    profile = profile_of(
        [
            {"name": "aten::copy_", "category": "data movement", "memory": 1e9, "computation": 0.0},
            {"name": "Memcpy HtoD", "category": "copy", "memory": 1e9, "level": "kernel"},
            {"name": "convert", "category": "data movement", "level": "kernel"},
        ],
        [
            {"operator": 0, "duration_s": 1.0, "track": 1},
            {"operator": 1, "duration_s": copied_s, "parent": 0},
            {"operator": 2, "duration_s": 2.0, "parent": 0},
        ],
        tracks=(STREAM, THREAD),
    )
    assert judged_share(profile) == (1.0 if is_judged else 0.0)


def judged_share(profile: Profile) -> float:
    """Return the share of the time that judged operators take.

    If no operator is judged, check that a note names a link, and that the gain is N/A.
    """
    query = pa.Query(peaks=RATES._replace(bandwidth=1e12))
    text = "that copy between devices, limited by a link such as PCIe, not by the peaks; efficiency"
    shown = at_level(profile)
    judgement = judge(query, shown)
    assert any(text in one for one in pa.run(query, shown).notes) == (judgement.judged == 0)
    assert np.isnan(judgement.gain) == (judgement.judged == 0)
    return judgement.judged


def test_the_reason_comes_before_the_note_that_an_order_has_no_effect() -> None:
    profile = profile_of(
        [{"name": name} for name in "ab"], [{"operator": n, "duration_s": 1.0} for n in range(2)]
    )
    notes = pa.run(pa.Query(peaks=RATES, order="lost"), profile).notes
    assert {note[:12]: note.importance for note in notes} == {
        "no row of th": Importance.ANSWER,
        "not judged: ": Importance.INCOMPLETE,
        "lost is N/A ": Importance.CONTEXT,
    }


@pytest.mark.parametrize(
    ("hardware", "spec", "expected"),
    [
        (
            "NVIDIA A100 80GB PCIe",
            "h100-sxm",
            "'NVIDIA A100 80GB PCIe', but the peaks are of H100 SXM; --peaks auto takes those of A100 "
            "80GB PCIe",
        ),
        (
            "NVIDIA A100 80GB PCIe",
            "h100-sxm:fp16",
            "'NVIDIA A100 80GB PCIe', but the peaks are of H100 SXM; --peaks auto:fp16 takes those of "
            "A100 80GB PCIe",
        ),
        (
            "AMD Instinct MI250X",
            "mi250x",
            "'AMD Instinct MI250X', but the peaks are of all dies of MI250X; --peaks auto takes those of "
            "MI250X (one of 2 dies)",
        ),
        (
            "Tesla V100-SXM2-16GB",
            "h100-sxm:fp8",
            "'Tesla V100-SXM2-16GB', but the peaks are of H100 SXM; --peaks auto takes those of V100 SXM2",
        ),
        ("NVIDIA A100 80GB PCIe", "a100-80gb-pcie:fp16", None),
        ("NVIDIA A100 80GB PCIe", "10T:1T", None),
        ("a card", "h100-sxm", None),
        (None, "h100-sxm", None),
    ],
)
def test_peaks_of_another_device_than_the_profile_names_get_a_note(
    hardware: str | None, spec: str, expected: str | None
) -> None:
    profile = profile_of(
        [{"name": "a", "computation": 1.0, "memory": 1.0}], [{"operator": 0, "duration_s": 1.0}]
    )
    profile = profile.changed(origin=profile.origin._replace(hardware=hardware))
    notes = pa.run(pa.Query(peaks=resolve(spec)), profile).notes
    found = [note for note in notes if note.startswith("the profile names")]
    assert found == ([] if expected is None else [f"the profile names {expected}"])

"""The findings that say whether peak rates fit the devices of a profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.cli.inputs.peaks import resolve
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Track
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from profile_analyze.query.fit_of_peaks import highest_rates, unjudged
from profile_analyze.query.rows import OperatorRows
from profile_analyze.units import parse_quantity, scaled
from profile_analyze.views.judgement import judge
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.findings.found import rounded, with_code
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

RATES = pa.Peaks("made", (("any", 1e15),), 1e15, "by hand", "any")
ON_GPU = RATES._replace(device_kind="gpu")
ON_CPU = RATES._replace(device_kind="cpu", threads=2)
UNKNOWN = Track("npu 0", kind="core")


def findings(peaks: pa.Peaks, *tracks: Track, zero: bool = False) -> tuple[Note, ...]:
    """Return the findings if one operator ran on each track, for 1 s, 2 s and so on."""
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
    return tuple(rounded(found, 3))


CPU_ADVICE = (
    "on the machine of the profile, --peaks here measures that CPU; elsewhere, give its two rates; "
    "the highest rates in this profile are --peaks 44.15GFLOPS:55.91GiB/s, a lower limit unless data was "
    "in caches"
)
"""The advice on resnet18.json."""
FOUR = CPU._replace(name="four", threads=4)


def other_kind(of: str, on: str, share: float, highest: str = "") -> Finding:
    return Finding.of(
        "peaks-of-other-kind",
        Kind.WRONG,
        share=share,
        operators=1,
        peaks="made",
        of=of,
        on=on,
        highest=highest,
    )


def other_threads(on: int, share: float) -> Finding:
    return Finding.of("peaks-of-other-threads", Kind.WRONG, share=share, operators=1, of=2, on=on)


CPU_OVER_GPU = other_kind("cpu", "gpu", 0.667)


@pytest.mark.parametrize(
    ("peaks", "tracks", "expected"),
    [
        (ON_GPU, (CPU, STREAM), (other_kind("gpu", "cpu", 0.333, "1.00FLOPS:1.00byte/s"),)),
        (ON_CPU._replace(threads=1), (CPU, STREAM), (CPU_OVER_GPU,)),
        (ON_CPU, (CPU, STREAM), (CPU_OVER_GPU, other_threads(1, 0.333))),
        (ON_GPU, (STREAM, UNKNOWN), ()),
        (RATES, (CPU, STREAM, UNKNOWN), ()),
        (ON_CPU, (CPU._replace(threads=2), UNKNOWN), ()),
        (ON_CPU, (CPU._replace(threads=None), UNKNOWN), ()),
        (
            ON_CPU,
            (CPU, FOUR, CPU._replace(threads=2)),
            (other_threads(1, 0.167), other_threads(4, 0.333)),
        ),
        (ON_CPU._replace(doubt=0.03), (CPU._replace(threads=2),) * 2, ()),
        (
            ON_CPU._replace(doubt=0.031, measured_by="here:1!"),
            (CPU._replace(threads=2),) * 2,
            (
                Finding.of(
                    "unstable-peaks", Kind.WRONG, share=1.0, doubt=0.031, measured_by="here:1!"
                ),
            ),
        ),
    ],
)
def test_peaks_of_another_device_are_found(
    peaks: pa.Peaks, tracks: tuple[Track, ...], expected: tuple[Finding, ...]
) -> None:
    assert findings(peaks, *tracks) == expected


def test_only_device_tracks_with_time_count() -> None:
    host = THREAD._replace(device_kind="cpu", threads=1)
    profile = profile_of(
        [{"name": "a", "computation": 1.0, "memory": 1.0}],
        [{"operator": 0, "track": track, "duration_s": 1.0} for track in (0, 1)],
        tracks=(STREAM, host),
    )
    assert pa.run(pa.Query(peaks=ON_GPU), profile).notes == ()
    assert findings(ON_GPU, CPU, STREAM, zero=True) == ()


def test_peaks_of_a_cpu_are_not_in_the_table() -> None:
    outcome = run_command(str(PROFILES / "resnet18.json"), "--peaks", "auto")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "profile_analyze: error: --peaks auto: the operators ran on a CPU, and the list of "
        f"devices has no CPUs; {CPU_ADVICE}\n"
    )


def faster(
    operators: int,
    share: float,
    efficiency: float,
    reason: str,
    option: str = "",
    highest: str = "",
) -> Finding:
    return Finding.of(
        "faster-than-roof",
        Kind.WRONG,
        share=share,
        operators=operators,
        efficiency=efficiency,
        reason=reason,
        option=option,
        highest=highest,
    )


def test_rates_that_are_too_low_come_with_the_highest_rates_of_the_profile() -> None:
    profile = pa.load(FIXTURES / "onnxruntime" / "squeezenet-1.31.json.gz")
    notes = pa.run(pa.Query(peaks=pa.parse_peaks("100G:20G")), profile).notes
    assert with_code(notes, "faster-than-roof", decimals=3) == [
        faster(36, 0.898, 6.221, "low peaks", highest="493.43GFLOPS:115.88GiB/s")
    ]


def test_too_low_rates_of_this_machine_come_with_the_highest_rates_of_the_profile() -> None:
    """The profile may come from a faster CPU, whose peaks are unknown."""
    profile = profile_of(
        [{"name": "conv", "computation": 4e15, "memory": 2e9, "compute_dtype": "fp32"}],
        [{"operator": 0, "duration_s": 1.0}],
        tracks=(CPU._replace(threads=2),),
    )
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=ON_CPU))
    highest = "4.00PFLOPS:1.87GiB/s"
    assert summary.notes == (faster(1, 1.0, 4.0, "low peaks", highest=highest),)
    assert (
        "operators that are faster than their roofs take 100.0% of the time: these peaks are too "
        "low, so the columns efficiency, lost and gain mean nothing; the highest rates in this "
        f"profile are --peaks {highest}, a lower limit unless data was in caches\n"
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
    (finding,) = with_code(pa.run(pa.Query(peaks=ON_GPU), profile).notes, "peaks-of-other-kind")
    assert finding["highest"] == "1.00GFLOPS:2.00byte/s"


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
    (finding,) = with_code(pa.run(pa.Query(peaks=ON_GPU), profile).notes, "peaks-of-other-kind")
    peaks = pa.parse_peaks(str(finding["highest"]))
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
    assert with_code(table.notes, "faster-than-roof") == []


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
    ("peaks", "flops", "bandwidth", "meant"),
    [
        ("20G:100G", 2e10, 1e11, "100G:20G"),
        ("49G:100G", 4.9e10, 1e11, "100G:49G"),
        ("19.5G : 1555G", 1.95e10, 1.555e12, "1555G:19.5G"),
        ("100G:20G", 0, 0, ""),
        ("44.15G:60G", 0, 0, ""),  # the rates of a small CPU
        ("50G:100G", 0, 0, ""),
        ("20GFLOPS:100GB/s", 0, 0, ""),
    ],
)
def test_rates_that_are_probably_swapped_get_a_suggestion(
    peaks: str, flops: float, bandwidth: float, meant: str
) -> None:
    query = pa.Query(peaks=pa.parse_peaks(peaks))
    swapped = {"flops": flops, "bandwidth": bandwidth, "least": 0.5, "meant": meant}
    expected = [Finding.of("swapped-rates", Kind.WRONG, share=1.0, **swapped)] if meant else []
    table = pa.run(query, pa.load(PROFILES / "resnet18.json"))
    assert with_code(table.notes, "swapped-rates", decimals=3) == expected


def test_peaks_mean_nothing_if_operators_above_them_take_half_of_the_time() -> None:
    operators = [{"name": name, "computation": 1e12, "memory": 1.0} for name in "ab"]
    for faster_s, is_most in ((0.1, False), (0.5, True)):
        executions = [{"operator": 0, "duration_s": faster_s}, {"operator": 1, "duration_s": 0.5}]
        peaks = ON_GPU._replace(flops=(("fp32", 1.5e12 if is_most else 3e12),), dtype="fp32")
        profile = profile_of(operators, executions)
        summary = pa.summarise(profile, judged_by=pa.Query(peaks=peaks))
        assert ("peaks are too low" in pa.render(pa.Report.of(summary, ()), "plain")) == is_most


def not_judged(code: str, operators: int, share: float, *reasons: object) -> Finding:
    kind = Kind.ANSWER if code == "no-row-judged" else Kind.INCOMPLETE
    return Finding.of(code, kind, share=share, operators=operators, reasons=reasons)


def test_operators_that_are_not_judged_count_if_they_take_enough_time() -> None:
    def notes(time: float) -> tuple[Note, ...]:
        profile = profile_of(
            [
                {"name": "a", "type": "T", "computation": 1.0, "memory": 1.0},
                {"name": "b", "type": "View"},
            ],
            [{"operator": 0, "duration_s": 1 - time}, {"operator": 1, "duration_s": time}],
        )
        peaks = ON_GPU._replace(flops=(("fp32", 1e15),), dtype="fp32")
        return tuple(rounded(pa.run(pa.Query(peaks=peaks), profile).notes, 3))

    def assumed(share: float) -> Finding:
        return Finding.of(
            "assumed-dtype",
            Kind.WRONG,
            share=share,
            operators=1,
            dtype="fp32",
            option="--peaks DEVICE:DTYPE",
        )

    assert notes(0.004) == (assumed(0.996),)
    assert notes(0.25) == (
        not_judged("not-judged", 1, 0.25, (1, 0.25, ("computation", (("View", 0.25),)))),
        assumed(0.75),
    )


@pytest.mark.parametrize(
    ("time", "share", "reason", "highest"),
    [(9.0, 0.095, "caches", ""), (8.0, 0.105, "low peaks", "3.85PFLOPS:1.00byte/s")],
)
def test_the_share_says_why_operators_are_faster_than_their_roof(
    time: float, share: float, reason: str, highest: str
) -> None:
    profile = profile_of(
        [
            {"name": "a", "computation": 1.0, "memory": 1.0},
            {"name": "b", "computation": 3.85e15, "memory": 1.0},
        ],
        [{"operator": 0, "duration_s": time + 0.5}, {"operator": 1, "duration_s": 1.0}],
    )
    assert rounded(pa.run(pa.Query(peaks=RATES), profile).notes, 3) == [
        faster(1, share, 3.85, reason, highest=highest),
    ]


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
    reasons = (
        (2, 0.8, ("rate", "int8", "made", "FLOPS:1000000G")),
        (1, 0.2, ("computation", (("View", 0.2),))),
    )
    assert rounded(pa.run(pa.Query(peaks=peaks), profile).notes, 3) == [
        not_judged("not-judged", 3, 1.0, *reasons),
        not_judged("no-row-judged", 3, 1.0, *reasons),
    ]


def test_the_finding_and_the_summary_agree_on_the_operators_that_are_not_judged() -> None:
    """The finding also counts reasons that concern little of the time: int64 and the memory."""
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
    assert rounded(summary.notes, 3) == [
        not_judged(
            "not-judged",
            4,
            0.015,
            (1, 0.006, ("computation", (("View", 0.006),))),
            (2, 0.005, ("memory",)),
            (1, 0.004, ("rate", "int64", "made", "")),
        ),
    ]


@pytest.mark.parametrize("spec", ["100G:20G", "V100 SXM2"])
@pytest.mark.parametrize("name", ["cnn-train", "cnn-plain", "mix", "gpu"])
def test_each_operator_that_is_not_judged_has_one_reason(name: str, spec: str) -> None:
    (file,) = (FIXTURES / "pytorch").glob(f"{name}.json*")
    query = pa.Query(peaks=pa.parse_peaks(spec))
    rows = OperatorRows(pa.load(str(file)), query)
    reasons = np.sum([chosen for chosen, _ in unjudged(rows)], axis=0)
    not_judged = np.isnan(rows["least_time"]) & (rows["time"] > 0)
    assert not_judged.any()
    assert np.array_equal(reasons, not_judged)


def test_a_table_without_a_judged_row_has_an_important_finding() -> None:
    profile = profile_of(
        [{"name": "all_reduce", "type": "nccl"}, {"name": "a", "computation": 1.0, "memory": 1.0}],
        [{"operator": row, "duration_s": 2.0 - row} for row in range(2)],
    )
    why = (1, 0.667, ("computation", (("nccl", 0.667),)))
    expected = not_judged("no-row-judged", 1, 0.667, why)
    notes = [pa.run(pa.Query(peaks=RATES, top=top), profile).notes for top in (1, 2)]
    assert [with_code(one, "no-row-judged", decimals=3) for one in notes] == [[expected], []]


def unused(dtype: str, dtypes: tuple[str, ...], share: float) -> Finding:
    return Finding.of(
        "unused-dtype",
        Kind.ANSWER,
        share=share,
        operators=1,
        dtype=dtype,
        replaces_fp32=False,
        dtypes=dtypes,
    )


@pytest.mark.parametrize(
    ("fp16_time", "expected"), [(3.0, [unused("fp32", ("fp16",), 0.75)]), (1.0, [])]
)
def test_a_dtype_for_few_operators_is_found(fp16_time: float, expected: list[Finding]) -> None:
    """The user may expect that the dtype after `--peaks` replaces the dtype of all operators."""
    profile = profile_of(
        [{"name": name, "computation": 1.0, "memory": 1.0} for name in "ab"],
        [{"operator": 0, "duration_s": fp16_time}, {"operator": 1, "duration_s": 1.0}],
        columns={"optional": {"compute_dtype": Categorical.of(["fp16", "fp32"])}},
    )
    peaks = TENSOR_CORES._replace(dtype_is_named=True)
    assert with_code(pa.run(pa.Query(peaks=peaks), profile).notes, "unused-dtype") == expected


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
        assert highest_rates(rows, "cpu") == "2.00FLOPS:2.00byte/s"
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


def notes_on_fp32(peaks: pa.Peaks) -> tuple[Note, ...]:
    profile = profile_of(
        [{"name": "conv", "type": "Conv", "computation": 4e12, "memory": 1.0}],
        [{"operator": 0, "duration_s": 1.0}],
        columns={"optional": {"compute_dtype": Categorical.of(["fp32"])}},
    )
    return pa.run(pa.Query(peaks=peaks), profile).notes


def test_operators_in_fp32_that_are_too_fast_probably_ran_in_tf32() -> None:
    expected = faster(1, 1.0, 4.0, "tf32", option="--peaks DEVICE:tf32")
    assert notes_on_fp32(TENSOR_CORES) == (expected,)
    assert notes_on_fp32(TENSOR_CORES._replace(dtype="tf32", dtype_is_named=True)) == ()
    # A dtype that replaces nothing.
    in_fp16 = TENSOR_CORES._replace(dtype="fp16", dtype_is_named=True)
    assert notes_on_fp32(in_fp16) == (unused("fp16", ("fp32",), 1.0), expected)


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
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=ON_CPU))
    assert (
        "so the columns efficiency, lost and gain mean nothing; on the machine of the profile, "
        "--peaks here:4 measures the rates of 4 threads\n"
    ) in pa.render(pa.Report.of(summary, ()), "plain")


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

    If no operator is judged, check that a finding names the link, and that the gain is N/A.
    """
    query = pa.Query(peaks=RATES._replace(bandwidth=1e12))
    shown = at_level(profile)
    judgement = judge(query, shown)
    reasons = [one["reasons"] for one in with_code(pa.run(query, shown).notes, "not-judged")]
    assert reasons == [((1, 1.0, ("link",)),)] * (judgement.judged == 0)
    assert np.isnan(judgement.gain) == (judgement.judged == 0)
    return judgement.judged


A100, H100, V100 = "NVIDIA A100 80GB PCIe", "H100 SXM", "Tesla V100-SXM2-16GB"


@pytest.mark.parametrize(
    ("hardware", "spec", "peaks", "reported", "dtype"),
    [
        (A100, "h100-sxm", H100, "A100 80GB PCIe", None),
        (A100, "h100-sxm:fp16", H100, "A100 80GB PCIe", "fp16"),
        ("AMD Instinct MI250X", "mi250x", "MI250X", "MI250X (one of 2 dies)", None),
        (V100, "h100-sxm:fp8", H100, "V100 SXM2", None),
        (A100, "a100-80gb-pcie:fp16", "", "", None),
        (A100, "10T:1T", "", "", None),
        ("a card", "h100-sxm", "", "", None),
        (None, "h100-sxm", "", "", None),
    ],
)
def test_peaks_of_another_device_than_the_profile_names_are_found(
    hardware: str | None, spec: str, peaks: str, reported: str, dtype: str | None
) -> None:
    profile = profile_of(
        [{"name": "a", "computation": 1.0, "memory": 1.0}], [{"operator": 0, "duration_s": 1.0}]
    )
    profile = profile.changed(origin=profile.origin._replace(hardware=hardware))
    notes = pa.run(pa.Query(peaks=resolve(spec)), profile).notes
    names = {"hardware": hardware, "peaks": peaks, "reported": reported, "dtype": dtype}
    expected = [Finding.of("peaks-of-other-device", Kind.WRONG, share=1.0, **names)]
    assert with_code(notes, "peaks-of-other-device") == (expected if peaks else [])

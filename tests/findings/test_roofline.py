"""The sentences of the rules on rooflines."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SHARE = {"share": 0.25, "operators": 2}
LEFT_OUT = "efficiency, lost and gain leave them out"
NONE = "no row of this table is judged, so bound, efficiency, lost and gain are N/A; not judged in "
RATE = "of int8, for which made has no known rate"
TWO_RATES = "two rates apply to every dtype: --peaks FLOPS:1G with the FLO/s in int8"


def faster(reason: str, **values: str) -> Finding:
    defaults = {"option": "", "highest": ""}
    return Finding.of(
        "faster-than-roof",
        Kind.WRONG,
        efficiency=6.221,
        reason=reason,
        **SHARE,
        **{**defaults, **values},
    )


def not_judged(*reasons: object, code: str = "not-judged") -> Finding:
    return Finding.of(code, Kind.INCOMPLETE, reasons=reasons, **SHARE)


def other_device(peaks: str, reported: str, dtype: str | None = None) -> Finding:
    names = {"hardware": "My card", "peaks": peaks, "reported": reported, "dtype": dtype}
    return Finding.of("peaks-of-other-device", Kind.WRONG, **names)


def other_kind(of: str, on: str, highest: str = "") -> Finding:
    kinds = {"peaks": "made", "of": of, "on": on, "highest": highest}
    return Finding.of("peaks-of-other-kind", Kind.WRONG, **SHARE, **kinds)


FASTER = (
    "faster than their roof: 2 operators (25.0% of the time), with an efficiency of up to 622.1%"
)
TOO_LOW = "the peaks are probably too low; check the device, the dtype and the number of threads"
OVER = "the peaks are of a GPU (made), but 2 operators (25.0% of the time) ran on a CPU; on the machine"
SENTENCES = (
    (
        Finding.of("no-host-roof", Kind.INCOMPLETE),
        "host times have no roof: bound, efficiency, lost and gain are N/A",
    ),
    (
        Finding.of("unstable-peaks", Kind.WRONG, share=1.0, doubt=0.031, measured_by="here:1!"),
        "the peaks may be up to 3.1% too low, because the measurements differ or other programs "
        "ran meanwhile; efficiency is then too high, and lost and gain are too low; stop other "
        "programs; then --peaks 'here:1!' measures again",
    ),
    (
        Finding.of(
            "swapped-rates", Kind.WRONG, flops=2e10, bandwidth=1e11, least=0.5, meant="100G:20G"
        ),
        "20.00 GFLOPS with 100 GB/s is unusual: devices can compute at least 0.5 FLO in the time "
        "that a byte takes, and FLO/s come first; did you mean 100G:20G?",
    ),
    (
        other_device("H100", "A100", "fp16"),
        "the profile names 'My card', but the peaks are of H100; --peaks auto:fp16 takes those of "
        "A100",
    ),
    (
        other_device("MI250X", "MI250X (one of 2 dies)"),
        "the profile names 'My card', but the peaks are of all dies of MI250X; --peaks auto takes "
        "those of MI250X (one of 2 dies)",
    ),
    (
        other_kind("gpu", "cpu", "44G:55G"),
        f"{OVER} of the profile, --peaks here measures that CPU; elsewhere, give its two rates; "
        "the highest rates in this profile are --peaks 44G:55G, a lower limit unless data was in "
        "caches",
    ),
    (
        other_kind("gpu", "cpu"),
        f"{OVER} of the profile, --peaks here measures that CPU; elsewhere, give its two rates, "
        "as in --peaks 768G:51G",
    ),
    (
        other_kind("cpu", "gpu"),
        "the peaks are of a CPU (made), but 2 operators (25.0% of the time) ran on a GPU; name "
        "that GPU; --peaks list shows the known ones",
    ),
    (
        Finding.of("peaks-of-other-threads", Kind.WRONG, of=2, on=1, **SHARE),
        "the peaks are of 2 threads, but 2 operators (25.0% of the time) ran on 1 thread; on the "
        "machine of the profile, --peaks here:1 measures the rates of 1 thread",
    ),
    (
        Finding.of("unknown-least-time", Kind.INCOMPLETE, operators=11, in_bodies=0),
        "least_time is N/A for 11 operators: the computation, the memory or the peak rate is "
        "unknown",
    ),
    (
        Finding.of("unknown-least-time", Kind.INCOMPLETE, operators=2, in_bodies=1),
        "least_time is N/A for 2 operators, 1 of them in a body: the computation, the memory or "
        "the peak rate is unknown",
    ),
    (
        Finding.of(
            "unused-dtype",
            Kind.ANSWER,
            dtype="fp8",
            replaces_fp32=False,
            dtypes=["fp16", "int8"],
            **SHARE,
        ),
        "fp8 after --peaks is only for operators of unknown dtype: it has no effect on 2 operators "
        "(25.0% of the time) in fp16 or int8",
    ),
    (
        Finding.of(
            "unused-dtype",
            Kind.ANSWER,
            dtype="tf32",
            replaces_fp32=True,
            dtypes=["fp16"],
            **SHARE,
        ),
        "tf32 after --peaks is only for operators of unknown dtype or fp32: it has no effect on 2 "
        "operators (25.0% of the time) in fp16",
    ),
    (
        Finding.of("groups-faster-than-roof", Kind.WRONG, groups=1, efficiency=1.35),
        "1 group with an efficiency of up to 135.0%, although no operator is above 100%: the time "
        "of a group is a median over runs, which can be less than the sum of its operators' "
        "medians",
    ),
    (
        faster("caches"),
        f"{FASTER}; their data probably stayed in caches, or memory counts a whole input of which "
        "they read only a part; the column lost is negative for these operators, but the summary "
        "counts them as 0; --where 'efficiency <= 100%' leaves them out",
    ),
    (faster("low peaks"), f"{FASTER}; {TOO_LOW}"),
    (
        faster("low peaks", highest="44G:55G"),
        f"{FASTER}; {TOO_LOW}; the highest rates in this profile are --peaks 44G:55G, a lower "
        "limit unless data was in caches",
    ),
    (
        faster("tf32", option="--peaks DEVICE:tf32"),
        f"{FASTER}; operators in fp32 probably ran in tf32, and --peaks DEVICE:tf32 uses the rate "
        "of tf32; otherwise, check the device",
    ),
    (
        not_judged(
            (1, 0.2, ("rate", "int8", "made", "FLOPS:1G")),
            (1, 0.05, ("computation", (("View", 0.04), ("Reshape", 0.01)))),
        ),
        f"not judged: 2 operators (25.0% of the time): 1 (20.0%) {RATE} ({TWO_RATES}); 1 (5.0%) of "
        f"unknown computation, most in View 4.0%, Reshape 1.0%; {LEFT_OUT}",
    ),
    *(
        (not_judged((2, 0.25, reason)), f"not judged: 2 operators (25.0% of the time) {text}")
        for reason, text in (
            (("clock",), f"below the clock's resolution; {LEFT_OUT}"),
            (
                ("stale",),
                f"whose work and times are from different runs, with different shapes; {LEFT_OUT}",
            ),
            (("inside",), f"that leave all work to operators inside them; {LEFT_OUT}"),
            (("no work",), f"that do no work, such as views and allocations; {LEFT_OUT}"),
            (
                ("link",),
                "that copy between devices, limited by a link such as PCIe, not by the peaks; "
                f"{LEFT_OUT}",
            ),
            (("computation", ()), f"of unknown computation; {LEFT_OUT}"),
            (("rate", "int8", "made", ""), f"{RATE}; {LEFT_OUT}"),
            (("memory",), f"of unknown memory; {LEFT_OUT}"),
        )
    ),
    (
        not_judged((2, 0.25, ("memory",)), code="no-row-judged"),
        f"{NONE}the whole profile: 2 operators (25.0% of the time) of unknown memory",
    ),
    (
        not_judged((1, 0.2, ("memory",)), (1, 0.05, ("clock",)), code="no-row-judged"),
        f"{NONE}the whole profile: 2 operators (25.0% of the time), mainly operators of unknown "
        "memory",
    ),
    (
        Finding.of(
            "assumed-dtype", Kind.WRONG, dtype="fp32", option="--peaks DEVICE:DTYPE", **SHARE
        ),
        "dtype unknown, assumed to be fp32: 2 operators (25.0% of the time); --peaks DEVICE:DTYPE "
        "chooses another",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("roofline"), SENTENCES) == []

"""The roofline: formulas by hand and by properties, and the judgement of a whole profile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given

import profile_analyze as pa
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.megengine import MegEngineReader
from tests.conftest import FIXTURES, IS_FULL, PROFILES, examples, run_command
from tests.findings.found import codes_in, rounded, with_code
from tests.in_memory import CPU, STREAM, profile_of
from tests.small import profile_of_document
from tests.strategies import documents

if TYPE_CHECKING:
    from profile_analyze.model.executions import Track

RESNET = str(PROFILES / "resnet18.json")
FASTER = "faster-than-roof"
JUDGED = ("bound", "attainable", "least_time", "efficiency", "lost", "gain")

# type, seconds, FLO, bytes, dtype of the first input
Rows: TypeAlias = "tuple[tuple[str, float, int | None, int | None, str | None], ...]"
OPERATORS: Rows = (
    ("Convolution", 4.0, 2000, 100, "Float32"),
    ("Convolution", 2.0, 2000, 100, "Float16"),
    ("Elemwise", 2.0, 10, 100, None),
    ("Copy", 1.0, 25, 50, "Float32"),
    ("Reshape", 0.5, None, 100, "Float32"),
    ("Elemwise", 0.0, 10, 100, "Float32"),
    ("Convolution", 0.5, 100, 10, "Int32"),
)
PEAKS = pa.Peaks("made", (("fp32", 1000.0), ("fp16", 4000.0)), 100.0, "by hand")


def made(track: str = "gpu0", scale: float = 1.0, operators: Rows = OPERATORS) -> pa.Profile:
    document: dict[str, Any] = {
        "profiler": {
            "device": {
                str(id_): {track: {"start": 0, "kern": 0, "end": time * scale}}
                for id_, (_, time, *_) in enumerate(operators)
            },
            "opr_footprint": {
                str(id_): {"computation": computation, "memory": memory}
                for id_, (_, _, computation, memory, _) in enumerate(operators)
            },
        },
        "graph_exec": {
            "operator": {
                str(id_): {"name": f"n{id_}", "type": type_, "input": [f"v{id_}"]}
                for id_, (type_, *_) in enumerate(operators)
            },
            "var": {
                f"v{id_}": {"mem_plan": {"layout": {"dtype": dtype}} if dtype else None}
                for id_, (*_, dtype) in enumerate(operators)
            },
        },
    }
    return MegEngineReader().read(
        Source.of_bytes("made", json.dumps(document).encode()), OPTIONAL_COLUMNS
    )


def test_operators_by_hand() -> None:
    result = pa.run(pa.Query(order="+id", peaks=PEAKS), made())
    rows = [tuple(row[name] for name in JUDGED) for row in result.rows]
    assert rows == [
        # max(2000 / 1000, 100 / 100) = 2 of 4 s; gain: 10 s in total / 8 s without the lost 2 s
        ("compute", 1000.0, 2.0, 0.5, 2.0, 1.25),
        # in fp16: max(2000 / 4000, 1) = 1 of 2 s; attainable: 20 FLO/byte * 100
        ("memory", 2000.0, 1.0, 0.5, 1.0, 10 / 9),
        # of unknown dtype, so fp32: max(10 / 1000, 1) = 1 of 2 s
        ("memory", 10.0, 1.0, 0.5, 1.0, 10 / 9),
        # moves data, so only memory limits it: 50 / 100 = 0.5 of 1 s
        ("memory", 50.0, 0.5, 0.5, 0.5, 10 / 9.5),
        (None, None, None, None, None, None),  # no formula
        (None, None, None, None, None, None),  # no time
        (None, None, None, None, None, None),  # no rate for Int32
    ]


def test_types_that_only_move_data_are_bounded_by_memory() -> None:
    types = ("Copy", "Concat", "Dimshuffle", "Elemwise")
    profile = made(operators=tuple((type_, 4.0, 2000, 100, "Float32") for type_ in types))
    result = pa.run(pa.Query(order="+id", peaks=PEAKS), profile)
    assert [(row["type"], row["bound"], row["least_time"]) for row in result.rows] == [
        ("Copy", "memory", 1.0),
        ("Concat", "memory", 1.0),
        ("Dimshuffle", "memory", 1.0),
        ("Elemwise", "compute", 2.0),
    ]


def test_only_unsigned_bytes_are_judged_by_the_rate_of_another_dtype() -> None:
    dtypes = ("int8", "uint8", "uint4")
    work: dict[str, Any] = {"type": "Conv", "category": "convolution"}
    profile = profile_of(
        [{"name": dtype, "computation": 2000.0, "memory": 10.0, **work} for dtype in dtypes],
        [{"operator": index, "duration_s": 4.0} for index in range(3)],
        columns={"optional": {"compute_dtype": Categorical.of(dtypes)}},
    )
    peaks = pa.Peaks("made", (("fp32", 1.0), ("int8", 1000.0)), 100.0, "by hand")
    result = pa.run(pa.Query(order="+id", peaks=peaks), profile)
    assert [row["least_time"] for row in result.rows] == [2.0, 2.0, None]
    (finding,) = with_code(result.notes, "not-judged", decimals=3)
    assert finding["reasons"] == ((1, 0.333, ("rate", "uint4", "made", "")),)


@pytest.mark.parametrize("by", ["name", ()])
def test_operators_that_move_no_bytes_are_judged_like_their_groups(by: str | tuple[()]) -> None:
    """An operator, its own group, and a group of all operators have the same values."""
    for type_, judged in (
        ("Copy", (None, None, None, None, None, None)),
        ("Concat", (None, None, None, None, None, None)),
        ("Elemwise", ("compute", 1000.0, 2.0, 0.5, 2.0, 2.0)),
    ):
        profile = made(operators=((type_, 4.0, 2000, 0, "Float32"),))
        operators = pa.run(pa.Query(peaks=PEAKS), profile)
        groups = pa.run(pa.Query(by=by, aggregates="sum", peaks=PEAKS), profile)
        for (row,) in (operators.rows, groups.rows):
            assert tuple(row[name] for name in JUDGED) == judged


def test_operators_that_do_no_work_are_not_judged() -> None:
    """Their time is overhead: no rate of a device says how short it could be."""
    profile = profile_of(
        [
            {"name": "conv", "computation": 2e9, "memory": 1e9},
            {"name": "empty", "computation": 0.0, "memory": 0.0},
            {"name": "copy", "type": "Copy", "category": "copy", "memory": 0.0},
        ],
        [{"operator": n, "duration_s": time_s} for n, time_s in enumerate((4.0, 3.0, 1.0))],
    )
    peaks = pa.parse_peaks("1G:1G")
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=peaks))
    judgement = summary.judgement
    assert judgement is not None
    assert (judgement.judged, judgement.efficiency, judgement.lost_s) == (0.5, 0.5, 2.0)
    reasons = ((2, 0.5, ("no work",)),)
    assert summary.notes == (
        Finding.of("not-judged", Kind.INCOMPLETE, share=0.5, operators=2, reasons=reasons),
    )
    for query in (pa.Query(peaks=peaks), pa.Query(by="name", peaks=peaks)):
        rows = {row["name"]: row for row in pa.run(query, profile).rows}
        assert {rows[name][column] for name in ("empty", "copy") for column in JUDGED} == {None}
        assert [rows["conv"][column] for column in JUDGED] == ["compute", 1e9, 2, 0.5, 2, 8 / 6]


def test_explained_values_of_operators_that_do_no_work_are_not_available() -> None:
    file = str(FIXTURES / "pytorch" / "transformer.json.gz")
    arguments = ("--peaks", "100G:20G", "--where", "name == aten::empty", "--notes", "none")
    outcome = run_command(file, *arguments, "--explain", "least_time")
    assert outcome.out.splitlines()[1:5] == [
        "The first row of this answer is aten::empty (aten::empty, id aten::empty()):",
        "  least_time = the larger of compute_time and memory_time = the larger of N/A and N/A = "
        "N/A; because compute_time and memory_time are N/A",
        "  compute_time = computation / peak rate = 0.00 FLO / 100.00 GFLOPS = N/A; the row does no "
        "work, so it has no roof",
        "  computation = calls in a run * computation of a call = 24 * 0.00 FLO = 0.00 FLO; its "
        "source: derived",
    ]


def test_groups_have_the_attainable_rate_of_their_operators() -> None:
    for query in (
        pa.Query(peaks=PEAKS),
        pa.Query(peaks=PEAKS, measure="host_time"),
        pa.Query(peaks=PEAKS, measure="wait"),
    ):
        operators = pa.run(query.changed(order="+name"), made())["attainable"]
        groups = pa.run(query.changed(by="name", aggregates="sum", order="+name"), made())
        assert groups["attainable"] == pytest.approx(operators, nan_ok=True)
    by_type = pa.run(pa.Query(by="type", peaks=PEAKS, where="type == Elemwise"), made())
    assert by_type["attainable"].tolist() == [10.0]


def test_dtypes_of_the_profile_have_the_rates_of_the_device() -> None:
    rates = (("fp32", 1000.0), ("fp16", 2000.0), ("bf16", 4000.0), ("int8", 8000.0))
    dtypes = (
        *("Float32", "Float16", "BFloat16"),
        *("Int8", "Uint8", "QuantizedS8", "Quantized8Asymm", "QuantizedS32"),
    )
    profile = made(operators=tuple(("Convolution", 16.0, 8000, 1, dtype) for dtype in dtypes))
    result = pa.run(pa.Query(order="+id", peaks=PEAKS._replace(flops=rates)), profile)
    assert [row["compute_time"] for row in result.rows] == [8, 4, 2, 1, 1, 1, 1, None]


def test_groups_by_hand() -> None:
    result = pa.run(pa.Query(by="type", peaks=PEAKS), made())
    rows = {row["type"]: tuple(row[name] for name in JUDGED) for row in result.rows}
    assert rows == {
        # sums: 4000 FLO in at least 3 of 6 s; computing takes 2 + 0.5 s, memory 1 + 1 s
        "Convolution": ("compute", 4000 / 3, 3.0, 0.5, 3.0, 10 / 7),
        "Elemwise": ("memory", 10.0, 1.0, 0.5, 1.0, 10 / 9),
        "Copy": ("memory", 50.0, 0.5, 0.5, 0.5, 10 / 9.5),
        "Reshape": (None, None, None, None, None, None),
    }


def winner(  # one argument for each number
    label: str,
    operators: int,
    judged: int,
    share: float,
    efficiency: float,
    runs_s: float,
    total_s: float,
    gain: float,
    call_s: float,
    *,
    in_all_runs: bool,
) -> pa.Winner:
    numbers = (operators, judged, share, efficiency, in_all_runs, runs_s, total_s, gain)
    return pa.Winner(label, *numbers, (label,), call_s)


def test_the_judgement_by_hand() -> None:
    summary = pa.summarise(made(), judged_by=pa.Query(peaks=PEAKS))
    judgement = summary.judgement
    assert judgement is not None
    assert (judgement.memory_known, judgement.judged) == (1.0, 0.9)
    assert (judgement.efficiency, judgement.lost_s) == (0.5, 4.5)
    assert judgement.winners == (
        winner("Convolution", 3, 2, 0.65, 0.5, 10.0, 7.0, 10 / 7, np.inf, in_all_runs=True),
        winner("Elemwise", 2, 1, 0.2, 0.5, 10.0, 9.0, 10 / 9, np.inf, in_all_runs=True),
        winner("Copy", 1, 1, 0.1, 0.5, 10.0, 9.5, 10 / 9.5, np.inf, in_all_runs=True),
    )
    assert judgement.rates == (("fp32", 1000.0, 0.7), ("fp16", 4000.0, 0.2))
    assert codes_in(summary.notes) == ["not-judged", "assumed-dtype"]
    assert rounded(summary.notes, 3)[0] == Finding.of(
        "not-judged",
        Kind.INCOMPLETE,
        share=0.1,
        operators=2,
        reasons=(
            (1, 0.05, ("computation", (("Reshape", 0.05),))),
            (1, 0.05, ("rate", "int32", "made", "")),
        ),
    )
    assert pa.run(pa.Query(peaks=PEAKS), made()).notes == summary.notes
    assert pa.summarise(made()).judgement is None


def test_the_summary_shows_the_judgement() -> None:
    def shown(profile: pa.Profile) -> str:
        summary = pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS))
        return pa.render(pa.Report.of(summary, ()), "plain")

    assert shown(made()) == (
        "total device time   10.000 s\n"
        "total host time     N/A\n"
        "peaks               made, 1e-07 GB/s\n"
        "roof fp32           1.00 KFLOPS, at 10.0 FLO/byte or more; the operators that it judges take 70.0% of the time\n"
        "roof fp16           4.00 KFLOPS, at 40.0 FLO/byte or more; the operators that it judges take 20.0% of the time\n"
        "memory known        100.0%\n"
        "judged              90.0%\n"
        "efficiency, judged  50.0%\n"
        "lost                4.500 s\n"
        "the operators at their roofs take 5.500 s, 1.82 times as fast; the operators that are not judged (10.0% of the time) keep their times\n"
        "peaks: by hand\n"
        "3 operators of type Convolution (65.0% of the time, 2 of them judged) run at 50.0% of the roof: if these alone ran at the roof, all operators would take 7.000 s, 1.43 times as fast\n"
        "2 operators of type Elemwise (20.0% of the time, 1 of them judged) run at 50.0% of the roof: if these alone ran at the roof, all operators would take 9.000 s, 1.11 times as fast\n"
        "1 operator of type Copy (10.0% of the time) runs at 50.0% of the roof: if this alone ran at the roof, all operators would take 9.500 s, 1.05 times as fast\n"
    )
    assert shown(made('CompNode("cpu0:0" from "xpux:0")', scale=1e-7)) == (
        "total device time   1.000 us\n"
        "total host time     N/A\n"
        "peaks               made, 1e-07 GB/s\n"
        "memory known        100.0%\n"
        "judged              0.0%\n"
        "efficiency, judged  N/A\n"
        "lost                N/A\n"
        "peaks: by hand\n"
    )


def test_the_summary_shows_what_is_judged_by_bandwidth_alone() -> None:
    """Without a rate for int32, only operators that move data are judged in int32."""
    operators: Rows = (("Convolution", 3.0, 2000, 100, "Float32"), ("Copy", 1.0, 0, 50, "Int32"))
    summary = pa.summarise(made(operators=operators), judged_by=pa.Query(peaks=PEAKS))
    lines = pa.render(pa.Report.of(summary, ()), "plain").splitlines()
    assert lines[3:7] == [
        "roof fp32           1.00 KFLOPS, at 10.0 FLO/byte or more; "
        "the operators that it judges take 75.0% of the time",
        "bandwidth alone     the operators that it judges take 25.0% of the time",
        "memory known        100.0%",
        "judged              100.0%",
    ]


@pytest.mark.parametrize(
    ("tracks", "call_us", "memory", "remark"),
    [
        ([STREAM], 4.9, 10, " (a call takes at most 4.90 us on average, mostly the launch)"),
        ([STREAM], 5.1, 10, ""),
        ([STREAM], 4.9, 1.9e6, ""),  # more than half of the time at the roof
        ([CPU], 4.9, 10, ""),
        ([STREAM, CPU], 4.9, 10, ""),
    ],
)
def test_the_summary_says_that_calls_on_a_gpu_are_too_short_for_a_roof(
    tracks: list[Track], call_us: float, memory: float, remark: str
) -> None:
    profile = profile_of(
        [{"name": name, "type": "T", "computation": 1, "memory": memory} for name in "ab"],
        [
            {"operator": 0, "duration_s": 6e-6, "calls": 3},
            {"operator": 1, "duration_s": 3e-6 * call_us, "calls": 3, "track": len(tracks) - 1},
        ],
        tracks=tracks,
    )
    peaks = pa.Peaks("made", (("fp32", 1e12),), 1e12, "by hand")
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=peaks))
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert f" of the roof{remark}: if these alone ran at the roof" in text


@pytest.mark.parametrize(("time", "is_shown"), [(0.04, False), (0.06, True)])
def test_text_on_less_than_a_twentieth_of_a_percent_is_left_out(
    time: float, *, is_shown: bool
) -> None:
    operators: Rows = (
        ("Convolution", 100.0, 2000, 100, "Float32"),
        ("Convolution", time, 20, 1, "Float16"),
        ("Pooling", time, 20, None, "Float32"),
    )
    summary = pa.summarise(made(operators=operators), judged_by=pa.Query(peaks=PEAKS))
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert ("roof fp16" in text) == is_shown
    assert ("operators that it judges take" in text) == is_shown
    assert ("unknown memory take the most time in these types: Pooling 0.1%" in text) == is_shown
    assert ("unknown memory" in text) == is_shown
    assert "roof fp32" in text
    roofline = json.loads(pa.render(pa.Report.of(summary, ()), "json"))["summary"]["roofline"]
    assert [one["dtype"] for one in roofline["rates"]] == ["fp32", "fp16"]
    assert [one["type"] for one in roofline["memory_unknown"]] == ["Pooling"]


def test_roofs_are_shown_if_all_judge_little() -> None:
    operators: Rows = (
        ("Convolution", 100.0, None, 100, "Float32"),
        ("Convolution", 0.01, 2, 1, "Float16"),
    )
    summary = pa.summarise(made(operators=operators), judged_by=pa.Query(peaks=PEAKS))
    assert "roof fp16" in pa.render(pa.Report.of(summary, ()), "plain")


def test_operators_of_unknown_memory_are_counted() -> None:
    profile = pa.load(str(PROFILES / "derived-partfootprint.json"))
    judgement = pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS)).judgement
    assert judgement is not None
    times = profile.measured("time")[:, 0]
    without = np.nansum(times[np.isnan(profile.operators.memory)]) / np.nansum(times)
    assert judgement.memory_known == pytest.approx(1 - without)
    assert judgement.memory_unknown
    assert sum(share for _, share in judgement.memory_unknown) <= without + 1e-9


@pytest.mark.parametrize(("others", "efficiency"), [((), 0.5), ((STREAM,), np.nan)])
def test_copies_on_a_cpu_are_judged_unless_there_is_a_gpu(
    others: tuple[Track, ...], efficiency: float
) -> None:
    profile = profile_of(
        [{"name": "copy", "type": "Copy", "category": "copy", "memory": 100.0}],
        [{"operator": 0, "track": 0, "duration_s": 2.0}],
        tracks=(CPU, *others),
    )
    values = pa.run(pa.Query(peaks=PEAKS), profile)["efficiency"]
    np.testing.assert_array_equal(values, [efficiency])


def test_times_below_the_clock_are_not_judged() -> None:
    on_cpu = made('CompNode("cpu0:0" from "xpux:0")', scale=1e-7)
    on_threads = made('CompNode("multithread4:0" from "multithread4:0")', scale=1e-7)
    # On the GPU, a link limits the copy, so it is not judged.
    on_gpu = made('CompNode("gpu0:0" from "gpu0:0")', scale=1e-7)
    for profile, judged in ((on_cpu, 0), (on_threads, 0), (on_gpu, 3)):
        result = pa.run(pa.Query(peaks=PEAKS), profile)
        assert np.isfinite(result["least_time"]).sum() == judged
    notes = pa.summarise(on_cpu, judged_by=pa.Query(peaks=PEAKS)).notes
    reasons = ((7, 1.0, ("clock",)),)
    assert rounded(notes, 3)[0] == Finding.of(
        "not-judged", Kind.INCOMPLETE, share=1.0, operators=7, reasons=reasons
    )


def test_operators_faster_than_their_roof_are_shown_and_noted() -> None:
    slow = PEAKS._replace(flops=(("fp32", 100.0),), bandwidth=10.0)
    result = pa.run(pa.Query(order="+id", peaks=slow), made())
    assert result["efficiency"][0] == 5.0
    assert result["lost"][0] == -16.0
    (finding,) = with_code(pa.summarise(made(), judged_by=pa.Query(peaks=slow)).notes, FASTER)
    assert (finding.share, finding["operators"], finding["efficiency"]) == (0.7, 3, 5.0)


def test_a_group_above_its_roof_without_such_an_operator_is_noted() -> None:
    # The medians are 3 s for each operator, and 4 s for both together. The least time is 2.7 s each.
    times = ((1.0, 3.0), (3.0, 3.0), (3.0, 1.0))
    profile = profile_of(
        [{"name": name, "type": "a", "computation": 2.7, "memory": 1.0} for name in "xy"],
        [
            {"operator": operator, "run": run, "duration_s": duration_s}
            for run, durations in enumerate(times)
            for operator, duration_s in enumerate(durations)
        ],
        runs=[Run(process) for process in range(3)],
        processes=["a.json", "b.json", "c.json"],
    )
    peaks = PEAKS._replace(flops=(("fp32", 1.0),), bandwidth=1.0)
    table = pa.run(pa.Query(by="type", peaks=peaks), profile)
    assert table["efficiency"].tolist() == [pytest.approx(5.4 / 4)]
    assert with_code(table.notes, "groups-faster-than-roof", decimals=3) == [
        Finding.of("groups-faster-than-roof", Kind.WRONG, groups=1, efficiency=1.35)
    ]


def test_host_and_wait_times_have_no_roof() -> None:
    profile = pa.load(RESNET)
    for measure, code in (("host_time", "no-host-roof"), ("wait", "total-of-measure")):
        result = pa.run(pa.Query(measure=measure, peaks=PEAKS), profile)
        assert codes_in(result.notes) == [code]
        assert np.isnan(result["least_time"]).all()
        assert result["bound"].tolist() == [None] * len(result)


@pytest.mark.slow
def test_no_roof_is_exceeded_and_least_time_and_lost_add_up_to_the_time() -> None:
    judged: list[str] = []

    @examples(200)
    @given(document=documents())
    def check(document: dict[str, Any]) -> None:
        table = pa.run(pa.Query(peaks=pa.parse_peaks("300K:300K")), profile_of_document(document))
        for row in table.rows:
            if row["attainable"] is not None and row["memory"] > 0:
                assert row["attainable"] <= row["intensity"] * 3e5
            if row["attainable"] is not None and row["type"] != "Copy":
                assert row["attainable"] <= 3e5
            if row["lost"] is not None:
                assert row["lost"] + row["least_time"] == pytest.approx(row["time"], abs=1e-18)
                assert row["least_time"] == max(row["compute_time"] or 0, row["memory_time"])
                judged.append(row["bound"])

    check()
    if IS_FULL:  # a few examples may all have the same bound
        assert {"compute", "memory"} <= set(judged)


@examples(100)
@given(document=documents())
def test_groups_add_up_to_the_operators(document: dict[str, Any]) -> None:
    profile, peaks = profile_of_document(document), pa.parse_peaks(f"{2**20}FLOPS:{2**18}B/s")
    operators, groups = (
        pa.run(pa.Query(by=by, peaks=peaks), profile) for by in ((), ("type", "bound"))
    )
    for column in ("least_time", "lost", "compute_time", "memory_time"):
        assert np.nansum(groups[column]) == np.nansum(operators[column])


def test_columns_need_peaks() -> None:
    message = "efficiency needs the peak rates of a device; add --peaks DEVICE "
    for fields in ({"order": "efficiency"}, {"where": "efficiency < 50%"}):
        with pytest.raises(pa.QueryError, match=message):
            pa.Query(**fields)  # type: ignore[arg-type]
    with pytest.raises(pa.QueryError, match="bound needs the peak rates"):
        pa.Query(by="bound")
    result = pa.run(pa.Query(), pa.load(RESNET))
    with pytest.raises(pa.QueryError, match=message):
        _ = result["efficiency"]
    assert "efficiency" not in result.columns
    outcome = run_command("none", "--columns", "efficiency")
    assert outcome.code == 2


def test_the_gain_of_an_operator_is_of_the_runs_in_which_it_ran() -> None:
    profile = profile_of(
        [
            {"name": "conv", "type": "Conv", "computation": 1e3, "memory": 1.0},
            {"name": "rare", "type": "Rare", "computation": 1e3, "memory": 1.0},
        ],
        [
            {"operator": 0, "run": 0, "duration_s": 6.0},
            {"operator": 1, "run": 0, "duration_s": 4.0},
            {"operator": 0, "run": 1, "duration_s": 6.0},
        ],
        runs=(Run(), Run()),
    )
    for by in ((), "name"):
        table = pa.run(pa.Query(by=by, aggregates="sum" if by else (), peaks=PEAKS), profile)
        # Both would take 1 s. The runs take 10 s and 6 s, so 8 s in the median.
        assert table["gain"].tolist() == [8 / (8 - 5), 10 / (10 - 3)]
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS))
    assert summary.judgement is not None
    assert summary.judgement.winners == (
        winner("Conv", 1, 1, 0.75, 1 / 6, 8.0, 3.0, 8 / 3, 6.0, in_all_runs=True),
        winner("Rare", 1, 1, 0.4, 0.25, 10.0, 7.0, 10 / 7, 4.0, in_all_runs=False),
    )
    rare = pa.render(pa.Report.of(summary, ()), "plain").splitlines()[-1]
    assert rare == (
        "1 operator of type Rare (40.0% of the time) runs at 25.0% of the roof: if this alone ran "
        "at the roof, all operators of the runs with this operator would take 7.000 s instead of "
        "10.000 s, 1.43 times as fast"
    )


def test_the_gain_of_a_group_is_of_the_runs_in_which_its_judged_operators_ran() -> None:
    profile = profile_of(
        [
            {"name": "always", "type": "Conv"},
            {"name": "once", "type": "Conv", "computation": 1e3, "memory": 1.0},
        ],
        [
            {"operator": 0, "run": 0, "duration_s": 6.0},
            {"operator": 1, "run": 0, "duration_s": 4.0},
            {"operator": 0, "run": 1, "duration_s": 2.0},
            {"operator": 0, "run": 2, "duration_s": 3.0},
        ],
        runs=(Run(), Run(), Run()),
    )
    table = pa.run(pa.Query(by="type", aggregates="sum", peaks=PEAKS), profile)
    # In the first run, `once` would take 1 s instead of 4 s.
    assert (table["lost"].tolist(), table["gain"].tolist()) == ([3.0], [10 / 7])
    judgement = pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS)).judgement
    assert judgement is not None
    (conv,) = judgement.winners
    assert (conv.in_all_runs, conv.runs_s, conv.total_s) == (False, 10.0, 7.0)

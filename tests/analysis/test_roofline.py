"""The roofline: by hand, by properties, and every way to name the peaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given

import profile_analyze as pa
from profile_analyze.analysis import measure
from profile_analyze.analysis.devices import DEVICES, DTYPES, Device
from profile_analyze.analysis.peaks import find_device
from profile_analyze.cli import peaks as command
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.megengine import MegEngineReader
from profile_analyze.readers.source import Source
from tests.conftest import PROFILES, examples, run_command
from tests.small import profile_of_document
from tests.strategies import documents

if TYPE_CHECKING:
    from pathlib import Path

RESNET = str(PROFILES / "resnet18.json")
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


def made(lane: str = "gpu0", scale: float = 1.0, operators: Rows = OPERATORS) -> pa.Profile:
    document: dict[str, Any] = {
        "profiler": {
            "device": {
                str(id_): {lane: {"start": 0, "kern": 0, "end": time * scale}}
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
        # least: max(2000 / 1000, 100 / 100) = 2 of 4 s; 10 s in all, 8 without what is lost
        ("compute", 1000.0, 2.0, 0.5, 2.0, 1.25),
        # in fp16: max(2000 / 4000, 1) = 1 of 2 s; attainable: 20 FLO/byte * 100
        ("memory", 2000.0, 1.0, 0.5, 1.0, 10 / 9),
        # of unknown dtype, so fp32: max(10 / 1000, 1) = 1 of 2 s
        ("memory", 10.0, 1.0, 0.5, 1.0, 10 / 9),
        # moves data: its "computation" has no roof; 50 / 100 of 1 s
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


@pytest.mark.parametrize("by", ["name", ()])
def test_what_moves_no_bytes(by: str | tuple[()]) -> None:
    """An operator, a group of it alone, and all operators of the kind say the same."""
    for type_, judged in (
        ("Copy", ("memory", None, 0.0, 0.0, 4.0, None)),
        ("Concat", ("memory", None, 0.0, 0.0, 4.0, None)),
        ("Elemwise", ("compute", 1000.0, 2.0, 0.5, 2.0, 2.0)),
    ):
        profile = made(operators=((type_, 4.0, 2000, 0, "Float32"),))
        operators = pa.run(pa.Query(peaks=PEAKS), profile)
        groups = pa.run(pa.Query(by=by, aggregates="sum", peaks=PEAKS), profile)
        for (row,) in (operators.rows, groups.rows):
            assert tuple(row[name] for name in JUDGED) == judged


def test_what_is_attainable_is_of_the_same_operators_in_groups() -> None:
    """The roof of an operator that is not judged is N/A, as it is in no group."""
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
        # sums: 4000 FLO in least 3 s of 6 s; computing takes 2 + 0.5 s, memory 1 + 1
        "Convolution": ("compute", 4000 / 3, 3.0, 0.5, 3.0, 10 / 7),
        "Elemwise": ("memory", 10.0, 1.0, 0.5, 1.0, 10 / 9),
        "Copy": ("memory", 50.0, 0.5, 0.5, 0.5, 10 / 9.5),
        "Reshape": (None, None, None, None, None, None),
    }


def test_the_judgement_by_hand() -> None:
    summary = pa.summarise(made(), judged_by=pa.Query(peaks=PEAKS))
    judgement = summary.judgement
    assert judgement is not None
    assert (judgement.memory_known, judgement.judged) == (1.0, 0.9)
    assert (judgement.efficiency, judgement.lost_s) == (0.5, 4.5)
    assert judgement.winners == (
        pa.Winner("Convolution", 3, 2, 0.65, 0.5, 7.0, 10 / 7),
        pa.Winner("Elemwise", 2, 1, 0.2, 0.5, 9.0, 10 / 9),
        pa.Winner("Copy", 1, 1, 0.1, 0.5, 9.5, 10 / 9.5),
    )
    assert judgement.rates == (("fp32", 1000.0, 0.7), ("fp16", 4000.0, 0.2))
    assert summary.notes == (
        "not judged, because their computation is unknown: 1 operator (5.0% of the time): Reshape 5.0%",
        "dtype unknown, assumed to be fp32: 1 operator",
        "not judged, because made has no known rate for int32: 1 operator",
    )
    assert pa.run(pa.Query(peaks=PEAKS), made()).notes == summary.notes
    assert pa.summarise(made()).judgement is None


def test_how_the_judgement_reads() -> None:
    def shown(profile: pa.Profile) -> str:
        summary = pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS))
        return pa.render(pa.Report.of(summary, ()), "plain")

    assert shown(made()) == (
        "total device time   10\n"
        "total host time     N/A\n"
        "peaks               made, 1e-07 GB/s\n"
        "roof fp32           1.00 KFLOPS, from 10 FLO/byte on; 70.0% of the time\n"
        "roof fp16           4.00 KFLOPS, from 40 FLO/byte on; 20.0% of the time\n"
        "memory known        100.0%\n"
        "judged              90.0%\n"
        "efficiency of that  50.0%\n"
        "lost                4.5 s\n"
        "peaks: by hand\n"
        "3 Convolution (2 of them judged), 65.0% of the time, run at 50.0% of the roof: at the roof the model takes 7.0 s instead of 10.0 s, 1.43 times as fast\n"
        "2 Elemwise (1 of them judged), 20.0% of the time, run at 50.0% of the roof: at the roof the model takes 9.0 s instead of 10.0 s, 1.11 times as fast\n"
        "1 Copy, 10.0% of the time, run at 50.0% of the roof: at the roof the model takes 9.5 s instead of 10.0 s, 1.05 times as fast\n"
    )
    assert shown(made('CompNode("cpu0:0" from "xpux:0")', scale=1e-7)) == (
        "total device time   1e-06\n"
        "total host time     N/A\n"
        "peaks               made, 1e-07 GB/s\n"
        "memory known        100.0%\n"
        "judged              0.0%\n"
        "efficiency of that  N/A\n"
        "lost                N/A\n"
        "peaks: by hand\n"
    )


def test_operators_of_unknown_memory_are_counted() -> None:
    profile = pa.load(str(PROFILES / "derived-partfootprint.json"))
    judgement = pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS)).judgement
    assert judgement is not None
    times = profile.measured("time")[:, 0]
    without = np.nansum(times[np.isnan(profile.operators.memory)]) / np.nansum(times)
    assert judgement.memory_known == pytest.approx(1 - without)
    assert judgement.memory_unknown
    assert sum(share for _, share in judgement.memory_unknown) <= without + 1e-9


def test_times_below_the_clock_are_not_judged() -> None:
    on_cpu = made('CompNode("cpu0:0" from "xpux:0")', scale=1e-7)
    on_threads = made('CompNode("multithread4:0" from "multithread4:0")', scale=1e-7)
    on_gpu = made('CompNode("gpu0:0" from "gpu0:0")', scale=1e-7)
    for profile, judged in ((on_cpu, 0), (on_threads, 0), (on_gpu, 4)):
        result = pa.run(pa.Query(peaks=PEAKS), profile)
        assert np.isfinite(result["least_time"]).sum() == judged
    notes = pa.summarise(on_cpu, judged_by=pa.Query(peaks=PEAKS)).notes
    assert notes[0] == (
        "not judged, because their times are below the clock's resolution: 7 operators (100.0% of the time)"
    )


def test_what_is_faster_than_its_roof_is_shown_and_told() -> None:
    slow = PEAKS._replace(flops=(("fp32", 100.0),), bandwidth=10.0)
    result = pa.run(pa.Query(order="+id", peaks=slow), made())
    assert result["efficiency"][0] == 5.0
    assert result["lost"][0] == -16.0
    notes = pa.summarise(made(), judged_by=pa.Query(peaks=slow)).notes
    assert notes[0].startswith(
        "faster than their roof: 3 operators (70.0% of the time); the peaks, "
    )


def test_host_and_wait_times_have_no_roof() -> None:
    profile = pa.load(RESNET)
    for query, note in (
        (
            pa.Query(measure="host_time", peaks=PEAKS),
            "host times have no roof: bound, efficiency, lost and gain are of the device",
        ),
        (
            pa.Query(measure="wait", peaks=PEAKS),
            "shares are of the total device wait time, 3.3e-05 s",
        ),
    ):
        result = pa.run(query, profile)
        assert result.notes == (note,)
        assert np.isnan(result["least_time"]).all()
        assert result["bound"].tolist() == [None] * len(result)


@examples(200)
@given(document=documents())
def test_no_roof_is_exceeded_and_nothing_is_lost_between(document: dict[str, Any]) -> None:
    result = pa.run(pa.Query(peaks=pa.parse_peaks("1M:300K")), profile_of_document(document))
    for row in result.rows:
        if row["attainable"] is not None:
            assert row["memory"] == 0 or row["attainable"] <= row["intensity"] * 3e5
            assert row["attainable"] <= 1e6 or row["type"] == "Copy"
        if row["lost"] is not None:
            assert row["lost"] + row["least_time"] == pytest.approx(row["time"], abs=1e-18)
            assert row["least_time"] == max(row["compute_time"] or 0, row["memory_time"])


@examples(100)
@given(document=documents())
def test_groups_add_up_to_the_operators(document: dict[str, Any]) -> None:
    profile, peaks = profile_of_document(document), pa.parse_peaks(f"{2**20}:{2**18}")
    operators, groups = (
        pa.run(pa.Query(by=by, peaks=peaks), profile) for by in ((), ("type", "bound"))
    )
    for column in ("least_time", "lost", "compute_time", "memory_time"):
        assert np.nansum(groups[column]) == np.nansum(operators[column])


def test_columns_need_peaks() -> None:
    message = "efficiency needs the peak rates of a device: --peaks \\(see --help\\)"
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


# the ways to name peaks


@pytest.mark.parametrize(
    ("spec", "name", "dtype", "rate", "bandwidth"),
    [
        ("A100-80gb-sxm", "A100 80GB SXM", "fp32", 19.5e12, 2039e9),
        ("a100 80GB pcie", "A100 80GB PCIe", "fp32", 19.5e12, 1935e9),
        ("a100sxm480gb", "A100 80GB SXM", "fp32", 19.5e12, 2039e9),
        ("A100-SXM4-40GB", "A100 40GB", "fp32", 19.5e12, 1555e9),
        ("h100-sxm:fp16", "H100 SXM", "fp16", 989e12, 3350e9),
        ("H100SXM:FP8", "H100 SXM", "fp8", 1979e12, 3350e9),
        ("h200", "H200 SXM", "fp32", 67e12, 4800e9),
        ("v100s", "V100S", "fp32", 16.4e12, 1134e9),
        ("l40s:fp16", "L40S", "fp16", 362e12, 864e9),
        ("19.5T:1555G", "19.5T:1555G", "any", 19.5e12, 1555e9),
        ("1e12:1.5TiB/s", "1e12:1.5TiB/s", "any", 1e12, 1.5 * 2**40),
        ("2 GFLOPS : 10GB/s", "2 GFLOPS : 10GB/s", "any", 2e9, 10e9),
    ],
)
def test_ways_to_name_peaks(
    spec: str, name: str, dtype: str, rate: float, bandwidth: float
) -> None:
    peaks = pa.parse_peaks(spec)
    assert (peaks.name, peaks.dtype) == (name, dtype)
    assert peaks.rate(None) == pytest.approx(rate)
    assert peaks.bandwidth == pytest.approx(bandwidth)
    assert peaks.ridge() == pytest.approx(rate / bandwidth)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("a100", "'a100' may be A100 40GB, A100 80GB SXM, A100 80GB PCIe; write which"),
        ("v100", "'v100' may be V100 SXM2, V100 PCIe; write which"),
        ("rtx 4091", "there is no device 'rtx 4091'; near: RTX 4090, "),
        ("a100-sxm4", "'a100-sxm4' may be A100 40GB, A100 80GB SXM; write which"),
        ("mi300", "there is no device 'mi300'; near: MI300X, "),
        ("l40:fp16", "there is no device 'l40'; near: "),
        ("t", "there is no device 't'; "),
        ("1e308:1e-308", "'1e308:1e-308': a rate must be more than 0, and one of a device"),
        ("xyz", "there is no device 'xyz'; --peaks list shows all, and 19.5T:1555G is FLO/s and"),
        ("", "there is no device ''; --peaks list"),
        ("l40s", "L40S has no known rate for fp32; it has fp16, bf16: write which, as L40S:fp16"),
        (
            "h100-sxm:fp64",
            "H100 SXM has no known rate for fp64; it has fp32, tf32, fp16, bf16, fp8,",
        ),
        (
            "a:b",
            "'a:b': 'a' is not a number with the unit FLOPS, such as 2GFLOPS; write FLO/s and b",
        ),
        (
            "1T:",
            "'1T:': '' is not a number with the unit B/s, such as 10GiB/s; write FLO/s and byte",
        ),
        ("0:1G", "'0:1G': a rate must be more than 0, a"),
        ("1T:-1", "'1T:-1': a rate must be more than 0, a"),
    ],
)
def test_wrong_peaks(spec: str, message: str) -> None:
    with pytest.raises(pa.PeaksError) as caught:
        pa.parse_peaks(spec)
    assert str(caught.value).startswith(message)
    outcome = run_command("none", "--peaks", spec)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)


def test_the_table_of_devices() -> None:
    names = [device.name for device in DEVICES]
    assert len(set(names)) == len(names)
    for device in DEVICES:
        assert set(device.rates) <= set(DTYPES)
        assert device.confidence in ("confirmed", "derived")
        assert device.source
        dtype = next(iter(device.rates))
        for name in (device.name, *device.aliases):
            peaks = pa.parse_peaks(f"{name}:{dtype}")
            assert (peaks.name, peaks.rate(None)) == (device.name, device.rates[dtype] * 1e12)
    shown = run_command("--peaks", "list")
    assert (shown.code, shown.err) == (0, "")
    for name in names:
        assert f"| {name} " in shown.out


FILE = """\
[my-card]
fp32 = "10T"
fp16 = 40e12
bandwidth = "500GB/s"
source = "a data sheet"
aliases = ["card"]

[other]
any = "1T"
bandwidth = 1e9
"""


@pytest.mark.parametrize(
    ("rest", "name", "rate"),
    [(":my-card", "my-card", 10e12), (":card:fp16", "my-card", 40e12), (":Other", "other", 1e12)],
)
def test_a_file_of_devices(tmp_path: Path, rest: str, name: str, rate: float) -> None:
    file = tmp_path / "peaks.toml"
    file.write_text(FILE)
    peaks = command.resolve(f"{file}{rest}", lambda _: None)
    assert (peaks.name, peaks.rate(None)) == (name, rate)
    outcome = run_command(RESNET, "--peaks", f"{file}{rest}", "--print-only", "summary")
    assert f"peaks               {name}, " in outcome.out


def test_a_file_of_one_device_needs_no_name(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(FILE.partition("[other]")[0])
    assert command.resolve(str(file), lambda _: None).name == "my-card"
    assert command.resolve(f"{file}:fp16", lambda _: None).dtype == "fp16"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILE, ": has several devices; write "),
        ("", ": no device is in it; a device is a table such as [my-card]"),
        ("x = 5", ": x: a device is a table such as [my-card], not 5"),
        ("[x", ": is not valid TOML: "),
        ("[x]\nfp32 = 1\n", ": x: a device needs a bandwidth and the rate of some dtype"),
        ("[x]\nbandwidth = 1\n", ": x: a device needs a bandwidth and the rate of some dtype"),
        ("[x]\nfp32 = 'fast'\nbandwidth = 1\n", ": x.fp32: 'fast' is not a number with the unit F"),
        ("[x]\nfp32 = 0\nbandwidth = 1\n", ": x.fp32: a rate must be more than 0, a"),
        ("[x]\nfp32 = 1\nbandwidth = 1\naliases = 'y'\n", ": x.aliases: a list of texts is "),
        ("[x]\nfp32 = 1\nbandwidth = 1\naliases = [5]\n", ": x.aliases: a text is wanted, not 5"),
        ("[x]\nfp32 = 1\nbandwidth = 1\nsource = 5\n", ": x.source: a text is wanted, not 5"),
        ("[x]\nfp31 = 1\n", ": x: unknown key 'fp31'; there are fp64, fp32, tf32, "),
    ],
)
def test_broken_files_of_devices(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "peaks.toml"
    file.write_text(text)
    with pytest.raises(pa.PeaksError) as caught:
        command.resolve(str(file), lambda _: None)
    assert message in str(caught.value)


def test_a_file_that_is_not_there() -> None:
    outcome = run_command("none", "--peaks", "no/such.toml:x")
    assert outcome.err == "profile_analyze: error: no/such.toml: no such file\n"


# this machine


def test_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
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
        "of large arrays; rounds were 5% and 10% apart"
    )
    assert command.resolve("here:1", lambda _: None) == first
    assert command.resolve("here", lambda _: None).rate(None) == 2e12
    assert command.resolve("here!:1", lambda _: None).rate(None) == 3e12
    assert command.resolve("here", lambda _: None).rate(None) == 2e12
    assert len(calls) == 3
    (tmp_path / "profile_analyze" / "peaks-here.json").write_text("[broken")
    assert command.resolve("here:1", lambda _: None).rate(None) == 4e12
    with pytest.raises(pa.PeaksError, match="here:4: there are here"):
        command.resolve("here:4", lambda _: None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "none.json: no such file"),
        ([RESNET, "--where", "tme > 1"], "argument --where: 'tme > 1', at character 1"),
        ([RESNET, "--plot", "a.gif"], "argument --plot: 'a.gif' has none of the suffixes"),
    ],
)
def test_nothing_is_measured_for_a_call_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(command, "_measure", lambda *_: pytest.fail("measured"))
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    outcome = run_command(*arguments, "--peaks", "here!")
    assert outcome.code in (1, 2)
    assert outcome.err.startswith(f"profile_analyze: error: {message}")


def test_a_child_measures(monkeypatch: pytest.MonkeyPatch) -> None:
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


# what is printed


def test_the_summary_in_words() -> None:
    outcome = run_command(RESNET, "--peaks", "100G:20G", "--print-only", "summary")
    assert (
        outcome.out
        == """\
------------------  -----------------------------------------------------
total device time   0.103739
total host time     0.000896
peaks               100G:20G, 20 GB/s
roof                100.00 GFLOPS, from 5 FLO/byte on; 100.0% of the time
memory known        100.0%
judged              100.0%
efficiency of that  36.6%
lost                0.0658 s
------------------  -----------------------------------------------------
peaks: as given
20 ConvolutionForward, 99.1% of the time, run at 35.3% of the roof: at the roof the model takes 0.0372 s instead of 0.104 s, 2.79 times as fast
"""
    )
    assert outcome.err.splitlines() == [
        "note: faster than their roof: 26 operators (0.7% of the time); the peaks, the dtype or the "
        "counted work are wrong for them, or the data stayed in caches; this lowers what is lost",
        "note: not judged, because their times are below the clock's resolution: 20 operators (0.0% of the time)",
    ]


@pytest.mark.parametrize("form", pa.OUTPUT_FORMATS)
def test_every_form_shows_the_roofline(form: str) -> None:
    profile = pa.load(RESNET)
    query = pa.Query(by="type", top=2, peaks=pa.parse_peaks("100G:20G"))
    summary = pa.summarise(profile, judged_by=query)
    text = pa.render(pa.Report.of(summary, (pa.run(query, profile),), source=profile), form)
    if form not in ("csv", "jsonl", "github", "junit"):
        assert "100G:20G" in text
    if form not in ("operators", "github", "junit"):
        for word in ("bound", "efficiency", "lost", "gain", "compute"):
            assert word in text
    assert "nan" not in text


def test_json_of_a_profile_that_cannot_be_judged() -> None:
    path = str(PROFILES / "resnet18-onlywait.json")
    outcome = run_command(path, "--peaks", "1T:1G", "--format", "json")
    roofline = json.loads(outcome.out)["summary"]["roofline"]
    assert (roofline["efficiency"], roofline["winners"]) == (None, [])
    assert roofline["rates"] == []


def test_totals_without_nesting_have_the_verdict() -> None:
    call = (RESNET, "--peaks", "100G:20G", "--print-only", "summary", "--format")
    totals = json.loads(run_command(*call, "jsonl").out)
    assert totals["efficiency"] == pytest.approx(0.366, abs=5e-4)
    assert (
        run_command(*call, "csv")
        .out.splitlines()[0]
        .endswith(",memory_known,judged,efficiency,lost_s")
    )


def test_a_key_is_no_second_column() -> None:
    call = (RESNET, "--peaks", "1T:1G", "--aggregate-by", "bound", "--format", "csv")
    assert run_command(*call).out.splitlines()[0].count("bound") == 1


def test_names_in_any_script_are_told_apart() -> None:
    one, other = (Device(name, {"fp32": 1.0}, 1.0, "") for name in ("显卡甲", "显卡乙"))
    assert find_device("显卡乙", [one, other]) is other
    twins = [Device(name, {"fp32": 1.0}, 1.0, "") for name in ("my-card", "my card")]
    assert find_device("my card", twins) is twins[1]
    with pytest.raises(pa.PeaksError, match="'mycard' may be my-card, my card; write which"):
        find_device("mycard", twins)


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


def test_what_is_no_peaks() -> None:
    with pytest.raises(
        pa.QueryError, match="peaks: '1T:1G' is not of type Peaks; parse_peaks makes one"
    ):
        pa.Query(peaks="1T:1G")  # type: ignore[arg-type]
    with pytest.raises(pa.PeaksError, match="5 is not a text that names peaks"):
        pa.parse_peaks(5)  # type: ignore[arg-type]


def test_what_programs_are_told_of_the_whole() -> None:
    path = str(PROFILES / "resnet18.json")
    query = pa.Query(peaks=pa.parse_peaks("2T:100G"))
    judgement = pa.summarise(pa.load(path), judged_by=query).judgement
    assert judgement is not None
    arguments = ("--peaks", "2T:100G", "--print-only", "summary", "--format", "csv")
    names, values = (line.split(",") for line in run_command(path, *arguments).out.splitlines())
    told = dict(zip(names, values, strict=True))
    for name in ("memory_known", "judged", "efficiency", "lost_s"):
        assert float(told[name]) == pytest.approx(getattr(judgement, name), rel=1e-12)

"""The ways to name peak rates: devices, two numbers, and files of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.cli.inputs import peaks as command
from profile_analyze.report.pages.device_list import typed_name
from profile_analyze.roofline.devices import DEVICES, DTYPES, Device
from profile_analyze.roofline.peaks import find_device
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

RESNET = str(PROFILES / "resnet18.json")


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
        ("1e9:1e9", "1e9:1e9", "any", 1e9, 1e9),
        ("1FLOPS:1B/s", "1FLOPS:1B/s", "any", 1.0, 1.0),
        ("1e12:1.5TiB/s", "1e12:1.5TiB/s", "any", 1e12, 1.5 * 2**40),
        ("2 GFLOPS : 10GB/s", "2 GFLOPS : 10GB/s", "any", 2e9, 10e9),
    ],
)
def test_peaks_can_be_named_in_many_ways(
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
        ("a100", "'a100' is ambiguous; write a100-40gb, a100-80gb-sxm or a100-80gb-pcie"),
        ("v100", "'v100' is ambiguous; write v100-sxm2 or v100-pcie"),
        ("rtx 4091", "there is no device 'rtx 4091'; did you mean rtx-4090"),
        ("a100-sxm4", "'a100-sxm4' is ambiguous; write a100-40gb or a100-80gb-sxm"),
        ("mi300", "there is no device 'mi300'; did you mean mi300x"),
        ("l40:fp16", "there is no device 'l40'; did you mean "),
        ("t", "there is no device 't'; "),
        ("1e308:1e-308", "'1e308:1e-308': a rate must be between 1e-30 and 1e30"),
        (
            "xyz",
            "there is no device 'xyz'; --peaks list shows all devices, --peaks here measures this "
            "machine, and --peaks 19.5T:1555G gives FLO/s and bytes per second",
        ),
        ("", "there is no device ''; --peaks list"),
        ("l40s", "L40S has no known rate for fp32; name one of fp16, bf16, as in l40s:fp16"),
        (
            "a100-80gb-sxm:fp12",
            "A100 80GB SXM has no known rate for fp12; name one of fp32, tf32, fp16, bf16, "
            "int8, as in a100-80gb-sxm:fp32",
        ),
        (
            "nvidia-a100",
            "'nvidia-a100' is ambiguous; write a100-40gb, a100-80gb-sxm or a100-80gb-pcie",
        ),
        (
            "NVIDIA H100 80GB HBM3",
            "there is no device 'NVIDIA H100 80GB HBM3'; did you mean h100-sxm or h100-pcie? --peaks list",
        ),
        ("xyz:fp16", "there is no device 'xyz'; --peaks list shows all"),
        (
            "h100-sxm:fp64",
            "H100 SXM has no known rate for fp64; name one of fp32, tf32, fp16, bf16, fp8,",
        ),
        ("a:b", "there is no device 'a'; --peaks list shows all"),
        (
            "a:1G",
            "'a:1G': 'a' is not a number with the unit FLOPS, such as 2GFLOPS; write FLO/s and b",
        ),
        (
            "1T:",
            "'1T:': '' is not a number with the unit B/s, such as 10GiB/s; write FLO/s and byte",
        ),
        ("0:1G", "'0:1G': a rate must be between 1e-30 and 1e30"),
        ("1T:-1", "'1T:-1': a rate must be between 1e-30 and 1e30"),
        (
            "19.5:1555",
            "'19.5:1555': a rate without a unit is in FLO/s or bytes per second, and no device is "
            "that slow; did you mean 19.5T:1555G?",
        ),
    ],
)
def test_wrong_peaks_are_errors(spec: str, message: str) -> None:
    with pytest.raises(pa.PeaksError) as caught:
        pa.parse_peaks(spec)
    assert str(caught.value).startswith(message)
    outcome = run_command("none", "--peaks", spec)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("Tesla T4", "T4"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("amd-instinct-mi210:fp16", "MI210"),
        ("nvidia", None),
        ("NVIDIA RTX 4090 Laptop GPU", None),
        ("nvidia l40", None),
    ],
)
def test_the_name_of_a_vendor_may_precede_a_device(spec: str, name: str | None) -> None:
    if name:
        assert pa.parse_peaks(spec).name == name
    else:
        with pytest.raises(pa.PeaksError, match=f"there is no device '{spec}'"):
            pa.parse_peaks(spec)


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("19.5:1555G", "19.5T:1555G"),
        ("312T:2.039", "312T:2.039T"),
        ("19500.:1555000", "19500.G:1555000M"),
        ("19500000 : 1555e9", "19500000M:1555e9"),
        ("999999999:10T", "999999999M:10T"),
    ],
)
def test_rates_without_a_unit_get_a_suggestion_that_is_accepted(spec: str, meant: str) -> None:
    with pytest.raises(pa.PeaksError) as caught:
        pa.parse_peaks(spec)
    assert str(caught.value).endswith(f"; did you mean {meant}?")
    assert pa.parse_peaks(meant).name == meant


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ("100:20", "did you mean 100G:20G?"),
        ("8.1:320", "did you mean 8.1T:320G?"),
        ("44:55", "did you mean 44G:55G for a CPU or 44T:55G for a GPU?"),
        ("2000:2", "did you mean 2000T:2T?"),  # no CPU has 2 TB/s
        ("999999999:10", "write both units, as in 19.5T:1555G"),
        ("1:9000G", "write both units, as in 19.5T:1555G"),
    ],
)
def test_only_plausible_pairs_of_rates_are_suggested(spec: str, advice: str) -> None:
    with pytest.raises(pa.PeaksError) as caught:
        pa.parse_peaks(spec)
    assert str(caught.value) == (
        f"{spec!r}: a rate without a unit is in FLO/s or bytes per second, and no device is that "
        f"slow; {advice}"
    )


def test_the_rates_of_all_devices_are_plausible_pairs() -> None:
    for device in DEVICES:
        for rate in device.rates.values():
            with pytest.raises(pa.PeaksError, match=f"{rate:g}T:{device.bandwidth_gb_s:g}G"):
                pa.parse_peaks(f"{rate:g}:{device.bandwidth_gb_s:g}")


def test_devices_are_listed_and_found_by_all_their_names() -> None:
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
    for device in DEVICES:
        assert f"| {typed_name(device)} " in shown.out


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
def test_a_file_may_define_devices(tmp_path: Path, rest: str, name: str, rate: float) -> None:
    file = tmp_path / "peaks.toml"
    file.write_text(FILE)
    peaks = command.resolve(f"{file}{rest}")
    assert (peaks.name, peaks.rate(None)) == (name, rate)
    outcome = run_command(RESNET, "--peaks", f"{file}{rest}", "--print-only", "summary")
    assert f"peaks               {name}, " in outcome.out


def test_a_file_of_one_device_needs_no_name(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(FILE.partition("[other]")[0])
    assert command.resolve(str(file)).name == "my-card"
    assert command.resolve(f"{file}:fp16").dtype == "fp16"
    folder = tmp_path / "cards.toml.d"
    folder.mkdir()
    other = folder / file.name
    other.write_text(file.read_text())
    assert command.resolve(str(other)).name == "my-card"
    assert command.resolve(f"{other}:fp16").dtype == "fp16"


@pytest.mark.parametrize(
    ("line", "kind"), [("kind = 'cpu'", "cpu"), ("kind = 'gpu'", "gpu"), ("", None)]
)
def test_a_file_may_say_the_kind_of_device(tmp_path: Path, line: str, kind: str | None) -> None:
    file = tmp_path / "one.toml"
    file.write_text(f"[x]\nfp32 = '1T'\nbandwidth = '10G'\n{line}\n")
    assert command.resolve(str(file)).device_kind == kind


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[x]\nfp32 = '1T'\nbandwidth = '1G'\nkind = 'npu'\n",
            ": x.kind: 'npu' is not one of cpu, gpu",
        ),
        (FILE, ": has several devices; write "),
        ("", ": has no device; a device is a table such as [my-card]"),
        ("x = 5", ": x: a device is a table such as [my-card], not 5"),
        ("[x", ": is not valid TOML: "),
        ("[x]\nfp32 = 1e12\n", ": x: a device needs a bandwidth and the rate of some dtype"),
        ("[x]\nbandwidth = 1e9\n", ": x: a device needs a bandwidth and the rate of some dtype"),
        ("[x]\nfp32 = 'fast'\nbandwidth = 1\n", ": x.fp32: 'fast' is not a number with the unit F"),
        ("[x]\nfp32 = 0\nbandwidth = 1\n", ": x.fp32: a rate must be between 1e-30 and 1e30"),
        (
            "[x]\nfp32 = 19.5\nbandwidth = 1e12\n",
            ": x.fp32: 19.5 has no unit, so it counts as 19.5 FLO/s; no device is that slow; did "
            'you mean "19.5T"?',
        ),
        ("[x]\nfp32 = '1T'\nbandwidth = '1555'\n", '; did you mean "1555G"?'),
        (
            "[x]\nfp32 = 1e12\nbandwidth = 1e9\naliases = 'y'\n",
            ": x.aliases: must be a list of texts, ",
        ),
        (
            "[x]\nfp32 = 1e12\nbandwidth = 1e9\naliases = [5]\n",
            ": x.aliases: must be a text, not 5",
        ),
        ("[x]\nfp32 = 1e12\nbandwidth = 1e9\nsource = 5\n", ": x.source: must be a text, not 5"),
        ("[x]\nfp31 = 1\n", ": x: unknown key 'fp31'; the keys are fp64, fp32, tf32, "),
    ],
)
def test_broken_files_of_devices_are_errors(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "peaks.toml"
    file.write_text(text)
    with pytest.raises(pa.PeaksError) as caught:
        command.resolve(str(file))
    assert message in str(caught.value)


def test_a_missing_file_of_devices_is_an_error() -> None:
    outcome = run_command("none", "--peaks", "no/such.toml:x")
    assert outcome.err == "profile_analyze: error: no/such.toml: no such file\n"


def test_names_in_any_script_are_distinguished() -> None:
    one, other = (Device(name, {"fp32": 1.0}, 1.0, "") for name in ("显卡甲", "显卡乙"))
    assert find_device("显卡乙", [one, other]) is other
    twins = [Device(name, {"fp32": 1.0}, 1.0, "") for name in ("my-card", "my card")]
    assert find_device("my card", twins) is twins[1]
    with pytest.raises(pa.PeaksError, match="'mycard' is ambiguous; write my-card or my card"):
        find_device("mycard", twins)


def test_values_that_are_not_peaks_are_errors() -> None:
    with pytest.raises(
        pa.QueryError, match="peaks: '1T:1G' is not of type Peaks; parse_peaks makes one"
    ):
        pa.Query(peaks="1T:1G")  # type: ignore[arg-type]
    with pytest.raises(pa.PeaksError, match="5 is not a text that names peaks"):
        pa.parse_peaks(5)  # type: ignore[arg-type]

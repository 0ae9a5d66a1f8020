"""Layer times and descriptions of engines: whole tables of the fixtures, joins, and odd files."""

from __future__ import annotations

import gzip
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from tests.conftest import run_command
from tests.findings.found import rounded, said
from tests.readers.tensorrt.files import convolution, description, macs, tensor, times, written

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = "tests/fixtures/tensorrt/net.profile.json"
GRAPH = "tests/fixtures/tensorrt/net.graph.json"
OLD = "tests/fixtures/tensorrt/old.profile.json"
LACKS = Finding.of(
    "no-description", Kind.INCOMPLETE, dropped_beside="model", file=None, reason=None
)
UNKNOWN = Finding.of("undescribed-work", Kind.INCOMPLETE, operators=3, types=("kgen", "Myelin"))
CONV = convolution("a", [tensor("x", [1, 3, 8, 8])], [tensor("y", [1, 4, 6, 6])], [3, 3], 108)


def test_a_profile_uses_the_description_beside_it() -> None:
    done = run_command(PROFILE, "-t", "3", "--notes", "all")
    assert done.out == (
        "total device time  102.800 us\n"
        "total host time    N/A\n"
        "\n"
        "device self time (us)  share         flops     bandwidth  type         name\n"
        "               31.000  30.2%           N/A           N/A  Myelin       "
        "{ForeignNode[norm...softmax]}\n"
        "               12.400  12.1%  18.17 GFLOPS  548.82 MiB/s  Convolution  conv1 + relu1\n"
        "               11.800  11.5%  14.32 GFLOPS    1.72 GiB/s  Convolution  "
        "conv3 + add + relu3\n"
    )
    assert done.err == (
        f"note: {GRAPH}: {sentence(UNKNOWN)}\n"
        f"note: types, shapes and work are from {GRAPH}: 13 operators matched by name, 0 by "
        "order\n"
        "note: times are means over 200 inferences; how much they vary is not known\n"
    )


def test_each_layer_has_its_times_and_work() -> None:
    columns = (
        "id,type,category,time,time_median,macs,macs_with_bias,conv_kind,computation,memory,params"
    )
    done = run_command(
        PROFILE, "-t", "0", "--order-by", "+id", "--format", "csv", "--columns", columns
    )
    assert done.out.replace("\r\n", "\n") == (
        "id,type,category,time_s,median_time_s,macs,macs_with_bias,conv_kind,computation_flo,"
        "memory_bytes,params\n"
        "0,Reformat,elementwise,6.1e-6,5.978e-6,0,0,,3072.0,8192.0,0\n"
        "1,Convolution,convolution,0.0000124,0.000012152,110592,114688,full,225280.0,7136.0,896\n"
        "2,Convolution,convolution,9.299999999999999e-6,9.114000000000001e-6,36864,40960,"
        "depthwise,73728.0,8608.0,320\n"
        "3,Reformat,data movement,4.2e-6,4.116e-6,0,0,,0.0,12288.0,0\n"
        "4,Convolution,convolution,0.0000118,0.000011564,81920,84480,pointwise,168960.0,21800.0,"
        "660\n"
        "5,Pooling,pooling,3.7e-6,3.6259999999999997e-6,0,0,,2560.0,7680.0,0\n"
        "6,Convolution,convolution,8.1e-6,7.938000000000001e-6,20480,21504,full,40960.0,4880.0,"
        "648\n"
        "7,PointWise,elementwise,4.499999999999999e-6,4.41e-6,0,0,,2048.0,4096.0,0\n"
        "8,NoOp,data movement,0.0,0.0,0,0,,0.0,0.0,0\n"
        "9,kgen,other,2.1e-6,2.058e-6,,,,,4096.0,0\n"
        "10,gemm,matmul,7.2e-6,7.056e-6,10240,10240,,20480.0,12328.0,5120\n"
        "11,kgen,other,2.4e-6,2.352e-6,,,,,80.0,0\n"
        "12,Myelin,other,0.000031,0.00003038,,,,,,0\n"
    )


def test_shapes_dtypes_and_parameters_are_from_the_description() -> None:
    operators = pa.load(PROFILE).operators
    found = {name: operators.categorical(name).values() for name in OPTIONAL_COLUMNS}
    row = 4  # conv3 + add + relu3
    assert found["in_shapes"][row] == ((2, 32, 8, 8), (2, 20, 8, 8))
    assert found["out_shapes"][row] == ((2, 20, 8, 8),)
    assert found["input_dtypes"][row] == ("FP16", "FP16")
    assert found["compute_dtype"].tolist() == (["fp32", "int8", "int8", "int8", *["fp16"] * 9])
    in_blocks = "Channel major FP16 format where channel % 8 == 0"
    assert found["parameters"][row] == (
        ("Activation", "RELU"),
        ("Bias", '{"Type":"Half","Count":20}'),
        ("Dilation", "1x1"),
        ("Groups", 1),
        ("InputFormats", f"{in_blocks}, {in_blocks}"),
        ("Kernel", "1x1"),
        ("LayerType", "CaskConvolution"),
        ("OnnxLayers", "conv3, add, relu3"),
        ("OutMaps", 20),
        ("OutputFormats", in_blocks),
        ("PrePadding", "0x0"),
        ("StreamId", 0),
        ("Stride", "1x1"),
        ("TacticName", "sm80_xmma_fprop_f16"),
        ("TacticValue", "0x4f"),
        ("Weights", '{"Type":"Half","Count":640}'),
    )


def test_the_dtype_of_a_bias_is_not_the_compute_dtype(tmp_path: Path) -> None:
    """The weight is an input, and the bias is a constant in fp32."""
    ins = [tensor("x", [1, 3, 8, 8], "Int8"), tensor("w", [4, 3, 3, 3], "Int8")]
    conv = convolution("a", ins, [tensor("y", [1, 4, 6, 6], "Half")], [3, 3], 0)
    path = tmp_path / "graph.json"
    path.write_bytes(description(conv))
    found = pa.load(path).operators.categorical("compute_dtype").values()
    assert found.tolist() == ["int8"]


def test_a_description_on_its_own_is_a_model() -> None:
    done = run_command(GRAPH, "-t", "2")
    assert done.out == (
        "total computation     537.09 KFLO, unknown for 3 operators\n"
        "total memory traffic  89.05 KiB, unknown for 1 operator\n"
        "operators             13 of 8 types: 4 Convolution, 2 Reformat, 2 kgen, 5 others\n"
        "parameters            7.64 K, 13.93 KiB: 12.55 KiB of fp16, 1.12 KiB of int8, 256.00 byte "
        "of fp32\n"
        "MACs                  260.10 K, unknown for 3 operators\n"
        "activations           33.66 KiB\n"
        "peak of activations   20.00 KiB at conv3 + add + relu3: a2_h 8.00 KiB, a0_h 6.00 KiB, 1 "
        "more\n"
        "weights and peak      33.93 KiB\n"
        "input                 image {2,3,16,16} fp32\n"
        "input                 a0_h {2,20,8,8} fp16\n"
        "output                scores {2,10} fp32\n"
        "\n"
        "    macs  params     memory  out_shapes  type         name\n"
        "110.59 K     896   6.97 KiB  {2,32,8,8}  Convolution  conv1 + relu1\n"
        " 81.92 K     660  21.29 KiB  {2,20,8,8}  Convolution  conv3 + add + relu3\n"
    )
    (others,) = on_operators(
        *("other-optimization-profiles", Kind.CONTEXT, 1, nan),
        dropped_beside="profile", shown=True,
    )  # fmt: skip
    assert pa.load(GRAPH).notes == (no_times("net.profile.json"), others, UNKNOWN)


def no_times(beside: str | None) -> Finding:
    return Finding.of("engine-without-times", Kind.ANSWER, dropped_beside="profile", beside=beside)


def test_a_description_says_where_the_times_are(tmp_path: Path) -> None:
    alone = tmp_path / "net.graph.json"
    alone.write_bytes(description(CONV))
    assert pa.load(alone).notes == (no_times(None),)
    (tmp_path / "net.profile.json.gz").write_bytes(gzip.compress(times(("a", 1.0, 1.0))))
    assert pa.load(alone).notes == (no_times("net.profile.json.gz"),)


def test_ordering_by_an_unknown_time_has_a_note() -> None:
    done = run_command(GRAPH, "-t", "1", "--order-by", "time", "--print-only", "device")
    assert done.err.splitlines()[1] == (
        "note: time is N/A in all rows, so ordering by it has no effect; the file has no times, so "
        "leave out --order-by to rank by work"
    )


@pytest.mark.parametrize("more", [(), (PROFILE,)])
def test_a_model_that_is_named_replaces_the_description(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    other = tmp_path / "other.graph.json"
    other.write_bytes(description({**CONV, "Name": "pool"}))
    done = run_command(
        PROFILE, *more, "--model", str(other), "--where", "name ~ ^(pool|conv1)", "--notes", "none",
        "--columns", "name,type,macs", "--format", "csv",
    )  # fmt: skip
    assert done.out.replace("\r\n", "\n") == (
        "name,type,macs\nconv1 + relu1,,\npool,Convolution,3888\n"
    )


def test_a_profile_without_description_says_what_to_pass() -> None:
    """Early versions write no median."""
    done = run_command(OLD, "--columns", "name,type,time,time_median", "--format", "csv")
    assert done.out.replace("\r\n", "\n") == (
        "name,type,time_s,median_time_s\nconv1 + relu1,,0.0005,\npool,,0.00025,\nfc,,0.0,\n"
    )
    means = "times are means over 4 inferences; how much they vary is not known"
    assert done.err == f"note: {sentence(LACKS)}\nnote: {means}\n"
    done = run_command(OLD, "--model", GRAPH, "--columns", "name,type,macs", "--notes", "all")
    assert done.out.endswith(
        "\n"
        "name           type             macs\n"
        "conv1 + relu1  Convolution  110.59 K\n"
        "pool           Pooling             0\n"
        "fc             N/A               N/A\n"
    )
    assert done.err.splitlines() == [
        f"note: {GRAPH}: 2 operators matched by name, 0 by order, 1 operator (0.0% of the time) "
        "not matched; perhaps this graph is of another build of the model",
        f"note: {GRAPH}: {sentence(UNKNOWN)}",
        f"note: {means}",
    ]


def test_a_profile_has_mean_times_and_a_description_has_none() -> None:
    profile = pa.load(PROFILE)
    assert (profile.origin.format, profile.origin.times) == ("TensorRT profile", "mean")
    assert profile.origin.averaged_over == 200
    assert [(one.side, one.device_kind) for one in profile.tracks] == [("device", "gpu")]
    assert pa.load(GRAPH).origin.times == "absent"


@pytest.mark.parametrize(
    ("profile", "graph", "expected"),
    [
        ("net.profile.json", "net.graph.json", True),
        ("profile.json", "graph.json", True),
        ("net_profile.json.gz", "net_graph.json", True),
        ("net-profile.json", "net-graph.json.gz", True),
        ("net.json", "graph.json", False),
        ("netprofile.json", "netgraph.json", False),
        ("net.profile.json", "other.graph.json", False),
    ],
)
def test_a_description_is_found_by_its_name(
    tmp_path: Path, profile: str, graph: str, *, expected: bool
) -> None:
    for name, content in ((profile, times(("a", 1.0, 1.0))), (graph, description(CONV))):
        is_compressed = name.endswith(".gz")
        (tmp_path / name).write_bytes(gzip.compress(content) if is_compressed else content)
    assert macs(pa.load(tmp_path / profile)) == ([3888] if expected else [-1])


def test_a_description_of_another_engine_has_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, times(("b", 1.0, 1.0)), description(CONV))
    beside = tmp_path / "net.graph.json"
    assert said(pa.load(path).notes) == (
        f"{beside}: 1 operator (100.0% of the time) matches no node of this model; perhaps this "
        "graph is of another build of the model",
    )


def test_layers_that_share_a_name_are_matched_in_order(tmp_path: Path) -> None:
    wide = convolution("a", CONV["Outputs"], [tensor("z", [1, 8, 6, 6])], [1, 1], 32)
    content = times(("a", 1.0, 1.0), ("a", 2.0, 2.0))
    assert macs(pa.load(written(tmp_path, content, description(CONV, wide)))) == [3888, 1152]


def test_tensors_have_distinct_keys_even_if_names_repeat(tmp_path: Path) -> None:
    """The weight of the layer `a` gets the key `a:0`, and its bias `a:1`. Here, a second layer has
    the same name, and a result is called `a:1`."""
    last = convolution("a", CONV["Outputs"], [tensor("a:1", [1, 8, 6, 6])], [1, 1], 32)
    path = tmp_path / "graph.json"
    path.write_bytes(description(CONV, last))
    tensors = pa.load(path).table("tensors")
    assert list(zip(tensors.key.values(), tensors.size, tensors.is_result, strict=True)) == [
        *(("x", 768, False), ("y", 576, False), ("a:1", 1152, True)),
        *(("a:0", 432, False), ("a:1 #2", 16, False)),
        *(("a:0 #2", 128, False), ("a:1 #3", 32, False)),
    ]


def test_the_second_optimization_profile_has_its_own_layers(tmp_path: Path) -> None:
    second = {**CONV, "Name": "a [profile 1]", "Inputs": [tensor("x1", [4, 3, 8, 8])]}
    second["Outputs"] = [tensor("y1", [4, 4, 6, 6])]
    graph = description(CONV, second)
    assert macs(pa.load(written(tmp_path, times(("a", 1.0, 1.0)), graph))) == [3888]
    content = times(("a [profile 1]", 1.0, 1.0))
    profile = pa.load(written(tmp_path, content, graph))
    scopes = profile.operators.scope.values().tolist()
    assert (macs(profile), scopes, len(profile.notes)) == ([4 * 3888], [("profile 1",)], 1)
    model = pa.load(tmp_path / "net.graph.json")
    assert model.operators.scope.values().tolist() == [None, ("profile 1",)]
    summary = pa.summarise(model).model
    assert summary is not None
    assert summary.macs == 3888


def test_only_the_first_of_several_optimization_profiles_is_counted(tmp_path: Path) -> None:
    """An inference uses one optimization profile: the first, if the file has its layers."""
    content = times(("a", 3.0, 3.0), ("a [profile 1]", 1.0, 1.0), ("b [profile 2]", 1.0, 1.0))
    path = str(written(tmp_path, content))
    done = run_command(path, "--columns", "name,scope,time")
    assert done.out == (
        "total device time  3.000 ms\n"
        "total host time    N/A\n"
        "\n"
        "name  scope  device self time (ms)\n"
        "a     N/A                    3.000\n"
    )
    (others,) = on_operators("other-optimization-profiles", Kind.INCOMPLETE, 2, 0.4, shown=False)
    assert rounded(pa.load(path).notes) == [others, LACKS]


@pytest.mark.parametrize("lack", [b"nan", b"-nan", b"inf", b"-nan(ind)", b"nan(snan)"])
def test_times_that_are_missing_are_unknown(lack: bytes, tmp_path: Path) -> None:
    """Early versions write sums instead of means, and `nan` for a layer that was never timed."""
    content = times(("a", 1.0, None), ("b", 2.0, None), with_mean=False).replace(
        b'"timeMs" : 20', b'"timeMs" : %b' % lack
    )
    time_s = pa.load(written(tmp_path, content)).measured("time")[:, 0]
    assert time_s[0] == pytest.approx(1e-3)
    assert np.isnan(time_s[1])


def test_two_profiles_are_runs_of_one_engine() -> None:
    joined = pa.load_runs([PROFILE, PROFILE])
    assert len(joined) == 13
    assert joined.measured("time_median").shape == (13, 2)
    assert joined.origin.averaged_over == 200

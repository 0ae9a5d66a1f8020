"""Nodes as which a provider runs a graph: their own numbers, and comparisons with other providers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Kind, on_operators
from tests.conftest import FIXTURES, run_command
from tests.readers.onnxruntime.events import document, event, node, run
from tests.readers.tiny_file import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = (1, 8, 8, 8)
SIZES = (1000, 4000, 1000)
PROCESSES = 4
MODEL = str(FIXTURES / "models" / "cnn_script.onnx")
OF_MODEL = ((2, 3, 16, 16), (2, 10))
DIMS = ("--dim", "batch=2", "--dim", "height=16")


def graph(provider: str, type_: str, start: int, duration: int, **more: Any) -> str:
    """Return the line of a node that holds a graph."""
    name = more.pop("name", f"{provider}ExecutionProvider_{type_}_0")
    more = {"ins": [IMAGE], "outs": [IMAGE], "sizes": SIZES, **more}
    args = {"provider": f"{provider}ExecutionProvider"}
    return node(name, type_, start, duration, args=args, **more)


def whole(provider: str = "OpenVINO", type_: str = "OpenVINO-EP-subgraph_1", **more: Any) -> bytes:
    """Return a file of six runs of one node, of 1300 to 1309 us. A run takes 10 us longer."""
    times = [1300, 1307, 1301, 1308, 1302, 1309]
    lines = []
    for n, time in enumerate(times):
        lines += [graph(provider, type_, 2000 * n, time, **more), run(2000 * n, time + 10)]
    return document(*lines)


def on_cpu(more: int = 0, provider: str = "CPU") -> bytes:
    """Return a file of six runs of three nodes, of 1000 to 1027 us. A run takes 10 us longer."""
    args = {"provider": f"{provider}ExecutionProvider"}
    lines = []
    for n, step in enumerate([0, 7, 1, 8, 2, 9]):
        start, time = 2000 * n, 200 + step + more
        lines += [
            node("conv1", "Conv", start, 600 + step, ins=[IMAGE], outs=[IMAGE], args=args),
            node("relu1", "Relu", start + 650, time, ins=[IMAGE], outs=[IMAGE], args=args),
            node("fc", "Gemm", start + 900, time, ins=[(1, 8)], outs=[(1, 8)], args=args),
            run(start, 1010 + 3 * step),
        ]
    return document(*lines)


def written(folder: Path, name: str, contents: list[bytes]) -> str:
    """Write a folder with a file for each process, and return its path."""
    side = folder / name
    side.mkdir()
    for number, content in enumerate(contents):
        (side / f"{number}.json").write_bytes(content)
    return str(side)


@pytest.fixture
def cpu(tmp_path: Path) -> str:
    return written(tmp_path, "cpu", [on_cpu(2 * n) for n in range(PROCESSES)])


@pytest.fixture
def tensorrt(tmp_path: Path) -> str:
    name = "TRTKernel_graph_main_graph_123_0"
    contents = [whole("Tensorrt", name) + b" " * n for n in range(PROCESSES)]
    contents = [one.replace(b"1300", b"130%d" % n) for n, one in enumerate(contents)]
    return written(tmp_path, "tensorrt", contents)


@pytest.fixture
def openvino(tmp_path: Path) -> str:
    contents = [whole().replace(b"1300", b"130%d" % n) for n in range(PROCESSES)]
    return written(tmp_path, "openvino", contents)


def comparison(new: str, base: str, *options: str) -> dict[str, Any]:
    outcome = run_command(new, "--compare", base, "--format", "json", *options)
    assert outcome.code in (0, 3, 4), outcome.err
    return dict(json.loads(outcome.out))


@pytest.mark.parametrize(
    ("provider", "type_", "name"),
    [
        ("OpenVINO", "OpenVINO-EP-subgraph_1", None),
        ("Tensorrt", "TRTKernel_graph_torch_jit_10423_1", None),
        ("QNN", "QNN_4177_1", None),
        ("CoreML", "CoreML_99_3", None),
        ("Nnapi", "NNAPI_99_3", None),
        ("VitisAI", "vitis_ai_ep_1", None),
        ("MIGraphX", "MGXKernel_graph_main_1_0", None),
        ("Dml", "DmlFusedNode_0_1", "DmlFusedNode_0_1"),
    ],
)
def test_graphs_of_all_providers_are_recognised(
    provider: str, type_: str, name: str | None, tmp_path: Path
) -> None:
    more = {} if name is None else {"name": name}
    path = write_bytes(tmp_path, whole(provider, type_, **more))
    profile = pa.load(path)
    assert profile.operators.hold_graphs.tolist() == [True]
    assert np.isnan(profile.operators.memory).all()
    (graph,) = on_operators("whole-graphs", Kind.INCOMPLETE, 1, 1.0, provider=provider)
    assert profile.notes[-1] == graph


@pytest.mark.parametrize(
    "name", ["OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0", "DmlFusedNode_0_0"]
)
def test_graphs_are_recognised_without_arguments(name: str, tmp_path: Path) -> None:
    content = document(event(f"{name}_kernel_time", 0, 90, "Node"), run(0, 100))
    assert pa.load(write_bytes(tmp_path, content)).operators.hold_graphs.tolist() == [True]


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        ("Conv", "XnnpackExecutionProvider_Conv_0"),
        ("MyOp", "MyOp"),
        ("MyOp_2", "layer/MyOp_2"),
        ("MyOp", "XnnpackExecutionProvider_MyOp_first"),
    ],
)
def test_other_nodes_hold_no_graph(type_: str, name: str, tmp_path: Path) -> None:
    path = write_bytes(tmp_path, whole("Xnnpack", type_, name=name))
    operators = pa.load(path).operators
    assert operators.hold_graphs.tolist() == [False]
    assert operators.memory.tolist() == [6000.0]


def test_a_graph_has_times_and_no_rates(tmp_path: Path) -> None:
    outcome = run_command(write_bytes(tmp_path, whole()), "--notes", "all")
    assert outcome.out == (
        "total device time   1.304 ms\n"
        "total host time     N/A\n"
        "wall time of a run  1.315 ms (operators: 99.2%, outside of them: 0.010 ms)\n"
        "runs                6 in 1 process (spread of the device time: half within -0.2% to +0.2%)\n"
        "\n"
        "device self time (ms)  spread   share  type                    name\n"
        "                1.304    0.2%  100.0%  OpenVINO-EP-subgraph_1  "
        "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0\n"
    )
    assert outcome.err.count("note:") == 1


def test_a_graph_and_the_nodes_of_another_provider_are_one_model(openvino: str, cpu: str) -> None:
    found = comparison(openvino, cpu, "--fail-if", "total > +5%", "--fail-if", "wall > +5%")
    summary = found["summary"]["comparison"]
    assert (summary["verdict"], summary["ratio"]) == ("slower", pytest.approx(1.2795, abs=1e-4))
    assert [one["outcome"] for one in found["gate"]] == ["met", "met"]
    work = summary["work"]
    assert (work["memory_bytes"], work["compared_work"], work["work_ratio"]) == (None, None, None)
    text = " ".join(found["notes"])
    assert "different models" not in text
    assert (
        "0 operators matched with the baseline, 1 added (100.0% of the time), 3 removed (100.0% of "
        "the time of the baseline); operators inside of a graph that runs as one node cannot match"
    ) in text


def test_few_nodes_beside_a_graph_show_no_other_model(tmp_path: Path, cpu: str) -> None:
    """The optimiser may add nodes with new names, which no other build has."""
    lines = []
    for n in range(6):
        start = 2000 * n
        lines.append(node("cast_in", "Cast", start, 300, ins=[IMAGE], outs=[IMAGE]))
        lines.append(graph("OpenVINO", "OpenVINO-EP-subgraph_1", start + 400, 900 + n))
        lines.append(run(start, 1400))
    found = comparison(write_bytes(tmp_path, document(*lines)), cpu)
    assert "different models" not in " ".join(found["notes"])
    mostly_other = [line.replace('"dur" :90', '"dur" :10') for line in lines]
    found = comparison(write_bytes(tmp_path, document(*mostly_other)), cpu)
    assert "these are different models" in " ".join(found["notes"])


def test_graphs_do_not_count_as_operators_without_a_match(tmp_path: Path) -> None:
    """One of six operators matches, but the other five of one side are graphs."""
    lines, of_base = [node("conv", "Conv", 0, 600)], [node("conv", "Conv", 0, 600)]
    for n in range(5):
        lines.append(graph("OpenVINO", f"OpenVINO-EP-subgraph_{n}", 600 + 50 * n, 50))
        of_base.append(node(f"relu{n}", "Relu", 600 + 50 * n, 50))
    files = tmp_path / "new.json", tmp_path / "base.json"
    for file, events in zip(files, (lines, of_base), strict=True):
        file.write_bytes(document(*events, run(0, 900)))
    new, base = map(pa.load, map(str, files))
    assert pa.compare(new, base).mismatch is None


def test_an_unknown_device_time_makes_no_difference(tensorrt: str, cpu: str) -> None:
    """The provider's times are host times. They say nothing about the time of the device."""
    for new, base in ((tensorrt, cpu), (cpu, tensorrt)):
        found = comparison(new, base)
        summary = found["summary"]["comparison"]
        numbers = ("difference_s", "change", "ratio", "p_value", "verdict")
        assert [summary[name] for name in numbers] == [None] * 5
        assert (summary["causes"], summary["largest_differences"]) == ([], [])
        assert summary["verdicts"] == {"N/A": 3}
        text = " ".join(found["notes"])
        assert "absolute_difference" not in text
        assert "without a verdict" not in text
        (table,) = found["tables"]
        names = [column["name"] for column in table["columns"]]
        for row in table["rows"]:
            values = dict(zip(names, row, strict=True))
            assert [values[one] for one in ("difference_s", "verdict", "ratio")] == [None] * 3


def test_wall_times_are_compared_if_device_times_are_not(tensorrt: str, cpu: str) -> None:
    outcome = run_command(tensorrt, "--compare", cpu, "--print-only", "summary", "--notes", "none")
    assert outcome.out == (
        "total device time     N/A\n"
        "total host time       1.304 ms\n"
        "wall time of a run    1.315 ms (operators: 99.2%, outside of them: 0.010 ms)\n"
        "runs                  24 in 4 processes, each process counts once\n"
        "baseline device time  1.020 ms\n"
        "baseline wall time    1.024 ms\n"
        "baseline runs         24 in 4 processes, each process counts once (spread of the device "
        "time: half within -1.0% to +1.0%)\n"
        "difference            N/A\n"
        "ratio                 N/A\n"
        "verdict               N/A (no operator of the profile has a device time)\n"
        "wall time: +28.4% (95 %: +28.4% to +28.4%), 1.315 ms instead of 1.024 ms\n"
    )
    summary = comparison(tensorrt, cpu)["summary"]["comparison"]
    assert summary["wall_difference_s"] == pytest.approx(291e-6, abs=1e-6)
    assert summary["wall_ratio"] == pytest.approx(1.2844, abs=1e-3)
    assert summary["wall_ratio_low"] <= summary["wall_ratio"] <= summary["wall_ratio_high"]


def test_conditions_on_unknown_times_cannot_be_judged(tensorrt: str, cpu: str) -> None:
    conditions = ("total > +5%", "verdict == removed: time > 0s", "verdict ~ slower: time > 0s")
    options = [part for one in conditions for part in ("--fail-if", one)]
    outcome = run_command(tensorrt, "--compare", cpu, "--notes", "none", *options)
    assert outcome.code == 4
    missing = (
        "no operator of the profile has a device time; 1 operator has a host time; --print-only "
        "host shows these times, or profile again with device times"
    )
    assert outcome.out.splitlines()[-3:] == [
        f"cannot be judged: total > +5%: the time is N/A: {missing}, or limit whole runs: "
        "'wall > +5%'",
        f"cannot be judged: verdict == removed: time > 0s: {missing}",
        f"cannot be judged: verdict ~ slower: time > 0s: {missing}",
    ]


def test_a_profile_without_device_times_shows_host_times(tmp_path: Path) -> None:
    path = write_bytes(tmp_path, on_cpu(provider="CUDA"))
    outcome = run_command(path, "--aggregate-by", "type", "--columns", "type,count,time")
    assert outcome.out.splitlines()[-4:] == [
        "type  count  host self time (us)",
        "Conv      1              604.500",
        "Relu      1              204.500",
        "Gemm      1              204.500",
    ]
    assert outcome.err.splitlines()[0] == (
        "note: no operator has a device time, so the rows have host times; profile again with "
        "device times"
    )
    for options in (("--print-only", "device"), ("--show-host",)):
        chosen = run_command(path, *options)
        assert "device self time" in chosen.out
        assert "so the rows have host times" not in chosen.err


def of_model(tmp_path: Path, **more: Any) -> str:
    inputs, outputs = OF_MODEL
    return write_bytes(tmp_path, whole(**{"ins": [inputs], "outs": [outputs], **more}))


def test_a_graph_that_is_the_whole_run_gets_the_work_of_the_model(tmp_path: Path) -> None:
    path = of_model(tmp_path)
    columns = "macs,params,computation,computation_source,memory"
    rows = [
        run_command(*call, "--format", "jsonl", "--columns", columns)
        for call in ((path, "--model", MODEL, *DIMS), (MODEL, *DIMS, "-t", "0"))
    ]
    (ours,) = (json.loads(line) for line in rows[0].out.splitlines())
    nodes = [json.loads(line) for line in rows[1].out.splitlines()]
    assert ours == {
        "measure": "time",
        "macs": sum(one["macs"] for one in nodes),
        "params": sum(one["params"] for one in nodes),
        "computation_flo": sum(one["computation_flo"] for one in nodes),
        "computation_source": "derived",
        "memory_bytes": None,
    }
    assert ours["macs"] > 0
    note = (
        "the run is one operator, which gets the computation and the parameters of the whole model"
    )
    outcome = run_command(path, "--model", MODEL, *DIMS, "--notes", "all")
    assert f"note: {MODEL}: {note}" in outcome.err.splitlines()


def test_a_graph_with_other_shapes_gets_no_work(tmp_path: Path) -> None:
    path = of_model(tmp_path, outs=[(1, 10)])
    outcome = run_command(
        path, "--model", MODEL, *DIMS, "--columns", "macs,time", "--format", "csv"
    )
    assert outcome.out.splitlines()[1].startswith(",0.0013")
    assert outcome.err.splitlines()[0] == (
        f"note: {MODEL}: the shapes of the only operator are unknown, or differ from the model's: set the model's "
        "shapes with --input-shape or --dim, if this is the model that ran"
    )


def test_a_graph_that_is_a_part_of_the_run_gets_no_work(tmp_path: Path) -> None:
    lines = [
        graph("OpenVINO", "OpenVINO-EP-subgraph_1", 0, 90),
        graph("OpenVINO", "OpenVINO-EP-subgraph_2", 100, 90),
        run(0, 200),
    ]
    path = write_bytes(tmp_path, document(*lines))
    outcome = run_command(path, "--model", MODEL, *DIMS, "--columns", "macs", "--format", "csv")
    assert outcome.out.split() == ["macs", "", ""] or outcome.out.splitlines()[1:] == ['""', '""']
    assert f"note: {MODEL}: no operator matches a node of this model" in outcome.err
